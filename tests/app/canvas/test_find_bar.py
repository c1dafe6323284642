"""The find bar: counts, goes round, enters blocks, follows the document and keeps its keys."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.canvas.find_bar import FindBar
from app.canvas.view import GraphView
from app.workspace.workspace import Workspace
from engine.document.dressing import Frame, Note
from engine.document.edits import Remove, Rename
from engine.document.graph import Block, Graph, Node, Project

SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def bar(view: GraphView, workspace: Workspace) -> FindBar:
    inner = Graph([Node("n20", "Linear", "deep", {"units": 5})])
    nodes = [
        Node("n1", "Linear", "first", {"units": 64}, (0, 0)),
        Node("n2", "Linear", "second", {"units": 64}, (4000, 3000)),
        Node("n3", "ReLU", "bend", {}, (400, 0)),
        Node("n4", "Block", "", {"block": "b5"}, (600, 0)),
    ]
    workspace.document.replace(
        Project(
            graph=Graph(nodes),
            blocks={"b5": Block("b5", "Residual", inner)},
            frames={"f6": Frame("f6", "Ending", "blue", frozenset({"n2"}))},
            notes_on_canvas={"t7": Note("t7", "remember the milk", (-5000.0, 0.0))},
            next_id=30,
        )
    )
    made = FindBar(view, view)
    made.open()
    return made


def press(bar: FindBar, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(bar.field, key, modifiers)


def test_it_counts_while_typing_and_enter_reveals(
    bar: FindBar, view: GraphView, workspace: Workspace
) -> None:
    QTest.keyClicks(bar.field, "units=64")
    assert bar.count.text() == "2 found"
    assert workspace.selection == ()
    press(bar, Qt.Key.Key_Return)
    assert (bar.count.text(), workspace.selection) == ("1 of 2", ("n1",))
    press(bar, Qt.Key.Key_Return)
    assert (bar.count.text(), workspace.selection) == ("2 of 2", ("n2",))
    bounds = view.graph_scene.bounds(("n2",))
    assert bounds is not None
    assert view.visible_rect().contains(bounds)
    press(bar, Qt.Key.Key_Return)
    assert bar.count.text() == "1 of 2"
    press(bar, Qt.Key.Key_Return, SHIFT)
    assert bar.count.text() == "2 of 2"
    assert bar.field.hasFocus()


def test_nothing_found_is_said_and_the_buttons_rest(bar: FindBar) -> None:
    QTest.keyClicks(bar.field, "zzz")
    assert bar.count.text() == "Nothing found"
    assert not bar.on.isEnabled()
    bar.next()
    bar.field.clear()
    assert bar.count.text() == ""


def test_a_node_inside_a_block_is_shown_there(bar: FindBar, workspace: Workspace) -> None:
    QTest.keyClicks(bar.field, "deep")
    press(bar, Qt.Key.Key_Return)
    assert (workspace.scope, workspace.selection) == ("b5", ("n20",))
    bar.field.setText("first")
    press(bar, Qt.Key.Key_Return)
    assert (workspace.scope, workspace.selection) == ("", ("n1",))


def test_a_frame_and_a_note_are_brought_into_view(bar: FindBar, view: GraphView) -> None:
    for text, point in (("ending", (4060.0, 3020.0)), ("milk", (-4950.0, 50.0))):
        bar.field.setText(text)
        press(bar, Qt.Key.Key_Return)
        assert view.visible_rect().contains(*point)


def test_escape_gives_the_keyboard_back_and_the_text_stays(bar: FindBar, view: GraphView) -> None:
    QTest.keyClicks(bar.field, "first")
    press(bar, Qt.Key.Key_Escape)
    assert not bar.isVisible()
    assert view.hasFocus()
    bar.open()
    assert bar.field.selectedText() == "first"
    assert bar.count.text() == "1 found"


def test_it_follows_the_document(bar: FindBar, workspace: Workspace) -> None:
    QTest.keyClicks(bar.field, "units=64")
    press(bar, Qt.Key.Key_Return)
    press(bar, Qt.Key.Key_Return)
    workspace.apply("Rename", Rename("n3", "units"))
    assert bar.count.text() == "2 of 2"
    workspace.apply("Remove", Remove(("n1",)))
    assert bar.count.text() == "1 of 1"
    workspace.apply("Remove", Remove(("n2",)))
    assert bar.count.text() == "Nothing found"


def test_its_keys_do_nothing_on_the_canvas(bar: FindBar, workspace: Workspace) -> None:
    workspace.select(("n1",))
    QTest.keyClicks(bar.field, "fc")
    press(bar, Qt.Key.Key_Backspace)
    press(bar, Qt.Key.Key_Delete)
    QTest.keyClick(bar, Qt.Key.Key_Delete)
    assert bar.field.text() == "f"
    assert len(workspace.graph.nodes) == 4


def test_it_stays_in_its_corner(bar: FindBar, view: GraphView) -> None:
    view.resize(320, 300)
    assert view.rect().contains(bar.geometry())
    view.resize(1200, 700)
    assert bar.geometry().right() == 1200 - 14 - 1


def test_what_was_not_found_is_dimmed_while_the_bar_is_open(
    bar: FindBar, view: GraphView, workspace: Workspace
) -> None:
    def dimmed() -> set[str]:
        return {key for key, item in view.graph_scene.node_items.items() if item.dimmed}

    QTest.keyClicks(bar.field, "bend")
    assert dimmed() == {"n1", "n2", "n4"}
    workspace.apply("Rename", Rename("n1", "bend too"))
    assert dimmed() == {"n2", "n4"}
    bar.field.setText("Residual")
    assert dimmed() == {"n1", "n2", "n3"}
    bar.field.setText("ending")
    assert dimmed() == {"n1", "n3", "n4"}
    bar.field.setText("no such thing")
    assert dimmed() == set()
    bar.field.setText("bend")
    press(bar, Qt.Key.Key_Escape)
    assert not bar.isVisible() and dimmed() == set()
