"""What is painted as an SVG file: lines stay lines, words stay words, and any text leaves it well-formed."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import QBuffer, QPoint, QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator

_DOTS = 96  # an inch
# Letters that a name may hold and XML may not; Qt writes them as they are.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def svg_of(size: QSize, title: str, description: str, paint: Callable[[QPainter], None]) -> bytes:
    """The file of an image of that size, painted by `paint`."""
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    generator.setViewBox(QRect(QPoint(0, 0), size))
    generator.setResolution(_DOTS)
    generator.setTitle(title)
    generator.setDescription(description)
    painter = QPainter(generator)
    paint(painter)
    painter.end()
    buffer.close()
    text = bytes(buffer.data().data()).decode("utf-8", "replace")
    return _NOT_XML.sub("\ufffd", text).encode()
