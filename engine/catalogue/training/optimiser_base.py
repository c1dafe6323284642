"""What an optimiser tells the rest of the application about itself."""

from __future__ import annotations

from typing import Any, ClassVar

from engine.catalogue.params import param
from engine.catalogue.training.choosable import Choosable


class Optimiser(Choosable):
    """Changes the weights after each batch, so that the loss falls.

    `makes` is the dotted name of the class that does it. `closure` says what it asks for while it steps:

    - "": nothing, the gradients are there (`optimiser.step()`);
    - "gradient": a function that clears the gradients, computes the loss, goes backward and returns the loss;
    - "loss": a function that returns the loss and does not go backward, also under `torch.no_grad()`;
    - "residuals": as "loss", but it returns the vector whose sum of squares is the loss.

    In each case `optimiser.step(closure)` returns the loss before the step.
    """

    makes: ClassVar[str] = ""
    closure: ClassVar[str] = ""
    needs_closure: ClassVar[bool] = False  # whether `closure` says anything
    whole_batch: ClassVar[bool] = False  # it only makes sense on all the data at once
    one_vector: ClassVar[bool] = False  # all weights are one vector: no rates or decay for parts of them
    most_weights: ClassVar[int | None] = None  # more than these do not fit a matrix of weights by weights
    joint: ClassVar[bool] = False  # all players of its phase extrapolate before any of them steps
    climbs: ClassVar[bool] = False  # layers with a rate below 0 go uphill
    copies: ClassVar[int] = 0  # how many numbers it remembers for each weight

    lr: float = param(0.001, above=0, label="Learning rate", doc="how far each step goes")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.makes = cls.__dict__.get("makes") or f"torch.optim.{cls.__name__}"
        cls.needs_closure = bool(cls.closure)

    def remembered(self, weights: int) -> int:
        """How many numbers it keeps or needs at once beside so many weights and their gradients."""
        return self.copies * weights


class Decaying(Optimiser):
    """An optimiser that can also pull the weights towards zero."""

    weight_decay: float = param(0.0, minimum=0, doc="pull of every weight towards zero, against overfitting")


class Curved(Optimiser):
    """An optimiser that uses how the slope itself changes; it wants all the data at each step."""

    whole_batch = True
    one_vector = True
    lr: float = param(1.0, above=0, label="Learning rate", doc="part of the computed step that is taken")
