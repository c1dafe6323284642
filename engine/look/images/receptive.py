"""Which pixels a unit of a network can see, and which of them it really listens to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from engine.look.landscape.loss_slices import nothing

Forward = Callable[[Tensor], Tensor]
ROWS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Reach:
    """What the units of a map see: `rows` `(h, H)` and `columns` `(w, W)` of an input, true where they do.

    A layer without a map has one row for all units: `(1, H)`.
    """

    rows: Tensor
    columns: Tensor

    def size(self) -> tuple[int, int]:
        """Height and width, holes included, of the largest field that no edge cuts off."""
        return _extent(self.rows), _extent(self.columns)

    def stride(self) -> tuple[int, int]:
        """How far the fields of neighbours lie apart, 0 where there is one unit."""
        return _stride(self.rows), _stride(self.columns)

    def of(self, row: int, column: int) -> Tensor:
        """The pixels `(H, W)` that a unit sees."""
        return self.rows[row][:, None] & self.columns[column][None, :]


def reach(forward: Forward, x: Tensor, check: Callable[[], None] = nothing) -> Reach:
    """What the units of `forward(x)`, maps `(N, C, h, w)`, see of an image `x` `(1, C, H, W)`.

    One row or column of the image after the other is made not-a-number: where that arrives, the unit looks,
    whatever its weights are and whatever a ReLU holds back. Sequences `(1, C, L)` are images of one row.
    """
    down = _spread(forward, x, -2, check) if x.dim() == 4 else torch.ones(1, 1, dtype=torch.bool)
    return Reach(down, _spread(forward, x, -1, check))


def effective(values: Tensor, x: Tensor) -> Tensor:
    """The mean size of the gradient of a unit `values` `(N,)` at each pixel of `x` `(N, C, H, W)`: `(H, W)`.

    Summed over channels (Luo, Li, Urtasun and Zemel, 2016). `values` must hang on `x` by a graph.
    """
    (gradient,) = torch.autograd.grad(values.sum(), x)
    found = gradient.abs().sum(1).mean(0).detach()
    return found if found.dim() == 2 else found[None]


def _spread(forward: Forward, x: Tensor, axis: int, check: Callable[[], None]) -> Tensor:
    """Which places along an axis of the input reach which along the same axis of the answer."""
    length = x.shape[axis]
    found: list[Tensor] = []
    with torch.no_grad():
        for begin in range(0, length, ROWS_AT_ONCE):
            check()
            count = min(ROWS_AT_ONCE, length - begin)
            rows = x.detach().repeat(count, *(1,) * (x.dim() - 1))
            for index in range(count):
                rows[index].select(axis, begin + index).fill_(float("nan"))
            answer = forward(rows).isnan()
            if answer.dim() == x.dim():
                others = [place for place in range(1, answer.dim()) if place != answer.dim() + axis]
                found.append(answer.amax(dim=others))
            else:
                found.append(answer.flatten(1).any(1, keepdim=True))
    return torch.cat(found).T.cpu()


def _extents(seen: Tensor) -> list[tuple[int, int]]:
    places = [torch.nonzero(row).flatten().tolist() for row in seen]
    return [(row[0], row[-1] + 1) for row in places if row]


def _extent(seen: Tensor) -> int:
    return max((end - begin for begin, end in _extents(seen)), default=0)


def _stride(seen: Tensor) -> int:
    found = _extents(seen)
    length = seen.shape[1]
    inner = [begin for begin, end in found if begin > 0 or end < length]
    ends = [end for _, end in found]
    starts = [begin for begin, _ in found]
    if len(found) < 2 or not inner:
        return 0
    apart = [b - a for a, b in pairwise(starts)]
    apart += [b - a for a, b in pairwise(ends)]
    return max(apart)
