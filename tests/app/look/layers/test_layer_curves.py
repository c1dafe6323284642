"""Layers through time: each layer's ratio against the step, forwards and backwards through the run."""

from __future__ import annotations

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.layers.layer_curves import MOST_LAYERS, LayerCurves
from app.look.layers.layer_measures import NORMS
from app.look.registry import proposed
from app.widgets.segments import Segments
from app.workspace.workspace import Workspace
from engine.feed.feed import Snapshot
from engine.feed.history import History
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown

NODES = ("n2", "n3")


def moment(step: int, *rows: tuple[float, float, float], nodes: tuple[str, ...] = NODES) -> Snapshot:
    return Snapshot(1, step, np.array(rows, float), {"nodes": nodes})


@pytest.fixture
def view(shaped: Workspace, qtbot: QtBot) -> LayerCurves:
    add_iris(shaped)
    made = LayerCurves(Subject(shaped))
    qtbot.addWidget(made)
    return made


def test_one_curve_a_layer_of_update_over_weights(view: LayerCurves) -> None:
    for step in (10, 20, 30):
        shown(view, {NORMS: moment(step, (0.1, 2.0, 0.002 * step), (0.3, 4.0, 0.004))})
    painted(view, 400, 240)
    assert view.plot is not None
    x, y = view.plot.drawn(0)
    assert x.tolist() == [10, 20, 30]
    np.testing.assert_allclose(y, [0.01, 0.02, 0.03])
    np.testing.assert_allclose(view.plot.drawn(1)[1], [0.001] * 3)
    assert view.note == "2 layers · 0.001 to 0.03 now"
    header, rows = view.table()
    assert header == ("step", "layer", "gradient", "weights", "update")
    assert rows[0] == (10, "classes", 0.1, 2.0, 0.02)


def test_other_lengths_are_a_click_away(view: LayerCurves) -> None:
    for step in (10, 20):
        shown(view, {NORMS: moment(step, (0.1 * step, 2.0, 0.002), (0.3, 4.0, 0.004))})
    control = view.controls()
    assert isinstance(control, Segments)
    control.choose("gradient")
    np.testing.assert_allclose(view.plot.drawn(0)[1], [1.0, 2.0])
    control.choose("weight")
    np.testing.assert_allclose(view.plot.drawn(1)[1], [4.0, 4.0])
    assert view.state() == {"of": "weight"}


def test_the_timeline_goes_back_and_forth(view: LayerCurves) -> None:
    history = History()
    history.record_only(frozenset({NORMS}))
    moments = [moment(step, (1, 1, step), (1, 1, 1)) for step in range(10, 110, 10)]
    for one in moments:
        history.record(NORMS, one)
    view.history = history
    for index, count in ((9, 10), (3, 4), (7, 8)):
        shown(view, {NORMS: moments[index]})
        x, y = view.plot.drawn(0)
        assert x.tolist() == [10.0 * number for number in range(1, count + 1)]
        np.testing.assert_allclose(y, x)


def test_of_very_many_layers_some_are_drawn(view: LayerCurves) -> None:
    nodes = tuple(f"x{index}" for index in range(100))
    shown(view, {NORMS: moment(1, *[(1, 1, 1)] * 100, nodes=nodes)})
    assert len(view.plot._curves) == MOST_LAYERS
    assert view.plot._curves[0].name == "x0"
    assert view.plot._curves[-1].name == "x99"
    assert view.note.startswith("16 of 100 layers")


def test_layers_that_nothing_trains_have_no_ratio(view: LayerCurves) -> None:
    shown(view, {NORMS: moment(1, (np.nan, 1, 0), (1, 1, 0.5))})
    assert [curve.name for curve in view.plot._curves] == ["loss"]


def test_it_is_of_the_whole_model(view: LayerCurves, shaped: Workspace) -> None:
    assert "layer-curves" in {kind.id for kind in proposed(Subject(shaped))}
