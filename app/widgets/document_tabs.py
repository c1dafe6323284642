"""The strip of open documents: hidden while there is one, with a mark for what is unsaved and what trains."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QTabBar, QWidget

from app.theme import BODY, current_theme, themes
from app.widgets.icons import pixmap
from app.widgets.labels import plain

HEIGHT = 32
WIDEST = 220
NARROWEST = 96
_PADDING = 14
_CLOSE = 16
# What a mark says to those who don't see its colour.
MARKS = {
    "": "",
    "training": "training",
    "done": "training finished",
    "failed": "training failed",
    "told": "a message waits",
}


@dataclass(frozen=True)
class TabFace:
    """What a tab shows: the document's name, where it is, whether it is saved, and a key of MARKS."""

    name: str
    place: str = ""
    unsaved: bool = False
    mark: str = ""


class DocumentTabs(QTabBar):
    """Tabs that can be dragged into another order. A middle click or the cross asks to close one."""

    close_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("documentTabs")
        self.setAccessibleName("Open documents")
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setMovable(True)
        self.setUsesScrollButtons(True)
        self.setElideMode(Qt.TextElideMode.ElideMiddle)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)
        self._faces: list[TabFace] = []
        self._over: QPoint | None = None
        self._pressed = -1
        self.tabMoved.connect(self._moved)
        themes.theme_changed.connect(self._repaint)
        self.hide()

    def add(self, face: TabFace) -> int:
        """Adds a tab at the right; returns its place."""
        self._faces.append(face)
        index = self.addTab(face.name)
        self._tell(index)
        self.setVisible(self.count() > 1)
        return index

    def drop(self, index: int) -> None:
        """Takes a tab away."""
        del self._faces[index]
        self.removeTab(index)
        self.setVisible(self.count() > 1)

    def show_face(self, index: int, face: TabFace) -> None:
        """Shows another name or mark on a tab."""
        if self._faces[index] != face:
            self._faces[index] = face
            self.setTabText(index, face.name)
            self._tell(index)
            self.update()

    def face(self, index: int) -> TabFace:
        """What a tab shows."""
        return self._faces[index]

    def close_rect(self, index: int) -> QRect:
        """Where the cross of a tab is."""
        rect = self.tabRect(index)
        top = rect.center().y() - _CLOSE // 2 + 1
        return QRect(rect.right() - _CLOSE - 7, top, _CLOSE, _CLOSE)

    def _tell(self, index: int) -> None:
        face = self._faces[index]
        state = ", ".join(filter(None, ("unsaved changes" if face.unsaved else "", MARKS[face.mark])))
        self.setTabToolTip(index, plain("\n".join(filter(None, (face.place or face.name, state)))))
        self.setAccessibleTabName(index, f"{face.name}, {state}" if state else face.name)

    def _moved(self, source: int, target: int) -> None:
        self._faces.insert(target, self._faces.pop(source))

    # -- sizes and events -------------------------------------------------------------------------

    def tabSizeHint(self, index: int) -> QSize:
        metrics = QFontMetrics(current_theme().font(BODY))
        wanted = metrics.horizontalAdvance(self.tabText(index)) + 2 * _PADDING + 12 + _CLOSE
        return QSize(max(NARROWEST, min(WIDEST, wanted)), HEIGHT)

    def minimumTabSizeHint(self, index: int) -> QSize:
        return QSize(NARROWEST, HEIGHT)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        index = self.tabAt(place)
        middle = event.button() == Qt.MouseButton.MiddleButton
        on_cross = event.button() == Qt.MouseButton.LeftButton and self._on_cross(index, place)
        self._pressed = index if middle or on_cross else -1
        if self._pressed < 0:
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, -1
        if pressed < 0:
            super().mouseReleaseEvent(event)
            return
        place = event.position().toPoint()
        middle = event.button() == Qt.MouseButton.MiddleButton
        if self.tabAt(place) == pressed and (middle or self._on_cross(pressed, place)):
            self.close_wanted.emit(pressed)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._over = event.position().toPoint()
        self.update()
        if self._pressed < 0:
            super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._over = None
        self.update()
        super().leaveEvent(event)

    def _on_cross(self, index: int, place: QPoint) -> bool:
        return index >= 0 and self.close_rect(index).contains(place)

    # -- painting ---------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for index in range(self.count()):
            self._paint_tab(painter, index)
        painter.end()

    def _paint_tab(self, painter: QPainter, index: int) -> None:
        theme, rect, face = current_theme(), self.tabRect(index), self._faces[index]
        current = index == self.currentIndex()
        hovered = self._over is not None and rect.contains(self._over)
        if current:
            painter.fillRect(rect, theme.panel)
            painter.fillRect(QRect(rect.left(), rect.top(), rect.width(), 2), theme.accent)
        painter.fillRect(QRect(rect.right(), rect.top() + 8, 1, rect.height() - 16), theme.line)
        left = rect.left() + _PADDING
        colour = self._mark_colour(face.mark)
        if colour is not None:
            _dot(painter, QRectF(left, rect.center().y() - 2, 6, 6), colour)
            left += 12
        painter.setFont(theme.font(BODY))
        painter.setPen(theme.text if current or hovered else theme.dim)
        cross = self.close_rect(index)
        inner = QRect(left, rect.top(), cross.left() - left - 4, rect.height())
        text = painter.fontMetrics().elidedText(face.name, Qt.TextElideMode.ElideMiddle, inner.width())
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        self._paint_end(painter, index, hovered, face.unsaved)
        if current and self.hasFocus():
            painter.setPen(theme.accent)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(3, 5, -4, -4), 4, 4)

    def _paint_end(self, painter: QPainter, index: int, hovered: bool, unsaved: bool) -> None:
        """A cross where the pointer is, otherwise the dot of unsaved changes."""
        theme, cross = current_theme(), self.close_rect(index)
        if hovered:
            if self._over is not None and cross.contains(self._over):
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.hover)
                painter.drawRoundedRect(cross, 4, 4)
            painter.drawPixmap(cross.adjusted(3, 3, -3, -3), pixmap("close", theme.dim, 10))
        elif unsaved:
            _dot(painter, QRectF(cross.center().x() - 2, cross.center().y() - 2, 6, 6), theme.warning)

    def _mark_colour(self, mark: str) -> QColor | None:
        theme = current_theme()
        colours = {"training": theme.accent, "done": theme.good, "failed": theme.bad, "told": theme.warning}
        return colours.get(mark)

    def _repaint(self, _theme: object) -> None:
        self.update()


def _dot(painter: QPainter, rect: QRectF, colour: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawEllipse(rect)
