"""Losses, which training minimises."""

from __future__ import annotations

from engine.catalogue import Emitted, Emitter, Port, Wire, param
from engine.catalogue import Loss as LossType
from engine.catalogue.params import Floats
from engine.catalogue.symbols import Expr, F, carried, torch, without_defaults
from engine.catalogue.traits import Answer, LossTraits, Player, Squash
from engine.errors import EmitError
from engine.shapes.heads import class_axis
from nodes.wires import same_shapes, sizes


def numbers(target: Wire) -> Expr:
    """The target as numbers that a difference can be taken to."""
    return target if target.dtype == "float32" else target.float()


def left_out_param() -> int | None:
    """Declare which places don't count: `ignored: int | None = left_out_param()`."""
    doc = "places with this class don't count, such as filling, 0; those marked -100 never do"
    found: int | None = param(None, minimum=0, label="Leave out class", doc=doc)
    return found


class WeightedLoss(LossType, abstract=True):
    """A loss with its weight in the sum that is minimised."""

    weight: float = param(1.0, minimum=0, doc="factor of this loss in the sum that is minimised")

    def summary(self) -> str:
        return "" if self.weight == 1 else f"weight {self.weight:g}"


class CrossEntropy(WeightedLoss):
    """Compares class scores with the right class; contains the softmax, so it takes scores (logits)."""

    common = True
    title = "Cross-entropy"
    aliases = ("softmax loss", "log loss", "nll", "classification")
    formula = "L = -log( exp(x_y) / Σⱼ exp(xⱼ) ), mean over the batch; y: the right class"
    source = "Bridle, 1990; label smoothing: Szegedy and others, 2015"
    traits = LossTraits(answers=Answer.CLASSES, contains=Squash.SOFTMAX, class_weights="class_weights")
    ports_in = (
        Port("prediction", doc="class scores (logits), one a class"),
        Port("target", doc="number of the right class, from 0; or the probability of each class"),
    )
    smoothing: float = param(
        0.0, minimum=0, below=1, label="Label smoothing", doc="probability spread over all classes alike"
    )
    ignored: int | None = left_out_param()
    class_weights: Floats | None = param(
        None,
        minimum=0,
        doc="one for each class, in order: how much its examples count beside the others; empty: all alike",
    )

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        return self.between(prediction, target)

    def between(self, prediction: Wire, target: Wire) -> Expr:
        """The loss of scores beside the right classes. Errors: `EmitError` where they don't fit."""
        probabilities = (
            target.dtype == "float32" and len(target.shape) > 0 and target.shape == prediction.shape
        )
        if target.dtype != "int64" and not probabilities:
            raise EmitError(
                "Cross-entropy needs whole class numbers as its target.", fix="Use the class column."
            )
        options: dict[str, object] = {"label_smoothing": self.smoothing}
        if probabilities:
            weights = self._weights(prediction.shape[0])
            if weights is not None:
                options["weight"] = torch.tensor(weights, device=prediction.device)
            return without_defaults(F.cross_entropy(prediction, target, **options))
        axis = class_axis(prediction.shape, target.shape)
        if axis is None:
            raise EmitError(
                "Cross-entropy needs one score for each class and one class number for each example, "
                f"but the prediction is {sizes(prediction)} and the target {sizes(target)}."
            )
        weights = self._weights(prediction.shape[axis])
        scores: Expr = prediction
        right: Expr = target
        if axis == -1 and len(prediction.shape) > 1:
            scores, right = prediction.flatten(0, -2), target.flatten()
        if not self._picks(target):
            return without_defaults(F.cross_entropy(scores, right, **options))
        from engine.layers.losses import counted_cross_entropy

        options |= {"ignored": self.ignored, "weights": weights}
        return without_defaults(carried(counted_cross_entropy)(scores, right, **options))

    def counts(self, **wires: Wire) -> Expr | None:
        if not self._picks(wires["target"]):
            return super().counts(**wires)
        from engine.layers.losses import counted

        weights = self.class_weights
        return without_defaults(
            carried(counted)(wires["target"], ignored=self.ignored, weights=weights and list(weights))
        )

    def _picks(self, target: Wire) -> bool:
        """Whether some answers may count less than others: those at places can be marked to count nothing."""
        return target.dtype == "int64" and (
            bool(target.shape) or self.ignored is not None or self.class_weights is not None
        )

    def _weights(self, classes: int) -> list[float] | None:
        """The weights of the classes. Errors: `EmitError` where there are not as many."""
        weights = self.class_weights
        if weights is None:
            return None
        if len(weights) != classes:
            raise EmitError(f"There are {len(weights)} class weights, but {classes} class scores come in.")
        if not any(weights):
            raise EmitError("Some class weight has to be above 0, or there is nothing to learn.")
        return list(weights)


class BCEWithLogits(WeightedLoss):
    """Compares yes-or-no scores with 0 or 1; contains the sigmoid, so it takes scores (logits)."""

    common = True
    title = "Binary cross-entropy"
    aliases = ("bce", "logistic loss", "sigmoid loss")
    formula = "L = -y log σ(x) - (1 - y) log(1 - σ(x)), mean"
    source = "Cox, 1958"
    traits = LossTraits(answers=Answer.YES_NO, contains=Squash.SIGMOID, class_weights="yes_weight")
    ports_in = (Port("prediction", doc="scores (logits)"), Port("target", doc="0 or 1, of the same shape"))
    yes_weight: float = param(
        1.0, above=0, label="Weight of a yes", doc="how much a 1 counts beside a 0; above 1 where it is rare"
    )

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        same_shapes(prediction, target)
        options = {}
        if self.yes_weight != 1:
            options["pos_weight"] = torch.tensor(self.yes_weight, device=prediction.device)
        return F.binary_cross_entropy_with_logits(prediction, numbers(target), **options)


class MSE(WeightedLoss):
    """The mean of the squared differences."""

    common = True
    title = "Mean squared error"
    aliases = ("mse", "l2", "squared", "regression")
    formula = "L = (1/n) Σ (x - y)²"
    source = "Legendre, 1805; Gauss, 1809"

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        same_shapes(prediction, target)
        return F.mse_loss(prediction, numbers(target))


class L1(WeightedLoss):
    """The mean of the absolute differences; less moved by outliers than the squares."""

    title = "Mean absolute error loss"
    aliases = ("l1", "mae", "laplace")
    formula = "L = (1/n) Σ |x - y|"
    source = "Laplace, 1774"

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        same_shapes(prediction, target)
        return F.l1_loss(prediction, numbers(target))


class Coral(WeightedLoss):
    """How far apart the covariances of two sets of features are: small where both domains look alike.

    The rows of the two need not belong together, nor be of one number. Covariances are those of a batch: the
    value of a split is the mean over its batches, and depends a little on their size.
    """

    title = "Correlation alignment"
    aliases = ("coral", "domain adaptation", "covariance", "deep coral")
    formula = "L = |C - C'|² / 4d², C and C' the covariances of d features over the rows of each batch"
    source = "Sun and Saenko, 2016"
    traits = LossTraits(unpaired=True)
    ports_in = (
        Port("features", doc="what a layer gives for one domain, a row an example"),
        Port("others", doc="what it gives for the other"),
    )

    def emit(self, e: Emitter, features: Wire, others: Wire) -> Emitted:
        from engine.layers.losses import covariance_gap

        if features.shape != others.shape:
            raise EmitError(
                f"Covariances of {sizes(features)} and {sizes(others)} cannot be compared.",
                fix="Connect the same layer of both networks.",
            )
        return carried(covariance_gap)(features, others)


class Huber(WeightedLoss):
    """Squared for small differences, absolute for large ones."""

    title = "Huber loss"
    aliases = ("smooth l1", "robust")
    formula = "L = d² / 2 for |d| ≤ δ, else δ (|d| - δ/2), mean; d = x - y"
    source = "Huber, 1964"
    delta: float = param(1.0, above=0, doc="difference at which squared turns into absolute")

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        same_shapes(prediction, target)
        return without_defaults(F.huber_loss(prediction, numbers(target), delta=self.delta))


class ActivityL1(WeightedLoss):
    """The mean absolute value of the numbers on a wire; minimising it keeps a code sparse."""

    title = "Sparse activity (L1)"
    aliases = ("sparsity", "sparse code", "penalty", "lasso on activations")
    formula = "L = (1/n) Σ |x|"
    source = "Olshausen and Field, 1996"
    ports_in = (Port("x", doc="the activations to keep small"),)
    weight: float = param(0.001, minimum=0, doc="factor of this loss in the sum that is minimised")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        return numbers(x).abs().mean()


class SparseCode(WeightedLoss):
    """Keeps each unit of a code silent most of the time: its mean activity is drawn to a small rate.

    In training the mean is over each batch, also where the gradients of several are added up; of a split it
    is over all rows.
    """

    title = "Sparse activity (KL)"
    aliases = ("sparsity", "sparse autoencoder", "kullback-leibler", "penalty")
    formula = "L = Σⱼ KL(ρ ‖ mean of xⱼ over the batch)"
    source = "Ng, 2011"
    ports_in = (Port("x", doc="activations in 0..1, such as those of a sigmoid"),)
    weight: float = param(0.01, minimum=0, doc="factor of this loss in the sum that is minimised")
    share: float = param(
        0.05, above=0, below=1, label="Activity rate", doc="how often each unit should be active"
    )

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        if not x.shape:
            raise EmitError("Sparse activity needs units, but one number an example comes in.")
        return self.of_means(self.means(x=x))

    def means(self, **wires: Wire) -> Expr:
        x = wires["x"]
        return x.mean(0) if len(x.shape) == 1 else x.flatten(1).mean(0)

    def of_means(self, means: Expr) -> Expr:
        from engine.layers.losses import sparse_code

        return carried(sparse_code)(means, self.share)


class Distillation(WeightedLoss):
    """Compares class scores with those of a teacher, both softened, and with the right class if there is one.

    Train the student only: the teacher's scores are taken as they are.
    """

    aliases = ("teacher and student", "soft targets", "knowledge distillation")
    formula = "L = a T² CE(softmax(t/T), softmax(x/T)) + (1 - a) CE(y, softmax(x))"
    source = "Hinton, Vinyals and Dean, 2015"
    traits = LossTraits(answers=Answer.CLASSES, contains=Squash.SOFTMAX)
    ports_in = (
        Port("prediction", label="student", doc="class scores of the student"),
        Port("teacher", doc="class scores of the teacher"),
        Port("target", doc="number of the right class; without it the teacher is all", optional=True),
    )
    temperature: float = param(2.0, above=0, doc="above 1 shows how the teacher ranks the wrong classes")
    share: float = param(
        0.9, minimum=0, maximum=1, label="Weight of the teacher", doc="the right class has the rest"
    )

    def emit(self, e: Emitter, prediction: Wire, teacher: Wire, target: Wire | None = None) -> Emitted:
        from engine.layers.losses import distilled

        same_shapes(prediction, teacher)
        if target is None:
            return carried(distilled)(prediction, teacher, self.temperature)
        if target.dtype != "int64" or target.shape != prediction.shape[1:]:
            raise EmitError("Distillation needs whole class numbers as its target, one an example.")
        return carried(distilled)(prediction, teacher, self.temperature, target, self.share)

    def counts(self, **wires: Wire) -> Expr | None:
        target = wires.get("target")
        if target is None or not target.shape:
            return super().counts(**wires)
        from engine.layers.losses import counted

        return carried(counted)(target)


class DiscriminatorLoss(WeightedLoss):
    """Discriminator loss: how badly real and generated examples are distinguished; takes scores (logits).

    It trains the discriminator; the generator has a loss of its own.
    """

    title = "Discriminator loss"
    aliases = ("gan", "adversarial", "critic", "minimax", "wgan", "hinge")
    formula = "L = -mean log D(x) - mean log(1 - D(G(z))), D = σ(score)"
    source = "Goodfellow and others, 2014; Mao 2017; Lim and Ye 2017; Arjovsky 2017"
    traits = LossTraits(trains=Player.DISCRIMINATOR)
    ports_in = (
        Port("real", doc="scores (logits) of real examples"),
        Port("made", doc="scores of generated examples"),
    )
    form: str = param(
        "cross-entropy",
        choices=("cross-entropy", "least squares", "hinge", "Wasserstein"),
        doc="how the scores count; Wasserstein needs small weights",
    )
    smoothing: float = param(
        0.0, minimum=0, below=1, label="Label smoothing", doc="doubt about the real ones; 0.1 is usual"
    )

    def emit(self, e: Emitter, real: Wire, made: Wire) -> Emitted:
        from engine.layers.losses import loss_of_discriminator

        same_shapes(real, made)
        return without_defaults(
            carried(loss_of_discriminator)(real, made, self.form, smoothing=self.smoothing)
        )


class GeneratorLoss(WeightedLoss):
    """Generator loss, computed from the discriminator's scores (logits) for generated examples.

    Minimax is the loss of the theory, whose slope vanishes where the discriminator is sure; non-saturating
    has its slope there.
    """

    title = "Generator loss"
    aliases = ("gan", "adversarial", "non-saturating", "minimax", "wgan", "hinge")
    formula = "non-saturating: L = -mean log D(G(z)); minimax: L = mean log(1 - D(G(z)))"
    source = "Goodfellow and others, 2014"
    traits = LossTraits(trains=Player.GENERATOR, saturates=("form", "minimax"))
    ports_in = (Port("made", doc="scores (logits) of generated examples"),)
    form: str = param(
        "non-saturating",
        choices=("non-saturating", "minimax", "least squares", "hinge", "Wasserstein"),
        doc="how the scores count; take the discriminator's",
    )

    def emit(self, e: Emitter, made: Wire) -> Emitted:
        from engine.layers.losses import loss_of_generator

        return carried(loss_of_generator)(made, self.form)
