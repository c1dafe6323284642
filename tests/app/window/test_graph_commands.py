"""The Graph, Edit and File commands for layout, finding and images, run from the menus of a window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QFrame
from pytestqt.qtbot import QtBot

from app.canvas.editing.auto_layout import LayingOut
from app.canvas.find_bar import FindBar
from app.window import graph_commands
from app.window.main_window import MainWindow
from app.workspace.workspace import Workspace
from engine.document.edits import Move
from tests.app.conftest import add_iris
from tests.app.window.test_main_window import settle


@pytest.fixture
def window(shaped: Workspace, qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow(shaped)
    qtbot.addWidget(made, before_close_func=settle)
    made.show()
    add_iris(shaped)
    made.show_workbench()
    yield made


def test_lay_out_arranges_and_says_nothing_when_done(window: MainWindow, qtbot: QtBot) -> None:
    workspace = window.workspace
    workspace.apply("Move", Move({"n2": (0, 0), "n3": (0, 0)}))
    window.actions_by_name["lay_out"].trigger()
    laying = window.canvas.findChild(LayingOut)
    assert laying is not None
    qtbot.waitUntil(lambda: not laying.busy, timeout=20_000)
    places = [workspace.document.project.graph.nodes[key].position[0] for key in ("n1", "n2", "n3")]
    assert [place - places[0] for place in places] == [0, 200, 400]
    window.actions_by_name["lay_out"].trigger()
    assert window.canvas.findChildren(LayingOut) == [laying]
    qtbot.waitUntil(lambda: not laying.busy, timeout=20_000)


def test_find_opens_one_bar_over_the_canvas(window: MainWindow) -> None:
    window.actions_by_name["find"].trigger()
    window.actions_by_name["find"].trigger()
    bars = window.canvas.findChildren(FindBar)
    assert len(bars) == 1
    assert isinstance(bars[0], QFrame)
    assert bars[0].isVisible()


def test_aligning_waits_for_a_selection(window: MainWindow) -> None:
    action = window.actions_by_name["align_left"]
    assert not action.isEnabled()
    window.workspace.select(("n1", "n2"))
    assert action.isEnabled()
    assert not window.actions_by_name["distribute_down"].isEnabled()
    action.trigger()
    nodes = window.workspace.document.project.graph.nodes
    assert nodes["n2"].position[0] == nodes["n1"].position[0]
    for name in ("align_centre", "align_right", "align_top", "align_middle", "align_bottom", "snap_to_grid"):
        window.actions_by_name[name].trigger()
    window.workspace.select(("n1", "n2", "n3"))
    for name in ("distribute_across", "distribute_down"):
        assert window.actions_by_name[name].isEnabled()
        window.actions_by_name[name].trigger()


def test_an_image_is_offered_with_the_name_of_the_document(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: list[str] = []

    class Dialog(graph_commands.ImageDialog):
        def exec(self) -> int:
            offered.append(self.path_field.text())
            return 0

    monkeypatch.setattr(graph_commands, "ImageDialog", Dialog)
    window.actions_by_name["save_image"].trigger()
    assert offered[0].endswith("Untitled.svg")
