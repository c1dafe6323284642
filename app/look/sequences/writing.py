"""The text that a model writes by itself while it learns to predict what comes next."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSlider, QVBoxLayout, QWidget

from app.charts.arrays.token_text import Token, TokenText
from app.look.base import OneProbe, Subject, Table
from app.look.controls import button, dial
from app.look.registry import view_kind
from app.look.sequences.next_token import reads_tokens
from app.look.shown import of_example
from app.widgets.labels import label
from app.workspace.token_words import READABLE
from engine.feed.feed import Probe, Snapshot
from engine.shapes.heads import input_columns, loss_heads

WARMEST = 200  # hundredths
FROM_HERE = "▸"
BEGIN = 40  # tokens of the example that stand before what is written


def writes_text(subject: Subject) -> bool:
    """Whether the answer is the next token, of the same vocabulary as those that are read."""
    project, book = subject.as_trained
    if book is None or not reads_tokens(subject):
        return False
    node = subject.node_id
    asked = [head for head in loss_heads(project, book) if node in (head.node_id, head.prediction[0])]
    if not asked or not asked[0].labels:
        return False
    columns = input_columns(project, book, asked[0].prediction[0])
    same = len(columns) == 1 and tuple(columns[0].classes) == tuple(asked[0].labels)
    return same and len(columns[0].shape) == 1


@view_kind(
    "written-text",
    "Text being written",
    "What the model writes after a validation example, token by token, each drawn by its probability.",
    "Sequences",
    writes_text,
    rank=4,
    leads=110,
)
class WrittenText(OneProbe):
    """The end of the example, then what was written; a temperature, and other draws by a button."""

    card_size = (520, 280)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._draw_seed = 0
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName("writingTemperature")
        self.slider.setRange(5, WARMEST)
        self.slider.setValue(70)
        self.slider.setToolTip("Lower: the likeliest tokens only; higher: rarer ones, too")
        self.slider.setAccessibleName("Temperature")
        self.slider.sliderReleased.connect(self.needs_changed)
        self.slider.valueChanged.connect(self._warmed)
        self._value = label("0.70", "mono")
        self._value.setFixedWidth(40)
        self.again = button("writeAgain", "Write again", "Other draws from the same probabilities")
        self.again.clicked.connect(self._write_again)
        self.text = TokenText()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        above = dial("temperature", self.slider, self._value)
        above.addWidget(self.again)
        column.addLayout(above)
        column.addWidget(self.text, 1)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "written_text", (self.slider.value(), self._draw_seed))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        begin = [Token(READABLE.get(one, one)) for one in facts["begin"][-BEGIN:]]
        written = [Token(READABLE.get(one, one)) for one in facts["words"]]
        self.text.show_tokens([*begin, Token(FROM_HERE, "right"), *written])
        self.set_note(f"after {FROM_HERE}: written at step {snapshot.step:,} · {of_example(facts)}")

    def _warmed(self, value: int) -> None:
        self._value.setText(f"{value / 100:.2f}")
        if not self.slider.isSliderDown():
            self.needs_changed.emit()

    def _write_again(self) -> None:
        self._draw_seed += 1
        self.needs_changed.emit()

    def table(self) -> Table | None:
        if self._found is None:
            return None
        facts = self._found.extra
        return ("token", "written"), [
            *((one, False) for one in facts["begin"]),
            *((one, True) for one in facts["words"]),
        ]

    def state(self) -> dict[str, object]:
        return {"temperature": self.slider.value(), "seed": self._draw_seed}

    def restore(self, state: Mapping[str, object]) -> None:
        warmth, seed = state.get("temperature"), state.get("seed")
        if isinstance(seed, int) and 0 <= seed < 2**31:
            self._draw_seed = seed
        if isinstance(warmth, int):
            self.slider.setValue(warmth)
