"""Optimisers and learning-rate schedules, declared as node types are: typed fields with their help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from engine.errors import ParamError
from engine.params import Parametrised, collect, param
from engine.plan import Choice
from engine.values import Value


class Choosable(Parametrised):
    """Something chosen by name in a plan; its values are attributes of an instance.

    Raises ParamError for a value that is out of range or a parameter that doesn't exist.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.params = collect(cls)
        cls.title = cls.__dict__.get("title") or cls.__name__


class Optimiser(Choosable):
    """Changes the weights after each batch, so that the loss falls."""

    lr: float = param(0.001, above=0, label="Learning rate", doc="how far each step goes")
    weight_decay: float = param(
        0.0, minimum=0, doc="pull of every weight towards zero, against learning by heart"
    )


class SGD(Optimiser):
    """Steps straight down the slope of the batch; momentum carries speed over from earlier steps.

    Source: seed 000 §1.3.
    """

    title = "SGD"
    lr: float = param(0.01, above=0, label="Learning rate", doc="how far each step goes")
    momentum: float = param(0.0, minimum=0, below=1, doc="share of the last step that is kept; 0.9 is usual")
    nesterov: bool = param(
        False, doc="look at the slope where the momentum is about to lead (needs momentum)"
    )

    def __init__(self, values: Mapping[str, Value] | None = None) -> None:
        super().__init__(values)
        if self.nesterov and not self.momentum:
            raise ParamError("Nesterov needs a momentum above 0.", fix="Set the momentum to 0.9.")


class Adam(Optimiser):
    """Gives each weight its own step size from the recent size of its slopes; a good first choice.

    Source: seed 000 §1.3; Kingma & Ba 2015.
    """

    beta1: float = param(0.9, minimum=0, below=1, doc="how long the mean of the slopes remembers")
    beta2: float = param(0.999, minimum=0, below=1, doc="how long the mean of their squares remembers")
    epsilon: float = param(1e-8, above=0, doc="keeps the division from blowing up where slopes vanish")


class AdamW(Adam):
    """Adam whose weight decay shrinks the weights directly, apart from the slope's own step sizes.

    Source: Loshchilov & Hutter 2019.
    """

    title = "AdamW"
    weight_decay: float = param(
        0.01, minimum=0, doc="pull of every weight towards zero, against learning by heart"
    )


class RMSprop(Optimiser):
    """Divides each slope by its recent typical size, so that steep and flat directions move alike.

    Source: seed 000 §1.3; Hinton's lecture 6e.
    """

    lr: float = param(0.01, above=0, label="Learning rate", doc="how far each step goes")
    alpha: float = param(0.99, minimum=0, below=1, label="Memory", doc="how long the typical size remembers")
    momentum: float = param(0.0, minimum=0, below=1, doc="share of the last step that is kept")
    epsilon: float = param(1e-8, above=0, doc="keeps the division from blowing up where slopes vanish")


class Adagrad(Optimiser):
    """Slows each weight down by all the slopes it has seen; good where some inputs are rare.

    Source: seed 000 §1.3; Duchi et al. 2011.
    """

    lr: float = param(0.01, above=0, label="Learning rate", doc="how far each step goes")
    lr_decay: float = param(
        0.0, minimum=0, label="Rate decay", doc="how fast the learning rate falls by itself"
    )
    epsilon: float = param(1e-10, above=0, doc="keeps the division from blowing up where slopes vanish")


class Adadelta(Optimiser):
    """Sets step sizes from the recent slopes and the recent steps, so the learning rate matters little.

    Source: seed 000 §1.3; Zeiler 2012.
    """

    lr: float = param(1.0, above=0, label="Learning rate", doc="factor on the step that the method chooses")
    rho: float = param(
        0.9, minimum=0, below=1, label="Memory", doc="how long slopes and steps are remembered"
    )
    epsilon: float = param(1e-6, above=0, doc="sets the size of the first steps")


class Schedule(Choosable):
    """Changes the learning rate while training goes on."""


class Constant(Schedule):
    """Keeps the learning rate as it is."""


class Step(Schedule):
    """Multiplies the learning rate by a factor every few epochs."""

    every: int = param(10, minimum=1, unit="epochs", doc="epochs between two drops")
    factor: float = param(0.1, above=0, maximum=1, doc="what the learning rate is multiplied by at a drop")


class Cosine(Schedule):
    """Lets the learning rate glide down to its end along half a cosine wave, over all epochs."""

    final: float = param(
        0.0, minimum=0, maximum=1, label="Final share", doc="part of the learning rate left at the end"
    )


class WarmUp(Schedule):
    """Raises the learning rate evenly from near zero, then lets it glide down along half a cosine wave.

    It helps where the first batches make the loss jump (seed 000 §1.3.2).
    """

    title = "Warm-up"
    epochs: float = param(
        1.0, above=0, label="Warm-up", unit="epochs", doc="epochs until the full learning rate"
    )
    final: float = param(
        0.0, minimum=0, maximum=1, label="Final share", doc="part of the learning rate left at the end"
    )


OPTIMISERS: dict[str, type[Optimiser]] = {
    found.__name__: found for found in (SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta)
}
SCHEDULES: dict[str, type[Schedule]] = {found.__name__: found for found in (Constant, Step, Cosine, WarmUp)}

Chosen = TypeVar("Chosen", bound=Choosable)


def make_optimiser(choice: Choice) -> Optimiser:
    """Return the optimiser a plan names, its values checked. Raises ParamError."""
    return _make(choice, OPTIMISERS, "optimiser")


def make_schedule(choice: Choice) -> Schedule:
    """Return the schedule a plan names, its values checked. Raises ParamError."""
    return _make(choice, SCHEDULES, "schedule")


def _make(choice: Choice, among: Mapping[str, type[Chosen]], what: str) -> Chosen:
    found = among.get(choice.name)
    if found is None:
        raise ParamError(f"There is no {what} called {choice.name!r}.", fix=f"Choose {', '.join(among)}.")
    return found(choice.params)
