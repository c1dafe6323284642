"""Images that a network makes: copies beside their originals, and samples through time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.charts.arrays.cells import Sheet, Sheets
from app.charts.plot import number
from app.charts.scale import WIDTH
from app.look.arrays import rows_of
from app.look.base import OneProbe, Subject, Table
from app.look.controls import button, stacked
from app.look.registry import view_kind
from engine.feed.feed import Probe, Snapshot
from engine.look.pixels import copied, from_noise

EARLIER = 16  # moments that are kept
LEAST = 54  # pixels of width of an example
STRIP_FROM = 150  # pixels of height that leave room for the strip


def copies(subject: Subject) -> bool:
    """Whether the node's answer, or some answer of the model, is to equal an image that went in."""
    project, book = subject.as_trained
    return book is not None and copied(project, book, subject.node_id) is not None


def makes_of_noise(subject: Subject) -> bool:
    """Whether the node makes images of random numbers."""
    project, book = subject.as_trained
    return book is not None and from_noise(project, book, subject.node_id) is not None


class _Copies(OneProbe):
    """Originals above, copies below."""

    card_size = (460, 220)
    takes = "reconstructions"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.sheets = Sheets()
        stacked(self, self.sheets)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        self._show()

    def _show(self) -> None:
        if self._found is None:
            return
        facts, (given, made) = self._found.extra, self._found.array
        count = min(len(given), max(1, (self.width() - WIDTH) // LEAST))
        above = [
            Sheet(f"{row + 1}", one, signed=False) for row, one in zip(facts["rows"], given, strict=True)
        ]
        below = [
            Sheet(number(float(error)), one, signed=False)
            for error, one in zip(facts["errors"], made, strict=True)
        ]
        self.sheets.show_sheets([*above[:count], *below[:count]], columns=count)
        mean, rows = number(facts["mean_error"]), facts["looked_at"]
        self.set_note(f"below: squared error, mean {mean} over {rows} {facts['split']} examples")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show()

    def table(self) -> Table | None:
        if self._found is None:
            return None
        facts = self._found.extra
        rows = zip(facts["rows"], facts["errors"].tolist(), strict=True)
        return ("example", "mean squared error"), [(row + 1, error) for row, error in rows]


@view_kind(
    "reconstructions",
    "Reconstructions",
    "Held out images above, their reconstructions below, with the mean squared error of each.",
    "Images",
    copies,
    rank=6,
    leads=80,
)
class Reconstructions(_Copies):
    """Of the answer of a node."""


@view_kind(
    "model-reconstructions",
    "Reconstructions",
    "Held out images above, their reconstructions below, with the mean squared error of each.",
    "Images",
    copies,
    rank=6,
    whole=True,
)
class ModelReconstructions(_Copies):
    """Of the first such answer of the model."""


@view_kind(
    "samples",
    "Samples through time",
    "Samples generated from the same random numbers while the layer learns; earlier ones below.",
    "Images",
    makes_of_noise,
    rank=6,
    leads=20,
)
class Samples(OneProbe):
    """The newest large, the first of each earlier moment small."""

    card_size = (460, 300)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._try = 0
        self.earlier: list[tuple[int, NDArray[np.floating]]] = []
        self.again = button("samplesAgain", "Other noise", "Generate samples from other random numbers")
        self.again.clicked.connect(self._again)
        self.newest, self.strip = Sheets(), Sheets()
        stacked(self, (self.newest, 3), (self.strip, 1), spacing=8)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "samples", (self._try,))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        self.newest.show_sheets([Sheet("", image, signed=False) for image in snapshot.array])
        kept = [moment for moment in self.earlier if moment[0] < snapshot.step]
        kept.append((snapshot.step, snapshot.array[0].copy()))
        self.earlier = kept if len(kept) <= EARLIER else [*kept[:-1:2], kept[-1]]
        self.strip.show_sheets(
            [Sheet(f"{step:,}", image, signed=False) for step, image in self.earlier], columns=EARLIER // 2
        )
        self._fit()

    def controls(self) -> QWidget | None:
        return self.in_row(self.again)

    def _again(self) -> None:
        self._try += 1
        self.earlier = []
        self.needs_changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()
        super().resizeEvent(event)

    def _fit(self) -> None:
        """Show earlier samples where there are any and room for them, and say so."""
        shown = self.height() >= STRIP_FROM and len(self.earlier) > 1
        self.strip.setVisible(shown)
        if self._found is not None:
            below = " · below: the first at earlier steps" if shown else ""
            self.set_note(f"{len(self._found.array)} samples at step {self._found.step:,}{below}")

    def table(self) -> Table | None:
        return None if self._found is None else rows_of(self._found.array)

    def state(self) -> dict[str, object]:
        return {"try": self._try}

    def restore(self, state: Mapping[str, object]) -> None:
        kept = state.get("try")
        if isinstance(kept, int) and kept >= 0:
            self._try = kept
            self.needs_changed.emit()
