"""A model of the next token beside models that only count."""

from __future__ import annotations

from math import log

from PySide6.QtWidgets import QWidget

from app.charts.bars import Bar, Bars
from app.charts.plot import figures
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.registry import view_kind
from app.look.sequences.writing import writes_text
from app.look.shown import split_words
from engine.feed.feed import Snapshot


@view_kind(
    "ngrams",
    "Against counting",
    "The loss of the network beside that of n-grams, which only count what followed the last few tokens.",
    "Sequences",
    writes_text,
    rank=6,
)
class AgainstNgrams(OneProbe):
    """A bar for guessing, one for each length of n-gram, and that of the network, in nats a token."""

    card_size = (360, 200)
    takes = "ngrams"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.bars = Bars(unit="nats")
        stacked(self, self.bars)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        losses = snapshot.array.tolist()
        counted = [Bar(name, loss, "dim") for name, loss in zip(self._names(), losses, strict=True)]
        network = Bar("this network", facts["network"], "accent", strong=True)
        self.bars.show_bars([Bar("guessing", log(facts["size"]), "dim"), *counted, network])
        best = min(losses)
        words = f"network {figures(facts['network'])}, best n-gram {figures(best)} nats"
        self.set_note(f"{words} · {facts['tokens']:,} {split_words(facts)} tokens")

    def _names(self) -> list[str]:
        count = 0 if self._found is None else len(self._found.array)
        return [f"{n}-gram" for n in range(1, count + 1)]

    def table(self) -> Table | None:
        if self._found is None:
            return None
        losses = zip(self._names(), self._found.array.tolist(), strict=True)
        return ("model", "loss"), [*losses, ("network", self._found.extra["network"])]
