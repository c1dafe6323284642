"""Layers × measures: each number in its cell, coloured within its column; a click goes to the node."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from app.charts.colourmaps import VIRIDIS
from app.look.base import Subject
from app.look.layers.layer_measures import ACTIVITY, NORMS, LayerMeasures
from app.look.layers.measures import ROW, Measure, Measures
from app.look.registry import proposed
from app.workspace.workspace import Workspace
from engine.feed.feed import Snapshot
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot

NAN = float("nan")


def norms(*rows: tuple[float, float, float], nodes: tuple[str, ...] = ("n2",)) -> Snapshot:
    return snapshot(np.array(rows), nodes=nodes, columns=("gradient", "weight", "update"))


def activity(*rows: tuple[float, ...], nodes: tuple[str, ...] = ("n2",)) -> Snapshot:
    return snapshot(np.array(rows), nodes=nodes, rows=128)


@pytest.fixture
def view(shaped: Workspace, qtbot: QtBot) -> LayerMeasures:
    add_iris(shaped)
    made = LayerMeasures(Subject(shaped))
    qtbot.addWidget(made)
    return made


def test_cells_hold_the_numbers_of_their_layer(view: LayerMeasures) -> None:
    shown(view, {NORMS: norms((0.5, 2.0, 0.002)), ACTIVITY: activity((0.1, 1.5, 0.25, NAN))})
    cells = view.table_shown.cells
    assert cells.names == ("classes",)
    assert [measure.title for measure in cells.measures] == ["grad.", "weights", "log upd.", "std", "dead"]
    np.testing.assert_allclose(cells.values, [[0.5, 2.0, -3.0, 1.5, 0.25]])
    words = [measure.word(value) for measure, value in zip(cells.measures, cells.values[0], strict=True)]
    assert words == ["0.5", "2", "-3.0", "1.5", "25 %"]
    header, rows = view.table()
    assert header[0] == "layer"
    assert rows[0][:5] == ("classes", 0.5, 2.0, pytest.approx(-3.0), 1.5)


def test_layers_come_in_the_order_of_the_computation(view: LayerMeasures) -> None:
    layers = activity((0, 1, 0, NAN), (0, 1, 0, 0.5), nodes=("n2", "n3"))
    shown(view, {ACTIVITY: layers, NORMS: norms((1, 1, 1), (2, 2, 2), nodes=("n3", "n2"))})
    assert view._nodes == ("n2", "n3")
    assert view.table_shown.cells.values[:, 0].tolist() == [2.0, 1.0]
    assert view.table_shown.cells.measures[-1].title == "satur."


def test_before_the_first_gradients_there_is_the_activity(view: LayerMeasures) -> None:
    shown(view, {ACTIVITY: activity((0.1, 1.5, 0.25, NAN))})
    values = view.table_shown.cells.values[0]
    assert np.isnan(values[:3]).all()
    painted(view)


def test_colours_follow_the_exponents(qtbot: QtBot) -> None:
    table = Measures()
    qtbot.addWidget(table)
    values = np.array([[1e-6, 0.0], [1e-3, 0.5], [1.0, 1.0]])
    table.show_values(
        ("a", "b", "c"), (Measure("g", "g", log=True), Measure("d", "d", fraction=True)), values
    )
    image = painted(table, 300, 120)
    top = table.cells.mapTo(table, table.cells.rect().topLeft()).y()

    def colour(row: int, column: int) -> tuple[int, ...]:
        box = table.cells.cell(row, column)
        return tuple(image[top + int(box.top()) + 2, int(box.left()) + 2].tolist())

    def viridis(level: int) -> tuple[int, ...]:
        return QColor.fromRgb(int(VIRIDIS[level])).getRgb()[:3]

    for row, level in enumerate((0, 127, 255)):
        for column in (0, 1):
            assert np.abs(np.subtract(colour(row, column), viridis(level))).max() <= 2


def test_a_click_asks_for_the_node(view: LayerMeasures, qtbot: QtBot) -> None:
    shown(view, {ACTIVITY: activity((0, 1, 0, NAN), (0, 1, 0, NAN), nodes=("n2", "n3"))})
    painted(view)
    cells = view.table_shown.cells
    with qtbot.waitSignal(view.node_asked) as asked:
        qtbot.mouseClick(cells, Qt.MouseButton.LeftButton, pos=cells.cell(1, 2).center().toPoint())
    assert asked.args == ["n3"]
    with qtbot.waitSignal(view.node_asked) as asked:
        qtbot.keyClick(cells, Qt.Key.Key_Up)
    assert asked.args == ["n2"]


def test_the_selected_node_is_marked(view: LayerMeasures, shaped: Workspace) -> None:
    shown(view, {ACTIVITY: activity((0, 1, 0, NAN), (0, 1, 0, NAN), nodes=("n2", "n3"))})
    shaped.select(["n3"])
    assert view.table_shown.cells.chosen == 1
    shaped.select([])
    assert view.table_shown.cells.chosen == -1


def test_three_hundred_layers_paint_only_what_is_seen(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """C-16: the table of a 300-layer model."""
    table = Measures()
    qtbot.addWidget(table)
    names = [f"layer {number}" for number in range(300)]
    measures = (Measure("grad.", "g", log=True), Measure("dead", "d", fraction=True))
    drawn: list[int] = []
    paint = table.cells._paint_cell
    monkeypatch.setattr(table.cells, "_paint_cell", lambda *args: (drawn.append(args[2]), paint(*args)))
    table.show_values(names, measures, np.random.default_rng(0).uniform(size=(300, 2)))
    painted(table, 300, 200)
    assert table.cells.height() == 300 * ROW
    assert max(drawn) < 200 // ROW + 2
    drawn.clear()
    table.show_chosen(250)
    painted(table, 300, 200)
    assert 250 in drawn
    assert len(set(drawn)) < 30


def test_it_is_of_the_whole_model(view: LayerMeasures, shaped: Workspace, workspace: Workspace) -> None:
    assert "layer-measures" in {kind.id for kind in proposed(Subject(shaped))}
    assert "layer-measures" not in {kind.id for kind in proposed(Subject(shaped, "n2"))}
