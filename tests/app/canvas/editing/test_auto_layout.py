"""Automatic layout of a canvas: one step, in the background, given up without a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.canvas.editing import auto_layout as laying_out
from app.canvas.editing.auto_layout import LayingOut
from app.canvas.view import GraphView
from app.workspace.workspace import Workspace
from engine.document.dressing import Frame
from engine.document.edits import AddFrame, Remove, Rename, SetBends
from engine.document.graph import Link
from engine.layout import LayoutCancelled

Build = Callable[..., None]


@pytest.fixture
def laying(view: GraphView) -> LayingOut:
    return LayingOut(view, view)


@pytest.fixture
def mess(build: Build) -> None:
    """A chain of four whose nodes stand on one another, and one that is alone."""
    build(
        [(f"n{index}", "Linear", 10 * index, 5 * index) for index in range(1, 5)] + [("n5", "Linear", 0, 0)],
        [(f"n{index}", "output", f"n{index + 1}", "x") for index in range(1, 4)],
    )


def run(qtbot: QtBot, laying: LayingOut) -> bool:
    with qtbot.waitSignal(laying.ended, timeout=20_000) as waiting:
        laying.start()
    return bool(waiting.args[0])


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """A layout that goes on until it is given up."""
    begun = Event()

    def endless(*_: object, cancelled: Callable[[], bool], **__: object) -> None:
        begun.set()
        while not cancelled():
            Event().wait(0.005)
        raise LayoutCancelled()

    monkeypatch.setattr(laying_out, "clustered", endless)
    yield begun


@pytest.mark.usefixtures("mess")
def test_a_layout_is_one_step_that_undo_takes_back(
    qtbot: QtBot, view: GraphView, workspace: Workspace, laying: LayingOut
) -> None:
    before = {key: node.position for key, node in workspace.graph.nodes.items()}
    assert run(qtbot, laying)
    places = {key: node.position for key, node in workspace.graph.nodes.items()}
    assert [places[f"n{index}"][0] - places["n1"][0] for index in range(1, 5)] == [0, 200, 400, 600]
    assert len({places[f"n{index}"][1] for index in range(1, 5)}) == 1
    boxes = [item.box() for item in view.graph_scene.node_items.values()]
    assert len(set(boxes)) == 5
    assert workspace.document.undo_label == "Lay out"
    workspace.undo()
    assert {key: node.position for key, node in workspace.graph.nodes.items()} == before
    assert workspace.document.undo_label is None


@pytest.mark.usefixtures("mess")
def test_what_is_laid_out_already_leaves_no_history(
    qtbot: QtBot, workspace: Workspace, laying: LayingOut
) -> None:
    run(qtbot, laying)
    revision, told = workspace.document.revision, []
    workspace.message.connect(lambda text, kind: told.append(text))
    assert run(qtbot, laying)
    assert workspace.document.revision == revision
    assert told == ["Everything is already where a layout would put it."]


@pytest.mark.usefixtures("mess")
def test_only_the_selected_nodes_move(qtbot: QtBot, workspace: Workspace, laying: LayingOut) -> None:
    before = {key: node.position for key, node in workspace.graph.nodes.items()}
    workspace.select(("n1", "n2"))
    assert run(qtbot, laying)
    after = {key: node.position for key, node in workspace.graph.nodes.items()}
    assert {key for key in before if before[key] != after[key]} <= {"n1", "n2"}
    assert after["n2"][0] - after["n1"][0] == 200


@pytest.mark.usefixtures("mess")
def test_bends_go_with_the_places_they_were_made_for(
    qtbot: QtBot, workspace: Workspace, laying: LayingOut
) -> None:
    link = Link("n1", "output", "n2", "x")
    workspace.apply("Bend", SetBends(link, ((50.0, 300.0),)))
    assert run(qtbot, laying)
    assert workspace.graph.bends(link) == ()
    workspace.undo()
    assert workspace.graph.bends(link) == ((50.0, 300.0),)


@pytest.mark.usefixtures("mess")
def test_escape_gives_a_layout_up(
    qtbot: QtBot, view: GraphView, workspace: Workspace, laying: LayingOut, held: Event
) -> None:
    revision = workspace.document.revision
    with qtbot.waitSignal(laying.ended, timeout=20_000) as waiting:
        laying.start()
        assert held.wait(10)
        qtbot.waitUntil(laying.note.isVisible)
        QTest.keyClick(view, Qt.Key.Key_Escape)
    assert waiting.args == [False]
    assert not laying.note.isVisible()
    assert workspace.document.revision == revision


@pytest.mark.usefixtures("mess")
def test_an_edit_meanwhile_ends_a_layout(
    qtbot: QtBot, workspace: Workspace, laying: LayingOut, held: Event
) -> None:
    with qtbot.waitSignal(laying.ended, timeout=20_000) as waiting:
        laying.start()
        assert held.wait(10)
        workspace.apply("Rename", Rename("n1", "other"))
    assert waiting.args == [False]
    assert workspace.document.undo_label == "Rename"


@pytest.mark.usefixtures("mess")
def test_closing_ends_the_thread(workspace: Workspace, laying: LayingOut, held: Event) -> None:
    laying.start()
    assert held.wait(10)
    laying.close()
    assert not laying.busy


def test_an_empty_canvas_has_nothing_to_lay_out(laying: LayingOut) -> None:
    laying.start()
    assert not laying.busy


def test_frames_hold_together_and_do_not_lie_on_each_other(
    qtbot: QtBot, view: GraphView, workspace: Workspace, laying: LayingOut, build: Build
) -> None:
    """Two branches of three, framed crosswise to what a layout would do, and a frame in a frame."""
    build(
        [("n1", "Linear", 0, 0), *((f"n{index}", "Linear", 30 * index, 90) for index in range(2, 8))],
        [
            *(("n1", "output", f"n{index}", "x") for index in (2, 5)),
            *((f"n{index}", "output", f"n{index + 1}", "x") for index in (2, 3, 5, 6)),
        ],
    )
    for frame in (
        Frame("f1", "Outer", members=frozenset({"n2", "n3", "n6"})),
        Frame("f2", "Inner", members=frozenset({"n2", "n3"})),
        Frame("f3", "Other", members=frozenset({"n4", "n5", "n7"})),
    ):
        workspace.apply("Frame", AddFrame(frame))
    assert run(qtbot, laying)
    frames, items = view.graph_scene.dressing.frames, view.graph_scene.node_items
    whole = {key: frame.outline.united(frame.strip()) for key, frame in frames.items()}
    assert not whole["f1"].intersects(whole["f3"]) and frames["f1"].outline.contains(whole["f2"])
    for frame in frames.values():
        for node_id, item in items.items():
            inside = frame.outline.contains(QPointF(item.x(), item.y()))
            assert inside == (node_id in frame.frame.members)
    assert run(qtbot, laying) and workspace.document.undo() == "Lay out"


@pytest.mark.usefixtures("mess")
def test_places_that_come_after_a_change_move_nothing(
    qtbot: QtBot, workspace: Workspace, laying: LayingOut
) -> None:
    """They were found before the change, and are told after it: the thread had them ready."""
    before = {key: node.position for key, node in workspace.graph.nodes.items() if key != "n1"}
    places = {f"n{index}": (500.0 * index, 0.0) for index in range(1, 6)}
    workspace.apply("Delete", Remove(("n1",)))
    for _ in range(2):  # also where no change was told, for another graph is shown
        with qtbot.waitSignal(laying.ended) as waiting:
            laying._finished(places, None)
        assert waiting.args == [False]
        laying._given_up.clear()
    assert {key: node.position for key, node in workspace.graph.nodes.items()} == before
