"""What the search offers: the user's own blocks, and inside a block its ports but no data or losses."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.canvas.view import GraphView
from app.workspace import block_library
from app.workspace.workspace import Workspace
from engine.document.edits import Connect
from engine.document.graph import BLOCK_INPUT, BLOCK_OUTPUT, Link
from tests.app.canvas.conftest import Hands


@pytest.fixture
def grouped(view: GraphView, workspace: Workspace, chain: None) -> str:
    """n2 and n3 as a block between n1 and n4; returns the id of its instance."""
    workspace.apply("Connect", Connect(Link("n3", "output", "n4", "x")))
    workspace.select(("n2", "n3"))
    view.compose.group()
    view.naming.finish(keep=False)
    return workspace.selection[0]


def _offered(view: GraphView) -> list[str]:
    rows = view.popup.list
    return [str(rows.item(row).data(Qt.ItemDataRole.UserRole)) for row in range(rows.count())]


def _types(view: GraphView) -> list[str]:
    """What is offered and is a node type: not the blocks that draw one or are ready-made."""
    blocks = (block_library.DRAWN, block_library.READY)
    return [one for one in _offered(view) if not one.startswith(blocks)]


@pytest.mark.parametrize("selected", [False, True])
def test_tab_finds_a_block_of_the_users_own(
    view: GraphView, workspace: Workspace, hands: Hands, grouped: str, selected: bool
) -> None:
    path = block_library.keep(workspace.places.blocks, workspace.document.project, grouped)
    workspace.select(("n4",) if selected else ())
    before = set(workspace.graph.nodes)
    hands.key(Qt.Key.Key_Tab)
    assert f"{block_library.KEPT}{path.stem}" in _offered(view)
    QTest.keyClicks(view.popup.field, path.stem)
    assert _offered(view)[-1] == f"{block_library.KEPT}{path.stem}"
    view.popup.list.setCurrentRow(len(_offered(view)) - 1)
    assert "your own" in view.popup.about.text()
    QTest.keyClick(view.popup.field, Qt.Key.Key_Return)
    (added,) = set(workspace.graph.nodes) - before
    assert workspace.node(added).block and not view.popup.isVisible()


def test_inside_a_block_its_ports_are_offered_and_no_data_losses_or_metrics(
    view: GraphView, workspace: Workspace, hands: Hands, grouped: str
) -> None:
    workspace.select(())
    hands.key(Qt.Key.Key_Tab)
    outside = _offered(view)
    QTest.keyClick(view.popup.field, Qt.Key.Key_Escape)
    assert {"Digits", "CrossEntropy", "Accuracy"} <= set(outside)
    assert not {BLOCK_INPUT, BLOCK_OUTPUT} & set(outside)
    workspace.enter(workspace.node(grouped).block)
    workspace.select(())
    before = set(workspace.graph.nodes)
    hands.key(Qt.Key.Key_Tab)
    kinds = {workspace.catalogue.get(one).kind for one in _types(view)}
    assert {BLOCK_INPUT, BLOCK_OUTPUT, "Linear"} <= set(_offered(view))
    assert not kinds & {"data", "loss", "metric"}
    QTest.keyClicks(view.popup.field, "block output")
    QTest.keyClick(view.popup.field, Qt.Key.Key_Return)
    (added,) = set(workspace.graph.nodes) - before
    assert workspace.node(added).type == BLOCK_OUTPUT
    workspace.enter("")
    assert len(view.graph_scene.node_items[grouped].face.layout.outputs) == 2


def test_inside_a_block_replacing_and_a_wire_into_space_offer_no_data_losses_or_metrics(
    view: GraphView, workspace: Workspace, hands: Hands, grouped: str
) -> None:
    workspace.enter(workspace.node(grouped).block)
    workspace.select(("n2",))
    view.compose.offer_replacement()
    assert "ReLU" in _offered(view)
    offered = _offered(view)
    QTest.keyClick(view.popup.field, Qt.Key.Key_Escape)
    place = view.port_point("n2", "output", "out")
    hands.drag(place, place + QPoint(20, 180))
    assert {"Linear", BLOCK_OUTPUT} <= set(_offered(view))
    for type_id in [*offered, *_offered(view)]:
        assert workspace.catalogue.get(type_id).kind not in ("data", "loss", "metric")


def test_on_an_empty_canvas_data_come_first_and_later_common_layers(
    view: GraphView, workspace: Workspace, hands: Hands
) -> None:
    types = {found.type_id: found for found in workspace.catalogue.types()}
    hands.key(Qt.Key.Key_Tab)
    first, *_ = offered = _offered(view)
    assert types[first].family == "data sets"
    kinds = [types[one].kind == "data" for one in _types(view)]
    assert kinds == sorted(kinds, reverse=True) and offered.index("TableFile") < offered.index("Linear")
    view.popup.list.setCurrentRow(offered.index("Iris"))
    QTest.keyClick(view.popup.field, Qt.Key.Key_Return)
    workspace.select(())
    hands.key(Qt.Key.Key_Tab)
    recent, second, *_ = _offered(view)
    assert recent == "Iris" and types[second].common
