"""A table that is written oddly is asked about, with a preview: no file of text is a dead end."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.data.import_page import ImportPage
from app.window.main_window import MainWindow
from tests.app.data.test_opening import drop, settle, window, write
from tests.app.readings import readings_opener

__all__ = ["readings_opener", "window"]

ROWS = "".join(f"{at / 4},{at % 5},{'ab'[at % 2]}\n" for at in range(40))
RAGGED = "x,n,kind\n" + ROWS + "1,2,a,9,9\n" + ROWS


def asked(window: MainWindow, qtbot: QtBot, path: Path) -> ImportPage:
    """The page that is opened for a file, once it shows what it makes of it."""
    drop(window, [path], QPoint(300, 200))
    settle(window, qtbot)
    page = window.findChild(ImportPage)
    assert isinstance(page, ImportPage) and page.isVisible()
    qtbot.waitUntil(lambda: not page._worker.busy)
    return page


def choose(page: ImportPage, qtbot: QtBot, field: str, value: str) -> None:
    box = getattr(page, field)
    box.setCurrentIndex(box.findData(value))
    qtbot.waitUntil(lambda: not page._settle.isActive() and not page._worker.busy)


def test_ragged_rows_can_be_skipped(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    page = asked(window, qtbot, write(tmp_path, "ragged.csv", RAGGED))
    assert "has 5 cells" in page.why.text() and not page.read.isEnabled()
    assert "1 row has more cells than the header, in line 42: skip it" in page.said.text()
    assert page.leave_out.isVisible() and page.leave_out.text() == "Skip this row"
    qtbot.mouseClick(page.leave_out, Qt.MouseButton.LeftButton, pos=QPoint(8, page.leave_out.height() // 2))
    assert page.read.isEnabled() and page.rows.aside == {42}
    qtbot.mouseClick(page.read, Qt.MouseButton.LeftButton)
    settle(window, qtbot)
    (node,) = window.workspace.graph.nodes.values()
    assert (node.type, node.params["aside"], node.params["rows"]) == ("TableFile", (42,), 80)
    window.workspace.undo()
    assert not window.workspace.graph.nodes


def test_a_decimal_comma_is_asked_about_and_the_guess_can_be_taken(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    text = "x;y\n" + "".join(f"{at},5;{at % 7},25\n" for at in range(40))
    page = asked(window, qtbot, write(tmp_path, "german.csv", text))
    assert (page.delimiter.currentData(), page.decimal.currentData()) == (";", ",")
    assert page.rows.shown.names == ("x", "y") and page.read.isEnabled()
    page.read.click()
    settle(window, qtbot)
    (node,) = window.workspace.graph.nodes.values()
    assert node.params["decimal"] == "," and [row[1] for row in node.params["table"]] == ["number", "number"]


def test_contradictory_answers_are_refused_with_a_sentence(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    page = asked(window, qtbot, write(tmp_path, "ragged.csv", RAGGED))
    choose(page, qtbot, "decimal", ",")
    choose(page, qtbot, "quote", "")
    assert "A comma parts the cells, so it cannot be the decimal mark, too" in page.said.text()
    assert not page.read.isEnabled()
    choose(page, qtbot, "delimiter", ";")
    assert page.read.isEnabled() and page.rows.shown.names == ("x,n,kind",)
    page.reject()
    assert not window.workspace.graph.nodes


def test_a_plain_table_is_not_asked_about(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    drop(window, [write(tmp_path, "plain.csv", "x,n,kind\n" + ROWS)], QPoint(300, 200))
    settle(window, qtbot)
    assert window.findChild(ImportPage) is None and len(window.workspace.graph.nodes) == 1
