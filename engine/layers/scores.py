"""What a model scores, as functions of a batch. Portable: exports carry this source."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def counting(target: Tensor, ignored: int | None = None) -> Tensor:
    """Which places of classes (N, ...) count: all but those of class -100 and `ignored`."""
    return target != -100 if ignored is None else (target != -100) & (target != ignored)


def masked_accuracy(guessed: Tensor, target: Tensor, ignored: int | None = None) -> Tensor:
    """The fraction of places (N, ...) whose class is right, without those of class -100 or `ignored`.

    0 where no place counts.
    """
    there = counting(target, ignored)
    return ((guessed == target) & there).sum() / there.sum().clamp(1)


def yes_no_accuracy(scores: Tensor, target: Tensor, middle: float) -> Tensor:
    """The fraction of scores (N, ...) on the right side of the middle between the values of their targets.

    With a target below 0 these are -1 and 1, with one of 0 they are 0 and 1; where all are 1, `middle` holds.
    """
    least = target.min()
    between = torch.where(least < 0, 0.0, torch.where(least == 0, 0.5, middle))
    return ((scores > between) == (target > between)).float().mean()


def class_frequencies(guessed: Tensor, target: Tensor, classes: int, ignored: int | None = None) -> Tensor:
    """How often class i is taken for class j, (C, C), as parts of the places (N, ...) that count.

    Those of class -100 or `ignored` don't; all is 0 where none does.
    """
    there = counting(target, ignored)
    right = F.one_hot(target.clamp(0), classes).flatten(0, -2).float() * there.flatten()[:, None]
    said = F.one_hot(guessed, classes).flatten(0, -2).float()
    return right.T @ said / there.sum().clamp(1)


def class_score(frequencies: Tensor, score: str, average: str = "macro", only: int | None = None) -> Tensor:
    """Precision, recall, F1 or intersection over union out of `class_frequencies`, (); 0 of nothing.

    The average leaves out classes that are neither there nor answered.
    """
    right, there, said = frequencies.diagonal(), frequencies.sum(1), frequencies.sum(0)
    if score == "precision":
        parts, whole = right, said
    elif score == "recall":
        parts, whole = right, there
    elif score == "f1":
        parts, whole = 2 * right, said + there
    else:
        parts, whole = right, said + there - right
    if only is not None:
        return parts[only] / whole[only].clamp(1e-12)
    if average == "micro":
        return parts.sum() / whole.sum().clamp(1e-12)
    scores = parts / whole.clamp(1e-12)
    weights = there if average == "weighted" else ((said + there) > 0).to(there.dtype)
    return (weights * scores).sum() / weights.sum().clamp(1e-12)


def top_k_accuracy(scores: Tensor, target: Tensor, k: int, ignored: int | None = None) -> Tensor:
    """The fraction of places (N, ...) whose class has one of the k highest scores (N, ..., C).

    Those of class -100 or `ignored` don't count; 0 where no place does.
    """
    there = counting(target, ignored)
    found = (scores.topk(min(k, scores.shape[-1]), -1).indices == target[..., None]).any(-1)
    return (found & there).sum() / there.sum().clamp(1)


def calibration_gaps(probabilities: Tensor, target: Tensor, bins: int) -> Tensor:
    """What was right less what was expected to be, by bins of confidence, (bins,), as parts of what counts.

    Of `probabilities` (N, ..., C) the highest is the confidence; one on the border of two bins belongs to the
    lower one. Places of class -100 don't count.
    """
    there = (target != -100).flatten()
    confidence, guessed = (one.flatten() for one in probabilities.max(-1))
    gaps = ((guessed == target.flatten()).float() - confidence) * there
    place = (confidence * bins).ceil().long().sub(1).clamp(0, bins - 1)
    return (F.one_hot(place, bins) * gaps[:, None]).sum(0) / there.sum().clamp(1)


def moments(prediction: Tensor, target: Tensor) -> Tensor:
    """Means over a batch (N, ...) of squared errors, targets and squared targets, (3, D), as doubles."""
    pair = (one.cpu() if one.is_mps else one for one in (prediction, target))  # which has no doubles
    guess, right = (one.double().reshape(len(one), -1) for one in pair)
    return torch.stack(((right - guess).square().mean(0), right.mean(0), right.square().mean(0)))


def explained(means: Tensor) -> Tensor:
    """R² out of `moments`, (): the mean over the targets; 0 for one that never varies."""
    error, mean, square = means
    variance = square - mean.square()
    varies = variance > 1e-12 * square
    return torch.where(varies, 1 - error / variance.clamp(1e-300), 0.0).mean()


def joint_moments(prediction: Tensor, target: Tensor) -> Tensor:
    """Means over a batch (N, ...) of y, y², p, p² and p y, p predicted and y right, (5, D), as doubles."""
    pair = (one.cpu() if one.is_mps else one for one in (prediction, target))  # which has no doubles
    guess, right = (one.double().reshape(len(one), -1) for one in pair)
    return torch.stack((right, right.square(), guess, guess.square(), guess * right)).mean(1)


def explained_as(means: Tensor, form: str) -> Tensor:
    """R² out of `joint_moments`, (): "regression" is Σ (p - mean y)² / Σ (y - mean y)², else corr(p, y)².

    It is the mean over the targets; 0 for one that never varies, or is predicted as a constant.
    """
    mean, square, level, power, product = means
    variance, spread = square - mean.square(), power - level.square()
    if form == "regression":
        found = (power - 2 * mean * level + mean.square()) / variance.clamp_min(1e-300)
    else:
        found = (product - mean * level).square() / (variance * spread).clamp_min(1e-300)
        variance = torch.where(spread > 1e-12 * power, variance, 0.0)
    return torch.where(variance > 1e-12 * square, found, 0.0).mean()


def area_under_roc(
    scores: Tensor,
    target: Tensor,
    *,
    average: str = "macro",
    only: int | None = None,
    ignored: int | None = None,
) -> Tensor:
    """How often one of a class scores higher than one that isn't, (), ties by half: the area under the ROC.

    Scores and `target` are as in `decisions`, what is averaged as in `averaged`; NaN where there is no pair.
    """
    scores, yes, no = decisions(scores, target, ignored, average == "micro" and only is None)
    below, up_to = ranks(scores, no)
    pairs = yes.sum(-1) * no.sum(-1)
    return averaged((yes * (below + up_to)).sum(-1) / (2 * pairs), yes.sum(-1), average, only)


def average_precision(
    scores: Tensor,
    target: Tensor,
    *,
    average: str = "macro",
    only: int | None = None,
    ignored: int | None = None,
) -> Tensor:
    """The mean precision at the scores of all that are of a class, (); arguments are as in `area_under_roc`.

    It is the sum over the thresholds of precision times what recall gains there.
    """
    scores, yes, no = decisions(scores, target, ignored, average == "micro" and only is None)
    found = yes.sum(-1, keepdim=True) - ranks(scores, yes)[0]
    wrong = no.sum(-1, keepdim=True) - ranks(scores, no)[0]
    precision = found / (found + wrong).clamp(1)
    return averaged((yes * precision).sum(-1) / yes.sum(-1), yes.sum(-1), average, only)


def decisions(
    scores: Tensor, target: Tensor, ignored: int | None, together: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Scores (K, n) of K decisions as doubles, and 1 where the answer is yes, and where it is no.

    Where `target` is bool, it has the shape of the scores, and a matrix has a decision a column. Else it has
    classes (N, ...) for scores (N, ..., C), each against the rest, of two the second; places of class -100 or
    `ignored` count nothing. `together` makes one decision of all.
    """
    if scores.is_mps:  # which has no doubles
        scores, target = scores.cpu(), target.cpu()
    scores = scores.double()
    if target.dtype == torch.bool:
        columns = scores.shape[-1] if scores.dim() == 2 else 1
        scores, right = (one.reshape(-1, columns).T for one in (scores, target))
        there = torch.ones_like(right)
    else:
        scores = scores.flatten(0, -2).T
        right = F.one_hot(target.flatten().clamp(0), len(scores)).T > 0
        there = counting(target, ignored).flatten().expand_as(right)
        if len(scores) == 2:
            scores, right, there = scores[1:], right[1:], there[1:]
    if together:
        scores, right, there = (one.reshape(1, -1) for one in (scores, right, there))
    return scores.contiguous(), (right & there).double(), (~right & there).double()


def ranks(scores: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """The sum of weights (K, n) of scores below each of (K, n), and of those up to it."""
    ordered, order = scores.sort(-1)
    sums = F.pad(weights.gather(-1, order).cumsum(-1), (1, 0))
    below, up_to = (torch.searchsorted(ordered, scores, right=right) for right in (False, True))
    return sums.gather(-1, below), sums.gather(-1, up_to)


def averaged(values: Tensor, there: Tensor, average: str, only: int | None) -> Tensor:
    """The value of class `only`, or the mean over those that have one, (); "weighted" by those `there`."""
    if only is not None:
        return values[only if len(values) > 1 else 0]
    weights = (there if average == "weighted" else torch.ones_like(there)) * ~values.isnan()
    return (values.nan_to_num() * weights).sum() / weights.sum()
