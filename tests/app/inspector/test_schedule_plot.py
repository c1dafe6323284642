"""The plot of a schedule draws what a run will do, and nothing where that isn't known."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.charts.tick_marks import ticks_across, ticks_up
from app.inspector.schedule_plot import POINTS, SchedulePlot, curve
from engine.catalogue.training.schedules import SCHEDULES, factor_curve
from engine.document.plan import Choice


@pytest.mark.parametrize("name", sorted(SCHEDULES))
def test_the_curve_is_that_of_the_run(name: str) -> None:
    shown = curve(Choice(name), 10)
    if name in ("Constant", "Plateau"):
        assert shown == ()
        return
    run = factor_curve(Choice(name), 64, 10)
    assert len(shown) == POINTS
    assert (shown[0], shown[-1]) == (run[0], run[-1])
    assert max(shown) == pytest.approx(run.max(), rel=0.05)


def test_bad_values_are_no_curve() -> None:
    assert curve(Choice("Step", {"every": -1}), 10) == ()
    assert curve(Choice("Zigzag"), 10) == ()


def test_a_schedule_of_a_very_long_run_is_drawn_in_part(qtbot: QtBot) -> None:
    plot = SchedulePlot()
    qtbot.addWidget(plot)
    plot.show_schedule(Choice("Restarts", {"growth": 1.0}), 0.1, 10**9)
    assert len(plot.factors) == POINTS
    assert "1,000 epochs" in plot.accessibleName()
    plot.show_schedule(Choice("Constant"), 0.1, 10)
    assert plot.isHidden()


@pytest.mark.parametrize("rate", [3e-7, 0.001, 0.05, 20.0, 0.0])
@pytest.mark.parametrize("epochs", [1, 7, 300, 10**6])
def test_both_axes_have_numbers(rate: float, epochs: int, qtbot: QtBot) -> None:
    plot = SchedulePlot()
    qtbot.addWidget(plot)
    plot.resize(240, plot.sizeHint().height())
    plot.show_schedule(Choice("Cosine"), rate, epochs)
    frame, area = plot.frame_shown, plot.area()
    assert (frame.x_name, frame.y_name) == ("epoch", "learning rate")
    assert len(ticks_across(frame.x_scale, frame.x, area.width())) >= 3
    assert len(ticks_up(frame.y_scale, frame.y, area.height())) >= 3
    assert frame.y[0] == 0 and frame.y[1] >= rate
