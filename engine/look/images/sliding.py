"""Each kind of convolution as a kernel that slides over channels: what it multiplies at each place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.errors import NeuroloomError
from engine.look.images.window_steps import Two, Window

BORDERS = {"zeros": "constant"}


@dataclass(frozen=True, slots=True)
class Sliding:
    """One filter over one example, read as sums of products.

    `x` (C, H, W) are the channels that it reads, `kernel` (C, h, w) their weights, or (rows, columns, C, h,
    w) where each place of the map has its own, `bias` a number or one for each place. What is around `x`
    follows from the `border`. `stretched`: so many zeros lie between neighbours of what arrives, as a
    transposed convolution has it. `slices`: so many slices of a volume count as channels each, and `depth`
    are the slice that is made and how many there are.
    """

    x: Tensor
    kernel: Tensor
    bias: float | Tensor
    window: Window
    filters: int
    border: str = "constant"
    stretched: Two = (0, 0)
    slices: int = 1
    depth: tuple[int, int] = (0, 1)

    def framed(self) -> Tensor:
        """The channels with what padding adds: (C, H + before + behind, W + before + behind)."""
        at = self.window
        around = (at.before[1], at.behind[1], at.before[0], at.behind[0])
        return F.pad(self.x[None], around, mode=self.border)[0] if any(around) else self.x

    def parts(self) -> Tensor:
        """What each channel adds to each place of the map: (C, rows, columns)."""
        at, seen = self.window, self.framed()
        if self.kernel.dim() == 3:
            alone = len(seen)
            return F.conv2d(seen[None], self.kernel[:, None], None, at.stride, 0, at.dilation, alone)[0]
        rows, columns, _, high, wide = self.kernel.shape
        windows = seen.unfold(1, high, at.stride[0]).unfold(2, wide, at.stride[1])[:, :rows, :columns]
        return torch.einsum("crshw,rschw->crs", windows, self.kernel)

    def kernels(self, channel: int) -> Tensor:
        """The kernel (h, w) of a channel, or one for each place (rows, columns, h, w)."""
        return self.kernel[channel] if self.kernel.dim() == 3 else self.kernel[:, :, channel]


def sliding(module: nn.Module, x: Tensor, made: Tensor, filter_: int, depth: int) -> Sliding | None:
    """How a module makes one channel of `made` of what arrives, for one example; None for another layer."""
    if isinstance(module, nn.Conv1d | nn.Conv2d | nn.Conv3d):
        return _convolution(module, x, made, filter_, depth)
    if isinstance(module, nn.ConvTranspose2d):
        return _transposed(module, x, made, filter_)
    if hasattr(module, "kernel") and hasattr(module, "around"):
        return _typed(module, x, made, filter_)
    if hasattr(module, "made") and hasattr(module, "weight"):
        return _local(module, x, made, filter_)
    return None


def _convolution(
    module: nn.Conv1d | nn.Conv2d | nn.Conv3d, x: Tensor, made: Tensor, filter_: int, depth: int
) -> Sliding:
    weight = module.weight.detach().float()
    filter_ = min(max(0, filter_), len(weight) - 1)
    each, group = weight.shape[1], filter_ // (len(weight) // module.groups)
    x, kernel = x[group * each : (group + 1) * each], weight[filter_]
    bias = 0.0 if module.bias is None else module.bias[filter_].item()
    border = BORDERS.get(module.padding_mode, module.padding_mode)
    window, slices, place = window_of(module), 1, (0, 1)
    if isinstance(module, nn.Conv3d):
        slices, place = kernel.shape[1], (min(max(0, depth), made.shape[1] - 1), made.shape[1])
        edge, step = int(module.padding[0]), int(module.dilation[0])
        deep = F.pad(x[None], (0, 0, 0, 0, edge, edge), mode=border)[0] if edge else x
        first = place[0] * int(module.stride[0])
        x = deep[:, [first + step * one for one in range(slices)]].flatten(0, 1)
        kernel, made = kernel.flatten(0, 1), made[:, place[0]]
    elif x.dim() == 2:
        x, kernel, made = x[:, None], kernel[:, None], made[:, None]
    at = window.fitted(size_of(x), size_of(made))
    return Sliding(x, kernel, bias, at, len(weight), border, (0, 0), slices, place)


def _transposed(module: nn.ConvTranspose2d, x: Tensor, made: Tensor, filter_: int) -> Sliding:
    """A transposed convolution is a plain one, its kernel turned round, over its input with zeros between."""
    weight = module.weight.detach().float()
    filter_ = min(max(0, filter_), weight.shape[1] - 1)
    (down, across), high, wide = module.stride, x.shape[1], x.shape[2]
    apart = x.new_zeros(len(x), (high - 1) * down + 1, (wide - 1) * across + 1)
    apart[:, ::down, ::across] = x
    kernel = weight[:, filter_].flip(-1, -2)
    dilation = (int(module.dilation[0]), int(module.dilation[1]))
    edge = [dilation[a] * (kernel.shape[1 + a] - 1) - int(module.padding[a]) for a in (0, 1)]
    if min(edge) < 0:
        raise NeuroloomError("A transposed convolution with so much padding is not shown step by step.")
    window = Window((kernel.shape[1], kernel.shape[2]), (1, 1), (edge[0], edge[1]), (0, 0), dilation)
    at = window.fitted(size_of(apart), size_of(made))
    bias = 0.0 if module.bias is None else module.bias[filter_].item()
    return Sliding(apart, kernel, bias, at, weight.shape[1], "constant", (down - 1, across - 1))


def _typed(module: Any, x: Tensor, made: Tensor, filter_: int) -> Sliding:
    """A typed kernel slides over each channel by itself."""
    kernel = module.kernel.float()
    one = min(max(0, filter_), len(x) - 1)
    flat = x.dim() == 2
    x, made = (x[:, None], made[:, None]) if flat else (x, made)
    around = module.around or [0] * (2 if flat else 4)
    before = (0, around[0]) if flat else (around[2], around[0])
    stride, dilation = int(module.stride), int(module.dilation)
    window = Window(
        (kernel.shape[0], kernel.shape[1]),
        (1 if flat else stride, stride),
        before,
        before,
        (1 if flat else dilation, dilation),
    )
    at = window.fitted(size_of(x), size_of(made))
    return Sliding(x[one : one + 1], kernel[None], 0.0, at, len(x), module.border)


def _local(module: Any, x: Tensor, made: Tensor, filter_: int) -> Sliding:
    """A locally connected layer has a kernel for each place."""
    weight = module.weight.detach().float()
    filter_ = min(max(0, filter_), weight.shape[1] - 1)
    (high, wide), (rows, columns) = module.kernel, module.made
    kernel = weight[:, filter_].reshape(rows, columns, len(x), high, wide)
    at = Window((high, wide), tuple(module.stride)).fitted(size_of(x), size_of(made))
    return Sliding(x, kernel, module.bias[filter_].detach().float(), at, weight.shape[1])


def window_of(module: nn.Conv1d | nn.Conv2d | nn.Conv3d) -> Window:
    """The window of a convolution over rows and columns; one over a sequence is one row high."""
    flat = len(module.kernel_size) == 1

    def two(value: Any, alone: int) -> Two:
        return (alone, int(value[0])) if flat else (int(value[-2]), int(value[-1]))

    kernel, dilation = two(module.kernel_size, 1), two(module.dilation, 1)
    if isinstance(module.padding, str):
        totals = [dilation[a] * (kernel[a] - 1) if module.padding == "same" else 0 for a in (0, 1)]
        before = (totals[0] // 2, totals[1] // 2)
        behind = (totals[0] - before[0], totals[1] - before[1])
    else:
        before = behind = two(module.padding, 0)
    return Window(kernel, two(module.stride, 1), before, behind, dilation)


def size_of(value: Tensor) -> Two:
    """Rows and columns of maps (..., H, W)."""
    return int(value.shape[-2]), int(value.shape[-1])
