"""The landscape in which states fall, and what a memory makes of a disturbed pattern."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.charts.arrays.image_rows import ImageRow, ImageRows
from app.charts.chart import Chart, Curve, Entry, Frame, Ground, Layer, Marks, Pieces
from app.charts.class_marks import class_colour, class_shape
from app.charts.colourmaps import opaque
from app.charts.plot import number, percent
from app.look.asked import of_class, rgb
from app.look.base import OneProbe, Subject, Table
from app.look.controls import beside, dial, slider
from app.look.registry import view_kind
from app.look.shown import gives, of_example
from app.theme import Theme
from app.widgets.labels import label
from engine.feed.feed import Snapshot
from engine.look.level_lines import level_lines

LEVELS = 9
MOST_UNITS = 4  # of which the values of a fixed point are written out
PLANE_FROM = 380  # pixels of width from which both charts fit


def falls(subject: Subject) -> bool:
    """Whether the node's states have an energy."""
    return gives(subject, "energy")


def recalls_images(subject: Subject) -> bool:
    """Whether its states are small images."""
    shape = subject.shape_of()
    return falls(subject) and shape is not None and len(shape) == 1 and shape[0] >= 16


@view_kind(
    "energy-landscape",
    "Energy",
    "How the energy falls from step to step; for two units also its landscape, basins and paths.",
    "Generation",
    falls,
    rank=5,
    leads=70,
)
class EnergyLandscape(OneProbe):
    """Basins in the colours of their rests with lines of equal energy; beside it energy against iteration."""

    card_size = (460, 280)
    takes = "energy"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.plane, self.curve = Chart(), Chart()
        self.plane.hide()
        self.plane.read, self.curve.read = self._read, self._read_levels
        beside(self, (self.plane, 3), (self.curve, 2))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts, energies = snapshot.extra, snapshot.array.astype(float)
        steps = np.arange(energies.shape[1], dtype=float)
        layers: list[Layer] = [
            Curve(steps, row, of_class(end) if end >= 0 else "dim", 1.2)
            for row, end in zip(energies, facts["ends"], strict=True)
        ]
        levels, last = facts["levels"].astype(float), max(1.0, steps[-1])
        finite = np.concatenate([energies.ravel(), levels])
        finite = finite[np.isfinite(finite)]
        low, high = float(finite.min(initial=np.inf)), float(finite.max(initial=-np.inf))
        low, high = (low, high) if len(finite) else (0.0, 1.0)
        pad = 0.05 * ((high - low) or 1.0)
        entries, marks = self._fixed_points(np.full(len(levels), last), levels, 9.0)
        legend = () if "plane" in facts else entries
        frame = Frame((0.0, 1.05 * last), (low - pad, high + pad), "iteration", "energy", legend=legend)
        self.curve.show_layers(frame, [*layers, *marks])
        if "plane" in facts:
            self._show_plane(snapshot)
        if "plane" in facts or facts["scanned"]:
            rests = sum(facts["stable"])
            told = f"{rests} stable fixed points, {len(facts['stable']) - rests} unstable"
            told += ", and whole lines of them" if facts["lines"] else ""
        else:
            told = f"{len(facts['rests'])} fixed points reached by {len(energies)} starts"
        spread = f"energy {number(low)} to {number(high)}"
        self.set_note(f"{told} · {spread} · {facts['split']} examples")
        self._make_room()

    def _fixed_points(
        self, x: NDArray[np.floating], y: NDArray[np.floating], size: float
    ) -> tuple[list[Entry], list[Layer]]:
        """The fixed points at (x, y) with their entries for a legend; rings are the unstable ones."""
        assert self._found is not None
        stable, entries, marks = self._found.extra["stable"], list[Entry](), list[Layer]()
        for index, attracts in enumerate(stable):
            shape, colour = (class_shape(index), of_class(index)) if attracts else ("circle", "text")
            at = slice(index, index + 1)
            marks.append(Marks(x[at], y[at], colour, shape, size, not attracts))
            if attracts:
                entries.append(Entry(self._place(index), colour, shape))
        if not all(stable):
            entries.append(Entry("unstable", "text", "circle", hollow=True))
        return entries, marks

    def _place(self, index: int) -> str:
        assert self._found is not None
        rest = self._found.extra["rests"][index].tolist()
        if len(rest) > MOST_UNITS:
            return f"fixed point {index + 1}"
        return f"({', '.join(number(round(value, 2) + 0.0) for value in rest)})"

    def _show_plane(self, snapshot: Snapshot) -> None:
        facts, reach = snapshot.extra, float(snapshot.extra["reach"])
        plane, basins, rests = facts["plane"].astype(float), facts["basins"], facts["rests"].astype(float)
        known = np.where(np.isfinite(plane), plane, np.nan)
        layers: list[Layer] = [Ground(partial(basin_colours, basins), smooth=False)]
        step = 2 * reach / (len(plane) - 1)
        for level in np.linspace(np.nanmin(known), np.nanmax(known), LEVELS + 2)[1:-1]:
            layers.append(Pieces(level_lines(plane, float(level)) * step - reach, "faint", 1.0))
        for way, end in zip(facts["paths"].astype(float), facts["ends"], strict=True):
            layers.append(Curve(way[:, 0], way[:, 1], "text", 1.1))
            colour = of_class(end) if end >= 0 else "dim"
            layers.append(Marks(way[:1, 0], way[:1, 1], colour, class_shape(max(end, 0)), 6.0))
        legend, marks = self._fixed_points(rests[:, 0], rests[:, 1], 13.0)
        layers += marks
        frame = Frame((-reach, reach), (-reach, reach), "unit 1", "unit 2", square=True, legend=legend)
        self.plane.show_layers(frame, layers)

    def _read(self, x: float, y: float) -> str:
        if self._found is None or "plane" not in self._found.extra:
            return ""
        facts, reach = self._found.extra, float(self._found.extra["reach"])
        side = len(facts["plane"])
        row, column = (round((value + reach) / (2 * reach) * (side - 1)) for value in (y, x))
        row, column = min(max(row, 0), side - 1), min(max(column, 0), side - 1)
        end = int(facts["basins"][row, column])
        goal = "reaches no fixed point"
        if end >= 0:
            goal = f"falls to {self._place(end)}"
        return f"({number(x)}, {number(y)}): energy {number(float(facts['plane'][row, column]))}\n{goal}"

    def _read_levels(self, _x: float, y: float) -> str:
        """The fixed points whose energy is next to the pointer's."""
        if self._found is None or not len(self._found.extra["levels"]):
            return ""
        apart = np.abs(self._found.extra["levels"].astype(float) - y)
        lines = [
            f"{self._place(index)}: {'stable' if self._found.extra['stable'][index] else 'unstable'}"
            for index in np.nonzero(apart <= apart.min() + 1e-4)[0][:12].tolist()
        ]
        level = float(self._found.extra["levels"][int(apart.argmin())])
        return "\n".join([f"energy {number(level)}", *lines])

    def _make_room(self) -> None:
        flat = self._found is not None and "plane" in self._found.extra
        self.plane.setVisible(flat)
        self.curve.setVisible(not flat or self.width() >= PLANE_FROM)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def table(self) -> Table | None:
        if self._found is None:
            return None
        rows = [
            (start + 1, step, value)
            for (start, step), value in np.ndenumerate(self._found.array.astype(float))
        ]
        return ("start", "iteration", "energy"), rows


def basin_colours(basins: NDArray[np.integer], theme: Theme) -> NDArray[np.uint32]:
    """The colours of the rests, faint on the panel's; the panel's own where nothing comes to rest."""
    count = int(basins.max(initial=-1)) + 1
    ground = np.array(rgb(theme.panel), float)
    palette = np.array([rgb(class_colour(theme, index)) for index in range(count)], float).reshape(-1, 3)
    palette = np.vstack([ground + (palette - ground) * 0.3, ground])
    mixed = palette[np.where(basins < 0, count, basins)].round()
    return opaque(*np.moveaxis(mixed, -1, 0))


@view_kind(
    "recall",
    "Recall",
    "Noisy patterns above, what the memory recalls after some steps, and the stored patterns.",
    "Generation",
    recalls_images,
    rank=4,
)
class Recall(OneProbe):
    """Three rows of images and a slider of the iteration."""

    card_size = (440, 220)
    takes = "recall"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._wanted = -1  # the last step
        self.slider = slider("recallStep", "Iteration", "After how many steps")
        self.slider.valueChanged.connect(self._moved)
        self._value = label("", "mono")
        self._value.setFixedWidth(58)
        self.images = ImageRows()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(dial("iteration", self.slider, self._value))
        column.addWidget(self.images, 1)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        last = len(snapshot.array) - 1
        self.slider.blockSignals(True)
        self.slider.setRange(0, last)
        self.slider.setValue(last if self._wanted < 0 else min(self._wanted, last))
        self.slider.blockSignals(False)
        self._show(snapshot)

    def _show(self, snapshot: Snapshot) -> None:
        facts, step = snapshot.extra, self.slider.value()
        shape, states = facts["shape"], snapshot.array.astype(float)
        self._value.setText(f"{step} of {len(states) - 1}")
        shown = {"disturbed": states[0], "recalled": states[step]}
        if facts["stored"] is not None:
            shown["stored"] = facts["stored"].astype(float)
        reach = max(1.0, *(float(np.abs(part).max()) for part in shown.values()))
        rows = [
            ImageRow(name, part.reshape(len(part), *shape), (-reach, reach)) for name, part in shown.items()
        ]
        right = facts["right"]
        captions = [percent(float(fraction)) for fraction in right[step]] if right is not None else []
        self.images.show_rows(rows, captions=captions)
        told = "below: fraction of units as they were stored" if right is not None else ""
        if right is not None:
            whole = int((right[step] == 1).sum())
            told = f"{whole} of {len(right[step])} recalled whole · {told}"
        self.set_note(" · ".join(part for part in (told, of_example(facts) + " first") if part))

    def _moved(self, value: int) -> None:
        self._wanted = -1 if value == self.slider.maximum() else value
        if self._found is not None:
            self._show(self._found)

    def table(self) -> Table | None:
        if self._found is None or self._found.extra["right"] is None:
            return None
        rows = [
            (pattern + 1, step, float(fraction))
            for (step, pattern), fraction in np.ndenumerate(self._found.extra["right"])
        ]
        return ("pattern", "iteration", "fraction of units as stored"), rows

    def state(self) -> dict[str, object]:
        return {"iteration": self._wanted}

    def restore(self, state: Mapping[str, object]) -> None:
        wanted = state.get("iteration")
        self._wanted = wanted if isinstance(wanted, int) else -1
