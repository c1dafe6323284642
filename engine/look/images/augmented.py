"""The training images before and after an augmentation: originals, and random results of one node.

The layer is a module that takes what its ports take, changes images (N, C, H, W) where `training` is True,
and gives images, or images and targets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.catalogue import Layer
from engine.devices import untouched_random
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.asking import rows_of, spread_over
from engine.look.inputs import drawn
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look

EXAMPLES, TRIES = 5, 9
WIDEST = 96  # pixels of a side that are shown
MOST_NUMBERS = 120_000


@probe_kind("augmented", every=2.0)
def augmented(look: Look, probe: Probe) -> Taken | None:
    """Training images as they arrive, and what the node makes of each: `(n, 1 + tries, H, W)` or `(…, 3)`.

    `detail` is (number of the draw,): the same random numbers for the same number, and none of training's.
    `rows` are the numbers of the examples; `mixed` `(n, tries, classes)` are the targets of what is mixed.
    """
    layer = look.module(probe.node_id)
    if layer is None:
        raise NeuroloomError("Nothing is changed here.", node_id=probe.node_id)
    split = "train" if look.rows("train") else look.split
    rows = spread_over(look.rows(split), EXAMPLES)
    given = _arriving(look, probe.node_id, rows, split)
    if given[0].dim() != 4:
        raise NeuroloomError("What arrives here are no images.", node_id=probe.node_id)
    number = int(probe.detail[0]) if probe.detail else 0
    made, targets = _changed(layer, given, look.device, number)
    images = [_small(part) for part in (given[0], made)]
    count, tries = _room(max(part[0].numel() for part in images), len(rows))
    shape = images[0].shape[2:]
    facts: dict[str, Any] = {"rows": tuple(rows[:count]), "split": split, "draw": number}
    if images[1].shape[2:] != shape:  # cut out: shown as large as the image it was
        facts["sizes"] = (tuple(shape), tuple(images[1].shape[2:]))
        images[1] = F.interpolate(images[1], tuple(shape), mode="nearest-exact")
    results = images[1].reshape(len(rows), TRIES, *images[1].shape[1:])
    if targets is not None:
        facts["mixed"] = targets.reshape(len(rows), TRIES, -1)[:count, :tries].cpu().numpy()
    shown = [
        np.stack([drawn(image) for image in (images[0][row], *results[row, :tries])]) for row in range(count)
    ]
    return np.stack(shown), facts


def _arriving(look: Look, node_id: str, rows: list[int], split: str) -> list[Tensor]:
    """What arrives at each input of a node, as after training."""
    project = look.program.project
    made = look.program.book.types.get(node_id)
    if node_id not in project.graph.nodes or not isinstance(made, Layer):
        raise NeuroloomError("What arrives here is not seen.", node_id=node_id)
    batch = rows_of(look, rows, split)
    found = []
    for port in made.inputs():
        link = project.graph.feeding(node_id, port.name)
        if link is None:
            raise NeuroloomError(f"Nothing is connected to {port.title}.", node_id=node_id)
        with torch.no_grad():
            value = look.value(link.source, batch, link.source_port)
        found.append(batch[link.source_port] if value is None else value)
    return found


def _changed(layer: nn.Module, given: list[Tensor], device: str, number: int) -> tuple[Tensor, Tensor | None]:
    """What a layer makes of examples while training, several times each, and the targets that it mixes."""
    before = layer.training
    layer.training = True
    try:
        with torch.no_grad(), untouched_random(device):
            torch.manual_seed(number)
            made = layer(*(part.repeat_interleave(TRIES, 0) for part in given))
    finally:
        layer.training = before
    if isinstance(made, tuple):
        return made[0], made[1] if made[1].dim() == 2 else None
    found: Tensor = made
    return found, None


def _small(images: Tensor) -> Tensor:
    """Images no larger than can be shown."""
    sides = images.shape[2:]
    if max(sides) <= WIDEST:
        return images.float()
    size = [max(1, round(side * WIDEST / max(sides))) for side in sides]
    return F.interpolate(images.float(), size, mode="area")


def _room(each: int, rows: int) -> tuple[int, int]:
    """How many examples, and results of each, keep the numbers few."""
    count, tries = rows, TRIES
    while count > 2 and count * (1 + tries) * each > MOST_NUMBERS:
        count -= 1
    while tries > 2 and count * (1 + tries) * each > MOST_NUMBERS:
        tries -= 1
    return count, tries
