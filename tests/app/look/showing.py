"""For tests of views: give one arrays that nobody computed, and look at what it paints."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget

from engine.feed.feed import Probe, Snapshot


def snapshot(array: object, **facts: object) -> Snapshot:
    """A view of step 1."""
    return Snapshot(1, 1, np.asarray(array), facts)


def painted(widget: QWidget, width: int = 300, height: int = 200) -> NDArray[np.uint8]:
    """What a widget paints, `(height, width, 3)` of red, green, blue."""
    widget.resize(width, height)
    widget.show()
    QApplication.processEvents()
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


def shown(view: object, found: Mapping[Probe, Snapshot]) -> None:
    """Draw snapshots in a view."""
    view.draw(found)  # type: ignore[attr-defined]
    QApplication.processEvents()
