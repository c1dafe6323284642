"""A card as a file: what it paints as PNG or SVG, its numbers as comma-separated values."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from PySide6.QtCore import QBuffer, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QRegion
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from app.look.dock.card import ViewCard
from app.look.dock.states import name_of, step_words
from app.theme import SMALL, current_theme
from engine.document.files import write_atomically
from engine.errors import ProjectFileError

SCALE = 2  # of PNG files and of what is copied
_PAD = 12
_HEAD = 40


def view_image(card: ViewCard) -> QImage:
    """The view with its title, twice as fine as on screen."""
    size = _size(card)
    image = QImage(size * SCALE, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(SCALE)
    painter = QPainter(image)
    _paint(card, painter, size)
    painter.end()
    return image


def save_image(card: ViewCard, path: Path) -> None:
    """Writes an SVG file or, with another suffix, an image. Errors: `ProjectFileError`."""
    if path.suffix.casefold() == ".svg":
        write_atomically(path, svg(card))
        return
    if not view_image(card).save(str(path)):
        raise ProjectFileError(f"{path.name} could not be written.")


def svg(card: ViewCard) -> bytes:
    """The view with its title as vectors: lines stay lines, words stay words."""
    size = _size(card)
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    generator.setViewBox(QRect(QPoint(0, 0), size))
    generator.setResolution(96)
    generator.setTitle(f"{card.kind.title}, {name_of(card.subject)}")
    painter = QPainter(generator)
    _paint(card, painter, size)
    painter.end()
    buffer.close()
    return bytes(buffer.data().data())


def save_table(card: ViewCard, path: Path) -> bool:
    """Writes the numbers that are drawn; False where there are none. Errors: `ProjectFileError`."""
    table = card.pane.view.table()
    if table is None:
        return False
    header, rows = table
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_atomically(path, text.getvalue().encode("utf-8"))
    return True


def file_stem(card: ViewCard) -> str:
    """A name for a file: `conv1-activations`."""
    words = f"{name_of(card.subject)} {card.kind.title}".casefold()
    return "-".join("".join(letter if letter.isalnum() else " " for letter in words).split()) or "view"


def _size(card: ViewCard) -> QSize:
    shown = card.pane.view.rect()
    return QSize(shown.width() + 2 * _PAD, shown.height() + _HEAD + 2 * _PAD)


def _paint(card: ViewCard, painter: QPainter, size: QSize) -> None:
    theme = current_theme()
    view: QWidget = card.pane.view
    painter.fillRect(QRect(QPoint(0, 0), size), theme.panel)
    wide = size.width() - 2 * _PAD
    lines = (
        (theme.font(bold=True), theme.text, _PAD - 4, f"{card.kind.title} · {name_of(card.subject)}"),
        (theme.font(SMALL), theme.dim, _PAD + 15, " · ".join(filter(None, _facts(card)))),
    )
    for font, colour, top, words in lines:
        painter.setFont(font)
        painter.setPen(colour)
        shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, wide)
        painter.drawText(QRectF(_PAD, top, wide, 18), Qt.AlignmentFlag.AlignVCenter, shown)
    view.render(painter, QPoint(_PAD, _PAD + _HEAD - 4), QRegion(), QWidget.RenderFlag.DrawChildren)


def _facts(card: ViewCard) -> tuple[str, str]:
    return step_words(card.pane.drawn) if card.pane.drawn else "", card.pane.view.note
