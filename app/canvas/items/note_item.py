"""A note on the canvas: Markdown as it reads, on a plain sheet."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QPainter,
    QPalette,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from app.canvas.items.detail import Detail
from app.canvas.items.geometry import Point
from app.theme import current_theme
from app.widgets.text_view import Sheet
from engine.document.dressing import Note

NOTE_Z = -1.0
PADDING = 10.0
CORNER = 14.0  # the part of the lower right corner by which a note is resized
RADIUS = 6.0
READ = 0.3  # below this zoom the text is a blur and left out
PLACEHOLDER = "*Double-click to write a note*"


class NoteItem(QGraphicsItem):
    """Shows a Note; its place is the item's position."""

    def __init__(self, note: Note, detail: Detail) -> None:
        super().__init__()
        self.note = note
        self.selected = False
        self.size = note.size
        self._detail = detail
        self._sheet: Sheet | None = None
        self.setZValue(NOTE_Z)
        self.setPos(*note.position)

    def show_note(self, note: Note) -> None:
        """Shows what the document has."""
        if note.text != self.note.text:
            self._sheet = None
            self.update()
        self.note = note
        self.show_size(note.size)
        self.setPos(*note.position)

    def show_size(self, size: Point) -> None:
        """Shows another size, until the next change of the document."""
        if size != self.size:
            self.prepareGeometryChange()
            self.size = size
            self._sheet = None

    def show_selected(self, selected: bool) -> None:
        if selected != self.selected:
            self.selected = selected
            self.update()

    def rect(self) -> QRectF:
        """The sheet in scene coordinates."""
        return QRectF(self.pos(), QPointF(self.x() + self.size[0], self.y() + self.size[1]))

    def on_corner(self, point: QPointF) -> bool:
        """Whether a scene point is on the corner that resizes."""
        away = self.rect().bottomRight() - point
        return 0 <= away.x() <= CORNER and 0 <= away.y() <= CORNER

    def boundingRect(self) -> QRectF:
        return QRectF(-2, -2, self.size[0] + 4, self.size[1] + 4)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        theme = current_theme()
        zoom = option.levelOfDetailFromTransform(painter.worldTransform())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, zoom >= self._detail.plates_below)
        pen = QPen(theme.accent if self.selected else theme.line, 1.5 if self.selected else 1.0)
        painter.setPen(pen)
        painter.setBrush(theme.panel)
        sheet = QRectF(0.5, 0.5, self.size[0] - 1, self.size[1] - 1)
        painter.drawRoundedRect(sheet, RADIUS, RADIUS)
        if zoom >= READ:
            self._paint_text(painter)
        if self.selected:
            corner = QPointF(self.size[0] - 3, self.size[1] - 3)
            painter.setPen(QPen(theme.accent, 1.5))
            painter.drawPolyline(QPolygonF([corner + QPointF(-8, 0), corner, corner + QPointF(0, -8)]))

    def _paint_text(self, painter: QPainter) -> None:
        theme = current_theme()
        if self._sheet is None:
            self._sheet = Sheet()
            self._sheet.setDocumentMargin(0)
            self._sheet.setDefaultFont(theme.font())
            self._sheet.show_markdown(self.note.text or PLACEHOLDER)
            self._sheet.setTextWidth(max(1.0, self.size[0] - 2 * PADDING))
        painter.save()
        painter.translate(PADDING, PADDING)
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = QRectF(0, 0, self.size[0] - 2 * PADDING, self.size[1] - 2 * PADDING)
        palette = QPalette()
        palette.setColor(QPalette.ColorRole.Text, QColor(theme.text if self.note.text else theme.hint))
        palette.setColor(QPalette.ColorRole.Link, theme.accent)
        context.palette = palette
        painter.setClipRect(context.clip)
        self._sheet.documentLayout().draw(painter, context)
        painter.restore()

    def restyle(self) -> None:
        """The theme, and so the fonts, may have changed."""
        self._sheet = None
        self.update()
