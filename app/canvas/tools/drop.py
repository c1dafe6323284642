"""A node type dragged in from the palette."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from app.canvas.editing import editing
from app.canvas.editing.insertion import REACH
from app.canvas.editing.joining import takes
from app.canvas.items.geometry import FIRST_PORT, HEIGHT, RADIUS, WIDTH, Point, snapped
from app.canvas.items.link_item import DRAFT_Z
from app.canvas.scene.canvas import GraphOnShow
from app.theme import current_theme
from app.workspace.block_library import DEFINED, DRAWN, KEPT, READY
from engine.catalogue.drawn_forms import form_called
from engine.document.graph import Link

MIME = "application/x-neuroloom-node"


class Ghost(QGraphicsItem):
    """Where the node will stand."""

    def __init__(self, title: str, family: str) -> None:
        super().__init__()
        self._title, self._family = title, family
        self.setZValue(DRAFT_Z)
        self.setOpacity(0.75)

    def boundingRect(self) -> QRectF:
        return QRectF(-2, -2, WIDTH + 4, HEIGHT + 4)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        theme = current_theme()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.accent, 1.5, Qt.PenStyle.DashLine))
        fill = QColor(theme.node)
        painter.setBrush(fill)
        painter.drawRoundedRect(QRectF(0, 0, WIDTH, HEIGHT), RADIUS, RADIUS)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.family(self._family))
        painter.drawRoundedRect(QRectF(1.5, 9, 3, HEIGHT - 18), 1.5, 1.5)
        painter.setPen(theme.text)
        painter.setFont(theme.font(bold=True))
        room = QRectF(14, 7, WIDTH - 24, 18)
        metrics = painter.fontMetrics()
        title = metrics.elidedText(self._title, Qt.TextElideMode.ElideMiddle, int(room.width()))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, title)


class DropNode:
    """Follows a drag over the canvas; a drop on a wire puts the node into it, unless Alt is down."""

    def __init__(self, view: GraphOnShow, type_id: str) -> None:
        self._view = view
        self._scene = view.graph_scene
        self._type_id = type_id
        found = view.workspace.catalogue.get(type_id)
        made = found() if found is not None else None
        self._through = made if made is not None and made.inputs() and made.outputs() else None
        self._ghost = Ghost(
            found.title if found is not None else _own_name(view, type_id),
            found.family if found is not None else "",
        )
        self._into: Link | None = None
        self._ghost.setVisible(False)
        self._scene.addItem(self._ghost)

    def move(self, point: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        """The pointer is at a scene point."""
        self._ghost.setPos(*self._corner(point))
        self._ghost.setVisible(True)
        self._mark(self._wire_under(point, modifiers))

    def release(self, point: QPointF, modifiers: Qt.KeyboardModifier) -> str | None:
        """Adds the node there; returns its id."""
        into = self._wire_under(point, modifiers)
        self.cancel()
        return editing.add(self._view.workspace, self._type_id, self._corner(point), into=into)

    def cancel(self) -> None:
        """Takes the ghost away."""
        self._mark(None)
        if self._ghost.scene() is not None:
            self._scene.removeItem(self._ghost)

    def _corner(self, point: QPointF) -> Point:
        """The node's top left corner with the pointer on its name."""
        return snapped((point.x() - WIDTH / 2, point.y() - FIRST_PORT))

    def _wire_under(self, point: QPointF, modifiers: Qt.KeyboardModifier) -> Link | None:
        if self._through is None or modifiers & Qt.KeyboardModifier.AltModifier:
            return None
        wire = self._scene.link_at(point, REACH)
        if wire is None:
            return None
        led = replace(wire.link, target_port=self._through.inputs()[0].name)
        return wire.link if takes(self._view.workspace, self._through, led) else None

    def _mark(self, link: Link | None) -> None:
        if link == self._into:
            return
        for one, lit in ((self._into, False), (link, True)):
            item = self._scene.link_items.get(one) if one is not None else None
            if item is not None:
                item.show_state(selected=lit)
        self._into = link


def _own_name(view: GraphOnShow, type_id: str) -> str:
    """The name of a block, whoever it comes from."""
    block = view.workspace.document.project.blocks.get(type_id.removeprefix(DEFINED))
    form = form_called(type_id.removeprefix(DRAWN))
    if form is not None:
        return form.title
    return block.name if block is not None else type_id.removeprefix(KEPT).removeprefix(READY)
