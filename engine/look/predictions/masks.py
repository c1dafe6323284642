"""Which class a network gives each pixel, beside what is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.asking import array, rows_of, spread_over
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look
from engine.shapes.heads import CLASSES, UNCOUNTED

MOST = 12  # examples
LARGEST = 128  # pixels of a side; larger ones are thinned out


@probe_kind("masks", every=1.0)
def masks(look: Look, probe: Probe) -> Taken | None:
    """Held out images `(n, c, h, w)` with `right` and `predicted` `(n, h, w)`, the class of each pixel.

    They are the pinned example and others, spread evenly. Pixels of no class are -100 in `right`; `share`
    `(n,)` is the fraction of the others that is predicted right. `names` are what classes are called.
    """
    head = look.head(probe.node_id)
    if head is None or head.kind != CLASSES:
        raise NeuroloomError("Nothing here answers with classes.", node_id=probe.node_id)
    rows = list(dict.fromkeys([look.example, *spread_over(look.rows(), MOST)]))[:MOST]
    if not look.rows():
        return None
    batch = rows_of(look, rows)
    values = look.values({head.prediction[0], head.target[0]}, batch)
    scores = values.get(head.prediction[0], {}).get(head.prediction[1])
    right = values.get(head.target[0], {}).get(head.target[1])
    if scores is None or right is None or right.dim() != 3:
        raise NeuroloomError("Nothing here gives each pixel a class.", node_id=probe.node_id)
    predicted = head.by_class(scores).argmax(1)
    counted = right != UNCOUNTED
    hits = ((predicted == right) & counted).flatten(1).sum(1)
    images = next(
        (
            batch[name]
            for name in look.input_columns(head.prediction[0])
            if batch[name].dim() == 4 and batch[name].shape[2:] == right.shape[1:]
        ),
        None,
    )
    if images is None:
        images = torch.zeros(len(right), 1, *right.shape[1:])
    every = -(-max(right.shape[1:]) // LARGEST)
    facts: dict[str, Any] = {
        "right": right[:, ::every, ::every].cpu().numpy().astype(np.int16),
        "predicted": predicted[:, ::every, ::every].cpu().numpy().astype(np.int16),
        "share": (hits / counted.flatten(1).sum(1).clamp(min=1)).cpu().numpy(),
        "rows": tuple(rows),
        "names": head.labels,
        "split": look.split,
    }
    return array(images[:, :, ::every, ::every]), facts
