"""What a network fills in where tokens are hidden from it."""

from __future__ import annotations

from typing import Any

import torch

from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look
from engine.shapes.heads import CLASSES, UNCOUNTED

MOST_PLACES, LIKELIEST = 256, 10
FILLING = 0


@probe_kind("hidden_tokens", every=0.5)
def hidden_tokens(look: Look, probe: Probe) -> Taken | None:
    """The likeliest tokens `(k, 10)` at the k hidden places of the pinned example: their probabilities.

    `likeliest` are their numbers, `places` where they stand, `targets` what stood there; `seen` are the
    tokens that the network sees, up to the filling at their end, and `names` what tokens are called.
    """
    head = look.head(probe.node_id)
    if head is None or head.kind != CLASSES:
        raise NeuroloomError("Nothing here answers with classes.", node_id=probe.node_id)
    batch = look.batch(look.example, 1)
    values = look.values({head.prediction[0], head.target[0]}, batch)
    hiding = values.get(head.target[0], {})
    right, seen = hiding.get(head.target[1]), hiding.get("tokens")
    if right is None or seen is None or seen.shape != right.shape or right.dim() != 2:
        raise NeuroloomError("No tokens are hidden here.", node_id=probe.node_id)
    places = (right[0] != UNCOUNTED).nonzero().flatten()[:MOST_PLACES]
    scores = head.by_class(values[head.prediction[0]][head.prediction[1]])[0].float().movedim(0, -1)
    likeliest = scores[places].softmax(-1).topk(min(LIKELIEST, scores.shape[-1]), -1)
    shown = torch.nonzero(seen[0] != FILLING).flatten()
    facts: dict[str, Any] = {
        "likeliest": likeliest.indices.cpu().numpy(),
        "places": tuple(places.tolist()),
        "targets": tuple(right[0][places].tolist()),
        "seen": tuple(seen[0][: int(shown[-1]) + 1].tolist()) if len(shown) else (),
        "names": head.labels,
        "example": look.example,
        "split": look.split,
    }
    return likeliest.values.cpu().numpy(), facts
