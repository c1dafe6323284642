"""Examples as points in the plane, coloured and shaped by their class, with the one under the pointer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QMouseEvent, QPainter, QPen

from app.charts.class_marks import class_colour, class_shape, paint_marks, shape_path
from app.charts.colourmaps import GREY, VIRIDIS, limits, opaque, shade, to_image
from app.charts.plane import RIGHT, Plane, around
from app.charts.plot import number
from app.charts.scale import WIDTH, ends, paint_scale
from app.theme import SMALL, Theme, current_theme

NEAR = 9.0  # pixels
ROW = 16
LOWEST_LEGEND = 260  # narrower plots say the classes at the pointer only


class Scatter(Plane):
    """Points `(n, 2)` with labels `(n,)`: class numbers where `classes` has names, else plain numbers."""

    def __init__(self) -> None:
        super().__init__()
        self._points: NDArray[np.floating] = np.empty((0, 2))
        self._labels: NDArray[np.floating] = np.empty(0)
        self._classes: tuple[str, ...] = ()
        self._noun = ""
        self._range = (0.0, 1.0)
        self._examples: NDArray[np.generic] | None = None
        self._hovered = -1
        self.setMouseTracking(True)

    def show_points(
        self,
        points: NDArray[np.floating],
        labels: NDArray[np.floating],
        classes: Sequence[str],
        noun: str,
        names: tuple[str, str],
    ) -> None:
        """Show other points; `noun` says what the labels are, `names` what the axes are."""
        self._points, self._labels, self._classes, self._noun = points, labels, tuple(classes), noun
        self._range = limits(labels)
        self.right = self._room()
        self.set_axes(around(points[:, 0]), around(points[:, 1]), names)

    def show_examples(self, examples: NDArray[np.generic] | None) -> None:
        """What the examples are: images `(n, h, w)`, `(n, h, w, 3)` uint8 or measurements `(n, k)`."""
        self._examples = examples
        self.update()

    @property
    def points(self) -> NDArray[np.floating]:
        """What is on screen."""
        return self._points

    @property
    def labels(self) -> NDArray[np.floating]:
        """The label of each point, NaN where there is none."""
        return self._labels

    @property
    def hovered(self) -> int:
        """The point under the pointer, -1 for none."""
        return self._hovered

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if not len(self._points):
            return
        self.right = self._room()
        self.paint_axes(painter, theme)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        places = self.places(self._points[:, 0], self._points[:, 1])
        size = 6.0 if self.area().width() < 400 else 9.0
        if self._classes:
            for index in range(len(self._classes)):
                points = places[self._labels == index].tolist()
                paint_marks(painter, theme, points, index, size)
            self._paint_legend(painter, theme)
        else:
            self._paint_values(painter, theme, places, size)
        unknown = np.isnan(self._labels)
        if unknown.any():
            painter.setBrush(theme.accent)
            painter.setPen(QPen(theme.panel, 0.8))
            for x, y in places[unknown].tolist():
                painter.drawEllipse(QPointF(x, y), size / 2, size / 2)
        if 0 <= self._hovered < len(places):
            self._paint_hovered(painter, theme, places[self._hovered])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(event.position())

    def leaveEvent(self, event: QEvent) -> None:
        self._set_hovered(-1)

    def words(self, index: int) -> str:
        """What a point is: its number and its label."""
        label = float(self._labels[index])
        text = f"example {index + 1:,}"
        if label != label:
            return text
        if self._classes:
            named = self._classes[int(label)] if 0 <= label < len(self._classes) else f"{label:g}"
            return f"{text} · {self._noun} {named}"
        return f"{text} · {self._noun} {number(label)}"

    def _hover(self, at: QPointF) -> None:
        if not len(self._points):
            return
        places = self.places(self._points[:, 0], self._points[:, 1])
        away = np.hypot(places[:, 0] - at.x(), places[:, 1] - at.y())
        nearest = int(away.argmin())
        self._set_hovered(nearest if away[nearest] <= NEAR else -1)

    def _set_hovered(self, index: int) -> None:
        if index != self._hovered:
            self._hovered = index
            self.update()

    def _room(self) -> int:
        """What stands to the right of the plot: the legend, or the scale of the numbers."""
        if self.width() < LOWEST_LEGEND or not len(self._labels) or np.isnan(self._labels).all():
            return RIGHT
        if not self._classes:
            return WIDTH + 6
        metrics = QFontMetrics(current_theme().font(SMALL))
        longest = max(metrics.horizontalAdvance(name) for name in self._classes)
        return min(longest + 30, int(0.34 * self.width()))

    def _paint_legend(self, painter: QPainter, theme: Theme) -> None:
        if self.right == RIGHT:
            return
        painter.setFont(theme.font(SMALL))
        metrics = painter.fontMetrics()
        left, top = self.area().right() + 16, self.area().top() + 6
        row = min(ROW, max(11, int((self.height() - top) / len(self._classes))))
        for index, name in enumerate(self._classes):
            y = top + index * row
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(class_colour(theme, index))
            painter.drawPath(shape_path(class_shape(index), 8).translated(left, y))
            painter.setPen(theme.dim)
            room = self.width() - left - 10
            text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, int(room))
            painter.drawText(QRectF(left + 10, y - 8, room, 16), Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_values(
        self, painter: QPainter, theme: Theme, places: NDArray[np.float64], size: float
    ) -> None:
        known = ~np.isnan(self._labels)
        if not known.any():
            return
        colours = shade(self._labels[known], VIRIDIS, *self._range)
        painter.setPen(QPen(theme.panel, 0.8))
        for (x, y), colour in zip(places[known].tolist(), colours.tolist(), strict=True):
            painter.setBrush(QColor.fromRgba(colour))
            painter.drawEllipse(QPointF(x, y), size / 2, size / 2)
        if self.right > RIGHT:
            paint_scale(painter, theme, self.area().right() + 10, self.area(), VIRIDIS, ends(*self._range))

    def _paint_hovered(self, painter: QPainter, theme: Theme, place: NDArray[np.float64]) -> None:
        x, y = place.tolist()
        painter.setPen(QPen(theme.text, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(QPointF(x, y), 8, 8)
        painter.setFont(theme.font(SMALL))
        words, image, more = self.words(self._hovered), self._thumbnail(), self._measurements()
        lines = [words, more] if more else [words]
        wide = max(painter.fontMetrics().horizontalAdvance(line) for line in lines)
        side = min(84.0, max(40.0, self.height() * 0.3)) if image is not None else 0.0
        box = QRectF(0, 0, max(wide, side) + 14, 16 * len(lines) + 8 + (side + 4 if side else 0))
        left = x + 12 if x + 12 + box.width() < self.width() else x - 12 - box.width()
        box.moveTo(max(0.0, left), min(max(0.0, y - box.height() / 2), self.height() - box.height()))
        painter.setPen(theme.line)
        painter.setBrush(theme.raised)
        painter.drawRoundedRect(box, 4, 4)
        painter.setPen(theme.text)
        for index, line in enumerate(lines):
            at = QRectF(box.left() + 7, box.top() + 4 + 16 * index, box.width(), 16)
            painter.drawText(at, Qt.AlignmentFlag.AlignVCenter, line)
        if image is not None:
            tall = side * image.height() / max(image.width(), image.height())
            across = side * image.width() / max(image.width(), image.height())
            at = QRectF(box.left() + 7, box.bottom() - side - 4, across, tall)
            painter.drawImage(at, image)

    def _thumbnail(self) -> QImage | None:
        examples = self._examples
        if examples is None or examples.ndim < 3 or self._hovered >= len(examples):
            return None
        one = examples[self._hovered]
        if one.ndim == 2:
            return to_image(shade(one.astype(np.float64), GREY, 0, 255))
        return to_image(opaque(*np.moveaxis(one, -1, 0)))

    def _measurements(self) -> str:
        examples = self._examples
        if examples is None or examples.ndim != 2 or self._hovered >= len(examples):
            return ""
        values = examples[self._hovered]
        shown = ", ".join(number(float(value)) for value in values[:5])
        return shown + (", …" if len(values) > 5 else "")
