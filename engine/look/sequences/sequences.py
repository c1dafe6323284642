"""Which token comes next, and forecasts of a series."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look import asking
from engine.look.registry import Taken, probe_kind
from engine.look.sequences.attention import named_tokens
from engine.look.sequences.forecast import forecast as free_run
from engine.look.sequences.forecast import one_step
from engine.look.sight import Look
from engine.shapes.heads import CLASSES, Head

MOST_TOKENS = 25_000
MOST_AHEAD = 200
ROWS = 200


@probe_kind("next_token", every=0.5)
def next_token(look: Look, probe: Probe) -> Taken | None:
    """The scores `(V,)` of the tokens that may come next, for the pinned example.

    `detail` is the place in the sequence, -1 for the last, where the model answers at every place.
    `context` are the names of the tokens before. Of more than 25,000 tokens the likeliest, `kept`.
    """
    head = look.head(probe.node_id)
    if head is None or head.kind != CLASSES:
        raise NeuroloomError("Nothing here answers with classes.", node_id=probe.node_id)
    batch = look.batch(look.example, 1)
    seen = look.values({head.prediction[0], head.target[0]}, batch)
    scores = head.by_class(seen[head.prediction[0]][head.prediction[1]])[0].float()
    right = seen.get(head.target[0], {}).get(head.target[1], batch.get(head.target[1]))
    places = 1
    place = 0
    if scores.dim() == 2:
        places = scores.shape[1]
        place = int(probe.detail[0]) % places if probe.detail else places - 1
        scores = scores[:, place]
    target = -1 if right is None else int(right[0].flatten()[place if places > 1 else 0])
    kept = scores.topk(min(len(scores), MOST_TOKENS)).indices
    full = len(kept) == len(scores)
    facts: dict[str, Any] = {
        "kept": None if full else kept.cpu().numpy(),
        "of": len(scores),
        "names": head.labels,
        "target": target,
        "places": places,
        "place": place,
        "context": _context(look, probe.node_id, place if places > 1 else None),
        "example": look.example,
        "split": look.split,
    }
    return (scores if full else scores[kept]).cpu().numpy(), facts


def _context(look: Look, node_id: str, place: int | None, most: int = 12) -> tuple[str, ...]:
    """The tokens up to a place, at most the last 12; empty where the inputs are no tokens."""
    for column in look.input_columns(node_id):
        value = look.batch(look.example, 1)[column]
        if value.dim() == 2 and not value.is_floating_point():
            upto = value[0] if place is None else value[0][: place + 1]
            return named_tokens(look, column, upto[-most:])
    return ()


class _Answer(nn.Module):
    """The value of a network's answer to windows of one column, as a model of its own."""

    def __init__(self, look: Look, head: Head, column: str) -> None:
        super().__init__()
        self._look, self._head, self._column = look, head, column

    def forward(self, window: Tensor) -> Tensor:
        self._look.check()
        batch = self._look.batch_with(self._column, window)
        node, port = self._head.prediction
        found = self._look.value(node, batch, port)
        if found is None:
            raise NeuroloomError("Nothing in this plan computes the answer.")
        return found.reshape(len(window), -1)


@probe_kind("forecast", every=2.0, apart=True)
def forecasts(look: Look, probe: Probe) -> Taken | None:
    """Of a series at most 200 steps long: `(n, 3)` what came, one step ahead, and running free.

    `detail` is (split, row to start at). One step ahead sees the true past; the free run sees the first
    window and from then on its own forecasts. Values are those of the data's column.
    """
    head = asking.asked(look, probe.node_id)
    split = str(probe.detail[0]) if probe.detail else look.split
    start = int(probe.detail[1]) if len(probe.detail) > 1 else 0
    column = series_column(look, head)
    total = look.rows(split)
    start = max(0, min(start, total - 2))
    rows = min(MOST_AHEAD, total - start)
    if column is None or rows < 2:
        raise NeuroloomError("A forecast needs windows of a series, in the order of time.")
    batch = look.batch(start, rows, split)
    target = batch[head.target[1]].reshape(rows, -1)
    model = _Answer(look, head, column)
    guesses = [
        torch.cat([one_step(model, part) for part in torch.split(batch[column], asking.ROWS_AT_ONCE)]),
        free_run(model, batch[column][0], rows),
    ]
    found = torch.stack([target[:, 0], *(guess[:, 0] for guess in guesses)], 1)
    facts = {
        "split": split,
        "splits": tuple(name for name in ("train", "validation", "test") if look.rows(name) > 1),
        "start": start,
        "of": total,
        "name": head.target[1],
        "lag": batch[column].shape[1],
    }
    return asking.array(found), facts


def series_column(look: Look, head: Head) -> str | None:
    """The column of windows (lag, D) whose next value (D,) the head asks for."""
    columns = look.input_columns(head.prediction[0])
    row = look.batch(0, 1, "train")
    if len(columns) != 1 or columns[0] not in row or head.target[1] not in row:
        return None
    window, after = row[columns[0]], row[head.target[1]]
    fits = window.dim() == 3 and np.prod(after.shape[1:]) == window.shape[2]
    return columns[0] if fits else None
