"""The held out examples that the model is worst at, and those it is best at."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from app.charts.arrays.examples import Example, Examples
from app.charts.plot import number, percent
from app.look.asked import count_words, features, head
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.own import Answered, answer_units, feature_units, follow_units, still_scaled
from app.look.registry import view_kind
from app.workspace.token_words import are_tokens, running_text
from engine.feed.feed import Probe, Snapshot
from engine.shapes.heads import VALUES, YES_NO, input_columns

OF_EACH = 6


def has_losses(subject: Subject) -> bool:
    """Whether each example is compared with what is right for it."""
    asked = head(subject)
    return asked is not None and (asked.kind != YES_NO or asked.size == 1)


@view_kind(
    "worst-and-best",
    "Worst and best examples",
    "The held out examples with the largest and the smallest loss, with true and predicted values.",
    "Answers",
    has_losses,
    rank=12,
    leads=210,
)
class WorstAndBest(OneProbe):
    """Two rows of examples; a click pins one for the other views."""

    card_size = (480, 270)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.sheet = Examples()
        self.sheet.picked.connect(self._pin)
        follow_units(self)
        stacked(self, self.sheet)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "worst_and_best", (OF_EACH,))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        own = answer_units(self.subject)
        count, texts = len(facts["rows"]), self._texts(snapshot)
        told = []
        for index in range(count):
            heading = "largest loss" if index < count - count // 2 else "smallest loss"
            lines, right = _words(snapshot, index, own)
            told.append(Example((*lines, *texts[index : index + 1]), right, heading))
        shown = np.empty((count, 0)) if texts else self._inputs(snapshot)
        self.sheet.show_examples(shown, told, facts["names"])
        looked = count_words(int(facts["looked_at"]), int(facts["looked_at"]))
        scaled = own is not None or still_scaled(self.subject)
        unit = "squared error" + ", scaled" * scaled if facts["kind"] == VALUES else "cross-entropy"
        self.set_note(f"{unit}, mean {number(facts['mean_loss'])} over {looked}")

    def _texts(self, snapshot: Snapshot) -> list[str]:
        """The examples as text, where they are tokens with names."""
        project, book = self.subject.as_trained
        asked, name = head(self.subject), snapshot.extra.get("tokens")
        if asked is None or book is None:
            return []
        columns = input_columns(project, book, asked.prediction[0])
        names = next((one.classes for one in columns if one.name == name), None)
        if not names or not are_tokens(snapshot.array.shape[1:], names):
            return []
        return [running_text(row, names) for row in snapshot.array.tolist()]

    def _inputs(self, snapshot: Snapshot) -> np.ndarray:
        """What went in; numbers with names as they are in the data, where that is known."""
        known, array = features(self.subject), snapshot.array
        if not snapshot.extra["names"] or len(known) < len(snapshot.extra["names"]):
            return array
        columns = []
        for feature, column in zip(known, array.T, strict=False):
            own = feature_units(self.subject, feature)
            columns.append(column if own is None else own(column))
        return np.stack(columns, 1)

    def table(self) -> Table | None:
        if self._found is None:
            return None
        facts, own = self._found.extra, answer_units(self.subject)
        names = facts["classes"]
        rows = []
        for index, row in enumerate(facts["rows"]):
            predicted, right = facts["predicted"][index], facts["right"][index]
            if names:
                predicted, right = names[int(predicted)], names[int(right)]
            elif own is not None:
                predicted, right = own.first(np.array([predicted, right])).tolist()
            rows.append((row + 1, float(facts["loss"][index]), right, predicted))
        return ("example", "loss", "right", "predicted"), rows


def _words(snapshot: Snapshot, index: int, own: Answered | None) -> tuple[tuple[str, ...], bool]:
    """Two lines for one example, and whether it is answered right."""
    facts = snapshot.extra
    loss = f"loss {number(float(facts['loss'][index]))}"
    if facts["kind"] == VALUES:
        pair = np.array([facts["right"][index], facts["predicted"][index]], np.float64)
        right, predicted = (pair if own is None else own.first(pair)).tolist()
        better = float(facts["loss"][index]) <= facts["mean_loss"]
        return (f"{number(predicted)}, right {number(right)}", loss), better
    right, predicted = int(facts["right"][index]), int(facts["predicted"][index])
    names = facts["classes"]
    if right == predicted:
        return (f"{names[right]} {percent(float(facts['sure'][index]))}", loss), True
    told = f"{names[right]} as {names[predicted]} {percent(float(facts['sure'][index]))}"
    return (told, loss), False
