"""The table says what the book of shapes says, and the time that was measured."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.registry import proposed
from app.look.sizes.layer_table import PROBE, LayerTable
from app.look.sizes.layers_model import COLUMNS, bytes_words, duration_words
from app.workspace.workspace import Workspace
from engine.document.edits import SetPlan
from engine.document.files import load_project
from engine.document.plan import Minimise, Phase, Plan
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot

GALLERY = Path(__file__).parents[4] / "resources" / "gallery"


@pytest.fixture
def view(shaped: Workspace, qtbot: QtBot) -> LayerTable:
    shaped.show(load_project(GALLERY / "mnist-cnn.nloom"), None)
    made = LayerTable(Subject(shaped))
    qtbot.addWidget(made)
    return made


def column(view: LayerTable, title: str) -> list[str]:
    index = next(n for n, one in enumerate(COLUMNS) if one.title == title)
    return [view.model.index(row, index).data() for row in range(view.model.rowCount())]


def test_the_numbers_are_those_of_the_shapes(view: LayerTable, shaped: Workspace) -> None:
    shapes = shaped.shapes
    for row in view.model.rows:
        assert row.parameters == shapes.parameters(row.node_id)
        assert row.multiply_adds == shapes.multiply_adds(row.node_id)
    total = view.model.total
    assert total is not None
    assert (total.parameters, total.multiply_adds) == (shapes.total_parameters, shapes.total_multiply_adds)
    assert column(view, "Output")[1:4] == ["32×26×26", "32×13×13", "64×11×11"]
    assert column(view, "Parameters")[-1] == "34,826"
    conv = view.model.rows[1]
    assert conv.bytes == 4 * 32 * 26 * 26 and conv.trains == "yes"
    assert set(column(view, "Time")) == {""}


def test_times_and_their_shares(view: LayerTable) -> None:
    ids = tuple(row.node_id for row in view.model.rows)
    seconds = np.zeros(len(ids))
    seconds[1], seconds[3] = 0.003, 0.001
    shown(view, {PROBE: snapshot(seconds, nodes=ids, rows=32, device="cpu")})
    assert column(view, "Time")[1] == "3 ms"
    assert column(view, "% time")[1:4] == ["75 %", "", "25 %"]
    assert column(view, "Time")[-1] == "4 ms"
    assert "4 ms for a batch of 32 forward" in view.note
    header, rows = view.table()
    assert header[-1] == "seconds" and rows[1][-1] == pytest.approx(0.003) and rows[-1][0] == "Total"
    blank = view.view.grab
    assert blank is not None
    image = painted(view, 1000, 300).astype(int)
    bar = view.view.visualRect(view.model.index(1, len(COLUMNS) - 1))
    top = view.view.viewport().mapTo(view, bar.topLeft())
    inside = image[top.y() + bar.height() // 2, top.x() + 6]
    assert inside[2] > inside[0] + 25


@pytest.mark.parametrize("height", [110, 300])
def test_columns_on_show_are_whole_at_any_width(view: LayerTable, height: int) -> None:
    ids = tuple(row.node_id for row in view.model.rows)
    shown(view, {PROBE: snapshot(np.linspace(0.001, 0.31, len(ids)), nodes=ids, rows=32, device="cpu")})
    head = view.view.horizontalHeader()
    for width in range(300, 1000, 45):
        painted(view, width, height)
        there = [index for index in range(len(COLUMNS)) if not head.isSectionHidden(index)]
        assert COLUMNS[there[0]].field == "name" and len(there) > 1
        for index in there:
            right = head.sectionViewportPosition(index) + head.sectionSize(index)
            assert right <= view.view.viewport().width()
        for index in there[1:]:
            wanted = max(head.sectionSizeHint(index), view.view.sizeHintForColumn(index))
            assert head.sectionSize(index) >= wanted


def test_any_column_sorts_and_the_sums_stay_below(view: LayerTable) -> None:
    parameters = next(n for n, one in enumerate(COLUMNS) if one.title == "Parameters")
    view.view.horizontalHeader().setSortIndicator(parameters, Qt.SortOrder.DescendingOrder)
    assert column(view, "Layer")[:2] == ["conv2", "classes"]
    assert column(view, "Layer")[-1] == "Total"
    view.view.horizontalHeader().setSortIndicator(0, Qt.SortOrder.AscendingOrder)
    assert column(view, "Layer")[0] == "classes"
    view.view.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    assert column(view, "Layer")[1] == "conv1"


def test_a_click_asks_for_the_node(view: LayerTable, qtbot: QtBot) -> None:
    painted(view, 800, 300)
    cell = view.view.visualRect(view.model.index(1, 0)).center()
    with qtbot.waitSignal(view.node_asked) as asked:
        qtbot.mouseClick(view.view.viewport(), Qt.MouseButton.LeftButton, pos=cell)
    assert asked.args == [view.model.rows[1].node_id]


def test_what_the_plan_leaves_alone_is_frozen(view: LayerTable, shaped: Workspace) -> None:
    plan = Plan(phases=(Phase((Minimise(of=("n8",)),)),))
    assert shaped.apply("Plan", SetPlan(plan))
    trained = dict(zip(column(view, "Layer"), column(view, "Trained"), strict=True))
    assert (trained["classes"], trained["conv1"], trained["pool1"]) == ("yes", "frozen", "")
    assert trained["Total"] == "16,010"


def test_the_inside_of_a_block(shaped: Workspace, qtbot: QtBot) -> None:
    project = load_project(GALLERY / "residual-blocks.nloom")
    shaped.show(project, None)
    block = next(node for node in project.graph.nodes.values() if node.block)
    view = LayerTable(Subject(shaped, block.id))
    qtbot.addWidget(view)
    inside = project.blocks[block.block].graph.nodes
    assert {row.node_id for row in view.model.rows} <= set(inside)
    assert "block_table" in {kind.id for kind in proposed(Subject(shaped, block.id))}
    conv = next(row for row in view.model.rows if row.name == "conv1")
    assert conv.multiply_adds == shaped.shapes.multiply_adds(conv.node_id) > 0


def test_it_is_of_the_whole_model(shaped: Workspace) -> None:
    assert "layer_table" not in {kind.id for kind in proposed(Subject(shaped))}
    add_iris(shaped)
    assert "layer_table" in {kind.id for kind in proposed(Subject(shaped))}
    assert "block_table" not in {kind.id for kind in proposed(Subject(shaped, "n2"))}


def test_words_for_sizes_and_times() -> None:
    assert [bytes_words(size) for size in (40, 86_528, 3_000_000, 2 * 10**9)] == [
        "40 B",
        "86.5 kB",
        "3 MB",
        "2 GB",
    ]
    assert [duration_words(time) for time in (2e-6, 0.00124, 2.5)] == ["2 µs", "1.24 ms", "2.5 s"]
