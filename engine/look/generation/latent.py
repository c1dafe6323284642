"""Places in the space of codes: a grid of the prior, the way between two codes, two directions."""

from __future__ import annotations

import torch
from torch import Tensor


def spaced(count: int, spread: tuple[str, float] | None = None) -> Tensor:
    """`count` numbers with the same fraction of draws between neighbours, for ("normal", deviation).

    They are the values of the inverse normal distribution at (k + ½) / count (Kingma and Welling 2014); for
    ("even", range) they stand at equal distances. Without a spread the deviation is 1.
    """
    kind, size = spread or ("normal", 1.0)
    fraction: Tensor = (torch.arange(count, dtype=torch.float64) + 0.5) / count
    places = (2 * fraction - 1) * size if kind == "even" else torch.special.ndtri(fraction) * size
    return places.float()


def between(start: Tensor, end: Tensor, count: int, *, round_: bool = False) -> Tensor:
    """`count` codes (count, D) from one code (D,) to another, both included.

    Along the line, or `round_` the arc of a great circle, on which normal draws keep their usual length
    (White, 2016).
    """
    fraction = torch.linspace(0, 1, count, device=start.device)[:, None]
    cosine = (start @ end / (start.norm() * end.norm()).clamp_min(1e-12)).clamp(-1, 1)
    angle = torch.arccos(cosine)
    if not round_ or angle.sin() < 1e-4:
        return (1 - fraction) * start + fraction * end
    way: Tensor = (
        torch.sin((1 - fraction) * angle) * start + torch.sin(fraction * angle) * end
    ) / angle.sin()
    return way


def two_directions(codes: Tensor) -> Tensor:
    """The two directions (2, D) in which codes (N, D) vary most; the largest number of each is positive."""
    centred = (codes - codes.mean(0)).double()
    _, found = torch.linalg.eigh(centred.T @ centred)
    directions = found.flip(1)[:, :2].T
    largest = directions.gather(1, directions.abs().argmax(1, keepdim=True))
    turned: Tensor = directions * largest.sign()
    return turned.float()
