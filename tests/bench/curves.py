"""Curves of a long run: the time of a frame while one moves over them, and what redrawing leaves behind."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget

from engine.feed.feed import Snapshot
from engine.feed.series import POINT
from tests.bench.rows import row

STEPS = 1_000_000
FRAMES = 300


def long_run(steps: int = STEPS) -> np.ndarray:
    """A noisy loss of so many steps that falls, with a run of NaN."""
    rows = np.empty(steps, POINT)
    rows["step"] = np.arange(1, steps + 1)
    rows["epoch"], rows["seconds"] = rows["step"] / 1000, rows["step"] * 0.01
    fall = 2 * np.exp(-5 * rows["step"] / steps) + 0.1
    rows["value"] = fall * np.exp(np.random.default_rng(0).normal(0, 0.3, steps))
    rows["value"][steps // 2 : steps // 2 + 2000] = np.nan
    return rows


def shown_plot(rows: np.ndarray):  # type: ignore[no-untyped-def]
    """A plot of 900x400 pixels with the run raw and smoothed, on screen, and the track behind it."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication.instance() or QApplication(sys.argv[:1])
    from app.charts.curves import Curve, CurvePlot
    from app.charts.track import Track

    track = Track()
    track.extend(rows)
    plot = CurvePlot()
    plot.resize(900, 400)
    plot.show_curves([Curve("train", track, "raw", "accent"), Curve("train", track, "smooth", "accent")])
    plot.set_axis("step")
    plot.set_smoothing(0.99)
    plot.show()
    application.processEvents()
    plot.refresh()
    return plot, track


@row(
    "pan-million",
    "a frame while a curve of 1,000,000 points, raw and smoothed, is moved: 95th percentile, four zooms",
    "ms",
    "<= 16",
)
def pan_million() -> tuple[float, str]:
    plot, _ = shown_plot(long_run())
    times: list[float] = []
    medians = []
    for share in (1.0, 0.3, 0.02, 0.0005):
        times += (found := pan(plot, share))
        medians.append(statistics.median(found))
    return (
        sorted(times)[int(0.95 * len(times))],
        f"medians {', '.join(f'{median:.1f}' for median in medians)} ms at all, 30, 2 and .05 % of the run; "
        f"worst {max(times):.0f} ms of {len(times)} frames",
    )


def pan(plot: QWidget, share: float) -> list[float]:
    """Move a view of that share of the run in `FRAMES` steps; the milliseconds of each frame."""
    times = []
    wide = share * STEPS
    counted = PaintCount(plot)
    for frame in range(FRAMES):
        low = (0.4 + 0.002 * frame / FRAMES) * STEPS * (1 - share) + wide * frame / FRAMES
        began = time.perf_counter()
        plot.show_stretch((low, low + wide))
        QApplication.processEvents()  # what was asked for is drawn and painted here
        times.append((time.perf_counter() - began) * 1000)
    if counted.paints < FRAMES:
        raise ValueError(f"{counted.paints} of {FRAMES} frames were painted")
    return times


class PaintCount(QObject):
    """Counts how often a widget is painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.paints = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.paints += event.type() == QEvent.Type.Paint
        return False


@row(
    "redraw-nan",
    "memory that 10,000 redraws of a 100,000-point curve with runs of NaN leave behind",
    "MB",
    "<= 20",
)
def redraw_nan() -> tuple[float, str]:
    rows = long_run(100_000)
    rows["value"][::7] = np.nan
    plot, track = shown_plot(rows)
    process, before = psutil.Process(), 0
    began = time.perf_counter()
    for turn in range(10_000):
        new = rows[:1].copy()
        new["step"], new["epoch"], new["seconds"] = 100_001 + turn, 100 + turn / 1000, 1000 + turn * 0.01
        new["value"] = np.nan if turn % 3 else 0.5
        track.extend(new)
        plot.refresh()
        plot.repaint()
        if turn == 1000:
            before = process.memory_info().rss
    each = (time.perf_counter() - began) / 10
    return (process.memory_info().rss - before) / 1e6, f"after the first thousand; {each:.1f} ms a redraw"


@row(
    "gap-300",
    "longest gap of the event loop while panels take in a run of 1,000,000 steps of a 300-layer model",
    "ms",
    "<= 250",
)
def gap_300() -> tuple[float, str]:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication.instance() or QApplication(sys.argv[:1])
    from app.look.base import Subject
    from app.look.layers.layer_measures import ACTIVITY, NORMS, LayerMeasures
    from app.runs.training import TrainingPanel
    from tests.app.fake_run import workspace_with_fakes
    from tests.bench.window import Metronome, spin

    with tempfile.TemporaryDirectory() as folder:
        workspace, trainer = workspace_with_fakes(Path(folder))
        panel, table = TrainingPanel(workspace), LayerMeasures(Subject(workspace))
        panel.resize(1224, 310)
        table.resize(400, 300)
        panel.show()
        table.show()
        spin(1.0)
        nodes = tuple(f"layer {number}" for number in range(300))
        rng = np.random.default_rng(0)
        trainer.feed.open("train_loss").extend(long_run())
        trainer.feed.changed()
        metronome = Metronome()
        metronome.begin()
        for turn in range(24):
            norms = Snapshot(1, turn, rng.uniform(size=(300, 3)), {"nodes": nodes})
            activity = Snapshot(1, turn, rng.uniform(size=(300, 4)), {"nodes": nodes, "rows": 128})
            trainer.feed.put(NORMS, norms)
            workspace.ticked.emit()
            table.draw({NORMS: norms, ACTIVITY: activity})
            spin(0.25)
        metronome.end()
        steps = panel.curves.plot.drawn(0)[0][-1]
        panel.close()
        table.close()
        workspace.close()
        application.processEvents()
    if panel.curves.curves.behind:
        raise ValueError("the run has not been taken in")
    late = sorted(metronome.late)
    return late[-1], f"then {late[-2]:.0f}, median {statistics.median(late):.1f} ms; to epoch {steps:,.0f}"
