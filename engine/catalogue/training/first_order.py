"""Optimisers that step along slopes, and along what they remember of earlier ones."""

from __future__ import annotations

from collections.abc import Mapping

from engine.catalogue.params import param
from engine.catalogue.training.optimiser_base import Decaying
from engine.errors import ParamError
from engine.values import Value

FORMS = ("velocity", "average")


class GradientDescent(Decaying):
    """Steps straight down the slope of all the data; it falls at each step if the rate is below 2/L.

    L bounds how fast the slope changes. Source: Cauchy 1847; the bound: Nesterov 2004.
    """

    title = "Gradient descent"
    makes = "torch.optim.SGD"
    formula = "w ← w − η ∇L(w)"
    whole_batch = True
    lr: float = param(0.1, above=0, label="Learning rate", doc="how far each step goes")


class SGD(Decaying):
    """Steps straight down the slope of the batch; momentum carries speed over from earlier steps.

    Source: Robbins & Monro 1951; momentum: Polyak 1964.
    """

    title = "SGD"
    formula = "v ← μ v + g;  w ← w − η v"
    lr: float = param(0.01, above=0, label="Learning rate", doc="how far each step goes")
    momentum: float = param(
        0.0, minimum=0, below=1, doc="fraction of the last step that is kept; 0.9 is usual"
    )
    nesterov: bool = param(
        False, doc="look at the slope where the momentum is about to lead (needs momentum)"
    )

    def remembered(self, weights: int) -> int:
        return weights if self.momentum else 0

    def __init__(self, values: Mapping[str, Value] | None = None) -> None:
        super().__init__(values)
        if self.nesterov and not self.momentum:
            raise ParamError("Nesterov needs a momentum above 0.", fix="Set the momentum to 0.9.")


class Rolling(Decaying):
    """An optimiser with momentum in either form that textbooks print."""

    copies = 1
    lr: float = param(0.01, above=0, label="Learning rate", doc="how far each step goes")
    momentum: float = param(0.9, minimum=0, below=1, doc="fraction of the last step that is kept")
    form: str = param(
        "velocity", choices=FORMS, doc="velocity adds slopes up; average goes 1 − momentum times as far"
    )


class HeavyBall(Rolling):
    """Rolls on like a ball: part of the last step is added to each new one (Polyak 1964).

    Two forms are in use: "velocity" is v ← μ v − η g, w ← w + v; "average" is m ← μ m + (1 − μ) g,
    w ← w − η m, 1 − μ times as far.
    """

    title = "Heavy ball"
    makes = "engine.optim.heavy_ball.HeavyBall"
    formula = "v ← μ v − η g;  w ← w + v"


class Nesterov(Rolling):
    """Takes the momentum's step first and corrects it by the slope found there (Nesterov 1983).

    "velocity" is χ = w + μ v, w' = χ − η ∇L(χ); "average" is m ← μ m + (1 − μ) ∇L(w − η μ m), w ← w − η m.
    The loss shown is the one at the point ahead.
    """

    makes = "engine.optim.nesterov.Nesterov"
    formula = "χ = w + μ (w − w₋₁);  w ← χ − η ∇L(χ)"
    closure = "gradient"
    copies = 2  # the speed, and where each step began


class Adam(Decaying):
    """Gives each weight its own step size from the recent size of its slopes; a good first choice.

    Source: Kingma & Ba 2015.
    """

    copies = 2
    formula = "m ← β₁ m + (1−β₁) g;  v ← β₂ v + (1−β₂) g²;  w ← w − η m̂ / (√v̂ + ε)"
    beta1: float = param(0.9, minimum=0, below=1, doc="how long the mean of the slopes remembers")
    beta2: float = param(0.999, minimum=0, below=1, doc="how long the mean of their squares remembers")
    epsilon: float = param(1e-8, above=0, doc="keeps the division from blowing up where slopes vanish")


class AdamW(Adam):
    """Adam whose weight decay shrinks the weights directly, apart from the slope's own step sizes.

    Source: Loshchilov & Hutter 2019.
    """

    title = "AdamW"
    formula = "w ← (1 − η λ) w − η m̂ / (√v̂ + ε)"
    weight_decay: float = param(0.01, minimum=0, doc="pull of every weight towards zero, against overfitting")


class RMSprop(Decaying):
    """Divides each slope by its recent typical size, so that steep and flat directions move alike.

    Source: Tieleman & Hinton 2012.
    """

    formula = "v ← α v + (1−α) g²;  w ← w − η g / (√v + ε)"
    lr: float = param(0.01, above=0, label="Learning rate", doc="how far each step goes")
    alpha: float = param(0.99, minimum=0, below=1, label="Memory", doc="how long the typical size remembers")
    momentum: float = param(0.0, minimum=0, below=1, doc="fraction of the last step that is kept")
    epsilon: float = param(1e-8, above=0, doc="keeps the division from blowing up where slopes vanish")

    def remembered(self, weights: int) -> int:
        return 2 * weights if self.momentum else weights


class Adagrad(Decaying):
    """Divides each slope by the root of the sum of its squares so far; good where some inputs are rare.

    Source: Duchi et al. 2011.
    """

    copies = 1
    formula = "r ← r + g²;  w ← w − η g / (√r + ε)"
    lr: float = param(0.01, above=0, label="Learning rate", doc="how far each step goes")
    lr_decay: float = param(
        0.0, minimum=0, label="Rate decay", doc="how fast the learning rate falls by itself"
    )
    epsilon: float = param(1e-10, above=0, doc="keeps the division from blowing up where slopes vanish")


class Adadelta(Decaying):
    """Sets step sizes from the recent slopes and the recent steps, so the learning rate matters little.

    Source: Zeiler 2012.
    """

    copies = 2
    formula = "Δ = −√(u + ε) / √(v + ε) · g, with running means u of Δ² and v of g²;  w ← w + η Δ"
    lr: float = param(1.0, above=0, label="Learning rate", doc="factor on the step that the method chooses")
    rho: float = param(
        0.9, minimum=0, below=1, label="Memory", doc="how long slopes and steps are remembered"
    )
    epsilon: float = param(1e-6, above=0, doc="sets the size of the first steps")


class Extragradient(Decaying):
    """Tries a step, then steps by the slope found there: it settles games in which plain steps circle.

    All players of a phase try together, then step together. In a game of one loss the layers with a rate
    below 0 climb it. Source: Korpelevich 1976.
    """

    makes = "engine.optim.extragradient.Extragradient"
    formula = "w½ = w − η ∇L(w);  w ← w − η ∇L(w½)"
    copies = 1
    closure = "gradient"
    joint = True
    climbs = True
    lr: float = param(0.01, above=0, label="Learning rate", doc="how far each step goes")
