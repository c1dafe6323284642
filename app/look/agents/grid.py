"""A grid world as the agent sees it: what each cell is worth, where it would go, where agents are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from app.charts.colourmaps import VIRIDIS, limits, shade
from app.charts.plot import Plot, number
from app.charts.scale import NARROWEST, WIDTH, ends, paint_scale
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.registry import view_kind
from app.theme import SMALL, Theme
from engine.catalogue import Environment
from engine.feed.feed import Snapshot

ARROWS = ("↑", "→", "↓", "←")
WALL, ENDS = "#", "GO"
BRIGHT = 128  # of 255: above it, marks on a cell are black


def is_grid(subject: Subject) -> bool:
    """Whether the node is an environment of cells."""
    kind = subject.type
    return kind is not None and issubclass(kind, Environment) and "grid world" in kind.shows


class Grid(Plot):
    """Cells coloured by what they are worth, an arrow for the best action, a dot where agents are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values: NDArray[np.floating] | None = None
        self._layout: tuple[str, ...] = ()
        self._actions: tuple[str, ...] = ()
        self._agents: NDArray[np.integer] = np.zeros((0, 0), np.int64)

    def show_grid(self, snapshot: Snapshot) -> None:
        """Show another state of what the agent has learned."""
        self._values, facts = snapshot.array, snapshot.extra
        self._layout, self._actions = tuple(facts["layout"]), tuple(facts["actions"])
        self._agents = facts["agents"]
        self._message = ""
        self.changed()

    @property
    def worth(self) -> NDArray[np.floating]:
        """What each cell is worth by its best action; no number where nobody ever chooses one."""
        assert self._values is not None
        free = [[letter not in WALL + ENDS for letter in row] for row in self._layout]
        return np.where(np.array(free), self._values.max(2), np.nan)

    def _side(self) -> float:
        rows, columns = len(self._layout), len(self._layout[0])
        room = WIDTH if self.width() >= NARROWEST else 0
        return max(4.0, min((self.width() - room - 6) / columns, (self.height() - 2) / rows))

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if self._values is None:
            return
        side, worth = self._side(), self.worth
        low, high = limits(worth[np.isfinite(worth)])
        colours = shade(np.nan_to_num(worth, nan=low), VIRIDIS, low, high)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font(max(SMALL, int(side / 3))))
        for (row, column), value in np.ndenumerate(worth):
            cell = QRectF(column * side, row * side, side - 1, side - 1)
            letter = self._layout[row][column]
            if np.isfinite(value):
                ground = QColor.fromRgb(int(colours[row, column]))
                mark = ARROWS[int(self._values[row, column].argmax())]
            else:
                ground, mark = (theme.line, "") if letter == WALL else (theme.raised, letter)
            pen = QColor("black" if ground.lightness() > BRIGHT else "white")
            painter.fillRect(cell, ground)
            painter.setPen(pen if np.isfinite(value) else theme.text)
            painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, mark)
            if self._agents[row, column]:
                painter.setBrush(theme.accent)
                at = QPointF(cell.right() - side / 6, cell.top() + side / 6)
                painter.drawEllipse(at, side / 10, side / 10)
        if self.width() >= NARROWEST:
            strip = QRectF(0, 0, side * worth.shape[1], max(60.0, side * worth.shape[0]))
            paint_scale(painter, theme, strip.right() + 8, strip, VIRIDIS, ends(low, high))

    def describe(self, at: QPoint) -> str:
        if self._values is None:
            return ""
        row, column = int(at.y() / self._side()), int(at.x() / self._side())
        if row >= len(self._layout) or column >= len(self._layout[0]):
            return ""
        if not np.isfinite(self.worth[row, column]):
            return {WALL: "a wall", "G": "a goal", "O": "a pit"}.get(self._layout[row][column], "")
        pairs = zip(self._actions, self._values[row, column], strict=True)
        return ", ".join(f"{action} {number(float(value))}" for action, value in pairs)


@view_kind(
    "grid-world",
    "Values of cells",
    "What each cell is worth to the agent, where it would go from there, and where the agents are now.",
    "Answers",
    is_grid,
    rank=2,
    leads=10,
)
class GridWorldView(OneProbe):
    """The grid, and a note of how far the agents are."""

    card_size = (360, 300)
    takes = "grid_values"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.grid = Grid()
        stacked(self, self.grid)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        self.grid.show_grid(snapshot)
        self.set_note(f"arrows: the best action; dots: {int(snapshot.extra['agents'].sum())} agents")

    def table(self) -> Table | None:
        if self._found is None:
            return None
        values, actions = self._found.array, self._found.extra["actions"]
        rows = [
            (row + 1, column + 1, *(float(value) for value in values[row, column]))
            for row, column in np.ndindex(values.shape[:2])
        ]
        return ("row", "column", *actions), rows
