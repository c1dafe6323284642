"""The list of problems."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from app.panels.problems import MOST_ROWS, ProblemsPanel
from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes, SetParam
from engine.document.graph import Node
from engine.shapes.problems import Fix, Problem
from tests.app.conftest import add_iris


@pytest.fixture
def panel(shaped: Workspace, qtbot) -> ProblemsPanel:  # type: ignore[no-untyped-def]
    made = ProblemsPanel(shaped)
    qtbot.addWidget(made)
    made.resize(900, 300)
    made.show()
    return made


def test_an_empty_list_says_what_would_fill_it(shaped: Workspace, panel: ProblemsPanel) -> None:
    assert panel.rows() == [] and "Add nodes" in panel._empty.words()
    add_iris(shaped)
    assert panel.rows() == [] and "No problems" in panel._empty.words()


def test_a_problem_is_counted_shown_and_leads_to_its_node(
    shaped: Workspace, panel: ProblemsPanel, qtbot
) -> None:  # type: ignore[no-untyped-def]
    add_iris(shaped)
    with qtbot.waitSignal(panel.counted) as counted:
        shaped.apply("Add", AddNodes((Node("n9", "Linear", "alone"),)))
    assert counted.args == [len(shaped.shapes.problems), "error"]
    row = panel.rows()[0]
    with qtbot.waitSignal(shaped.revealed) as revealed:
        qtbot.mouseClick(row, Qt.MouseButton.LeftButton)
    assert revealed.args == ["n9"]
    assert shaped.selection == ("n9",)
    shaped.undo()
    assert panel.rows() == []


def test_the_fix_is_one_undoable_step(shaped: Workspace, panel: ProblemsPanel) -> None:
    add_iris(shaped)
    mend = Fix("Use 3 units", lambda project: (SetParam("n2", "units", 3),))
    shaped.apply("Set units", SetParam("n2", "units", 4))
    shaped.shapes.problems = [Problem("n2", "Four is one too many.", severity="warning", fix=mend)]
    shaped.inferred.emit()
    button = panel.findChild(QPushButton, "fixButton")
    assert button is not None and button.text() == "Use 3 units"
    button.click()
    assert shaped.node("n2").params["units"] == 3  # type: ignore[union-attr]
    assert shaped.document.undo_label == "Use 3 units"


def test_many_problems_stay_few_rows(shaped: Workspace, panel: ProblemsPanel) -> None:
    nodes = tuple(Node(f"n{number}", "Linear", f"lonely {number}") for number in range(1, MOST_ROWS + 50))
    shaped.apply("Add", AddNodes(nodes))
    assert len(panel.rows()) == MOST_ROWS


def test_hidden_it_builds_nothing(shaped: Workspace, panel: ProblemsPanel) -> None:
    panel.hide()
    shaped.apply("Add", AddNodes((Node("n9", "Linear", "alone"),)))
    assert panel.rows() == []
    panel.show()
    assert panel.rows()
