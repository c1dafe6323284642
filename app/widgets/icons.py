"""Icons drawn from the SVG files in `resources/icons`, tinted to the theme."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.theme import current_theme

_SCALE = 2


def icon(name: str, colour: QColor | None = None, size: int = 16) -> QIcon:
    """The icon `name` in `colour` (the theme's text colour by default), greyed when disabled."""
    theme = current_theme()
    drawn = QIcon(pixmap(name, colour or theme.text, size))
    drawn.addPixmap(pixmap(name, theme.faint, size), QIcon.Mode.Disabled)
    return drawn


def pixmap(name: str, colour: QColor, size: int = 16) -> QPixmap:
    """The icon `name` as a pixmap of `size` points, sharp on dense screens too."""
    return _render(name, colour.name(), size)


def app_icon() -> QIcon:
    """The icon of the application itself."""
    return QIcon(_render("neuroloom", "#000000", 64))


@cache
def _render(name: str, colour: str, size: int) -> QPixmap:
    text = files("resources").joinpath("icons", f"{name}.svg").read_text(encoding="utf-8")
    renderer = QSvgRenderer(QByteArray(text.replace("currentColor", colour).encode()))
    drawn = QPixmap(size * _SCALE, size * _SCALE)
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    renderer.render(painter, QRectF(0, 0, size * _SCALE, size * _SCALE))
    painter.end()
    drawn.setDevicePixelRatio(_SCALE)
    return drawn
