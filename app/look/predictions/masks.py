"""Images with the class that the network gives each pixel, beside what is right."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.charts.arrays.class_maps import HEIGHT, ClassLegend, ClassMaps
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.registry import view_kind
from app.look.shown import compared
from engine.feed.feed import Probe, Snapshot
from engine.shapes.heads import class_axis

LEAST = 40  # pixels of an image's side


def tells_pixels(subject: Subject) -> bool:
    """Whether the loss that the node is, or gives scores to, compares a class for each pixel."""
    for book, loss, answer, target in compared(subject):
        scores = book.signature(answer.source, answer.source_port)
        right = book.signature(target.source, target.source_port)
        if scores is None or right is None or right.dtype != "int64" or len(right.shape) != 2:
            continue
        if class_axis(scores.shape, right.shape) is not None and subject.node_id in (loss, answer.source):
            return True
    return False


@view_kind(
    "masks",
    "Class of each pixel",
    "Held out images; at the right of each the true class of every pixel, then the predicted one.",
    "Answers",
    tells_pixels,
    rank=0,
    leads=30,
)
class Masks(OneProbe):
    """The image, its mask and the network's, side by side for several examples."""

    card_size = (420, 300)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.tiles = ClassMaps()
        self.tiles.setObjectName("masksTiles")
        self.legend = ClassLegend()
        stacked(self, self.tiles, self.legend)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "masks")

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        self._show(snapshot)

    def _show(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        names = _names(snapshot)
        room = self.width() * (self.height() - HEIGHT) // (3 * LEAST**2)
        count = max(1, min(len(snapshot.array), room))  # rather few than tiny
        self.tiles.captions = [
            f"example {row + 1}: {100 * fraction:.1f} % of the pixels right"
            for row, fraction in zip(facts["rows"], facts["share"].tolist(), strict=True)
        ]
        self.tiles.show_classes(
            snapshot.array[:count],
            (facts["right"][:count], facts["predicted"][:count]),
            names,
            ("right", "predicted"),
        )
        self.legend.show_classes(names, self.tiles.uncounted)
        mean = 100 * float(facts["share"].mean())
        self.set_note(f"{mean:.1f} % of pixels right · image, right, predicted")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._found is not None:
            self._show(self._found)

    def table(self) -> Table | None:
        if self._found is None:
            return None
        facts = self._found.extra
        rows = [
            (row + 1, float(fraction)) for row, fraction in zip(facts["rows"], facts["share"], strict=True)
        ]
        return ("example", "fraction of pixels right"), rows


def _names(snapshot: Snapshot) -> tuple[str, ...]:
    facts = snapshot.extra
    highest = int(max(facts["right"].max(initial=0), facts["predicted"].max(initial=0)))
    return tuple(facts["names"]) or tuple(str(index) for index in range(highest + 1))
