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
    picture = ConfusionMatrix(Subject(workspace, "n3"))
    chances = np.repeat((1 - SURE)[:, None] / 2, 3, axis=1)
    chances[np.arange(6), ANSWERED] = SURE
    facts = {"right": RIGHT, "classes": NAMES, "rows": ROWS, "total": 60, "kind": "classes"}
    shown(picture, {Probe("n3", "answers"): snapshot(chances, **facts)})
    return picture


def click(picture: ConfusionMatrix, row: int, column: int) -> None:
    at = picture.matrix.rect_of(row, column).center()
    QTest.mouseClick(picture.matrix, Qt.MouseButton.LeftButton, pos=at)


def test_counts_and_scores(shaped: Workspace) -> None:
    picture = drawn(shaped)
    assert picture.matrix.matrix.tolist() == [[2, 0, 0], [0, 1, 2], [0, 0, 1]]
    assert picture.note == "66.7 % right · 6 of 60 held out examples"
    header, rows = picture.table()
    assert header == ("true class", *NAMES, "precision", "recall", "F1")
    assert rows[1][:4] == ("versicolor", 0, 1, 2) and rows[1][4] == 1.0 and round(rows[1][5], 3) == 0.333


def test_a_click_shows_the_surest_examples_of_the_cell(shaped: Workspace) -> None:
    picture = drawn(shaped)
    painted(picture, 500, 260)
    click(picture, 1, 2)
    assert picture.matrix.chosen == (1, 2)
    wanted = Probe("n3", "examples", (40, 30))  # the surest first
    assert wanted in picture.probes()
    sheet = snapshot(np.zeros((2, 4)), rows=(40, 30), names=("a", "b", "c", "d"))
    shown(picture, {wanted: sheet})
    assert [example.lines for example in picture.examples.examples] == [
        ("virginica 95 %", "example 41"),
        ("virginica 60 %", "example 31"),
    ]
    assert not any(example.right for example in picture.examples.examples)
    assert picture.examples.isVisible() and not picture.by_class.isVisible()
    click(picture, 1, 2)
    assert picture.matrix.chosen is None and picture.by_class.isVisible()
    assert len(picture.probes()) == 1


def test_an_empty_cell_says_so(shaped: Workspace) -> None:
    picture = drawn(shaped)
    painted(picture, 500, 260)
    click(picture, 0, 2)
    assert picture.probes() == frozenset({Probe("n3", "answers")})
    picture._look_up()
    assert picture.matrix.chosen == (0, 2)


def test_a_narrow_picture_changes_places_and_comes_back(shaped: Workspace) -> None:
    picture = drawn(shaped)
    painted(picture, 300, 200)
    assert picture.matrix.isVisible() and not picture.by_class.isVisible()
    click(picture, 1, 2)
    assert not picture.matrix.isVisible() and picture.examples.isVisible()
    QTest.mouseClick(picture._back, Qt.MouseButton.LeftButton)
    assert picture.matrix.isVisible() and not picture.examples.isVisible()


def test_shares_of_the_true_class_and_of_the_answers(shaped: Workspace) -> None:
    picture = drawn(shaped)
    np.testing.assert_allclose(picture.matrix.parts()[1], [0, 1 / 3, 2 / 3])
    picture.restore({"shares": "of answered"})
    np.testing.assert_allclose(picture.matrix.parts()[:, 2], [0, 2 / 3, 1 / 3])
    assert picture.state() == {"shares": "of answered"}
