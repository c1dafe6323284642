"""Numbers to colours: viridis for magnitudes, blue-white-red about zero for signs, grey for images."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage

# 33 evenly spaced colours of matplotlib's viridis (CC0); straight lines between them stay within 2/255 of it.
_VIRIDIS = (
    "440154 470d60 48186a 482374 472d7b 453781 424086 3e4989 3b528b 375b8d 33638d "
    "2f6b8e 2c728e 297a8e 26828e 23898e 21918c 1f988b 1f9f88 21a685 27ad81 31b57b "
    "3dbc74 4cc26c 5cc863 6ece58 81d34d 95d840 aadc32 c0df25 d5e21a eae51a fde725"
)
_BLUE_WHITE_RED = (
    "053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f"  # ColorBrewer RdBu
)

LEVELS = 256
Table = NDArray[np.uint32]


def opaque(red: NDArray[Any], green: NDArray[Any], blue: NDArray[Any]) -> NDArray[np.uint32]:
    """Colours `0xFFRRGGBB` of three channels of 0 to 255; fractions are cut off."""
    red, green, blue = (channel.astype(np.uint32) for channel in (red, green, blue))
    return np.asarray(np.uint32(0xFF000000) | (red << 16) | (green << 8) | blue, np.uint32)


def _table(stops: str) -> Table:
    colours = np.array(
        [[int(stop[i : i + 2], 16) for i in (0, 2, 4)] for stop in stops.split()], dtype=np.float64
    )
    at = np.linspace(0, len(colours) - 1, LEVELS)
    return opaque(*(np.interp(at, np.arange(len(colours)), colours[:, i]).round() for i in range(3)))


VIRIDIS = _table(_VIRIDIS)
SIGNED = _table(_BLUE_WHITE_RED)
GREY = _table("000000 ffffff")
NOT_FINITE = np.uint32(0xFFFF6B6B)


def limits(values: NDArray[np.floating], *, signed: bool = False) -> tuple[float, float]:
    """Smallest and largest finite value; symmetrical about zero when `signed`; (0, 1) when there is none."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return (-1.0, 1.0) if signed else (0.0, 1.0)
    low, high = float(finite.min()), float(finite.max())
    if signed:
        reach = max(abs(low), abs(high))
        return -reach, reach
    return low, high


def shade(values: NDArray[np.floating], table: Table, low: float, high: float) -> NDArray[np.uint32]:
    """Colours `0xAARRGGBB` of the same shape as `values`; what is NaN or infinite turns red."""
    span = high - low
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = (values - low) * ((LEVELS - 1) / span) if span > 0 else np.zeros_like(values)
        levels = np.clip(np.nan_to_num(scaled, nan=0.0), 0, LEVELS - 1).astype(np.intp)
    colours: NDArray[np.uint32] = table[levels]
    finite = np.isfinite(values)
    if not finite.all():
        colours[~finite] = NOT_FINITE
    return colours


def mixed(ground: QColor, colour: QColor, fraction: float) -> QColor:
    """The colour laid thinly on the ground: opaque lines cost far less than those that let others through."""
    low, high = (np.array((one.red(), one.green(), one.blue())) for one in (ground, colour))
    red, green, blue = (low + (high - low) * fraction).round().astype(int).tolist()
    return QColor(red, green, blue)


def to_image(colours: NDArray[np.uint32]) -> QImage:
    """An image of `(height, width)` colours that owns its memory."""
    colours = np.ascontiguousarray(colours)
    height, width = colours.shape
    return QImage(colours.data, width, height, width * 4, QImage.Format.Format_ARGB32).copy()
