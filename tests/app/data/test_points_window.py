"""The ways to the pad of drawn points, and drawing while a network trains on what is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import shiboken6
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.canvas.menu import canvas_menu
from app.data.points_pad import PointsPad
from app.data.points_window import PointsWindow
from app.documents.document_page import DocumentPage
from app.workspace.recent_files import RecentFiles
from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes, Remove, SetParam, SetPlan
from engine.document.graph import Link, Node
from engine.document.plan import Plan

LONG = 30_000
PLAIN = Qt.KeyboardModifier.NoModifier
LEFT = Qt.MouseButton.LeftButton
CORNERS = ((0.5, 0.5, 0), (-0.5, -0.5, 0), (0.5, -0.5, 1), (-0.5, 0.5, 1))


def add_drawn(workspace: Workspace) -> None:
    nodes = (
        Node("n1", "DrawnPoints", "drawn", {"points": CORNERS}, (0, 0)),
        Node("n2", "Linear", "hidden", {"units": 8, "activation": "tanh"}, (200, 0)),
        Node("n3", "Linear", "scores", {"units": 2}, (400, 0)),
        Node("n4", "CrossEntropy", "", {}, (600, 0)),
    )
    links = (
        Link("n1", "point", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "prediction"),
        Link("n1", "label", "n4", "target"),
    )
    assert workspace.apply("Add", AddNodes(nodes, links))


@pytest.fixture
def page(shaped: Workspace) -> Iterator[DocumentPage]:
    add_drawn(shaped)
    made = DocumentPage(shaped, RecentFiles(shaped.settings))
    made.resize(1280, 680)
    made.show()
    made.canvas.fit()
    QApplication.processEvents()
    yield made
    made.bottom.data.close_reader()
    made.close()
    for part in (made.training, made):  # the bar lies in the window, not in the page
        shiboken6.delete(part)


def window_of(page: DocumentPage) -> PointsWindow | None:
    return next((one for one in page.findChildren(PointsWindow) if one.isVisible()), None)


def test_a_double_click_on_the_node_opens_the_pad_once(page: DocumentPage) -> None:
    canvas = page.canvas
    QTest.mouseDClick(canvas.viewport(), LEFT, PLAIN, canvas.node_point("n1"))
    window = window_of(page)
    assert window is not None and window.windowTitle() == "drawn"
    page.workspace.editor_wanted.emit("n1")
    assert len([one for one in page.findChildren(PointsWindow) if one.isVisible()]) == 1


def test_menu_and_inspector_lead_to_it(page: DocumentPage) -> None:
    page.workspace.select(("n1",))
    menu = canvas_menu(page.canvas, QPointF())
    assert menu.actions()[0].text() == "Draw points…"
    menu.deleteLater()
    button = page.inspector.findChild(QPushButton, "nodeEditor")
    assert button is not None and button.text() == "Draw points…"
    QTest.mouseClick(button, LEFT)
    assert window_of(page) is not None
    page.workspace.select(("n2",))
    assert "Draw points…" not in [one.text() for one in canvas_menu(page.canvas, QPointF()).actions()]


def test_undo_works_in_the_window_and_it_goes_with_the_node(page: DocumentPage) -> None:
    page.workspace.editor_wanted.emit("n1")
    window = window_of(page)
    assert window is not None
    across, down = window.pad.pad.to_pixels([0.0], [0.0])
    QTest.mouseClick(window.pad.pad, LEFT, pos=QPointF(across[0], down[0]).toPoint())
    assert len(page.workspace.node("n1").params["points"]) == 5
    window.activateWindow()
    QTest.keyClick(window, Qt.Key.Key_Return)
    assert window.isVisible()
    page.workspace.apply("Delete", Remove(("n1",), ()))
    assert window_of(page) is None


def test_drawing_while_it_trains_goes_on_with_what_is_there(workspace: Workspace, qtbot: QtBot) -> None:
    """A new point is learned from the next batch on; with an empty pad the run waits for points."""
    from app.workspace.engine_parts import EngineParts
    from engine.emit.script import export_script
    from engine.shapes.shapes import ShapeBook
    from engine.train.trainer import Trainer

    add_drawn(workspace)
    workspace.apply("Plan", SetPlan(Plan().with_(epochs=100_000, batch=32)))
    workspace.adopt_engine(EngineParts(ShapeBook, Trainer, export_script))
    workspace.set_device("cpu")
    panel = PointsPad(workspace, "n1")
    qtbot.addWidget(panel)
    panel.resize(700, 400)
    panel.show()
    assert workspace.train()

    def wait(what: Callable[[], bool]) -> None:
        qtbot.waitUntil(what, timeout=LONG)

    wait(lambda: workspace.state == "running" and workspace.trainer.progress.step > 3)
    across, down = panel.pad.to_pixels([0.0], [0.0])
    QTest.mouseClick(panel.pad, LEFT, pos=QPointF(across[0], down[0]).toPoint())
    wait(lambda: len(workspace.trainer.data["train"]["label"]) == 5)
    step = workspace.trainer.progress.step
    wait(lambda: workspace.trainer.progress.step > step + 3)
    QTest.mouseClick(panel.clear, LEFT)
    wait(lambda: any("There are no points yet" in event.message for event in workspace.trainer.feed.events))
    wait(lambda: workspace.state == "paused")
    assert len(workspace.trainer.data["train"]["label"]) == 5
    workspace.undo()
    wait(lambda: workspace.state == "running")
    workspace.apply("Classes", SetParam("n1", "classes", 3))
    step = workspace.trainer.progress.step
    wait(lambda: workspace.trainer.progress.step > step + 3)
    assert workspace.state == "running"
    workspace.trainer.stop()
    assert workspace.trainer.wait()
