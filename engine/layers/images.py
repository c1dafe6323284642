"""Images cut, padded, normalised, taken apart, seen through windows. Portable: exports carry this source."""

from __future__ import annotations

import math

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


class TypedKernel(nn.Module):
    """Slides a kernel that is not learned over each channel of a signal (N, C, L) or an image (N, C, H, W).

    Its rows are numbers with a space between, and a semicolon before the next row. It is laid on as it
    stands, which is cross-correlation; with `flip` it is turned round first, which is convolution. `padding`
    cells at each side hold what `border` says.
    """

    kernel: Tensor

    def __init__(
        self,
        kernel: str,
        stride: int = 1,
        padding: tuple[int, ...] = (),
        dilation: int = 1,
        border: str = "constant",
        flip: bool = False,
    ) -> None:
        super().__init__()
        rows = kernel.replace(",", " ").split(";")
        typed = torch.tensor([[float(one) for one in row.split()] for row in rows])
        self.register_buffer("kernel", typed.flip(0, 1) if flip else typed, persistent=False)
        self.stride, self.dilation = stride, dilation
        self.around = [one for size in reversed(padding) for one in (size, size)]
        self.border = border

    def forward(self, x: Tensor) -> Tensor:
        flat = x.dim() == 3
        kernel = (self.kernel[0] if flat else self.kernel).to(x.dtype)
        each = kernel.expand(x.shape[1], 1, *kernel.shape)
        if self.around:
            x = F.pad(x, self.around, mode=self.border)
        slide = F.conv1d if flat else F.conv2d
        return slide(x, each, None, self.stride, 0, self.dilation, x.shape[1])


class LocallyConnected2d(nn.Module):
    """A window over an image (N, C, H, W) with weights of its own at each place: (N, filters, h, w)."""

    def __init__(
        self, shape: tuple[int, int, int], filters: int, kernel: tuple[int, int], stride: tuple[int, int]
    ) -> None:
        super().__init__()
        channels, *size = shape
        self.kernel, self.stride = kernel, stride
        self.made = [(n - k) // s + 1 for n, k, s in zip(size, kernel, stride, strict=True)]
        inside = channels * math.prod(kernel)
        bound = 1 / math.sqrt(inside)
        self.weight = nn.Parameter(torch.empty(math.prod(self.made), filters, inside).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(filters, *self.made).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        windows = F.unfold(x, self.kernel, stride=self.stride)  # (N, C·k·k, places)
        found = torch.einsum("nip,pfi->nfp", windows, self.weight)
        return found.reshape(len(x), -1, *self.made) + self.bias
