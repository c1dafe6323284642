"""Images with the boxes that the network finds in them, over those that are right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.charts.arrays.class_maps import in_colour
from app.charts.arrays.tiles import Grid, Tiles, shrink
from app.charts.class_marks import class_colour
from app.charts.colourmaps import opaque
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.registry import view_kind
from app.look.shown import compared, split_words
from app.theme import DARK, SMALL, Theme
from engine.catalogue import Loss
from engine.feed.feed import Snapshot

LEAST = 90  # pixels of an image's side, so that the words beside boxes can be read
BEHIND = QColor(0, 0, 0, 150)  # words over ink


def finds_boxes(subject: Subject) -> bool:
    """Whether the loss that the node is, or gives its grid to, compares boxes."""
    for book, loss, answer, _ in compared(subject):
        made = book.types[loss]
        if isinstance(made, Loss) and made.traits.boxes and subject.node_id in (loss, answer.source):
            return True
    return False


class BoxTiles(Tiles):
    """Images with thin white boxes where objects are, and found ones in colour, dashed where wrong."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, noun="image")
        self.captions: list[str] = []
        self._all: NDArray[np.float32] = np.zeros((0, 3, 1, 1), np.float32)
        self._images = self._all
        self._found: NDArray[np.float32] = np.zeros((0, 0, 6), np.float32)
        self._right: NDArray[np.float32] = np.zeros((0, 0, 5), np.float32)
        self._hits: NDArray[np.bool_] = np.zeros((0, 0), np.bool_)

    def show_boxes(
        self,
        images: NDArray[np.floating],
        found: NDArray[np.float32],
        right: NDArray[np.float32],
        hits: NDArray[np.bool_],
    ) -> None:
        """Show images `(n, c, h, w)` with found boxes `(n, k, 6)`, which are hits or not, and right ones.

        Only the first images are shown where there is no room for all.
        """
        self._all, self._found, self._right, self._hits = in_colour(images), found, right, hits
        self._fit()

    def _fit(self) -> None:
        rows = max(1, self.height() // LEAST)  # rather few than tiny
        side = min(self.height() / rows, self.width()) * self._all.shape[3] / self._all.shape[2]
        self._images = self._all[: rows * max(1, int(self.width() / max(1.0, side)))]
        self.show_maps(self._images.mean(1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if len(self._all):
            self._fit()

    def colours(self, first: int, end: int, grid: Grid) -> NDArray[np.uint32]:
        images = self._images[first:end]
        channels = (shrink(images[:, at], grid.tile_height, grid.tile_width) for at in range(3))
        return opaque(*((255 * part).round() for part in channels))

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        painter.setFont(theme.font(SMALL))
        for at in range(self.shown):
            index = max(0, self.enlarged_index) + at
            tile = self._tile_rect(at)
            painter.save()
            painter.setClipRect(tile)
            painter.setPen(QPen(QColor("white"), 1))
            for box in self._right[index]:
                if box[0] >= 0:
                    painter.drawRect(within(tile, box[1:5]))
            for box, hit in reversed(list(zip(self._found[index], self._hits[index], strict=True))):
                if box[0] >= 0:
                    self._draw_found(painter, tile, box, bool(hit))
            painter.restore()
        super().decorate(painter, theme)

    def _draw_found(self, painter: QPainter, tile: QRectF, box: NDArray[np.float32], hit: bool) -> None:
        colour = class_colour(DARK, 0) if hit else DARK.bad  # images and the words' ground are dark
        style = Qt.PenStyle.SolidLine if hit else Qt.PenStyle.DashLine
        painter.setPen(QPen(colour, 2, style))
        placed = within(tile, box[1:5])
        painter.drawRect(placed)
        words = f"{int(box[0])}" if tile.width() < LEAST else f"{int(box[0])} · {100 * box[5]:.0f} %"
        metrics = QFontMetrics(painter.font())
        wide, high = metrics.horizontalAdvance(words), metrics.ascent()
        x = min(max(placed.left(), tile.left()), tile.right() - wide)
        above = placed.top() - 3
        y = above if above - high > tile.top() else placed.bottom() + high + 2
        painter.fillRect(QRectF(x - 2, y - high, wide + 4, high + metrics.descent()), BEHIND)
        painter.drawText(QPointF(x, y), words)

    def describe(self, at: QPoint) -> str:
        index = self.tile_at(at)
        return self.captions[index] if 0 <= index < len(self.captions) else ""


def within(tile: QRectF, corners: NDArray[np.float32]) -> QRectF:
    """A box with corners in 0..1 on a tile."""
    left, top, right, bottom = (float(one) for one in corners)
    return QRectF(
        QPointF(tile.left() + left * tile.width(), tile.top() + top * tile.height()),
        QPointF(tile.left() + right * tile.width(), tile.top() + bottom * tile.height()),
    )


@view_kind(
    "boxes",
    "Boxes",
    "Held out images: white boxes are right; found ones have class and probability, dashed where wrong.",
    "Answers",
    finds_boxes,
    rank=0,
    leads=32,
)
class Boxes(OneProbe):
    """Images with true and found boxes, while the network learns to find them."""

    takes = "boxes"
    card_size = (420, 300)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.tiles = BoxTiles()
        self.tiles.setObjectName("boxTiles")
        stacked(self, self.tiles)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        split, counts = split_words(snapshot.extra), counted(snapshot)
        self.tiles.captions = [
            f"{split} example {number}: {hits} of {found} found boxes right, {true} true ones"
            for number, found, hits, true in counts
        ]
        facts = snapshot.extra
        self.tiles.show_boxes(snapshot.array, facts["found"], facts["right"], facts["hits"])
        found, hits, true = np.array(counts)[:, 1:].sum(0)
        self.set_note(f"{hits} of {found} found boxes right · {true} true ones, in white")

    def table(self) -> Table | None:
        if self._found is None:
            return None
        return ("example", "boxes found", "right", "true"), counted(self._found)


def counted(snapshot: Snapshot) -> list[tuple[int, int, int, int]]:
    """For each image: its number, how many boxes were found, how many are right, how many there are."""
    facts = snapshot.extra
    columns = (
        (facts["found"][..., 0] >= 0).sum(1),
        facts["hits"].sum(1),
        (facts["right"][..., 0] >= 0).sum(1),
    )
    counts = np.stack(columns, 1).tolist()
    return [(row + 1, *one) for row, one in zip(facts["rows"], counts, strict=True)]
