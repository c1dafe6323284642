"""A canvas in a window of its own, and hands to work it with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.canvas.view import GraphView
from app.workspace.places import Places
from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes
from engine.document.graph import Link, Node, Project

LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def workspace(qapp: object, tmp_path: Path) -> Iterator[Workspace]:
    """A workspace without an engine: no torch, no trainer."""
    made = Workspace(Places.under(tmp_path))
    yield made
    made.close()


@pytest.fixture
def view(qtbot: QtBot, workspace: Workspace) -> GraphView:
    """A shown canvas of 900×600 with the focus."""
    made = GraphView(workspace)
    qtbot.addWidget(made)
    made.resize(900, 600)
    made.show()
    qtbot.waitExposed(made)
    made.setFocus()
    return made


class Hands:
    """Presses, drags and types on a canvas as a person would."""

    def __init__(self, view: GraphView) -> None:
        self.view = view

    def press(self, place: QPoint, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.mouseMove(self.view.viewport(), place)
        QTest.mousePress(self.view.viewport(), LEFT, modifiers, place)

    def move(self, place: QPoint, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.mouseMove(self.view.viewport(), place)

    def release(self, place: QPoint, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.mouseRelease(self.view.viewport(), LEFT, modifiers, place)

    def click(self, place: QPoint, modifiers: Qt.KeyboardModifier = NONE) -> None:
        self.press(place, modifiers)
        self.release(place, modifiers)

    def lift(self, start: QPoint, end: QPoint, modifiers: Qt.KeyboardModifier = NONE) -> None:
        """Presses and drags without letting go."""
        self.press(start, modifiers)
        for part in (0.1, 0.5, 1.0):
            self.move(start + (end - start) * part)

    def drag(self, start: QPoint, end: QPoint, modifiers: Qt.KeyboardModifier = NONE) -> None:
        self.lift(start, end, modifiers)
        self.release(end, modifiers)

    def stroke(self, start: QPoint, end: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        """Draws a line with the right button."""
        right = Qt.MouseButton.RightButton
        QTest.mousePress(self.view.viewport(), right, modifiers, start)
        for part in (0.1, 0.5, 1.0):
            self.move(start + (end - start) * part)
        QTest.mouseRelease(self.view.viewport(), right, modifiers, end)

    def key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.keyClick(self.view, key, modifiers)


@pytest.fixture
def hands(view: GraphView) -> Hands:
    return Hands(view)


@pytest.fixture
def build(workspace: Workspace) -> Callable[..., None]:
    """Puts nodes (id, type, x, y) and wires (source, port, target, port) into the document."""

    def make(nodes: list[tuple[str, str, float, float]], links: list[tuple[str, str, str, str]] = ()) -> None:
        made = tuple(Node(key, kind, f"{kind.lower()}-{key}", {}, (x, y)) for key, kind, x, y in nodes)
        project = Project()
        AddNodes(made, tuple(Link(*link) for link in links)).apply(project)
        workspace.document.replace(project)

    return make


@pytest.fixture
def chain(build: Callable[..., None]) -> None:
    """Digits → Linear n2 → Linear n3, and a Linear n4 that is alone."""
    build(
        [
            ("n1", "Digits", 0, 0),
            ("n2", "Linear", 200, 0),
            ("n3", "Linear", 400, 0),
            ("n4", "Linear", 200, 200),
        ],
        [("n1", "image", "n2", "x"), ("n2", "output", "n3", "x")],
    )


def picture(view: GraphView) -> dict[str, object]:
    """Everything the scene shows, as plain values that can be compared."""
    scene = view.graph_scene
    return {
        "nodes": {
            key: (
                item.face,
                (item.x(), item.y()),
                item.selected,
                item.linked_inputs,
                item.linked_outputs,
                item.dimmed,
                item.marked,
            )
            for key, item in scene.node_items.items()
        },
        "links": {
            item.link: (item.route.points, item.route.curved, item.family, item.isVisible(), item.dimmed)
            for item in scene.link_items.values()
        },
        "frames": {
            key: (item.frame, item.outline.getRect(), item.zValue())
            for key, item in scene.dressing.frames.items()
        },
        "notes": {key: (item.note, item.rect().getRect()) for key, item in scene.dressing.notes.items()},
        "chains": {key: (item.other, item.ends) for key, item in scene.dressing.chains.items()},
        "boxes": dict(scene.boxes.items()),
        "items": len(scene.items()),
    }
