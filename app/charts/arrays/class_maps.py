"""Images with the class of each pixel: image and class maps side by side, and what the colours mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.charts.arrays.tiles import Grid, Tiles, shrink
from app.charts.class_marks import class_colour
from app.charts.colourmaps import opaque
from app.theme import SMALL, Theme, current_theme, themes
from app.widgets.labels import plain

NO_CLASS = "no class"
BETWEEN = 1  # columns of pixels between an image and its maps
SQUARE, HEIGHT, GAP = 10, 20, 14
MOST_NAMED = 4  # classes of a mask in a tool tip


def in_colour(images: NDArray[np.floating]) -> NDArray[np.float32]:
    """Images `(n, c, h, w)` as red, green and blue `(n, 3, h, w)` in 0..1; other channels as their mean."""
    if not images.size:
        return np.zeros((len(images), 3, *images.shape[2:]), np.float32)
    low, high = float(np.nanmin(images)), float(np.nanmax(images))
    low, high = (0.0, 1.0) if low >= 0 and high <= 1 else (low, high if high > low else low + 1)
    found = images if images.shape[1] == 3 else np.repeat(images.mean(axis=1, keepdims=True), 3, axis=1)
    return np.nan_to_num((found - low) / (high - low)).astype(np.float32)


def palette(theme: Theme, count: int) -> NDArray[np.float32]:
    """A row of red, green and blue in 0..1 for each class; the last is that of pixels of no class."""
    colours = [*(class_colour(theme, index) for index in range(count)), theme.dim]
    return np.array([(one.redF(), one.greenF(), one.blueF()) for one in colours], np.float32)


class ClassMaps(Tiles):
    """Each tile is an image and, at its right, maps of the class of each pixel, below 0 for none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, noun="row")
        self.captions: list[str] = []
        self._images: NDArray[np.float32] = np.zeros((0, 3, 1, 1), np.float32)
        self._classes: list[NDArray[np.integer]] = []
        self._names: tuple[str, ...] = ()
        self._heads: tuple[str, ...] = ()

    def show_classes(
        self,
        images: NDArray[np.floating],
        maps: Sequence[NDArray[np.integer]],
        names: Sequence[str],
        heads: Sequence[str],
    ) -> None:
        """Show `(n, c, h, w)` images and `(n, h, w)` maps, which are called by their `heads` in tool tips."""
        self._images, self._classes = in_colour(images), list(maps)
        self._names, self._heads = tuple(names), tuple(heads)
        count, _, high, wide = images.shape
        parts = 1 + len(self._classes)
        self.show_maps(np.zeros((count, high, parts * wide + (parts - 1) * BETWEEN), np.float32))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classes."""
        return self._names

    @property
    def uncounted(self) -> bool:
        """Whether some pixel has no class."""
        return any(bool((one < 0).any()) for one in self._classes)

    def colours(self, first: int, end: int, grid: Grid) -> NDArray[np.uint32]:
        theme = current_theme()
        images = self._images[first:end]
        high = max([0, *(int(one.max(initial=0)) for one in self._classes)])
        table = palette(theme, max(high + 1, len(self._names)))
        back = np.array([theme.panel.redF(), theme.panel.greenF(), theme.panel.blueF()], np.float32)
        rows = (len(images), 3, images.shape[2], BETWEEN)
        between = np.broadcast_to(back[None, :, None, None], rows)
        parts = [images]
        for one in self._classes:
            found = one[first:end]
            parts += [between, table[np.where(found < 0, len(table) - 1, found)].transpose(0, 3, 1, 2)]
        whole = np.concatenate(parts, axis=3)
        channels = (shrink(whole[:, at], grid.tile_height, grid.tile_width) for at in range(3))
        return opaque(*(np.clip(255 * part, 0, 255).round() for part in channels))

    def describe(self, at: QPoint) -> str:
        index = self.tile_at(at)
        if index < 0:
            return ""
        lines = [self.captions[index]] if index < len(self.captions) else []
        lines += [
            f"{head}: {fractions(one[index], self._names)}"
            for head, one in zip(self._heads, self._classes, strict=False)
        ]
        return "\n".join(lines)


def fractions(classes: NDArray[np.integer], names: Sequence[str]) -> str:
    """How much of a map each class takes, the largest first: "sky 61 %, tree 30 %"."""
    values, counts = np.unique(np.maximum(classes, -1), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    said = []
    for at in order[:MOST_NAMED].tolist():
        value = int(values[at])
        name = NO_CLASS if value < 0 else names[value] if value < len(names) else str(value)
        said.append(f"{name} {100 * counts[at] / classes.size:.0f} %")
    return ", ".join(said) + (" …" if len(order) > MOST_NAMED else "")


class ClassLegend(QWidget):
    """A square of each class's colour with its name; those that have no room stand in the tool tip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names: tuple[str, ...] = ()
        self._uncounted = False
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        themes.theme_changed.connect(self._theme_changed)

    def show_classes(self, names: Sequence[str], uncounted: bool = False) -> None:
        """Name the classes, and with `uncounted` the colour of pixels that have none."""
        self._names, self._uncounted = tuple(names), uncounted
        self.setToolTip(plain("\n".join(self._entries())))
        self.updateGeometry()
        self.update()

    def _entries(self) -> list[str]:
        return [*self._names, *([NO_CLASS] if self._uncounted else [])]

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(current_theme().font(SMALL))
        wide = sum(SQUARE + 5 + metrics.horizontalAdvance(name) + GAP for name in self._entries())
        return QSize(wide, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = current_theme(), QPainter(self)
        painter.setFont(theme.font(SMALL))
        metrics, x, entries = QFontMetrics(painter.font()), 0.0, self._entries()
        for index, name in enumerate(entries):
            wide = SQUARE + 5 + metrics.horizontalAdvance(name)
            last = index == len(entries) - 1
            if x + wide + (0 if last else GAP + metrics.horizontalAdvance("…")) > self.width() + 1:
                painter.setPen(theme.dim)
                painter.drawText(QPointF(x, (HEIGHT + metrics.ascent() - metrics.descent()) / 2), "…")
                return
            colour = theme.dim if index == len(self._names) else class_colour(theme, index)
            painter.fillRect(QRectF(x, (HEIGHT - SQUARE) / 2, SQUARE, SQUARE), colour)
            painter.setPen(theme.text)
            middle = (HEIGHT + metrics.ascent() - metrics.descent()) / 2
            painter.drawText(QPointF(x + SQUARE + 5, middle), name)
            x += wide + GAP

    def _theme_changed(self, theme: Theme) -> None:
        self.update()
