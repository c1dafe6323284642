"""What a network fills in where tokens are hidden from it."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLayout, QVBoxLayout, QWidget

from app.charts.arrays.token_text import Token, TokenText
from app.charts.bars import ROW, Bar, Bars
from app.look.base import OneProbe, Subject, Table
from app.look.registry import view_kind
from app.look.shown import compared, of_example
from app.workspace.token_words import READABLE
from engine.catalogue import Layer
from engine.feed.feed import Probe, Snapshot

FIRST = -1


def hides_tokens(subject: Subject) -> bool:
    """Whether the loss that the node is, or gives scores to, asks what stood at hidden places."""
    for book, loss, answer, target in compared(subject):
        hiding = book.types.get(target.source)
        if (
            subject.node_id in (loss, answer.source)
            and isinstance(hiding, Layer)
            and target.source_port in hiding.classes_of
        ):
            return True
    return False


@view_kind(
    "hidden-tokens",
    "Hidden tokens",
    "The text with the tokens predicted for the hidden ones; under a wrong one, the true token.",
    "Sequences",
    hides_tokens,
    rank=0,
    leads=50,
)
class HiddenTokens(OneProbe):
    """The filled-in text, and bars of the likeliest tokens at one of the places."""

    card_size = (300, 280)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._place = FIRST  # whose likeliest tokens are shown
        self.text = TokenText()
        self.text.setObjectName("hiddenText")
        self.text.chosen.connect(self._picked)
        self.bars = Bars(unit="probability")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)  # bars go where there is no room
        column.addWidget(self.text, 1)
        column.addWidget(self.bars)
        column.addStretch()

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "hidden_tokens")

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        self._show(snapshot)

    def _show(self, snapshot: Snapshot) -> None:
        facts, probabilities = snapshot.extra, snapshot.array
        names, places = facts["names"], list(facts["places"])

        def named(token: int) -> str:
            return names[token] if 0 <= token < len(names) else str(token)

        tokens = [Token(READABLE.get(named(one), named(one))) for one in facts["seen"]]
        right = 0
        for at, (place, target) in enumerate(zip(places, facts["targets"], strict=True)):
            best = int(facts["likeliest"][at][0])
            right += best == target
            if place < len(tokens):
                words = f"Place {place + 1}: the network sees {named(facts['seen'][place])} and predicts "
                words += (
                    f"{named(best)}, {100 * probabilities[at][0]:.0f} % sure; {named(target)} stood there."
                )
                mark = "right" if best == target else "wrong"
                tokens[place] = Token(named(best), mark, "" if best == target else named(target), words)
        chosen = self._place if self._place in places else (places[0] if places else FIRST)
        self.text.show_tokens(tokens, chosen)
        room = self.height() - self.text.lines_height - 8
        self.text.setMaximumHeight(self.text.lines_height)
        bars: list[Bar] = []
        if places and room >= ROW:
            at = places.index(chosen)
            most = min(probabilities.shape[1], room // ROW)
            for token, probability in zip(
                facts["likeliest"][at][:most].tolist(), probabilities[at], strict=False
            ):
                good = token == facts["targets"][at]
                bars.append(
                    Bar(
                        f"{named(token)} ✓" if good else named(token),
                        float(probability),
                        "good" if good else "accent",
                        "true token" if good else "",
                        not bars,
                    )
                )
        self.bars.setVisible(bool(bars))  # a low card is for the text alone
        self.bars.setFixedHeight(max(1, len(bars)) * ROW)
        self.bars.show_bars(bars, top=1.0)
        count = f"{right} of {len(places)} right" if places else "nothing is hidden"
        shown = f"bars: place {chosen + 1}" if bars else ""
        self.set_note(" · ".join(one for one in (count, shown, of_example(facts)) if one))

    def _picked(self, place: int) -> None:
        self._place = place
        self._again()

    def _again(self) -> None:
        if self._found is not None:
            self._show(self._found)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 40)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._again()

    def table(self) -> Table | None:
        if self._found is None:
            return None
        facts, probabilities = self._found.extra, self._found.array
        names = facts["names"]
        rows = []
        for at, place in enumerate(facts["places"]):
            best, right = int(facts["likeliest"][at][0]), int(facts["targets"][at])
            said = [names[one] if 0 <= one < len(names) else str(one) for one in (best, right)]
            rows.append((place + 1, *said, float(probabilities[at][0])))
        return ("place", "predicted", "true token", "probability"), rows

    def state(self) -> dict[str, object]:
        return {"place": self._place}

    def restore(self, state: Mapping[str, object]) -> None:
        place = state.get("place")
        if isinstance(place, int):
            self._place = place
            self._again()
