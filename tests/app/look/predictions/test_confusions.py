"""The matrix counts the answers; a click on a cell brings its examples and again the table of classes."""

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.look.base import Subject
from app.look.predictions.confusions import ConfusionMatrix
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot

NAMES = ("setosa", "versicolor", "virginica")
RIGHT = np.array([0, 0, 1, 1, 1, 2])
ANSWERED = np.array([0, 0, 1, 2, 2, 2])
SURE = np.array([0.9, 0.8, 0.7, 0.6, 0.95, 0.9])
ROWS = np.array([0, 10, 20, 30, 40, 50])


def drawn(workspace: Workspace) -> ConfusionMatrix:
    add_iris(workspace)
    view = ConfusionMatrix(Subject(workspace, "n3"))
    probabilities = np.repeat((1 - SURE)[:, None] / 2, 3, axis=1)
    probabilities[np.arange(6), ANSWERED] = SURE
    facts = {"right": RIGHT, "classes": NAMES, "rows": ROWS, "total": 60, "kind": "classes"}
    shown(view, {Probe("n3", "answers"): snapshot(probabilities, **facts)})
    return view


def click(view: ConfusionMatrix, row: int, column: int) -> None:
    at = view.matrix.rect_of(row, column).center()
    QTest.mouseClick(view.matrix, Qt.MouseButton.LeftButton, pos=at)


def test_counts_and_scores(shaped: Workspace) -> None:
    view = drawn(shaped)
    assert view.matrix.matrix.tolist() == [[2, 0, 0], [0, 1, 2], [0, 0, 1]]
    assert view.note == "66.7 % right · 6 of 60 held out examples"
    header, rows = view.table()
    assert header == ("true class", *NAMES, "precision", "recall", "F1")
    assert rows[1][:4] == ("versicolor", 0, 1, 2) and rows[1][4] == 1.0 and round(rows[1][5], 3) == 0.333


def test_a_click_shows_the_surest_examples_of_the_cell(shaped: Workspace) -> None:
    view = drawn(shaped)
    painted(view, 500, 260)
    click(view, 1, 2)
    assert view.matrix.chosen == (1, 2)
    wanted = Probe("n3", "examples", (40, 30))  # the surest first
    assert wanted in view.probes()
    sheet = snapshot(np.zeros((2, 4)), rows=(40, 30), names=("a", "b", "c", "d"))
    shown(view, {wanted: sheet})
    assert [example.lines for example in view.examples.examples] == [
        ("virginica 95 %", "example 41"),
        ("virginica 60 %", "example 31"),
    ]
    assert not any(example.right for example in view.examples.examples)
    assert view.examples.isVisible() and not view.by_class.isVisible()
    click(view, 1, 2)
    assert view.matrix.chosen is None and view.by_class.isVisible()
    assert len(view.probes()) == 1


def test_an_empty_cell_says_so(shaped: Workspace) -> None:
    view = drawn(shaped)
    painted(view, 500, 260)
    click(view, 0, 2)
    assert view.probes() == frozenset({Probe("n3", "answers")})
    view._look_up()
    assert view.matrix.chosen == (0, 2)


def test_a_narrow_view_changes_places_and_comes_back(shaped: Workspace) -> None:
    view = drawn(shaped)
    painted(view, 300, 200)
    assert view.matrix.isVisible() and not view.by_class.isVisible()
    click(view, 1, 2)
    assert not view.matrix.isVisible() and view.examples.isVisible()
    QTest.mouseClick(view._back, Qt.MouseButton.LeftButton)
    assert view.matrix.isVisible() and not view.examples.isVisible()


def test_shares_of_the_true_class_and_of_the_answers(shaped: Workspace) -> None:
    view = drawn(shaped)
    np.testing.assert_allclose(view.matrix.parts()[1], [0, 1 / 3, 2 / 3])
    view.restore({"shares": "of answered"})
    np.testing.assert_allclose(view.matrix.parts()[:, 2], [0, 2 / 3, 1 / 3])
    assert view.state() == {"shares": "of answered"}
