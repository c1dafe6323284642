"""(2 × 3 + 1)² step by step, forward and backward."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.layers.computation import PROBE, Computation
from app.look.layers.scalar_graph import LINE
from app.look.registry import proposed
from app.theme import SMALL, current_theme
from app.workspace.workspace import Workspace
from engine.document.edits import SetParam
from engine.feed.feed import Snapshot
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot


def numbers(x: float = 2.0) -> Snapshot:
    product = 3 * x
    total = product + 1
    values = [x, 3.0, product, 1.0, total, total**2]
    slopes = [6 * total, 2 * total * x, 2 * total, 2 * total, 2 * total, 1.0]
    return snapshot(
        np.column_stack([values, slopes]),
        labels=("x", "w", "×", "b", "+", "x²"),
        roles=("input", "weight", "", "weight", "", ""),
        nodes=("n1", "n2", "n2", "n2", "n2", "n3"),
        parents=((), (), ((0, 3.0), (1, x)), (), ((2, 1.0), (3, 1.0)), ((4, 2 * total),)),
        example=0,
        split="validation",
    )


@pytest.fixture
def view(shaped: Workspace, qtbot: QtBot) -> Computation:
    add_iris(shaped)
    made = Computation(Subject(shaped))
    qtbot.addWidget(made)
    shown(made, {PROBE: numbers()})
    return made


def test_all_derivatives_are_there_at_the_end(view: Computation) -> None:
    graph = view.graph
    assert (graph.step, graph.steps) == (6, 6)
    np.testing.assert_allclose(graph.derivatives(), numbers().array[:, 1])
    header, rows = view.table()
    assert header == ("number", "made by", "value", "derivative") and rows[0] == (1, "x", 2.0, 42.0)
    assert "backward 3 of 3" in view.note


def test_steps_forward_and_backward(view: Computation) -> None:
    graph = view.graph
    view.first.click()
    assert graph.step == 0 and graph.current == -1
    assert [graph.known(index) for index in range(6)] == [True, True, False, True, False, False]
    view.next.click()
    assert graph.sentence() == "Forward: x × w = 6"
    assert graph.known(2) and not graph.known(4)
    assert graph.derivatives() == [None] * 6
    view.next.click()
    assert graph.sentence() == "Forward: 6 + b = 7"
    view.next.click()
    assert graph.sentence() == "Forward: x² of 7 = 49"
    view.next.click()
    assert graph.derivatives() == [None, None, None, None, 14.0, 1.0]
    assert graph.sentence() == "Backward through x²: 14 × 1 to 7"
    view.next.click()
    assert graph.derivatives() == [None, None, 14.0, 14.0, 14.0, 1.0]
    view.back.click()
    assert graph.step == 4
    view.last.click()
    assert graph.step == 6 and not view.next.isEnabled() and view.back.isEnabled()


def test_keys_step_and_new_numbers_leave_the_step(view: Computation, qtbot: QtBot) -> None:
    painted(view, 560, 300)
    qtbot.keyClick(view.graph, Qt.Key.Key_Left)
    assert view.graph.step == 5
    shown(view, {PROBE: numbers(5.0)})
    assert view.graph.step == 5
    assert view.graph.nodes[2].value == 15.0
    qtbot.keyClick(view.graph, Qt.Key.Key_Right)
    assert view.graph.step == 6


def test_boxes_stand_in_the_order_of_computing_and_do_not_overlap(view: Computation) -> None:
    for size in ((300, 200), (1200, 700)):
        painted(view, *size)
        boxes = [view.graph.box(index) for index in range(6)]
        for index, node in enumerate(view.graph.nodes):
            assert all(boxes[parent].right() < boxes[index].left() for parent, _ in node.parents)
        assert not any(one.intersects(other) for n, one in enumerate(boxes) for other in boxes[n + 1 :])
        whole = view.graph.rect()
        assert all(box.left() >= 0 and box.top() >= 0 for box in boxes)
        assert all(box.right() <= whole.width() and box.bottom() <= whole.height() for box in boxes)
        # Two rows of text and a number of seven figures fit; what then needs more room is scrolled.
        figures = QFontMetricsF(current_theme().mono(SMALL)).horizontalAdvance("∂-0.00")
        assert all(box.width() >= figures and box.height() >= 2 * LINE for box in boxes)
    assert whole.width() <= size[0] and whole.height() <= size[1]


def test_a_small_card_keeps_the_step_in_sight(view: Computation) -> None:
    painted(view, 200, 120)
    for step in range(view.graph.steps + 1):
        view.graph.go(step)
        if view.graph.current >= 0:
            middle = view.graph.box(view.graph.current).center().toPoint()
            assert view.graph.visibleRegion().contains(middle)


def test_the_pointer_tells_value_and_derivatives(view: Computation, qtbot: QtBot) -> None:
    painted(view, 560, 300)
    middle = view.graph.box(2).center().toPoint()
    assert view.graph.describe(middle).split("\n") == [
        "×",
        "value 6",
        "derivative of the result by it 14",
        "derivative by x: 3",
        "derivative by w: 2",
    ]
    with qtbot.waitSignal(view.node_asked) as asked:
        qtbot.mouseClick(view.graph, Qt.MouseButton.LeftButton, pos=middle)
    assert asked.args == ["n2"]


def test_the_step_is_kept_with_the_layout(view: Computation, qtbot: QtBot) -> None:
    view.graph.go(2)
    other = Computation(view.subject)
    qtbot.addWidget(other)
    other.restore(view.state())
    shown(other, {PROBE: numbers()})
    assert other.graph.step == 2


def test_it_is_for_the_smallest_nets(shaped: Workspace) -> None:
    add_iris(shaped)
    assert "computation" in {kind.id for kind in proposed(Subject(shaped))}
    assert shaped.apply("Wider", SetParam("n2", "units", 100))
    assert "computation" not in {kind.id for kind in proposed(Subject(shaped))}
