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
