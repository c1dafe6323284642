"""What views of images have in common: the column that is looked at, and values as functions of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.catalogue import NodeType
from engine.data.batch import Batch
from engine.errors import NeuroloomError
from engine.look import asking
from engine.look.pixels import asked_of_image, unit_axis, units_of
from engine.look.sight import Look, evaluating
from engine.shapes.heads import CLASSES, Head

PREDICTED, RIGHT = -1, -2
CLOUD_SIDE = 48  # pixels of the image of a cloud of points


class _Seen(Exception):
    """What was wanted has been computed; the rest need not be."""


def input_column(look: Look, node_id: str) -> str:
    """The column with the most numbers in two or three axes that a node's value depends on.

    Errors: `NeuroloomError` where there is none.
    """
    row = look.batch(look.example, 1)
    fitting = [
        name
        for name in look.input_columns(node_id)
        if row[name].is_floating_point() and row[name].dim() in (3, 4)
    ]
    if not fitting:
        raise NeuroloomError("No image goes into this node.", node_id=node_id)
    return max(fitting, key=lambda name: prod(row[name].shape))


def value_of(look: Look, node_id: str, batch: Batch, port: str = "") -> Tensor:
    """What leaves a node, with a graph where gradients are on; nothing behind the node is computed.

    Errors: `NeuroloomError` where nothing leaves it.
    """
    found: list[Tensor] = []

    def watch(here: str, out: str, value: Tensor) -> None:
        if here == node_id and (not port or out == port):
            found.append(value)
            raise _Seen

    with evaluating(look.model), look.program.tapping(watch), suppress(_Seen):
        look.program.measure(look.model, batch)
    if not found:
        raise NeuroloomError("Nothing in this plan computes what this node gives.", node_id=node_id)
    return found[0]


def answered_by(look: Look, node_id: str, column: str, port: str = "") -> Callable[[Tensor], Tensor]:
    """A node's value as a function of one column; the others are as in the pinned example."""

    def forward(rows: Tensor) -> Tensor:
        return value_of(look, node_id, look.batch_with(column, rows), port)

    return forward


def arriving_at(look: Look, node_id: str, batch: Batch) -> Tensor:
    """What arrives at a node's first input, `(N, ...)`. Errors: `NeuroloomError` inside a block."""
    link = None
    if _at_top(look, node_id):
        first = look.program.book.types[node_id].inputs()[0].name
        link = look.program.project.graph.feeding(node_id, first)
    if link is None:
        raise NeuroloomError("What arrives here is not seen.", node_id=node_id)
    found = look.value(link.source, batch, link.source_port)
    return batch[link.source_port] if found is None else found


def image_head(look: Look, node_id: str) -> Head:
    """The head about images that a node asks or answers. Errors: `NeuroloomError` where there is none."""
    found = asked_of_image(look.program.project, look.program.book, node_id)
    if found is None:
        raise NeuroloomError("No image is asked about here.", node_id=node_id)
    return found


def target_of(look: Look, head: Head, target: int) -> tuple[int, dict[str, Any]]:
    """The index of the score that is meant, with facts to name it.

    `target` is an index, PREDICTED (the largest score) or RIGHT (what the example really is); heads
    without classes know indices alone, and take the others for the first.
    """
    names = asking.class_names(head)
    facts: dict[str, Any] = {"kind": head.kind, "classes": names, "example": look.example}
    facts |= {"split": look.split, "size": head.size}
    with torch.no_grad():
        found = asking.ask(look, head, look.batch(look.example, 1))
    scores = found.scores[0]
    if head.kind == CLASSES:
        predicted, right = int(scores.argmax()), int(found.right[0])
        index = {PREDICTED: predicted, RIGHT: right}.get(target, target)
        facts |= {"predicted": predicted, "right": right}
    else:
        index = max(0, target)
    index = min(max(index, 0), scores.numel() - 1)
    return index, {**facts, "index": index, "score": scores[index].item()}


def score_of(look: Look, head: Head, column: str, index: int) -> Callable[[Tensor], Tensor]:
    """One score of the answer as a function of a column: `(N, ...)` to `(N,)`."""
    forward = answered_by(look, head.prediction[0], column, head.prediction[1])

    def score(rows: Tensor) -> Tensor:
        return forward(rows).reshape(len(rows), -1)[:, index].float()

    return score


def flat_map(values: Tensor) -> NDArray[Any]:
    """`(C, H, W)` or `(C, L)` as a map: the sum over channels, or the sequence as it lies."""
    found = values.detach().float()
    return asking.array(found.sum(0) if found.dim() == 3 else found)


def drawn(image: Tensor) -> NDArray[Any]:
    """`(C, H, W)` as it is drawn: `(H, W)`, or `(H, W, 3)` for three channels; `(C, L)` as it is."""
    found = image.detach().float()
    if found.dim() < 3:
        return asking.array(found)
    return asking.array(found.permute(1, 2, 0) if len(found) == 3 else found.mean(0))


def of_unit(look: Look, node_id: str, value: Tensor, unit: int) -> Tensor:
    """One channel or unit of a node's answer: `(N, h, w)`, of sequences `(N, T)`, of numbers `(N,)`.

    Errors: `NeuroloomError` for a unit that is not there.
    """
    shape = tuple(value.shape[1:])
    if not 0 <= unit < units_of(type_of(look, node_id), shape):
        raise NeuroloomError(f"There is no unit {unit + 1} here.", node_id=node_id)
    return value.select(1 + unit_axis(type_of(look, node_id), shape), unit)


def type_of(look: Look, node_id: str) -> type[NodeType] | None:
    """A node's type; None for one inside a block."""
    made = look.program.book.types.get(node_id)
    return None if made is None else type(made)


def fewer(values: NDArray[Any], most: int = 60_000) -> NDArray[Any]:
    """The same with as few examples `(n, ...)` as keep the numbers below `most`."""
    each = max(1, int(np.prod(values.shape[1:])))
    return values[: max(1, most // each)]


def _at_top(look: Look, node_id: str) -> bool:
    return node_id in look.program.project.graph.nodes


def is_cloud(name: str, values: Tensor) -> bool:
    """Whether a column (n, points, 2 or 3) holds clouds of points."""
    return name == "points" and values.dim() == 3 and values.shape[2] in (2, 3)


def cloud_images(clouds: NDArray[np.floating], side: int = CLOUD_SIDE) -> NDArray[np.float32]:
    """Clouds of points (n, points, 2 or 3) seen from the front: (n, side, side), the nearer the brighter.

    A point at zero in all coordinates is a filling.
    """
    images = np.zeros((len(clouds), side, side), np.float32)
    for image, cloud in zip(images, clouds, strict=True):
        points = cloud[np.any(cloud != 0, axis=1)].astype(np.float64)
        if not len(points):
            continue
        low, high = points.min(0), points.max(0)
        scale = (side - 2) / max(float((high - low)[:2].max()), 1e-9)
        across, up = ((points - (low + high) / 2)[:, :2] * scale + (side - 1) / 2).round().astype(int).T
        near = np.ones(len(points))
        if points.shape[1] > 2:
            near = 0.35 + 0.65 * (points[:, 2] - low[2]) / max(float(high[2] - low[2]), 1e-9)
        for place in np.argsort(near):  # the nearest last
            row, column = max(1, side - 1 - up[place]), min(side - 2, across[place])
            image[row - 1 : row + 1, column : column + 2] = near[place]
    return images
