"""Losses: what training makes small (seed 000 §1.2, D.2)."""

from __future__ import annotations

from typing import ClassVar

from engine.catalogue import Emitted, Emitter, Port, Wire, param
from engine.catalogue import Loss as LossType
from engine.errors import EmitError
from engine.symbols import Expr, F, without_defaults
from nodes.wires import same_shapes, sizes


def numbers(target: Wire) -> Expr:
    """The target as numbers that a difference can be taken to."""
    return target if target.dtype == "float32" else target.float()


class WeightedLoss(LossType, abstract=True):
    """A loss with its share in the sum that is minimised."""

    weight: float = param(1.0, minimum=0, doc="share of this loss in the sum that is minimised")

    def summary(self) -> str:
        return "" if self.weight == 1 else f"weight {self.weight:g}"


class CrossEntropy(WeightedLoss):
    """Compares class scores with the right class; contains the softmax, so feed it plain scores."""

    title = "Cross-entropy"
    aliases: ClassVar[tuple[str, ...]] = ("softmax loss", "log loss", "nll", "classification")
    formula = "L = -log( exp(x_y) / Σⱼ exp(xⱼ) ), mean over the batch; y: the right class"
    source = "Bridle, 1990; label smoothing: Szegedy and others, 2015"
    ports_in = (
        Port("prediction", doc="class scores (logits), one a class"),
        Port("target", doc="number of the right class, from 0"),
    )
    smoothing: float = param(
        0.0, minimum=0, below=1, label="Label smoothing", doc="belief spread over the other classes"
    )

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        if target.dtype != "int64":
            raise EmitError(
                "Cross-entropy needs whole class numbers as its target.", fix="Use the class column."
            )
        if not prediction.shape or target.shape != prediction.shape[1:]:
            raise EmitError(
                "Cross-entropy needs one score for each class and one class number for each example, "
                f"but the prediction is {sizes(prediction)} and the target {sizes(target)}."
            )
        return without_defaults(F.cross_entropy(prediction, target, label_smoothing=self.smoothing))


class BCEWithLogits(WeightedLoss):
    """Compares yes-or-no scores with 0 or 1; contains the sigmoid, so feed it plain scores."""

    title = "Binary cross-entropy"
    aliases: ClassVar[tuple[str, ...]] = ("bce", "logistic loss", "sigmoid loss")
    formula = "L = -y log σ(x) - (1 - y) log(1 - σ(x)), mean"
    source = "Cox, 1958"
    ports_in = (Port("prediction", doc="scores (logits)"), Port("target", doc="0 or 1, of the same shape"))

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        same_shapes(prediction, target)
        return F.binary_cross_entropy_with_logits(prediction, numbers(target))


class MSE(WeightedLoss):
    """The mean of the squared differences."""

    title = "Mean squared error"
    aliases: ClassVar[tuple[str, ...]] = ("mse", "l2", "squared", "regression")
    formula = "L = (1/n) Σ (x - y)²"
    source = "Legendre, 1805; Gauss, 1809"

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        same_shapes(prediction, target)
        return F.mse_loss(prediction, numbers(target))


class L1(WeightedLoss):
    """The mean of the absolute differences; less moved by outliers than the squares."""

    title = "Mean absolute error loss"
    aliases: ClassVar[tuple[str, ...]] = ("l1", "mae", "laplace")
    formula = "L = (1/n) Σ |x - y|"
    source = "Laplace, 1774"

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        same_shapes(prediction, target)
        return F.l1_loss(prediction, numbers(target))


class Huber(WeightedLoss):
    """Squared for small differences, absolute for large ones."""

    title = "Huber loss"
    aliases: ClassVar[tuple[str, ...]] = ("smooth l1", "robust")
    formula = "L = d² / 2 for |d| ≤ δ, else δ (|d| - δ/2), mean; d = x - y"
    source = "Huber, 1964"
    delta: float = param(1.0, above=0, doc="difference at which squared turns into absolute")

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        same_shapes(prediction, target)
        return without_defaults(F.huber_loss(prediction, numbers(target), delta=self.delta))
