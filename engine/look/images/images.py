"""Images that a network reconstructs or generates, images of classes, and weights that lie on images."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from engine.devices import untouched_random
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.asking import array, rows_of
from engine.look.generation.generation import as_images
from engine.look.inputs import drawn, fewer, value_of
from engine.look.pixels import copied, from_noise, image_behind
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look

SHOWN = 8
SAMPLES = 16
MOST_ROWS = 4096
MOST_CLASSES = 32
MOST_UNITS = 64


@probe_kind("reconstructions", every=0.5)
def reconstructions(look: Look, probe: Probe) -> Taken | None:
    """Images and their reconstructions: `(2, n, H, W)` or `(2, n, H, W, 3)`, the pinned one first.

    `errors` `(n,)` are the mean squared differences, `mean_error` their mean over 64 examples, `rows` the
    numbers of the examples.
    """
    found = copied(look.program.project, look.program.book, probe.node_id)
    if found is None:
        raise NeuroloomError("Nothing here is trained to equal its own input.", node_id=probe.node_id)
    others = [row for row in range(min(64, look.rows())) if row != look.example]
    rows = [look.example, *others]
    batch = rows_of(look, rows)
    with torch.no_grad():
        made = value_of(look, found.made[0], batch, found.made[1]).float()
    given = batch[found.original[1]].float()
    made = made.reshape(given.shape)
    errors = (made - given).square().flatten(1).mean(1)
    count = min(SHOWN, len(rows))
    both = [np.stack([drawn(one) for one in part[:count]]) for part in (given, made)]
    count = len(fewer(both[0], 30_000))
    facts: dict[str, Any] = {
        "errors": array(errors[:count]),
        "mean_error": errors.mean().item(),
        "looked_at": len(rows),
        "rows": tuple(rows[:count]),
        "split": look.split,
    }
    return np.stack([part[:count] for part in both]), facts


@probe_kind("samples", every=1.0)
def samples(look: Look, probe: Probe) -> Taken | None:
    """What a layer generates from noise, always the same for a try: `(n, H, W)` or `(n, H, W, 3)`.

    `detail` is (number of the try,).
    """
    shape = from_noise(look.program.project, look.program.book, probe.node_id)
    if shape is None:
        raise NeuroloomError("This layer generates no images from noise.", node_id=probe.node_id)
    with torch.no_grad(), untouched_random(look.device):
        torch.manual_seed(int(probe.detail[0]) if probe.detail else 0)
        made = value_of(look, probe.node_id, look.batch(0, SAMPLES))
    return fewer(as_images(made, shape)), {"try": probe.detail[0] if probe.detail else 0}


@probe_kind("class_images", every=30.0, apart=True)
def class_images(look: Look, probe: Probe) -> Taken | None:
    """The mean image of each class over training examples: `(classes, H, W)` or `(classes, H, W, 3)`.

    `detail` is (column of images, column of classes). `counts` are the examples of each class.
    """
    image, kind = (str(name) for name in probe.detail[:2])
    split = "train" if look.rows("train") else look.split
    batch = look.batch(0, MOST_ROWS, split)
    if kind not in batch or image not in batch:
        unread = kind if kind not in batch else image
        raise NeuroloomError(f"The column {unread!r} is not read, because nothing in the network uses it.")
    labels, rows = batch[kind].flatten().long(), batch[image]
    count = min(MOST_CLASSES, int(labels.max()) + 1)
    total = torch.zeros(count, *rows.shape[1:], device=rows.device)
    seen = torch.bincount(labels.clamp(0, count - 1), minlength=count)
    for start in range(0, len(rows), 512):
        look.check()
        some = labels[start : start + 512]
        fitting = some < count
        total.index_add_(0, some[fitting], rows[start : start + 512][fitting].float())
    means = total / seen.clamp_min(1).reshape(-1, *(1,) * (total.dim() - 1))
    facts = {"counts": tuple(seen.tolist()), "looked_at": len(rows), "split": split}
    return np.stack([drawn(mean) for mean in means]), facts


@probe_kind("pixel_weights", every=1.0)
def pixel_weights(look: Look, probe: Probe) -> Taken | None:
    """The weights of each unit of a dense layer where they lie on the image: `(units, H, W)`.

    Those of several channels are added up. `units` counts all, of which 64 at most are shown.
    """
    shape = image_behind(look.program.project, look.program.book, probe.node_id)
    weight = look.weights(probe.node_id).get("weight")
    if shape is None or weight is None or weight.dim() != 2:
        raise NeuroloomError("The weights of this layer do not lie on an image.", node_id=probe.node_id)
    maps = weight.detach()[:MOST_UNITS].float().reshape(-1, *shape).sum(1)
    return fewer(array(maps)), {"units": len(weight), "channels": shape[0]}


@probe_kind("filter_kernels", every=0.5)
def filter_kernels(look: Look, probe: Probe) -> Taken | None:
    """The kernels of one filter, one a channel of the input: `(channels, h, w)`.

    `detail` is (filter,). `combined` `(h, w)` is their sum, what the filter answers where all channels are
    alike; `bias` its bias.
    """
    module = look.module(probe.node_id)
    if not isinstance(module, nn.Conv1d | nn.Conv2d | nn.ConvTranspose2d):
        raise NeuroloomError("This layer has no kernels.", node_id=probe.node_id)
    weight: Tensor = module.weight.detach().float()
    if module.transposed:
        weight = weight.transpose(0, 1)
    number = min(max(0, int(probe.detail[0]) if probe.detail else 0), len(weight) - 1)
    kernels = weight[number][:, None] if weight.dim() == 3 else weight[number]
    facts: dict[str, Any] = {
        "combined": array(kernels.sum(0)),
        "bias": 0.0 if module.bias is None else module.bias[number].item(),
        "filter": number,
        "filters": len(weight),
        "channels": len(kernels),
    }
    return fewer(array(kernels)), facts
