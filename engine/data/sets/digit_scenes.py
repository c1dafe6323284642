"""Scenes of handwritten digits, each with a box. Portable: exports carry this source."""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.data.sets.mnist import load_mnist


def load_digit_scenes(
    folder: Path,
    device: str,
    *,
    scenes: int = 2000,
    most: int = 3,
    smallest: int = 18,
    largest: int = 30,
    seed: int = 0,
) -> dict[str, dict[str, Tensor]]:
    """Digits on empty images: {split: {"image": (N, 1, 48, 48), "count": (N, 1), "boxes": (N, most, 5)}}.

    A box is a class and the corners x0, y0, x1, y1 as fractions of the side; the class -1 fills up scenes
    with fewer digits. Images of MNIST are resized to sides of `smallest` to `largest` pixels, and no two
    boxes overlap. Validation and test have a sixth as many scenes each, of digits that training does not see.
    """
    side, tries = 48, 20
    made = {}
    for number, (split, digits) in enumerate(load_mnist(folder, "cpu", seed=seed).items()):
        draw = torch.Generator().manual_seed(3 * seed + number)
        n = scenes if split == "train" else max(1, scenes // 6)
        wanted = torch.randint(1, most + 1, (n,), generator=draw)
        images, boxes = torch.zeros(n, 1, side, side), torch.zeros(n, most, 5)
        boxes[..., 0] = -1
        taken = torch.zeros(n, side, side, dtype=torch.bool)
        for place in range(most):
            which = torch.randint(len(digits["digit"]), (n,), generator=draw)
            sizes = torch.randint(smallest, largest + 1, (n,), generator=draw).tolist()
            corners = torch.rand(n, tries, 2, generator=draw).tolist()
            for scene in torch.nonzero(wanted > place).flatten().tolist():
                image = digits["image"][which[scene], None]
                ink = F.interpolate(image, (sizes[scene], sizes[scene]), mode="bilinear", antialias=True)[
                    0, 0
                ]
                down, across = (torch.nonzero(ink.amax(axis) > 0.1).flatten() for axis in (1, 0))
                ink = ink[down[0] : down[-1] + 1, across[0] : across[-1] + 1]
                high, wide = ink.shape
                for right, below in corners[scene]:
                    x, y = int(right * (side - wide + 1)), int(below * (side - high + 1))
                    end, bottom = x + wide, y + high
                    if not taken[scene, y:bottom, x:end].any():
                        taken[scene, y:bottom, x:end] = True
                        images[scene, 0, y:bottom, x:end] = ink
                        boxes[scene, place] = torch.tensor([digits["digit"][which[scene]], x, y, end, bottom])
                        break
        boxes[..., 1:] /= side
        made[split] = {
            "image": images.to(device),
            "count": (boxes[..., :1] >= 0).float().sum(1).to(device),
            "boxes": boxes.to(device),
        }
    return made
