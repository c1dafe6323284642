"""Shapes, counts and problems on the canvas, and what it says about the thing under the cursor."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.canvas.scene.status import shortened, status_parts
from app.canvas.scene.tips import tip_at
from app.canvas.view import GraphView
from app.workspace.workspace import Workspace
from engine.document.edits import Disconnect, SetParam
from engine.document.graph import Link

FIRST = Link("n1", "image", "n2", "x")
SECOND = Link("n2", "output", "n3", "x")


@pytest.fixture
def inferred(workspace: Workspace, build: Callable[..., None]) -> Workspace:
    """Digits → Flatten → Linear → cross-entropy, with a shape book that follows every edit."""
    from engine.shapes.shapes import ShapeBook

    workspace.shapes = ShapeBook(workspace.catalogue)
    build(
        [
            ("n1", "Digits", 0, 0),
            ("n2", "Flatten", 200, 0),
            ("n3", "Linear", 400, 0),
            ("n4", "CrossEntropy", 600, 0),
        ],
        [
            ("n1", "image", "n2", "x"),
            ("n2", "output", "n3", "x"),
            ("n3", "output", "n4", "prediction"),
            ("n1", "digit", "n4", "target"),
        ],
    )
    return workspace


def test_wires_show_shapes_and_nodes_their_parameters(view: GraphView, inferred: Workspace) -> None:
    scene = view.graph_scene
    assert scene.link_items[FIRST].label.text == "1×8×8" and scene.link_items[SECOND].label.text == "64"
    assert scene.node_items["n3"].count == f"{inferred.shapes.parameters('n3'):,}"
    inferred.apply("Units", SetParam("n3", "units", 10))
    assert scene.node_items["n3"].count == "650"
    assert "650 parameters" in view.status.text() and "no problems" in view.status.text()
    inferred.undo()
    assert scene.node_items["n3"].count != "650"


def test_a_wire_whose_shape_is_lost_says_nothing_until_it_is_known_again(
    view: GraphView, inferred: Workspace
) -> None:
    label = view.graph_scene.link_items[Link("n3", "output", "n4", "prediction")].label
    assert label is not None and label.text and label.isVisible()
    inferred.apply("Cut", Disconnect(FIRST))
    assert not label.text and not label.isVisible()
    inferred.undo()
    assert label.text and label.isVisible()


def test_a_problem_marks_its_node_and_goes_when_it_is_mended(view: GraphView, inferred: Workspace) -> None:
    """A-5, A-16."""
    item = view.graph_scene.node_items["n3"]
    inferred.apply("Cut", Disconnect(SECOND))
    assert item.problem is not None and item.problem[0] == "error"
    badge = view.mapFromScene(item.mapToScene(item.badge_place()))
    assert tip_at(view, badge) in (item.problem[1], item.problem[1].replace('"', "&quot;"))
    assert "problem" in view.status.text() and "no problems" not in view.status.text()
    inferred.undo()
    assert item.problem is None and view.graph_scene.link_items[SECOND].label.text == "64"


def test_the_thing_under_the_cursor_is_named(view: GraphView, inferred: Workspace) -> None:
    assert "64" in tip_at(view, view.port_point("n3", "x", "in"))
    (x1, y), (x2, _) = view.graph_scene.link_items[SECOND].route.points
    wire = tip_at(view, view.mapFromScene((x1 + x2) / 2, y))
    assert "flatten-n2" in wire and "linear-n3" in wire and "64" in wire
    assert tip_at(view, view.mapFromScene(0, 400)) == ""


def test_a_name_that_is_cut_is_whole_in_the_tooltip(
    view: GraphView, workspace: Workspace, build: Callable[..., None]
) -> None:
    build([("n1", "Linear", 0, 0)])
    assert tip_at(view, view.node_point("n1")) == ""
    from engine.document.edits import Rename

    workspace.apply("Rename", Rename("n1", "a name <b>that</b> goes on and on"))
    view.grab()
    assert "a name &lt;b&gt;that&lt;/b&gt; goes on and on" in tip_at(view, view.node_point("n1"))


def test_the_status_line_before_the_engine_is_there(workspace: Workspace) -> None:
    assert status_parts(workspace, 0.913) == ["91 %"]


@pytest.mark.parametrize(
    ("number", "text"),
    [(540, "540"), (2_400_000, "2.4 M"), (195_000, "195 k"), (3.2e9, "3.2 G"), (1e12, "1.0 T")],
)
def test_large_numbers_are_short(number: float, text: str) -> None:
    assert shortened(number) == text


def test_what_is_wrong_inside_a_block_shows_on_the_node_that_stands_for_it(
    view: GraphView, inferred: Workspace
) -> None:
    inferred.select(("n2", "n3"))
    view.compose.group()
    view.naming.finish(keep=False)
    (instance,) = inferred.selection
    assert view.graph_scene.node_items[instance].problem is None
    inferred.apply("Edit", SetParam("n3", "units", -5))
    severity, message = view.graph_scene.node_items[instance].problem
    assert severity == "error" and "Inside" in message
    inferred.enter(inferred.node(instance).block)
    assert view.graph_scene.node_items["n3"].problem[0] == "error"
