"""What is added to a loss so that weights stay small or vanish; biases and norms are left alone.

The functions need no name of torch, so that the window can read the declarations before torch is loaded;
exports carry their source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from engine.catalogue.params import param
from engine.catalogue.training.choosable import Choosable, chosen
from engine.document.plan import Choice

if TYPE_CHECKING:
    from torch import Tensor


def l1(weights: Sequence[Tensor], strength: float) -> Tensor | float:
    """The sum of absolute weights times `strength`; biases and norms (fewer than two axes) don't count."""
    return strength * sum(weight.abs().sum() for weight in weights if weight.ndim >= 2)


def l2(weights: Sequence[Tensor], strength: float) -> Tensor | float:
    """Half the sum of squares times `strength`; biases and norms (fewer than two axes) don't count."""
    return strength / 2 * sum(weight.square().sum() for weight in weights if weight.ndim >= 2)


def weight_elimination(weights: Sequence[Tensor], strength: float, scale: float) -> Tensor | float:
    """`strength` times how many weights are large beside `scale`, counted softly; biases and norms apart."""
    squares = [(weight / scale).square() for weight in weights if weight.ndim >= 2]
    return strength * sum((square / (1 + square)).sum() for square in squares)


class Penalty(Choosable):
    """Added to the loss of an objective, over the weights that the objective trains.

    `function` computes it, called with the weights and then the parameters in their order.
    """

    function: ClassVar[Callable[..., Any]]
    strength: float = param(1e-4, minimum=0, doc="how much it counts beside the loss")


class L1(Penalty):
    """Pulls each weight towards zero by the same amount, so that many become exactly zero.

    A weight whose sign a step would change stops at zero. Optimisers that look at several points in a step
    (L-BFGS, BFGS, Newton, conjugate gradients, line search, Nesterov ...) leave small weights, not zeros.
    Source: Tibshirani 1996 (lasso); Andrew & Gao 2007.
    """

    title = "L1"
    formula = "λ Σ |w|"
    function = staticmethod(l1)


class L2(Penalty):
    """Pulls each weight towards zero in proportion to its size: smoother functions.

    Source: Hoerl & Kennard 1970 (ridge); Krogh & Hertz 1992 (weight decay).
    """

    title = "L2"
    formula = "λ/2 Σ w²"
    function = staticmethod(l2)


class WeightElimination(Penalty):
    """Pulls small weights to zero and leaves large ones almost alone: fewer weights, not smaller ones.

    Source: Weigend, Rumelhart & Huberman 1991.
    """

    title = "Weight elimination"
    formula = "λ Σ (w/c)² / (1 + (w/c)²)"
    function = staticmethod(weight_elimination)
    scale: float = param(1.0, above=0, label="Scale c", doc="size above which a weight counts as large")


PENALTIES: dict[str, type[Penalty]] = {found.__name__: found for found in (L1, L2, WeightElimination)}


def make_penalty(choice: Choice) -> Penalty:
    """Return the penalty a plan names, its values checked. Raises ParamError."""
    return chosen(choice, PENALTIES, "penalty")
