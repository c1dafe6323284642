"""What the axes of an example stand for: places beside each other, or the quantities that each place has.

An axis has a name; "" is one that nothing is known of. A layer that takes places for quantities computes all
the same wherever the sizes fit, and learns little.
"""

from __future__ import annotations

Axes = tuple[str, ...]
Ragged = tuple[str, ...]  # an axis along which rows differ in length: its name, and the data node's id; or ()

IMAGE: Axes = ("channels", "height", "width")
SEQUENCE: Axes = ("steps", "features")
SIGNAL: Axes = ("channels", "length")
VOLUME: Axes = ("channels", "depth", "height", "width")
PATCHES: Axes = ("patches", "numbers")
POINTS: Axes = ("points", "features")
OF_NODES: Axes = ("nodes", "features")
QUANTITIES = ("channels", "features", "numbers")


def confused(taken: Axes, axes: Axes) -> bool:
    """Whether an axis holds places where quantities are taken, or the other way round."""
    pairs = zip(taken, axes, strict=True) if len(taken) == len(axes) else ()
    return any(one and other and (one in QUANTITIES) != (other in QUANTITIES) for one, other in pairs)


def swapped(axes: Axes, first: int, second: int) -> Axes:
    """The axes with two of them exchanged, counted from 0."""
    found = list(axes)
    found[first], found[second] = found[second], found[first]
    return tuple(found)


def looked_up(axes: Axes, rank: int) -> Axes:
    """The axes where each whole number has become a row of features."""
    return (*axes, "features") if len(axes) == rank - 1 else SEQUENCE if rank == 2 else ()


def in_words(axes: Axes) -> str:
    """Axes as people write them: channels × height × width."""
    return " × ".join(axes)
