"""Places in the space of codes: a grid of the prior, two directions."""

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


def two_directions(codes: Tensor) -> Tensor:
    """The two directions (2, D) in which codes (N, D) vary most; the largest number of each is positive."""
    centred = (codes - codes.mean(0)).double()
    _, found = torch.linalg.eigh(centred.T @ centred)
    directions = found.flip(1)[:, :2].T
    largest = directions.gather(1, directions.abs().argmax(1, keepdim=True))
    turned: Tensor = directions * largest.sign()
    return turned.float()
