"""A small button beside curves: how they are smoothed, and what the y axis is fitted to."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QEnterEvent, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QMenu, QSizePolicy, QWidget

from app.theme import SMALL, current_theme

MEAN, RAW = "mean", "raw"
WEIGHTS = {"0.6": 0.6, "0.9": 0.9, "0.99": 0.99, "0.999": 0.999}
_TITLES = {
    MEAN: "Mean over a sixteenth of the run",
    **{key: f"Moving average, weight {key}" for key in WEIGHTS},
    RAW: "None: every batch",
}
HEIGHT, PAD, ARROW = 20, 7, 12
_WORDS = {MEAN: "mean", RAW: "raw", **{key: f"avg {key.removeprefix('0')}" for key in WEIGHTS}}


class CurveOptions(QAbstractButton):
    """Says how curves are smoothed; a click offers other ways."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._key = MEAN
        self._menu = QMenu(self)
        self._ways = QActionGroup(self._menu)
        self._menu.addSection("Smoothing")
        for key, title in _TITLES.items():
            action = self._menu.addAction(title)
            action.setData(key)
            action.setCheckable(True)
            action.setChecked(key == MEAN)
            self._ways.addAction(action)
        self._menu.addSeparator()
        self._newest = self._menu.addAction("Fit the y axis to the newest fifth")
        self._newest.setCheckable(True)
        self._menu.triggered.connect(self._triggered)
        self.clicked.connect(self.open)
        self._describe()

    @property
    def weight(self) -> float | None:
        """For `CurvePlot.set_smoothing`: None for a mean, 0 for no smoothing."""
        return None if self._key == MEAN else WEIGHTS.get(self._key, 0.0)

    @property
    def newest(self) -> bool:
        """Whether y is fitted to the newest part alone."""
        return self._newest.isChecked()

    @property
    def menu_of_ways(self) -> QMenu:
        """What a click opens."""
        return self._menu

    def open(self) -> None:
        """Offer the ways below the button."""
        self._menu.popup(self.mapToGlobal(self.rect().bottomLeft()))

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(current_theme().font(SMALL))
        return QSize(metrics.horizontalAdvance(self.text()) + 2 * PAD + ARROW, HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.underMouse() or self.hasFocus():
            painter.setPen(theme.accent if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(theme.hover)
            painter.drawRoundedRect(self.rect().adjusted(0, 1, -1, -2), 5, 5)
        font = theme.font(SMALL)
        painter.setFont(font)
        painter.setPen(theme.text if self.underMouse() else theme.dim)
        text = QRectF(PAD, 0, self.width() - 2 * PAD, HEIGHT)
        painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, self.text())
        right, middle = PAD + QFontMetrics(font).horizontalAdvance(self.text()) + ARROW, HEIGHT / 2
        painter.setPen(QPen(theme.dim, 1.2))
        painter.drawPolyline(
            [
                QPointF(right - 7, middle - 1.5),
                QPointF(right - 4, middle + 1.5),
                QPointF(right - 1, middle - 1.5),
            ]
        )

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self.update()

    def _triggered(self, action: QAction) -> None:
        if action is not self._newest:
            self._key = str(action.data())
        self._describe()
        self.changed.emit()

    def _describe(self) -> None:
        self.setText(_WORDS[self._key])
        self.updateGeometry()
        fitted = "the newest fifth" if self.newest else "the whole run"
        self.setToolTip(f"Smoothing: {_TITLES[self._key].lower()}\nThe y axis fits {fitted}")
