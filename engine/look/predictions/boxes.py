"""Which boxes a network finds in images, beside those that are right."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from engine.catalogue import Loss
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.layers.detection.boxes import boxes_of, overlap_of_class
from engine.look.asking import array, rows_of, spread_over
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look

MOST = 12  # examples
LEAST = 0.3  # probability of a box that is shown
RIGHT = 0.5  # intersection over union of a right box with a true one


@probe_kind("boxes", every=1.0)
def boxes(look: Look, probe: Probe) -> Taken | None:
    """Held out images `(n, c, h, w)` with `found` `(n, k, 6)` and `right` `(n, m, 5)` boxes.

    They are the pinned example and others, spread evenly. Boxes are as `boxes_of` gives them; those less
    probable than 0.3 have the class -1. `hits` `(n, k)` says which found boxes overlap a true one of their
    class by a half or more.
    """
    graph, book = look.program.project.graph, look.program.book
    measures = [probe.node_id, *(link.target for link in graph.outgoing(probe.node_id))]
    made = next(
        (one for one in measures if isinstance(kind := book.types.get(one), Loss) and kind.traits.boxes), None
    )
    wires = [graph.feeding(made, port) for port in ("prediction", "target")] if made else []
    answer, target = next(iter(wires), None), next(iter(wires[1:]), None)
    if answer is None or target is None:
        raise NeuroloomError("Nothing here is compared with boxes.", node_id=probe.node_id)
    if not look.rows():
        return None
    rows = list(dict.fromkeys([look.example, *spread_over(look.rows(), MOST)]))[:MOST]
    batch = rows_of(look, rows)
    values = look.values({answer.source, target.source}, batch)
    grid = values.get(answer.source, {}).get(answer.source_port)
    right = values.get(target.source, {}).get(target.source_port, batch.get(target.source_port))
    images = images_before(look, answer.source, batch)
    if grid is None or right is None or images is None:
        raise NeuroloomError("Nothing here gives boxes in an image.", node_id=probe.node_id)
    found = boxes_of(grid)
    found[..., 0] = torch.where(found[..., 5] < LEAST, -1, found[..., 0])
    hits = overlap_of_class(found, right).amax(-1) >= RIGHT
    facts: dict[str, Any] = {
        "found": array(found),
        "right": array(right),
        "hits": hits.cpu().numpy(),
        "rows": tuple(rows),
        "split": look.split,
    }
    return array(images), facts


def images_before(look: Look, node_id: str, batch: dict[str, Tensor]) -> Tensor | None:
    """The images `(n, c, h, w)` of a batch from which a node's value is computed."""
    columns = [batch[name] for name in look.input_columns(node_id)]
    return next((one for one in columns if one.dim() == 4), None)
