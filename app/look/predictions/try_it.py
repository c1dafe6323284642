"""Feed the model what you like, and see what it answers while you change it."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from app.charts.arrays.activations import Activations
from app.charts.arrays.cells import Sheet, Sheets
from app.charts.bars import ROW, Bars
from app.charts.colourmaps import GREY, VIRIDIS
from app.charts.plot import number
from app.look.asked import choice, features, head
from app.look.base import OneProbe, Subject, Table
from app.look.controls import row, stacked
from app.look.own import answer_units, parts_of, still_scaled
from app.look.playground.cells import CellsInput, Part
from app.look.playground.inputs import ExampleInput, FileInput, Input, NumbersInput, PadInput, TextInput
from app.look.playground.rows import Row, Rows
from app.look.predictions.prediction import prediction_bars
from app.look.registry import view_kind
from app.widgets.labels import ElidedLabel, label
from app.widgets.segments import Segments
from app.workspace.own_units import OwnUnitsFinder
from engine.catalogue import Column, Data
from engine.feed.feed import Probe, Snapshot, Tried
from engine.look.pixels import is_image
from engine.shapes.heads import VALUES, YES_NO, Feature, input_columns

LOOK_MS = 4  # between two looks for the answer
GIVE_UP = 500  # looks
MOST_NUMBERS = 64
IN_ORDER, LEAST_BELOW = 10, 76
BELOW_FROM = 230  # pixels of height that leave room for what stands below the answer

EXAMPLE, DRAW, FILE, NUMBERS, TEXT = "example", "draw", "file", "numbers", "text"
_OPTIONS = {
    EXAMPLE: (EXAMPLE, "Example", "An example of the data"),
    DRAW: (DRAW, "Draw", "A drawing"),
    FILE: (FILE, "File", "An image from a file"),
    NUMBERS: (NUMBERS, "Numbers", "One number a feature"),
    TEXT: (TEXT, "Text", "Typed text"),
}


def answers_something(subject: Subject) -> bool:
    """Whether the model is asked anything about what is fed in.

    It isn't where many yes-or-no answers are compared with what the network itself drew, as pairs of words.
    """
    asked = head(subject)
    return asked is not None and not (asked.kind is YES_NO and not asked.column and asked.size > 1)


class _Titled(QWidget):
    """A image under a few words."""

    def __init__(self, title: str, about: str, image: QWidget) -> None:
        super().__init__()
        self.setToolTip(about)
        self.title = ElidedLabel(title, "small")
        stacked(self, self.title, (image, 1), spacing=2)


@view_kind(
    "try-it",
    "Try it",
    "Feed the model an example, a drawing, an image, numbers or text, and see what it predicts.",
    "Answers",
    answers_something,
    rank=5,
    whole=True,
)
class TryIt(OneProbe):
    """An input on the left; right of it the answer, what the model sees, what it hangs on, and a node."""

    card_size = (560, 320)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._node = ""
        self._number = 0
        self._looks = 0
        self._seen: Snapshot | None = None
        self.answered_at = 0.0  # on the clock of `perf_counter`
        self._data: object = None
        self._base: Row = {}
        self._row: Row = {}
        self._nodes: list[str] = []
        self._box: QComboBox | None = None
        self.inputs: dict[str, Input] = {}
        self._made_for: object = None
        self._units = OwnUnitsFinder.of(subject.workspace)
        self.ways = Segments([])
        self.ways.setObjectName("tryWays")
        self._place()
        self._find_ways()
        self.ways.chosen.connect(self._way_chosen)
        subject.workspace.inferred.connect(self._find_ways)
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self._look)
        self._units.found.connect(self._units_found)
        subject.workspace.engine_ready.connect(self._again)

    def _find_ways(self) -> None:
        """Offer the ways to make an input that suit what the model takes now."""
        column, known = self._input_column(), features(self.subject)
        parts, whole = parts_of(self.subject, known)
        if self.inputs and (column, known, parts, whole) == self._made_for:
            return
        self._made_for = (column, known, parts, whole)
        for made in self.inputs.values():
            self._stack.removeWidget(made)
            made.deleteLater()
        ways = self._ways(column, known, parts, whole)
        self.inputs = {key: ways[key] for key in (DRAW, NUMBERS, TEXT, EXAMPLE, FILE) if key in ways}
        for made in self.inputs.values():
            self._stack.addWidget(made)
            made.changed.connect(self.send)
        self._data, self._base, self._number = None, {}, 0
        self.ways.set_options([_OPTIONS[key] for key in self.inputs])
        self._show_way()

    def _ways(
        self, column: Column | None, known: tuple[Feature, ...], parts: tuple[Part, ...], whole: bool
    ) -> dict[str, Input]:
        ways: dict[str, Input] = {EXAMPLE: ExampleInput(column)}
        if column is not None and len(column.shape) == 3 and column.dtype == "float32":
            if column.shape[0] == 1:
                ways[DRAW] = PadInput(column)
            if column.shape[0] in (1, 3):
                ways[FILE] = FileInput(column)
        elif parts and sum(len(part.cells) for part in parts) <= MOST_NUMBERS:
            ways[NUMBERS] = CellsInput(parts, ready=whole)
        elif not parts and 0 < len(known) <= MOST_NUMBERS:
            ways[NUMBERS] = NumbersInput(known, scaled=True)
        elif column is not None and column.dtype == "int64" and len(column.shape) == 1 and column.classes:
            ways[TEXT] = TextInput(column, typed=self._typed)
        return ways

    def _typed(self, column: str, text: str) -> dict[str, Any] | None:
        """What a row of the data holds for a text, split into tokens as theirs are."""
        _, book = self.subject.as_trained
        data = [made for made in book.types.values() if isinstance(made, Data)] if book is not None else []
        found = (made.typed(column, text) for made in data if made.column(column) is not None)
        return next((row for row in found if row is not None), None)

    def _units_found(self) -> None:
        self._find_ways()
        if self._seen is not None:
            self._show(self._seen)
        if self.isVisible():
            self.send()

    def _input_column(self) -> Column | None:
        """The widest column that the answer depends on."""
        asked, (project, book) = head(self.subject), self.subject.as_trained
        if asked is None or book is None:
            return None
        columns = input_columns(project, book, asked.prediction[0])
        return max(columns, key=lambda column: int(np.prod(column.shape)), default=None)

    def _place(self) -> None:
        self._stack = QStackedLayout()
        self.bars = Bars(unit="probability")
        self.bars.setObjectName("tryBars")
        self.values, self.image = Activations(table=GREY), Sheets()
        self.single = label("", "title", wrap=True)
        self.single.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._answer = QWidget()
        self.answer = QStackedLayout(self._answer)
        for shown in (self.bars, self.values, self.image, self.single):
            self.answer.addWidget(shown)
        self.input_seen, self.slope = Activations(table=GREY), Activations(table=VIRIDIS)
        self.activations = Activations()
        self._below = QWidget()
        below = QHBoxLayout(self._below)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(10)
        self._titled = {
            "seen": _Titled("model sees", "The input as it reaches the model", self.input_seen),
            "slope": _Titled(
                "saliency", "How strongly the likeliest prediction depends on each place", self.slope
            ),
            "node": _Titled("", "What the node gives", self.activations),
        }
        for part in self._titled.values():
            below.addWidget(part, 1)
        right = QVBoxLayout()
        right.setSpacing(8)
        right.addWidget(self._answer, 5)
        right.addWidget(self._below, 4)
        self._halves = QHBoxLayout(self)
        self._halves.setContentsMargins(0, 0, 0, 0)
        self._halves.setSpacing(14)
        self._halves.addLayout(self._stack, 2)
        self._halves.addLayout(right, 3)
        self._titled["node"].hide()

    # -- to the model -----------------------------------------------------------------------------

    @property
    def way(self) -> Input:
        """How the input is made now."""
        return self.inputs[self.ways.key]

    @property
    def number(self) -> int:
        """How many inputs were sent to the model."""
        return self._number

    @property
    def answered(self) -> int:
        """The number of the input whose answer stands there."""
        return 0 if self._seen is None else int(self._seen.extra.get("try", 0))

    def send(self) -> None:
        """Have the model answer the input as it is now."""
        trainer = self.subject.workspace.trainer
        if trainer is None or not self._take_data():
            return
        row = self.way.make(self._base)
        if row is None:
            return
        self._number += 1
        self._row = row
        trainer.try_input(Tried(self._number, row))
        self._looks = 0
        self._timer.start()

    def _take_data(self) -> bool:
        """Read the data again where they are others; False while there are none."""
        trainer = self.subject.workspace.trainer
        data = trainer.data if trainer is not None else None
        if not data:
            return False
        if data is not self._data:
            rows = Rows(data)
            if not rows.count:
                return False
            self._data = data
            self._find_ways()  # the units of other data are other ones
            self._data = data
            first, begun = rows.row(0), self._base
            self._base = first
            same = {name: one.shape for name, one in begun.items()} == {
                name: one.shape for name, one in first.items()
            }
            for made in self.inputs.values():
                made.take_rows(rows)
                if not same:
                    made.begin(first)
        return True

    def _look(self) -> None:
        """Draw the answer as soon as it is there, without waiting for the window's own clock."""
        trainer = self.subject.workspace.trainer
        self._looks += 1
        found = trainer.feed.latest(self._probe) if trainer is not None else None
        if found is not None and found is not self._seen and "failed" not in found.extra and found.array.size:
            self._show(found)
        if self.answered == self._number or self._looks > GIVE_UP or not self.isVisible():
            self._timer.stop()

    # -- from the model ---------------------------------------------------------------------------

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "try_it", (self._node,) if self._node else ())

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        if snapshot is not self._seen:
            self._show(snapshot)
        if not self._number:
            self.send()  # the data are there now

    def _show(self, snapshot: Snapshot) -> None:
        self._seen = snapshot
        self.answered_at = perf_counter()
        facts = snapshot.extra
        name = facts["target"] or "answer"
        own = answer_units(self.subject)
        if facts["kind"] != VALUES:
            self.answer.setCurrentWidget(self.bars)
            self._show_bars(snapshot)
        elif snapshot.array.size == 1:
            self.answer.setCurrentWidget(self.single)
            value = snapshot.array if own is None else own.undo(snapshot.array)
            scaled = " (scaled)" if own is None and still_scaled(self.subject) else ""
            told = f"{number(float(value.flat[0]))}{scaled}"
            self.single.setText(f"{own.name if own else name}\n{told}")
        else:
            values = snapshot.array if own is None else own.undo(snapshot.array)
            self._show_values(name, values.reshape(facts["shape"]).astype(np.float32))
        self._show_below(facts)
        self.set_note(self.way.said())

    def _show_values(self, name: str, values: np.ndarray) -> None:
        if is_image(values.shape):
            self.answer.setCurrentWidget(self.image)
            drawn = values[0] if len(values) == 1 else values.transpose(1, 2, 0)
            self.image.show_sheets([Sheet(name, drawn, signed=False)])
        else:
            self.answer.setCurrentWidget(self.values)
            self.values.show_array(values)

    def _show_bars(self, snapshot: Snapshot) -> None:
        whole = min(snapshot.array.size, IN_ORDER) * ROW
        self._answer.setMinimumHeight(whole if self.height() >= whole + LEAST_BELOW else 0)
        right = -1
        target = self._row.get(snapshot.extra["target"])
        if self.ways.key == EXAMPLE and target is not None and target.size == 1:
            right = int(target.item() > 0) if snapshot.extra["kind"] != "classes" else int(target.item())
        most = max(1, self.bars.height() // ROW)
        told = Snapshot(
            snapshot.revision,
            snapshot.step,
            snapshot.array,
            {**snapshot.extra, "target": right if right >= 0 else None},
        )
        self.bars.show_bars(prediction_bars(told, most), top=1.0)

    def _show_below(self, facts: Mapping[str, object]) -> None:
        slope = facts.get("slope")
        numbers = self.inputs.get(NUMBERS)
        if isinstance(numbers, CellsInput):
            own = answer_units(self.subject) if facts["kind"] == VALUES else None
            factor = own.factor if own is not None else 1.0
            found = slope.ravel() if isinstance(slope, np.ndarray) else None
            numbers.show_slopes(found, str(facts.get("column", "")), factor)
        elif isinstance(numbers, NumbersInput):
            numbers.show_slopes(slope.ravel() if isinstance(slope, np.ndarray) else None)
        if self._below.isHidden():
            return
        tried = self._row.get(str(facts.get("column", "")))
        image = tried is not None and tried.ndim == 3
        self._titled["seen"].setVisible(image)
        self._titled["slope"].setVisible(numbers is None and isinstance(slope, np.ndarray))
        if image and tried is not None:
            self.input_seen.show_array(tried.mean(axis=0, keepdims=True))
        if isinstance(slope, np.ndarray) and numbers is None:
            self.slope.show_array(slope[None] if image else slope)
        values = facts.get("activations")
        if isinstance(values, np.ndarray):
            self.activations.show_array(values)

    # -- controls ---------------------------------------------------------------------------------

    def controls(self) -> QWidget | None:
        if self._controls is None:
            workspace = self.subject.workspace
            graph = workspace.document.project.graph
            layers = [
                (node.id, node.name or kind.title)
                for node in graph.nodes.values()
                if (kind := workspace.type_of(node)) is not None and kind.kind == "layer"
            ]
            self._nodes = ["", *(node_id for node_id, _ in layers)]
            names = ["no activations", *(name for _, name in layers)]
            self._box = choice(names, 0, "Whose activations are shown", "tryNode")
            self._box.activated.connect(self._node_chosen)
            self._controls = row(self.ways, self._box)
        return self._controls

    def _show_way(self) -> None:
        self._stack.setCurrentWidget(self.way)
        self._halves.setStretch(0, 4 if self.ways.key == NUMBERS else 2)

    def _way_chosen(self, key: str) -> None:
        self._show_way()
        self.send()

    def _node_chosen(self, index: int) -> None:
        self._node = self._nodes[index]
        self._titled["node"].setVisible(bool(self._node))
        if self._box is not None:
            self._titled["node"].title.setText(self._box.itemText(index) if self._node else "")
        self.needs_changed.emit()

    def _again(self) -> None:
        self._data, self._number = None, 0

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.send()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._below.setVisible(self.height() >= BELOW_FROM)
        if self._seen is not None:
            self._show(self._seen)

    def table(self) -> Table | None:
        if self._seen is None:
            return None
        own = answer_units(self.subject) if self._seen.extra["kind"] == VALUES else None
        found = (self._seen.array if own is None else own.undo(self._seen.array)).ravel().tolist()
        names = self._seen.extra["classes"]
        if len(names) != len(found):
            names = tuple(str(index + 1) for index in range(len(found)))
        return ("answer", "value"), list(zip(names, found, strict=True))

    def state(self) -> dict[str, object]:
        return {"way": self.ways.key, "node": self._node}

    def restore(self, state: Mapping[str, object]) -> None:
        self.ways.choose(str(state.get("way", "")))
        self.controls()
        node = state.get("node", "")
        if node in self._nodes and self._box is not None:
            self._box.setCurrentIndex(self._nodes.index(str(node)))
            self._node_chosen(self._nodes.index(str(node)))
