"""What a unit looks for: an input made to excite it, and the examples that do most."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.charts.arrays.cells import Sheet, Sheets
from app.charts.arrays.examples import Example, Examples
from app.charts.chart import Chart, Curve, Entry, Frame
from app.charts.plot import number
from app.look.arrays import rows_of
from app.look.base import LiveView, OneProbe, Probes, Snapshots, Subject, Table
from app.look.controls import beside, button, choice, choose, stacked
from app.look.images.receptive import sees_images
from app.look.registry import view_kind
from app.widgets.fields import QuietCombo
from engine.feed.feed import Probe, Snapshot
from engine.look.pixels import has_channels_first, image_input
from engine.look.pixels import units_of as units_in

MOST_UNITS = 1024
CURVE_FROM = 330  # pixels of width that leave room for the curve


def units_of(subject: Subject) -> int:
    """How many units leave a node for an example: channels, features or numbers."""
    shape = subject.shape_of()
    return units_in(subject.type, shape) if subject.node is not None and shape else 0


def unit_word(subject: Subject) -> str:
    """What a unit of a node is called."""
    shape = subject.shape_of()
    return (
        "Channel" if has_channels_first(subject.type) or (shape is not None and len(shape) == 3) else "Unit"
    )


def unit_choice(subject: Subject, name: str) -> QuietCombo:
    """A box of all units of a node."""
    word = unit_word(subject)
    count = max(1, min(MOST_UNITS, units_of(subject)))
    entries = [(f"{word} {one + 1}", one) for one in range(count)]
    return choice(name, entries, f"The {word.lower()} that is shown", 112)


def excitable(subject: Subject) -> bool:
    """Whether the layer has units that see an image; a signal of one channel would be a single line."""
    project, book = subject.as_trained
    if book is None or not units_of(subject) or not sees_images(subject):
        return False
    seen = image_input(project, book, subject.node_id)
    return seen is not None and min(seen.shape[-2:]) > 1


@view_kind(
    "excitation",
    "Feature visualisation",
    "An image made from noise, step by step, so that it excites one unit as much as it can.",
    "Images",
    excitable,
    rank=40,
)
class Excitation(LiveView):
    """The image so far, and how strongly the unit answers to it; it goes on until it is done."""

    card_size = (420, 240)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._stage, self._try = 1, 1
        self._snapshot: Snapshot | None = None
        self.unit = unit_choice(subject, "excitedUnit")
        self.unit.activated.connect(self._chosen)
        self.again = button("exciteAgain", "Again", "Begin with other noise, and the weights as they are now")
        self.again.clicked.connect(self._begin)
        self.image = Sheets()
        self.curve = Chart()
        beside(self, (self.image, 3), (self.curve, 2), spacing=12)

    def _probe(self, stage: int) -> Probe:
        chosen = (int(self.unit.currentData() or 0), stage, self._try)
        return Probe(self.subject.node_id, "excitation", chosen)

    def probes(self) -> Probes:
        """The stage that is on screen, so that it stays there, and the next."""
        return frozenset(self._probe(stage) for stage in (self._stage - 1, self._stage) if stage > 0)

    def draw(self, found: Snapshots) -> None:
        stages = (found.get(self._probe(stage)) for stage in (self._stage, self._stage - 1))
        snapshot = next((one for one in stages if one is not None), None)
        if snapshot is None:
            return
        self._snapshot = snapshot
        facts = snapshot.extra
        self.image.show_sheets([Sheet("generated for the unit", snapshot.array, signed=False)])
        scores = np.asarray(facts["scores"], np.float64)
        steps = np.arange(len(scores), dtype=np.float64)
        usual = np.full(2, facts["natural"])
        values = np.concatenate([scores, usual])
        low, high = float(values.min()), float(values.max())
        room = 0.06 * (high - low) or 1.0
        last = float(facts["stages"] * (len(scores) - 1) / facts["stage"])
        dashed = Qt.PenStyle.DashLine
        legend = (Entry("generated", "accent"), Entry("best example", "warning", style=dashed))
        frame = Frame((0.0, max(1.0, last)), (low - room, high + room), "step", "mean value", legend=legend)
        best = Curve(np.array([0.0, last]), usual, "warning", style=dashed)
        self.curve.show_layers(frame, [best, Curve(steps, scores)])
        done = f"step {len(scores) - 1}" + ("" if facts["stage"] >= facts["stages"] else " …")
        self.set_note(f"{number(scores[-1])} · best of 64 examples {number(facts['natural'])} · {done}")
        following = min(int(facts["stage"]) + 1, int(facts["stages"]))
        if following > self._stage:
            self._stage = following
            self.needs_changed.emit()

    def controls(self) -> QWidget | None:
        return self.in_row(self.unit, self.again)

    def _chosen(self, _index: int) -> None:
        self._stage = 1
        self.needs_changed.emit()

    def _begin(self) -> None:
        self._try += 1
        self._chosen(0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.curve.setVisible(self.width() >= CURVE_FROM)
        super().resizeEvent(event)

    def table(self) -> Table | None:
        return None if self._snapshot is None else rows_of(self._snapshot.array)

    def state(self) -> dict[str, object]:
        return {"unit": self.unit.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        if choose(self.unit, state.get("unit")):
            self._chosen(0)


@view_kind(
    "strongest",
    "Strongest examples",
    "The held out examples that excite one unit most, with its value; click one to pin it.",
    "Images",
    excitable,
    rank=22,
)
class Strongest(OneProbe):
    """Twelve examples, the strongest first."""

    card_size = (420, 240)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.unit = unit_choice(subject, "strongestUnit")
        self.unit.activated.connect(self._ask_again)
        self.sheet = Examples()
        self.sheet.picked.connect(self._pin)
        stacked(self, self.sheet)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "strongest", (int(self.unit.currentData() or 0),))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        images = snapshot.array.mean(axis=3) if snapshot.array.ndim == 4 else snapshot.array
        told = [
            Example((number(float(value)), f"example {index + 1}"), True)
            for index, value in zip(facts["rows"], facts["values"], strict=True)
        ]
        self.sheet.show_examples(images, told)
        self.set_note(f"mean {number(facts['mean'])} over {facts['looked_at']:,} examples")

    def controls(self) -> QWidget | None:
        return self.unit

    def table(self) -> Table | None:
        if self._found is None:
            return None
        facts = self._found.extra
        rows = zip(facts["rows"], facts["values"].tolist(), strict=True)
        return ("example", "value"), [(index + 1, value) for index, value in rows]

    def state(self) -> dict[str, object]:
        return {"unit": self.unit.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        if choose(self.unit, state.get("unit")):
            self.needs_changed.emit()
