"""Where a state of saturating units stays as it is: every such point, stable or not."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

MOST_UNITS = 7  # there are 3^units patterns of saturation
CLOSE = 1e-5


class Equilibria(NamedTuple):
    """The points (m, units) with x = clip(W x + b), and the spectral radius (m,) of the Jacobian at each.

    Below 1 a point attracts what is near it, above 1 it is unstable; 1 tells nothing. Where `lines` is true
    there are also lines or planes of such points, of which none is listed.
    """

    points: Tensor
    radius: Tensor
    lines: bool

    @property
    def stable(self) -> Tensor:
        """Which points attract what is near them: (m,) of booleans."""
        return self.radius < 1 - CLOSE

    @property
    def told(self) -> Tensor:
        """At which points the Jacobian tells whether they do: (m,) of booleans."""
        return (self.radius - 1).abs() > CLOSE


def equilibria(weight: Tensor, bias: Tensor, in_turn: bool = False) -> Equilibria:
    """Every isolated equilibrium of x <- clip(W x + b, -1, 1), all units at once or `in_turn`.

    For each pattern of saturation (each unit at -1, free or at 1) the free units solve a linear system; its
    solution counts if the free units lie within the bounds and the others are driven beyond theirs. A unit
    that just reaches its bound is judged as a free one. Expects at most `MOST_UNITS` units.
    """
    w, b = weight.detach().cpu().double(), bias.detach().cpu().double()
    size = len(b)
    levels = torch.tensor([-1.0, 0.0, 1.0], dtype=w.dtype)
    patterns = torch.cartesian_prod(*[levels] * size).reshape(-1, size)
    free = patterns == 0
    one = torch.eye(size, dtype=w.dtype)
    left, sizes, right = torch.linalg.svd(one - free[:, :, None] * w)
    alone = sizes[:, -1] > CLOSE * sizes[:, 0]
    scale = torch.where(sizes > CLOSE * sizes[:, :1], 1 / sizes, 0.0)
    sides = torch.where(free, b, patterns)
    points = (right.mT @ (scale[:, :, None] * (left.mT @ sides[:, :, None])))[:, :, 0]
    driven = points @ w.T + b
    within = (points.abs() <= 1 + CLOSE) & ((points - driven).abs() <= CLOSE)
    fits = torch.where(free, within, patterns * driven >= 1 - CLOSE).all(1)
    found = _distinct(points[fits & alone])
    moves = (found.abs() < 1 - CLOSE) | ((found @ w.T + b).abs() <= 1 + CLOSE)
    jacobian = moves[:, :, None] * w
    if in_turn:  # what comes later in a sweep sees the new values
        earlier = jacobian.tril(-1)
        jacobian = torch.linalg.solve(one - earlier, jacobian - earlier)
    return Equilibria(found, torch.linalg.eigvals(jacobian).abs().amax(1), bool((fits & ~alone).any()))


def _distinct(points: Tensor) -> Tensor:
    """The points (m, units) without repeats: at a bound, two patterns of saturation give the same one."""
    kept: list[Tensor] = []
    for point in points:
        if all(float((point - other).abs().max()) > 10 * CLOSE for other in kept):
            kept.append(point)
    return torch.stack(kept) if kept else points[:0]
