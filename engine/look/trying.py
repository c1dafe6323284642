"""What a model answers to something that the user feeds it."""

from __future__ import annotations

import logging
from typing import Any

import torch
from torch import Tensor

from engine.data.batch import Batch
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look import asking, reduce
from engine.look.pixels import copied
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look
from engine.shapes.heads import CLASSES, VALUES, YES_NO, Head

log = logging.getLogger(__name__)


@probe_kind("try_it", every=0.25, tries=True)
def try_it(look: Look, probe: Probe) -> Taken | None:
    """The answer to what is tried, else to the pinned example: probabilities `(classes,)`, or values.

    `detail` may name a node, whose value is `activations`. `slope` is how the likeliest class, or the first
    value, changes with the input: `(H, W)` the largest size of the gradient over the channels (Simonyan,
    Vedaldi and Zisserman, 2014), `(k,)` the gradient itself. `try` is the number of what was tried, `shape`
    that of the answer: of an image that is copied `(C, H, W)`, also where its pixels come in a row.
    """
    head = asking.asked(look, probe.node_id)
    shown = str(probe.detail[0]) if probe.detail else ""
    return _answer(look, head, shown)


def _answer(look: Look, head: Head, shown: str) -> Taken:
    tried = look.tried
    batch = _batch(look, {} if tried is None else dict(tried.columns))
    column = _widest(look, head, batch)
    if column:
        batch[column] = batch[column].clone().requires_grad_(True)
    seen = look.values({head.prediction[0], shown}, batch, gradients=bool(column))
    answer = seen.get(head.prediction[0], {}).get(head.prediction[1])
    if answer is None:
        raise NeuroloomError("Nothing in this plan computes the answer.")
    scores = answer.reshape(1, -1).float()
    several = head.kind == YES_NO and head.size > 1
    facts: dict[str, Any] = {
        "kind": head.kind,
        "classes": () if several else asking.class_names(head),
        "shape": _shape(look, head, answer),
        "try": 0 if tried is None else tried.number,
        "example": look.example,
        "column": column,
        "target": head.column,
    }
    slope = _slope(scores[0], batch[column], head.kind) if column else None
    if slope is not None:
        facts["slope"] = slope.detach().cpu().numpy()
    if shown in seen:
        facts["activations"] = reduce.maps(look.of_one(shown, *next(iter(seen[shown].items()))))
    return asking.array(_found(look, head, scores)[0]), facts


def _shape(look: Look, head: Head, answer: Tensor) -> tuple[int, ...]:
    """That of the answer to one example; of pixels in a row that of the image which they must equal."""
    if head.kind == VALUES and answer.dim() == 2:
        copying = copied(look.program.project, look.program.book, head.node_id)
        if copying is not None and copying.made == head.prediction:
            return copying.shape
    return tuple(answer.shape[1:])


def _found(look: Look, head: Head, scores: Tensor) -> Tensor:
    """Probabilities, or values as they are."""
    if head.kind == VALUES:
        return scores
    if head.kind == YES_NO and head.size > 1:
        return scores.sigmoid()
    signs = head.kind == YES_NO and asking.with_signs(look, head)
    return asking.probabilities(head, scores, signs=signs)


def _batch(look: Look, columns: dict[str, Any]) -> Batch:
    """The pinned example with what is tried in place of its columns."""
    batch = look.batch(look.example, 1)
    for name, values in columns.items():
        kept = batch.get(name)
        made = torch.as_tensor(values)
        if kept is None:
            continue
        made = made if look.ragged(name) else made[None]  # of a graph all rows are the example's
        if made.dim() == kept.dim() and made.shape[1:] == kept.shape[1:]:  # else made for another model
            batch[name] = made.to(kept)
    return batch


def _widest(look: Look, head: Head, batch: Batch) -> str:
    """The column with the most numbers that the answer depends on; empty for whole numbers such as tokens."""
    names = [name for name in look.input_columns(head.prediction[0]) if name != head.column]
    fitting = [name for name in names if batch[name].is_floating_point() and not look.ragged(name)]
    return max(fitting, key=lambda name: batch[name].numel(), default="")


def _slope(scores: Tensor, x: Tensor, kind: str) -> Tensor | None:
    top = scores.max() if kind == CLASSES else scores[0]
    if not top.requires_grad:
        return None
    try:
        (gradient,) = torch.autograd.grad(top, x, allow_unused=True)
    except RuntimeError as error:  # not every layer has a gradient in evaluation mode on every device
        log.debug("no gradient to the input", exc_info=error)
        return None
    if gradient is None:
        return None
    gradient = gradient[0]
    return gradient.abs().amax(0) if gradient.dim() == 3 else gradient
