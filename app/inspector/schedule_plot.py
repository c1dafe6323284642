"""A small plot of a learning-rate schedule: the rate from the first epoch to the last."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import SMALL, Theme, current_theme, themes
from engine.catalogue.training.schedules import factor_of, make_schedule
from engine.document.plan import Choice
from engine.errors import ParamError

POINTS = 240
STEPS_PER_EPOCH = 64  # for the plot; a run has its own, and the curve hardly depends on them
MOST_EPOCHS = 1_000  # drawn of longer runs
HEIGHT = 76


class SchedulePlot(QWidget):
    """Hidden for a rate that stays the same, and for one that depends on what training brings."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("schedulePlot")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.factors: tuple[float, ...] = ()
        self._rate = 0.0
        self._epochs = 1
        self._shown: tuple[object, ...] = ()
        self.hide()
        themes.theme_changed.connect(self._restyle)

    def show_schedule(self, schedule: Choice, rate: object, epochs: int) -> None:
        """Draws the learning rate `rate` under a schedule over so many epochs."""
        known = (schedule, rate, epochs)
        if known == self._shown:
            return
        self._shown = known
        self._epochs = min(epochs, MOST_EPOCHS)
        self._rate = float(rate) if isinstance(rate, (int, float)) and not isinstance(rate, bool) else 0.0
        self.factors = curve(schedule, self._epochs)
        self.setVisible(bool(self.factors))
        if self.factors:
            first, last = (self._rate * self.factors[at] for at in (0, -1))
            name = f"Learning rate from {first:.3g} at the start to {last:.3g} after {self._epochs:,} epochs"
            self.setAccessibleName(name)
            self.setToolTip(name)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.factors:
            return
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(1, 18, -1, -18)
        top = max(self.factors) or 1.0
        painter.setPen(QPen(theme.line, 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        last = len(self.factors) - 1
        points = QPolygonF(
            [
                QPointF(area.left() + area.width() * at / last, area.bottom() - area.height() * value / top)
                for at, value in enumerate(self.factors)
            ]
        )
        painter.setPen(QPen(theme.accent, 1.5))
        painter.drawPolyline(points)
        self._paint_words(painter, theme, top)

    def _paint_words(self, painter: QPainter, theme: Theme, top: float) -> None:
        painter.setPen(theme.dim)
        painter.setFont(theme.font(SMALL))
        words = QRectF(self.rect()).adjusted(1, 0, -1, 0)
        align = Qt.AlignmentFlag
        painter.drawText(
            words, align.AlignTop | align.AlignLeft, f"learning rate up to {self._rate * top:.3g}"
        )
        painter.drawText(words, align.AlignBottom | align.AlignLeft, "0")
        epochs = f"{self._epochs:,} epoch{'s' if self._epochs != 1 else ''}"
        painter.drawText(words, align.AlignBottom | align.AlignRight, epochs)

    def _restyle(self, _theme: Theme) -> None:
        self.update()


def curve(schedule: Choice, epochs: int) -> tuple[float, ...]:
    """The factor on the learning rate at evenly spaced steps; nothing where there is nothing to draw."""
    try:
        made = make_schedule(schedule)
    except ParamError:
        return ()
    if made.code() is None:
        return ()
    last = epochs * STEPS_PER_EPOCH - 1
    factor = factor_of(made, STEPS_PER_EPOCH, epochs)
    return tuple(factor(round(last * at / (POINTS - 1))) for at in range(POINTS))
