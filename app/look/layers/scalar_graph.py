"""A computation number by number, gone through forward and backward."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPen

from app.charts.plot import Plot, colour_of, number
from app.theme import SMALL, Theme
from engine.layout import layout

WIDE, HIGH = 74.0, 46.0  # of a box, for the layout
LEAST, LARGEST = (62.0, 30.0), (92.0, 54.0)  # of a box on screen; what needs more room is scrolled
ACROSS, DOWN = 0.8, 0.86  # how much of its room a box takes
WIDE_ENOUGH = 80.0  # pixels of a box for three decimals
LINE = 14.0  # pixels of a row of text in a box


@dataclass(frozen=True)
class ScalarNode:
    """One number: `parents` are (place, local derivative); `role` is "input", "weight", "constant" or ""."""

    label: str
    value: float
    parents: tuple[tuple[int, float], ...] = ()
    role: str = ""
    node_id: str = ""


class ScalarGraph(Plot):
    """Numbers in boxes with arrows from what they are made of; the last one is the result.

    At `step` s of `steps` the first s computed numbers are known; beyond the middle, derivatives are passed
    back from the last number to the first, each added to what has come so far.
    """

    stepped = Signal(int)
    clicked = Signal(str)  # the node of a number

    def __init__(self) -> None:
        super().__init__()
        self._nodes: tuple[ScalarNode, ...] = ()
        self._computed: list[int] = []
        self._places: list[QPointF] = []
        self._extent = (1.0, 1.0)
        self._structure: object = None
        self._step = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_nodes(self, nodes: Sequence[ScalarNode]) -> None:
        """Show other numbers; a graph of the same form stays where it is, at the same step."""
        self._nodes = tuple(nodes)
        structure = tuple((node.label, tuple(parent for parent, _ in node.parents)) for node in nodes)
        if structure != self._structure:
            self._structure = structure
            self._computed = [index for index, node in enumerate(nodes) if node.parents]
            self._arrange()
            self._step = self.steps
        self._message = ""
        self.changed()

    @property
    def nodes(self) -> tuple[ScalarNode, ...]:
        """What is on screen."""
        return self._nodes

    @property
    def steps(self) -> int:
        """How many steps there are: each computed number forward, and each again backward."""
        return 2 * len(self._computed)

    @property
    def step(self) -> int:
        """How many steps have been taken."""
        return self._step

    def go(self, step: int) -> None:
        """Take all steps up to this one, and none after it."""
        step = max(0, min(step, self.steps))
        if step != self._step:
            self._step = step
            self.stepped.emit(step)
            self.update()

    @property
    def current(self) -> int:
        """The number that the last step was at, -1 before the first."""
        count = len(self._computed)
        if self._step <= 0:
            return -1
        if self._step <= count:
            return self._computed[self._step - 1]
        return self._computed[self.steps - self._step]

    def known(self, index: int) -> bool:
        """Whether a number has its value yet."""
        if not self._nodes[index].parents:
            return True
        return self._computed.index(index) < self._step

    def derivatives(self) -> list[float | None]:
        """What has come back to each number so far; None where nothing has."""
        found: list[float | None] = [None] * len(self._nodes)
        back = self._step - len(self._computed)
        if back <= 0 or not self._nodes:
            return found
        found[-1] = 1.0
        for index in reversed(self._computed[len(self._computed) - back :]):
            passed = found[index] or 0.0
            for parent, local in self._nodes[index].parents:
                found[parent] = (found[parent] or 0.0) + local * passed
        return found

    def sentence(self) -> str:
        """What the last step did."""
        index = self.current
        if index < 0:
            return "Inputs and weights are given; Next computes."
        node = self._nodes[index]
        names = [self._name(parent) for parent, _ in node.parents]
        if self._step <= len(self._computed):
            made = (
                f" {node.label} ".join(names)
                if node.label in "×+-÷"
                else f"{node.label} of {', '.join(names)}"
            )
            return f"Forward: {made} = {node.value:.4g}"
        own = self.derivatives()[index] or 0.0
        parts = [f"{local:.3g} × {own:.3g} to {self._name(parent)}" for parent, local in node.parents[:3]]
        more = " …" if len(node.parents) > 3 else ""
        return f"Backward through {node.label}: {', '.join(parts)}{more}"

    # -- where things are -------------------------------------------------------------------------

    def _arrange(self) -> None:
        """Columns as whole numbers, and heights in units of the smallest distance in a column."""
        sizes = {str(index): (WIDE, HIGH) for index in range(len(self._nodes))}
        wires = [
            (str(parent), str(index)) for index, node in enumerate(self._nodes) for parent, _ in node.parents
        ]
        found = layout(sizes, wires) if self._nodes else {}
        lefts = sorted({x for x, _ in found.values()})
        columns = [0]
        for before, after in pairwise(lefts):
            columns.append(columns[-1] + (after - before > WIDE / 2))
        column_of = dict(zip(lefts, columns, strict=True))
        places = [(column_of[x], y) for x, y in (found[str(index)] for index in range(len(self._nodes)))]
        gaps = [
            below - above
            for column in set(columns)
            for above, below in pairwise(sorted(y for at, y in places if at == column))
        ]
        least = max(1.0, min((gap for gap in gaps if gap > 0), default=HIGH))
        self._places = [QPointF(column, y / least) for column, y in places]
        self._extent = (columns[-1] + 1, max((place.y() for place in self._places), default=0.0) + 1)
        across, down = (
            4 + math.ceil(count * least / part)
            for count, least, part in zip(self._extent, LEAST, (ACROSS, DOWN), strict=True)
        )
        self.setMinimumSize(across, down)

    def _pitch(self) -> tuple[float, float]:
        """How far apart columns and neighbours in a column stand, in pixels."""
        across = min(140.0, (self.width() - 4) / self._extent[0])
        return across, min(72.0, (self.height() - 4) / self._extent[1])

    def box(self, index: int) -> QRectF:
        """Where a number stands, in pixels."""
        across, down = self._pitch()
        wide, high = min(LARGEST[0], ACROSS * across), min(LARGEST[1], DOWN * down)
        left = (self.width() - across * self._extent[0]) / 2 + (across - wide) / 2
        top = (self.height() - down * self._extent[1]) / 2
        place = self._places[index]
        return QRectF(left + across * place.x(), top + down * place.y(), wide, high)

    def index_at(self, at: QPoint) -> int:
        """The number at a point, -1 for none."""
        return next((index for index in range(len(self._nodes)) if self.box(index).contains(at)), -1)

    def describe(self, at: QPoint) -> str:
        index = self.index_at(at)
        if index < 0:
            return ""
        node, came = self._nodes[index], self.derivatives()[index]
        lines = [self._name(index) if not node.parents else node.label]
        if self.known(index):
            lines.append(f"value {node.value:.6g}")
        if came is not None:
            lines.append(f"derivative of the result by it {came:.6g}")
        lines += [f"derivative by {self._name(parent)}: {local:.6g}" for parent, local in node.parents[:6]]
        return "\n".join(lines)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.index_at(event.position().toPoint())
        if index >= 0 and self._nodes[index].node_id:
            self.clicked.emit(self._nodes[index].node_id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        by = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if by is None:
            super().keyPressEvent(event)
        else:
            self.go(self._step + by)

    # -- painting ---------------------------------------------------------------------------------

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if not self._nodes:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        current, came = self.current, self.derivatives()
        backward = self._step > len(self._computed)
        for index, node in enumerate(self._nodes):
            for parent, local in node.parents:
                self._paint_edge(painter, theme, parent, index, local, index == current, backward)
        for index in range(len(self._nodes)):
            self._paint_node(painter, theme, index, index == current, came[index])

    def _paint_edge(
        self,
        painter: QPainter,
        theme: Theme,
        source: int,
        target: int,
        local: float,
        active: bool,
        backward: bool,
    ) -> None:
        begin, end = self.box(source), self.box(target)
        start = QPointF(begin.right(), begin.center().y())
        stop = QPointF(end.left(), end.center().y())
        reach = max(6.0, 0.4 * (stop.x() - start.x()))
        path = QPainterPath(start)
        path.cubicTo(start + QPointF(reach, 0), stop - QPointF(reach, 0), stop)
        colour = theme.accent if not backward else colour_of(theme, "convolution")
        quiet = QColor(theme.faint)
        quiet.setAlphaF(0.55)
        painter.setPen(QPen(colour if active else quiet, 2.0 if active else 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        if active and backward:
            painter.setFont(theme.mono(SMALL))
            painter.setPen(theme.text)
            at = path.pointAtPercent(0.5)
            words = f"{local:.3g}"
            wide = painter.fontMetrics().horizontalAdvance(words)
            box = QRectF(at.x() - wide / 2 - 2, at.y() - LINE / 2, wide + 4, LINE + 2)
            painter.fillRect(box, theme.panel)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)

    def _paint_node(
        self, painter: QPainter, theme: Theme, index: int, active: bool, came: float | None
    ) -> None:
        node, box = self._nodes[index], self.box(index)
        known = self.known(index)
        border = QPen(self._border(theme, node), 1.2)
        if active:
            border = QPen(theme.accent if came is None else colour_of(theme, "convolution"), 2.4)
        elif node.role == "constant":
            border.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(border)
        painter.setBrush(theme.raised if known else theme.panel)
        painter.drawRoundedRect(box, 4, 4)
        colour = colour_of(theme, "convolution") if theme.dark else theme.warning_text
        label = (node.label, theme.dim, False)
        places = 3 if box.width() >= WIDE_ENOUGH else 2
        value = (_number(node.value, places) if known else "", theme.text, True)
        mark = "∂ " if box.width() >= WIDE_ENOUGH else "∂"
        slope = ("" if came is None else f"{mark}{_number(came, places)}", colour, True)
        room = int(box.height() // LINE)
        if room >= 3:
            rows = [label, value, slope]
        elif room == 2:
            rows = [label, value if came is None else slope]
        else:
            rows = [(value if known else label) if came is None else slope]
        high = box.height() / len(rows)
        for place, (words, pen, mono) in enumerate(rows):
            painter.setFont(theme.mono(SMALL) if mono else theme.font(SMALL))
            painter.setPen(pen)
            at = QRectF(box.left(), box.top() + place * high, box.width(), high)
            shown = painter.fontMetrics().elidedText(
                words, Qt.TextElideMode.ElideRight, int(box.width()) if not mono else 1000
            )
            painter.drawText(at, Qt.AlignmentFlag.AlignCenter, shown)

    def _border(self, theme: Theme, node: ScalarNode) -> QColor:
        role = {"input": "data", "weight": "dense"}.get(node.role)
        return theme.faint if role is None else colour_of(theme, role)

    def _name(self, index: int) -> str:
        node = self._nodes[index]
        return node.label if not node.parents else number(node.value)


def _number(value: float, places: int = 3) -> str:
    if value and (abs(value) < 1e-3 or abs(value) >= 1e4):
        return f"{value:.0e}" if places < 3 else f"{value:.1e}"
    return f"{value:.{places}f}" if not np.isclose(value, round(value), atol=1e-9) else f"{round(value)}"
