"""Metrics of classes that are computed from a whole split: none of them is a mean over batches."""

from __future__ import annotations

from engine.catalogue import Emitted, Emitter, Metric, Port, Wire, param
from engine.catalogue.symbols import Expr, F, carried, torch, without_defaults
from engine.catalogue.traits import Answer, LossTraits
from engine.errors import EmitError
from engine.shapes.heads import class_axis
from nodes.loss import CrossEntropy, left_out_param
from nodes.wires import sizes

PREDICTION = Port("prediction", doc="class scores, or one yes-or-no score")
TARGET = Port("target", doc="right class; or 0 and 1, or -1 and 1")

AVERAGES = ("macro", "micro", "weighted")


def classes_last(prediction: Wire, target: Wire) -> Expr | None:
    """Class scores (N, ..., C) beside classes (N, ...); None where no scores of classes come in."""
    axis = class_axis(prediction.shape, target.shape)
    if target.dtype != "int64" or axis is None:
        return None
    last = axis == -1 or len(prediction.shape) == 1
    return prediction if last else prediction.movedim(1, -1)


def yes_or_no(prediction: Wire, target: Wire) -> tuple[Expr, Expr]:
    """What one score says, and what is right, both 0 or 1. Errors: `EmitError` where shapes differ."""
    if prediction.shape != target.shape:
        raise EmitError(
            "This metric needs one score for each class, or one yes-or-no score of the target's shape, "
            f"but the prediction is {sizes(prediction)} and the target {sizes(target)}."
        )
    ends = prediction.squash.ends if prediction.squash is not None else None
    right = sum(target.ends or ends or (0, 1)) / 2 or 0
    said = 0 if prediction.logits else right
    return prediction.gt(said).long(), target.gt(right).long()


class ClassScore(Metric, abstract=True):
    """A score out of how often each class is taken for each other, over a whole split."""

    ports_in = (PREDICTION, TARGET)
    traits = LossTraits(answers=Answer.CLASSES)
    score = ""
    average: str = param(
        "macro",
        choices=AVERAGES,
        doc="macro: the mean over the classes that occur; micro: all answers together; weighted: the mean "
        "over classes by how often each occurs",
    )
    only: int | None = param(
        None, minimum=0, label="Of class", doc="the score of this class alone; empty: the average"
    )
    ignored: int | None = left_out_param()

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        return self.of_means(self.means(prediction=prediction, target=target))

    def means(self, **wires: Wire) -> Expr:
        prediction, target = wires["prediction"], wires["target"]
        from engine.layers.scores import class_frequencies

        scores = classes_last(prediction, target)
        if scores is None:
            guessed, right = yes_or_no(prediction, target)
            return carried(class_frequencies)(guessed, right, 2)
        classes = prediction.shape[class_axis(prediction.shape, target.shape) or 0]
        if self.only is not None and self.only >= classes:
            raise EmitError(f"There is no class {self.only}: scores of {classes} classes come in, from 0.")
        return without_defaults(
            carried(class_frequencies)(scores.argmax(-1), target, classes, ignored=self.ignored)
        )

    def of_means(self, means: Expr) -> Expr:
        from engine.layers.scores import class_score

        options = {"average": self.average, "only": self.only}
        return without_defaults(carried(class_score)(means, self.score, **options))

    def counts(self, **wires: Wire) -> Expr | None:
        if classes_last(wires["prediction"], wires["target"]) is None:
            return super().counts(**wires)
        return CrossEntropy({"ignored": self.ignored}).counts(**wires)


class PrecisionScore(ClassScore):
    """Of the answers that name a class, how many are right; the average over classes unless one is named."""

    title = "Precision"
    aliases = ("positive predictive value",)
    formula = "P = right answers c / answers c"
    source = "van Rijsbergen, 1979"
    score = "precision"


class RecallScore(ClassScore):
    """Of the examples of a class, how many are found; the average over classes unless one is named."""

    title = "Recall"
    aliases = ("sensitivity", "true positive rate", "hit rate")
    formula = "R = right answers c / examples of c"
    source = "van Rijsbergen, 1979"
    score = "recall"


class F1Score(ClassScore):
    """The harmonic mean of precision and recall; over pixels it is called Dice."""

    title = "F1"
    aliases = ("f-measure", "dice")
    formula = "F1 = 2 P R / (P + R)"
    source = "Dice, 1945; van Rijsbergen, 1979"
    score = "f1"


class IntersectionOverUnion(ClassScore):
    """How far predicted and right places of a class overlap: 1 where they are the same, 0 where apart."""

    title = "Intersection over union"
    aliases = ("iou", "jaccard", "segmentation")
    formula = "IoU = both / either, of the places of a class"
    source = "Jaccard, 1901"
    score = "iou"


class RankScore(Metric, abstract=True):
    """A score out of how a whole split is ranked; the scores of all its rows are kept until it is through."""

    ports_in = (Port("prediction", doc="class scores or probabilities, or yes-or-no scores"), TARGET)
    traits = LossTraits(answers=Answer.CLASSES)
    average: str = param(
        "macro",
        choices=AVERAGES,
        doc="macro: the mean over the classes that occur; micro: all decisions together; weighted: the mean "
        "over classes by how often each occurs",
    )
    only: int | None = param(
        None, minimum=0, label="Of class", doc="this class against the rest; empty: the average over classes"
    )
    ignored: int | None = left_out_param()

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        return self.of_kept(*self.kept(prediction=prediction, target=target))

    def kept(self, **wires: Wire) -> tuple[Expr, ...]:
        prediction, target = wires["prediction"], wires["target"]
        scores = classes_last(prediction, target)
        if scores is None:
            right = yes_or_no(prediction, target)[1].bool()
            decisions = prediction.shape[0] if len(prediction.shape) == 1 else 1
        else:
            scores = F.softmax(scores, -1) if prediction.squash is None else scores
            decisions = prediction.shape[class_axis(prediction.shape, target.shape) or 0]
        if self.only is not None and self.only >= decisions:
            raise EmitError(f"There is no class {self.only}: scores of {decisions} come in, from 0.")
        return (prediction, right) if scores is None else (scores, target)

    def of_kept(self, *kept: Expr) -> Expr:
        options = {"average": self.average, "only": self.only, "ignored": self.ignored}
        return without_defaults(self.score()(*kept, **options))

    def score(self) -> Expr:
        """The function of scores and targets that the value is."""
        raise NotImplementedError


class AreaUnderRoc(RankScore):
    """How often an example of a class has a higher score for it than one of another class: the AUC.

    1 is a perfect order and 0.5 a random one, whatever the threshold and however rare the class. The scores
    of a whole split are kept in memory until it is through: 4 bytes for each example and class.
    """

    title = "Area under ROC"
    aliases = ("auc", "roc auc", "auroc", "c-statistic")
    formula = "P(score of one of c > score of one of the rest) + P(equal) / 2"
    source = "Hanley and McNeil, 1982"

    def score(self) -> Expr:
        from engine.layers.scores import area_under_roc

        return carried(area_under_roc)


class AveragePrecision(RankScore):
    """Precision, averaged over the thresholds by what recall gains at each: for classes that are rare.

    A random order has the fraction of the class. The scores of a whole split are kept in memory until it is
    through: 4 bytes for each example and class.
    """

    title = "Average precision"
    aliases = ("ap", "pr auc", "precision recall")
    formula = "AP = Σ_i (R_i - R_{i-1}) P_i, thresholds i falling"
    source = "Salton and McGill, 1983"

    def score(self) -> Expr:
        from engine.layers.scores import average_precision

        return carried(average_precision)


class TopKAccuracy(Metric):
    """How often the right class is among the k with the highest scores."""

    title = "Top-k accuracy"
    aliases = ("top 5",)
    formula = "(1/n) Σ [y among the k highest x]"
    source = "Russakovsky and others, 2015"
    ports_in = (Port("prediction", doc="class scores"), Port("target", doc="right class"))
    traits = LossTraits(answers=Answer.CLASSES)
    k: int = param(5, minimum=1, label="k", doc="how many guesses an example has")
    ignored: int | None = left_out_param()

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        scores = classes_last(prediction, target)
        if scores is None:
            raise EmitError("Top-k accuracy needs a score for each class and class numbers as its target.")
        from engine.layers.scores import top_k_accuracy

        return without_defaults(carried(top_k_accuracy)(scores, target, self.k, ignored=self.ignored))

    def counts(self, **wires: Wire) -> Expr | None:
        return CrossEntropy({"ignored": self.ignored}).counts(**wires)


class CalibrationError(Metric):
    """How far confidence is from being right: 0 where of all answers given with 80 % just 80 % are right."""

    title = "Calibration error"
    aliases = ("ece", "expected calibration error", "reliability")
    lower_is_better = True
    formula = "Σ_b (n_b / n) |right_b - confidence_b|, b: bins of confidence"
    source = "Naeini, Cooper and Hauskrecht, 2015"
    ports_in = (Port("prediction", doc="class scores (logits) or probabilities"), TARGET)
    traits = LossTraits(answers=Answer.CLASSES)
    bins: int = param(15, minimum=1, doc="parts of equal width into which confidence is divided")

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        return self.of_means(self.means(prediction=prediction, target=target))

    def means(self, **wires: Wire) -> Expr:
        prediction, target = wires["prediction"], wires["target"]
        from engine.layers.scores import calibration_gaps

        scores = classes_last(prediction, target)
        if scores is None:
            _, right = yes_or_no(prediction, target)
            yes = prediction.sigmoid() if prediction.squash is None else prediction
            return carried(calibration_gaps)(torch.stack((1 - yes, yes), -1), right, self.bins)
        probabilities = F.softmax(scores, -1) if prediction.squash is None else scores
        return carried(calibration_gaps)(probabilities, target, self.bins)

    def of_means(self, means: Expr) -> Expr:
        return means.abs().sum()

    def counts(self, **wires: Wire) -> Expr | None:
        if classes_last(wires["prediction"], wires["target"]) is None:
            return super().counts(**wires)
        return CrossEntropy({}).counts(**wires)


class Perplexity(Metric):
    """Among how many equally likely classes the model is as unsure as it is: e to the cross-entropy."""

    aliases = ("language model",)
    lower_is_better = True
    formula = "exp( -(1/n) Σ log p(y) )"
    source = "Jelinek, Mercer, Bahl and Baker, 1977"
    ports_in = (Port("prediction", doc="class scores (logits)"), Port("target", doc="right class"))
    traits = LossTraits(answers=Answer.CLASSES, contains=CrossEntropy.traits.contains)
    ignored: int | None = left_out_param()

    def emit(self, e: Emitter, prediction: Wire, target: Wire) -> Emitted:
        return self.of_means(self.means(prediction=prediction, target=target))

    def means(self, **wires: Wire) -> Expr:
        return CrossEntropy({"ignored": self.ignored}).between(**wires)

    def of_means(self, means: Expr) -> Expr:
        return means.exp()

    def counts(self, **wires: Wire) -> Expr | None:
        return CrossEntropy({"ignored": self.ignored}).counts(**wires)
