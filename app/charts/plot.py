"""Base of the plots that are painted by hand."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.theme import SMALL, Theme, current_theme, themes
from app.widgets.labels import plain


class Plot(QWidget):
    """Shows an image that is built only when it is both out of date and on screen, or a message in its place.

    A subclass overrides `build` (the image, in device pixels), `decorate` (what is painted over it at each
    paint) and `describe` (the tool tip at a point); it calls `changed` after new data.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._image: QImage | None = None
        self._stale = True
        self._message = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        themes.theme_changed.connect(self._theme_changed)

    @property
    def message(self) -> str:
        """What stands in place of the plot; empty while there is a plot."""
        return self._message

    def say(self, message: str) -> None:
        """Show a sentence instead of the plot."""
        if message != self._message:
            self._message = message
            self.changed()

    def changed(self) -> None:
        """Build the image again at the next paint."""
        self._stale = True
        self.update()

    def build(self, width: int, height: int, ratio: float) -> QImage | None:
        """The image for `width` by `height` device pixels; `ratio` of them make one logical pixel."""
        return None

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        """Paint what lies over the image, in logical pixels."""

    def describe(self, at: QPoint) -> str:
        """The tool tip at a point; empty for none."""
        return ""

    def sizeHint(self) -> QSize:
        return QSize(240, 120)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 40)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        try:
            self._paint(painter, current_theme())
        finally:
            painter.end()  # a painter that outlives its event, in a traceback, ends the process

    def _paint(self, painter: QPainter, theme: Theme) -> None:
        if self._message:
            painter.setPen(theme.dim)
            painter.setFont(theme.font(SMALL))
            painter.drawText(
                self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._message
            )
            return
        if self._stale:
            ratio = self.devicePixelRatioF()
            self._image = self.build(int(self.width() * ratio), int(self.height() * ratio), ratio)
            if self._image is not None:
                self._image.setDevicePixelRatio(ratio)
            self._stale = False
        if self._image is not None:
            painter.drawImage(self.image_origin(), self._image)
        self.decorate(painter, theme)

    def image_origin(self) -> QPoint:
        """Where the image's upper left corner stands."""
        return QPoint(0, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.changed()
        super().resizeEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = "" if self._message else self.describe(event.pos())
            if text:
                QToolTip.showText(event.globalPos(), plain(text), self, QRect(event.pos(), QSize(1, 1)))
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def _theme_changed(self, theme: Theme) -> None:
        self.changed()


def number(value: float) -> str:
    """A value in at most six characters or so: `0.413`, `12.3`, `1.2e-05`, `not a number`."""
    if value != value:
        return "not a number"
    if value in (float("inf"), float("-inf")):
        return "infinite"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e5 or size < 1e-3:
        return f"{value:.1e}"
    if size >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def numbers(values: Iterable[float]) -> list[str]:
    """Values in a column, with equally many decimals where they have room: `0.820`, `0.876`."""
    found = list(values)
    each = [number(value) for value in found]
    finite = [value for value in found if isfinite(value)]
    decimals = max((len(text.partition(".")[2]) for text in each), default=0)
    room = max((len(f"{value:.{decimals}f}") for value in finite), default=0)
    if room > _ROOM or any("e-" in text or "," in text for text in each):
        return each
    return [f"{value:.{decimals}f}" if isfinite(value) else number(value) for value in found]


_ROOM = 7  # characters of a number in a column: `-12.345`


def figures(value: float) -> str:
    """A score or loss with four decimals as long as they say something: `0.9907`, `3.1e-05`."""
    return f"{value:.4f}" if value == 0 or 5e-4 <= abs(value) < 100 else number(value)


SMALLEST_FRACTION = 1e-5


def percent(fraction: float) -> str:
    """A fraction of 1 as `0 %`, `0.13 %`, `50 %`; one below a thousandth of a per cent as `<0.001 %`."""
    if 0 < fraction < SMALLEST_FRACTION:
        return "<0.001 %"
    return f"{fraction * 100:.3g} %" if fraction < 0.995 else f"{fraction * 100:.4g} %"


def percents(fractions: Iterable[float]) -> list[str]:
    """Fractions of 1 in a column, with equally many decimals: `0.16 %`, `99.84 %`; `0.3 %`, `48.0 %`.

    One, two where one of them is closer to nothing or to all than that tells, none of whole per cents.
    """
    found = list(fractions)
    inside = [value for value in found if 0 < value < 1]
    if all(abs(value * 100 - round(value * 100)) < 1e-9 for value in found if isfinite(value)):
        decimals = 0
    else:
        decimals = 2 if any(min(value, 1 - value) < 0.0095 for value in inside) else 1
    least = 10.0**-decimals  # per cent
    texts = []
    for value in found:
        if not isfinite(value):
            texts.append(number(value))
        elif 0 < value * 100 < least / 2:
            texts.append(f"<{least:.{decimals}f} %")
        elif least / 2 > (1 - value) * 100 > 0:
            texts.append(f">{100 - least:.{decimals}f} %")
        else:
            texts.append(f"{value * 100:.{decimals}f} %")
    return texts


def colour_of(theme: Theme, role: str) -> QColor:
    """The theme's colour of a role such as "accent", or of a node family such as "convolution"."""
    return QColor(getattr(theme, role)) if hasattr(theme, role) else QColor(theme.family(role))
