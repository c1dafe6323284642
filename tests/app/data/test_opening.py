"""Files become data nodes: dropped, chosen, replaced, read again; and what is said when they can't be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.data import opening as data_opening
from app.data.import_page import ImportPage
from app.data.roles import rows_of
from app.inspector import node_page
from app.widgets.path_field import PathField
from app.window.main_window import MainWindow
from app.workspace import data_files
from app.workspace.data_files import CHANGED, MISSING
from app.workspace.places import Places
from app.workspace.workspace import Workspace
from engine.data.loading.node import read_node
from engine.document.edits import AddNodes, SetParam
from engine.document.graph import Node
from tests.app.fake_run import FakeTrainer
from tests.app.readings import catalogue_with_readings, readings_opener

__all__ = ["readings_opener"]

COPY = Qt.DropAction.CopyAction
LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path, readings_opener: None) -> Iterator[MainWindow]:
    from app.workspace.engine_parts import EngineParts
    from engine.emit.script import export_script
    from engine.shapes.shapes import ShapeBook

    workspace = Workspace(Places.under(tmp_path / "home"), catalogue_with_readings())
    workspace.adopt_engine(EngineParts(ShapeBook, lambda *_: FakeTrainer(), export_script))
    made = MainWindow(workspace)
    qtbot.addWidget(made, before_close_func=lambda one: one.workspace.document.mark_saved())
    made.resize(1280, 720)
    made.show()
    made.show_workbench()
    yield made


def write(folder: Path, name: str, text: str = "1\n2\n3\n4\n5\n6\n") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def drop(window: MainWindow, paths: Sequence[Path], place: QPoint, widget: QWidget | None = None) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    there = widget or window.canvas.viewport()
    QApplication.sendEvent(there, QDragEnterEvent(place, COPY, data, LEFT, NONE))
    QApplication.sendEvent(there, QDragMoveEvent(place, COPY, data, LEFT, NONE))
    QApplication.sendEvent(there, QDropEvent(QPointF(place), COPY, data, LEFT, NONE))


def settle(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.document_page.opening.busy)


def nodes(window: MainWindow) -> list[object]:
    return list(window.workspace.document.project.graph.nodes.values())


def test_a_dropped_file_becomes_a_selected_node_in_one_step(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = write(tmp_path, "days.val")
    place = QPoint(300, 200)
    drop(window, [path], place)
    settle(window, qtbot)
    (node,) = window.workspace.graph.nodes.values()
    assert (node.type, node.name, node.params["path"]) == ("Readings", "days", str(path))
    at = window.canvas.mapToScene(place)
    assert abs(node.position[0] + 64 - at.x()) <= 8
    assert window.workspace.selection == (node.id,)
    assert window.document_page.bottom.tabs.tabText(window.document_page.bottom.tabs.currentIndex()) == "Data"
    assert window.workspace.remarks[node.id] == ("days.val is read.",)
    window.workspace.undo()
    assert not window.workspace.graph.nodes


def test_several_files_are_one_step_and_cover_nothing(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    paths = [write(tmp_path, name) for name in ("a.val", "b.val", "c.val")]
    drop(window, paths, QPoint(300, 100))
    settle(window, qtbot)
    made = list(window.workspace.graph.nodes.values())
    assert [node.name for node in made] == ["a", "b", "c"]
    heights = [node.position[1] for node in made]
    assert all(later - earlier >= 64 for earlier, later in pairwise(heights))
    window.workspace.undo()
    assert not window.workspace.graph.nodes


def test_what_cannot_be_read_is_a_sentence_and_the_rest_is_opened(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    drop(window, [write(tmp_path, "bad.val", "x"), write(tmp_path, "good.val")], QPoint(300, 200))
    settle(window, qtbot)
    assert [node.name for node in window.workspace.graph.nodes.values()] == ["good"]
    assert window.banner.text == 'Line 1 of "bad.val" holds "x", which is no number.'


def test_a_file_that_takes_long_shows_a_card_that_cancels(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    opening = window.document_page.opening
    drop(window, [write(tmp_path, "long.val", "forever")], QPoint(300, 200))
    qtbot.waitUntil(lambda: opening.card.isVisible() and "25 %" in opening.card._doing.text())
    assert opening.card._doing.text() == "Reading numbers · 25 %"
    qtbot.mouseClick(opening.card.button, LEFT)
    settle(window, qtbot)
    assert opening.card.isHidden()
    assert not window.workspace.graph.nodes
    assert "nothing was added" in window.banner.text


def test_a_file_dropped_onto_a_node_of_its_kind_may_be_read_by_it(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    drop(window, [write(tmp_path, "a.val")], QPoint(300, 200))
    settle(window, qtbot)
    (node,) = window.workspace.graph.nodes.values()
    other = write(tmp_path, "b.val", "9\n8\n7\n")
    drop(window, [other], window.canvas.node_point(node.id))
    settle(window, qtbot)
    assert "“b.val” was dropped onto “a”" in window.banner.text
    use = window.banner.findChild(QPushButton, "bannerFirst")
    assert use.text() == "Use this file"
    qtbot.mouseClick(use, LEFT)
    (node,) = window.workspace.graph.nodes.values()
    assert node.params["path"] == str(other)
    assert node.name == "a"
    window.workspace.undo()
    assert window.workspace.graph.nodes[node.id].params["path"].endswith("a.val")


def test_files_dropped_beside_the_canvas_open_too_and_projects_open_as_projects(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    drop(window, [write(tmp_path, "a.val")], QPoint(5, 5), window)
    settle(window, qtbot)
    assert [node.name for node in window.workspace.graph.nodes.values()] == ["a"]


def test_a_missing_file_is_a_problem_that_choosing_mends(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, "a.val")
    window.document_page.opening.open([path])
    settle(window, qtbot)
    (node,) = window.workspace.graph.nodes.values()
    path.rename(tmp_path / "moved.val")
    window.document_page.data_files.look()
    qtbot.waitUntil(lambda: any(one.code == MISSING for one in window.workspace.shapes.problems))
    (problem,) = [one for one in window.workspace.shapes.problems if one.code == MISSING]
    assert (problem.node_id, problem.severity) == (node.id, "error")
    assert problem.message == f"There is no “a.val” in {tmp_path}."
    field = window.document_page.inspector.findChild(PathField)
    assert field.error_text == problem.message
    assert field.name.toolTip() == str(path)
    chosen = str(tmp_path / "moved.val")
    monkeypatch.setattr(data_files.QFileDialog, "getOpenFileName", lambda *_: (chosen, ""))
    qtbot.mouseClick(field.choose, LEFT)
    settle(window, qtbot)
    qtbot.waitUntil(lambda: not any(one.code == MISSING for one in window.workspace.shapes.problems))
    assert window.workspace.graph.nodes[node.id].params["path"] == chosen
    assert field.error_text == ""


def test_a_changed_file_can_be_read_again_with_one_click(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = write(tmp_path, "a.val")
    window.document_page.opening.open([path])
    settle(window, qtbot)
    write(tmp_path, "a.val", "5\n5\n5\n5\n")
    window.document_page.data_files.look()
    qtbot.waitUntil(lambda: any(one.code == CHANGED for one in window.workspace.shapes.problems))
    (problem,) = [one for one in window.workspace.shapes.problems if one.code == CHANGED]
    assert problem.severity == "warning"
    assert problem.fix.label == "Read again"
    problem.fix.begin()
    settle(window, qtbot)
    qtbot.waitUntil(lambda: not any(one.code == CHANGED for one in window.workspace.shapes.problems))


def test_the_command_opens_data_and_shows_the_canvas(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.window import file_commands

    path = write(tmp_path, "a.val")
    monkeypatch.setattr(file_commands.QFileDialog, "getOpenFileNames", lambda *_: ([str(path)], ""))
    window.actions_by_name["open_data"].trigger()
    settle(window, qtbot)
    assert [node.name for node in window.workspace.graph.nodes.values()] == ["a"]


def test_the_panel_reads_a_node_that_no_network_uses(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    drop(window, [write(tmp_path, "a.val", "\n".join(map(str, range(30))))], QPoint(300, 200))
    settle(window, qtbot)
    panel = window.document_page.bottom.data
    qtbot.waitUntil(lambda: [bar.value for bar in panel.counts.bars] == [10.0, 10.0, 10.0])
    panel._pages.choose("findings")
    assert any("a.val is read." in words.text() for words in panel.findings.findChildren(QLabel))


def test_what_cannot_be_read_is_said_in_the_panel(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    drop(window, [write(tmp_path, "a.val", "1\n2\nthree\n")], QPoint(300, 200))
    settle(window, qtbot)
    panel = window.document_page.bottom.data
    qtbot.waitUntil(lambda: "a.val: could not convert" in panel._message.text())


def test_a_table_shows_its_rows_and_a_click_in_a_head_sets_a_role(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    lines = [f"{at % 7}.5,{'ab'[at % 2]},same,{'' if at == 3 else at % 5}" for at in range(60)]
    path = write(tmp_path, "t.csv", "\n".join(["size,kind,what,more", *lines]) + "\n")
    window.document_page.opening.open([path])
    settle(window, qtbot)
    panel, workspace = window.document_page.bottom.data, window.workspace
    (node,) = workspace.graph.nodes.values()
    qtbot.waitUntil(lambda: panel.rows.rows.rowCount() == 60)
    assert panel.rows.rows.rows[0] == ("0.5", "a", "same", "0")
    assert panel.rows.rows.rows[3] == ("3.5", "b", "same", None)
    menu = panel.roles.menu(node.id, "kind")
    action = next(one for one in menu.actions() if one.text() == "Left out")
    action.trigger()
    assert {row[0]: row[2] for row in workspace.node(node.id).params["table"]}["kind"] == "ignore"
    assert workspace.document.undo_label == "kind: left out"
    workspace.undo()
    panel.roles.set_kind(node.id, "more", "category")
    qtbot.waitUntil(lambda: rows_of(workspace.node(node.id))["more"][1] == "category")
    assert rows_of(workspace.node(node.id))["more"][3:] == ("0", "1", "2", "3", "4")
    panel.roles.set_role(node.id, "what", "input")
    panel._pages.choose("findings")
    qtbot.waitUntil(lambda: any("Leave out what" in one.text() for one in panel.findings.buttons()))
    button = next(one for one in panel.findings.buttons() if one.text() == "Leave out what")
    qtbot.mouseClick(button, LEFT)
    assert rows_of(workspace.node(node.id))["what"][2] == "ignore"


def test_a_delimiter_that_is_corrected_leads_to_other_columns(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    lines = [f"{at % 7};{at},{at % 3}" for at in range(40)]
    path = write(tmp_path, "t.csv", "\n".join(["a;b,c", *lines]) + "\n")
    window.document_page.opening.open([path])
    settle(window, qtbot)
    page = window.findChild(ImportPage)  # a decimal comma is asked about
    assert page is not None
    page.accept()
    workspace = window.workspace
    (node,) = workspace.graph.nodes.values()
    other = "," if node.params.get("delimiter") == ";" else ";"
    names = {",": ["a;b", "c"], ";": ["a", "b,c"]}
    workspace.apply("Set", SetParam(node.id, "delimiter", other))
    qtbot.waitUntil(lambda: any(one.code == CHANGED for one in workspace.shapes.problems))
    (problem,) = [one for one in workspace.shapes.problems if one.code == CHANGED]
    assert "has no column" in problem.message
    problem.fix.begin()
    settle(window, qtbot)
    assert list(rows_of(workspace.node(node.id))) == names[other]
    assert workspace.node(node.id).params["delimiter"] == other
    qtbot.waitUntil(lambda: not any(one.code == CHANGED for one in workspace.shapes.problems))


def test_a_node_without_a_file_says_how_it_gets_one(window: MainWindow, qtbot: QtBot) -> None:
    window.canvas.add_node("TableFile", None)
    window.document_page.bottom.show_panel("Data")
    panel = window.document_page.bottom.data
    words = "No file is chosen yet. Drop one onto the node, or choose one in the inspector."
    qtbot.waitUntil(lambda: panel._message.text() == words)
    assert window.document_page.inspector.findChild(PathField).name.text() == "no file chosen"


def test_the_welcome_page_begins_with_a_file_of_ones_own(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, "days.val")
    monkeypatch.setattr("app.window.file_commands.QFileDialog.getOpenFileNames", lambda *_: ([str(path)], ""))
    button = window.welcome.findChild(QPushButton, "welcomeData")
    assert button is not None
    button.click()
    settle(window, qtbot)
    (node,) = window.workspace.graph.nodes.values()
    assert node.params["path"] == str(path) and window.at_work


@pytest.mark.parametrize("apart", [False, True])
def test_a_second_file_of_pairs_is_chosen_in_the_window(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, apart: bool
) -> None:
    english = write(tmp_path, "en.txt", "good day\nthank you very much\ngood night\n")
    (tmp_path / "other").mkdir()
    german = write(
        tmp_path / "other" if apart else tmp_path, "de.txt", "guten Tag\nvielen Dank\ngute Nacht\n"
    )
    workspace = window.workspace
    assert workspace.apply("Add", AddNodes((Node("n1", "TextPairs", "pairs"),)))
    workspace.select(("n1",))
    chosen = [english, german]
    monkeypatch.setattr(data_opening, "choose", lambda *_: chosen[0])
    monkeypatch.setattr(node_page, "choose", lambda *_: chosen[1])
    for name in ("path", "other"):
        button = window.document_page.inspector.findChild(QPushButton, f"choose_{name}")
        assert button is not None
        qtbot.mouseClick(button, LEFT)
        settle(window, qtbot)
    params = workspace.node("n1").params
    assert (params["path"], params["other"]) == (str(english), str(german))
    assert (params["count"], params["length"], params["target_length"]) == (3, 5, 3)
    fields = window.document_page.inspector.findChildren(PathField)
    assert [field.name.text() for field in fields] == ["en.txt", "de.txt"]
    made = workspace.catalogue.make(workspace.node("n1"))
    assert made.holds() == ("en.txt", "other/de.txt" if apart else "de.txt")
    rows = read_node(workspace.node("n1"), workspace.catalogue)
    assert sum(len(split["source"]) for split in rows.values()) == 3
    # a project of old names the second file alone
    assert workspace.apply("Old", SetParam("n1", "other", german.name))
    if not apart:
        assert (
            sum(len(one["next"]) for one in read_node(workspace.node("n1"), workspace.catalogue).values())
            == 3
        )
        (first, second) = window.document_page.data_files.reads()
        assert (first.path, second.path) == (str(english), str(german))


def test_data_named_at_the_start_become_nodes(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    window.begin([write(tmp_path, "a.val"), write(tmp_path, "b.val")])
    settle(window, qtbot)
    assert window.at_work
    assert sorted(node.name for node in window.workspace.graph.nodes.values()) == ["a", "b"]
