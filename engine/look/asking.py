"""Sends rows through a model and reads the answers: probabilities of classes, or numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.data.batch import Batch, rows_at
from engine.errors import NeuroloomError
from engine.look.sight import Look
from engine.shapes.heads import CLASSES, VALUES, YES_NO, Feature, Head, features_of, head_of

ROWS_AT_ONCE = 64
NO_YES = ("no", "yes")


@dataclass(frozen=True, slots=True)
class Answers:
    """Scores `(n, size)` as the model gives them, and what is right `(n,)` or `(n, size)`.

    `right` are class numbers, 0 and 1, or values; `spread` the deviations `(n, size)` where a head has them.
    """

    scores: Tensor
    right: Tensor
    spread: Tensor | None


def asked(look: Look, node_id: str) -> Head:
    """The head of a node. Errors: `NeuroloomError` where it has none."""
    found = head_of(look.program.project, look.program.book, node_id)
    if found is None:
        raise NeuroloomError("Nothing here is compared with what is right.")
    return found


def features(look: Look, head: Head) -> tuple[Feature, ...]:
    """The features that the answer depends on; empty for images and sequences."""
    return features_of(look.program.project, look.program.book, head)


def ask(look: Look, head: Head, batch: Batch) -> Answers:
    """The answers to the rows of a batch."""
    wires = [head.prediction, head.target]
    if head.spread is not None:
        wires.append(head.spread[0])
    seen = look.values({wire[0] for wire in wires}, batch)
    count = next(len(column) for column in batch.values())
    # A plan of rules alone computes nothing from what is right: it is read from the data.
    found = [seen.get(node, {}).get(port, batch.get(port)) for node, port in wires]
    if any(value is None for value in found):
        raise NeuroloomError("Nothing in this plan computes the answer.")
    rows = [value.reshape(count, -1) for value in found if value is not None]
    right = rows[1][:, 0] if head.kind == CLASSES else rows[1].float()
    if head.kind == YES_NO:
        right = (right > 0).to(torch.int64).flatten()
    spread = None
    if head.spread is not None:
        wide = rows[2].float()
        spread = (wide.exp() if head.spread[1] == "log_variance" else wide).clamp(min=0).sqrt()
    return Answers(rows[0].float(), right, spread)


def ask_rows(look: Look, head: Head, rows: Sequence[int], split: str | None = None) -> Answers:
    """The answers to some rows of a split, 64 at a time. Errors: `NotWanted`."""
    parts = []
    for start in range(0, len(rows), ROWS_AT_ONCE):
        look.check()
        parts.append(ask(look, head, rows_of(look, rows[start : start + ROWS_AT_ONCE], split)))
    spreads = [part.spread for part in parts if part.spread is not None]
    return Answers(
        torch.cat([part.scores for part in parts]),
        torch.cat([part.right for part in parts]),
        torch.cat(spreads) if spreads else None,
    )


def rows_of(look: Look, rows: Sequence[int], split: str | None = None) -> Batch:
    """Some rows of a split."""
    at = torch.as_tensor(list(rows), dtype=torch.int64, device=look.device)
    return rows_at(look.data.get(split or look.split, {}), at)


def spread_over(count: int, most: int) -> list[int]:
    """At most so many row numbers, evenly over all."""
    if count <= most:
        return list(range(count))
    return [index * count // most for index in range(most)]


def probabilities(head: Head, scores: Tensor, *, signs: bool = False) -> Tensor:
    """The probability of each class `(n, classes)`; of no and yes for one yes-or-no score.

    Scores that go through no sigmoid count as probabilities themselves, from -1 to 1 where `signs`.
    """
    if head.kind == CLASSES:
        return scores.softmax(1)
    yes = yes_probability(head, scores[:, :1], signs=signs)
    return torch.cat([1 - yes, yes], 1)


def yes_probability(head: Head, scores: Tensor, *, signs: bool = False) -> Tensor:
    """The probability of a yes for each yes-or-no score; as `probabilities`."""
    if head.plain_scores:
        return scores.sigmoid()
    return ((scores + 1) / 2 if signs else scores).clamp(0, 1)


def with_signs(look: Look, head: Head) -> bool:
    """Whether the two right answers are -1 and 1 rather than 0 and 1."""
    column = look.data.get(look.split, {}).get(head.column)
    return column is not None and bool(column.numel()) and column.min().item() < 0


def class_names(head: Head) -> tuple[str, ...]:
    """The names of the answers, empty for values."""
    if head.kind == VALUES:
        return ()
    count = head.size if head.kind == CLASSES else 2
    if len(head.labels) == count:
        return head.labels
    return NO_YES if head.kind == YES_NO else tuple(str(index) for index in range(count))


def made_batch(look: Look, count: int, values: Mapping[Feature, Tensor]) -> Batch:
    """So many copies of the pinned example with some of its features set to `(count,)` values."""
    return with_features(look.repeated(count), values)


def with_features(batch: Batch, values: Mapping[Feature, Tensor]) -> Batch:
    """A batch with some of its features set to `(N,)` values, in memory of its own."""
    made = dict(batch)
    for name in {feature.column for feature in values}:
        made[name] = made[name].clone()
    for feature, found in values.items():
        place = made[feature.column]
        if feature.index is None:
            place[:] = found
        else:
            place[:, feature.index] = found
    return made


def feature_values(look: Look, feature: Feature, split: str | None = None) -> Tensor:
    """One feature of every row of a split, `(N,)`."""
    column = look.data.get(split or look.split, {})[feature.column]
    return column if feature.index is None else column[:, feature.index]


def reach(look: Look, feature: Feature, margin: float = 0.08) -> tuple[float, float]:
    """The smallest and the largest training value of a feature, and a little more on each side."""
    values = feature_values(look, feature, "train" if look.rows("train") else None)
    low, high = values.min().item(), values.max().item()
    pad = margin * (high - low) or 1.0
    return low - pad, high + pad


def array(value: Tensor) -> NDArray[Any]:
    """A float32 copy on the CPU."""
    found: NDArray[Any] = value.detach().to("cpu", torch.float32, copy=True).numpy()
    return found


def numbers(value: Tensor) -> NDArray[Any]:
    """A copy on the CPU of whole numbers or of others, as float64."""
    found: NDArray[Any] = value.detach().cpu().numpy().astype(np.float64)
    return found
