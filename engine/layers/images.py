"""Images cut, padded, normalised and taken apart. Portable: exports carry this source."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def cropped(x: Tensor, height: int, width: int) -> Tensor:
    """The middle of images (N, C, H, W), a half pixel up and left of it where it cannot be."""
    top, left = (x.shape[2] - height) // 2, (x.shape[3] - width) // 2
    return x[:, :, top : top + height, left : left + width]


class Normalise(nn.Module):
    """(x - mean) / deviation with a mean and a deviation for each channel, or one for all, of (N, C, ...)."""

    means: Tensor
    deviations: Tensor

    def __init__(self, means: tuple[float, ...], deviations: tuple[float, ...], axes: int) -> None:
        super().__init__()
        shape = (-1, *(1,) * (axes - 1))
        self.register_buffer("means", torch.tensor(means).reshape(shape), persistent=False)
        self.register_buffer("deviations", torch.tensor(deviations).reshape(shape), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return (x - self.means) / self.deviations


def patches(x: Tensor, height: int, width: int) -> Tensor:
    """Images (N, C, H, W) as sequences (N, P, C · height · width) of patches, row by row.

    Within a patch numbers lie channel by channel, then row by row.
    """
    return F.unfold(x, (height, width), stride=(height, width)).transpose(1, 2)


def joined_patches(x: Tensor, image: tuple[int, int], height: int, width: int) -> Tensor:
    """Sequences (N, P, C · height · width) of `patches` as the images (N, C, H, W) they were."""
    return F.fold(x.transpose(1, 2), image, (height, width), stride=(height, width))
