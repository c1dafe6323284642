"""Whether the labels of the data are classes that the model can answer with."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from engine.data.preview import spread_rows
from engine.errors import TrainingError
from engine.shapes.heads import CLASSES, UNCOUNTED, VALUES, YES_NO, Head


def check_labels(heads: tuple[Head, ...], data: Mapping[str, Mapping[str, Tensor]]) -> None:
    """Raise `TrainingError` where a label is not one of the classes, before any loss meets it.

    Places of sequences and images may have none; of columns that stay in their files some rows are looked at.
    """
    for head in heads:
        if not head.column or head.kind == VALUES:
            continue
        top = head.size - 1 if head.kind == CLASSES else 1
        for split, columns in data.items():
            labels = columns.get(head.column)
            if labels is None or not labels.numel():
                continue
            labels = labels if isinstance(labels, Tensor) else spread_rows(labels)
            if head.kind == CLASSES and labels.dim() > 1:
                labels = labels[labels != UNCOUNTED]
            if not labels.numel():
                continue
            low, high = labels.min().item(), labels.max().item()
            if low < 0 or high > top:
                raise TrainingError(
                    f"The labels of {head.column!r} in the {split} split run from {_tidy(low)} to "
                    f"{_tidy(high)}, but the model can only answer 0 to {top}.",
                    node_id=head.node_id,
                    fix=_label_fix(head, low, high),
                )


def _label_fix(head: Head, low: float, high: float) -> str:
    if head.kind == YES_NO:
        return "Use labels 0 and 1, or cross-entropy with one score for each class."
    if low < 0:
        return "Number the classes from 0."
    if low > 0 and high == head.size:
        return "Number the classes from 0 instead of 1."
    return f"Give the last layer {_tidy(high + 1)} outputs, or number the classes from 0."


def _tidy(number: float) -> str:
    return f"{number:g}"
