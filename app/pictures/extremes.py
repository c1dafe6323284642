"""The held out examples that the model is worst at, and those it is best at."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.pictures.asked import count_words, question
from app.pictures.base import OneProbe, Subject, Table
from app.pictures.controls import stacked
from app.pictures.registry import picture_kind
from app.views.examples import Example, Examples
from app.views.picture import number, percent
from engine.questions import VALUES, YES_NO
from engine.run.feed import Probe, Snapshot

OF_EACH = 6


def has_losses(subject: Subject) -> bool:
    """Whether each example is compared with what is right for it."""
    asked = question(subject)
    return asked is not None and (asked.kind != YES_NO or asked.size == 1)


@picture_kind(
    "worst-and-best",
    "Worst and best examples",
    "The held out examples with the largest and the smallest loss, with what is right and what is answered.",
    "Answers",
    has_losses,
    rank=12,
)
class WorstAndBest(OneProbe):
    """Two rows of examples; a click pins one for the other pictures."""

    card_size = (480, 270)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.sheet = Examples()
        self.sheet.picked.connect(self._pin)
        stacked(self, self.sheet)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "worst_and_best", (OF_EACH,))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        count = len(facts["rows"])
        told = []
        for index in range(count):
            heading = "largest loss" if index < count - count // 2 else "smallest loss"
            lines, right = _words(snapshot, index)
            told.append(Example(lines, right, heading))
        self.sheet.show_examples(snapshot.array, told, facts["names"])
        looked = count_words(int(facts["looked_at"]), int(facts["looked_at"]))
        unit = "squared error" if facts["kind"] == VALUES else "cross-entropy"
        self.set_note(f"{unit}, mean {number(facts['mean_loss'])} over {looked}")

    def table(self) -> Table | None:
        if self._found is None:
            return None
        facts = self._found.extra
        names = facts["classes"]
        rows = []
        for index, row in enumerate(facts["rows"]):
            predicted, right = facts["predicted"][index], facts["right"][index]
            if names:
                predicted, right = names[int(predicted)], names[int(right)]
            rows.append((row + 1, float(facts["loss"][index]), right, predicted))
        return ("example", "loss", "right", "predicted"), rows


def _words(snapshot: Snapshot, index: int) -> tuple[tuple[str, ...], bool]:
    """Two lines for one example, and whether it is answered right."""
    facts = snapshot.extra
    loss = f"loss {number(float(facts['loss'][index]))}"
    if facts["kind"] == VALUES:
        right, predicted = float(facts["right"][index]), float(facts["predicted"][index])
        better = float(facts["loss"][index]) <= facts["mean_loss"]
        return (f"{number(predicted)}, right {number(right)}", loss), better
    right, predicted = int(facts["right"][index]), int(facts["predicted"][index])
    names = facts["classes"]
    if right == predicted:
        return (f"{names[right]} {percent(float(facts['sure'][index]))}", loss), True
    told = f"{names[right]} as {names[predicted]} {percent(float(facts['sure'][index]))}"
    return (told, loss), False
