"""Cells in which a network of straight pieces is linear, found exactly on an interval or in the plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from engine.errors import NeuroloomError

MOST_CELLS = 20_000
NEAR = 1e-9  # of the largest sum of a unit: what counts as 0 beside it

Numbers = NDArray[np.float64]
Sums = Callable[[Numbers], Numbers]


@dataclass(frozen=True, slots=True)
class Bend:
    """Units that are straight but at `joints`; `sums` is what arrives at them, (n, inputs) to (n, units).

    Between the joints of all layers before it must be linear in the inputs.
    """

    sums: Sums
    joints: tuple[float, ...] = (0.0,)


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a unit bends: its layer and number, both from 0, and the ends (inputs, inputs) of this piece."""

    layer: int
    unit: int
    ends: Numbers


@dataclass(frozen=True, slots=True)
class Cells:
    """The corners of each cell (k, inputs), in the plane in their order around it, and the cuts between."""

    corners: list[Numbers]
    cuts: list[Cut]

    def middles(self) -> Numbers:
        """The mean of each cell's corners, (cells, inputs)."""
        return np.array([corners.mean(0) for corners in self.corners])


def linear_cells(
    window: Sequence[tuple[float, float]], layers: Sequence[Bend], most: int = MOST_CELLS
) -> Cells:
    """Divides a window, a range of one input or of two, where units of the layers bend.

    Each layer divides the cells of the layers before it: there its sums are linear, so that the corners tell
    which units cross a joint inside a cell, and where. Two cells in which the network happens to be the same
    function count as two. Errors: `NeuroloomError` for more than `most` cells.
    """
    cells = [_corners(window)]
    inputs, cuts = len(window), list[Cut]()
    for number, layer in enumerate(layers):
        sums = layer.sums(np.concatenate(cells))
        near = NEAR * np.abs(sums).max(0, initial=0.0)
        ends = np.cumsum([len(corners) for corners in cells])[:-1]
        divided: list[Numbers] = []
        for corners, own in zip(cells, np.split(sums, ends), strict=True):
            parts = [np.hstack([corners, own])]
            for joint in layer.joints:
                crossing = (own.max(0) > joint + near) & (own.min(0) < joint - near)
                for unit in np.flatnonzero(crossing).tolist():
                    found = [_divide(part, inputs + unit, joint, near[unit]) for part in parts]
                    parts = [piece for pieces, _ in found for piece in pieces]
                    cuts += [Cut(number, unit, line[:, :inputs]) for _, line in found if len(line)]
            divided += [part[:, :inputs] for part in parts]
            if len(divided) > most:
                raise NeuroloomError(f"There are more than {most:,} linear regions.")
        cells = divided
    return Cells(cells, cuts)


def most_regions(inputs: int, widths: Sequence[int]) -> int:
    """No network of ReLU layers of these widths has more linear regions; one layer may have as many.

    Sources: Zaslavsky 1975 for one layer; Montúfar 2017 for several.
    """
    narrowest = [min((inputs, *widths[:layer])) for layer in range(len(widths))]
    return prod(
        sum(comb(width, at) for at in range(free + 1)) for width, free in zip(widths, narrowest, strict=True)
    )


def folded_regions(inputs: int, width: int, layers: int) -> int:
    """As many linear regions some network of such layers has, by folding; width is at least `inputs`.

    Source: Montúfar, Pascanu, Cho and Bengio 2014.
    """
    folds: int = (width // inputs) ** (inputs * (layers - 1))
    return most_regions(inputs, (width,)) * folds


def _corners(window: Sequence[tuple[float, float]]) -> Numbers:
    if len(window) == 1:
        return np.array(window[0], np.float64)[:, None]
    (left, right), (low, high) = window
    return np.array([(left, low), (right, low), (right, high), (left, high)], np.float64)


def _divide(part: Numbers, column: int, joint: float, near: float) -> tuple[list[Numbers], Numbers]:
    """The parts of a cell on both sides of a joint in one of its columns, and the line between them."""
    value = part[:, column] - joint
    side = np.where(np.abs(value) <= near, 0, np.sign(value))
    if side.min() >= 0 or side.max() <= 0:
        return [part], part[:0]
    after = np.roll(np.arange(len(part)), -1)
    edges = np.flatnonzero(side * side[after] < 0)
    if len(part) == 2:  # an interval has one edge, not two
        edges = edges[:1]
    there = value[edges] / (value[edges] - value[after[edges]])
    crossings = part[edges] + there[:, None] * (part[after[edges]] - part[edges])
    both = np.insert(part, edges + 1, crossings, axis=0)
    sides = np.insert(side, edges + 1, 0)
    return [both[sides >= 0], both[sides <= 0]], both[sides == 0]
