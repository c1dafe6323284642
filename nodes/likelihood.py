"""Losses of predictions that say how sure they are."""

from __future__ import annotations

from engine.catalogue import Emitted, Emitter, Port, Wire, param
from engine.catalogue.symbols import carried
from nodes.loss import WeightedLoss, numbers
from nodes.wires import same_shapes


class GaussianLikelihood(WeightedLoss):
    """Fits a mean and how far targets lie about it: an error costs less where the variance is large."""

    title = "Gaussian likelihood"
    aliases = ("nll", "heteroscedastic", "uncertainty", "variance", "regression")
    formula = "L = mean of ½ ( v + (x - y)² exp(-v) ); v: the logarithm of the variance"
    source = "Nix and Weigend, 1994"
    ports_in = (
        Port("prediction", label="mean", doc="what is expected"),
        Port("log_variance", label="log variance", doc="logarithm of the variance; any number will do"),
        Port("target", doc="what was measured, of the same shape"),
    )
    least: float = param(
        1e-3, above=0, maximum=10, label="Least variance", doc="smaller ones count as this: no row is all"
    )

    def emit(self, e: Emitter, prediction: Wire, log_variance: Wire, target: Wire) -> Emitted:
        from engine.layers.likelihood import gaussian_likelihood

        same_shapes(prediction, target)
        same_shapes(log_variance, target)
        return carried(gaussian_likelihood)(prediction, log_variance, numbers(target), self.least)
