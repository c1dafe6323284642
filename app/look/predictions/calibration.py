"""Whether the model is right as often as it is sure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.charts.chart import Chart, Columns, Curve, Entry, Frame, Marks
from app.look.asked import answers_with_classes, count_words
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.registry import view_kind
from app.widgets.segments import Segments
from engine.feed.feed import Snapshot
from engine.look.predictions import scores

HISTOGRAM_FROM = 190  # pixels of height that leave room for it


@view_kind(
    "calibration",
    "Calibration",
    "How often the likeliest class is right, by the model's confidence; on the diagonal the two agree.",
    "Answers",
    answers_with_classes,
    rank=16,
)
class Calibration(OneProbe):
    """A reliability diagram, and below it how many answers there are of each confidence."""

    card_size = (320, 290)
    takes = "answers"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.result: scores.Calibration | None = None
        self._bins = Segments([("10", "10 bins", "Ten bins"), ("15", "15 bins", "Fifteen bins")])
        self._bins.setObjectName("calibrationBins")
        self._bins.chosen.connect(self._chosen)
        self.diagram, self.histogram = Chart(), Chart()
        stacked(self, (self.diagram, 5), (self.histogram, 2), spacing=2)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        probabilities, right = snapshot.array, snapshot.extra["right"]
        sure, correct = probabilities.max(axis=1).astype(float), probabilities.argmax(axis=1) == right
        bins = int(self._bins.key)
        self.result = result = scores.calibration(sure, correct, bins)
        # No answer is less sure than a guess among the classes.
        low = np.floor(bins / probabilities.shape[1]) / bins if probabilities.shape[1] > 1 else 0.0
        edges = np.array([low, 1.0])
        some = result.counts > 0
        self.diagram.show_layers(
            Frame(
                (low, 1.01),
                (-0.02, 1.03),
                "confidence",
                "accuracy",
                x_scale="fraction",
                y_scale="fraction",
                legend=(
                    Entry("right", "accent", "square"),
                    Entry("as sure as right", "dim", style=Qt.PenStyle.DashLine),
                ),
            ),
            [
                Columns(result.edges, result.accuracy, "selection"),
                Curve(edges, edges, "dim", 1.4, Qt.PenStyle.DashLine),
                Curve(result.confidence[some], result.accuracy[some], "accent", 1.8),
                Marks(result.confidence[some], result.accuracy[some], "accent", "square", 7),
            ],
        )
        top = float(result.counts.max(initial=1)) * 1.1
        self.histogram.show_layers(
            Frame((low, 1.01), (0, top), "", "examples", x_scale="fraction"),
            [Columns(result.edges, result.counts.astype(float), "dim")],
        )
        words = f"ECE {result.error:.3f} · sure {sure.mean():.1%}, right {correct.mean():.1%}"
        total = count_words(len(probabilities), snapshot.extra["total"])
        self.set_note(f"{words.replace('%', ' %')} · {total}")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.histogram.setVisible(self.height() >= HISTOGRAM_FROM)

    def table(self) -> Table | None:
        result = self.result
        if result is None:
            return None
        columns = (result.edges[:-1], result.edges[1:], result.counts, result.confidence, result.accuracy)
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        return ("from", "to", "examples", "mean confidence", "accuracy"), rows

    def controls(self) -> QWidget | None:
        return self.in_row(self._bins)

    def _chosen(self, key: str) -> None:
        if self._found is not None:
            self.draw({self._probe: self._found})

    def state(self) -> dict[str, object]:
        return {"bins": self._bins.key}

    def restore(self, state: Mapping[str, object]) -> None:
        self._bins.choose(str(state.get("bins", "10")))
