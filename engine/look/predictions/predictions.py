"""What a head predicts for the pinned example, and for the examples held out where it predicts numbers."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.feed.feed import Probe
from engine.look import asking, reduce
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look, Values
from engine.shapes.heads import CLASSES, VALUES, YES_NO, Head

_FORECAST_ROWS = 256


@probe_kind("predictions", every=0.25, group="example", quiet=True)
def predictions(look: Look, probe: Probe) -> Taken | None:
    """The probability of each class `(classes,)` for the pinned example, the mean of its places; its target.

    For numbers the first 256 examples, `(n, 2)` predicted and right.
    """
    head = look.head(probe.node_id)
    if head is None or not look.rows():
        return None
    if head.kind == VALUES:
        seen = look.shared(0, _FORECAST_ROWS)
        sides = (_values_of(seen, wire).flatten(1)[:, 0].float() for wire in (head.prediction, head.target))
        pairs = torch.stack(list(sides), 1).cpu().numpy()
        return pairs, {"kind": VALUES, "split": look.split, "columns": ("predicted", "right")}
    return _probabilities(head, look)


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
