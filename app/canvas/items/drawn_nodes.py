"""A scene as what is drawn beside its nodes uses it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from PySide6.QtWidgets import QGraphicsItem

from app.canvas.items.detail import Detail
from app.canvas.items.geometry import Point
from app.canvas.items.node_item import NodeItem
from app.canvas.items.routing import Boxes
from app.workspace.open_document import OpenDocument
from engine.document.graph import Link


class DrawnNodes(Protocol):
    """The nodes on show, with the boxes that wires go round; other items are put beside them."""

    boxes: Boxes
    detail: Detail

    @property
    def workspace(self) -> OpenDocument: ...
    @property
    def node_items(self) -> Mapping[str, NodeItem]: ...
    def bends(self, link: Link) -> tuple[Point, ...]: ...
    def addItem(self, item: QGraphicsItem, /) -> None: ...
    def removeItem(self, item: QGraphicsItem, /) -> None: ...
