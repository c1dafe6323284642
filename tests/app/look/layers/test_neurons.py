"""Circles and lines of a net whose numbers are known."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.layers.neurons import PROBE, Neurons
from app.look.registry import proposed
from app.workspace.workspace import Workspace
from engine.document.edits import SetParam
from engine.feed.feed import Snapshot
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot


def net(weights: list[list[float]]) -> Snapshot:
    matrix = np.array(weights, np.float32)
    inputs = {"node": "n1", "from": -1, "values": np.array([1.0, -1.0]), "weights": None, "biases": None}
    outputs = {
        "node": "n2",
        "from": 0,
        "values": np.array([2.0, 0.0, -2.0]),
        "weights": matrix,
        "biases": np.array([0.0, 0.0, -4.0]),
    }
    return snapshot(matrix.reshape(-1), columns=(inputs, outputs), example=4, split="validation")


@pytest.fixture
def picture(shaped: Workspace, qtbot: QtBot) -> Neurons:
    add_iris(shaped)
    made = Neurons(Subject(shaped))
    qtbot.addWidget(made)
    shown(made, {PROBE: net([[4.0, 0.0], [0.0, -3.0], [0.01, 2.0]])})
    return made


def test_larger_weights_are_thicker_and_signs_have_their_colour(picture: Neurons) -> None:
    image = painted(picture, 380, 260).astype(int)
    view = picture.net
    assert view.width_of(4.0) > view.width_of(-3.0) > view.width_of(2.0) > 0 == view.width_of(0.01)

    def middle(unit: int, source: int) -> np.ndarray:
        begin, end = view.place(0, source), view.place(1, unit)
        fraction = 0.3
        x, y = begin.x() + fraction * (end.x() - begin.x()), begin.y() + fraction * (end.y() - begin.y())
        return image[round(y), round(x)]

    assert middle(0, 0)[0] > middle(0, 0)[2] + 60
    assert middle(1, 1)[2] > middle(1, 1)[0] + 40
    unit = [image[round(view.place(1, n).y()) - 9, round(view.place(1, n).x())] for n in range(3)]
    assert unit[0][0] > unit[0][2] and unit[2][2] > unit[2][0] and unit[1].min() > 230


def test_the_pointer_tells_the_number(picture: Neurons, qtbot: QtBot) -> None:
    painted(picture, 380, 260)
    view = picture.net
    qtbot.mouseMove(view, QPoint(1, 1))
    qtbot.mouseMove(view, view.place(1, 2).toPoint())
    assert view._words() == "classes virginica\nvalue -2 · bias -4"
    begin, end = view.place(0, 0), view.place(1, 0)
    at = begin + 0.5 * (end - begin)
    qtbot.mouseMove(view, at.toPoint())
    assert view._words() == "iris 1 → classes setosa\nweight 4 × 1 = 4"
    qtbot.mouseMove(view, QPoint(1, 1))
    assert view._words() == ""


def test_a_click_asks_for_the_layer(picture: Neurons, qtbot: QtBot) -> None:
    painted(picture, 380, 260)
    at = picture.net.place(1, 1).toPoint()
    with qtbot.waitSignal(picture.node_asked) as asked:
        qtbot.mouseClick(picture.net, Qt.MouseButton.LeftButton, pos=at)
    assert asked.args == ["n2"]


def test_the_numbers_for_a_file(picture: Neurons) -> None:
    assert picture.note.startswith("validation example 5")
    header, rows = picture.table()
    assert header == ("from", "unit", "to", "unit", "weight")
    assert rows[0] == ("iris", 1, "classes", 1, 4.0)
    assert rows[-1] == ("bias", "", "classes", 3, -4.0)


def test_it_is_for_small_dense_nets(shaped: Workspace) -> None:
    add_iris(shaped)
    assert "neurons" in {kind.id for kind in proposed(Subject(shaped))}
    assert shaped.apply("Wider", SetParam("n2", "units", 300))
    assert "neurons" not in {kind.id for kind in proposed(Subject(shaped))}


def test_layers_as_far_from_the_inputs_stand_one_above_the_other(picture: Neurons) -> None:
    first = net([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    inputs, outputs = first.extra["columns"]
    shown(
        picture, {PROBE: snapshot([1.0], columns=(inputs, outputs, outputs), example=0, split="validation")}
    )
    painted(picture, 380, 260)
    view = picture.net
    assert view.place(1, 0).x() == view.place(2, 0).x() > view.place(0, 0).x()
    rows = [view.place(column, unit).y() for column in (1, 2) for unit in range(3)]
    assert rows == sorted(rows)
    assert rows[3] - rows[2] > 1.5 * (rows[1] - rows[0])
