"""Numbers as they are predicted against what they should be, and how far they are off."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.charts.chart import Chart, Columns, Curve, Frame, Marks, beyond
from app.charts.plane import around, opened
from app.charts.plot import number
from app.look.asked import answers_with_values, count_words
from app.look.base import OneProbe, Subject, Table
from app.look.controls import beside
from app.look.own import answer_units, answers_axis, follow_units
from app.look.registry import view_kind
from engine.feed.feed import Snapshot
from engine.look.predictions.scores import fit as errors_of

HISTOGRAM_FROM = 380  # pixels of width that leave room for it
MOST_BINS = 40
DRAWN = 1000


@view_kind(
    "predicted-against-right",
    "Predicted against right",
    "Each held out example as a point: on the line it is predicted exactly. Beside it, how far they are off.",
    "Answers",
    answers_with_values,
    rank=10,
    leads=200,
)
class Predicted(OneProbe):
    """A scatter about the diagonal and a histogram of what is left."""

    card_size = (420, 260)
    takes = "answers"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.scatter = Chart()
        self.histogram = Chart()
        self.histogram.hide()
        follow_units(self)
        beside(self, (self.scatter, 3), (self.histogram, 2))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        own = answer_units(self.subject)
        predicted, right = self._values(snapshot).T
        fine = np.isfinite(predicted) & np.isfinite(right)
        score = errors_of(right, predicted)
        low, high = opened(around(np.r_[predicted[fine], right[fine]]))
        every = max(1, len(right) // DRAWN)
        self.scatter.show_layers(
            Frame(
                (low, high),
                (low, high),
                answers_axis("right", self.subject, own),
                answers_axis("predicted", self.subject, own),
                square=True,
            ),
            [
                Curve(np.array([low, high]), np.array([low, high]), "dim", 1.2),
                Marks(right[::every], predicted[::every], "accent", "circle", 5),
                *beyond(right, predicted, (low, high)),
            ],
        )
        off = (predicted - right)[fine]
        reach = float(np.quantile(np.abs(off), 0.995)) if len(off) else 1.0
        reach = reach or 1.0
        bins = min(MOST_BINS, max(8, int(2 * len(off) ** 0.5)))
        counts, edges = np.histogram(off.clip(-reach, reach), bins, (-reach, reach))
        top = float(counts.max(initial=1)) * 1.08
        self.histogram.show_layers(
            Frame(
                (-reach, reach), (0, top), answers_axis("predicted - right", self.subject, own), "examples"
            ),
            [
                Columns(edges, counts.astype(float), "accent"),
                Curve(np.zeros(2), np.array([0, top]), "text", 1.0),
            ],
        )
        words = f"R² {score.r_squared:.3f} · MAE {number(score.mean_absolute)}"
        words += f" · RMSE {number(score.root_mean_square)}"
        self.set_note(f"{words} · {count_words(len(snapshot.extra['rows']), snapshot.extra['total'])}")
        self._make_room()

    def _make_room(self) -> None:
        self.histogram.setVisible(self._found is not None and self.width() >= HISTOGRAM_FROM)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _values(self, snapshot: Snapshot) -> np.ndarray:
        """What is predicted and what is right `(n, 2)`, in the data's own units where they are known."""
        own = answer_units(self.subject)
        if own is None:
            return snapshot.array.astype(float)
        return np.stack([own.undo(snapshot.array[:, 0]), own.undo(snapshot.array[:, 1])], 1)

    def table(self) -> Table | None:
        return None if self._found is None else (("predicted", "right"), self._values(self._found).tolist())
