"""Fields that say nothing now are not shown."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.inspector.node_page import NodePage
from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes, SetParam
from engine.document.graph import Node
from nodes.data.splitting import BLOCKS, FOLDS


def test_folds_have_fields_where_rows_are_dealt_in_folds(shaped: Workspace, qtbot: QtBot) -> None:
    shaped.apply("Add", AddNodes((Node("n1", "TableFile"),)))
    page = NodePage(shaped, "n1")
    qtbot.addWidget(page)
    page.show()

    def shown() -> set[str]:
        page.refresh()
        QApplication.processEvents()
        names = ("validation", "test", "folds", "fold", "gap", "seed")
        return {name for name in names if page.fields[name].isVisible()}

    assert shown() == {"validation", "test", "seed"}
    shaped.apply("Split", SetParam("n1", "split", FOLDS))
    assert shown() == {"test", "folds", "fold", "seed"}
    shaped.apply("Split", SetParam("n1", "split", BLOCKS))
    assert shown() == {"test", "folds", "fold", "gap"}
