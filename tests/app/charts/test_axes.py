"""Axes: at least three numbers at any range, all told apart, none cut; and how far they can be zoomed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QFontMetrics, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.charts.axes import FEWEST, robust_span, tick_texts, ticks
from app.charts.chart import Chart, Frame, Marks
from app.charts.curves import Curve, CurvePlot
from app.charts.series import Line, SeriesPlot
from app.charts.tick_marks import room_of_numbers, ticks_across, ticks_up
from app.charts.track import Track
from app.theme import SMALL, current_theme
from tests.app.charts.test_curves import track_of

SCALES = ("linear", "whole", "log", "duration", "fraction")


def spans(scale: str) -> st.SearchStrategy[tuple[float, float]]:
    far = {"log": 300.0, "fraction": 1.0}.get(scale, 1e300)
    least = 0.0 if scale in ("fraction", "duration") else -far
    ends = st.floats(least, far, allow_subnormal=False)
    return (
        st.tuples(ends, ends)
        .map(sorted)
        .map(tuple)
        .filter(  # type: ignore[arg-type, return-value]
            lambda span: (
                span[1] - span[0] > 1e-9 * max(1.0 if scale == "log" else 1e-290, abs(span[0]), abs(span[1]))
            )
        )
    )


@given(
    st.sampled_from(SCALES).flatmap(lambda scale: st.tuples(st.just(scale), spans(scale))), st.integers(0, 12)
)
def test_an_axis_has_three_numbers_at_any_range(of: tuple[str, tuple[float, float]], room: int) -> None:
    scale, (low, high) = of
    found = ticks(scale, low, high, room)
    assert FEWEST <= len(found) <= max(2 * FEWEST, room + FEWEST) + 1
    near = 1e-9 * (high - low)
    assert all(low - near <= tick <= high + near for tick in found)
    assert sorted(found) == found
    if scale != "duration":
        assert len(set(tick_texts(scale, found))) == len(set(found))
    assert all(len(text) < 24 for text in tick_texts(scale, found))


def test_numbers_of_ticks_have_the_digits_that_tell_them_apart() -> None:
    assert tick_texts("linear", [12.31, 12.32, 12.33]) == ["12.31", "12.32", "12.33"]
    assert tick_texts("linear", [0.0, 0.1, 0.2]) == ["0", "0.1", "0.2"]
    assert tick_texts("whole", [0.0, 5_000.0, 10_000.0]) == ["0", "5,000", "10,000"]
    assert tick_texts("fraction", [0.0, 0.25, 0.5]) == ["0 %", "25 %", "50 %"]
    assert tick_texts("log", [-300.0, 0.0, 300.0]) == ["1e-300", "1", "1e300"]
    assert tick_texts("log", [-9.0, 12.0, 400.0])[-1] == "1e307"


def test_epochs_are_whole_numbers() -> None:
    assert ticks("whole", 0.0, 4.0, 3) == [0.0, 2.0, 4.0]
    assert all(tick.is_integer() for tick in ticks("whole", 0.0, 7.0, 12))


def test_one_value_far_out_leaves_the_others_their_room() -> None:
    assert robust_span(np.array([1.0, 2.0, 3.0, 1e27])) == (1.0, 3.0)
    assert robust_span(np.array([-1e27, 1.0, np.nan, 2.0, 3.0])) == (1.0, 3.0)
    assert robust_span(np.array([2.3, 1.0, 0.5, 0.01])) == (0.01, 2.3)
    assert robust_span(np.array([0.0, 0.0, 0.0, 1.0])) == (0.0, 1.0)
    assert robust_span(np.array([np.nan])) is None


@pytest.fixture
def plot(qtbot: QtBot) -> CurvePlot:
    made = CurvePlot()
    qtbot.addWidget(made)
    made.resize(420, 220)
    made.show()
    qtbot.waitExposed(made)
    return made


def shown(plot: CurvePlot, track: Track, *, log: bool) -> None:
    plot.set_log(log)
    plot.show_curves([Curve("train", track, "line", "accent")])
    plot.set_axis("step")
    plot.refresh()
    plot.repaint()


def turn(plot: CurvePlot, notches: int) -> None:
    at = plot.area().center()
    for _ in range(abs(notches)):
        delta = QPoint(0, 120 if notches > 0 else -120)
        event = QWheelEvent(
            at,
            QPointF(plot.mapToGlobal(at.toPoint())),
            QPoint(),
            delta,
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(plot, event)
        plot.repaint()


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("values", [[0.5, 0.25, 0.1], [1e-300, 1.0, 1e300], [2.0, 2.0, 2.0]])
@pytest.mark.parametrize("notches", [-60, 60])
def test_the_wheel_never_leaves_what_an_axis_can_show(
    plot: CurvePlot, log: bool, values: list[float], notches: int
) -> None:
    shown(plot, track_of(values), log=log)
    whole = plot.frame_shown
    turn(plot, notches)
    frame = plot.frame_shown
    for scale, span, first in ((frame.x_scale, frame.x, whole.x), (frame.y_scale, frame.y, whole.y)):
        size, before = span[1] - span[0], first[1] - first[0]
        assert np.isfinite(span).all()
        assert 1e-8 * before < size < 25 * before
        assert len(ticks(scale, *span, 4)) >= FEWEST


def test_a_loss_far_out_is_marked_and_told(plot: CurvePlot) -> None:
    shown(plot, track_of([1.0, 2.0, 3.0, 1e27, 2.0, 1.0]), log=False)
    bottom, top = plot.frame_shown.y
    assert bottom < 1.0 and 3.0 < top < 10.0
    assert len(plot.marks.over) == 1
    assert "far beyond" in plot.note
    place = QPoint(round(plot.area().left() + plot.marks.over[0]), round(plot.area().top()) + 6)
    assert "1.0e+27" in plot.describe(place)


def test_a_series_keeps_its_shape_beside_one_value_far_out(qtbot: QtBot) -> None:
    series = SeriesPlot(unit="row")
    qtbot.addWidget(series)
    series.show_lines([Line("value", np.array([1.0, 2.0, 3.0, 1e27]))])
    assert series.frame_shown.y[1] < 4.0
    assert [layer.shape for layer in series.layers if isinstance(layer, Marks)] == ["triangle"]


@pytest.mark.parametrize("span", [(0.0, 16_010.0), (1e6, 1e6 + 3), (-1e300, 1e300), (0.0, 1.0)])
def test_the_numbers_beside_an_axis_have_their_room(qtbot: QtBot, span: tuple[float, float]) -> None:
    chart = Chart()
    qtbot.addWidget(chart)
    chart.resize(300, 200)
    chart.show_layers(Frame(span, span, "x", "y"), [Marks(np.zeros(1), np.zeros(1))])
    metrics, area = QFontMetrics(current_theme().mono(SMALL)), chart.area()
    up = ticks_up("linear", span, area.height())
    assert max(metrics.horizontalAdvance(text) for _, text in up) <= room_of_numbers(
        "linear", span, area.height()
    )
    assert area.left() >= room_of_numbers("linear", span, area.height())
    across = ticks_across("linear", span, area.width())
    assert (
        sum(metrics.horizontalAdvance(text) for _, text in across) <= chart.width() or len(across) == FEWEST
    )
