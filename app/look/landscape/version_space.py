"""Which weights of a perceptron are right about all rows, and the mistakes that it takes to get there."""

from __future__ import annotations

from functools import partial
from math import isfinite

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.charts.chart import Chart, Curve, Frame, Ground, Layer, Marks
from app.charts.colourmaps import mixed
from app.charts.plot import number
from app.look.base import OneProbe, Subject, Table
from app.look.controls import beside
from app.look.registry import view_kind
from app.look.shown import gives
from app.theme import Theme
from app.widgets.labels import label
from engine.feed.feed import Snapshot

MOST_COUNTED = 40  # rows whose labellings are counted: of more the number is beyond reading
DEEPEST = 0.5  # how much colour directions have that get all rows wrong


def has_version_space(subject: Subject) -> bool:
    """Whether the node has weights that are right about all rows or not."""
    return gives(subject, "version space")


@view_kind(
    "version-space",
    "Version space",
    "The weights that classify all rows right, the path towards them, and the bound on mistakes.",
    "Weights",
    has_version_space,
    rank=20,
)
class VersionSpace(OneProbe):
    """All directions of weights and bias by how many rows they get wrong, and the path of the weights."""

    card_size = (460, 280)
    takes = "version_space"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.map = Chart()
        self.words, self.values = label("", "small"), label("", "small")
        for one in (self.words, self.values):
            one.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.path: list[tuple[float, float]] = []
        self._updates = 0
        beside(self, (self.map, 1), (self.words, 0), (self.values, 0))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts, wrong = snapshot.extra, snapshot.array
        self.map.setVisible(wrong.size > 0)
        if wrong.size:
            self._show_map(wrong, facts["weights"], facts["updates"], facts["rows"])
        lines = self._lines(snapshot)
        self.words.setText("\n".join(word for word, _ in lines))
        self.values.setText("\n".join(value for _, value in lines))
        inside = "inside the version space" if not facts["mistakes"] else f"{facts['mistakes']} rows wrong"
        self.set_note(f"{inside} · margin {number(facts['margin'])} · {facts['rows']} rows")

    def _show_map(
        self, wrong: NDArray[np.float32], weights: NDArray[np.float64], updates: int, rows: int
    ) -> None:
        if updates < self._updates:
            self.path.clear()
        self._updates = updates
        length = float(np.linalg.norm(weights))
        if length:
            here = float(np.degrees(np.arctan2(weights[1], weights[0]))), float(weights[2]) / length
            if not self.path or self.path[-1] != here:
                self.path.append(here)
        layers: list[Layer] = [Ground(partial(_shades, wrong / max(1, rows)), smooth=False)]
        if self.path:
            x, y = np.array(self.path).T
            around = np.abs(np.diff(x)) > 180  # the map's left and right edge are one line
            gaps = np.nonzero(around)[0] + 1
            layers += [
                Curve(np.insert(x, gaps, np.nan), np.insert(y, gaps, np.nan), "text", 1.2),
                Marks(x[:-1], y[:-1], "text", "circle", 4),
                Marks(x[-1:], y[-1:], "text", "circle", 10, True),
            ]
        self.map.show_layers(Frame((-180, 180), (-1, 1), "direction, °", "bias"), layers)

    def _lines(self, snapshot: Snapshot) -> list[tuple[str, str]]:
        """What is told beside the map: a word and a value each."""
        facts = snapshot.extra
        bound = facts["bound"]
        found = [
            ("updates", f"{facts['updates']:,}"),
            ("at most R² / γ²", f"{bound:.1f}" if isfinite(bound) else "no bound"),
            ("margin", number(facts["margin"])),
            ("widest margin γ", number(facts["widest"]) if facts["widest"] else "none"),
        ]
        if snapshot.array.size:
            found.append(("version space", f"{(snapshot.array == 0).mean():.1%}".replace("%", " %")))
        if facts["different"] <= MOST_COUNTED:
            found.append(("separable labellings", f"{facts['separable']:,} of {facts['labellings']:,}"))
        return found

    def table(self) -> Table | None:
        if self._found is None:
            return None
        return ("value", "number"), [
            (name, float(self._found.extra[name])) for name in ("updates", "bound", "margin", "widest")
        ]


def _shades(wrong: NDArray[np.float64], theme: Theme) -> NDArray[np.uint32]:
    """The colour of each direction: green where no row is wrong, redder the more are."""
    steps = [mixed(theme.canvas, theme.bad, DEEPEST * level / 16).rgba() for level in range(17)]
    shades = np.array([*steps, mixed(theme.canvas, theme.good, 0.6).rgba()], np.uint32)
    level = np.ceil(wrong * 16).astype(int)
    return shades[np.where(wrong == 0, 17, level)]
