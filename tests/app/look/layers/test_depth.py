"""Variance by depth: level lines are level, what vanishes falls by whole decades, and it is said."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.layers.depth import VARIANCE, DepthView, verdict
from app.look.registry import proposed
from app.theme import current_theme
from app.workspace.workspace import Workspace
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot


@pytest.fixture
def view(shaped: Workspace, qtbot: QtBot) -> DepthView:
    add_iris(shaped)
    made = DepthView(Subject(shaped))
    qtbot.addWidget(made)
    return made


def test_points_stand_on_a_logarithmic_axis(view: DepthView) -> None:
    values = np.array([[1.0, 1e-6], [1.0, 1e-3], [1.0, 1.0]])
    shown(view, {VARIANCE: snapshot(values, nodes=("n2", "n3", "n1"), rows=64, sizes=(4, 2, 1))})
    image = painted(view, 400, 240)
    lines = view.lines
    forward = [lines.place(layer, 1.0) for layer in range(3)]
    backward = [lines.place(layer, values[layer, 1]) for layer in range(3)]
    assert len({point.y() for point in forward}) == 1
    falls = [before.y() - after.y() for before, after in pairwise(backward)]
    assert falls[0] == pytest.approx(falls[1])
    assert falls[0] > 20
    for points, role in ((forward[:2], "accent"), (backward[:2], "convolution")):
        colour = getattr(current_theme(), role, None) or current_theme().family(role)
        for point in points:
            pixel = image[round(point.y()), round(point.x())].astype(int)
            assert np.abs(pixel - [colour.red(), colour.green(), colour.blue()]).max() < 12
    assert view.note == "variance ×1 · gradient length ×0.002, vanishes · 64 examples"


@pytest.mark.parametrize(
    ("forward", "backward", "words"),
    [
        ([1, 2, 4], [1, 2, 4], "variance ×4 · gradient length ×0.5"),
        ([1, 100, 1e4], [1, 1, 1], "variance ×10,000, explodes · gradient length ×1"),
        ([1, 1, np.inf], [np.nan, 1, 1], "variance explodes · gradient length ×1"),
        ([1, 1, 0.0], [np.nan, np.nan, 1], "variance: 0 at the end"),
        ([1, 1, 1], [1e-8, 1e-4, 1], "variance ×1 · gradient length ×1.0e-04, vanishes"),
    ],
)
def test_what_the_lines_say(forward: list[float], backward: list[float], words: str) -> None:
    assert verdict(np.array(forward, float), np.array(backward, float)) == words


def test_zero_and_what_is_not_finite_have_crosses_at_the_edge(view: DepthView) -> None:
    values = np.array([[1.0, np.nan], [0.0, np.nan], [np.inf, np.nan]])
    shown(view, {VARIANCE: snapshot(values, nodes=("n2", "n3", "n1"), rows=64, sizes=(4, 2, 1))})
    image = painted(view, 400, 240).astype(int)
    bad = current_theme().bad
    red = np.abs(image - [bad.red(), bad.green(), bad.blue()]).sum(2) < 60
    area = view.lines._area()
    middle = int(view.lines.place(1, 1.0).x())
    assert red[int(area.bottom()) - 9 : int(area.bottom()), middle - 4 : middle + 5].any()
    right = int(view.lines.place(2, 1.0).x())
    assert red[int(area.top()) : int(area.top()) + 10, right - 4 : right + 5].any()


def test_a_click_asks_for_the_nearest_layer(view: DepthView, qtbot: QtBot) -> None:
    values = np.array([[1.0, 1.0], [0.5, 0.5]])
    shown(view, {VARIANCE: snapshot(values, nodes=("n2", "n3"), rows=64, sizes=(1, 1))})
    painted(view, 400, 240)
    with qtbot.waitSignal(view.node_asked) as asked:
        qtbot.mouseClick(view.lines, Qt.MouseButton.LeftButton, pos=QPoint(330, 100))
    assert asked.args == ["n3"]
    assert view.lines.describe(QPoint(60, 100)).splitlines() == [
        "classes",
        "variance of values: 1",
        "of gradients: 1",
    ]
    assert view.table()[1] == [("classes", 1.0, 1.0), ("loss", 0.5, 0.5)]


def test_it_is_of_the_whole_model(view: DepthView, shaped: Workspace) -> None:
    assert "depth" in {kind.id for kind in proposed(Subject(shaped))}
