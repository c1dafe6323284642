"""The cards of the views panel: each shows one kind of picture and says which probes it needs."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.views.activations import Activations, activation_caption
from app.views.bars import Bar, Bars
from app.views.colourmaps import GREY, VIRIDIS
from app.views.filters import Filters, caption
from app.views.histogram import Distribution, Histogram
from app.views.picture import number
from app.views.series import Line, SeriesPlot
from app.widgets.labels import ElidedLabel, label
from engine.run.feed import Feed, Probe, Snapshot


class Card(QWidget):
    """A title, a note beside it and a picture below; `needs` names the probes as (node id, what)."""

    stretch: ClassVar[int] = 1
    least: ClassVar[int] = 120

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.example: int | None = None
        self._seen: dict[Probe, Snapshot] = {}
        self._title = label(title, "heading")
        self._note = ElidedLabel("", "small")
        self._note.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.setSpacing(8)
        head.addWidget(self._title)
        head.addWidget(self._note, 1)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(6)
        self._column.addLayout(head)
        self.setMinimumWidth(self.least)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)

    def needs(self, node_id: str) -> list[tuple[str, str]]:
        """The probes that the card shows for a node."""
        return []

    def forget(self) -> None:
        """Another node is shown: nothing seen so far counts."""
        self._seen.clear()
        self.example = None
        self._note.setText("")

    def wait_for(self, words: str) -> None:
        """Say what the picture waits for, unless there is one."""

    def refresh(self, feed: Feed, node_id: str) -> None:
        """Draw the snapshots that are new."""
        for found in self.needs(node_id):
            probe = Probe(*found)
            snapshot = feed.latest(probe)
            if snapshot is not None and snapshot is not self._seen.get(probe):
                self._seen[probe] = snapshot
                self.show_snapshot(probe, snapshot)

    def show_snapshot(self, probe: Probe, snapshot: Snapshot) -> None:
        """Draw one snapshot."""

    def _set_note(self, words: str) -> None:
        if words != self._note.text():
            self._note.setText(words)


class InputCard(Card):
    """The example that goes through the network, with the class it belongs to."""

    stretch = 2
    least = 104

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Input", parent)
        self._source = ""
        self._classes: dict[str, tuple[str, ...]] = {}
        self.picture = Activations(table=GREY)
        self.picture.setObjectName("inputExample")
        self.setMaximumWidth(220)
        self._column.addWidget(self.picture, 1)

    def set_source(self, node_id: str, classes: dict[str, tuple[str, ...]]) -> None:
        """Show the example of this data node, whose columns have these classes."""
        if node_id != self._source:
            self._source = node_id
            self.forget()
        self._classes = classes

    def needs(self, node_id: str) -> list[tuple[str, str]]:
        return [(self._source, "activations")] if self._source else []

    def forget(self) -> None:
        super().forget()
        self.picture.say("")

    def wait_for(self, words: str) -> None:
        if not self._seen:
            self.picture.say("no data" if not self._source else "waiting for data")

    def show_snapshot(self, probe: Probe, snapshot: Snapshot) -> None:
        self.example = snapshot.extra.get("example")
        self.picture.show_array(picture_of(snapshot))
        self._set_note(class_words(snapshot, self._classes))


class ActivationsCard(Card):
    """What the node answers: maps, a sequence, or one bar a unit."""

    stretch = 5
    least = 160

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Activations", parent)
        self._as_images = False
        self.picture = Activations()
        self.picture.setObjectName("viewsActivations")
        self._column.addWidget(self.picture, 1)

    def show_as_images(self, images: bool) -> None:
        """Whether the maps are pictures of the data rather than magnitudes."""
        self._as_images = images
        self._title.setText("Example" if images else "Activations")
        self.picture.set_table(GREY if images else VIRIDIS)

    def needs(self, node_id: str) -> list[tuple[str, str]]:
        return [(node_id, "activations")]

    def wait_for(self, words: str) -> None:
        if not self._seen:
            self.picture.say(words)

    def show_snapshot(self, probe: Probe, snapshot: Snapshot) -> None:
        self.example = snapshot.extra.get("example")
        array = picture_of(snapshot) if self._as_images else snapshot.array
        self.picture.show_array(array)
        words = activation_caption(snapshot)
        if array.ndim == 3:
            low, high = self.picture.tiles.scale
            words += f" · {number(low)} to {number(high)}"
        self._set_note(words)


class FiltersCard(Card):
    """The node's first weight as tiles or as a matrix."""

    stretch = 4
    least = 120

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Filters", parent)
        self.picture = Filters()
        self.picture.setObjectName("viewsFilters")
        self._column.addWidget(self.picture, 1)

    def needs(self, node_id: str) -> list[tuple[str, str]]:
        return [(node_id, "filters")]

    def wait_for(self, words: str) -> None:
        if not self._seen:
            self.picture.say("The weights appear when the network has been built.")

    def show_snapshot(self, probe: Probe, snapshot: Snapshot) -> None:
        self._title.setText("Weights" if snapshot.extra.get("kind") == "matrix" else "Filters")
        self.picture.show_snapshot(snapshot)
        low, high = self.picture.scale
        self._set_note(f"{caption(snapshot)} · {number(low)} to {number(high)}")


class HistogramsCard(Card):
    """How the node's values, weights and gradients are spread."""

    stretch = 4
    least = 180
    PARTS = (
        ("output_histogram", "Values", "accent"),
        ("weights", "Weights", "good"),
        ("gradients", "Gradients", "convolution"),
    )

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self._title.hide()
        self._note.hide()
        self._weighty = True
        self.histograms: dict[str, Histogram] = {}
        self._numbers: dict[str, ElidedLabel] = {}
        self._parts: dict[str, QWidget] = {}
        for what, title, role in self.PARTS:
            part = QWidget()
            column = QVBoxLayout(part)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(2)
            head = QHBoxLayout()
            head.setSpacing(8)
            head.addWidget(label(title, "heading"))
            numbers = ElidedLabel("", "small")
            numbers.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            head.addWidget(numbers, 1)
            picture = Histogram(role=role)
            picture.setObjectName(f"histogram_{what}")
            column.addLayout(head)
            column.addWidget(picture, 1)
            self.histograms[what], self._numbers[what], self._parts[what] = picture, numbers, part
            self._column.addWidget(part, 1)

    def set_weighty(self, weighty: bool) -> None:
        """Whether the node has weights, and so gradients."""
        self._weighty = weighty
        self._parts["weights"].setVisible(weighty)
        self._parts["gradients"].setVisible(weighty)

    def needs(self, node_id: str) -> list[tuple[str, str]]:
        return [(node_id, what) for what, _, _ in self.PARTS if self._weighty or what == "output_histogram"]

    def forget(self) -> None:
        super().forget()
        for numbers in self._numbers.values():
            numbers.setText("")

    def wait_for(self, words: str) -> None:
        seen = {probe.what for probe in self._seen}
        for what, picture in self.histograms.items():
            if what not in seen:
                picture.say(
                    "with the first batches" if what == "gradients" else "when the network has been built"
                )

    def show_snapshot(self, probe: Probe, snapshot: Snapshot) -> None:
        found = Distribution.of_snapshot(snapshot)
        self.histograms[probe.what].show_distribution(found)
        self._numbers[probe.what].setText(found.sentence())


class PredictionCard(Card):
    """What the head that the node belongs to answers to the example."""

    stretch = 4
    least = 150

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Prediction", parent)
        self.bars = Bars(unit="probability")
        self.bars.setObjectName("predictionBars")
        self.forecast = SeriesPlot(unit="example")
        self.forecast.hide()
        self.setMaximumWidth(440)
        self._column.addWidget(self.bars)
        self._column.addWidget(self.forecast, 1)
        self._column.addStretch()

    def needs(self, node_id: str) -> list[tuple[str, str]]:
        return [(node_id, "predictions")]

    def wait_for(self, words: str) -> None:
        if not self._seen:
            self.bars.say("when the network has been built")

    def show_snapshot(self, probe: Probe, snapshot: Snapshot) -> None:
        numbers = snapshot.extra.get("kind") == "values"
        self.bars.setVisible(not numbers)
        self.forecast.setVisible(numbers)
        if numbers:
            right, predicted = snapshot.array[:, 1], snapshot.array[:, 0]
            self.forecast.show_lines([Line("right", right, "dim"), Line("predicted", predicted, "accent")])
            self._set_note("blue: predicted, grey: right")
            return
        bars = prediction_bars(snapshot)
        self.bars.show_bars(bars[:14], top=1.0)
        more = len(bars) - 14
        self._set_note(f"the likeliest 14 of {len(bars)}" if more > 0 else "probability of each class")


def prediction_bars(snapshot: Snapshot) -> list[Bar]:
    """One bar a class; the right class is green and said in words, the likeliest is in full text."""
    chances = np.asarray(snapshot.array, dtype=np.float64).reshape(-1)
    names = snapshot.extra.get("classes") or ()
    target = snapshot.extra.get("target")
    right = int(target) if isinstance(target, int) else -1
    best = int(chances.argmax()) if len(chances) else -1
    order = range(len(chances)) if len(chances) <= 14 else np.argsort(-chances).tolist()
    bars = []
    for index in order:
        name = str(names[index]) if len(names) == len(chances) else str(index)
        told = f"{name} ✓" if index == right else name
        note = "the right class" if index == right else ""
        role = "good" if index == right else "accent"
        bars.append(Bar(told, float(chances[index]), role, note, index == best))
    return bars


def picture_of(snapshot: Snapshot) -> np.ndarray:
    """The column of a data node's example that shows best: an image, else the largest."""
    ports = snapshot.extra.get("ports") or {}
    arrays = [np.asarray(array) for array in ports.values()] or [np.asarray(snapshot.array)]
    return max([np.asarray(snapshot.array), *arrays], key=_worth_showing)


def _worth_showing(array: np.ndarray) -> tuple[bool, int]:
    return array.ndim == 3, array.size


def class_words(snapshot: Snapshot, classes: dict[str, tuple[str, ...]]) -> str:
    """The class of the example: `digit 5`."""
    for port, array in (snapshot.extra.get("ports") or {}).items():
        names = classes.get(port, ())
        value = np.asarray(array).reshape(-1)
        if names and len(value) == 1 and 0 <= int(value[0]) < len(names):
            return f"{port} {names[int(value[0])]}"
    return ""
