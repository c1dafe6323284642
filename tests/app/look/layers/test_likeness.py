"""Layers against layers, with their names."""

import numpy as np
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.layers.likeness import PROBE, Likeness
from app.look.registry import proposed
from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes
from engine.document.graph import Node
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot


def test_cells_are_coloured_from_0_to_1_and_a_click_goes_to_the_layer(
    shaped: Workspace, qtbot: QtBot
) -> None:
    add_iris(shaped)
    view = Likeness(Subject(shaped))
    qtbot.addWidget(view)
    values = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    shown(view, {PROBE: snapshot(values, nodes=("n1", "n2"), rows=200, split="validation")})
    image = painted(view)
    area = view.matrix.area

    def place(row: int, column: int) -> QPoint:
        return QPoint(
            round(area.left() + (column + 0.15) * area.width() / 2),
            round(area.top() + (row + 0.15) * area.height() / 2),
        )

    def colour(at: QPoint) -> tuple[int, ...]:
        return tuple(image[at.y(), at.x()].tolist())

    assert colour(place(0, 0)) == (0xFD, 0xE7, 0x25)
    assert colour(place(0, 1)) == (0x44, 0x01, 0x54)
    assert view.matrix.describe(place(1, 0)) == "classes and iris\nlikeness 0.000"
    with qtbot.waitSignal(view.node_asked) as asked:
        qtbot.mouseClick(view.matrix, Qt.MouseButton.LeftButton, pos=place(1, 0))
    assert asked.args == ["n2"]
    assert view.table() == (("layer", "iris", "classes"), [("iris", 1.0, 0.0), ("classes", 0.0, 1.0)])


def test_it_needs_two_layers(shaped: Workspace) -> None:
    add_iris(shaped)
    assert "likeness" not in {kind.id for kind in proposed(Subject(shaped))}
    assert shaped.apply("Add", AddNodes((Node("n9", "Linear", "more", {"units": 2}),), ()))
    assert "likeness" in {kind.id for kind in proposed(Subject(shaped))}
