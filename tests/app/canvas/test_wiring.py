"""Drawing, moving and refusing wires with the pointer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.canvas.items.link_item import DraftWire
from app.canvas.view import GraphView
from app.workspace.workspace import Workspace
from engine.document.edits import Remove
from engine.document.graph import Link
from tests.app.canvas.conftest import Hands, picture

CONTROL = Qt.KeyboardModifier.ControlModifier
FIRST = Link("n1", "image", "n2", "x")
SECOND = Link("n2", "output", "n3", "x")


def _links(workspace: Workspace) -> set[Link]:
    return set(workspace.document.project.graph.links)


def _drafts(view: GraphView) -> list[DraftWire]:
    return [item for item in view.graph_scene.items() if isinstance(item, DraftWire)]


def test_a_drag_from_an_output_to_an_input_connects(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    hands.drag(view.port_point("n2", "output", "out"), view.port_point("n4", "x", "in"))
    assert Link("n2", "output", "n4", "x") in _links(workspace)
    assert workspace.document.undo_label == "Connect" and not _drafts(view)


def test_a_drag_from_an_input_to_an_output_connects(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    hands.drag(view.port_point("n4", "x", "in"), view.port_point("n3", "output", "out"))
    assert Link("n3", "output", "n4", "x") in _links(workspace)


def test_a_wire_dropped_on_a_node_takes_its_first_free_port(
    view: GraphView, workspace: Workspace, hands: Hands, build: Callable[..., None]
) -> None:
    build(
        [("n1", "Digits", 0, 0), ("n2", "Linear", 200, 0), ("n3", "CrossEntropy", 400, 0)],
        [("n2", "output", "n3", "prediction")],
    )
    hands.drag(view.port_point("n1", "digit", "out"), view.node_point("n3"))
    assert Link("n1", "digit", "n3", "target") in _links(workspace)


def test_an_invalid_target_is_refused_with_a_reason_and_nothing_changes(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    before = picture(view)
    hands.lift(view.port_point("n3", "output", "out"), view.port_point("n2", "x", "in"))
    assert "cycle" in view.hint.text() and view.hint.isVisible()
    assert view.graph_scene.node_items["n1"].dimmed and view.graph_scene.node_items["n2"].dimmed
    assert view.graph_scene.node_items["n4"].marked == {("in", "x"): True}
    hands.release(view.port_point("n2", "x", "in"))
    assert _links(workspace) == {FIRST, SECOND} and workspace.document.undo_label is None
    assert picture(view) == before and not view.hint.isVisible()


def test_a_wire_to_the_node_itself_does_nothing(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    hands.drag(view.port_point("n4", "output", "out"), view.port_point("n4", "x", "in"))
    hands.drag(view.port_point("n4", "output", "out"), view.port_point("n4", "output", "out"))
    hands.lift(view.port_point("n4", "output", "out"), view.mapFromScene(500, 350))
    hands.move(view.node_point("n4"))
    hands.release(view.node_point("n4"))
    assert _links(workspace) == {FIRST, SECOND} and workspace.document.undo_label is None
    assert not view.popup.active


def test_dropping_on_an_occupied_input_replaces_its_wire_in_one_step(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    """U7: a click makes no step, and one undo brings the old wire back."""
    hands.click(QPoint(5, 5))
    assert workspace.document.undo() is None
    hands.lift(view.port_point("n4", "output", "out"), view.port_point("n3", "x", "in"))
    assert "replaces" in view.hint.text()
    hands.release(view.port_point("n3", "x", "in"))
    assert _links(workspace) == {FIRST, Link("n4", "output", "n3", "x")}
    hands.key(Qt.Key.Key_Z, CONTROL)
    assert _links(workspace) == {FIRST, SECOND}
    assert view.graph_scene.link_items[SECOND].isVisible()


def test_an_occupied_input_gives_up_its_wire_only_on_release(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    hands.lift(view.port_point("n3", "x", "in"), view.port_point("n4", "x", "in"))
    assert _links(workspace) == {FIRST, SECOND}
    assert not view.graph_scene.link_items[SECOND].isVisible()
    hands.release(view.port_point("n4", "x", "in"))
    assert _links(workspace) == {FIRST, Link("n2", "output", "n4", "x")}
    workspace.undo()
    assert _links(workspace) == {FIRST, SECOND} and workspace.document.undo() is None


def test_a_wire_taken_off_and_let_go_over_nothing_is_removed(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    start = view.port_point("n3", "x", "in")
    hands.drag(start, start + QPoint(20, 250))
    assert _links(workspace) == {FIRST} and workspace.document.undo_label == "Disconnect"


def test_a_wire_put_back_where_it_was_is_no_step(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    start = view.port_point("n3", "x", "in")
    hands.lift(start, start + QPoint(-60, 80))
    hands.move(start)
    hands.release(start)
    assert _links(workspace) == {FIRST, SECOND} and workspace.document.undo_label is None
    assert view.graph_scene.link_items[SECOND].isVisible()


def _escape(view: GraphView, hands: Hands) -> None:
    hands.key(Qt.Key.Key_Escape)


def _undo(view: GraphView, hands: Hands) -> None:
    hands.key(Qt.Key.Key_Z, CONTROL)


def _other_window(view: GraphView, hands: Hands) -> None:
    QApplication.sendEvent(view, QFocusEvent(QEvent.Type.FocusOut, Qt.FocusReason.ActiveWindowFocusReason))


def _close(view: GraphView, hands: Hands) -> None:
    view.close()


@pytest.mark.parametrize("end", [_escape, _undo, _other_window, _close])
def test_whatever_interrupts_a_wire_leaves_all_as_before_the_press(
    view: GraphView,
    workspace: Workspace,
    hands: Hands,
    chain: None,
    end: Callable[[GraphView, Hands], None],
) -> None:
    """W5."""
    workspace.apply("Delete", Remove(("n1",)))
    workspace.undo()
    before, labels = picture(view), (workspace.document.undo_label, workspace.document.redo_label)
    start = view.port_point("n3", "x", "in")
    hands.lift(start, start + QPoint(-100, 120))
    assert _drafts(view)
    end(view, hands)
    hands.release(start + QPoint(-100, 120))
    assert picture(view) == before
    assert (workspace.document.undo_label, workspace.document.redo_label) == labels
    assert view.interaction is None


def test_deleting_the_source_in_mid_drag_cancels_the_wire(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    """W1, by key and by menu."""
    workspace.select(("n4",))
    goal = view.port_point("n3", "x", "in")
    hands.lift(view.port_point("n4", "output", "out"), goal)
    hands.key(Qt.Key.Key_Delete)
    hands.release(goal)
    assert "n4" not in workspace.document.project.graph.nodes
    assert not _drafts(view) and _links(workspace) == {FIRST, SECOND}
    workspace.undo()
    hands.lift(view.port_point("n4", "output", "out"), goal)
    workspace.apply("Delete", Remove(("n4",)))
    hands.move(goal)
    hands.release(goal)
    assert not _drafts(view) and _links(workspace) == {FIRST, SECOND}


def test_a_wire_let_go_on_the_canvas_offers_what_fits_and_stays(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    """W8: the loose end stays where it was let go; Esc removes it."""
    before = picture(view)
    place = view.port_point("n4", "output", "out") + QPoint(120, 60)
    hands.drag(view.port_point("n4", "output", "out"), place)
    (draft,) = _drafts(view)
    shape = draft.boundingRect()
    assert view.popup.isVisible()
    offered = {view.popup.list.item(row).text() for row in range(view.popup.list.count())}
    assert "Linear" in offered and "MNIST" not in offered
    hands.move(place + QPoint(50, 50))
    assert draft.boundingRect() == shape
    QTest.keyClick(view.popup.field, Qt.Key.Key_Escape)
    assert not view.popup.isVisible() and picture(view) == before
    assert workspace.document.undo_label is None


def test_choosing_from_the_offer_adds_and_connects_in_one_step(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    start = view.port_point("n3", "output", "out")
    hands.drag(start, start + QPoint(90, 70))
    QTest.keyClicks(view.popup.field, "cross-entropy")
    QTest.keyClick(view.popup.field, Qt.Key.Key_Return)
    (added,) = workspace.selection
    assert workspace.node(added).type == "CrossEntropy"
    assert workspace.document.project.graph.feeding(added, "prediction") == Link(
        "n3", "output", added, "prediction"
    )
    assert not _drafts(view)
    workspace.undo()
    assert workspace.node(added) is None and workspace.document.undo() is None


def test_a_wire_into_a_port_of_many_goes_to_the_free_one(
    view: GraphView, workspace: Workspace, hands: Hands, build: Callable[..., None]
) -> None:
    build(
        [("n1", "Linear", 0, 0), ("n2", "Linear", 0, 150), ("n3", "Add", 300, 0)],
        [("n1", "output", "n3", "x1")],
    )
    hands.drag(view.port_point("n2", "output", "out"), view.port_point("n3", "x2", "in"))
    assert Link("n2", "output", "n3", "x2") in _links(workspace)


def test_selecting_a_wire_and_deleting_it(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    item = view.graph_scene.link_items[SECOND]
    (x1, y1), (x2, _) = item.route.points[0], item.route.points[-1]
    middle = view.mapFromScene((x1 + x2) / 2, y1)
    hands.click(middle)
    assert view.graph_scene.selected_links == {SECOND} and item.selected
    hands.key(Qt.Key.Key_Backspace)
    assert _links(workspace) == {FIRST} and not view.graph_scene.selected_links


def test_a_class_is_no_input_of_a_layer_that_needs_measurements(
    view: GraphView, shaped: Workspace, hands: Hands, build: Callable[..., None]
) -> None:
    """Nor does a drop take the good wire away, and what is offered for a class is what compares it."""
    build(
        [("n1", "Digits", 0, 0), ("n2", "Linear", 200, 0), ("n3", "Embedding", 200, 150)],
        [("n1", "image", "n2", "x")],
    )
    digit = view.port_point("n1", "digit", "out")
    for place in (view.port_point("n2", "x", "in"), view.node_point("n2")):
        hands.drag(digit, place)
        assert _links(shaped) == {Link("n1", "image", "n2", "x")}
    hands.drag(digit, view.port_point("n3", "x", "in"))
    assert Link("n1", "digit", "n3", "x") in _links(shaped)
    hands.drag(digit, view.mapFromScene(500.0, 300.0))
    assert view.popup.list.item(0).text() == "Cross-entropy"
    QTest.keyClick(view.popup.field, Qt.Key.Key_Return)
    (added,) = shaped.selection
    assert Link("n1", "digit", added, "target") in _links(shaped)


def test_a_wire_into_space_offers_layers_and_losses_first(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    hands.drag(view.port_point("n2", "output", "out"), QPoint(600, 520))
    offered = [view.popup.list.item(row).text() for row in range(14)]
    assert {"Linear", "Conv 2-D", "ReLU", "Dropout", "Cross-entropy"} <= set(offered)
    assert offered.index("Linear") < offered.index("Cross-entropy")


def test_a_node_whose_inputs_are_taken_keeps_its_wires_unless_a_port_is_meant(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    said: list[str] = []
    workspace.message.connect(lambda text, _kind: said.append(text))
    before = _links(workspace)
    hands.drag(view.port_point("n4", "output", "out"), view.node_point("n2"))
    assert _links(workspace) == before and "no free input" in said[-1]
    hands.drag(view.port_point("n4", "output", "out"), view.port_point("n2", "x", "in"))
    assert Link("n4", "output", "n2", "x") in _links(workspace) and "replaces the wire" in said[-1]
