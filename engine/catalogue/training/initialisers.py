"""How a layer's first weights are drawn: declarations, and the lines that draw them.

Sources: LeCun et al. 1998; Glorot & Bengio 2010; He et al. 2015; Saxe et al. 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.catalogue.params import param
from engine.catalogue.symbols import Expr, lift, nn
from engine.catalogue.symbols import math as math_
from engine.errors import ParamError

DEFAULT = "default"
Fans = tuple[float, float]  # n and m of `Initialiser`
Draw = Callable[[Expr, float, Fans | None], Expr]


@dataclass(frozen=True, slots=True)
class Initialiser:
    """A way to draw first weights; n is how many inputs a unit has, m how many units an input feeds.

    `weight` gives the statement that draws them, None for torch's own. `scale` says what the layer's scale is
    to it, "" if nothing. Biases begin at zero, or are drawn too where `draws_biases`.
    """

    doc: str
    formula: str
    weight: Draw | None = None
    draws_biases: bool = False
    scale: str = ""


def _kaiming(kind: str, after: str) -> Draw:
    def draw(tensor: Expr, scale: float, fans: Fans | None) -> Expr:
        if fans is not None:
            return _of_variance(kind, tensor, 2 if after == "relu" else 1, fans[0])
        call: Expr = getattr(nn.init, f"kaiming_{kind}_")(tensor, nonlinearity=after)
        return call

    return draw


def _xavier(kind: str) -> Draw:
    def draw(tensor: Expr, scale: float, fans: Fans | None) -> Expr:
        if fans is not None:
            return _of_variance(kind, tensor, 2, sum(fans))
        call: Expr = getattr(nn.init, f"xavier_{kind}_")(tensor)
        return call

    return draw


def _of_variance(kind: str, tensor: Expr, above: int, below: float) -> Expr:
    """The call that draws numbers of variance `above / below`."""
    below = int(below) if below == int(below) else below
    if kind == "normal":
        call: Expr = nn.init.normal_(tensor, std=math_.sqrt(lift(above) / below))
        return call
    bound = math_.sqrt(lift(3 * above) / below)
    call = nn.init.uniform_(tensor, -bound, bound)
    return call


def _plain(function: str) -> Draw:
    def draw(tensor: Expr, scale: float, fans: Fans | None) -> Expr:
        call: Expr = getattr(nn.init, function)(tensor)
        return call

    return draw


def _truncated(tensor: Expr, scale: float, fans: Fans | None) -> Expr:
    call: Expr = nn.init.trunc_normal_(tensor, std=scale, a=-2 * scale, b=2 * scale)
    return call


INITIALISERS: dict[str, Initialiser] = {
    DEFAULT: Initialiser("What torch does by itself: evenly between ±1/√n, biases too.", "U(−1/√n, 1/√n)"),
    "LeCun normal": Initialiser(
        "Keeps the variance through layers that are linear, or nearly so.",
        "N(0, 1/n)",
        _kaiming("normal", "linear"),
    ),
    "LeCun uniform": Initialiser(
        "As LeCun normal, drawn evenly.", "U(−√(3/n), √(3/n))", _kaiming("uniform", "linear")
    ),
    "Xavier normal": Initialiser(
        "Keeps the variance forward and backward as well as both can be; for tanh and sigmoid.",
        "N(0, 2/(n + m))",
        _xavier("normal"),
    ),
    "Xavier uniform": Initialiser(
        "As Xavier normal, drawn evenly.", "U(−√(6/(n + m)), √(6/(n + m)))", _xavier("uniform")
    ),
    "He normal": Initialiser(
        "Keeps the variance through layers with ReLU, which halves it.",
        "N(0, 2/n)",
        _kaiming("normal", "relu"),
    ),
    "He uniform": Initialiser(
        "As He normal, drawn evenly.", "U(−√(6/n), √(6/n))", _kaiming("uniform", "relu")
    ),
    "orthogonal": Initialiser(
        "Turns its input without stretching it in any direction.", "WᵀW = I", _plain("orthogonal_")
    ),
    "NTK": Initialiser(
        "As LeCun normal, biases too; the kernel settles for wide layers only if scales stand outside.",
        "w, b: N(0, 1/n)",
        _kaiming("normal", "linear"),
        draws_biases=True,
    ),
    "normal": Initialiser(
        "Normal numbers of a deviation of your own.",
        "N(0, s²)",
        lambda tensor, scale, fans: nn.init.normal_(tensor, std=scale),
        scale="standard deviation",
    ),
    "truncated normal": Initialiser(
        "Normal numbers, drawn again where they lie more than two deviations out.",
        "N(0, s²) within ±2s",
        _truncated,
        scale="standard deviation",
    ),
    "constant": Initialiser(
        "All weights the same: units of a layer stay copies of each other.",
        "w = s",
        lambda tensor, scale, fans: nn.init.constant_(tensor, scale),
        scale="the value",
    ),
    "zeros": Initialiser(
        "All weights zero: behind a hidden layer nothing can learn from there.", "w = 0", _plain("zeros_")
    ),
}


def init_param() -> Any:
    """Declare how a node type's first weights are drawn: `init: str = init_param()`."""
    return param(
        DEFAULT, choices=tuple(INITIALISERS), label="First weights", doc="how the first weights are drawn"
    )


def init_scale_param() -> Any:
    """Declare the scale beside it: `init_scale: float = init_scale_param()`."""
    return param(
        0.05, label="Weight scale", doc="deviation of normal, value of constant; the others need none"
    )


def initialise(
    layer: Expr,
    choice: str,
    scale: float = 0.05,
    weights: Sequence[str] = ("weight",),
    biases: Sequence[str] = ("bias",),
    fans: Fans | None = None,
) -> list[Expr]:
    """The statements that draw a layer's first weights, in order; none for torch's default.

    `weights` and `biases` are the layer's tensors by name: pass no bias where it has none. `fans` are how
    many inputs a unit has and how many units an input feeds, where they aren't what torch reads from the
    weights' shape. Raises ParamError.
    """
    found = INITIALISERS.get(choice)
    if found is None:
        raise ParamError(
            f"There is no way to draw first weights called {choice!r}.", fix=f"Choose {DEFAULT}."
        )
    if found.weight is None:
        return []
    if found.scale and choice != "constant" and scale <= 0:
        raise ParamError("The deviation of the first weights is above 0.")
    lines = [found.weight(getattr(layer, one), scale, fans) for one in weights]
    for one in biases:
        bias = getattr(layer, one)
        if not found.draws_biases:
            lines.append(nn.init.zeros_(bias))
        else:  # a bias has no inputs of its own to count: they are those of the first weights
            if fans is not None:
                lines.append(_of_variance("normal", bias, 1, fans[0]))
                continue
            inputs = getattr(layer, weights[0])[0].numel()
            lines.append(nn.init.normal_(bias, std=1 / math_.sqrt(inputs)))
    return lines
