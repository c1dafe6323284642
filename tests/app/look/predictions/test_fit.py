"""The curve, its band and the residuals are drawn where the numbers say."""

import numpy as np
import pytest

from app.charts.chart import Band, Curve, Marks
from app.look.base import Subject
from app.look.predictions.fit import Fit
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe, Snapshot
from tests.app.look.planes import add_line, add_points
from tests.app.look.showing import painted, shown, snapshot

X = np.linspace(-1, 1, 200)
FACTS = {"name": "x", "classes": (), "target": "y", "fixed": 0, "example": 0, "deviation": False}
RESIDUALS = np.array([[-0.5, -1.0, -1.25], [0.5, 1.0, 1.5]])


def drawn(workspace: Workspace, curve: Snapshot, rows: object = None, training: int = 0) -> Fit:
    view = Fit(Subject(workspace, "n3"))
    found = {Probe("n3", "fit", (0,)): curve}
    if rows is not None:
        found[Probe("n3", "points", (0,))] = snapshot(rows, training=training, kind="values", classes=())
    shown(view, found)
    return view


def test_a_line_with_data_and_residuals(shaped: Workspace) -> None:
    add_line(shaped)
    curve = snapshot(np.stack([X, 2 * X], 1), kind="values", residuals=RESIDUALS, **FACTS)
    view = drawn(shaped, curve, [[0.0, 0.1], [0.5, 1.0]], training=1)
    painted(view, 340, 280)
    (line,) = [layer for layer in view.chart.layers if isinstance(layer, Curve)]
    np.testing.assert_allclose(line.y, 2 * line.x)
    marks = [layer for layer in view.chart.layers if isinstance(layer, Marks)]
    assert [(mark.hollow, mark.x.tolist(), mark.y.tolist()) for mark in marks] == [
        (False, [0.0], [0.1]),
        (True, [0.5], [1.0]),
    ]
    assert view.residuals.isVisible()
    (off,) = [layer for layer in view.residuals.layers if isinstance(layer, Marks)]
    np.testing.assert_allclose(off.y, [0.25, -0.5])
    assert view.note == "R² 0.844 · RMSE 0.395 (validation)"


def test_small_views_leave_the_residuals_out(shaped: Workspace) -> None:
    add_line(shaped)
    curve = snapshot(np.stack([X, 2 * X], 1), kind="values", residuals=RESIDUALS, **FACTS)
    view = drawn(shaped, curve)
    painted(view, 300, 160)
    assert not view.residuals.isVisible()


def test_two_deviations_where_the_model_says_how_sure_it_is(shaped: Workspace) -> None:
    add_line(shaped)
    deviation = 0.1 + 0.2 * np.abs(X)
    facts = {**FACTS, "deviation": True}
    view = drawn(
        shaped, snapshot(np.stack([X, X, deviation], 1), kind="values", residuals=RESIDUALS, **facts)
    )
    image = painted(view, 340, 170).astype(int)
    (band,) = [layer for layer in view.chart.layers if isinstance(layer, Band)]
    np.testing.assert_allclose(band.high - band.low, 4 * deviation)
    area = view.chart.area()
    column = int(area.left() + 0.25 * area.width())
    _, (low, high) = view.chart.to_pixels(np.zeros(2), np.array([-0.5 - 0.4, -0.5 + 0.4]))
    plain = image[int(area.top()) + 3, column]
    coloured = np.abs(image[:, column] - plain).sum(axis=1) > 20
    assert coloured[int(high) + 3 : int(low) - 3].all()


def test_probabilities_of_classes_along_a_feature(shaped: Workspace) -> None:
    add_points(shaped)
    chance = 1 / (1 + np.exp(-4 * X))
    facts = {**FACTS, "classes": ("first", "second"), "fixed": 1, "example": 2}
    view = drawn(shaped, snapshot(np.stack([X, 1 - chance, chance], 1), kind="classes", **facts))
    curves = [layer for layer in view.chart.layers if isinstance(layer, Curve)]
    np.testing.assert_allclose(curves[0].y + curves[1].y, 1)
    assert curves[0].style != curves[1].style
    assert "the other feature as in validation example 3" in view.note
    header, rows = view.table()
    assert header == ("x", "first", "second") and rows[0][1] == pytest.approx(1 - chance[0])


def test_the_feature_is_kept(shaped: Workspace) -> None:
    add_points(shaped)
    view = Fit(Subject(shaped, "n3"))
    assert view.controls() is not None
    view.restore({"feature": 1})
    assert view.state() == {"feature": 1}
    assert {probe.detail for probe in view.probes()} == {(1,)}
