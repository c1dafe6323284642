"""Where the parameters of the network are."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.charts.bars import COUNT, Bar, Bars
from app.charts.plot import percent
from app.look.base import LiveView, Snapshots, Subject, Table
from app.look.controls import stacked
from app.look.registry import view_kind
from engine.shapes.budget import parameter_budget

WORDS = {"dense": "feed-forward", "norm": "norms"}
COLOURS = {"embedding": "data"}


def learns(subject: Subject) -> bool:
    """Whether the network has parameters."""
    shapes = subject.workspace.shapes
    return shapes is not None and shapes.total_parameters > 0


@view_kind(
    "parameter-budget",
    "Parameter budget",
    "How many parameters are in the embeddings, in attention, in feed-forward layers, in norms and so on.",
    "Model",
    learns,
    rank=12,
    whole=True,
)
class ParameterBudget(LiveView):
    """A bar a part, the largest first; it follows the document and needs no weights."""

    card_size = (400, 180)
    at_rest = True

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.bars = Bars(unit=COUNT)
        self._parts: dict[str, int] = {}
        stacked(self, self.bars)
        subject.workspace.inferred.connect(self.refresh)
        self.refresh()

    def draw(self, found: Snapshots) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Show what the document says now."""
        _, book = self.subject.as_trained
        self._parts = parameter_budget(book) if book is not None else {}
        total = sum(self._parts.values())
        self.bars.show_bars(
            [
                Bar(f"{WORDS.get(part, part)} · {percent(count / total)}", count, COLOURS.get(part, part))
                for part, count in self._parts.items()
            ]
        )
        self.set_note(f"{total:,} parameters")

    def table(self) -> Table | None:
        if not self._parts:
            return None
        return ("part", "parameters"), list(self._parts.items())
