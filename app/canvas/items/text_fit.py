"""Cutting text to the room it has."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF


def one_line(text: str) -> str:
    """The text without line breaks and doubled spaces."""
    return " ".join(text.split())


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
