"""The answers over the plane of two features, with the data: regions of classes, or a surface of values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox, QWidget

from app.charts.axes import round_ticks
from app.charts.chart import Chart, Entry, Frame, Ground, Layer, Marks, Pieces, Words
from app.charts.class_marks import class_colour, class_shape
from app.charts.colourmaps import VIRIDIS, limits, opaque, shade
from app.charts.plot import number, percent
from app.look.asked import (
    choice,
    example_words,
    features,
    head,
    index_of,
    of_class,
    of_two_features,
    rgb,
    single_answer,
)
from app.look.base import LiveView, Probes, Snapshots, Subject, Table
from app.look.controls import row, stacked
from app.look.own import answer_units, feature_units, follow_units
from app.look.registry import view_kind
from app.theme import Theme
from engine.catalogue import Layer as LayerType
from engine.feed.feed import Probe, Snapshot
from engine.look.level_lines import level_lines

LEVELS = 7
RING = 4.0  # pixels by which a ring around an example, on which the answer rests, is larger than its mark


def has_a_plane(subject: Subject) -> bool:
    """Whether the answer depends on two numbers or more, and is one."""
    return len(features(subject)) >= 2 and single_answer(subject)


def _holds_rows(subject: Subject) -> bool:
    """Whether the layer that answers rests on some of the training rows."""
    asked = head(subject)
    node = None if asked is None else subject.workspace.node(asked.prediction[0])
    kind = None if node is None else subject.workspace.type_of(node)
    return kind is not None and issubclass(kind, LayerType) and kind.traits.holds_rows


@view_kind(
    "decision-regions",
    "Decision regions",
    "The prediction at each point of two features, with the training and validation examples.",
    "Answers",
    has_a_plane,
    rank=8,
    leads=90,
    leads_for=of_two_features,
)
class Regions(LiveView):
    """A grid of answers as colours, the line where scores are equal, and the data in their classes' marks."""

    card_size = (340, 300)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._names = [feature.name for feature in features(subject)]
        self._pair = (0, 1)
        self._boxes: tuple[QComboBox, QComboBox] | None = None
        self._found: Snapshot | None = None
        self.chart = Chart()
        self.chart.read = self._read
        self.chart.alone = True
        follow_units(self)
        stacked(self, self.chart)

    def _probe(self, what: str) -> Probe:
        return Probe(self.subject.node_id, what, self._pair)

    def probes(self) -> Probes:
        held = {self._probe("held_rows")} if _holds_rows(self.subject) else frozenset()
        return self.essential() | held

    def essential(self) -> Probes:
        return frozenset({self._probe("regions"), self._probe("points")})

    # -- drawing ----------------------------------------------------------------------------------

    def draw(self, found: Snapshots) -> None:
        grid = found.get(self._probe("regions"))
        if grid is None:
            return
        points = found.get(self._probe("points"))
        grid, points = self._in_own_units(grid, points)
        self._found = grid
        facts = grid.extra
        values = facts["kind"] == "values"
        layers, over, note = self._surface(grid) if values else self._classes(grid)
        legend: list[Entry] = []
        if points is not None:
            marks, legend = (
                _values(points, *limits(grid.array)) if values else _data(points, facts["classes"])
            )
            layers += marks
        held = found.get(self._probe("held_rows"))
        if held is not None and len(held.array):
            rows = self._features_as_seen(np.array(held.array, np.float64))
            ring = RING + mark_size(0 if points is None else len(points.array))
            layers.append(Marks(rows[:, 0], rows[:, 1], "text", "circle", ring, hollow=True))
            legend = [*legend, Entry("support vectors", "text", "circle", hollow=True)]
            note = f"{len(rows):,} of {held.extra['rows']:,} training rows are support vectors · {note}"
        layers += over
        across, up = facts["names"]
        frame = Frame(facts["x"], facts["y"], across, up, legend=legend)
        self.chart.show_layers(frame, layers)
        fixed = example_words(facts["example"], facts["fixed"])
        self.set_note(" · ".join(part for part in (note, fixed) if part))

    def _in_own_units(self, grid: Snapshot, points: Snapshot | None) -> tuple[Snapshot, Snapshot | None]:
        """Grid and points with features and values as in the data, as far as their units are known."""
        known = features(self.subject)
        facts, array, own = dict(grid.extra), grid.array, answer_units(self.subject)
        rows = None if points is None else self._features_as_seen(np.array(points.array, np.float64))
        names = list(facts["names"])
        for axis, (name, index) in enumerate(zip("xy", self._pair, strict=True)):
            feature = feature_units(self.subject, known[index]) if index < len(known) else None
            if feature is None or not feature.straight:
                names[axis] = known[index].as_seen if index < len(known) else names[axis]
                continue
            facts[name] = tuple(feature(np.array(facts[name])).tolist())
        if facts["kind"] == "values" and own is not None:
            array, facts["target"] = own.first(array), own.name
            if rows is not None:
                rows[:, -1] = own.first(rows[:, -1])
        facts["names"] = tuple(names)
        made = Snapshot(grid.revision, grid.step, array, facts)
        if points is None or rows is None:
            return made, points
        return made, Snapshot(points.revision, points.step, rows, points.extra)

    def _features_as_seen(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows of the two features in their own units, as far as these are known."""
        known = features(self.subject)
        for axis, index in enumerate(self._pair):
            feature = feature_units(self.subject, known[index]) if index < len(known) else None
            if feature is not None and feature.straight:
                rows[:, axis] = feature(rows[:, axis])
        return rows

    def _classes(self, grid: Snapshot) -> tuple[list[Layer], list[Layer], str]:
        winner, sure, ahead = grid.array.astype(np.float32)
        layers: list[Layer] = [Ground(partial(region_colours, winner.astype(int), sure))]
        ahead = _smoothed(winner) if grid.extra["steps"] else ahead
        kinds = np.unique(winner)
        # Two classes have one line, so one of them is left out.
        for index in kinds[: len(kinds) - 1 if len(kinds) == 2 else None]:
            field = np.where(winner == index, ahead, -ahead)
            layers.append(Pieces(_in_values(level_lines(field, 0.0), grid), "text", 1.5))
        return layers, [], "stronger colour: surer · line: equal scores"

    def _surface(self, grid: Snapshot) -> tuple[list[Layer], list[Layer], str]:
        values = grid.array.astype(np.float64)
        low, high = limits(values)
        layers: list[Layer] = [Ground(partial(_surface_colours, values, low, high))]
        words: list[Layer] = []
        for level in round_ticks(low, high, LEVELS):
            ends = _in_values(level_lines(values, level), grid)
            layers.append(Pieces(ends, _white, 1.1))
            if len(ends):
                middle = ends[len(ends) // 2].mean(axis=0)
                words.append(Words(float(middle[0]), float(middle[1]), number(round(level, 12))))
        name = grid.extra["target"] or "answer"
        return layers, words, f"{name}: {number(low)} (dark) to {number(high)} (bright), points alike"

    def _read(self, x: float, y: float) -> str:
        grid = self._found
        if grid is None:
            return ""
        facts = grid.extra
        high, wide = grid.array.shape[-2:]
        column = round((x - facts["x"][0]) / (facts["x"][1] - facts["x"][0]) * (wide - 1))
        row = round((y - facts["y"][0]) / (facts["y"][1] - facts["y"][0]) * (high - 1))
        here = f"{facts['names'][0]} {number(x)} · {facts['names'][1]} {number(y)}"
        if facts["kind"] == "values":
            return f"{here}\n{facts['target'] or 'answer'} {number(float(grid.array[row, column]))}"
        winner, sure, _ = grid.array[:, row, column].astype(float)
        return f"{here}\n{facts['classes'][int(winner)]}, {percent(sure)}"

    def table(self) -> Table | None:
        grid = self._found
        if grid is None:
            return None
        facts = grid.extra
        high, wide = grid.array.shape[-2:]
        (left, right), (low, top) = facts["x"], facts["y"]
        y, x = np.meshgrid(np.linspace(low, top, high), np.linspace(left, right, wide), indexing="ij")
        places = zip(x.ravel().tolist(), y.ravel().tolist(), strict=True)
        if facts["kind"] == "values":
            values = grid.array.ravel().tolist()
            header = (*facts["names"], facts["target"] or "answer")
            return header, [(*place, value) for place, value in zip(places, values, strict=True)]
        winner, sure = (plane.ravel().astype(float).tolist() for plane in grid.array[:2])
        names = facts["classes"]
        rows = zip(places, winner, sure, strict=True)
        return (*facts["names"], "class", "probability"), [
            (*place, names[int(index)], probability) for place, index, probability in rows
        ]

    # -- which two --------------------------------------------------------------------------------

    def controls(self) -> QWidget | None:
        if len(self._names) < 3:
            return None
        if self._controls is None:
            boxes = tuple(
                choice(self._names, self._pair[axis], f"The feature {way}", f"region{axis}")
                for axis, way in enumerate(("from left to right", "from bottom to top"))
            )
            self._boxes = (boxes[0], boxes[1])
            for box in boxes:
                box.activated.connect(self._chosen)
            self._controls = row(*boxes)
        return self._controls

    def _chosen(self, index: int) -> None:
        assert self._boxes is not None
        self._choose(self._boxes[0].currentIndex(), self._boxes[1].currentIndex())

    def _choose(self, x: int, y: int) -> None:
        if x == y:  # the two change places, or make room
            y = self._pair[0] if x != self._pair[0] else (x + 1) % len(self._names)
        self._pair = (x, y)
        if self._boxes is not None:
            for box, index in zip(self._boxes, self._pair, strict=True):
                box.setCurrentIndex(index)
        self.needs_changed.emit()

    def state(self) -> dict[str, object]:
        return {"x": self._pair[0], "y": self._pair[1]}

    def restore(self, state: Mapping[str, object]) -> None:
        count = len(self._names)
        self._choose(index_of(state.get("x"), 0, count), index_of(state.get("y"), 1, count))


def region_colours(winner: NDArray[np.intp], sure: NDArray[np.floating], theme: Theme) -> NDArray[np.uint32]:
    """The classes' colours on the panel's, the stronger the surer: full at 1, faint at a guess."""
    count = max(2, int(winner.max()) + 1)
    palette = np.array([rgb(class_colour(theme, index)) for index in range(count)], float)
    ground = np.array(rgb(theme.panel), float)
    fraction = np.clip((sure - 1 / count) / (1 - 1 / count), 0, 1)[..., None] * 0.42 + 0.1
    mixed = (ground + (palette[winner] - ground) * fraction).round()
    return opaque(*np.moveaxis(mixed, -1, 0))


def _surface_colours(
    values: NDArray[np.floating], low: float, high: float, theme: Theme
) -> NDArray[np.uint32]:
    return shade(values, VIRIDIS, low, high)


def _smoothed(winner: NDArray[np.floating]) -> NDArray[np.floating]:
    """How far ahead the class is in its neighbourhood: steps of a sign make a straight line again."""
    count = int(winner.max()) + 1
    reach = 2
    fractions = []
    for index in range(max(2, count)):
        padded = np.pad((winner == index).astype(np.float32), reach, mode="edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, (2 * reach + 1, 2 * reach + 1))
        fractions.append(windows.mean(axis=(2, 3)))
    stacked = np.stack(fractions)
    own = np.take_along_axis(stacked, winner[None].astype(int), 0)[0]
    np.put_along_axis(stacked, winner[None].astype(int), -1.0, 0)
    smoothed: NDArray[np.floating] = np.maximum(own - stacked.max(axis=0), 0)
    return smoothed


def _in_values(pieces: NDArray[np.float64], grid: Snapshot) -> NDArray[np.float64]:
    """Pieces in steps of the grid as values of the two features."""
    high, wide = grid.array.shape[-2:]
    steps, starts = [], []
    for (low, top), count in ((grid.extra["x"], wide), (grid.extra["y"], high)):
        starts.append(low)
        steps.append((top - low) / (count - 1))
    placed: NDArray[np.float64] = pieces * np.array(steps) + np.array(starts)
    return placed


def _data(points: Snapshot, classes: tuple[str, ...]) -> tuple[list[Layer], list[Entry]]:
    """The examples: filled for training, hollow for validation; a shape and a colour for each class."""
    training, large = int(points.extra["training"]), mark_size(len(points.array))
    kinds = points.array[:, -1].astype(int)
    layers: list[Layer] = []
    legend: list[Entry] = []
    for index, name in enumerate(classes):
        for part, hollow, size in (
            (slice(0, training), False, large),
            (slice(training, None), True, 1.2 * large),
        ):
            own = points.array[part][kinds[part] == index]
            if len(own):
                layers.append(Marks(own[:, 0], own[:, 1], of_class(index), class_shape(index), size, hollow))
        legend.append(Entry(name, of_class(index), class_shape(index)))
    return layers, [*legend, *_splits(points)]


def mark_size(count: int) -> float:
    """Pixels of a mark: the more there are the smaller, so that what lies under them is seen."""
    return 6.5 * min(1.0, max(0.5, sqrt(120 / max(1, count))))


def _values(points: Snapshot, low: float, high: float) -> tuple[list[Layer], list[Entry]]:
    """The examples in the colours of what is right for them: one that vanishes is answered well."""
    training, size = int(points.extra["training"]), mark_size(len(points.array)) + 0.5
    layers: list[Layer] = []
    for part, hollow in ((points.array[:training], False), (points.array[training:], True)):
        shades = shade(part[:, -1], VIRIDIS, low, high)
        layers.append(Marks(part[:, 0], part[:, 1], "text", "circle", size, hollow, shades))
    return layers, _splits(points)


def _splits(points: Snapshot) -> list[Entry]:
    if len(points.array) == int(points.extra["training"]):
        return []
    return [Entry("training", "dim", "circle"), Entry("validation", "dim", "circle", hollow=True)]


def _white(theme: Theme) -> QColor:
    return QColor("#f2f4f8")
