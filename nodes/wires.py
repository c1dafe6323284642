"""What nodes ask of the wires that come in, and the sentences where those do not fit."""

from __future__ import annotations

from collections.abc import Iterable

from engine.catalogue import Layer, Wire
from engine.catalogue.axes import in_words
from engine.catalogue.params import Pair
from engine.errors import EmitError

LARGEST = 64  # rows and columns of numbers that are typed
MOST = 1e9


def sizes(wire: Wire) -> str:
    """The sizes of one example, such as 3×32×32."""
    return "×".join(str(size) for size in wire.shape) or "one number"


def shown(pair: Pair) -> str:
    """A kernel as people write it: 3×3."""
    return "×".join(str(item) for item in pair) if isinstance(pair, tuple) else f"{pair}×{pair}"


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}" + ("" if count == 1 else "s")


def need_axes(x: Wire, layer: Layer, meaning: str = "") -> None:
    """Errors: `EmitError` where the wire does not carry as many axes beside the batch as the layer takes."""
    if len(x.shape) != len(layer.takes_axes):
        wanted = meaning or in_words(layer.takes_axes)
        raise EmitError(f"{layer.title} needs {wanted}, but {sizes(x)} comes in.")


def need_axis(x: Wire, axis: int, title: str) -> None:
    """Errors: `EmitError` where `axis` (0 is the batch, -1 the last) is none that an example has."""
    count = len(x.shape)
    if not (1 <= axis <= count or -count <= axis <= -1):
        if axis in (0, -count - 1):
            raise EmitError(f"{title} cannot work along axis {axis}, the batch: its examples stay apart.")
        raise EmitError(f"{title} has no axis {axis} to work along: {sizes(x)} comes in.")


def same_shapes(prediction: Wire, target: Wire) -> None:
    """Errors: `EmitError` unless both have one shape; broadcasting would silently compare every pair."""
    if prediction.shape != target.shape:
        raise EmitError(
            f"The prediction is {sizes(prediction)} but the target is {sizes(target)}; they must be alike."
        )


def listed(wires: Iterable[Wire]) -> str:
    """The sizes of several wires: 16×8×8 and 16×6×6."""
    *first, last = (sizes(wire) for wire in wires)
    return f"{', '.join(first)} and {last}" if first else last


def typed_rows(text: str, what: str = "A kernel") -> list[list[float]]:
    """The numbers of a kernel or a matrix as typed. Errors: `EmitError`."""
    try:
        rows = [[float(one) for one in row.replace(",", " ").split()] for row in text.split(";")]
    except ValueError:
        raise EmitError(f"{what} is numbers, with a semicolon before the next row: 0 1; 1 0.") from None
    if len({len(row) for row in rows}) > 1 or not rows[0]:
        raise EmitError(f"{what} has as many numbers in each row as in the first, one at least.")
    if max(len(rows), len(rows[0])) > LARGEST or any(
        abs(one) > MOST or one != one for row in rows for one in row
    ):
        raise EmitError(f"{what} has {LARGEST} rows and columns at most, of numbers of ordinary size.")
    return rows
