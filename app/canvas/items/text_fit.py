"""Cutting text to the room it has, or giving it two lines."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF

from app.theme import current_theme

LONGEST_NAME = 60  # characters, more than any node has room for
LEADING = 3  # what a line is higher than its letters are large


def one_line(text: str) -> str:
    """The text without line breaks and doubled spaces."""
    return " ".join(text.split())


def name_width(name: str) -> float:
    """How wide the name of a node is."""
    return QFontMetricsF(current_theme().font(bold=True)).horizontalAdvance(one_line(name[:LONGEST_NAME]))


def cut(text: str, font: QFont, room: float) -> str:
    """The text on one line, ending in "…" where it would be wider than `room`."""
    return QFontMetricsF(font).elidedText(one_line(text), Qt.TextElideMode.ElideRight, room)


def cut_parts(text: str, font: QFont, room: float) -> str:
    """As many parts of "32 filters 3×3 · ReLU" as fit whole; the first one in any case, cut if need be."""
    parts = one_line(text).split(" · ")
    metrics = QFontMetricsF(font)
    while len(parts) > 1 and metrics.horizontalAdvance(" · ".join(parts)) > room:
        parts.pop()
    return cut(" · ".join(parts), font, room)


def in_lines(text: str, size: int, least: int, room: float, height: float) -> tuple[int, tuple[str, ...]]:
    """A name in one line or two, bold, and the size of its letters: at most `size`, as large as fits.

    It breaks at a blank or behind a hyphen. Below the size `least` it is cut instead.
    """
    theme = current_theme()
    plain = one_line(text[:LONGEST_NAME])
    ways: list[tuple[str, ...]] = [(plain,)]
    ways += [
        (plain[: at.start()] + at[0].strip(), plain[at.end() :]) for at in re.finditer(r" |-(?=\S)", plain)
    ]
    best: tuple[int, tuple[str, ...]] = (0, ())
    for lines in ways:
        fits = min(size, int(height / len(lines) - LEADING))
        while fits >= max(least, best[0] + 1):
            metrics = QFontMetricsF(theme.font(fits, bold=True))
            if max(map(metrics.horizontalAdvance, lines)) <= room:
                best = fits, lines
                break
            fits -= 1
    return best if best[0] else (least, (cut(text, theme.font(least, bold=True), room),))
