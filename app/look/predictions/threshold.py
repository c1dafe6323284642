"""What a threshold on the probability does: hits, misses, false alarms, what they cost, and the curves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSlider, QVBoxLayout, QWidget

from app.charts.chart import Chart, Curve, Frame, Layer, Marks
from app.charts.plot import Plot
from app.look.asked import answers_with_classes, choice, count_words, index_of, of_class
from app.look.base import OneProbe, Subject, Table
from app.look.controls import dial
from app.look.predictions.rates import one_against_rest
from app.look.registry import view_kind
from app.theme import SMALL, Theme
from app.widgets.labels import label
from engine.feed.feed import Snapshot
from engine.look.predictions import scores

STEPS = 1000
MISSES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)  # what a miss costs beside a false alarm
EQUAL = MISSES.index(1.0)
WORDS = 78  # pixels of width for what a slider sets
CHARTS_FROM = 235  # pixels of height that leave room for the curves


class CountsTable(Plot):
    """The four counts of yes-or-no answers as a square of numbers, and the rates beside them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.counts: scores.Counts | None = None

    def show_counts(self, counts: scores.Counts) -> None:
        """Show other counts."""
        self.counts = counts
        self.changed()

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        counts = self.counts
        if counts is None:
            return
        left, head, row = 62.0, 15.0, 21.0
        wide = min(84.0, (self.width() - left - 104) / 2)
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.dim)
        middle = Qt.AlignmentFlag.AlignCenter
        for column, word in enumerate(("said yes", "said no")):
            painter.drawText(QRectF(left + column * wide, 0, wide, head), middle, word)
        cells = ((counts.hits, counts.misses), (counts.false_alarms, counts.rejections))
        words = (("TP", "FN"), ("FP", "TN"))
        for line, name in enumerate(("is yes", "is no")):
            at = QRectF(0, head + line * row, left - 8, row)
            painter.setFont(theme.font(SMALL))
            painter.setPen(theme.dim)
            painter.drawText(at, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, name)
            for column in range(2):
                cell = QRectF(left + column * wide + 1, head + line * row + 1, wide - 2, row - 2)
                painter.fillRect(cell, theme.raised)
                painter.setFont(theme.font(SMALL))
                painter.setPen(theme.hint)
                inner = cell.adjusted(6, 0, -6, 0)
                side = Qt.AlignmentFlag.AlignVCenter
                painter.drawText(inner, side | Qt.AlignmentFlag.AlignLeft, words[line][column])
                painter.setFont(theme.mono(SMALL))
                right = (line == 0) == (column == 0)
                painter.setPen(theme.good_text if right else theme.bad_text)
                painter.drawText(inner, side | Qt.AlignmentFlag.AlignRight, f"{cells[line][column]:,}")
        rates = (("precision", counts.precision), ("recall", counts.recall), ("F1", counts.f1))
        start = left + 2 * wide + 16
        for line, (name, value) in enumerate(rates):
            at = QRectF(start, line * 19.0, min(130.0, self.width() - start), 19)
            painter.setFont(theme.font(SMALL))
            painter.setPen(theme.dim)
            painter.drawText(at, Qt.AlignmentFlag.AlignVCenter, name)
            painter.setFont(theme.mono(SMALL))
            painter.setPen(theme.text)
            told = f"{value:.3f}" if value == value else "-"
            painter.drawText(at, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, told)

    def sizeHint(self) -> QSize:
        return QSize(280, 60)


@view_kind(
    "threshold",
    "Threshold",
    "Set the probability from which the prediction is yes, and see hits, misses, false alarms and cost.",
    "Answers",
    answers_with_classes,
    rank=15,
)
class Threshold(OneProbe):
    """A slider over the probability of yes, or of one class against the rest."""

    card_size = (460, 330)
    takes = "answers"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._names: tuple[str, ...] = ()
        self._class = 1
        self._box = choice(["yes"], 0, "The class that counts as yes", "thresholdClass")
        self._box.activated.connect(self._choose)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName("thresholdSlider")
        self.slider.setRange(0, STEPS)
        self.slider.setValue(STEPS // 2)
        self.slider.setToolTip("The answer is yes from this probability on")
        self.slider.valueChanged.connect(self._moved)
        self._value = label("0.500", "mono")
        self._value.setFixedWidth(44)
        self.miss = QSlider(Qt.Orientation.Horizontal)
        self.miss.setObjectName("missSlider")
        self.miss.setRange(0, len(MISSES) - 1)
        self.miss.setValue(EQUAL)
        self.miss.setToolTip("What a miss costs; a false alarm costs 1")
        self.miss.valueChanged.connect(self._priced)
        self._price = label("1", "mono")
        self._price.setFixedWidth(44)
        self.counts = CountsTable()
        self.counts.setFixedHeight(60)
        self.roc, self.recall, self.cost = Chart(), Chart(), Chart()
        charts = QHBoxLayout()
        charts.setSpacing(8)
        charts.addWidget(self.roc)
        charts.addWidget(self.recall)
        charts.addWidget(self.cost)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        dials = dial("yes from", self.slider, self._value), dial("a miss costs", self.miss, self._price)
        for one in dials:
            word = one.itemAt(0)
            if word is not None and (shown := word.widget()) is not None:
                shown.setMinimumWidth(WORDS)  # so that both sliders begin at the same place
            column.addLayout(one)
        column.addWidget(self.counts)
        column.addLayout(charts, 1)
        self._room = True

    @property
    def threshold(self) -> float:
        """The probability from which on the answer is yes."""
        return self.slider.value() / STEPS

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        names = tuple(snapshot.extra["classes"])
        if names != self._names:
            self._names = names
            self._class = self._class if self._class < len(names) else 0
            self._box.clear()
            self._box.addItems(names)
            self._box.setCurrentIndex(self._class)
        self._show()

    def _show(self) -> None:
        snapshot = self._found
        if snapshot is None:
            return
        positive, probability = one_against_rest(snapshot, self._class)
        counts = scores.at_threshold(positive, probability, self.threshold)
        self.counts.show_counts(counts)
        if self._room:
            self._curve(
                self.roc,
                scores.roc(positive, probability),
                ("false alarms", "hits"),
                counts.false_alarm_rate,
                counts.recall,
            )
            curve = scores.precision_recall(positive, probability)
            self._curve(self.recall, curve, ("recall", "precision"), counts.recall, counts.precision)
        cost = self._cost(positive, probability)
        name = self._names[self._class]
        words = f"{counts.accuracy:.1%} right".replace("%", " %")
        total = count_words(len(probability), snapshot.extra["total"])
        self.set_note(f"yes: {name} · {words} · {cost} · {total}")

    def _curve(self, chart: Chart, curve: scores.Curve, axes: tuple[str, str], x: float, y: float) -> None:
        thin = scores.thinned(curve)
        layers: list[Layer] = [
            Curve(thin.x, thin.y, of_class(self._class), 1.8),
            Marks(np.array([x]), np.array([y]), "text", "circle", 9, True),
        ]
        chart.show_layers(
            Frame((-0.02, 1.02), (-0.02, 1.02), *axes, x_scale="fraction", y_scale="fraction"), layers
        )

    def _cost(self, positive: np.ndarray, probability: np.ndarray) -> str:
        """Draws the mean cost at every threshold; says what it is at this one, and where it is least."""
        at = np.linspace(0, 1, STEPS + 1)
        found = scores.costs(positive, probability, at, MISSES[self.miss.value()])
        here, best = self.slider.value(), int(found.argmin())
        if self._room:
            layers: list[Layer] = [
                Curve(at, found, of_class(self._class), 1.8),
                Marks(at[[best]], found[[best]], "good", "diamond", 9, True),
                Marks(at[[here]], found[[here]], "text", "circle", 9, True),
            ]
            high = float(found.max()) * 1.05 or 1.0
            self.cost.show_layers(
                Frame((-0.02, 1.02), (0, high), "threshold", "mean cost", x_scale="fraction"), layers
            )
        return f"cost {found[here]:.3f}, least {found[best]:.3f} from {at[best]:.3f}"

    def _priced(self, value: int) -> None:
        self._price.setText(f"{MISSES[value]:g}")
        self._show()

    def _moved(self, value: int) -> None:
        self._value.setText(f"{self.threshold:.3f}")
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = self.height() >= CHARTS_FROM
        if room != self._room:
            self._room = room
            self.roc.setVisible(room)
            self.recall.setVisible(room)
            self.cost.setVisible(room)
            self._show()

    def table(self) -> Table | None:
        counts = self.counts.counts
        if counts is None:
            return None
        header = ("threshold", "TP", "FP", "TN", "FN", "precision", "recall", "F1")
        return header, [(self.threshold, *counts, counts.precision, counts.recall, counts.f1)]

    def controls(self) -> QWidget | None:
        return self.in_row(self._box)

    def _choose(self, index: int) -> None:
        self._class = index
        self._box.setCurrentIndex(index)
        self._show()

    def state(self) -> dict[str, object]:
        return {"class": self._class, "threshold": self.slider.value(), "miss": self.miss.value()}

    def restore(self, state: Mapping[str, object]) -> None:
        self._class = index_of(state.get("class"), 1, 10_000)
        self.slider.setValue(index_of(state.get("threshold"), STEPS // 2, STEPS + 1))
        self.miss.setValue(index_of(state.get("miss"), EQUAL, len(MISSES)))
