"""Activations: functions applied to each number on a wire."""

from __future__ import annotations

from typing import ClassVar

from engine.catalogue import Emitted, Emitter, Layer, Wire, param
from engine.catalogue.symbols import Expr, F, torch
from engine.catalogue.traits import LayerTraits, Pieces, Squash
from nodes.wires import need_axis

NONE = "none"
FUNCTIONS = {
    "ReLU": F.relu,
    "leaky ReLU": F.leaky_relu,
    "GELU": F.gelu,
    "SiLU": F.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "softplus": F.softplus,
    "hard tanh": F.hardtanh,
}
CHOICES = (NONE, *FUNCTIONS)


def activate(choice: str, x: Expr) -> Expr:
    """`x` through the activation of that name; `none` leaves it as it is."""
    return x if choice == NONE else FUNCTIONS[choice](x)


class Activation(Layer, abstract=True):
    """An elementwise function; `function` is the one that is called, where it takes the numbers alone."""

    family = "activation"
    places_from = 1
    function: ClassVar[Expr]

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        return self.function(x)


class ReLU(Activation):
    """Keeps positive numbers and turns negative ones into zero: max(0, x)."""

    common = True
    aliases = ("rectifier", "relu")
    formula = "y = max(0, x)"
    source = "Nair and Hinton, 2010"
    traits = LayerTraits(pieces=Pieces.RELU)
    function = F.relu


class LeakyReLU(Activation):
    """Like ReLU, but multiplies negative numbers by a small slope, so that no unit dies."""

    title = "Leaky ReLU"
    formula = "y = x for x > 0, else slope · x"
    source = "Maas, Hannun and Ng, 2013"
    traits = LayerTraits(pieces=Pieces.LEAKY_RELU)
    slope: float = param(0.01, minimum=0, doc="what negative numbers are multiplied by")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        return F.leaky_relu(x) if self.slope == 0.01 else F.leaky_relu(x, self.slope)

    def summary(self) -> str:
        return f"slope {self.slope:g}"


class GELU(Activation):
    """A smooth ReLU, x·Φ(x), used in transformers."""

    formula = "y = x · Φ(x), Φ: the normal distribution"
    source = "Hendrycks and Gimpel, 2016"
    function = F.gelu


class SiLU(Activation):
    """A smooth ReLU, x·sigmoid(x)."""

    aliases = ("swish",)
    formula = "y = x / (1 + e⁻ˣ)"
    source = "Elfwing, Uchibe and Doya, 2017; Ramachandran, Zoph and Le, 2017"
    function = F.silu


class Sigmoid(Activation):
    """Squeezes each number between 0 and 1: 1 / (1 + e^-x)."""

    aliases = ("logistic",)
    formula = "y = 1 / (1 + e⁻ˣ)"
    source = "Rumelhart, Hinton and Williams, 1986"
    traits = LayerTraits(squashes=Squash.SIGMOID)
    function = torch.sigmoid


class Tanh(Activation):
    """Squeezes each number between -1 and 1."""

    formula = "y = (eˣ - e⁻ˣ) / (eˣ + e⁻ˣ)"
    source = "LeCun, Bottou, Orr and Müller, 1998"
    traits = LayerTraits(squashes=Squash.TANH)
    function = torch.tanh


class Softmax(Activation):
    """Turns scores into probabilities that add up to 1. Cross-entropy contains it already."""

    formula = "yᵢ = exp(xᵢ) / Σⱼ exp(xⱼ)"
    source = "Bridle, 1990"
    traits = LayerTraits(squashes=Squash.SOFTMAX)
    axis: int = param(1, label="Over axis", minimum=-8, maximum=8, doc="1 is the class axis; -1 is the last")

    def treats_each_place(self, shape: tuple[int, ...]) -> bool:
        return self.axis % (len(shape) + 1) > 1

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axis(x, self.axis, self.title)
        return F.softmax(x, dim=self.axis)


class Softplus(Activation):
    """A smooth ReLU that is always positive: log(1 + e^x)."""

    formula = "y = log(1 + eˣ)"
    source = "Dugas, Bengio, Bélisle, Nadeau and Garcia, 2000"
    function = F.softplus


class Hardtanh(Activation):
    """Clips each number to the range -1 to 1; straight in between."""

    title = "Hard tanh"
    aliases = ("saturating linear", "clip")
    formula = "y = min(1, max(-1, x))"
    source = "Collobert, 2004"
    traits = LayerTraits(squashes=Squash.HARD_TANH, pieces=Pieces.HARD_TANH)
    function = F.hardtanh
