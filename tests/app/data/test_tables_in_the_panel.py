"""What the data panel says of numbers as people write them, and of tables that are larger than memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.data.roles import rows_of
from app.window.main_window import MainWindow
from engine.document.edits import SetParam
from tests.app.data.test_opening import settle, window, write
from tests.app.readings import readings_opener

__all__ = ["readings_opener", "window"]


def table(window: MainWindow, qtbot: QtBot, folder: Path) -> str:
    lines = [f"€{at * 75:,}.50;{at / 4} %;{at % 3}" for at in range(60)]
    window.document_page.opening.open(
        [write(folder, "t.csv", "\n".join(["price;fraction;left", *lines]) + "\n")]
    )
    settle(window, qtbot)
    (node,) = window.workspace.graph.nodes.values()
    return node.id


def test_the_form_of_numbers_is_shown_and_a_column_may_be_classes_and_back(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    node_id = table(window, qtbot, tmp_path)
    panel, workspace = window.document_page.bottom.data, window.workspace
    panel._pages.choose("columns")
    qtbot.waitUntil(lambda: len(panel.columns.columns.lines) == 3)
    kinds = {line.name: line.cells[0] for line in panel.columns.columns.lines}
    assert kinds == {"price": "number · 1,234.5 €", "fraction": "number · 1234.5 %", "left": "category"}
    panel.roles.set_kind(node_id, "price", "category")
    qtbot.waitUntil(lambda: rows_of(workspace.node(node_id))["price"][1] == "category")
    assert rows_of(workspace.node(node_id))["price"][3] == "€0.50"
    panel.roles.set_kind(node_id, "price", "number")
    qtbot.waitUntil(lambda: rows_of(workspace.node(node_id))["price"][1] == "number")
    assert rows_of(workspace.node(node_id))["price"] == ("price", "number", "input", "1,234.5 €")


def test_it_says_where_the_numbers_of_a_large_table_lie(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEUROLOOM_HOME", str(tmp_path / "home"))
    node_id = table(window, qtbot, tmp_path)
    panel = window.document_page.bottom.data
    panel._pages.choose("findings")

    def said() -> list[str]:
        words = [one.text() for one in panel.findings.findChildren(QLabel)]
        return [one for one in words if "read in pieces" in one]

    qtbot.waitUntil(lambda: panel.reader.facts is not None)
    assert said() == []
    window.workspace.apply("Less", SetParam(node_id, "memory", 0))
    qtbot.waitUntil(lambda: len(said()) == 1, timeout=15_000)
    (place,) = (tmp_path / "home" / "tables").iterdir()
    assert f"are kept in {place}." in said()[0]
