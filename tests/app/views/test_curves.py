"""Curve plots: honest about what is not finite, fitted to the run, stable under many updates."""

from __future__ import annotations

import numpy as np
import psutil
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.theme import current_theme, set_theme
from app.views.axes import duration, duration_ticks, log_ticks, round_ticks
from app.views.curves import Curve, CurvePlot
from app.views.track import Track
from tests.app.views.test_track import points


@pytest.fixture
def plot(qtbot: QtBot) -> CurvePlot:
    made = CurvePlot()
    qtbot.addWidget(made)
    made.resize(420, 220)
    with qtbot.waitExposed(made):
        made.show()
    return made


def track_of(values: list[float] | np.ndarray) -> Track:
    track = Track()
    track.extend(points(values))
    return track


def test_the_last_point_is_drawn(plot: CurvePlot) -> None:
    track = track_of([1.0, 0.5])
    plot.show_curves([Curve("train", track, "raw", "accent")])
    plot.set_axis("step")
    plot.refresh()
    track.extend(points([0.25], 3))
    plot.refresh()
    x, y = plot.drawn(0)
    assert x.tolist() == [1.0, 2.0, 3.0]
    assert np.allclose(y, [1.0, 0.5, 0.25])


def test_values_that_are_not_finite_are_marked(plot: CurvePlot) -> None:
    plot.show_curves([Curve("train", track_of([1.0, float("nan"), 0.5, float("inf"), 0.2]), "raw", "accent")])
    plot.set_axis("step")
    plot.refresh()
    assert len(plot.marks) == 2
    plot.grab()


def test_zero_and_below_have_no_place_on_a_logarithmic_scale(plot: CurvePlot) -> None:
    plot.show_curves([Curve("loss", track_of([1.0, 0.0, -1.0, 0.1]), "line", "accent")])
    plot.set_log(True)
    plot.refresh()
    assert np.isnan(plot.drawn(0)[1]).tolist() == [False, True, True, False]
    plot.set_log(False)
    plot.refresh()
    assert plot.drawn(0)[1].tolist() == [1.0, 0.0, -1.0, 0.1]


def test_nothing_but_nan_does_no_harm(plot: CurvePlot) -> None:
    plot.show_curves([Curve("loss", track_of([float("nan")] * 5), "smooth", "accent")])
    plot.refresh()
    plot.grab()
    (left, right), (bottom, top) = plot.getViewBox().viewRange()
    assert all(np.isfinite([left, right, bottom, top]))


def test_the_axis_grows_up_to_the_planned_end(plot: CurvePlot) -> None:
    track = track_of(np.ones(10))  # one epoch of ten steps
    plot.show_curves([Curve("train", track, "raw", "accent")])
    plot.set_axis("epoch", 12)
    plot.refresh()
    assert plot.getViewBox().viewRange()[0] == [0.0, 1.5]
    track.extend(points(np.ones(80), 11))
    plot.refresh()
    assert plot.getViewBox().viewRange()[0] == [0.0, 12.0]


def test_the_wheel_zooms_and_a_double_click_shows_everything_again(plot: CurvePlot, qtbot: QtBot) -> None:
    plot.show_curves([Curve("train", track_of(np.ones(50)), "raw", "accent")])
    plot.set_axis("step")
    plot.refresh()
    middle = plot.viewport().rect().center()
    before = plot.getViewBox().viewRange()
    wheel = QWheelEvent(
        QPointF(middle),
        QPointF(plot.viewport().mapToGlobal(middle)),
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(plot.viewport(), wheel)
    assert not plot.following
    assert plot.getViewBox().viewRange() != before
    qtbot.mouseDClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    assert plot.following


def test_the_pointer_reads_the_curve(plot: CurvePlot, qtbot: QtBot) -> None:
    plot.show_curves([Curve("validation", track_of([0.5, 0.4, 0.3]), "points", "convolution")])
    plot.set_axis("step")
    plot.refresh()
    with qtbot.waitSignal(plot.read) as caught:
        qtbot.mouseMove(plot.viewport(), plot.viewport().rect().center())
    assert caught.args is not None
    assert caught.args[0].startswith("step ")
    assert "validation 0." in caught.args[0]


def test_curves_wear_the_theme(plot: CurvePlot) -> None:
    plot.show_curves([Curve("train", track_of([1.0, 2.0]), "smooth", "accent")])
    for name in ("light", "dark"):
        set_theme(name)
        assert plot.getAxis("left").textPen().color() == current_theme().dim
        assert plot.backgroundBrush().style() == Qt.BrushStyle.NoBrush


def test_many_updates_of_a_long_curve_with_runs_of_nan_are_stable(plot: CurvePlot) -> None:
    """C-12 in small: a curve of 100,000 points with NaN runs, redrawn over and over; memory stays flat."""
    values = np.random.default_rng(0).uniform(0.1, 1.0, 100_000)
    values[::7] = np.nan
    values[30_000:40_000] = np.nan
    track = track_of(values)
    plot.show_curves([Curve("train", track, "raw", "accent"), Curve("train", track, "smooth", "accent")])
    plot.set_axis("step")
    process = psutil.Process()
    resident = 0
    for turn in range(400):
        track.extend(points([np.nan if turn % 3 else 0.5], 100_001 + turn))
        plot.refresh()
        plot.viewport().repaint()
        if turn == 100:
            resident = process.memory_info().rss
    assert process.memory_info().rss - resident < 20e6
    assert plot.drawn(0)[0][-1] == 100_400
    assert len(plot.drawn(0)[0]) < 2000


def test_ticks_are_round_and_few() -> None:
    assert [round(10**tick, 3) for tick in log_ticks(-2.0, 0.0, 5)] == [0.01, 0.03, 0.1, 0.3, 1.0]
    assert log_ticks(-9.0, 0.0, 4) == [-9.0, -6.0, -3.0, 0.0]
    assert round_ticks(0.0, 12.0, 5) == [0.0, 3.0, 6.0, 9.0, 12.0]
    assert round_ticks(0.0, 1.5, 4, whole=True) == [0.0, 1.0]
    assert duration_ticks(0.0, 300.0, 5) == [0.0, 60.0, 120.0, 180.0, 240.0, 300.0]
    assert [duration(seconds) for seconds in (8, 60, 90, 3600, 5400)] == [
        "8 s",
        "1 min",
        "1:30",
        "1 h",
        "1:30 h",
    ]
