"""The words that an embedding holds to be alike, and analogies."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QStringListModel, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCompleter, QLineEdit, QVBoxLayout, QWidget

from app.charts.bars import ROW, Bar, Bars
from app.look.base import OneProbe, Subject, Table
from app.look.registry import view_kind
from engine.feed.feed import Probe, Snapshot
from engine.procedures.declare import Net
from engine.procedures.nearest import token_column

LONGEST = 200  # characters of a question
MOST = 12  # bars


def looks_up_words(subject: Subject) -> bool:
    """Whether the node is a table of vectors for the tokens of a text."""
    project, book = subject.as_trained
    if book is None or subject.node_id not in project.graph.nodes:
        return False
    return bool(token_column(Net(project, book), subject.node_id))


@view_kind(
    "nearest-words",
    "Nearest words",
    "Words whose vectors point the same way as a word's; also of sums, such as king - man + woman.",
    "Sequences",
    looks_up_words,
    rank=3,
    leads=130,
)
class NearestWords(OneProbe):
    """A line for a word or an analogy, and the cosines of the nearest words as bars."""

    card_size = (300, 300)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.question = QLineEdit()
        self.question.setObjectName("nearestQuestion")
        self.question.setAccessibleName("Word or analogy")
        self.question.setMaxLength(LONGEST)
        self.question.setPlaceholderText("a word, or king - man + woman")
        self.question.editingFinished.connect(self._asked_again)
        self._words = QStringListModel(self)
        completer = QCompleter(self._words, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.question.setCompleter(completer)
        self._wanted = ""
        self.bars = Bars()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.question)
        column.addWidget(self.bars)
        column.addStretch()

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "nearest_words", (self._wanted,))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        words = list(snapshot.extra["words"])
        if words != self._words.stringList():
            self._words.setStringList(words)
        if not self.question.text():
            self.question.setText(snapshot.extra["question"])
        self._show(snapshot)
        count, size = snapshot.extra["size"]
        self.set_note(f"nearest to {snapshot.extra['question']} · {count:,} vectors of {size:,}")

    def _show(self, snapshot: Snapshot) -> None:
        room = max(1, min(MOST, (self.height() - self.question.sizeHint().height() - 8) // ROW))
        pairs = list(zip(snapshot.extra["names"], snapshot.array.tolist(), strict=True))[:room]
        bars = [Bar(name, max(0.0, cosine), "accent", f"cosine {cosine:.3f}") for name, cosine in pairs]
        self.bars.show_bars(bars, top=1.0)

    def _asked_again(self) -> None:
        wanted = self.question.text().strip()
        if wanted != self._wanted:
            self._wanted = wanted
            self.needs_changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._found is not None:
            self._show(self._found)

    def table(self) -> Table | None:
        if self._found is None:
            return None
        rows = list(zip(self._found.extra["names"], self._found.array.tolist(), strict=True))
        return ("word", "cosine"), rows

    def state(self) -> dict[str, object]:
        return {"question": self._wanted}

    def restore(self, state: Mapping[str, object]) -> None:
        wanted = state.get("question")
        if isinstance(wanted, str):
            self._wanted = wanted[:LONGEST]
            self.question.setText(self._wanted)
