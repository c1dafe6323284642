"""Sharpness beside 2 / learning rate, and spectra."""

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.landscape.curvature import JACOBIAN, SHARPNESS, Curvature
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot


@pytest.fixture
def view(shaped: Workspace, qtbot: QtBot) -> Curvature:
    add_iris(shaped)
    made = Curvature(Subject(shaped))
    qtbot.addWidget(made)
    return made


def test_sharpness_has_the_line_of_the_learning_rate(view: Curvature) -> None:
    view.subject.workspace.trainer.feed.append("lr", 1, 0.1, 0.1, 0.1)
    points = np.array([[0, 5.0], [10, 12.0], [20, 18.0]])
    shown(view, {SHARPNESS: snapshot(points, rows=128, split="train")})
    assert view.plot.levels == ((20.0, "2 / learning rate = 20"),)
    empty = painted(Curvature(view.subject))
    drawn = (painted(view) != empty).any(axis=2)
    for x, y in view.plot.places(points[:, 0], points[:, 1]).tolist():
        assert drawn[round(min(y, 198)), round(min(x, 298))]
    assert view.note.startswith("18 on 128 training examples")
    assert view.table() == (("place", "value"), [(1, 5.0), (2, 12.0), (3, 18.0)])


def test_without_a_learning_rate_there_is_no_line(view: Curvature) -> None:
    shown(view, {SHARPNESS: snapshot([[0, -5.0]], rows=128, split="train")})
    assert view.plot.levels == ()
    painted(view)


def test_all_eigenvalues_those_below_zero_as_rings(view: Curvature) -> None:
    view.restore({"shown": "hessian"})
    first = Probe("", "hessian_spectrum", (1,))
    assert view.probes() == {first}
    shown(view, {first: snapshot([10.0, 1.0, -0.5], rows=90, split="train")})
    assert view.note.startswith("3 eigenvalues · 1 below zero")
    image = painted(view).astype(int)
    accent, ring = (view.plot.places(np.array([x]), np.array([y]))[0] for x, y in ((2, 1.0), (3, 0.5)))
    inside = image[round(accent[1]), round(accent[0])]
    assert inside[2] > inside[0] + 60
    edge = image[round(ring[1]) - 3 : round(ring[1]) + 4, round(ring[0]) - 3 : round(ring[0]) + 4].reshape(
        -1, 3
    )
    assert (edge[:, 0] > edge[:, 2] + 60).any()
    view.again.click()
    assert view.probes() == {Probe("", "hessian_spectrum", (2,))}


def test_the_singular_values_of_the_answer_by_the_input(view: Curvature) -> None:
    view.restore({"shown": "jacobian"})
    assert view.probes() == {JACOBIAN}
    facts = {"column": "features", "example": 4, "split": "validation", "shape": (3, 4)}
    shown(view, {JACOBIAN: snapshot([3.0, 1.0, 0.1], **facts)})
    assert view.note == "3 answers by 4 inputs · validation example 5"
    assert not view.again.isEnabled()
