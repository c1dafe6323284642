"""Curves over all thresholds: hits against false alarms, and precision against recall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.charts.chart import Chart, Curve, Entry, Frame, Layer
from app.look.asked import answers_with_classes, choice, count_words, index_of, of_class
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.registry import view_kind
from engine.feed.feed import Snapshot
from engine.look.predictions import scores

MOST_CURVES = 12
ALL = "all classes"
_STYLES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DashDotLine, Qt.PenStyle.DotLine)


def one_against_rest(snapshot: Snapshot, index: int) -> tuple[np.ndarray, np.ndarray]:
    """Which examples are of a class, and how probable the model finds it."""
    return snapshot.extra["right"] == index, snapshot.array[:, index]


def pooled(snapshot: Snapshot) -> tuple[np.ndarray, np.ndarray]:
    """The same for all classes together, one decision an example and class."""
    right = np.eye(snapshot.array.shape[1], dtype=bool)[snapshot.extra["right"].astype(int)]
    return right.ravel(), snapshot.array.ravel()


class Rates(OneProbe):
    """One curve a class against the rest, and one for all decisions together; one in all for yes or no."""

    card_size = (300, 280)
    takes = "answers"
    axes: ClassVar[tuple[str, str]]
    short: ClassVar[str]

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._class = 0  # 0: all of them
        self._names: tuple[str, ...] = ()
        self._box = choice([ALL], 0, "Whose curve", "rateClass")
        self._box.activated.connect(self._choose)
        self.curves: dict[str, scores.Curve] = {}
        self.chart = Chart()
        stacked(self, self.chart)

    def measure(self, positive: np.ndarray, probabilities: np.ndarray) -> scores.Curve:
        """The curve of one decision."""
        raise NotImplementedError

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        names = tuple(snapshot.extra["classes"])
        if names != self._names:
            self._names = names
            self._class = self._class if self._class <= len(names) else 0
            self._box.clear()
            self._box.addItems([ALL, *names])
            self._box.setCurrentIndex(self._class)
            self._box.setEnabled(len(names) > 2)
        measure = self.measure
        layers: list[Layer] = self._behind()
        legend: list[Entry] = []
        self.curves = {}
        if len(names) == 2:
            self._add(layers, legend, names[1], measure(*one_against_rest(snapshot, 1)), 1)
        else:
            chosen = range(min(len(names), MOST_CURVES)) if not self._class else [self._class - 1]
            for index in chosen:
                self._add(layers, legend, names[index], measure(*one_against_rest(snapshot, index)), index)
            if not self._class:
                together = measure(*pooled(snapshot))
                self.curves["micro"] = together
                thin = scores.thinned(together)
                layers.append(Curve(thin.x, thin.y, "text", 2.4, Qt.PenStyle.DashLine))
                legend.insert(0, Entry(f"micro {together.area:.3f}", "text", style=Qt.PenStyle.DashLine))
        frame = Frame(
            (-0.01, 1.01), (-0.01, 1.01), *self.axes, x_scale="fraction", y_scale="fraction", legend=legend
        )
        self.chart.show_layers(frame, layers)
        self.set_note(
            f"{self.short} beside each name · {count_words(len(snapshot.array), snapshot.extra['total'])}"
        )

    def _behind(self) -> list[Layer]:
        return []

    def _add(
        self, layers: list[Layer], legend: list[Entry], name: str, curve: scores.Curve, index: int
    ) -> None:
        self.curves[name] = curve
        thin = scores.thinned(curve)
        style = _STYLES[(index // 7) % len(_STYLES)]
        layers.append(Curve(thin.x, thin.y, of_class(index), 1.8, style))
        area = f"{curve.area:.3f}" if np.isfinite(curve.area) else "never occurs"
        legend.append(Entry(f"{name} {area}", of_class(index), style=style))

    def table(self) -> Table | None:
        if not self.curves:
            return None
        rows = [
            (name, float(x), float(y), float(threshold))
            for name, curve in self.curves.items()
            for x, y, threshold in zip(*scores.thinned(curve)[:3], strict=True)
        ]
        return ("class", *self.axes, "threshold"), rows

    def controls(self) -> QWidget | None:
        return self.in_row(self._box)

    def _choose(self, index: int) -> None:
        self._class = index
        self._box.setCurrentIndex(index)
        if self._found is not None:
            self.draw({self._probe: self._found})

    def state(self) -> dict[str, object]:
        return {"class": self._class}

    def restore(self, state: Mapping[str, object]) -> None:
        self._class = index_of(state.get("class"), 0, 10_000)


@view_kind(
    "roc",
    "ROC",
    "Hits against false alarms for every threshold; the area is 1 for a perfect model, 0.5 for guessing.",
    "Answers",
    answers_with_classes,
    rank=13,
)
class Roc(Rates):
    """Receiver operating characteristic; a faint diagonal is random guessing."""

    axes = ("false alarm rate", "hit rate")
    short = "AUC"

    def measure(self, positive: np.ndarray, probabilities: np.ndarray) -> scores.Curve:
        return scores.roc(positive, probabilities)

    def _behind(self) -> list[Layer]:
        return [Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]), "faint", 1.0, Qt.PenStyle.DotLine)]


@view_kind(
    "precision-recall",
    "Precision and recall",
    "For every threshold: how many answers are right against how many are found. For rare classes.",
    "Answers",
    answers_with_classes,
    rank=14,
)
class PrecisionRecall(Rates):
    """Precision over recall."""

    axes = ("recall", "precision")
    short = "average precision"

    def measure(self, positive: np.ndarray, probabilities: np.ndarray) -> scores.Curve:
        return scores.precision_recall(positive, probabilities)
