"""Where things are on the canvas: sizes of nodes, places of ports, snapping and free spots.

Everything here is plain numbers in scene units (pixels at 100 %); a node's position is its top left corner.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom

WIDTH = 128.0
WIDEST = 176.0  # of a node with a long name; the next one in a row stands COLUMN further
HEIGHT = 56.0  # name and summary
TALL = 88.0  # and a strip of thumbnails
RADIUS = 8.0
TEXT_LEFT = 14.0
TEXT_RIGHT = 12.0
STRIP_TOP = 46.0
TILE = 32.0
TILE_GAP = 3.0
# Every node's first port lies at the same height, so a row aligned at its tops has straight wires.
FIRST_PORT = 28.0
PORT_PITCH = 20.0
PORT_RADIUS = 5.0
BELOW_LAST_PORT = 16.0
GRID = 24.0  # between the dots
SNAP = 8.0
COLUMN = 200.0  # from one node to the next in a row
FAR = 1e6


@dataclass(frozen=True, slots=True)
class Spot:
    """A port as it is drawn: its place relative to the node's top left corner."""

    name: str
    label: str
    x: float
    y: float
    shown_label: str = ""
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """Size of a node and the places of its ports."""

    width: float
    height: float
    inputs: tuple[Spot, ...]
    outputs: tuple[Spot, ...]

    def spot(self, port: str, side: str) -> Spot | None:
        """The place of a port, `side` being "in" or "out"."""
        return next(
            (spot for spot in (self.inputs if side == "in" else self.outputs) if spot.name == port), None
        )

    def box(self, position: Point) -> Box:
        """The body of a node that stands at `position`."""
        x, y = position
        return x, y, x + self.width, y + self.height


@dataclass(frozen=True, slots=True)
class PortName:
    """What a port is called, before it has a place."""

    name: str
    label: str
    doc: str = ""
    numbered: bool = False  # one of a family of alike ports, which need no label each


def lay_out(
    inputs: Iterable[PortName], outputs: Iterable[PortName], *, tall: bool, name: float = 0.0
) -> Layout:
    """The layout of a node with these ports; `tall` leaves room for a strip of thumbnails.

    `name` is the width of its name: a node is as wide as that needs, within bounds and on the grid.
    """
    left, right = tuple(inputs), tuple(outputs)
    rows = max(len(left), len(right), 1)
    height = max(TALL if tall else HEIGHT, FIRST_PORT + (rows - 1) * PORT_PITCH + BELOW_LAST_PORT)
    needed = math.ceil((TEXT_LEFT + name + TEXT_RIGHT) / SNAP) * SNAP
    width = max(WIDTH, min(WIDEST, needed))
    return Layout(width, height, _spots(left, 0.0), _spots(right, width))


def _spots(ports: tuple[PortName, ...], x: float) -> tuple[Spot, ...]:
    several = sum(not port.numbered for port in ports) > 1
    return tuple(
        Spot(
            port.name,
            port.label,
            x,
            FIRST_PORT + index * PORT_PITCH,
            port.label if several and not port.numbered else "",
            port.doc,
        )
        for index, port in enumerate(ports)
    )


def meet(one: Box, other: Box) -> bool:
    """Whether two boxes overlap in more than an edge."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def grown(box: Box, by: float) -> Box:
    """The box with `by` more on each side."""
    return box[0] - by, box[1] - by, box[2] + by, box[3] + by


def around(boxes: Iterable[Box]) -> Box | None:
    """The smallest box that holds all of them; None for none."""
    found = list(boxes)
    if not found:
        return None
    return (
        min(box[0] for box in found),
        min(box[1] for box in found),
        max(box[2] for box in found),
        max(box[3] for box in found),
    )


def snapped(point: Point, step: float = SNAP) -> Point:
    """The nearest point of the snapping grid."""
    return round(point[0] / step) * step, round(point[1] / step) * step


def finite(point: Point) -> Point:
    """The point kept within what the canvas can show; what is not a number becomes 0."""

    def kept(value: float) -> float:
        return max(-FAR, min(FAR, value)) if math.isfinite(value) else 0.0

    return kept(point[0]), kept(point[1])


def free_spot(
    wanted: Point, size: tuple[float, float], boxes: Mapping[str, Box], *, step: Point = (0.0, 32.0)
) -> Point:
    """The first place from `wanted` on, going by `step`, where a node of `size` covers no other."""
    x, y = wanted
    for _ in range(4 * len(boxes) + 1):  # a node is a few steps high
        here = grown((x, y, x + size[0], y + size[1]), 7)
        if not any(meet(here, box) for box in boxes.values()):
            break
        x, y = x + step[0], y + step[1]
    return x, y
