"""Counts follow the slider, and are marked on both curves."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from sklearn.metrics import confusion_matrix

from app.charts.chart import Chart, Marks
from app.look.base import Subject
from app.look.predictions.threshold import Threshold
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.look.planes import add_points
from tests.app.look.showing import painted, shown, snapshot

YES = np.array([0.05, 0.2, 0.4, 0.6, 0.45, 0.7, 0.8, 0.95])
RIGHT = np.array([0, 0, 0, 0, 1, 1, 1, 1])


def drawn(workspace: Workspace) -> Threshold:
    add_points(workspace)
    view = Threshold(Subject(workspace, "n3"))
    facts = {"right": RIGHT, "classes": ("no", "yes"), "rows": RIGHT, "total": 8, "kind": "classes"}
    shown(view, {Probe("n3", "answers"): snapshot(np.stack([1 - YES, YES], 1), **facts)})
    return view


def marked(chart: Chart) -> tuple[float, float]:
    (mark,) = [layer for layer in chart.layers if isinstance(layer, Marks)]
    return float(mark.x[0]), float(mark.y[0])


def test_the_counts_at_one_half(shaped: Workspace) -> None:
    view = drawn(shaped)
    assert tuple(view.counts.counts) == (3, 1, 3, 1)
    assert marked(view.roc) == (0.25, 0.75)
    assert marked(view.recall) == (0.75, 0.75)
    assert view.note == "yes: yes · 75.0 % right · cost 0.250, least 0.125 from 0.401 · 8 held out examples"


def test_moving_the_slider(shaped: Workspace) -> None:
    view = drawn(shaped)
    painted(view, 380, 300)
    view.slider.setFocus()
    for _ in range(11):  # a page is a hundredth
        QTest.keyClick(view.slider, Qt.Key.Key_PageDown)
    assert view.threshold == pytest.approx(0.39)
    assert tuple(view.counts.counts) == (4, 2, 2, 0)
    header, rows = view.table()
    assert dict(zip(header, rows[0], strict=True))["recall"] == 1.0


def test_the_other_class_counts_as_yes(shaped: Workspace) -> None:
    view = drawn(shaped)
    view.restore({"class": 0, "threshold": 700})
    view.draw({Probe("n3", "answers"): view._found})
    assert tuple(view.counts.counts) == (2, 0, 4, 2)
    assert view.state() == {"class": 0, "threshold": 700, "miss": 3}


def test_small_views_keep_the_numbers(shaped: Workspace) -> None:
    view = drawn(shaped)
    image = painted(view, 300, 160)
    assert not view.roc.isVisible() and view.counts.isVisible()
    assert (image != image[0, 0]).any()


def test_a_miss_that_costs_more_asks_for_a_lower_threshold(shaped: Workspace) -> None:
    view = drawn(shaped)
    view.restore({"class": 1, "threshold": 500, "miss": 5})  # five times as much
    curve, best, here = view.cost.layers
    for at, cost in zip(curve.x[::100], curve.y[::100], strict=True):
        _, alarms, missed, _ = confusion_matrix(RIGHT, at <= YES).ravel()
        assert cost == pytest.approx((alarms + 5 * missed) / 8)
    assert here.y[0] == pytest.approx(6 / 8)
    assert best.x[0] < 0.45 < here.x[0] and best.y[0] == pytest.approx(1 / 8) == curve.y.min()
