"""From afar all is drawn at once, and looks as if each item had drawn itself; panning moves what is drawn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtGui import QImage, QPaintEvent
from PySide6.QtWidgets import QApplication, QGraphicsView

from app.canvas.view import GraphView
from app.workspace.workspace import Workspace
from engine.document.dressing import Frame
from engine.document.edits import AddFrame, AddNodes, SetMuted
from engine.document.graph import Link, Node

WIDE = 12


@pytest.fixture
def many(view: GraphView, workspace: Workspace) -> GraphView:
    """Rows of linked layers, one muted, one of an unknown type, some in a frame."""
    nodes, links = [], []
    for index in range(4 * WIDE):
        row, column = divmod(index, WIDE)
        kind = "Nothing" if index == 5 else "Linear" if index % 2 else "ReLU"
        nodes.append(Node(f"n{index + 1}", kind, "", {}, (column * 220.0, row * 130.0)))
        if column:
            links.append(Link(f"n{index}", "output", f"n{index + 1}", "x"))
    assert workspace.apply("Add", AddNodes(tuple(nodes), tuple(links)))
    assert workspace.apply("Mute", SetMuted(frozenset({"n3"}), True))
    assert workspace.apply("Frame", AddFrame(Frame("f1", "first", members=frozenset({"n1", "n2"}))))
    workspace.select(("n8", "n9"))
    view.graph_scene.node_items["n20"].show_dimmed(True)
    view.graph_scene.restyle()
    view.fit()
    return view


def pixels(image: QImage) -> NDArray[np.int16]:
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows.astype(np.int16)


def on_screen(view: GraphView) -> NDArray[np.int16]:
    """What really stands on the screen, rather than what a new painting would be."""
    QApplication.processEvents()
    window = view.window()
    return pixels(window.screen().grabWindow(window.winId()).toImage())


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[float, int]]]:
    """The zoom and the painted area of each repaint."""
    seen: list[tuple[float, int]] = []
    before = GraphView.paintEvent

    def paint(self: GraphView, event: QPaintEvent) -> None:
        seen.append((self.navigation.zoom, sum(r.width() * r.height() for r in event.region())))
        before(self, event)

    monkeypatch.setattr(GraphView, "paintEvent", paint)
    yield seen


@pytest.mark.parametrize("zoom", [0.08, 0.15, 0.21])
def test_from_afar_it_looks_as_if_each_item_drew_itself(
    many: GraphView, zoom: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    many.navigation.set_zoom(zoom)
    assert zoom < many.graph_scene.detail.plates_below
    together = on_screen(many)

    with monkeypatch.context() as alone:
        alone.setattr(GraphView, "paintEvent", lambda self, event: QGraphicsView.paintEvent(self, event))
        many.viewport().update()
        apart = on_screen(many)
    assert together.std() > 3  # there is something to see
    # Lines of two colours that cross may lie in another order.
    assert ((together != apart).mean()) < 0.0005


def test_what_moves_from_afar_leaves_nothing_behind(many: GraphView) -> None:
    many.navigation.set_zoom(0.15)
    on_screen(many)
    many.graph_scene.preview({"n1": (900.0, -700.0), "n30": (-300.0, 900.0)})
    moved = on_screen(many)
    many.viewport().update()
    assert (moved == on_screen(many)).all()


@pytest.mark.parametrize("zoom", [1.0, 0.5, 0.15])
@pytest.mark.parametrize("by", [(13, 0), (0, -9), (11, 7)])
def test_panning_shows_what_a_new_painting_would(
    many: GraphView, counted: list[tuple[float, int]], zoom: float, by: tuple[int, int]
) -> None:
    many.navigation.set_zoom(zoom)
    on_screen(many)
    counted.clear()
    for _ in range(4):
        many.navigation.pan_by(*by)
        panned = on_screen(many)
    whole = many.viewport().width() * many.viewport().height()
    assert all(area < 0.5 * whole for _, area in counted)
    many.viewport().update()
    # Smooth edges may round differently by one step where a wire is painted in parts.
    assert np.abs(panned - on_screen(many)).max() <= 2


def test_the_map_stays_in_its_corner(many: GraphView) -> None:
    many.navigation.set_zoom(1.0)
    QApplication.processEvents()
    corner = many.minimap.geometry()
    many.navigation.pan_by(40, 30)
    many.navigation.pan_by(-5, 0)
    assert many.minimap.geometry() == corner
    assert many.minimap.isVisible()
