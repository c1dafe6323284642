"""Cutting text to the room it has."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF

from app.theme import current_theme

LONGEST_NAME = 60  # characters, more than any node has room for


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
