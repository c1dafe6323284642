"""Pens of plain lines, made once: from afar a repaint draws thousands of them."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtGui import QColor, QPen


@lru_cache(maxsize=64)
def cosmetic_pen(rgba: int, width: float) -> QPen:
    """A pen that is `width` screen pixels wide at any zoom; not to be changed."""
    pen = QPen(QColor.fromRgba(rgba), width)
    pen.setCosmetic(True)
    return pen
