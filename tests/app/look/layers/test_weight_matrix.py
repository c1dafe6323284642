"""Each weight is a cell of its colour, and has its name."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.layers.weight_matrix import WeightMatrix
from app.look.layers.weight_names import captions, cell_words
from app.look.registry import proposed
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe, Snapshot
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot

FIRST = Probe("n2", "weight_matrix")


def matrix(values: object, **facts: object) -> Snapshot:
    shape = np.asarray(values).shape
    known = {"name": "weight", "names": ("weight", "bias"), "shape": shape, "layer": "Linear"}
    more = {"block": (1, 1), "size": 5.0, "first_size": None, "since": None}
    return snapshot(np.asarray(values, np.float32), **{**known, **more, **facts})


@pytest.fixture
def view(shaped: Workspace, qtbot: QtBot) -> WeightMatrix:
    add_iris(shaped)
    made = WeightMatrix(Subject(shaped, "n2"))
    qtbot.addWidget(made)
    return made


def test_cells_are_red_above_zero_and_blue_below(view: WeightMatrix) -> None:
    shown(view, {FIRST: matrix([[1.0, -1.0], [0.0, 0.5]])})
    image = painted(view).astype(int)
    area = view.matrix.area

    def cell(row: int, column: int) -> np.ndarray:
        x = area.left() + (column + 0.2) * area.width() / 2
        y = area.top() + (row + 0.2) * area.height() / 2
        return image[round(y), round(x)]

    assert (cell(0, 0) == (0x67, 0x00, 0x1F)).all()
    assert (cell(0, 1) == (0x05, 0x30, 0x61)).all()
    assert cell(1, 0).min() > 240
    assert cell(1, 1)[0] > cell(1, 1)[2] + 60
    assert view.matrix.scale == (-1.0, 1.0)


def test_the_weight_under_the_pointer_has_its_name_and_value(view: WeightMatrix) -> None:
    shown(view, {FIRST: matrix([[1.0, -1.0], [0.0, 0.5]])})
    painted(view)
    area = view.matrix.area
    at = QPoint(round(area.left() + 0.75 * area.width()), round(area.top() + 0.75 * area.height()))
    assert view.matrix.describe(at) == "unit 2, input 2\n0.5"
    assert view.matrix.describe(QPoint(-5, 5)) == ""
    assert view.table() == (
        ("row", "column", "weight"),
        [(1, 1, 1.0), (1, 2, -1.0), (2, 1, 0.0), (2, 2, 0.5)],
    )


def test_the_parameter_and_the_change_are_asked_for(view: WeightMatrix, qtbot: QtBot) -> None:
    assert view.probes() == {FIRST}
    shown(view, {FIRST: matrix([[1.0]])})
    view.parameter.setCurrentIndex(1)
    with qtbot.waitSignal(view.needs_changed):
        view.parameter.activated.emit(1)
    assert view.probes() == {Probe("n2", "weight_matrix", ("bias",))}
    view.shown.setCurrentIndex(1)
    view.shown.activated.emit(1)
    changed = Probe("n2", "weight_matrix", ("bias", "change"))
    assert view.probes() == {changed}
    shown(view, {changed: matrix([[0.1]], name="bias", since=0, first_size=2.0, size=0.5)})
    assert "moved by 0.5, 25% of the first length" in view.note
    other = WeightMatrix(view.subject)
    qtbot.addWidget(other)
    other.restore(view.state())
    assert other.probes() == {changed}


def test_cells_of_blocks_say_so(view: WeightMatrix) -> None:
    shown(view, {FIRST: matrix([[1.0, 2.0]], block=(3, 2), shape=(3, 4))})
    assert "a cell is the mean of 3 × 2" in view.note
    painted(view)
    area = view.matrix.area
    words = view.matrix.describe(QPoint(round(area.right() - 2), round(area.center().y())))
    assert words.startswith("unit 1, input 3\nmean of 3 × 2")


@pytest.mark.parametrize(
    ("layer", "name", "shape", "cell", "words"),
    [
        ("Linear", "weight", (3, 4), (2, 1), "unit 3, input 2"),
        ("Linear", "bias", (3,), (0, 2), "unit 3"),
        ("Conv2d", "weight", (8, 2, 3, 3), (7, 13), "filter 8, channel 2, row 2, column 2"),
        ("LSTM", "weight_hh_l0", (40, 10), (12, 3), "forget gate 3, state 4"),
        ("GRU", "bias_ih_l0", (30,), (0, 29), "candidate 10"),
        ("MultiheadAttention", "in_proj_weight", (12, 4), (9, 0), "value 2, input 1"),
        ("Embedding", "weight", (50, 8), (4, 7), "entry 5, dimension 8"),
    ],
)
def test_names_of_weights(
    layer: str, name: str, shape: tuple[int, ...], cell: tuple[int, int], words: str
) -> None:
    assert cell_words(layer, name, shape, *cell) == words
    assert str(shape[0]) in "".join(captions(layer, name, shape))


def test_it_is_proposed_for_layers_with_weights(shaped: Workspace) -> None:
    add_iris(shaped)
    names = {node: {kind.id for kind in proposed(Subject(shaped, node))} for node in ("n1", "n2", "n3")}
    assert "weight_matrix" in names["n2"]
    assert "weight_matrix" not in names["n1"] | names["n3"]
