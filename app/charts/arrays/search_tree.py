"""The tree of a beam search: what was kept at each step, what was dropped, and the path of the best text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QWidget

from app.charts.plot import Plot
from app.theme import SMALL, Theme

COLUMN = 112  # pixels from one step to the next
BOX = 76  # of a hypothesis: its token and its log-probability
ROW, LEAST_ROW = 26, 17
HEAD = 18  # for the numbers of the steps
ROOT = 34  # for where all texts begin
RADIUS = 4
ROOT_MARK, EARLIER = "▸", "…"
SPACES = {" ": "␣", "\n": "↵", "\t": "⇥"}


class Hypothesis(NamedTuple):
    """One continuation at one step: which kept one of the step before it goes on, and by which token."""

    parent: int
    token: str
    log_probability: float
    kept: bool = True


Tree = Sequence[Sequence[Hypothesis]]


@dataclass(frozen=True)
class Place:
    """Where a hypothesis is drawn, and how: "best", "alive", "ended" (kept, but not gone on) or "dropped"."""

    step: int
    number: int
    box: QRectF
    how: str


def shown_token(text: str) -> str:
    """A token as it can be seen: signs for what is blank."""
    return "".join(SPACES.get(letter, letter) for letter in text) or "∅"


def path_to(tree: Tree, step: int, number: int = 0) -> list[int]:
    """The numbers of the hypotheses, step by step, that lead to one of a step."""
    found = [number]
    for level in range(step, 0, -1):
        found.append(tree[level][found[-1]].parent)
    return found[::-1]


def standing(tree: Tree, step: int) -> list[dict[int, str]]:
    """How each hypothesis up to a step stands when that step is done, by its number."""
    found: list[dict[int, str]] = []
    alive = {number for number, one in enumerate(tree[step]) if one.kept}
    best = path_to(tree, step)
    for level in range(step, -1, -1):
        states = {}
        for number, one in enumerate(tree[level]):
            states[number] = ("alive" if number in alive else "ended") if one.kept else "dropped"
        states[best[level]] = "best"
        found.append(states)
        alive = {tree[level][number].parent for number in alive}
    return found[::-1]


class SearchTree(Plot):
    """Steps from left to right, as many as there is room for, the last one at the right.

    Siblings stand together below their parents' order, so that no two lines cross.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tree: tuple[tuple[Hypothesis, ...], ...] = ()
        self._step = 0
        self.setAccessibleName("Tree of a beam search")

    @property
    def tree(self) -> tuple[tuple[Hypothesis, ...], ...]:
        """What is shown."""
        return self._tree

    @property
    def step(self) -> int:
        """The last step that is shown, from 0."""
        return self._step

    def show_tree(self, tree: Tree, step: int) -> None:
        """Show a tree as it was after a step, counted from 0."""
        levels = tuple(tuple(map(Hypothesis._make, level)) for level in tree)
        if (levels, step) != (self._tree, self._step):
            self._tree, self._step = levels, min(max(step, 0), len(levels) - 1)
            self._message = ""
            self.changed()

    def text_to(self, step: int, number: int) -> str:
        """The tokens from the beginning to a hypothesis."""
        path = path_to(self._tree, step, number)
        return "".join(self._tree[level][at].token for level, at in enumerate(path))

    def places(self) -> list[Place]:
        """Where everything on screen stands, the steps in order."""
        if not self._tree:
            return []
        columns = max(1, int((self.width() - ROOT) // COLUMN))
        first = max(0, self._step + 1 - columns)
        states = standing(self._tree, self._step)
        room = self.height() - HEAD
        order: dict[int, int] = {}  # the line of each kept hypothesis of the step before
        found = []
        for level in range(self._step + 1):
            ones = self._tree[level]
            most = max(1, int(room // LEAST_ROW))
            numbers = sorted(range(len(ones))[:most], key=lambda at: (order.get(ones[at].parent, 0), at))
            high = min(ROW, room / len(numbers))
            top = HEAD + (room - high * len(numbers)) / 2
            order = {number: line for line, number in enumerate(numbers)}
            if level < first:
                continue
            x = ROOT + (level - first) * COLUMN + COLUMN - BOX
            for line, number in enumerate(numbers):
                box = QRectF(x, top + line * high + 1.5, BOX, high - 3)
                found.append(Place(level, number, box, states[level][number]))
        return found

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        places = self.places()
        if not places:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        at = {(one.step, one.number): one for one in places}
        first = places[0].step
        self._paint_head(painter, theme, first)
        middle = QPointF(ROOT - 8, HEAD + (self.height() - HEAD) / 2)
        for how in ("dropped", "ended", "alive", "best"):  # the strongest lie on top
            for one in (place for place in places if place.how == how):
                before = at.get((one.step - 1, self._tree[one.step][one.number].parent))
                start = QPointF(before.box.right(), before.box.center().y()) if before else middle
                self._paint_line(painter, theme, start, QPointF(one.box.left(), one.box.center().y()), how)
        for one in places:
            self._paint_box(painter, theme, one)

    def _paint_head(self, painter: QPainter, theme: Theme, first: int) -> None:
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.dim)
        for level in range(first, self._step + 1):
            x = ROOT + (level - first) * COLUMN + COLUMN - BOX
            painter.drawText(QRectF(x, 0, BOX, HEAD), Qt.AlignmentFlag.AlignCenter, f"step {level + 1}")
        painter.setFont(theme.mono())
        mark = ROOT_MARK if first == 0 else EARLIER
        room = QRectF(0, HEAD, ROOT - 10, self.height() - HEAD)
        painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, mark)

    def _paint_line(self, painter: QPainter, theme: Theme, start: QPointF, end: QPointF, how: str) -> None:
        pen = QPen({"best": theme.accent, "alive": theme.dim}.get(how, theme.faint))
        pen.setWidthF({"best": 2.4, "alive": 1.4}.get(how, 1.0))
        if how == "dropped":
            pen.setStyle(Qt.PenStyle.DotLine)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        half = (end.x() - start.x()) / 2
        path = QPainterPath(start)
        path.cubicTo(start + QPointF(half, 0), end - QPointF(half, 0), end)
        painter.drawPath(path)

    def _paint_box(self, painter: QPainter, theme: Theme, place: Place) -> None:
        one = self._tree[place.step][place.number]
        if place.how != "dropped":
            best = place.how == "best"
            painter.setPen(QPen(theme.accent if best else theme.line, 1.6 if best else 1.0))
            painter.setBrush(theme.selection if best else theme.raised)
            painter.drawRoundedRect(place.box, RADIUS, RADIUS)
        strong = place.how in ("best", "alive")
        painter.setFont(theme.mono(SMALL, bold=place.how == "best"))
        painter.setPen(theme.text if strong else theme.hint)
        room = place.box.adjusted(6, 0, -5, 0)
        number = f"{one.log_probability:.1f}"
        metrics = QFontMetrics(theme.mono(SMALL))
        wide = room.width() - metrics.horizontalAdvance(number) - 6
        token = painter.fontMetrics().elidedText(
            shown_token(one.token), Qt.TextElideMode.ElideRight, int(wide)
        )
        upright = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | upright, token)
        painter.setFont(theme.mono(SMALL))
        painter.setPen(theme.text if place.how == "best" else theme.dim if strong else theme.hint)
        painter.drawText(room, Qt.AlignmentFlag.AlignRight | upright, number)

    def describe(self, at: QPoint) -> str:
        place = next((one for one in self.places() if one.box.contains(QPointF(at))), None)
        if place is None:
            return ""
        one = self._tree[place.step][place.number]
        words = {
            "best": "on the path of the likeliest text",
            "alive": "kept, and gone on with",
            "ended": "kept, but none of its continuations",
            "dropped": "dropped",
        }[place.how]
        text = self.text_to(place.step, place.number)
        likely = f"log-probability {one.log_probability:.4f}"
        return f"{text}\n{likely} · number {place.number + 1} of step {place.step + 1}\n{words}"

    def sizeHint(self) -> QSize:
        return QSize(ROOT + 4 * COLUMN, HEAD + 8 * ROW)

    def minimumSizeHint(self) -> QSize:
        return QSize(ROOT + COLUMN, HEAD + 3 * LEAST_ROW)
