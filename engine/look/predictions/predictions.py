"""What a head predicts for the pinned example, and for the examples held out where it predicts numbers."""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor

from engine.feed.feed import Probe
from engine.look import asking, reduce
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look, Values
from engine.shapes.heads import CLASSES, VALUES, YES_NO, Head

_MANY, _MOST = 16, 1024  # numbers of an answer that is shown by itself, and how many of them
_FORECAST_ROWS = 256


@probe_kind("predictions", every=0.25, group="example", quiet=True)
def predictions(look: Look, probe: Probe) -> Taken | None:
    """The probability of each class `(classes,)` for the pinned example, the mean of its places; its target.

    For numbers the first 256 examples, `(n, 2)` predicted and right; of an answer of many numbers, such as
    the pixels of an image, those of the pinned example, with `of` for what they are.
    """
    head = look.head(probe.node_id)
    if head is None or not look.rows():
        return None
    if head.kind == VALUES:
        wide = _of_one_example(look, head)
        if wide is not None:
            return wide
        seen = look.shared(0, _FORECAST_ROWS)
        sides = (_values_of(seen, wire).flatten(1)[:, 0].float() for wire in (head.prediction, head.target))
        pairs = torch.stack(list(sides), 1).cpu().numpy()
        return pairs, {"kind": VALUES, "split": look.split, "columns": ("predicted", "right")}
    return _probabilities(head, look)


def _of_one_example(look: Look, head: Head) -> Taken | None:
    """The numbers of the pinned example's answer, None where they are few."""
    signature = look.program.book.signature(*head.prediction)
    if signature is None or signature.rows or prod(signature.shape) < _MANY:
        return None
    seen = look.shared(look.example, 1)
    sides = [seen[node][port].flatten().float()[:_MOST] for node, port in (head.prediction, head.target)]
    if len(sides[0]) != len(sides[1]):
        return None
    of = "pixel" if len(signature.shape) == 3 else "number"
    facts = {"kind": VALUES, "split": look.split, "columns": ("predicted", "right")}
    return torch.stack(sides, 1).cpu().numpy(), {**facts, "of": of, "example": look.example}


def _values_of(seen: Values, wire: tuple[str, str]) -> Tensor:
    value = seen[wire[0]][wire[1]]
    return value[:, None] if value.dim() == 1 else value


def _probabilities(head: Head, look: Look) -> Taken:
    seen = look.shared(look.example, 1)
    scores = head.by_class(seen[head.prediction[0]][head.prediction[1]])[0].float()
    right = seen[head.target[0]][head.target[1]][0]
    if head.kind == YES_NO:
        found = asking.yes_probability(head, scores, signs=asking.with_signs(look, head)).flatten()
    else:
        found = scores.softmax(0)
        found = found.flatten(1).mean(1) if found.dim() > 1 else found
    whole = head.kind == CLASSES and right.dim() == 0
    facts = {
        "kind": head.kind,
        "target": int(right) if whole else right.flatten().float().cpu().numpy(),
        "classes": head.labels,
        "example": look.example,
        "split": look.split,
    }
    if head.kind == CLASSES and right.dim():  # a class for each place: means over them
        facts["places"] = right.numel()
    return found[: reduce.MOST_VALUES].cpu().numpy(), facts
