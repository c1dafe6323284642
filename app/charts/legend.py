"""The names of curves, each after a short piece of its line."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.charts.plot import colour_of
from app.theme import SMALL, Theme, current_theme, themes
from app.widgets.labels import plain

LINE = 18
GAP = 16
HEIGHT = 20
MORE = 26  # for how many more there are
SHORTEST = 76  # what an entry is shortened to at most


Entry = tuple[str, str, bool | str]


class Legend(QWidget):
    """Entries `(name, role of the theme, whether the curve has points)`, or "dashed" in the last place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[Entry, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        themes.theme_changed.connect(self._theme_changed)

    def show_entries(self, entries: Sequence[Entry]) -> None:
        """Show these names."""
        if tuple(entries) != self._entries:
            self._entries = tuple(entries)
            self.setToolTip(plain("\n".join(name for name, _, _ in entries)))
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(sum(self._widths()), HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font(SMALL))
        x, middle = 0.0, HEIGHT / 2
        widths = self._fitted()
        for (name, role, points), width in zip(self._entries, widths, strict=False):
            colour = colour_of(theme, role)
            pen = QPen(colour, 2)
            if points == "dashed":
                pen.setDashPattern([2, 1.5])
            painter.setPen(pen)
            painter.drawLine(QPointF(x, middle), QPointF(x + LINE, middle))
            if points is True:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colour)
                painter.drawEllipse(QPointF(x + LINE / 2, middle), 3, 3)
            painter.setPen(theme.dim)
            box = QRectF(x + LINE + 6, 0, width, HEIGHT)
            room = int(width - LINE - 6 - GAP) + 1
            shown = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, room)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)
            x += width
        if len(widths) < len(self._entries):  # the tool tip names them all
            box = QRectF(self.width() - MORE, 0, MORE, HEIGHT)
            right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            painter.drawText(box, right, f"+{len(self._entries) - len(widths)}")

    def _fitted(self) -> list[int]:
        """The widths of the entries on show, shortened alike where there is not room for all."""
        wanted = self._widths()
        room = self.width() + GAP + 1
        if sum(wanted) <= room or not wanted:
            return wanted
        count = max(1, min(len(wanted), room // SHORTEST))
        if count < len(wanted):
            room -= MORE
            count = max(1, room // SHORTEST)
        return [min(width, room // count) for width in wanted[:count]]

    def _widths(self) -> list[int]:
        metrics = QFontMetrics(current_theme().font(SMALL))
        return [LINE + 6 + metrics.horizontalAdvance(name) + GAP for name, _, _ in self._entries]

    def _theme_changed(self, theme: Theme) -> None:
        self.update()
