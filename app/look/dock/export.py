"""A card as a file: what it paints as PNG or SVG, its numbers as comma-separated values."""

from __future__ import annotations

import csv
import io
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QRegion
from PySide6.QtWidgets import QWidget

from app.look.dock.card import ViewCard
from app.look.dock.states import name_of, step_words
from app.theme import SMALL, current_theme
from app.widgets.vector import svg_of
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
    _paint(card, size, painter)
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
    title = f"{card.kind.title}, {name_of(card.subject)}"
    return svg_of(size, title, "", partial(_paint, card, size))


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


def _paint(card: ViewCard, size: QSize, painter: QPainter) -> None:
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
