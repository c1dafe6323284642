"""A layer and its drawing are swapped in one undoable step; the drawing is offered beside its node type."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.canvas.editing import editing
from app.canvas.editing.drawn import DRAW, FAST, swap, swap_words
from app.inspector.inspector import InspectorPanel
from app.panels.palette_rows import PaletteRows
from app.workspace.block_library import DRAWN
from app.workspace.workspace import Workspace
from engine.document.graph import Node
from tests.app.look.test_every_kind import project_of


def test_swapping_is_one_step_there_and_one_back(shaped: Workspace, qtbot: QtBot) -> None:
    shaped.document.replace(project_of("masked-letters"), None)
    graph = shaped.document.project.graph
    source = next(link for link in graph.links if graph.nodes[link.source].type == "Embedding")
    name = editing.add(shaped, "SelfAttention", (0.0, 0.0), into=source)
    assert name is not None and swap_words(shaped) == DRAW
    before = repr(shaped.document.project.graph.nodes)
    inspector = InspectorPanel(shaped)
    qtbot.addWidget(inspector)
    shaped.select(())
    shaped.select((name,))
    assert inspector.page.fields.keys() >= {"heads", "causal"}
    assert swap(shaped) and swap_words(shaped) == FAST
    assert "heads" not in inspector.page.fields  # the page is that of a block now
    node = shaped.node(name)
    assert node is not None and node.block and not shaped.errors()
    units = [one.params["units"] for one in _inside(shaped, node.block) if one.type == "Linear"]
    assert len(set(units)) == 1 and len(units) == 4
    assert shaped.document.undo_label == DRAW
    assert swap(shaped) and swap_words(shaped) == DRAW and not shaped.document.project.blocks
    shaped.undo()
    shaped.undo()
    assert repr(shaped.document.project.graph.nodes) == before


def test_what_cannot_be_drawn_is_left(shaped: Workspace) -> None:
    shaped.document.replace(project_of("iris"), None)
    shaped.select(("n2",))
    assert swap_words(shaped) == "" and not swap(shaped)


def test_the_drawing_stands_in_the_palette_below_its_node_type(shaped: Workspace) -> None:
    rows = PaletteRows(shaped, frozenset())
    titles = [rows.index(row).data() for row in range(rows.rowCount())]
    at = titles.index("Attention from parts")
    assert titles[at - 1] == "Self-attention"
    rows.search("from parts")
    assert "Attention from parts" in [rows.index(row).data() for row in range(rows.rowCount())]


def test_a_drawing_is_placed_into_a_wire_with_its_width(shaped: Workspace) -> None:
    shaped.document.replace(project_of("romeo-letters"), None)
    graph = shaped.document.project.graph
    link = next(one for one in graph.links if graph.nodes[one.source].type == "Embedding")
    assert shaped.shapes is not None
    width = shaped.shapes.signature(link.source, link.source_port)
    added = editing.add(shaped, f"{DRAWN}self_attention", (0.0, 0.0), into=link)
    assert added is not None and width is not None and not shaped.errors()
    node = shaped.node(added)
    assert node is not None and swap_words(shaped) == FAST
    assert {one.params["units"] for one in _inside(shaped, node.block) if one.type == "Linear"} == {
        width.shape[-1]
    }


def _inside(workspace: Workspace, block_id: str) -> list[Node]:
    return list(workspace.document.project.block(block_id).graph.nodes.values())
