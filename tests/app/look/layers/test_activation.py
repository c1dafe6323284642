"""Activation plotter: function and derivative over the numbers that arrive."""

from __future__ import annotations

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.layers.activation import ActivationView, bends
from app.theme import current_theme
from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes
from engine.document.graph import Node
from engine.feed.feed import Probe
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot

CURVE = Probe("n2", "activation_curve")


@pytest.fixture
def view(shaped: Workspace, qtbot: QtBot) -> ActivationView:
    add_iris(shaped)
    made = ActivationView(Subject(shaped, "n2"))
    qtbot.addWidget(made)
    return made


def test_function_and_slope_stand_over_the_inputs(view: ActivationView) -> None:
    x = np.linspace(-4, 4, 241)
    curve = np.c_[x, np.maximum(x, 0), (x > 0).astype(float)]
    edges, counts = np.linspace(-2, 2, 5), np.array([10, 20, 40, 30])
    facts = {"counts": counts, "edges": edges, "min": -2.0, "max": 2.0}
    shown(view, {CURVE: snapshot(curve, **facts)})
    assert view.note == "x from -2 to 2 · 30 % where |f'| < 0.05"
    image = painted(view, 300, 240).astype(int)
    (px,), (py,) = view.curves.to_pixels(np.array([3.0]), np.array([3.0]))
    accent = current_theme().accent
    patch = image[round(py) - 1 : round(py) + 2, round(px) - 1 : round(px) + 2]
    assert (np.abs(patch - [accent.red(), accent.green(), accent.blue()]).max(2) < 40).any()
    # Both charts have one axis: the same x stands at the same place.
    above, _ = view.curves.to_pixels(np.array([0.0]), np.array([0.0]))
    below, _ = view.inputs.to_pixels(np.array([0.0]), np.array([0.0]))
    assert above[0] == below[0]
    offset = view.inputs.y()
    good = current_theme().good

    def tall(value: float) -> int:
        (place,), (ground,) = view.inputs.to_pixels(np.array([value]), np.array([0.0]))
        column = image[offset : offset + round(ground), round(place)]
        return int((np.abs(column - [good.red(), good.green(), good.blue()]).max(1) < 12).sum())

    heights = [tall(middle) for middle in (-1.5, -0.5, 0.5, 1.5)]
    assert heights[2] > heights[3] > heights[1] > heights[0] > 0
    assert heights[2] == pytest.approx(4 * heights[0], abs=4)
    assert view.curves.read(2.0, 0.0) == "x 2\nf(x) 2\nf'(x) 1"
    assert view.table()[1][-1] == [4.0, 4.0, 1.0]


def test_nothing_arrives_before_there_is_data(view: ActivationView) -> None:
    x = np.linspace(-4, 4, 241)
    facts = {"counts": np.zeros(4, int), "edges": np.linspace(0, 1, 5), "min": np.nan, "max": np.nan}
    shown(view, {CURVE: snapshot(np.c_[x, x, x * 0 + 1], **facts)})
    assert view.inputs.message == "no inputs yet"
    painted(view)


def test_it_suits_functions_of_single_numbers(shaped: Workspace) -> None:
    add_iris(shaped)
    nodes = (
        Node("n4", "Tanh", "", {}, (0, 300)),
        Node("n5", "Softmax", "", {}, (200, 300)),
        Node("n6", "Linear", "", {"units": 3, "activation": "ReLU"}, (400, 300)),
    )
    assert shaped.apply("Add", AddNodes(nodes, ()))
    found = {node: bends(Subject(shaped, node)) for node in ("n1", "n2", "n3", "n4", "n5", "n6")}
    assert found == {"n1": False, "n2": False, "n3": False, "n4": True, "n5": False, "n6": True}
