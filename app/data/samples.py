"""Rows of a data set as they look: images as tiles, a series as a line, a table as histograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QPlainTextEdit,
    QSizePolicy,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from app.charts.arrays.class_maps import ClassLegend, ClassMaps
from app.charts.arrays.clouds import MOST as MOST_CLOUDS
from app.charts.arrays.clouds import Clouds
from app.charts.arrays.tiles import Grid, Tiles, shrink
from app.charts.colourmaps import GREY, opaque
from app.charts.histogram import Distribution, Histogram
from app.charts.scatter import Scatter
from app.charts.series import Line, SeriesPlot
from app.theme import SMALL, current_theme
from app.widgets.labels import ElidedLabel
from app.workspace.token_words import read_as_letters, token_words
from engine.catalogue import Column
from engine.shapes.heads import names_of

if TYPE_CHECKING:
    from engine.data.graphs.positions import GraphLook

AT_ONCE, MASKED_AT_ONCE = 60, 24
MOST_FEATURES = 8
_GRID = 4


class SampleTiles(Tiles):
    """Images in grey or in colour, with their class in the tool tip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, table=GREY, noun="row")
        self.captions: list[str] = []
        self._coloured: NDArray[Any] | None = None

    def show_images(self, images: NDArray[Any]) -> None:
        """Show `(n, c, h, w)` images: three channels are red, green and blue, others are shown as their mean.

        Values that are not within 0..1 are brought there, all alike.
        """
        self._coloured = None
        if images.shape[1] == 3 and images.size:
            low, high = float(np.nanmin(images)), float(np.nanmax(images))
            low, high = (0.0, 1.0) if low >= 0 and high <= 1 else (low, high if high > low else low + 1)
            self._coloured = np.nan_to_num((images - low) / (high - low)).astype(np.float32)
        self.show_maps(images[:, 0] if images.shape[1] == 1 else images.mean(axis=1))

    def colours(self, first: int, end: int, grid: Grid) -> NDArray[np.uint32]:
        if self._coloured is None:
            return super().colours(first, end, grid)
        parts = [
            shrink(self._coloured[first:end, channel], grid.tile_height, grid.tile_width)
            for channel in range(3)
        ]
        return opaque(*(np.clip(255 * part, 0, 255) for part in parts))

    def describe(self, at: Any) -> str:
        index = self.tile_at(at)
        return self.captions[index] if 0 <= index < len(self.captions) else super().describe(at)


class DataSamples(QWidget):
    """Shows the column that says most: an image, else a sequence, else the table's features."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._images: NDArray[Any] = np.empty(0)
        self._captions: list[str] = []
        self._features: tuple[str, ...] = ()
        self._scaled = ""
        self._masks: tuple[str, NDArray[Any], tuple[str, ...]] | None = None  # name, maps and classes
        self._start = 0
        self._title = ElidedLabel("", "heading")
        self._title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.tiles = SampleTiles()
        self.series = SeriesPlot()
        self.histograms = [Histogram() for _ in range(MOST_FEATURES)]
        self._names = [ElidedLabel("", "small") for _ in range(MOST_FEATURES)]
        table = QWidget()
        grid = QGridLayout(table)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(16)
        for index, histogram in enumerate(self.histograms):
            row, across = divmod(index, _GRID)
            grid.addWidget(self._names[index], 2 * row, across)
            grid.addWidget(histogram, 2 * row + 1, across)
            grid.setRowStretch(2 * row + 1, 1)
            grid.setColumnStretch(across, 1)
        self.maps, self.legend = ClassMaps(), ClassLegend()
        masked = QWidget()
        over = QVBoxLayout(masked)
        over.setContentsMargins(0, 0, 0, 0)
        over.setSpacing(6)
        over.addWidget(self.legend)
        over.addWidget(self.maps, 1)
        self._masked = masked
        self._stack = QStackedLayout()
        self.scatter = Scatter()
        self.clouds = Clouds()
        self.texts = QPlainTextEdit()
        self.texts.setObjectName("tokenRows")
        self.texts.setReadOnly(True)
        self.texts.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.texts.setFrameShape(QFrame.Shape.NoFrame)
        for page in (self.tiles, self.series, table, self.scatter, self.clouds, self.texts, masked):
            self._stack.addWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self._title)
        column.addLayout(self._stack, 1)

    @property
    def can_turn(self) -> bool:
        """Whether there are more samples than are shown at once."""
        return self._stack.currentWidget() in (self.tiles, self._masked) and len(self._images) > self._at_once

    @property
    def _at_once(self) -> int:
        return AT_ONCE if self._masks is None else MASKED_AT_ONCE

    def turn(self) -> None:
        """Show the next samples, after the last the first again."""
        after = self._start + self._at_once
        self._start = after if after < len(self._images) else 0
        self._show_images()

    def show_samples(
        self,
        columns: Mapping[str, NDArray[Any]],
        classes: Mapping[str, tuple[str, ...]],
        features: Column | None = None,
        graphs: Sequence[GraphLook] = (),
    ) -> None:
        """Show rows `{column: (n, ...)}`; `classes` names the classes of the columns that have some.

        `features` is the column whose numbers have names, where there is one.
        """
        self._features = names_of(features) if features is not None else ()
        self._scaled = features.scaled if features is not None else ""
        if not any(len(rows) for rows in columns.values()):
            self.tiles.say("There are no rows in this split.")
            self._stack.setCurrentIndex(0)
            self._title.setText("")
            return
        images = next(((name, rows) for name, rows in columns.items() if rows.ndim == 4), None)
        series = next(((name, rows) for name, rows in columns.items() if rows.ndim == 3), None)
        table = next(
            ((name, rows) for name, rows in columns.items() if rows.ndim == 2 and rows.shape[1] > 1), None
        )
        points = columns.get("points")
        tokens = next(
            (
                (name, rows)
                for name, rows in columns.items()
                if rows.ndim == 2 and rows.dtype.kind == "i" and rows.shape[1] > 1
            ),
            None,
        )
        if graphs:
            self._show_graphs(graphs, columns, classes)
        elif points is not None and points.ndim == 3 and points.shape[2] in (2, 3):
            self._show_clouds(points, columns, classes)
        elif tokens is not None and images is None and series is None:
            self._show_tokens(*tokens, classes.get(tokens[0], ()), columns, classes)
        elif table is not None and table[1].shape[1] == 2 and images is None and series is None:
            self._show_scatter(*table, columns, classes)
        elif images is not None:
            self._images = images[1]
            self._masks = _masks_of(self._images, columns, classes)
            self._captions = _captions(columns, classes, len(self._images))
            self._start = 0
            self._show_images()
        elif series is not None:
            self._show_series(series[0], series[1], columns)
        else:
            name, rows = table or next(iter(columns.items()))
            self._show_table(name, rows.reshape(len(rows), -1))

    def _show_images(self) -> None:
        end = min(len(self._images), self._start + self._at_once)
        if self._masks is not None:
            name, maps, known = self._masks
            self.maps.captions = self._captions[self._start : end]
            shown = self._images[self._start : end]
            self.maps.show_classes(shown, (maps[self._start : end],), known, (name,))
            self.legend.show_classes(known, self.maps.uncounted)
            self._title.setText(f"Rows {self._start + 1:,} to {end:,}, each with its {name}")
            self._stack.setCurrentWidget(self._masked)
            return
        self.tiles.captions = self._captions[self._start : end]
        self.tiles.show_images(self._images[self._start : end])
        self._title.setText(f"Rows {self._start + 1:,} to {end:,}")
        self._stack.setCurrentIndex(0)

    def _show_graphs(
        self,
        graphs: Sequence[GraphLook],
        columns: Mapping[str, NDArray[Any]],
        classes: Mapping[str, tuple[str, ...]],
    ) -> None:
        labels, known = columns.get("label"), classes.get("label", ())
        if len(graphs) == 1:  # its nodes are the rows, and the labels theirs
            known = ()
        captions = []
        for at, one in enumerate(graphs):
            part = f", the {len(one.places):,} with most edges" if len(one.places) < one.nodes else ""
            named = f"{known[int(labels[at])]}, " if known and labels is not None and labels.ndim == 1 else ""
            words = "" if named else " nodes"
            captions.append(f"{named}{one.nodes:,}{words}{part}")
        self.clouds.show_clouds(
            [one.places for one in graphs],
            captions,
            [one.edges for one in graphs],
            [one.classes for one in graphs],
        )
        each = f"The first {len(graphs)} graphs, with their {'class and ' if known else ''}number of nodes"
        self._title.setText("The graph" if len(graphs) == 1 else each)
        self._stack.setCurrentWidget(self.clouds)

    def _show_clouds(
        self,
        points: NDArray[Any],
        columns: Mapping[str, NDArray[Any]],
        classes: Mapping[str, tuple[str, ...]],
    ) -> None:
        masks = columns.get("mask")
        shown = min(len(points), MOST_CLOUDS)
        clouds = [
            points[at][masks[at] > 0] if masks is not None and masks.ndim == 2 else points[at]
            for at in range(shown)
        ]
        labels, known = columns.get("label"), classes.get("label", ())
        words = _captions(columns, classes, shown)
        if known and labels is not None and labels.ndim == 1:  # the plot is small: no more than that
            words = [known[int(label)] for label in labels[:shown]]
        self.clouds.show_clouds(clouds, words)
        self._title.setText(f"Rows 1 to {shown:,}, seen from the front")
        self._stack.setCurrentWidget(self.clouds)

    def _show_tokens(
        self,
        name: str,
        rows: NDArray[Any],
        known: tuple[str, ...],
        columns: Mapping[str, NDArray[Any]],
        classes: Mapping[str, tuple[str, ...]],
    ) -> None:
        """Rows of tokens: as they read where their names are known, else by number, without what fills up."""
        captions = _captions(columns, classes, min(len(rows), AT_ONCE))
        between = "" if read_as_letters(known) else " · "
        lines = []
        for caption, row in zip(captions, rows, strict=False):
            lines.append(f"{caption}   {between.join(token_words(row, known))}")
        self.texts.setPlainText("\n".join(lines))
        self.texts.setFont(current_theme().mono(SMALL))
        self._title.setText(f"{name}: tokens of the first rows" + ("" if known else ", by number"))
        self._stack.setCurrentWidget(self.texts)

    def _show_scatter(
        self,
        name: str,
        rows: NDArray[Any],
        columns: Mapping[str, NDArray[Any]],
        classes: Mapping[str, tuple[str, ...]],
    ) -> None:
        labels, noun = np.zeros(len(rows)), ""
        known: tuple[str, ...] = ("row",)
        for one, values in columns.items():
            if one != name and values.reshape(len(values), -1).shape[1] == 1 and len(values) == len(rows):
                labels, noun, known = values.reshape(-1).astype(float), one, tuple(classes.get(one, ()))
                break
        axes = self._features if len(self._features) == 2 else (f"{name} 1", f"{name} 2")
        self.scatter.show_points(rows.astype(float), labels, known, noun, (axes[0], axes[1]))
        self._title.setText(f"{name}, the first {len(rows):,} rows")
        self._stack.setCurrentWidget(self.scatter)

    def _show_series(self, name: str, rows: NDArray[Any], columns: Mapping[str, NDArray[Any]]) -> None:
        """The numbers that follow, in order; they are the series itself when each row is one step on."""
        follow = next((found for found in columns.values() if found.ndim == 2 and found.shape[1] == 1), None)
        if follow is not None:
            self.series.show_lines([Line("value", follow[:, 0])])
            self._title.setText(f"The series in order, {len(follow):,} rows")
        else:
            if rows.shape[1] < min(5, rows.shape[2]):  # a few channels first, as signals have them
                rows = rows.swapaxes(1, 2)
            self.series.show_lines(
                [Line(f"{name} {index + 1}", rows[0, :, index]) for index in range(rows.shape[2])]
            )
            self._title.setText(f"{name}, row 1")
        self._stack.setCurrentIndex(1)

    def _show_table(self, name: str, rows: NDArray[Any]) -> None:
        count = rows.shape[1]
        for index, histogram in enumerate(self.histograms):
            found = Distribution.of(rows[:, index], 24) if index < count else None
            histogram.setVisible(found is not None)
            self._names[index].setVisible(found is not None)
            if found is not None:
                histogram.show_distribution(found)
                own = self._features[index] if len(self._features) == count else f"{name} {index + 1}"
                self._names[index].setText(own if count > 1 else name)
        shown = (
            f"first {MOST_FEATURES} of {count} numbers"
            if count > MOST_FEATURES
            else f"{count} number{'s' if count > 1 else ''}"
        )
        self._title.setText(f"{name}: {shown} a row" + (f", {self._scaled}" if self._scaled else ""))
        self._stack.setCurrentIndex(2)


def _masks_of(
    images: NDArray[Any], columns: Mapping[str, NDArray[Any]], classes: Mapping[str, tuple[str, ...]]
) -> tuple[str, NDArray[Any], tuple[str, ...]] | None:
    """The column that says the class of each pixel: its name, the classes `(n, h, w)` and their names."""
    for name, rows in columns.items():
        if rows.dtype.kind == "i" and rows.shape == (len(images), *images.shape[2:]):
            highest = int(rows.max(initial=0))
            return name, rows, tuple(classes.get(name, ())) or tuple(map(str, range(min(highest + 1, 20))))
    return None


def _captions(
    columns: Mapping[str, NDArray[Any]], classes: Mapping[str, tuple[str, ...]], count: int
) -> list[str]:
    for name, rows in columns.items():
        known = classes.get(name, ())
        if known and rows.ndim == 1:
            return [
                f"row {index + 1}: {name} {known[int(value)] if 0 <= int(value) < len(known) else int(value)}"
                for index, value in enumerate(rows[:count])
            ]
    return [f"row {index + 1}" for index in range(count)]
