"""Where a model answers: each loss with the wire that predicts and the wire that is right."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from engine.catalogue import Catalogue, Data, NodeType
from engine.catalogue.bypass import meant
from engine.catalogue.questions import CLASSES as CLASSES
from engine.catalogue.questions import UNCOUNTED as UNCOUNTED
from engine.catalogue.questions import VALUES as VALUES
from engine.catalogue.questions import YES_NO as YES_NO
from engine.catalogue.questions import Wire as Wire
from engine.catalogue.questions import class_axis
from engine.data.preview import spread_rows
from engine.errors import NeuroloomError, TrainingError

if TYPE_CHECKING:
    from engine.document.graph import Project
    from engine.emit.program import Program


@dataclass(frozen=True, slots=True)
class Head:
    """One loss: `kind` is CLASSES (scores against a class number), YES_NO (scores against 0 and 1) or VALUES.

    `column` is the data column that the target comes from unchanged, None where it is computed.
    `labels` are the names of the classes, where the data has them; `size` is the number of classes or values.
    With `last`, the classes are the last axis of the scores, as in sequences.
    """

    loss_id: str
    kind: str
    prediction: Wire
    target: Wire
    size: int
    column: str | None = None
    labels: tuple[str, ...] = ()
    last: bool = False

    def by_class(self, scores: Tensor) -> Tensor:
        """Scores with the classes along axis 1, after the batch: those of sequences come with them last."""
        return scores.movedim(-1, 1) if self.last else scores


class _SeenAll(Exception):
    """Every wire of interest has been seen; the losses need not be computed."""


def find_heads(
    project: Project, catalogue: Catalogue, program: Program, model: nn.Module, split: Mapping[str, Tensor]
) -> tuple[Head, ...]:
    """The heads of a project, found by sending two examples of `split` through the model.

    The losses themselves are not run: on a GPU a wrong label there would poison the whole process.
    """
    wires = _loss_wires(project, catalogue)
    if not wires or not split:
        return ()
    batch = {name: column[:2] for name, column in split.items()}
    wanted = {wire for pair in wires.values() for wire in pair}
    seen: dict[Wire, Tensor] = {}

    def look(node_id: str, port: str, value: Tensor) -> None:
        if (node_id, port) in wanted:
            seen[node_id, port] = value
            if len(seen) == len(wanted):
                raise _SeenAll

    training = model.training
    model.eval()
    try:
        with torch.no_grad(), program.tapping(look):
            program.measure(model, batch)  # never an objective: it may be a rule, which changes weights
    except _SeenAll:
        pass
    finally:
        model.train(training)
    heads = []
    for loss_id, (prediction, target) in wires.items():
        if prediction in seen and target in seen:
            heads.append(_head(project, catalogue, loss_id, prediction, target, seen, batch))
    return tuple(heads)


def _loss_wires(project: Project, catalogue: Catalogue) -> dict[str, tuple[Wire, Wire]]:
    wires = {}
    types = _types(project, catalogue)
    for node_id, node in project.graph.nodes.items():
        found = catalogue.get(node.type)
        if found is None or found.kind != "loss":
            continue
        prediction = project.graph.feeding(node_id, "prediction")
        target = project.graph.feeding(node_id, "target")
        if prediction is not None and target is not None:
            right = (target.source, target.source_port)
            if "classification" in found.aliases:  # else a target may have got another form on its way
                right = meant(project.graph, right, types)
            wires[node_id] = (prediction.source, prediction.source_port), right
    return wires


def _types(project: Project, catalogue: Catalogue) -> dict[str, NodeType]:
    found = {}
    for node_id, node in project.graph.nodes.items():
        with suppress(NeuroloomError):
            found[node_id] = catalogue.make(node, project)
    return found


def _head(
    project: Project,
    catalogue: Catalogue,
    loss_id: str,
    prediction: Wire,
    target: Wire,
    seen: Mapping[Wire, Tensor],
    batch: Mapping[str, Tensor],
) -> Head:
    scores, right = seen[prediction], seen[target]
    column = next((name for name, value in batch.items() if value is right), None)
    axis = class_axis(tuple(scores.shape[1:]), tuple(right.shape[1:]))
    if not right.dtype.is_floating_point and axis is not None and scores.shape[0] == right.shape[0]:
        labels, last = _labels(project, catalogue, target), axis == -1 and scores.dim() > 2
        size = scores.shape[-1 if last else 1]
        return Head(loss_id, CLASSES, prediction, target, size, column, labels, last)
    loss = catalogue.get(project.graph.nodes[loss_id].type)
    kind = YES_NO if loss is not None and "bce" in loss.aliases else VALUES
    labels = _labels(project, catalogue, target) if kind == YES_NO else ()
    return Head(loss_id, kind, prediction, target, scores[0].numel(), column, labels)


def _labels(project: Project, catalogue: Catalogue, target: Wire) -> tuple[str, ...]:
    target = meant(project.graph, target, _types(project, catalogue), names=True)
    node = project.graph.nodes[target[0]]
    if getattr(catalogue.get(node.type), "kind", "") != "data":
        return ()
    try:
        source = catalogue.make(node)
    except NeuroloomError:
        return ()
    column = source.column(target[1]) if isinstance(source, Data) else None
    return tuple(column.classes) if column is not None else ()


def check_labels(heads: tuple[Head, ...], data: Mapping[str, Mapping[str, Tensor]]) -> None:
    """Raise `TrainingError` where a label is not one of the classes, before any loss meets it.

    Places of sequences and images may have none; of columns that stay in their files some rows are looked at.
    """
    for head in heads:
        if head.column is None or head.kind == VALUES:
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
                    node_id=head.loss_id,
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
