"""How soon the model's answer to a stroke on the drawing pad stands on the screen."""

from __future__ import annotations

import statistics
import time

from PySide6.QtCore import QEvent, QObject, QPointF
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.look.base import Subject
from app.look.playground.inputs import PadInput
from app.look.predictions.try_it import DRAW, TryIt
from app.workspace.watching import watching
from app.workspace.workspace import Workspace
from tests.bench.rows import row
from tests.bench.setting import gallery_project
from tests.bench.window import open_window, spin, wait_until

STROKES = 60
LONGEST_SECONDS = 2.0


class Paints(QObject):
    """Notes when a widget was painted last."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.at = 0.0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.at = time.perf_counter()
        return False


@row(
    "try-it",
    "from a stroke on the pad to its answer painted, mnist-cnn: 95th percentile, paused and while training",
    "ms",
    "<= 50",
)
def try_it() -> tuple[float, str]:
    with open_window(gallery_project("mnist-cnn")) as (_, workspace):
        wait_until(lambda: workspace.trainer.data is not None)
        holder, view = _shown(workspace)
        paused = _answers(view)
        workspace.train()
        wait_until(lambda: workspace.trainer.progress.step > 20)
        training = _answers(view)
        still = workspace.trainer.state == "running"
        holder.close()
    if not still:
        raise ValueError("training was over before it was measured")
    told = ", ".join(
        f"{name}: median {statistics.median(times):.0f}, worst {max(times):.0f}"
        for name, times in (("paused", paused), ("training", training))
    )
    return max(_nearly_worst(paused), _nearly_worst(training)), told


def _shown(workspace: Workspace) -> tuple[QWidget, TryIt]:
    """The view in a window of its own, its probe watched."""
    view = TryIt(Subject(workspace))
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.addWidget(view)
    holder.resize(560, 340)
    holder.show()
    watching(workspace).watch("bench", view.probes())
    view.ways.choose(DRAW)
    spin(0.5)
    return holder, view


def _answers(view: TryIt) -> list[float]:
    """Milliseconds from each of 60 strokes, 40 ms apart, until its answer was painted."""
    drawing = view.inputs[DRAW]
    assert isinstance(drawing, PadInput)
    paints = Paints(view.bars)
    times = []
    for turn in range(STROKES):
        times.append(_answer(view, drawing, paints, turn) * 1000)
        spin(0.04)
    return times


def _answer(view: TryIt, drawing: PadInput, paints: Paints, turn: int) -> float:
    """Seconds from one stroke until its answer was painted."""
    area = drawing.pad.area()
    x = area.left() + turn * 7 % 31 / 31 * area.width()
    y = area.top() + turn * 5 % 29 / 29 * area.height()
    began = time.perf_counter()
    drawing.pad.stroke(QPointF(x, y), QPointF(x + 9, y + 9))
    wanted = view.number
    while view.answered != wanted or paints.at <= view.answered_at:
        if time.perf_counter() - began > LONGEST_SECONDS:
            return LONGEST_SECONDS
        QApplication.processEvents()
        time.sleep(0.0005)
    return paints.at - began


def _nearly_worst(times: list[float]) -> float:
    return sorted(times)[int(0.95 * (len(times) - 1))]
