"""Ready-made blocks: each can be placed and is sound, and networks have the counts that were published."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.canvas.editing import editing
from app.panels.palette import PalettePanel
from app.panels.palette_rows import READY_MADE
from app.workspace.block_library import read_ready, ready
from app.workspace.workspace import Workspace
from engine.document.clipboard import paste
from engine.document.document import Document
from engine.document.edits import Connect
from engine.document.graph import Link
from engine.shapes.shapes import check
from tests.engine.sketches import Sketch, catalogue

DIGIT, PHOTO = (1, 28, 28), (3, 224, 224)
SHAPES = {
    **dict.fromkeys(("Three convolutions", "LeNet-5"), DIGIT),
    **dict.fromkeys(("AlexNet", "VGG-16", "ResNet-18", "SE-ResNet-50", "DenseNet-121"), PHOTO),
    "Inverted residual": (16, 28, 28),
}
PUBLISHED = {
    "LeNet-5": 61_706,
    "AlexNet": 61_100_840,
    "VGG-16": 138_357_544,
    "ResNet-18": 11_689_512,
    "SE-ResNet-50": 28_088_024,
    "DenseNet-121": 7_978_856,
}


@pytest.mark.parametrize("name", [one.name for one in ready()])
def test_it_is_sound_and_as_large_as_was_published(name: str) -> None:
    shape = SHAPES.get(name, (32, 28, 28))
    sketch = Sketch()
    sketch.add("Input", "image", {"shape": shape})
    document = Document(sketch.project)
    (instance,) = paste(document, read_ready(name), (300.0, 0.0))
    block = document.project.block(document.project.node(instance).block)
    ports = {one.type: one.id for one in block.graph.nodes.values()}
    Connect(Link("n1", "output", instance, ports["BlockInput"])).apply(document.project)
    book = check(document.project, catalogue())
    assert block.name == name and not book.problems
    assert book.total_parameters == PUBLISHED.get(name, book.total_parameters)
    found = book.signature(instance, ports["BlockOutput"])
    assert found is not None
    if shape in (DIGIT, PHOTO):
        assert found.shape == ((10,) if shape == DIGIT else (1000,))
    else:
        assert len(found.shape) == 3


def test_the_palette_offers_them_and_one_is_placed_whole(workspace: Workspace, qtbot: QtBot) -> None:
    panel = PalettePanel(workspace)
    qtbot.addWidget(panel)
    shown = [str(panel.model.index(row).data()) for row in range(panel.model.rowCount())]
    at = shown.index(READY_MADE) + 1
    names = [one.name for one in ready()]
    assert shown[at : at + len(names)] == names and {*PUBLISHED} <= {*names}
    for one in (ready()[0], ready()[5]):
        placed = editing.add(workspace, one.type_id, (0.0, 0.0))
        assert placed is not None and workspace.selection == (placed,)
        node = workspace.node(placed)
        assert node is not None and workspace.document.project.block(node.block).name == one.name
        workspace.undo()
        assert not workspace.graph.nodes
