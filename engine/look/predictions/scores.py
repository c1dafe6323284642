"""How good answers are: errors, hits and false alarms, curves over the threshold, calibration.

Everything takes and gives numpy arrays. What cannot be said, such as the recall of a class that never
occurs, is NaN.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


class Curve(NamedTuple):
    """Points `x`, `y` for falling `thresholds`; `area` sums up the curve."""

    x: Numbers
    y: Numbers
    thresholds: Numbers
    area: float


class ByClass(NamedTuple):
    """One number a class; `support` is how many examples of it there are."""

    precision: Numbers
    recall: Numbers
    f1: Numbers
    support: NDArray[np.int64]


class Counts(NamedTuple):
    """Yes-or-no answers at one threshold: hits, false alarms, correct rejections, misses."""

    hits: int
    false_alarms: int
    rejections: int
    misses: int

    @property
    def precision(self) -> float:
        return _fraction(self.hits, self.hits + self.false_alarms)

    @property
    def recall(self) -> float:
        return _fraction(self.hits, self.hits + self.misses)

    @property
    def false_alarm_rate(self) -> float:
        return _fraction(self.false_alarms, self.false_alarms + self.rejections)

    @property
    def f1(self) -> float:
        return _fraction(2 * self.hits, 2 * self.hits + self.false_alarms + self.misses)

    @property
    def accuracy(self) -> float:
        return _fraction(self.hits + self.rejections, sum(self))


class Calibration(NamedTuple):
    """Answers in bins of equal width by how sure they were; empty bins are NaN.

    `error` is the expected calibration error: mean |accuracy - confidence|, weighted by the bins' counts
    (Guo and others, 2017).
    """

    edges: Numbers
    counts: NDArray[np.int64]
    confidence: Numbers
    accuracy: Numbers
    error: float


class Fit(NamedTuple):
    """How far numbers are from the right ones; `r_squared` is 1 - residual / total sum of squares."""

    r_squared: float
    mean_absolute: float
    root_mean_square: float


def confusion(right: NDArray[Any], answered: NDArray[Any], classes: int) -> NDArray[np.int64]:
    """How often each class `(rows)` was answered as each class `(columns)`, `(classes, classes)`."""
    pairs = right.astype(np.int64) * classes + answered.astype(np.int64)
    return np.bincount(pairs, minlength=classes * classes).reshape(classes, classes).astype(np.int64)


def by_class(matrix: NDArray[Any]) -> ByClass:
    """Precision, recall and F1 of each class from a confusion matrix."""
    hits, answered, right = np.diag(matrix).astype(float), matrix.sum(axis=0), matrix.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return ByClass(
            hits / answered, hits / right, 2 * hits / (answered + right), right.astype(np.int64, copy=False)
        )


def roc(positive: NDArray[Any], scores: NDArray[Any]) -> Curve:
    """Rate of false alarms (x) against rate of hits (y), from (0, 0) to (1, 1); the area is the AUC."""
    hits, alarms, thresholds = _cumulative(positive, scores)
    x, y = np.r_[0, alarms].astype(float), np.r_[0, hits].astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = x / x[-1], y / y[-1]
    return Curve(x, y, np.r_[np.inf, thresholds], float(np.trapezoid(y, x)))


def precision_recall(positive: NDArray[Any], scores: NDArray[Any]) -> Curve:
    """Recall (x) against precision (y), from recall 0; the area is the average precision.

    That is the sum of precision × gain in recall, nothing between points. The first point stands for no
    answer at all and repeats the precision of the surest answers.
    """
    hits, alarms, thresholds = _cumulative(positive, scores)
    total = hits[-1] if len(hits) else 0
    with np.errstate(invalid="ignore", divide="ignore"):
        recall, precision = hits / float(total), hits / (hits + alarms)
    if not len(hits) or not total:
        nothing = np.full(1, np.nan)
        return Curve(nothing, nothing, np.full(1, np.inf), float("nan"))
    area = float(np.sum(np.diff(np.r_[0.0, recall]) * precision))
    return Curve(np.r_[0.0, recall], np.r_[precision[0], precision], np.r_[np.inf, thresholds], area)


def thinned(curve: Curve, most: int = 300) -> Curve:
    """A curve with at most so many points, evenly along its length, the first and the last kept."""
    if len(curve.x) <= most:
        return curve
    along = np.r_[0, np.cumsum(np.hypot(np.diff(curve.x), np.diff(curve.y)))]
    kept = np.unique(np.r_[0, np.searchsorted(along, np.linspace(0, along[-1], most)), len(along) - 1])
    kept = kept[kept < len(along)]
    return Curve(curve.x[kept], curve.y[kept], curve.thresholds[kept], curve.area)


def at_threshold(positive: NDArray[Any], scores: NDArray[Any], threshold: float) -> Counts:
    """Yes is answered where a score is at least the threshold."""
    yes, predicted = positive.astype(bool), scores >= threshold
    return Counts(
        int((yes & predicted).sum()),
        int((~yes & predicted).sum()),
        int((~yes & ~predicted).sum()),
        int((yes & ~predicted).sum()),
    )


def costs(positive: NDArray[Any], scores: NDArray[Any], thresholds: Numbers, miss: float = 1.0) -> Numbers:
    """The mean cost of an answer at each threshold, where a false alarm costs 1 and a miss costs `miss`.

    With right probabilities it is least at 1 / (1 + miss) (Elkan, 2001).
    """
    yes, values = positive.astype(bool), scores.astype(float)
    missed = np.searchsorted(np.sort(values[yes]), thresholds)
    alarms = np.count_nonzero(~yes) - np.searchsorted(np.sort(values[~yes]), thresholds)
    mean: Numbers = (miss * missed + alarms) / max(len(yes), 1)
    return mean


def calibration(confidence: NDArray[Any], correct: NDArray[Any], bins: int = 10) -> Calibration:
    """How often answers `(n,)` of each confidence in 0..1 were correct."""
    edges = np.linspace(0, 1, bins + 1)
    which = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
    counts = np.bincount(which, minlength=bins)
    with np.errstate(invalid="ignore", divide="ignore"):
        sure = np.bincount(which, confidence, bins) / counts
        right = np.bincount(which, correct.astype(float), bins) / counts
    gaps = np.where(counts > 0, np.abs(np.nan_to_num(right) - np.nan_to_num(sure)), 0.0)
    error = float((gaps * counts).sum() / counts.sum()) if counts.sum() else float("nan")
    return Calibration(edges, counts.astype(np.int64), sure, right, error)


def fit(right: NDArray[Any], predicted: NDArray[Any]) -> Fit:
    """The errors of predicted numbers."""
    if not right.size:
        return Fit(float("nan"), float("nan"), float("nan"))
    off = predicted.astype(float) - right
    around = float(((right - right.mean(axis=0)) ** 2).sum())
    fraction = 1 - float((off**2).sum()) / around if around > 0 else float("nan")
    return Fit(fraction, float(np.abs(off).mean()), float(np.sqrt((off**2).mean())))


def class_losses(probabilities: NDArray[Any], right: NDArray[Any]) -> Numbers:
    """The cross-entropy of each example, in nats, from the probabilities `(n, classes)` of its classes."""
    given = probabilities[np.arange(len(right)), right.astype(np.int64)].astype(float)
    losses: Numbers = -np.log(np.clip(given, 1e-12, 1.0))
    return losses


def _cumulative(positive: NDArray[Any], scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], Numbers]:
    """Hits and false alarms at each different score, the largest first."""
    order = np.argsort(-scores, kind="stable")
    yes, sorted_scores = positive.astype(bool)[order], scores[order].astype(float)
    ends = np.r_[np.nonzero(np.diff(sorted_scores))[0], len(scores) - 1] if len(scores) else np.empty(0, int)
    hits = np.cumsum(yes)[ends]
    return hits, 1 + ends - hits, sorted_scores[ends]


def _fraction(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
