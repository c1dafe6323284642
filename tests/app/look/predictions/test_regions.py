"""Regions have their classes' colours on their sides of the line; the data stand on them."""

import numpy as np
import pytest

from app.charts.chart import Marks, Pieces, Words
from app.charts.class_marks import class_colour
from app.look.base import Subject
from app.look.predictions.regions import Regions
from app.look.registry import proposed
from app.theme import current_theme
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe, Snapshot
from tests.app.conftest import add_iris
from tests.app.look.planes import add_line, add_points, add_surface
from tests.app.look.showing import painted, shown, snapshot
from tests.engine.sketches import gallery

SIDE = 50
FACTS = {
    "kind": "classes", "x": (-1.0, 1.0), "y": (0.0, 10.0), "names": ("x", "y"),
    "classes": ("first", "second"),
    "target": "label", "fixed": 0, "example": 0, "steps": False,
}  # fmt: skip


def halves(**more: object) -> Snapshot:
    """The second class right of x = 0.2, surer and surer."""
    x = np.broadcast_to(np.linspace(-1, 1, SIDE), (SIDE, SIDE))
    sure = 0.5 + 0.5 * np.clip(np.abs(x - 0.2), 0, 1)
    return snapshot(np.stack([x > 0.2, sure, np.abs(x - 0.2)]).astype(np.float16), **{**FACTS, **more})


def drawn(workspace: Workspace, grid: Snapshot, points: Snapshot | None = None) -> Regions:
    view = Regions(Subject(workspace, "n3"))
    found = {Probe("n3", "regions", (0, 1)): grid}
    if points is not None:
        found[Probe("n3", "points", (0, 1))] = points
    shown(view, found)
    return view


def test_each_side_has_its_class_colour_and_the_line_stands_at_equal_scores(shaped: Workspace) -> None:
    add_points(shaped)
    view = drawn(shaped, halves())
    image, area = painted(view, 340, 300).astype(int), view.chart.area()
    theme = current_theme()
    ground = np.array([theme.panel.red(), theme.panel.green(), theme.panel.blue()])
    for fraction, index in ((0.05, 0), (0.98, 1)):
        seen = image[int(area.center().y()), int(area.left() + fraction * area.width())]
        colour = class_colour(theme, index)
        wanted = ground + 0.45 * (np.array([colour.red(), colour.green(), colour.blue()]) - ground)
        assert np.abs(seen - wanted).max() < 30
    (line,) = [layer for layer in view.chart.layers if isinstance(layer, Pieces)]
    np.testing.assert_allclose(line.ends[..., 0], 0.2, atol=2e-3)
    assert line.ends[..., 1].min() == 0 and line.ends[..., 1].max() == pytest.approx(10)


def test_rows_that_hold_the_boundary_have_a_ring(shaped: Workspace) -> None:
    add_points(shaped)
    held = Probe("n2", "held_rows", (0, 1))
    assert held not in Regions(Subject(shaped, "n2")).probes()
    shaped.document.replace(gallery("support-vectors"), None)
    view = Regions(Subject(shaped, "n2"))
    assert held in view.probes()
    grid = {Probe("n2", "regions", (0, 1)): halves()}
    shown(view, {**grid, held: snapshot([[0.0, 5.0], [0.5, 2.0]], rows=90)})
    (rings,) = [layer for layer in view.chart.layers if isinstance(layer, Marks)]
    assert rings.hollow and list(rings.x) == [0.0, 0.5] and list(rings.y) == [5.0, 2.0]
    assert view.chart.frame_shown.legend[-1].name == "support vectors"
    assert view.note.startswith("2 of 90 training rows are support vectors")


def test_unsure_answers_are_paler(shaped: Workspace) -> None:
    add_points(shaped)
    view = drawn(shaped, halves())
    image, area = painted(view, 340, 300).astype(int), view.chart.area()
    ground = image[int(area.top()) + 30, int(area.left() + 0.55 * area.width())]
    edge = image[int(area.top()) + 30, int(area.left()) + 6]
    panel = current_theme().panel
    base = np.array([panel.red(), panel.green(), panel.blue()])
    assert np.abs(ground - base).sum() < np.abs(edge - base).sum()


def test_training_is_filled_and_validation_hollow_in_the_shape_of_the_class(shaped: Workspace) -> None:
    add_points(shaped)
    rows = [[-0.5, 1, 0], [0.5, 2, 1], [0.6, 3, 1]]
    view = drawn(shaped, halves(), snapshot(rows, training=2, kind="classes", classes=("first", "second")))
    marks = [layer for layer in view.chart.layers if isinstance(layer, Marks)]
    assert [(mark.shape, mark.hollow, mark.x.tolist()) for mark in marks] == [
        ("circle", False, [-0.5]),
        ("square", False, [0.5]),
        ("square", True, [0.6]),
    ]
    names = [entry.name for entry in view.chart.frame_shown.legend]
    assert names == ["first", "second", "training", "validation"]


def test_steps_of_a_sign_make_a_straight_line(shaped: Workspace) -> None:
    add_points(shaped)
    y, x = np.mgrid[0:SIDE, 0:SIDE] / (SIDE - 1)
    winner = (x + y > 1).astype(np.float16)
    grid = snapshot(
        np.stack([winner, np.ones_like(winner), np.ones_like(winner)]), **{**FACTS, "steps": True}
    )
    (line,) = [layer for layer in drawn(shaped, grid).chart.layers if isinstance(layer, Pieces)]
    across, up = (line.ends[..., 0] + 1) / 2, line.ends[..., 1] / 10
    assert np.abs(across + up - 1).max() < 1.2 / (SIDE - 1)
    assert np.abs(across + up - 1).std() < 0.35 / (SIDE - 1)


def test_a_surface_has_its_levels_written_on(shaped: Workspace) -> None:
    add_surface(shaped)
    values = np.broadcast_to(np.linspace(0, 4, SIDE)[:, None], (SIDE, SIDE))
    view = drawn(shaped, snapshot(values, **{**FACTS, "kind": "values", "classes": ()}))
    lines = [layer for layer in view.chart.layers if isinstance(layer, Pieces) and len(layer.ends)]
    words = [layer for layer in view.chart.layers if isinstance(layer, Words)]
    for line, word in zip(lines, words, strict=True):
        np.testing.assert_allclose(line.ends[..., 1], 2.5 * float(word.text), atol=1e-6)
    assert "0 (dark) to 4 (bright)" in view.note


def test_two_of_four_features_are_chosen_and_the_others_named(shaped: Workspace) -> None:
    add_iris(shaped)
    view = Regions(Subject(shaped, "n3"))
    asked: list[None] = []
    view.needs_changed.connect(lambda: asked.append(None))
    assert view.controls() is not None
    view.restore({"x": 2, "y": 3})
    assert {probe.detail for probe in view.probes()} == {(2, 3)} and asked
    assert view.state() == {"x": 2, "y": 3}
    shown(view, {Probe("n3", "regions", (2, 3)): halves(fixed=2, example=4)})
    assert view.note.endswith("the other 2 features as in validation example 5")
    view.restore({"x": 99, "y": "no"})
    assert view.state() == {"x": 0, "y": 1}


def test_the_table_holds_every_point_of_the_grid(shaped: Workspace) -> None:
    add_points(shaped)
    header, rows = drawn(shaped, halves()).table()
    assert header == ("x", "y", "class", "probability")
    assert (
        len(rows) == SIDE * SIDE
        and rows[0][:3] == (-1.0, 0.0, "first")
        and rows[-1][:3] == (1.0, 10.0, "second")
    )


def test_it_suits_answers_that_depend_on_two_numbers(shaped: Workspace) -> None:
    add_iris(shaped)
    ids = {node: {kind.id for kind in proposed(Subject(shaped, node))} for node in ("n1", "n2", "n3")}
    assert "decision-regions" in ids["n2"] & ids["n3"] and "decision-regions" not in ids["n1"]


def test_it_does_not_suit_a_single_number(shaped: Workspace) -> None:
    add_line(shaped)
    assert "decision-regions" not in {kind.id for kind in proposed(Subject(shaped, "n3"))}
    assert "fit" in {kind.id for kind in proposed(Subject(shaped, "n3"))}
