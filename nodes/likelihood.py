"""Losses of predictions that say how sure they are."""

from __future__ import annotations

from typing import ClassVar

from engine.catalogue import Emitted, Emitter, Port, Wire, param
from engine.symbols import F
from nodes.loss import WeightedLoss, numbers
from nodes.wires import same_shapes


class GaussianLikelihood(WeightedLoss):
    """Fits a mean and the deviation about it: what is far off costs less where the deviation is large.

    The second output is squared to a variance, so it may have any sign.
    """

    title = "Gaussian likelihood"
    aliases: ClassVar[tuple[str, ...]] = ("nll", "heteroscedastic", "uncertainty", "variance", "regression")
    formula = "L = mean of ½ ( log s² + (x - y)² / s² )"
    source = "Nix and Weigend, 1994"
    ports_in = (
        Port("prediction", label="mean", doc="what is expected"),
        Port("deviation", doc="how far the target lies from it as a rule; squared, so of any sign"),
        Port("target", doc="what was measured, of the same shape"),
    )
    least: float = param(
        1e-3,
        above=0,
        maximum=10,
        label="Least variance",
        doc="smaller ones count as this, so that no row is all",
    )

    def emit(self, e: Emitter, prediction: Wire, deviation: Wire, target: Wire) -> Emitted:
        same_shapes(prediction, target)
        same_shapes(deviation, target)
        return F.gaussian_nll_loss(prediction, numbers(target), deviation**2, eps=self.least)
