"""A loss over two directions as colours and contours, with the way that training came; or along one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from app.charts.colourmaps import VIRIDIS, mixed, shade, to_image
from app.charts.plane import RIGHT, Plane, around
from app.charts.plot import number
from app.charts.scale import NARROWEST, WIDTH, ends, paint_scale
from app.theme import SMALL, Theme
from engine.look.level_lines import level_lines

LEVELS = 12
FINE = 8  # how many pixels of the image stand between two computed losses
WIDE_RATIO = 20.0  # losses that differ by more are shown on a logarithmic scale


def finer(values: NDArray[np.floating], times: int) -> NDArray[np.float64]:
    """Values (h, w) with `times` - 1 more between two neighbours, by straight lines."""
    rows, columns = values.shape
    down, across = (
        np.linspace(0, rows - 1, (rows - 1) * times + 1),
        np.linspace(0, columns - 1, (columns - 1) * times + 1),
    )
    wide = np.stack([np.interp(across, np.arange(columns), row) for row in values])
    return np.stack([np.interp(down, np.arange(rows), column) for column in wide.T], axis=1)


class Landscape(Plane):
    """Losses `(ny, nx)` at `xs` and `ys`; `(1, nx)` is drawn as a line."""

    def __init__(self) -> None:
        super().__init__()
        self._losses: NDArray[np.floating] = np.empty((0, 0))
        self._xs: NDArray[np.floating] = np.empty(0)
        self._ys: NDArray[np.floating] = np.empty(0)
        self._path: NDArray[np.floating] = np.empty((0, 2))
        self._here: tuple[float, float] = (0.0, 0.0)
        self._heat: QImage | None = None
        self._lines: list[tuple[float, NDArray[np.float64]]] = []
        self._logarithmic = False
        self._low_high = (0.0, 1.0)

    def show_losses(
        self,
        losses: NDArray[np.floating],
        xs: Sequence[float],
        ys: Sequence[float],
        names: tuple[str, str],
        here: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Show other losses; `here` is where the weights were."""
        self._losses, self._xs, self._ys = losses, np.asarray(xs), np.asarray(ys)
        self._here, self._heat, self._lines = here, None, []
        finite = losses[np.isfinite(losses)]
        self._logarithmic = bool(
            finite.size and finite.min() > 0 and finite.max() / finite.min() > WIDE_RATIO
        )
        self._low_high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        if len(losses) == 1:
            self.right = RIGHT
            stretch = self._low_high if self._logarithmic else around(finite)
            self.set_axes((xs[0], xs[-1]), stretch, names, log=self._logarithmic)
            return
        self.set_axes((xs[0], xs[-1]), (ys[0], ys[-1]), names)
        scaled = self._scaled(losses.astype(np.float64))
        low, high = self._scaled(np.array(self._low_high))
        self._heat = to_image(shade(finer(scaled, FINE)[::-1], VIRIDIS, float(low), float(high)))
        levels = np.linspace(low, high, LEVELS + 2)[1:-1].tolist()
        self._lines = [(level, level_lines(scaled, level)) for level in levels]

    def show_path(self, path: NDArray[np.floating]) -> None:
        """Show where training came along, `(T, 2)`, the last point being where it is now."""
        self._path = path
        self.update()

    @property
    def losses(self) -> NDArray[np.floating]:
        """What is on screen."""
        return self._losses

    @property
    def path(self) -> NDArray[np.floating]:
        """The way that is drawn."""
        return self._path

    @property
    def contours(self) -> list[tuple[float, NDArray[np.float64]]]:
        """The level of each contour, and the pieces (n, 2, 2) of its lines in x and y."""
        step = (self._xs[-1] - self._xs[0]) / (len(self._xs) - 1)
        rise = (self._ys[-1] - self._ys[0]) / (len(self._ys) - 1)
        origin, size = np.array([self._xs[0], self._ys[0]]), np.array([step, rise])
        return [
            (10.0**level if self._logarithmic else level, origin + pieces * size)
            for level, pieces in self._lines
        ]

    def build(self, width: int, height: int, ratio: float) -> QImage | None:
        """Colours and contours, which stay while the path moves over them."""
        if self._heat is None:
            return None
        self.right = WIDTH + 6 if self.width() >= NARROWEST else RIGHT
        image = QImage(max(1, width), max(1, height), QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(0)
        painter = QPainter(image)
        painter.scale(ratio, ratio)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(self.area())
        painter.drawImage(self.area(), self._heat)
        for (_, pieces), colour in zip(self.contours, _contour_colours(len(self._lines)), strict=True):
            painter.setPen(QPen(colour, 1))
            ends_of = self.places(pieces[..., 0].ravel(), pieces[..., 1].ravel()).reshape(-1, 4)
            painter.drawLines([QLineF(*piece) for piece in ends_of.tolist()])
        painter.end()
        return image

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if not self._losses.size:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if len(self._losses) == 1:
            self._paint_line(painter, theme)
            return
        area = self.area()
        self.paint_axes(painter, theme, grid=False)
        painter.setClipRect(area)
        self._paint_path(painter)
        painter.setClipping(False)
        if self.right > RIGHT:
            paint_scale(painter, theme, area.right() + 8, area, VIRIDIS, self._scale_marks())

    def describe(self, at: QPoint) -> str:
        if not self._losses.size or not self.area().contains(at):
            return ""
        x, y = self.value_at(QPointF(at))
        column = int(np.abs(self._xs - x).argmin())
        if len(self._losses) == 1:
            return f"at {number(float(self._xs[column]))}: loss {number(float(self._losses[0, column]))}"
        row = int(np.abs(self._ys - y).argmin())
        return f"{number(x)}, {number(y)}: loss about {number(float(self._losses[row, column]))}"

    def _paint_path(self, painter: QPainter) -> None:
        places = self.places(self._path[:, 0], self._path[:, 1]) if len(self._path) else np.empty((0, 2))
        dark, light = QColor(16, 19, 24), QColor(255, 255, 255)
        if len(places) > 1:
            line = _segments(places)
            for colour, width in ((dark, 3.5), (light, 1.6)):
                painter.setPen(QPen(colour, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
                painter.drawLines(line)
            painter.setBrush(light)
            painter.setPen(QPen(dark, 1))
            if len(places) <= 60:
                for x, y in places[:-1].tolist():
                    painter.drawEllipse(QPointF(x, y), 2.4, 2.4)
            x, y = places[0].tolist()
            painter.drawRect(QRectF(x - 4, y - 4, 8, 8))
        end = places[-1] if len(places) else self.places(*(np.array([part]) for part in self._here))[0]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for colour, width in ((dark, 4.5), (light, 2.2)):
            painter.setPen(QPen(colour, width))
            painter.drawEllipse(QPointF(*end.tolist()), 6, 6)

    def _paint_line(self, painter: QPainter, theme: Theme) -> None:
        self.paint_axes(painter, theme)
        places = self.places(self._xs, self._losses[0])
        for x, text in ((0.0, "start"), (1.0, "now")):
            across = float(self.places(np.array([x]), np.array([self._low_high[1]]))[0, 0])
            pen = QPen(theme.faint, 1, Qt.PenStyle.DashLine)
            painter.setPen(pen)
            painter.drawLine(QPointF(across, self.area().top()), QPointF(across, self.area().bottom()))
            painter.setPen(theme.dim)
            painter.setFont(theme.font(SMALL))
            box = QRectF(across - 40, self.area().top() - 17, 80, 16)
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter, text)
        painter.setPen(QPen(theme.accent, 2))
        finite = np.isfinite(places).all(axis=1)
        painter.drawLines(_segments(places[finite]))

    def _scaled(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.log10(np.maximum(values, 1e-30)) if self._logarithmic else values

    def _scale_marks(self) -> list[tuple[float, str]]:
        low, high = self._low_high
        if not self._logarithmic:
            return ends(low, high)
        return [(0.0, number(low)), (0.5, number(float(np.sqrt(low * high)))), (1.0, number(high))]


def _contour_colours(count: int) -> list[QColor]:
    """For each level the colour of the image there, mixed with white: opaque lines cost far less."""
    at = np.linspace(0, len(VIRIDIS) - 1, count + 2)[1:-1].round().astype(int)
    white = QColor(255, 255, 255)
    return [mixed(QColor.fromRgba(int(value)), white, 0.42) for value in VIRIDIS[at]]


def _segments(places: NDArray[np.float64]) -> list[QLineF]:
    """Piece by piece: a polyline is stroked as one shape, which takes a hundred times as long."""
    return [QLineF(*one, *other) for one, other in pairwise(places.tolist())]
