"""Mute, frames, notes, blocks and shared weights on the canvas."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest

from app.canvas.menu import canvas_menu
from app.canvas.view import GraphView
from app.workspace import block_library
from app.workspace.workspace import Workspace
from engine.document.dressing import Frame, Note
from engine.document.edits import AddFrame, AddNote, Connect, Disconnect, Rename, SetParam
from engine.document.graph import Link
from tests.app.canvas.conftest import Hands, picture

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
BOTH = CONTROL | SHIFT


def _shows_what_is(view: GraphView, workspace: Workspace) -> bool:
    fresh = GraphView(workspace)
    try:
        return picture(view) == picture(fresh)
    finally:
        fresh.deleteLater()


def test_m_mutes_and_wakes_as_one_step(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    workspace.select(("n2", "n3"))
    hands.key(Qt.Key.Key_M)
    assert workspace.node("n2").muted and workspace.node("n3").muted
    assert view.graph_scene.node_items["n2"].face.muted
    view.grab()
    assert workspace.document.undo_label == "Mute"
    hands.key(Qt.Key.Key_M)
    assert not workspace.node("n2").muted
    workspace.undo()
    workspace.undo()
    assert not workspace.node("n3").muted and workspace.document.undo_label is None


def test_a_node_is_replaced_by_another_type_and_keeps_its_wires(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    workspace.select(("n2",))
    view.compose.offer_replacement()
    QTest.keyClicks(view.popup.field, "relu")
    QTest.keyClick(view.popup.field, Qt.Key.Key_Return)
    (new,) = workspace.selection
    assert workspace.node(new).type == "ReLU" and workspace.node(new).position == (200, 0)
    assert set(workspace.graph.links) == {Link("n1", "image", new, "x"), Link(new, "output", "n3", "x")}
    assert workspace.document.undo() == "Replace"
    assert workspace.node("n2").type == "Linear"


# -- frames


@pytest.fixture
def framed(workspace: Workspace, chain: None) -> str:
    """A frame "f9" around n2 and n3."""
    workspace.apply("Frame", AddFrame(Frame("f9", "both", "blue", frozenset({"n2", "n3"}))))
    return "f9"


def test_a_frame_goes_around_the_selection_and_asks_its_title(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    workspace.select(("n2", "n3"))
    hands.key(Qt.Key.Key_F, BOTH)
    (frame,) = workspace.document.project.frames.values()
    assert frame.members == {"n2", "n3"} and view.naming.field.isVisible()
    QTest.keyClicks(view.naming.field, "encoder")
    QTest.keyClick(view.naming.field, Qt.Key.Key_Return)
    (item,) = view.graph_scene.dressing.frames.values()
    assert item.frame.title == "encoder"
    assert item.outline.contains(view.graph_scene.bounds(("n2", "n3")))
    assert not item.outline.intersects(view.graph_scene.bounds(("n4",)))
    view.grab()
    assert _shows_what_is(view, workspace)
    assert workspace.document.undo() == "Frame" and not workspace.document.project.frames


def test_a_frame_moves_its_members_in_one_step(
    view: GraphView, workspace: Workspace, hands: Hands, framed: str
) -> None:
    item = view.graph_scene.dressing.frames[framed]
    grip = view.mapFromScene(item.strip().center())
    hands.lift(grip, grip + QPoint(48, 96))
    before = item.outline.topLeft()
    assert view.graph_scene.node_items["n3"].y() == 96
    hands.release(grip + QPoint(48, 96))
    assert workspace.node("n2").position == (248, 96) and workspace.node("n3").position == (448, 96)
    assert item.outline.topLeft() == before
    assert workspace.document.undo() == "Move"
    assert workspace.node("n2").position == (200, 0) and _shows_what_is(view, workspace)


def test_a_member_that_moves_takes_the_frame_along(
    view: GraphView, workspace: Workspace, hands: Hands, framed: str
) -> None:
    start = view.node_point("n3")
    hands.lift(start, start + QPoint(160, 160))
    item = view.graph_scene.dressing.frames[framed]
    assert item.outline.contains(QPointF(560 + 60, 160 + 30))
    hands.key(Qt.Key.Key_Escape)
    assert _shows_what_is(view, workspace)


def test_f_in_mid_drag_takes_a_node_out_of_its_frame_and_into_another(
    view: GraphView, workspace: Workspace, hands: Hands, framed: str
) -> None:
    start = view.node_point("n3")
    hands.lift(start, start + QPoint(0, 240))
    hands.key(Qt.Key.Key_F)
    assert not view.graph_scene.dressing.frames[framed].outline.contains(QPointF(460, 260))
    hands.release(start + QPoint(0, 240))
    assert workspace.document.project.frames[framed].members == {"n2"}
    assert workspace.document.undo_label == "Move"
    start = view.node_point("n4")
    hands.lift(start, view.node_point("n2") + QPoint(0, 16))
    hands.key(Qt.Key.Key_F)
    hands.release(view.node_point("n2") + QPoint(0, 16))
    assert workspace.document.project.frames[framed].members == {"n2", "n4"}
    assert _shows_what_is(view, workspace)


def test_a_frame_without_members_goes_and_comes_back(
    view: GraphView, workspace: Workspace, hands: Hands, framed: str
) -> None:
    workspace.select(("n2", "n3"))
    hands.key(Qt.Key.Key_Delete)
    assert not view.graph_scene.dressing.frames
    workspace.undo()
    assert framed in view.graph_scene.dressing.frames and _shows_what_is(view, workspace)


def test_a_selected_frame_is_coloured_and_removed_without_its_nodes(
    view: GraphView, workspace: Workspace, hands: Hands, framed: str
) -> None:
    hands.click(view.mapFromScene(view.graph_scene.dressing.frames[framed].strip().center()))
    assert view.graph_scene.dressing.chosen == {framed} and not workspace.selection
    view.compose.colour_frames("red")
    assert workspace.document.project.frames[framed].colour == "red"
    hands.key(Qt.Key.Key_Delete)
    assert not workspace.document.project.frames and len(workspace.graph.nodes) == 4


def test_a_frame_around_another_lies_around_its_outline(
    view: GraphView, workspace: Workspace, framed: str
) -> None:
    workspace.apply("Frame", AddFrame(Frame("f10", "more", "grey", frozenset({"n1", "n2", "n3"}))))
    frames = view.graph_scene.dressing.frames
    assert frames["f10"].outline.contains(frames[framed].boundingRect().adjusted(3, 3, -3, -3))
    assert frames["f10"].zValue() < frames[framed].zValue()


# -- notes


@pytest.fixture
def note(workspace: Workspace, chain: None) -> str:
    workspace.apply("Note", AddNote(Note("t8", "# Plan\n- one\n- *two*", (0, 150), (160, 96))))
    return "t8"


def test_a_note_is_written_where_it_lies(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    view.compose.add_note()
    QTest.keyClicks(view.noting.field, "Watch the *loss*")
    QTest.keyClick(view.noting.field, Qt.Key.Key_Z, CONTROL)
    QTest.keyClicks(view.noting.field, "Watch")
    QTest.keyClick(view.noting.field, Qt.Key.Key_Return, CONTROL)
    (found,) = workspace.document.project.notes_on_canvas.values()
    assert found.text == "Watch" and not view.noting.field.isVisible() and view.hasFocus()
    view.grab()
    hands.key(Qt.Key.Key_Z, CONTROL)
    assert not workspace.document.project.notes_on_canvas and not view.graph_scene.dressing.notes


def test_a_note_moves_is_resized_and_deleted(
    view: GraphView, workspace: Workspace, hands: Hands, note: str
) -> None:
    middle = view.mapFromScene(QPointF(80, 200))
    hands.drag(middle, middle + QPoint(40, 80))
    assert workspace.document.project.notes_on_canvas[note].position == (40, 232)
    item = view.graph_scene.dressing.notes[note]
    before = item.rect()
    corner = view.mapFromScene(item.rect().bottomRight() - QPointF(5, 5))
    hands.drag(corner, corner + QPoint(64, 32))
    assert workspace.document.project.notes_on_canvas[note].size == (224, 128)
    assert item.rect().topLeft() == before.topLeft()
    hands.lift(corner + QPoint(64, 32), corner)
    hands.key(Qt.Key.Key_Escape)
    assert item.size == (224, 128) and _shows_what_is(view, workspace)
    hands.key(Qt.Key.Key_Delete)
    assert not view.graph_scene.dressing.notes
    workspace.undo()
    assert _shows_what_is(view, workspace)


def test_nodes_and_notes_move_together_and_are_copied_together(
    view: GraphView, workspace: Workspace, hands: Hands, note: str
) -> None:
    hands.key(Qt.Key.Key_A, CONTROL)
    start = view.node_point("n2")
    hands.drag(start, start + QPoint(80, 40))
    assert workspace.document.project.notes_on_canvas[note].position == (80, 190)
    hands.key(Qt.Key.Key_C, CONTROL)
    hands.key(Qt.Key.Key_V, CONTROL)
    assert len(workspace.document.project.notes_on_canvas) == 2 and len(workspace.graph.nodes) == 8


def test_the_clipboard_holds_nothing_that_outlives_python(
    view: GraphView, workspace: Workspace, hands: Hands, note: str
) -> None:
    """Data of a class of ours is freed by Qt after Python has ended: the process would end with a crash."""
    hands.key(Qt.Key.Key_A, CONTROL)
    hands.key(Qt.Key.Key_C, CONTROL)
    assert set(QGuiApplication.clipboard().mimeData().formats()) <= {"text/plain", "text/plain;charset=utf-8"}


def test_a_note_fetches_nothing_that_it_points_to(
    view: GraphView, workspace: Workspace, chain: None, tmp_path: Path
) -> None:
    """An opened project may come from anyone: a picture on this computer is none of its business."""
    red = QImage(60, 60, QImage.Format.Format_RGB32)
    red.fill(Qt.GlobalColor.red)
    assert red.save(str(tmp_path / "secret.png"))
    text = f"![a]({(tmp_path / 'secret.png').as_uri()})"
    workspace.apply("Note", AddNote(Note("t8", text, (0, 150), (200, 120))))
    shown = view.grab().toImage()
    place = view.mapFromScene(QPointF(25, 180))
    colours = {shown.pixelColor(place + QPoint(x, y)).name() for x in range(30) for y in range(30)}
    assert "#ff0000" not in colours


# -- blocks


def test_grouping_asks_the_name_and_ungrouping_is_the_inverse(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    """E-5."""
    before = picture(view)
    workspace.select(("n2", "n3"))
    hands.key(Qt.Key.Key_G, CONTROL)
    (instance,) = workspace.selection
    QTest.keyClicks(view.naming.field, "encoder")
    QTest.keyClick(view.naming.field, Qt.Key.Key_Return)
    face = view.graph_scene.node_items[instance].face
    assert face.form == "block" and face.name == "encoder" and len(face.layout.inputs) == 1
    assert len(view.graph_scene.link_items) == 1
    view.grab()
    hands.key(Qt.Key.Key_G, BOTH)
    workspace.select(())
    assert picture(view) == before and not workspace.document.project.blocks


def test_grouping_and_naming_the_block_are_one_step(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    before = picture(view)
    workspace.select(("n2", "n3"))
    hands.key(Qt.Key.Key_G, CONTROL)
    (instance,) = workspace.selection
    QTest.keyClicks(view.naming.field, "encoder")
    QTest.keyClick(view.naming.field, Qt.Key.Key_Return)
    workspace.apply("Rename", Rename(instance, "other"))
    assert workspace.document.undo() == "Rename"
    assert workspace.document.undo() == "Group"
    assert workspace.document.undo_label is None
    workspace.select(())
    assert picture(view) == before
    assert workspace.document.redo() == "Group"
    assert view.graph_scene.node_items[instance].face.name == "encoder"
    view.compose.name_block(instance)
    view.naming.field.setText("decoder")
    QTest.keyClick(view.naming.field, Qt.Key.Key_Return)
    assert workspace.document.undo() == "Rename block"


@pytest.fixture
def grouped(view: GraphView, workspace: Workspace, chain: None) -> str:
    """n2 and n3 as a block between n1 and n4; returns the id of its instance."""
    workspace.apply("Connect", Connect(Link("n3", "output", "n4", "x")))
    workspace.select(("n2", "n3"))
    view.compose.group()
    view.naming.finish(keep=False)
    return workspace.selection[0]


@pytest.mark.parametrize("how", ["tab", "double"])
def test_a_block_is_entered_and_left(
    view: GraphView, workspace: Workspace, hands: Hands, grouped: str, how: str
) -> None:
    outside = set(view.graph_scene.node_items)
    if how == "tab":
        hands.key(Qt.Key.Key_Tab)
    else:
        QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, SHIFT, view.node_point(grouped))
    assert workspace.scope and {"n2", "n3"} < set(view.graph_scene.node_items)
    forms = {item.face.form for item in view.graph_scene.node_items.values()}
    assert forms == {"node", "entry", "exit"} and _shows_what_is(view, workspace)
    view.grab()
    hands.key(Qt.Key.Key_Escape)
    assert workspace.scope == "" and set(view.graph_scene.node_items) == outside
    assert workspace.selection == (grouped,)


def test_what_happens_inside_a_block_shows_outside(
    view: GraphView, workspace: Workspace, hands: Hands, grouped: str
) -> None:
    block = workspace.node(grouped).block
    workspace.enter(block)
    added = view.add_node("Linear")
    assert added in workspace.document.project.blocks[block].graph.nodes
    assert added in view.graph_scene.node_items
    workspace.enter("")
    assert added not in view.graph_scene.node_items and _shows_what_is(view, workspace)
    workspace.undo()
    workspace.apply("Repeat", SetParam(grouped, "times", 4))
    face = view.graph_scene.node_items[grouped].face
    assert face.summary == "× 4 · own weights" and face.repeated
    view.grab()


def test_undoing_the_group_while_inside_leads_out(
    view: GraphView, workspace: Workspace, hands: Hands, grouped: str
) -> None:
    workspace.enter(workspace.node(grouped).block)
    while workspace.document.undo() is not None:
        pass
    assert workspace.scope == "" and set(view.graph_scene.node_items) == {"n1", "n2", "n3", "n4"}


def test_wires_can_be_drawn_to_a_block(
    view: GraphView, workspace: Workspace, hands: Hands, grouped: str
) -> None:
    workspace.apply("Disconnect", Disconnect(workspace.graph.outgoing(grouped)[0]))
    taken = workspace.graph.incoming(grouped)[0].target_port
    hands.drag(view.port_point("n4", "output", "out"), view.port_point(grouped, taken, "in"))
    assert workspace.graph.incoming(grouped)[0].source == "n4"


def test_copies_are_linked_until_made_independent(
    view: GraphView, workspace: Workspace, hands: Hands, grouped: str
) -> None:
    """C4."""
    hands.key(Qt.Key.Key_D, CONTROL)
    (copy,) = workspace.selection
    assert workspace.node(copy).block == workspace.node(grouped).block
    texts = [action.text() for action in canvas_menu(view, QPointF()).actions()]
    assert "Make independent copy" in texts
    view.compose.make_independent()
    assert workspace.node(copy).block != workspace.node(grouped).block
    assert _shows_what_is(view, workspace)


def test_blocks_are_kept_between_projects(
    view: GraphView, workspace: Workspace, build: Callable[..., None], grouped: str
) -> None:
    view.compose.keep()
    (kept,) = block_library.kept(workspace.places.blocks)
    build([("n1", "Digits", 0, 0)])
    assert view.add_node(kept.type_id, QPointF(200, 0)) == workspace.selection[0]
    (block,) = workspace.document.project.blocks.values()
    assert {node.type for node in block.graph.nodes.values()} == {"BlockInput", "BlockOutput", "Linear"}
    block_library.forget(workspace.places.blocks, kept.name)
    assert not block_library.kept(workspace.places.blocks)
    assert view.add_node(kept.type_id) is None


def test_linked_nodes_are_joined_by_a_chain(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    workspace.select(("n2", "n4"))
    view.compose.link_weights()
    (item,) = view.graph_scene.dressing.chains.values()
    assert (item.node_id, item.other) == ("n4", "n2")
    start = view.node_point("n4")
    before = item.ends
    hands.drag(start, start + QPoint(80, 0))
    assert item.ends != before and _shows_what_is(view, workspace)
    view.grab()
    workspace.select(("n4",))
    view.compose.unlink_weights()
    assert not view.graph_scene.dressing.chains and not workspace.node("n4").shares


def test_each_graph_is_seen_from_where_it_was_left(
    view: GraphView, workspace: Workspace, hands: Hands, grouped: str
) -> None:
    view.travel()
    view.navigation.set_zoom(0.5)
    view.navigation.centre_on(QPointF(700, 300))
    before = view.seen_from()
    workspace.enter(workspace.node(grouped).block)
    assert view.navigation.zoom != 0.5
    workspace.enter("")
    assert view.navigation.zoom == before[0]
    assert (view.navigation.centre - before[1]).manhattanLength() < 4
