"""Views that hang below nodes on the canvas, kept up to date while the canvas is in view."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QDropEvent, QImage, QPainter, QPen, QRegion
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from app.canvas.items.geometry import RADIUS, WIDTH
from app.canvas.items.node_item import NodeItem
from app.canvas.scene.canvas import Canvas
from app.look.base import LiveView, Probes, Subject, ViewKind
from app.look.dock.card import MIME
from app.look.dock.states import is_drawable
from app.look.registry import view_kinds
from app.theme import SMALL, current_theme, themes
from app.workspace.watching import Live
from engine.feed.feed import Probe, Snapshot

log = logging.getLogger(__name__)

INTERVAL_MS = 500
DRAWN = QSize(192, 132)  # the view is painted larger than it is on the canvas, and then shrunk
SHOWN = QSize(128, 88)
BELOW = 6.0
_HEAD = 14.0


class HungItem(QGraphicsItem):
    """A view below a node: part of the node, so it moves and goes with it."""

    def __init__(self, node: NodeItem, title: str) -> None:
        super().__init__(node)
        self._title = title
        self._image: QImage | None = None
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def boundingRect(self) -> QRectF:
        return QRectF(-1, -1, WIDTH + 2, SHOWN.height() + _HEAD + 10)

    def show_image(self, image: QImage) -> None:
        """Shows another image."""
        self._image = image
        self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        theme = current_theme()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.line, 1))
        painter.setBrush(theme.panel)
        body = self.boundingRect().adjusted(1.5, 1.5, -1.5, -1.5)
        painter.drawRoundedRect(body, RADIUS, RADIUS)
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.dim)
        inner = body.adjusted(6, 3, -6, -3)
        painter.drawText(
            QRectF(inner.topLeft(), inner.topRight() + QPointF(0, _HEAD)),
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
            self._title,
        )
        area = inner.adjusted(0, _HEAD + 1, 0, 0)
        if self._image is None:
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, "waiting")
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(area, self._image)


@dataclass
class _Hung:
    kind: ViewKind
    subject: Subject
    view: LiveView
    node: NodeItem | None = None
    item: HungItem | None = None
    image: QImage | None = None
    drawn: dict[Probe, Snapshot] = field(default_factory=dict)


class OnNodes(QObject):
    """One view a node at most. A card that is dropped onto a node hangs there."""

    changed = Signal()  # what hangs where

    def __init__(self, view: Canvas, parent: QWidget, kind_of_card: Callable[[str], str]) -> None:
        """`kind_of_card` gives the id of the kind of a card by its key, empty for an unknown one."""
        super().__init__(parent)
        self._view = view
        self._workspace = view.workspace
        self._kind_of_card = kind_of_card
        self._hung: dict[str, _Hung] = {}
        self._hidden = QWidget(parent)  # holds the views: they are painted into images, never on screen
        self._hidden.hide()
        self._live = Live(self._workspace, parent, self._probes, self._redraw, INTERVAL_MS)
        view.viewport().installEventFilter(self)
        self._workspace.scope_changed.connect(self._hang_all)
        self._workspace.changed.connect(self._hang_all)
        themes.theme_changed.connect(self._restyle)

    # -- what hangs where

    def hangs(self, node_id: str) -> str:
        """The id of the kind of view at a node; empty for none."""
        found = self._hung.get(node_id)
        return found.kind.id if found is not None else ""

    def places(self) -> tuple[tuple[str, str], ...]:
        """All views as (kind, node)."""
        return tuple((one.kind.id, node_id) for node_id, one in self._hung.items())

    def hang(self, kind_id: str, node_id: str) -> bool:
        """Hangs a view at a node, in place of the one there; False where it makes no sense."""
        kind = view_kinds().get(kind_id)
        subject = Subject(self._workspace, node_id)
        if kind is None or kind.whole or subject.node is None or not kind.suits(subject):
            return False
        self.take_off(node_id)
        view = kind.make(subject)
        view.setParent(self._hidden)
        view.resize(DRAWN)
        self._hung[node_id] = _Hung(kind, subject, view)
        self._hang_all()
        self.changed.emit()
        return True

    def take_off(self, node_id: str) -> None:
        """Takes the view of a node away."""
        found = self._hung.pop(node_id, None)
        if found is None:
            return
        found.view.deleteLater()
        item = self._view.graph_scene.node_items.get(node_id)
        if found.item is not None and item is found.node:
            self._view.graph_scene.removeItem(found.item)
        self._live.again()
        self.changed.emit()

    def take_all_off(self) -> None:
        """Takes every view away."""
        for node_id in list(self._hung):
            self.take_off(node_id)

    # -- keeping up

    def _probes(self) -> Probes:
        found: set[Probe] = set()
        for hung in self._hung.values():
            if hung.item is not None:
                found |= hung.view.probes()
        return frozenset(found)

    def _hang_all(self, _what: object = None) -> None:
        """Gives the nodes on show their views: items come and go with undo and with scopes."""
        items = self._view.graph_scene.node_items
        for node_id, hung in list(self._hung.items()):
            if self._workspace.node(node_id) is None:
                continue  # an undo may bring it back
            node = items.get(node_id)
            if node is not hung.node:
                hung.node, hung.item = node, None
                if node is not None:
                    hung.item = HungItem(node, hung.kind.title)
                    if hung.image is not None:
                        hung.item.show_image(hung.image)
            if hung.item is not None and node is not None:
                hung.item.setPos(0, node.face.layout.height + BELOW)
        if self._hung:
            self._live.again()

    def _redraw(self) -> None:
        trainer = self._workspace.trainer
        if trainer is None:
            return
        for hung in self._hung.values():
            if hung.item is None:
                continue
            hung.view.history = trainer.feed.history
            known = {probe: trainer.feed.latest(probe) for probe in hung.view.probes()}
            found = {probe: one for probe, one in known.items() if one is not None and is_drawable(one)}
            if found and any(hung.drawn.get(probe) is not one for probe, one in found.items()):
                hung.drawn = found
                self._draw(hung)

    def _draw(self, hung: _Hung) -> None:
        try:
            hung.view.draw(hung.drawn)
        except Exception:  # a view that fails must not end the canvas
            log.exception("%s could not be drawn", type(hung.view).__name__)
            return
        image = QImage(DRAWN * 2, QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(2)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        hung.view.render(painter, QPoint(0, 0), QRegion(), QWidget.RenderFlag.DrawChildren)
        painter.end()
        hung.image = image
        if hung.item is not None:
            hung.item.show_image(image)

    def _restyle(self, _theme: object) -> None:
        for hung in self._hung.values():
            if hung.drawn:
                self._draw(hung)

    # -- cards dropped here

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kinds = (QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop)
        if event.type() not in kinds or not isinstance(event, QDropEvent):
            return False
        if not event.mimeData().hasFormat(MIME):
            return False
        try:
            self._dragged(event)
        except Exception:  # one that leaves an event filter ends the process
            log.exception("a view could not be dropped")
        return True

    def _dragged(self, event: QDropEvent) -> None:
        point = self._view.mapToScene(event.position().toPoint())
        node = self._view.graph_scene.node_at(point)
        key = bytes(event.mimeData().data(MIME).data()).decode("ascii", "replace")
        kind = view_kinds().get(self._kind_of_card(key))
        fits = (
            node is not None
            and kind is not None
            and not kind.whole
            and kind.suits(Subject(self._workspace, node.node_id))
        )
        if event.type() == QEvent.Type.DragEnter:
            event.accept()
            return
        event.setDropAction(Qt.DropAction.CopyAction)
        event.setAccepted(fits)
        if fits and event.type() == QEvent.Type.Drop and node is not None and kind is not None:
            self.hang(kind.id, node.node_id)
