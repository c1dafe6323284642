"""What is dragged onto the canvas: a node type of the palette, or files from a file manager."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QPointF, Qt, SignalInstance

from app.canvas.items.geometry import FIRST_PORT, WIDTH, Point, snapped
from app.canvas.scene.canvas import GraphOnShow
from app.canvas.tools.drop import MIME, DropNode, Ghost
from engine.importers.texts import is_python

PROJECT = ".nloom"


def dropped_data(mime: QMimeData) -> list[Path]:
    """The files and folders of a drag; none where a project is among them, which the window opens."""
    paths = dropped_paths(mime)
    return [] if any(path.suffix.lower() == PROJECT or is_python(path) for path in paths) else paths


def dropped_paths(mime: QMimeData) -> list[Path]:
    """The files and folders of this computer that a drag brings."""
    return [Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile() and url.toLocalFile()]


def drop_of(view: GraphOnShow, mime: QMimeData, dropped: SignalInstance) -> Drop | None:
    """What follows a drag over the canvas, which tells `dropped` of files; None for what it does not take."""
    if paths := dropped_data(mime):
        return DropFiles(view, paths, dropped)
    if mime.hasFormat(MIME):
        return DropNode(view, bytes(mime.data(MIME).data()).decode("utf-8", "replace"))
    return None


class DropFiles:
    """Follows a drag of files over the canvas: shows where a node would stand, or which would read it."""

    def __init__(self, view: GraphOnShow, paths: list[Path], dropped: SignalInstance) -> None:
        self._view, self._dropped = view, dropped
        self._scene = view.graph_scene
        self.paths = paths
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        self._ghost = Ghost(f"{paths[0].name}{more}", "data")
        self._ghost.setVisible(False)
        self._scene.addItem(self._ghost)

    def move(self, point: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        """The pointer is at a scene point."""
        onto = self.onto(point)
        item = self._scene.node_items.get(onto)
        if item is not None:
            self._ghost.setPos(item.x(), item.y())
        else:
            self._ghost.setPos(*self.corner(point))
        self._ghost.setVisible(True)

    def release(self, point: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        """Hands the files on."""
        self._dropped.emit(self.paths, self.corner(point), self.onto(point))

    def cancel(self) -> None:
        """Takes the ghost away."""
        if self._ghost.scene() is not None:
            self._scene.removeItem(self._ghost)

    def corner(self, point: QPointF) -> Point:
        """The node's top left corner with the pointer on its name."""
        return snapped((point.x() - WIDTH / 2, point.y() - FIRST_PORT))

    def onto(self, point: QPointF) -> str:
        """The data node that reads files under a scene point; empty for none, or several files."""
        item = self._scene.node_at(point) if len(self.paths) == 1 else None
        node = self._view.workspace.node(item.node_id) if item is not None else None
        kind = self._view.workspace.type_of(node) if node is not None else None
        if node is None or kind is None or kind.kind != "data":
            return ""
        return node.id if any(spec.kind == "path" for spec in kind.params) else ""


Drop = DropNode | DropFiles
