"""A few words side by side of which one is chosen: log or linear, step or epoch or time."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolTip, QWidget

from app.theme import SMALL, Theme, current_theme, themes
from app.widgets.labels import plain

PAD = 7
GAP = 2
HEIGHT = 20
MORE = "…"

Option = tuple[str, str, str]  # key, word, tool tip


class Segments(QWidget):
    """One choice among a few words; the arrow keys move it."""

    chosen = Signal(str)

    def __init__(
        self, options: Sequence[Option], parent: QWidget | None = None, *, bold: bool = False
    ) -> None:
        """`options` are (key, word, tool tip)."""
        super().__init__(parent)
        self._bold = bold
        self._options: tuple[Option, ...] = tuple(options)
        self._key = options[0][0] if options else ""
        self._room: int | None = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(", ".join(word for _, word, _ in self._options))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        themes.theme_changed.connect(self._theme_changed)

    @property
    def key(self) -> str:
        """The chosen option."""
        return self._key

    def text(self) -> str:
        """The chosen word."""
        return next((word for key, word, _ in self._options if key == self._key), "")

    def set_options(self, options: Sequence[Option]) -> None:
        """Offer other words; the choice stays where it is still offered, else it is the first."""
        if tuple(options) == self._options:
            return
        self._options = tuple(options)
        if self._key not in [key for key, _, _ in options]:
            self._key = options[0][0] if options else ""
        self.setAccessibleName(", ".join(word for _, word, _ in options))
        self.updateGeometry()
        self.update()

    def set_room(self, room: int) -> None:
        """Fold the words that do not fit into `room` pixels behind a last one, "…", that lists them."""
        if room != self._room:
            self._room = room
            self.updateGeometry()
            self.update()

    @property
    def shown(self) -> tuple[str, ...]:
        """The options that stand there, not those behind "…"."""
        return tuple(key for key, _, _ in self._shown() if key != MORE)

    def choose(self, key: str) -> None:
        """Choose an option as a click does."""
        if key != self._key and key in [known for known, _, _ in self._options]:
            self._key = key
            self.update()
            self.chosen.emit(key)

    def sizeHint(self) -> QSize:
        rects = self._rects()
        return QSize(rects[-1].right() + 1 if rects else 0, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for (key, word, _), rect in zip(self._shown(), self._rects(), strict=True):
            here = key == self._key
            if here and len(self._options) > 1:
                painter.setPen(theme.accent if self.hasFocus() else Qt.PenStyle.NoPen)
                painter.setBrush(theme.hover)
                painter.drawRoundedRect(rect.adjusted(0, 1, -1, -2), 5, 5)
            painter.setFont(theme.font(SMALL + self._bold, bold=self._bold and here))
            painter.setPen(theme.text if here else theme.dim)
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, word)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self._at(event.position().toPoint())
        if event.button() != Qt.MouseButton.LeftButton or index < 0:
            return
        key = self._shown()[index][0]
        if key == MORE:
            self.list_hidden().popup(self.mapToGlobal(self._rects()[index].bottomLeft()))
        else:
            self.choose(key)

    def list_hidden(self) -> QMenu:
        """A menu of the options behind "…"."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        shown = self.shown
        for key, word, _ in self._options:
            if key not in shown:
                menu.addAction(word).setData(key)
        menu.triggered.connect(self._picked)
        return menu

    def _picked(self, action: QAction) -> None:
        self.choose(str(action.data()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        keys = [key for key, _, _ in self._options]
        if step and keys:
            self.choose(keys[(keys.index(self._key) + step) % len(keys)])
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            index = self._at(event.pos())
            if index >= 0:
                QToolTip.showText(event.globalPos(), plain(self._shown()[index][2]), self)
            return True
        return super().event(event)

    def rect_of(self, key: str) -> QRect:
        """Where an option stands, for a pointer."""
        keys = [known for known, _, _ in self._shown()]
        return self._rects()[keys.index(key)]

    def _at(self, point: QPoint) -> int:
        return next((index for index, rect in enumerate(self._rects()) if rect.contains(point)), -1)

    def _widths(self, options: Sequence[Option]) -> list[int]:
        metrics = QFontMetrics(current_theme().font(SMALL + self._bold, bold=self._bold))
        return [metrics.horizontalAdvance(word) + 2 * PAD + GAP for _, word, _ in options]

    def _shown(self) -> tuple[Option, ...]:
        options = self._options
        if self._room is None or sum(self._widths(options)) <= self._room:
            return options
        last = (MORE, "…", "More")
        for count in range(len(options) - 1, 0, -1):
            kept = options[:count]
            if self._key not in [key for key, _, _ in kept]:  # what is chosen is never folded away
                kept = (*kept[:-1], *(option for option in options if option[0] == self._key))
            if sum(self._widths((*kept, last))) <= self._room:
                return (*kept, last)
        return (*(option for option in options if option[0] == self._key), last)

    def _rects(self) -> list[QRect]:
        rects, left = [], 0
        for width in self._widths(self._shown()):
            rects.append(QRect(left, 0, width - GAP, HEIGHT))
            left += width
        return rects

    def _theme_changed(self, theme: Theme) -> None:
        self.updateGeometry()
        self.update()
