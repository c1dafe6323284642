"""How well scores rank what is of a class above what isn't. Portable: exports carry this source."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def area_under_roc(
    scores: Tensor,
    target: Tensor,
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
        left_out = (target == -100) if ignored is None else (target == -100) | (target == ignored)
        there = ~left_out.flatten().expand_as(right)
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
