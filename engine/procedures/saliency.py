"""Which parts of an input an answer hangs on.

`score` is a function of inputs `(N, ...)` that answers one number a row, `(N,)`; `x` is one example
`(1, ...)`. Every answer has the shape of `x` without the first axis, unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor


def saliency(score: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """The gradient of the score with respect to the input (Simonyan, Vedaldi and Zisserman, 2014)."""
    return gradients_of(score, x)[0]


def gradient_times_input(score: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """The gradient times the input (Shrikumar, Greenside, Shcherbina and Kundaje, 2016)."""
    return saliency(score, x) * x[0].detach()


def integrated_gradients(
    score: Callable[[Tensor], Tensor],
    x: Tensor,
    baseline: Tensor | None = None,
    steps: int = 64,
    check: Callable[[], None] | None = None,
) -> Tensor:
    """(x - x₀) times the mean gradient on the straight way from the baseline x₀, 0 where none is named.

    By the midpoint rule; the sum is near score(x) - score(x₀), the nearer the more steps (Sundararajan, Taly
    and Yan, 2017).
    """
    x = x.detach()
    start = torch.zeros_like(x) if baseline is None else baseline.detach().expand_as(x)
    fractions = (torch.arange(steps, dtype=x.dtype, device=x.device) + 0.5) / steps
    total = torch.zeros_like(x[0])
    for part in torch.split(fractions, 64):
        if check is not None:
            check()
        places = start + part.reshape(-1, *(1,) * (x.dim() - 1)) * (x - start)
        total += gradients_of(score, places).sum(0)
    return (x - start)[0] * total / steps


def grad_cam(maps: Tensor, score: Tensor) -> Tensor:
    """Where the maps `(1, K, h, w)` of a layer speak for `score` `()`: `(h, w)`, never below 0.

    The maps weighted by the mean of their gradients, then ReLU (Selvaraju et al., 2017). The score must hang
    on the maps by a graph.
    """
    (gradient,) = torch.autograd.grad(score, maps)
    weights = gradient.mean(dim=(2, 3), keepdim=True)
    return (weights * maps).sum(1)[0].detach().clamp_min(0)


def occlusion(
    score: Callable[[Tensor], Tensor],
    x: Tensor,
    patch: int = 4,
    stride: int = 2,
    fill: float = 0.0,
    check: Callable[[], None] | None = None,
) -> Tensor:
    """How much the score of an image `(1, C, H, W)` falls where a square patch is covered: `(H, W)`.

    The mean over the patches that cover a pixel; the last patch of a row or column ends at the edge
    (Zeiler and Fergus, 2014). Sequences `(1, C, L)` answer `(1, L)`.
    """
    image = x.detach() if x.dim() == 4 else x.detach()[:, :, None]
    high, wide = image.shape[2:]
    lefts = patch_starts(wide, patch, stride)
    corners = [(top, left) for top in patch_starts(high, patch, stride) for left in lefts]
    fallen = torch.zeros(high, wide, device=x.device)
    covered = torch.zeros(high, wide, device=x.device)
    with torch.no_grad():
        whole = score(x)[0]
        for begin in range(0, len(corners), 64):
            if check is not None:
                check()
            some = corners[begin : begin + 64]
            rows = image.repeat(len(some), 1, 1, 1)
            for row, (top, left) in zip(rows, some, strict=True):
                row[:, top : top + patch, left : left + patch] = fill
            falls = whole - score(rows.reshape(len(some), *x.shape[1:]))
            for fall, (top, left) in zip(falls, some, strict=True):
                fallen[top : top + patch, left : left + patch] += fall
                covered[top : top + patch, left : left + patch] += 1
    return fallen / covered.clamp_min(1)


def enlarged(values: Tensor, size: tuple[int, int]) -> Tensor:
    """A map `(h, w)` at another size, by straight lines between the middles of its cells."""
    return F.interpolate(values[None, None], size=size, mode="bilinear", align_corners=False)[0, 0]


def patch_starts(length: int, patch: int, stride: int) -> list[int]:
    last = max(0, length - patch)
    return sorted({*range(0, last + 1, stride), last})


def gradients_of(score: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """The gradient of each row's score, with the shape of `x`."""
    with torch.enable_grad():
        rows = x.detach().clone().requires_grad_(True)
        (gradient,) = torch.autograd.grad(score(rows).sum(), rows)
    return gradient.detach()
