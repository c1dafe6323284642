"""The row of tabs below the canvas: semibold and underlined when current, with a count where one belongs."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QTabBar, QWidget

from app.theme import BODY, SMALL, current_theme, themes

_HEIGHT = 30
_PADDING = 16


class CountingTabBar(QTabBar):
    """Tabs that keep their width when selected, and can carry a count such as "3" in a colour."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._counts: dict[int, tuple[int, str]] = {}
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setElideMode(Qt.TextElideMode.ElideNone)
        themes.theme_changed.connect(self._repaint)

    def set_count(self, index: int, count: int, severity: str = "warning") -> None:
        """Shows `count` beside the tab's name, in the colour of "error" or "warning"; 0 shows nothing."""
        if self._counts.get(index, (0, "")) != (count, severity):
            self._counts[index] = (count, severity)
            # The layout of tabs is only recomputed when a text is set.
            self.setTabText(index, self.tabText(index))
            self.update()

    def count_of(self, index: int) -> int:
        """The count shown at a tab."""
        return self._counts.get(index, (0, ""))[0]

    def tabSizeHint(self, index: int) -> QSize:
        theme = current_theme()
        width = (
            QFontMetrics(theme.font(BODY, bold=True)).horizontalAdvance(self.tabText(index)) + 2 * _PADDING
        )
        if self.count_of(index):
            width += self._pill_width(index) + 6
        return QSize(width, _HEIGHT)

    def minimumTabSizeHint(self, index: int) -> QSize:
        return self.tabSizeHint(index)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for index in range(self.count()):
            rect = self.tabRect(index)
            current = index == self.currentIndex()
            hovered = rect.contains(self.mapFromGlobal(self.cursor().pos())) and self.underMouse()
            painter.setFont(theme.font(BODY, bold=current))
            painter.setPen(theme.text if current or hovered else theme.dim)
            inner = rect.adjusted(_PADDING, 0, 0, 0)
            painter.drawText(
                inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.tabText(index)
            )
            if self.count_of(index):
                self._paint_pill(painter, index, rect)
            if current:
                painter.fillRect(
                    QRect(rect.left() + 8, rect.bottom() - 1, rect.width() - 16, 2), theme.accent
                )
                if self.hasFocus():
                    painter.setPen(theme.accent)
                    painter.drawRoundedRect(rect.adjusted(4, 3, -4, -5), 4, 4)
        painter.end()

    def _paint_pill(self, painter: QPainter, index: int, rect: QRect) -> None:
        theme = current_theme()
        count, severity = self._counts[index]
        width = self._pill_width(index)
        pill = QRect(rect.right() - _PADDING - width + 1, rect.center().y() - 7, width, 16)
        colour = QColor(theme.bad if severity == "error" else theme.warning)
        wash = QColor(colour)
        wash.setAlphaF(0.18)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(wash)
        painter.drawRoundedRect(pill, 8, 8)
        painter.setPen(theme.bad_text if severity == "error" else theme.warning_text)
        painter.setFont(theme.font(SMALL, bold=True))
        painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, _short(count))

    def _pill_width(self, index: int) -> int:
        return max(18, self.fontMetrics().horizontalAdvance(_short(self.count_of(index))) + 10)

    def _repaint(self, _theme: object) -> None:
        self.update()


def _short(count: int) -> str:
    return "99+" if count > 99 else str(count)
