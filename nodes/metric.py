"""Metrics: numbers that are measured on validation and test data, not minimised."""

from __future__ import annotations

from engine.catalogue import Emitted, Emitter, Metric, Port, Wire, param
from engine.catalogue.symbols import Expr, F, carried, equal, torch, without_defaults
from engine.catalogue.traits import Answer, LossTraits
from engine.errors import EmitError
from engine.shapes.heads import class_axis
from nodes.loss import left_out_param, numbers
from nodes.wires import same_shapes, sizes


class Accuracy(Metric):
    """The fraction of examples whose class is predicted right.

    One score says yes above the middle between the two values of the target, 0 and 1 or -1 and 1; above 0
    where a loss passes it through a sigmoid.
    """

    common = True
    formula = "(1/n) Σ [argmax x = y]"
    ports_in = (
        Port("prediction", doc="class scores, or one yes-or-no score"),
        Port("target", doc="right class; or 0 and 1, or -1 and 1"),
    )
    aliases = ("correct",)
    traits = LossTraits(answers=Answer.CLASSES)
    ignored: int | None = left_out_param()

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        axis = class_axis(prediction.shape, target.shape)
        if target.dtype == "int64" and axis is not None:
            guessed = prediction.argmax(-1 if axis and len(prediction.shape) > 1 else 1)
            if self.ignored is None and not target.shape:
                return equal(guessed, target).float().mean()
            from engine.layers.scores import masked_accuracy

            return without_defaults(carried(masked_accuracy)(guessed, target, ignored=self.ignored))
        if prediction.shape != target.shape:
            raise EmitError(
                "Accuracy needs one score for each class, or one yes-or-no score of the target's shape, "
                f"but the prediction is {sizes(prediction)} and the target {sizes(target)}."
            )
        if prediction.logits:
            return equal(prediction.gt(0), target.gt(0)).float().mean()
        if target.ends is not None:
            middle = sum(target.ends) / 2 or 0
            return equal(prediction.gt(middle), target.gt(middle)).float().mean()
        ends = prediction.squash.ends if prediction.squash is not None else None
        from engine.layers.scores import yes_no_accuracy

        return carried(yes_no_accuracy)(prediction, target, sum(ends or (0, 1)) / 2)

    def counts(self, **wires: Wire) -> Expr | None:
        prediction, target = wires["prediction"], wires["target"]
        axis = class_axis(prediction.shape, target.shape)
        if target.dtype != "int64" or axis is None or (self.ignored is None and not target.shape):
            return super().counts(**wires)
        from engine.layers.losses import counted

        return without_defaults(carried(counted)(target, ignored=self.ignored))


class MeanSquaredError(Metric):
    """The mean of the squared differences, measured only."""

    title = "Squared error"
    aliases = ("mse",)
    lower_is_better = True
    formula = "(1/n) Σ (x - y)²"
    source = "Legendre, 1805; Gauss, 1809"

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        same_shapes(prediction, target)
        return F.mse_loss(prediction, numbers(target))


class MeanAbsoluteError(Metric):
    """The mean of the absolute differences, measured only."""

    title = "Absolute error"
    aliases = ("mae", "l1")
    lower_is_better = True
    formula = "(1/n) Σ |x - y|"
    source = "Laplace, 1774"

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        same_shapes(prediction, target)
        return F.l1_loss(prediction, numbers(target))


class RootMeanSquaredError(Metric):
    """The square root of the mean of squared differences: an error in the target's own unit."""

    title = "Root of squared error"
    aliases = ("rmse",)
    lower_is_better = True
    formula = "√( (1/n) Σ (x - y)² )"
    source = "Gauss, 1809"

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        return self.of_means(self.means(prediction=prediction, target=target))

    def means(self, **wires: Wire) -> Expr:
        same_shapes(wires["prediction"], wires["target"])
        return F.mse_loss(wires["prediction"], numbers(wires["target"]))

    def of_means(self, means: Expr) -> Expr:
        return means.sqrt()


class MeanAbsolutePercentageError(Metric):
    """The mean of the differences as parts of the target: 0.05 is five per cent off.

    It says nothing of targets at 0, where any difference is infinitely many per cent.
    """

    title = "Percentage error"
    aliases = ("mape",)
    lower_is_better = True
    formula = "(1/n) Σ |x - y| / |y|"
    source = "Makridakis, 1993"

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        same_shapes(prediction, target)
        right = numbers(target)
        return ((prediction - right).abs() / right.abs().clamp(1e-12)).mean()


class RSquared(Metric):
    """How much of the target's variance the model explains: 1 is all, 0 is no more than its mean does.

    Of several targets it is the mean of their values. Below 0 a model is worse than the mean. Three forms of
    it agree for least squares on the rows that it was fitted to, and nowhere else: only the first says how
    good predictions are, as the second may be above 1, and the third takes no notice of scale and shift.
    """

    title = "R²"
    aliases = ("coefficient of determination", "explained variance", "correlation")
    formula = "1 - Σ (x - y)² / Σ (y - mean y)²; or Σ (x - mean y)² / Σ (y - mean y)²; or corr(x, y)²"
    source = "Wright, 1921; Kvålseth, 1985"
    form: str = param(
        "residual",
        choices=("residual", "regression", "correlation"),
        doc="of the errors, of the variance of the predictions, or of their correlation with the target",
    )

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        return self.of_means(self.means(prediction=prediction, target=target))

    def means(self, **wires: Wire) -> Expr:
        from engine.layers.scores import joint_moments, moments

        same_shapes(wires["prediction"], wires["target"])
        needed = moments if self.form == "residual" else joint_moments
        return carried(needed)(wires["prediction"], numbers(wires["target"]))

    def of_means(self, means: Expr) -> Expr:
        from engine.layers.scores import explained, explained_as

        if self.form == "residual":
            return carried(explained)(means)
        return carried(explained_as)(means, self.form)


class MeanProbability(Metric):
    """The mean probability that yes-or-no scores stand for: D(x) or D(G(z)) of a discriminator.

    With real examples it should fall to 1/2 and with generated ones rise to 1/2; near 1 and 0, the
    discriminator is too strong for the generator to learn.
    """

    title = "Mean probability"
    aliases = ("gan monitor", "d(x)", "d(g(z))", "sigmoid")
    formula = "(1/n) Σ σ(x)"
    source = "Goodfellow and others, 2014"
    traits = LossTraits(mean_probability=True)
    ports_in = (Port("x", doc="scores (logits)"),)

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        return torch.sigmoid(x).mean()
