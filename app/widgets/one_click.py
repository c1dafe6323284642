"""A button whose meaning changes with a click: the second click of a double click is none."""

from __future__ import annotations

from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QPushButton


class OneClick(QPushButton):
    """Takes a double click as one click, so that it does not begin something and end it at once."""

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()
