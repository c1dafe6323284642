"""A bowl has round contours about its lowest point, and the path lies where it was."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.dock.pane import Pane
from app.look.landscape.landscape import Landscape, finer
from app.look.landscape.loss_surface import PATH, LossSurface
from app.look.registry import proposed
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe, Snapshot
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot

SIDE = tuple(np.linspace(-2, 2, 21).tolist())


def bowl() -> np.ndarray:
    x, y = np.meshgrid(SIDE, SIDE)
    return (1.0 + x**2 + y**2).astype(np.float32)


def surface(losses: np.ndarray, way: str = "random", **more: object) -> Snapshot:
    facts = {"way": way, "rows": 256, "split": "train", "here": 1.0, "xs": SIDE, "ys": SIDE}
    facts["path"] = np.zeros((0, 2))
    return snapshot(losses, **{**facts, **more})


@pytest.fixture
def view(shaped: Workspace, qtbot: QtBot) -> LossSurface:
    add_iris(shaped)
    made = LossSurface(Subject(shaped))
    qtbot.addWidget(made)
    return made


def test_contours_of_a_bowl_are_circles(qtbot: QtBot) -> None:
    plane = Landscape()
    qtbot.addWidget(plane)
    plane.show_losses(bowl(), SIDE, SIDE, ("x", "y"))
    assert len(plane.contours) == 12
    for level, lines in plane.contours[:4]:
        for line in lines:
            radius = np.hypot(line[:, 0], line[:, 1])
            np.testing.assert_allclose(radius, np.sqrt(level - 1), atol=0.05)


def test_the_lowest_point_is_darkest_and_the_ring_is_now(view: LossSurface) -> None:
    view.again.click()
    asked = Probe("", "loss_surface", ("random", 21, 1))
    assert view.probes() == {PATH, asked}
    path = np.array([[1.5, 1.5], [1.0, 0.5], [0.0, 0.0]], np.float32)
    shown(view, {asked: surface(bowl()), PATH: snapshot(path, steps=(0, 5, 9), plane=asked.detail)})
    image = painted(view, 400, 300).astype(int)
    plane = view.landscape
    corner, middle, begin = (
        plane.places(np.array([x]), np.array([y]))[0] for x, y in ((-1.7, -1.9), (-0.3, 0.25), (1.5, 1.5))
    )
    assert (
        image[round(corner[1]), round(corner[0])].sum()
        > image[round(middle[1]), round(middle[0])].sum() + 150
    )
    white = (image > 240).all(axis=2)
    assert white[round(begin[1]), round(begin[0])]
    ring = plane.places(np.zeros(1), np.zeros(1))[0]
    assert white[round(ring[1]), round(ring[0] + 6)] and white[round(ring[1] - 6), round(ring[0])]
    assert view.note.startswith("loss on 256 training examples at step 1: 1")
    header, rows = view.table()
    assert header == ("x", "y", "loss") and rows[0] == (-2.0, -2.0, 9.0) and len(rows) == 441


def test_before_it_is_asked_for_only_the_path_is_kept(view: LossSurface) -> None:
    assert view.probes() == {PATH}
    assert view.landscape.message
    shown(view, {PATH: snapshot(np.zeros((1, 2)), steps=(0,), plane=())})
    painted(view)


def test_the_path_in_another_plane_is_not_drawn_here(view: LossSurface) -> None:
    view.again.click()
    asked = Probe("", "loss_surface", ("random", 21, 1))
    own = np.array([[1.0, 1.0], [0.0, 0.0]], np.float32)
    elsewhere = snapshot(np.ones((3, 2)), steps=(0, 1, 2), plane=("path", 21, 7))
    shown(view, {asked: surface(bowl(), path=own), PATH: elsewhere})
    np.testing.assert_array_equal(view.landscape.path, own)


def test_another_plane_is_another_try(view: LossSurface) -> None:
    view.again.click()
    view.way.setCurrentIndex(view.way.findData("path"))
    view.way.activated.emit(1)
    asked = Probe("", "loss_surface", ("path", 21, 2))
    assert asked in view.probes()
    shown(view, {asked: surface(bowl(), "path", shares=(0.9, 0.08))})
    painted(view, 400, 300)
    assert view.landscape.frame_shown.x_name == "first direction of the path · 90 %"


def test_one_direction_is_a_line_with_its_losses(view: LossSurface) -> None:
    view.way.setCurrentIndex(view.way.findData("line"))
    view.again.click()
    asked = Probe("", "loss_surface", ("line", 21, 1))
    xs = (-0.25, 0.0, 0.5, 1.0, 1.5)
    losses = np.array([[2.0, 1.8, 1.0, 0.5, 0.9]], np.float32)
    shown(view, {asked: surface(losses, "line", xs=xs, ys=(0.0,))})
    painted(view, 400, 300)
    plane = view.landscape
    at = plane.places(np.array([1.0]), np.array([0.5]))[0]
    assert plane.describe(QPoint(round(at[0]), round(at[1]) - 4)) == "at 1: loss 0.5"


def test_losses_far_apart_are_on_a_logarithmic_scale(qtbot: QtBot) -> None:
    plane = Landscape()
    qtbot.addWidget(plane)
    plane.show_losses(10.0 ** bowl(), SIDE, SIDE, ("x", "y"))
    levels = np.log10([level for level, _ in plane.contours])
    np.testing.assert_allclose(np.diff(levels), np.diff(levels)[0], rtol=1e-3)


def test_what_is_not_finite_is_no_harm(qtbot: QtBot) -> None:
    plane = Landscape()
    qtbot.addWidget(plane)
    losses = bowl()
    losses[0, 0], losses[3, 3] = np.inf, np.nan
    plane.show_losses(losses, SIDE, SIDE, ("x", "y"))
    painted(plane)
    plane.show_losses(np.full((21, 21), np.nan), SIDE, SIDE, ("x", "y"))
    painted(plane)


def test_values_between_are_on_straight_lines() -> None:
    np.testing.assert_allclose(
        finer(np.array([[0.0, 2.0], [4.0, 6.0]]), 2), [[0, 1, 2], [2, 3, 4], [4, 5, 6]]
    )


def test_it_needs_a_loss(shaped: Workspace) -> None:
    assert "loss_surface" not in {kind.id for kind in proposed(Subject(shaped))}
    add_iris(shaped)
    assert {"loss_surface", "curvature"} <= {kind.id for kind in proposed(Subject(shaped))}


def test_why_it_could_not_be_drawn_is_told_though_there_is_a_path(shaped: Workspace, qtbot: QtBot) -> None:
    add_iris(shaped)
    view = LossSurface(Subject(shaped))
    pane = Pane(view)
    qtbot.addWidget(pane)
    path = snapshot(np.zeros((1, 2)), steps=(0,), plane=())
    assert pane.draw({PATH: path}) == ""
    view.again.click()
    (asked,) = view.essential()
    failed = snapshot(np.empty(0), failed="This model has no single loss.")
    assert pane.draw({PATH: path, asked: failed}) == "This model has no single loss."
    assert pane.draw({PATH: path, asked: surface(bowl())}) == ""
    assert view.landscape.losses.size
