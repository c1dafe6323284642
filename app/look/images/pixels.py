"""Weights and means that lie on images: one map a class or unit, the kernels of one filter, one unit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.charts.arrays.cells import Sheet, Sheets
from app.charts.histogram import Distribution, Histogram
from app.charts.plot import number
from app.look.arrays import rows_of
from app.look.asked import head
from app.look.base import OneProbe, Probes, Subject, Table
from app.look.controls import choice, choose, keep, offer, stacked
from app.look.images.excitation import unit_choice, unit_word, units_of
from app.look.registry import view_kind
from app.widgets.labels import ElidedLabel, label
from app.workspace.classes import classes_of
from engine.catalogue import Data
from engine.feed.feed import Probe, Snapshot
from engine.look.pixels import image_behind, is_image

CONVOLUTIONS = ("Conv2d", "Conv1d", "ConvTranspose2d")
HISTOGRAMS_FROM = 360  # pixels of width that leave room for the histograms


def lies_on_image(subject: Subject) -> bool:
    """Whether the weights of a dense layer belong to the pixels of an image."""
    project, book = subject.as_trained
    if book is None or subject.node is None or subject.node.type != "Linear":
        return False
    return image_behind(project, book, subject.node_id) is not None


def has_classes_of_images(subject: Subject) -> bool:
    """Whether the node gives images with classes."""
    return _columns(subject) is not None


def has_kernels(subject: Subject) -> bool:
    """Whether the node is a convolution."""
    return subject.node is not None and subject.node.type in CONVOLUTIONS


def has_single_units(subject: Subject) -> bool:
    """Whether something with units leaves the layer."""
    return subject.kind == "layer" and units_of(subject) > 0 and subject.rows_apart


def _columns(subject: Subject) -> tuple[str, str] | None:
    """The column of images and the column of classes of a data node."""
    made = subject.workspace.shapes.types.get(subject.node_id) if subject.workspace.shapes else None
    if not isinstance(made, Data):
        return None
    images = [column.name for column in made.columns() if is_image(column.shape)]
    kinds = [column.name for column in made.columns() if column.classes and not column.shape]
    return (images[0], kinds[0]) if images and kinds else None


class _Maps(OneProbe):
    """Maps with a title each, from one probe."""

    card_size = (420, 230)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.sheets = Sheets()
        stacked(self, self.sheets)

    def table(self) -> Table | None:
        return None if self._found is None else rows_of(self._found.array)


@view_kind(
    "class-images",
    "Mean image of each class",
    "The mean of the training images of each class.",
    "Images",
    has_classes_of_images,
    rank=20,
)
class ClassImages(_Maps):
    """One mean image a class."""

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "class_images", _columns(self.subject) or ())

    def probes(self) -> Probes:
        return super().probes() if _columns(self.subject) else frozenset()

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        columns = _columns(self.subject)
        names = classes_of(self.subject.workspace, self.subject.node_id).get(
            columns[1] if columns else "", ()
        )
        counts = snapshot.extra["counts"]
        self.sheets.show_sheets(
            [
                Sheet(f"{names[index] if index < len(names) else index}", image, signed=False)
                for index, image in enumerate(snapshot.array)
            ]
        )
        low, high = min(counts), max(counts)
        each = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        self.set_note(f"{each} training examples of each class")


@view_kind(
    "pixel-weights",
    "Weights on the image",
    "The weights of each unit as an image: bright pixels raise its value (red) or lower it (blue).",
    "Images",
    lies_on_image,
    rank=11,
)
class PixelWeights(_Maps):
    """One map a unit, or a class where the units are the answer's."""

    takes = "pixel_weights"

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        asked = head(self.subject)
        names: tuple[str, ...] = asked.labels if asked is not None else ()
        units = int(snapshot.extra["units"])
        named = names if len(names) == units else tuple(f"unit {one + 1}" for one in range(units))
        self.sheets.show_sheets([Sheet(*pair) for pair in zip(named, snapshot.array, strict=False)])
        low, high = self.sheets.scale
        shown = len(snapshot.array)
        count = f"{shown} of {units} units" if shown < units else f"{units} units"
        self.set_note(f"{count} · {number(low)} (blue) to {number(high)} (red)")


@view_kind(
    "filter-kernels",
    "Kernels of a filter",
    "Every kernel of one filter with its numbers, one a channel of the input, and their sum.",
    "Images",
    has_kernels,
    rank=13,
)
class FilterKernels(_Maps):
    """The sum first, then one kernel a channel."""

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.filter = choice("kernelsFilter", [("Filter 1", 0)], "The filter whose kernels are shown", 100)
        self.filter.activated.connect(self._ask_again)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "filter_kernels", (int(self.filter.currentData() or 0),))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        offer(self.filter, [(f"Filter {one + 1}", one) for one in range(int(facts["filters"]))])
        self.filter.setEnabled(self.filter.count() > 1)
        alone = len(snapshot.array) == 1
        sheets = [
            Sheet("kernel" if alone else f"{one + 1}", kernel) for one, kernel in enumerate(snapshot.array)
        ]
        if not alone:
            sheets.insert(0, Sheet("sum", facts["combined"], marked=True))
        self.sheets.show_sheets(sheets)
        low, high = self.sheets.scale
        channels = int(facts["channels"])
        words = [f"{channels} channel{'s' if channels > 1 else ''}", f"bias {number(facts['bias'])}"]
        words.append(f"{number(low)} (blue) to {number(high)} (red)")
        words += [] if alone else [f"sum to ±{number(float(np.abs(facts['combined']).max()))}"]
        self.set_note(" · ".join(words))

    def controls(self) -> QWidget | None:
        return self.filter

    def state(self) -> dict[str, object]:
        return {"filter": self.filter.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        kept = state.get("filter")
        if isinstance(kept, int) and kept >= 0:
            keep(self.filter, kept, f"Filter {kept + 1}")
            self.needs_changed.emit()


@view_kind(
    "unit",
    "One unit",
    "One channel or unit of the layer: its map, its weights, and how its values and gradients are spread.",
    "Images",
    has_single_units,
    rank=18,
)
class OneUnit(OneProbe):
    """Its map and weights on the left, histograms over 64 examples on the right."""

    card_size = (460, 260)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.unit = unit_choice(subject, "oneUnit")
        self.unit.activated.connect(self._ask_again)
        self.map, self.weights = Sheets(), Sheets()
        self.values, self.gradients = Histogram(), Histogram(role="convolution")
        self._numbers = (ElidedLabel("", "small"), ElidedLabel("", "small"))
        left = QVBoxLayout()
        left.setSpacing(8)
        left.addWidget(self.map, 1)
        left.addWidget(self.weights, 1)
        self._right = QWidget()
        right = QVBoxLayout(self._right)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(2)
        parts = (("Values", self.values), ("Gradients of the loss", self.gradients))
        for (title, histogram), numbers in zip(parts, self._numbers, strict=True):
            head = QHBoxLayout()
            head.setSpacing(8)
            head.addWidget(label(title, "small"))
            head.addWidget(numbers, 1)
            right.addLayout(head)
            right.addWidget(histogram, 1)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(14)
        line.addLayout(left, 1)
        line.addWidget(self._right, 1)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "unit", (int(self.unit.currentData() or 0),))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts, shown = snapshot.extra, snapshot.array
        mapped = shown.size > 1
        laid = shown if shown.ndim == 2 else shown[None]
        self.map.setVisible(mapped)
        if mapped:
            self.map.show_sheets([Sheet(f"map for example {facts['example'] + 1}", laid, signed=False)])
        self._show_weights(facts["weights"])
        for histogram, numbers, values, nothing in (
            (self.values, self._numbers[0], facts["values"], ""),
            (self.gradients, self._numbers[1], facts["gradients"], "no loss depends on this unit"),
        ):
            counted = None if values is None else Distribution.of(values)
            if counted is None:
                histogram.say(nothing)
            else:
                histogram.show_distribution(counted)
            numbers.setText("" if counted is None else counted.sentence())
        words = [f"{unit_word(self.subject).lower()} {facts['unit'] + 1} of {facts['units']:,}"]
        words += [] if mapped else [f"value {number(float(shown.ravel()[0]))}"]
        words += [] if facts["bias"] is None else [f"bias {number(facts['bias'])}"]
        self.set_note(" · ".join([*words, f"{facts['rows']} examples"]))

    def _show_weights(self, weights: np.ndarray | None) -> None:
        self.weights.setVisible(weights is not None)
        if weights is None:
            return
        project, book = self.subject.as_trained
        if weights.ndim == 1:
            shape = image_behind(project, book, self.subject.node_id) if book is not None else None
            laid = weights.reshape(shape).sum(0) if shape is not None else weights[None]
            self.weights.show_sheets([Sheet("weights", laid)])
        else:
            kernels = weights if weights.ndim == 3 else weights[:, None]
            self.weights.show_sheets([Sheet(str(one + 1), kernel) for one, kernel in enumerate(kernels[:64])])

    def controls(self) -> QWidget | None:
        return self.unit

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._right.setVisible(self.width() >= HISTOGRAMS_FROM)
        super().resizeEvent(event)

    def table(self) -> Table | None:
        if self._found is None:
            return None
        return ("value of the unit",), [(value,) for value in self._found.extra["values"].tolist()]

    def state(self) -> dict[str, object]:
        return {"unit": self.unit.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        if choose(self.unit, state.get("unit")):
            self.needs_changed.emit()
