"""A file may be read as something else: another node takes the place of the one that was guessed."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from app.inspector.node_page import NodePage
from app.window.main_window import MainWindow
from engine.document.edits import AddNodes, Connect
from engine.document.graph import Link, Node
from tests.app.data.test_opening import settle, window
from tests.app.readings import readings_opener

__all__ = ["readings_opener", "window"]

FILES = Path(__file__).parents[2] / "data_files"


def opened(window: MainWindow, qtbot: QtBot, name: str) -> Node:
    window.document_page.opening.open([FILES / name])
    settle(window, qtbot)
    (node,) = window.workspace.graph.nodes.values()
    return node


def test_a_table_becomes_a_series_in_its_place_in_one_step(window: MainWindow, qtbot: QtBot) -> None:
    table = opened(window, qtbot, "tides.csv")
    assert table.type == "TableFile"
    page = window.document_page.findChild(NodePage)
    assert page is not None
    combo = page.findChild(QComboBox, "control_read_as")
    assert combo is not None and combo.currentText() == "Table"
    combo.setCurrentText("Time series")
    combo.activated.emit(combo.currentIndex())
    settle(window, qtbot)
    (series,) = window.workspace.graph.nodes.values()
    assert (series.type, series.name, series.position) == ("SeriesFile", table.name, table.position)
    assert series.params["path"] == table.params["path"]
    assert window.workspace.selection == (series.id,)
    window.workspace.undo()
    assert list(window.workspace.graph.nodes.values()) == [table]


def test_its_wires_begin_at_the_ports_of_the_same_place(window: MainWindow, qtbot: QtBot) -> None:
    table = opened(window, qtbot, "tides.csv")
    workspace = window.workspace
    workspace.apply(
        "Wire",
        AddNodes((Node("n8", "Linear"),)),
        Connect(Link(table.id, "features", "n8", "x")),
    )
    said: list[str] = []
    window.document_page.file.noticed.connect(lambda notice: said.append(notice.text))
    workspace.reading_wanted.emit(table.id, "SeriesFile")
    settle(window, qtbot)
    types = sorted(node.type for node in workspace.graph.nodes.values())
    assert types == ["Linear", "SeriesFile"]
    (link,) = workspace.graph.links
    assert (link.source_port, link.target) == ("window", "n8") and said == []


def test_what_it_cannot_be_is_a_sentence_and_nothing_changes(window: MainWindow, qtbot: QtBot) -> None:
    text = opened(window, qtbot, "story.txt")
    assert text.type == "TextCorpus"
    said: list[tuple[str, str]] = []
    window.workspace.message.connect(lambda words, level: said.append((words, level)))
    window.workspace.reading_wanted.emit(text.id, "SeriesFile")
    settle(window, qtbot)
    assert list(window.workspace.graph.nodes.values()) == [text]
    ((words, level),) = said
    assert "story.txt" in words and words.endswith(".") and level == "error"


def test_wires_that_have_no_port_any_more_are_told(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text(
        "x,y,z\n" + "".join(f"{n}.5,{n % 7},{n % 9}.25\n" for n in range(40))
    )
    table = opened(window, qtbot, str(tmp_path / "points.csv"))
    workspace = window.workspace
    workspace.apply(
        "Wire",
        AddNodes((Node("n8", "Linear"), Node("n9", "Linear"))),
        Connect(Link(table.id, "features", "n8", "x")),
        Connect(Link(table.id, "y", "n9", "x")),
    )
    said: list[str] = []
    window.document_page.file.noticed.connect(lambda notice: said.append(notice.text))
    workspace.reading_wanted.emit(table.id, "CloudFile")
    settle(window, qtbot)
    (link,) = workspace.graph.links
    assert (link.source_port, link.target) == ("point", "n8")
    assert said == ["“points.csv” is read as point clouds; one wire had no port to begin at any more."]
    workspace.undo()
    assert len(workspace.graph.links) == 2 and table.id in workspace.graph.nodes
