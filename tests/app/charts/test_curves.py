"""Curve plots: honest about what is not finite, fitted to the run, stable under many updates."""

from __future__ import annotations

import numpy as np
import psutil
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QRegion, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.charts.axes import duration, duration_ticks, log_ticks, round_ticks, short
from app.charts.curve_options import CurveOptions
from app.charts.curves import Curve, CurvePlot
from app.charts.track import Track
from app.theme import current_theme, set_theme
from tests.app.charts.test_track import points


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


def place_of(plot: CurvePlot, x: float, y: float) -> QPoint:
    """The pixel of a point, y as the axis has it."""
    across, down = plot.to_pixels(np.array([x]), np.array([y]))
    return QPoint(round(across[0]), round(down[0]))


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
    assert len(plot.marks.bad) == 2
    assert plot.note == "2 not finite ×"

    def at(step: float, y: float) -> QPoint:
        return QPoint(place_of(plot, step, 0).x(), round(plot.area().top() + y))

    assert plot.describe(at(2, 6)) == "train: not a number at step 2"
    assert plot.describe(at(4, 6)) == "train: infinite at step 4"
    assert plot.describe(at(3, 6)) == ""
    image = plot.grab().toImage()
    assert image.pixelColor(at(2, 6)).red() > 200


def test_zero_and_below_have_no_place_on_a_logarithmic_scale(plot: CurvePlot) -> None:
    plot.show_curves([Curve("loss", track_of([1.0, 0.0, -1.0, 0.1]), "line", "accent")])
    plot.set_log(True)
    plot.refresh()
    assert np.isnan(plot.drawn(0)[1]).tolist() == [False, True, True, False]
    assert len(plot.marks.under) == 2
    assert plot.note == "2 ≤ 0 ▾"
    plot.set_log(False)
    plot.refresh()
    assert plot.drawn(0)[1].tolist() == [1.0, 0.0, -1.0, 0.1]
    assert plot.marks.under == ()
    assert plot.note == ""


def test_nothing_but_nan_does_no_harm(plot: CurvePlot) -> None:
    plot.show_curves([Curve("loss", track_of([float("nan")] * 5), "smooth", "accent")])
    plot.refresh()
    plot.grab()
    (left, right), (bottom, top) = plot.frame_shown.x, plot.frame_shown.y
    assert all(np.isfinite([left, right, bottom, top]))


def test_the_axis_grows_up_to_the_planned_end(plot: CurvePlot) -> None:
    track = track_of(np.ones(10))  # one epoch of ten steps
    plot.show_curves([Curve("train", track, "raw", "accent")])
    plot.set_axis("epoch", 12)
    plot.refresh()
    assert plot.frame_shown.x == (0.0, 1.5)
    track.extend(points(np.ones(80), 11))
    plot.refresh()
    assert plot.frame_shown.x == (0.0, 12.0)


def test_the_wheel_zooms_and_a_double_click_shows_everything_again(plot: CurvePlot, qtbot: QtBot) -> None:
    plot.show_curves([Curve("train", track_of(np.ones(50)), "raw", "accent")])
    plot.set_axis("step")
    plot.refresh()
    middle = plot.rect().center()
    before = plot.frame_shown
    wheel = QWheelEvent(
        QPointF(middle),
        QPointF(plot.mapToGlobal(middle)),
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(plot, wheel)
    assert not plot.following
    assert plot.frame_shown != before
    qtbot.mouseDClick(plot, Qt.MouseButton.LeftButton, pos=middle)
    assert plot.following


def test_dragging_moves_what_is_under_the_pointer(plot: CurvePlot, qtbot: QtBot) -> None:
    plot.show_curves([Curve("train", track_of(np.ones(50)), "raw", "accent")])
    plot.set_axis("step")
    plot.refresh()
    start, end = QPoint(200, 100), QPoint(140, 130)
    held = plot.to_values(QPointF(start))
    qtbot.mousePress(plot, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(plot, end)
    qtbot.mouseRelease(plot, Qt.MouseButton.LeftButton, pos=end)
    assert not plot.following
    assert plot.to_values(QPointF(end)) == pytest.approx(held)
    qtbot.mouseMove(plot, start)
    assert plot.to_values(QPointF(end)) == pytest.approx(held)


def test_the_pointer_reads_all_curves(plot: CurvePlot, qtbot: QtBot) -> None:
    train, val = track_of(np.linspace(1.0, 0.1, 100)), Track()
    rows = points([0.9, 0.6, 0.25])
    rows["step"] = [20, 50, 80]
    val.extend(rows)
    plot.show_curves([Curve("train", train, "line", "accent"), Curve("validation", val, "points", "loss")])
    plot.set_axis("step", 100)
    plot.refresh()
    place = place_of(plot, 51.2, 0)
    qtbot.mouseMove(plot, QPoint(place.x(), plot.height() // 2))
    assert plot.reading.startswith("step 51 · train ")
    assert plot.reading.endswith("validation 0.6")
    value = float(plot.reading.split("train ")[1].split(" ")[0])
    assert abs(value - train.near("step", 51.0)[1]) < 0.01
    train.extend(points(np.full(100, 0.7), 101))
    plot.refresh()  # the axis has grown under the pointer that stands still
    assert plot.reading.startswith("step 118")
    assert "train 0.7" in plot.reading
    plot.grab()
    QApplication.sendEvent(plot, QEvent(QEvent.Type.Leave))
    assert plot.reading == ""


def test_of_many_curves_those_near_the_pointer_are_read(plot: CurvePlot, qtbot: QtBot) -> None:
    curves = [
        Curve(f"run {number}", track_of(np.full(50, 10.0**number)), "line", "accent") for number in range(40)
    ]
    plot.show_curves(curves)
    plot.set_axis("step")
    plot.refresh()
    place = place_of(plot, 25, 30.1)
    qtbot.mouseMove(plot, place)
    names = [row.name for row in plot._crosshair.shown]
    assert "run 30" in names
    assert 3 < len(names) < 14
    assert names == sorted(names)
    assert plot.reading.count("run") == 40
    plot.grab()


def test_smoothing_is_a_mean_an_average_or_none(plot: CurvePlot) -> None:
    values = np.where(np.arange(200) % 2, 1.0, 3.0)
    track = track_of(values)
    plot.show_curves([Curve("train", track, "smooth", "accent")])
    plot.set_axis("step")
    plot.refresh()
    assert abs(plot.drawn(0)[1][100] - 2.0) < 0.2
    plot.set_smoothing(0.9)
    plot.refresh()
    x, y = plot.drawn(0)
    assert np.allclose(y, track.averaged(0.9, "step", 10_000)[1][np.searchsorted(np.arange(1, 201), x)])
    plot.set_smoothing(0)
    plot.refresh()
    assert set(np.round(plot.drawn(0)[1], 6)) == {1.0, 3.0}


def test_y_can_follow_the_newest_part(plot: CurvePlot) -> None:
    track = track_of([100.0, 50.0, *np.linspace(2.0, 1.0, 98)])
    plot.show_curves([Curve("train", track, "line", "accent")])
    plot.set_axis("step")
    plot.set_log(False)
    plot.refresh()
    assert plot.frame_shown.y[1] > 100
    plot.set_newest(True)
    plot.refresh()
    (left, right), (bottom, top) = plot.frame_shown.x, plot.frame_shown.y
    assert left == 0 and right >= 100
    assert 0.9 < bottom < 1.0
    assert 1.2 < top < 1.3


def test_moving_a_zoomed_view_draws_what_comes_into_sight(plot: CurvePlot, qtbot: QtBot) -> None:
    values = np.random.default_rng(0).uniform(1, 2, 1_000_000)
    values[600_500] = 9.0
    plot.show_curves([Curve("train", track_of(values), "line", "accent")])
    plot.set_axis("step")
    plot.refresh()
    plot.show_stretch((100_000, 101_000))
    qtbot.waitUntil(lambda: plot.drawn(0)[0][0] > 90_000)
    assert len(plot.drawn(0)[0]) > 300
    plot.show_stretch((600_000, 601_000))
    qtbot.waitUntil(lambda: plot.drawn(0)[0][0] > 590_000)
    assert np.isclose(plot.drawn(0)[1].max(), 9.0)
    qtbot.mouseDClick(plot, Qt.MouseButton.LeftButton, pos=plot.rect().center())
    assert plot.drawn(0)[0][-1] == 1_000_000
    assert np.isclose(plot.drawn(0)[1].max(), 9.0)


def test_a_resumed_run_is_drawn_forwards_and_the_place_is_marked(plot: CurvePlot) -> None:
    """C-13: to step 15, then on from 10."""
    track = track_of(np.linspace(2, 1, 15))
    track.extend(points(np.linspace(3, 2, 10), first_step=11))
    plot.show_curves([Curve("train", track, "line", "accent")])
    plot.set_axis("step")
    plot.refresh()
    assert (np.diff(plot.drawn(0)[0]) > 0).all()
    assert len(plot.marks.seams) == 1
    assert plot.describe(place_of(plot, 10, 0.2)).startswith("The run went on from here")


def test_curves_wear_the_theme(plot: CurvePlot) -> None:
    plot.show_curves([Curve("train", track_of([1.0, 2.0]), "smooth", "accent")])
    plot.refresh()
    for name in ("light", "dark"):
        set_theme(name)
        image = QImage(plot.size(), QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        plot.render(image, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)
        colours = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
        assert {current_theme().dim.name(), current_theme().accent.name()} <= colours
        assert image.pixelColor(plot.area().bottomRight().toPoint() - QPoint(9, 9)).alpha() == 0


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
        plot.repaint()
        if turn == 100:
            resident = process.memory_info().rss
    assert process.memory_info().rss - resident < 20e6
    assert plot.drawn(0)[0][-1] == 100_400
    assert len(plot.drawn(0)[0]) < 2000


def test_ticks_are_round_and_few() -> None:
    assert [short(value) for value in (0.0, 0.01, 5e-4, -1e-8, 2e6, 1.5e7)] == [
        "0",
        "0.01",
        "5e-4",
        "-1e-8",
        "2e6",
        "1.5e7",
    ]
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


def test_the_options_say_how_curves_are_smoothed(qtbot: QtBot) -> None:
    options = CurveOptions()
    qtbot.addWidget(options)
    assert options.weight is None
    assert not options.newest
    actions = {action.text(): action for action in options.menu_of_ways.actions()}
    with qtbot.waitSignal(options.changed):
        actions["Moving average, weight 0.99"].trigger()
    assert options.weight == 0.99
    with qtbot.waitSignal(options.changed):
        actions["Fit the y axis to the newest fifth"].trigger()
    assert options.newest
    assert options.weight == 0.99
    actions["None: every batch"].trigger()
    assert options.weight == 0
    assert "newest fifth" in options.toolTip()


def test_a_level_is_marked_and_stays_in_view(plot: CurvePlot) -> None:
    plot.show_curves([Curve("ratio", track_of([0.1, 0.2, 0.05]), "line", "accent")])
    plot.set_axis("step")
    plot.set_level(1e-3)
    plot.refresh()
    bottom, top = plot.frame_shown.y
    assert bottom < -3 < top
    y = place_of(plot, 1.5, -3).y()
    image, warning = plot.grab().toImage(), current_theme().warning
    row = [image.pixelColor(x, y) for x in range(60, 300)]
    drawn = [abs(seen.red() - warning.red()) + abs(seen.green() - warning.green()) < 30 for seen in row]
    assert 0.4 < np.mean(drawn) < 0.8  # broken
    plot.set_level(None)
    plot.refresh()
    assert plot.frame_shown.y[0] > -2
