"""A small field for a whole number, without arrows: typed, or turned with the wheel and the arrow keys."""

from __future__ import annotations

from PySide6.QtWidgets import QSpinBox


def count_field(name: str, low: int, high: int, value: int, width: int = 96) -> QSpinBox:
    """A field with its object name, its range and what it holds at first."""
    field = QSpinBox()
    field.setObjectName(name)
    # With buttons switched off in place of hidden ones, the style sheet leaves the text no room at all.
    field.setProperty("kind", "plain")
    field.lineEdit().setTextMargins(7, 0, 7, 0)
    field.setRange(low, high)
    field.setValue(value)
    field.setFixedWidth(width)
    return field
