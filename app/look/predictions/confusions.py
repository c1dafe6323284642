"""Which classes are taken for which, how well each is found, and the examples behind a cell."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QStackedLayout, QVBoxLayout, QWidget

from app.charts.arrays.confusion import COUNTS, OF_ANSWERED, OF_RIGHT, Confusion
from app.charts.arrays.examples import Example, Examples
from app.charts.plot import Plot, percent
from app.look.asked import answers_with_classes, count_words
from app.look.base import LiveView, Probes, Snapshots, Subject, Table
from app.look.controls import beside
from app.look.registry import view_kind
from app.theme import SMALL, Theme
from app.widgets.labels import ElidedLabel
from app.widgets.segments import Segments
from engine.feed.feed import Probe, Snapshot
from engine.look.predictions import scores

BESIDE_FROM = 430  # pixels of width that leave room beside the matrix
SHOWN = 24
ROW = 18


class ByClass(Plot):
    """Precision, recall and F1 of each class, and of how many examples, as a table."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names: tuple[str, ...] = ()
        self._found: scores.ByClass | None = None

    def show_scores(self, names: tuple[str, ...], found: scores.ByClass) -> None:
        """Show other numbers."""
        self._names, self._found = names, found
        self.changed()

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        found = self._found
        if found is None:
            return
        metrics = QFontMetrics(theme.font(SMALL))
        cell = min(58.0, (self.width() - 34) / 4)
        widest = max((metrics.horizontalAdvance(name) for name in self._names), default=0)
        left = min(self.width() - 4 * cell, widest + 24.0)
        columns = ("precision", "recall", "F1", "of")
        side = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.dim)
        for index, name in enumerate(columns):
            box = QRectF(left + index * cell, 0, cell, ROW)
            painter.drawText(box, side | Qt.AlignmentFlag.AlignRight, name)
        room = int(self.height() // ROW) - 1
        for line, name in enumerate(self._names[:room]):
            y = (line + 1) * ROW
            more = line == room - 1 and len(self._names) > room
            told = f"… and {len(self._names) - line} more" if more else name
            painter.setFont(theme.font(SMALL))
            painter.setPen(theme.dim if more else theme.text)
            told = metrics.elidedText(told, Qt.TextElideMode.ElideRight, int(left - 6))
            painter.drawText(QRectF(0, y, left, ROW), side, told)
            if more:
                break
            painter.setFont(theme.mono(SMALL))
            for index, values in enumerate(found):
                value = float(values[line])
                words = f"{int(value):,}" if index == 3 else "-" if value != value else f"{value:.3f}"
                box = QRectF(left + index * cell, y, cell, ROW)
                painter.drawText(box, side | Qt.AlignmentFlag.AlignRight, words)

    def sizeHint(self) -> QSize:
        return QSize(280, 160)


@view_kind(
    "confusion-matrix",
    "Confusion matrix",
    "True classes in rows, predicted ones in columns. Click a cell to see its examples.",
    "Answers",
    answers_with_classes,
    rank=7,
)
class ConfusionMatrix(LiveView):
    """The matrix, and beside it a table of the classes or the examples of the cell that was clicked."""

    card_size = (480, 270)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._probe = Probe(subject.node_id, "answers")
        self._found: Snapshot | None = None
        self._cell: tuple[int, int] | None = None
        self._rows: tuple[int, ...] = ()
        self._names: tuple[str, ...] = ()
        self._fractions = Segments(
            [
                (COUNTS, "counts", "How many examples"),
                (OF_RIGHT, "% of true", "Per cent of the examples of the true class: recall"),
                (OF_ANSWERED, "% of answers", "Per cent of the answers of that class: precision"),
            ]
        )
        self._fractions.setObjectName("confusionFractions")
        self.matrix = Confusion()
        self.matrix.pickable = True
        self.by_class = ByClass()
        self.examples = Examples()
        self._caption = ElidedLabel("", "small")
        self._caption.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._back = QPushButton("Back")
        self._back.setProperty("kind", "small")
        self._back.setToolTip("Back to the matrix and the table of classes")
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._caption, 1)
        head.addWidget(self._back)
        cell = QWidget()
        below = QVBoxLayout(cell)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(4)
        below.addLayout(head)
        below.addWidget(self.examples, 1)
        self._beside = QWidget()
        self._stack = QStackedLayout(self._beside)
        self._stack.addWidget(self.by_class)
        self._stack.addWidget(cell)
        beside(self, (self.matrix, 5), (self._beside, 6), spacing=14)
        self._fractions.chosen.connect(self._normalised)
        self.matrix.picked.connect(self.pick)
        self._back.clicked.connect(self._leave)
        self.examples.picked.connect(self._pin)

    # -- what is drawn ----------------------------------------------------------------------------

    def probes(self) -> Probes:
        wanted = {self._probe}
        if self._rows:
            wanted.add(self._examples_probe)
        return frozenset(wanted)

    @property
    def _examples_probe(self) -> Probe:
        return Probe(self.subject.node_id, "examples", self._rows)

    def draw(self, found: Snapshots) -> None:
        snapshot = found.get(self._probe)
        if snapshot is not None and snapshot is not self._found:
            self._found = snapshot
            self._show()
        sheet = found.get(self._examples_probe) if self._rows else None
        if sheet is not None:
            self._show_examples(sheet)

    def _show(self) -> None:
        snapshot = self._found
        assert snapshot is not None
        self._names = tuple(snapshot.extra["classes"])
        answered, right = snapshot.array.argmax(axis=1), snapshot.extra["right"]
        counts = scores.confusion(right, answered, len(self._names))
        self.matrix.show_matrix(counts, self._names)
        self.by_class.show_scores(self._names, scores.by_class(counts))
        fraction = float((answered == right).mean())
        total = count_words(len(right), snapshot.extra["total"])
        self.set_note(f"{percent(fraction)} right · {total}")
        if self._cell is not None:
            self._look_up()

    def pick(self, true: int, answered: int) -> None:
        """Show the examples of a cell, or none where it is shown already."""
        self._cell = None if (true, answered) == self._cell else (true, answered)
        self.matrix.choose(self._cell)
        self._look_up()
        self._place()

    def _leave(self) -> None:
        if self._cell is not None:
            self.pick(*self._cell)

    def _pin(self, index: int) -> None:
        trainer = self.subject.workspace.trainer
        if trainer is not None and index < len(self._rows):
            trainer.pin(self._rows[index])

    def _look_up(self) -> None:
        """Ask for the examples of the cell, as far as there is room for them."""
        rows: tuple[int, ...] = ()
        if self._cell is not None and self._found is not None:
            true, answered = self._cell
            inside = (self._found.extra["right"] == true) & (self._found.array.argmax(axis=1) == answered)
            places = np.nonzero(inside)[0]
            sure = self._found.array[places, answered]
            order = places[np.argsort(-sure, kind="stable")]
            rows = tuple(int(self._found.extra["rows"][place]) for place in order[:SHOWN])
            self._say(true, answered, len(places), len(rows))
        if rows != self._rows:
            self._rows = rows
            if not rows:
                self.examples.say("There is no such example." if self._cell is not None else "")
            self.needs_changed.emit()

    def _say(self, true: int, answered: int, count: int, shown: int) -> None:
        name, guess = self._names[true], self._names[answered]
        words = f"{name} answered right" if true == answered else f"{name} taken for {guess}"
        few = f"{count:,}" if shown == count else f"the surest {shown} of {count:,}"
        self._caption.setText(f"{words}: {few}")

    def _show_examples(self, sheet: Snapshot) -> None:
        snapshot = self._found
        if snapshot is None or self._cell is None:
            return
        place_of = {int(row): place for place, row in enumerate(snapshot.extra["rows"])}
        told = []
        for row in sheet.extra["rows"]:
            probabilities = snapshot.array[place_of[row]]
            best = int(probabilities.argmax())
            lines = (f"{self._names[best]} {percent(float(probabilities[best]))}", f"example {row + 1}")
            told.append(Example(lines, best == int(snapshot.extra["right"][place_of[row]])))
        self.examples.show_examples(sheet.array, told, sheet.extra["names"])

    # -- where it stands --------------------------------------------------------------------------

    def _place(self) -> None:
        wide = self.width() >= BESIDE_FROM
        self._stack.setCurrentIndex(0 if self._cell is None else 1)
        self.matrix.setVisible(wide or self._cell is None)
        self._beside.setVisible(wide or self._cell is not None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _normalised(self, fractions: str) -> None:
        self.matrix.set_fractions(fractions)

    def table(self) -> Table | None:
        counts = self.matrix.matrix
        if counts is None:
            return None
        found = scores.by_class(counts)
        rows = [
            (name, *counts[index].tolist(), *(float(values[index]) for values in found[:3]))
            for index, name in enumerate(self._names)
        ]
        return ("true class", *self._names, "precision", "recall", "F1"), rows

    def controls(self) -> QWidget | None:
        return self.in_row(self._fractions)

    def state(self) -> dict[str, object]:
        return {"shares": self._fractions.key}

    def restore(self, state: Mapping[str, object]) -> None:
        self._fractions.choose(str(state.get("shares", COUNTS)))
