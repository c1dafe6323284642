"""What an objective trains: chosen on the canvas or from a list, and shown there."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.canvas.scene.scene import GraphScene
from app.inspector.inspector import InspectorPanel
from app.workspace.workspace import Workspace
from engine.document.edits import Remove, SetPlan
from engine.document.plan import Minimise, Phase, Plan
from tests.app.inspector.plan_hands import add, first, opened, page_of, press


def test_what_is_trained_is_chosen_on_the_canvas_in_one_step(
    net: Workspace, inspector: InspectorPanel
) -> None:
    editor = opened(inspector)
    net.select(("n2",))  # a node's page takes the place of the plan's
    net.select(())
    editor = opened(inspector)
    press(editor, "chooseOnCanvas")
    net.select(("n1", "n3", "n4"))
    assert page_of(inspector).editor is editor
    trained = editor.minimise.trained
    assert trained.shown.text() == "1 chosen" and trained.take.text() == "Train this one"
    assert first(net).of == ()
    assert (net.parts["n2"], net.parts["n3"]) == ("frozen", "trained")
    press(editor, "takeChosen")
    assert first(net).of == ("n3",)
    assert net.document.undo_label == "Choose what is trained"
    assert net.selection == () and page_of(inspector).editor is editor
    press(editor, "remove_n3")
    assert first(net).of == ()
    net.undo()
    assert first(net).of == ("n3",)
    press(editor, "trainEveryLayer")
    assert first(net).of == ()
    add(trained.add, "hidden")
    assert first(net).of == ("n2",)


def test_choosing_can_be_given_up(net: Workspace, inspector: InspectorPanel, qtbot: QtBot) -> None:
    editor = opened(inspector)
    press(editor, "chooseOnCanvas")
    net.select(("n3",))
    qtbot.keyClick(editor.minimise.trained.take, Qt.Key.Key_Escape)
    assert not page_of(inspector).choosing
    assert first(net).of == () and net.selection == ()
    assert net.document.undo_label == "Add"


def test_the_canvas_shows_what_an_objective_does(
    net: Workspace, inspector: InspectorPanel, qtbot: QtBot
) -> None:
    scene = GraphScene(net)
    editor = opened(inspector)
    plan = Plan((Phase((Minimise("n5"), Minimise("n4", of=("n3",)))),))
    net.apply("Plan", SetPlan(plan))
    assert {item.part for item in scene.node_items.values()} == {""}  # none of the two is chosen yet
    shown = editor.objectives.list
    qtbot.mouseClick(
        shown.viewport(), Qt.MouseButton.LeftButton, pos=shown.visualItemRect(shown.item(0)).center()
    )
    assert {one: item.part for one, item in scene.node_items.items()} == {
        "n1": "",
        "n2": "trained",
        "n3": "untouched",
        "n4": "untouched",
        "n5": "",
        "n6": "",
    }
    editor.objectives.list.setCurrentRow(1)
    assert [scene.node_items[one].part for one in ("n2", "n3", "n5")] == ["frozen", "trained", "untouched"]
    net.select(("n3",))
    assert {item.part for item in scene.node_items.values()} == {""}
    net.select(())
    assert scene.node_items["n3"].part == "trained"
    inspector.hide()
    assert scene.node_items["n3"].part == ""


def test_a_chosen_layer_that_takes_no_part_is_told_of(net: Workspace, inspector: InspectorPanel) -> None:
    net.apply("Plan", SetPlan(Plan((Phase((Minimise("n5", of=("n3",)),)),))))
    notice = opened(inspector).minimise.trained.notice
    assert notice.text() == "classes is no part of what leads to this loss."
    net.apply("Remove", Remove(("n3",)))
    assert "no longer in the network" in notice.text()
