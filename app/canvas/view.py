"""The canvas: turns pointer, wheel and drop events into gestures and shows the scene they act on."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QHelpEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QGestureEvent, QToolTip, QWidget

from app.canvas import keys
from app.canvas.editing import editing
from app.canvas.editing.composing import Composing
from app.canvas.finder import Finder
from app.canvas.in_place import name_line, note_text
from app.canvas.items.geometry import FIRST_PORT, PORT_RADIUS, WIDTH, free_spot
from app.canvas.menu import canvas_menu
from app.canvas.minimap import Minimap
from app.canvas.overlay import CursorHint, EmptyPage, StatusLine
from app.canvas.problem_popup import ProblemPopup
from app.canvas.remembered import RememberedView
from app.canvas.scene import tips
from app.canvas.scene.painted_view import PaintedView
from app.canvas.scene.scene import GraphScene
from app.canvas.scene.shown import Shown
from app.canvas.scene.spoken import Spoken
from app.canvas.scene.status import fact_parts, zoom_part
from app.canvas.scene.thumbnails import Thumbnails
from app.canvas.tools.base import Interaction, Pointer
from app.canvas.tools.drop import MIME
from app.canvas.tools.drop_files import Drop, drop_of
from app.canvas.tools.gestures import Gestures
from app.workspace.workspace import Workspace
from engine.document.document import Change

__all__ = ["MIME", "GraphView"]

PORT_REACH = 11.0


class GraphView(PaintedView):
    """Draws the workspace's graph and edits it. One gesture at a time; the document changes on release."""

    files_dropped = Signal(list, tuple, str)  # paths, the first node's corner, a data node they fell on or ""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        self.graph_scene = GraphScene(workspace)
        super().__init__(self.graph_scene, parent)
        self.graph_scene.setParent(self)
        self.setObjectName("canvas")
        self.workspace = workspace
        self.snapping = workspace.settings.flag("canvas/snapping", True)
        self._drop: Drop | None = None
        self._wants_minimap = workspace.settings.flag("canvas/minimap", True)
        self._facts: list[str] = []  # in the status line, beside the zoom
        self.extent: QRectF | None = None  # of the graph, since nodes last came, went or moved
        self._cursor: QPoint | None = None
        self._travelled = False  # whether the user has moved the viewport since the project was opened
        self.gestures = Gestures(self)
        self.minimap = Minimap(self, self.viewport())
        self.status = StatusLine(self.viewport())
        self.hint = CursorHint(self)
        self.empty = EmptyPage(self.viewport())
        self.naming, self.noting = name_line(self), note_text(self)
        self.finder = Finder(self, self)
        self.compose = Composing(self, self.finder, self.naming, self.noting)
        self.problems = ProblemPopup(self, self)
        self.popup = self.finder.popup
        self.stay_put(self.minimap, self.status, self.empty, self.naming, self.noting, self.problems)
        self.thumbnails = Thumbnails(self, self)
        self.shown = Shown(self, self.thumbnails)
        self.spoken = Spoken(self, self)
        self._remembered = RememberedView(self, workspace.settings, workspace.document.path)
        self._set_up()

    def _set_up(self) -> None:
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self.setAcceptDrops(True)
        self.viewport().grabGesture(Qt.GestureType.PinchGesture)
        self.status.setVisible(self.workspace.settings.flag("canvas/status", True))
        self.empty.button.clicked.connect(self.open_search)
        self.workspace.changed.connect(self._changed)
        self.workspace.inferred.connect(self._show_status)
        self.workspace.engine_ready.connect(self._show_status)
        self.workspace.revealed.connect(self.reveal)
        self.workspace.framed.connect(self.fit)
        self.workspace.selected.connect(self._selected)
        self.workspace.scope_changed.connect(self._scope_changed)
        self.graph_scene.arranged.connect(self._arranged)
        self.moved.connect(self._moved_viewport)
        self._arranged()
        self._show_status()

    # -- what others use

    def fit(self) -> None:
        """Shows the whole graph."""
        self.navigation.show(self.graph_scene.bounds())

    def frame_selection(self) -> None:
        """Shows the selected nodes, or everything when none is selected."""
        self.navigation.show(self.graph_scene.bounds(self.workspace.selection or None))
        self.travel()

    def reveal(self, node_id: str) -> None:
        """Brings a node into view."""
        rect = self.graph_scene.bounds((node_id,))
        if rect is not None:
            self.navigation.bring_in(rect.adjusted(-30, -30, 30, 30))

    def add_node(self, type_id: str, scene_pos: QPointF | None = None) -> str | None:
        """Adds a node with its corner at a scene position, or near the middle of the view; returns its id."""
        if scene_pos is not None:
            return editing.add(self.workspace, type_id, (scene_pos.x(), scene_pos.y()))
        centre = self.navigation.centre
        wanted = (centre.x() - WIDTH / 2, centre.y() - FIRST_PORT)
        place = free_spot(wanted, (WIDTH, 2 * FIRST_PORT), self.graph_scene.boxes.all())
        added = editing.add(self.workspace, type_id, place)
        if added is not None:
            self.reveal(added)
        return added

    def open_search(self) -> None:
        """Opens the search popup at the cursor, or in the middle when the cursor is elsewhere."""
        self.open_search_at(self.cursor_place())

    def open_search_at(self, place: QPoint) -> None:
        """Opens the search popup with its corner at `place` (viewport pixels)."""
        self.cancel_interaction()
        self.finder.open_at(place)

    def show_from(self, place: tuple[float, QPointF] | None) -> None:
        """Shows a project from where it was last seen (zoom and centre), or whole."""
        self._travelled = place is not None
        if place is None:
            self.fit()
        else:
            self.navigation.set_zoom(place[0])
            self.navigation.centre_on(place[1])

    def seen_from(self) -> tuple[float, QPointF] | None:
        """Zoom and centre, once the user has moved the viewport."""
        return (self.navigation.zoom, self.navigation.centre) if self._travelled else None

    def travel(self) -> None:
        """The user moves the viewport: from now on it stays where it is put."""
        self._travelled = True

    def visible_rect(self) -> QRectF:
        """The part of the scene in the viewport."""
        return self.mapToScene(self.viewport().rect()).boundingRect()

    def node_point(self, node_id: str) -> QPoint:
        """Where to press a node, in viewport pixels, away from its ports. KeyError if it is not there."""
        left, top, right, bottom = self.graph_scene.node_items[node_id].box()
        return self.mapFromScene(QPointF((left + right) / 2, (top + bottom) / 2))

    def port_point(self, node_id: str, port: str, side: str) -> QPoint:
        """Where a port is, in viewport pixels; `side` is "in" or "out". KeyError if it is not there."""
        place = self.graph_scene.node_items[node_id].port_place(port, side)
        if place is None:
            raise KeyError(f"{node_id} has no {side} port {port}")
        return self.mapFromScene(place)

    @property
    def shows_minimap(self) -> bool:
        """Whether the map is wanted; an empty canvas hides it all the same."""
        return self._wants_minimap

    def set_minimap(self, shown: bool) -> None:
        """Shows or hides the map in the corner, now and in later sessions."""
        self._wants_minimap = shown
        self._show_minimap()
        self.workspace.settings.keep("canvas/minimap", shown)

    def set_status(self, shown: bool) -> None:
        """Shows or hides the status line, now and in later sessions."""
        self.status.setVisible(shown)
        self.workspace.settings.keep("canvas/status", shown)

    def set_snapping(self, on: bool) -> None:
        """Whether dragged nodes keep to the grid, now and in later sessions."""
        self.snapping = on
        self.workspace.settings.keep("canvas/snapping", on)

    # -- commands for menus and keys; each makes one undoable step or none

    def delete_selection(self, bridge: bool = False) -> None:
        """Removes the selected nodes and wires; with `bridge` the chain stays joined."""
        self.cancel_interaction()
        scene = self.graph_scene
        if scene.picked_bend is not None:
            editing.remove_bend(self.workspace, *scene.picked_bend)
            return
        links, beside = scene.selected_links, sorted(scene.dressing.chosen)
        editing.delete(self.workspace, self.workspace.selection, links, bridge=bridge, beside=beside)

    def delete_and_reconnect(self) -> None:
        """Removes the selected nodes and joins what fed them to what followed."""
        self.delete_selection(bridge=True)

    def copy(self) -> None:
        """Puts the selected nodes on the clipboard."""
        editing.copy(self.workspace, self._copied())

    def _copied(self) -> tuple[str, ...]:
        dressing = self.graph_scene.dressing
        return (*self.workspace.selection, *sorted(dressing.chosen & dressing.notes.keys()))

    def cut(self) -> None:
        """Copies the selected nodes and takes them out; what fed them feeds what followed."""
        self.cancel_interaction()
        copied = self._copied()
        if editing.copy(self.workspace, copied):
            editing.delete(self.workspace, self.workspace.selection, (), bridge=True, beside=copied)

    def paste(self) -> None:
        """Adds what is on the clipboard at the cursor, or in the middle when the cursor is elsewhere."""
        at = self.mapToScene(self.cursor_place())
        made = editing.paste_clipboard(self.workspace, (at.x(), at.y()))
        self.graph_scene.choose_nothing()
        self.graph_scene.dressing.choose(made)
        rect = self.graph_scene.bounds(made)
        if rect is not None and not self.visible_rect().intersects(rect):
            self.navigation.bring_in(rect)

    def duplicate(self) -> None:
        """Copies the selected nodes beside themselves."""
        editing.duplicate(self.workspace, self.workspace.selection)

    def select_all(self) -> None:
        """Selects every node and wire."""
        self.workspace.select(self.graph_scene.node_items)
        self.graph_scene.select_links(self.graph_scene.link_items)
        self.graph_scene.dressing.choose(self.graph_scene.dressing.notes)

    def connect_selected(self) -> None:
        """Wires the selected nodes from left to right."""
        editing.connect_in_order(self.workspace, self.workspace.selection)

    def rename_selected(self) -> None:
        """Opens the name of the selected node for typing."""
        self.compose.rename()

    def zoom_in(self) -> None:
        self.navigation.zoom_by(1.25)

    def zoom_out(self) -> None:
        self.navigation.zoom_by(0.8)

    def zoom_reset(self) -> None:
        self.navigation.set_zoom(1.0)

    def undo(self) -> None:
        """Takes the last step back; during a gesture it only ends the gesture."""
        if not self.cancel_interaction():
            self.workspace.undo()

    def redo(self) -> None:
        if not self.cancel_interaction():
            self.workspace.redo()

    # -- pointer

    @property
    def interaction(self) -> Interaction | None:
        """The gesture under way."""
        return self.gestures.current

    def cancel_interaction(self) -> bool:
        """Ends the gesture under way as if it had never begun; False when there is none."""
        return self.gestures.cancel()

    def port_reach(self) -> float:
        """How near to a port counts as on it, in scene units: a little more when zoomed out."""
        zoom = self.navigation.zoom
        return PORT_REACH if zoom >= 1 else min(3 * PORT_RADIUS, PORT_REACH / zoom)

    def _pointer(self, event: QMouseEvent) -> Pointer:
        place = event.position()
        # The inverse transform keeps the fraction of a pixel that mapToScene would round away.
        scene = self.viewportTransform().inverted()[0].map(place)
        self._cursor = place.toPoint()
        return Pointer(place.toPoint(), scene, event.modifiers(), event.buttons())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.gestures.press(self._pointer(event), event.button())
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.gestures.move(self._pointer(event))
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.gestures.release(self._pointer(event), event.button())
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.gestures.double_press(self._pointer(event), event.button())
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        self._cursor = None
        self.gestures.hover_nothing()
        super().leaveEvent(event)

    def cursor_place(self) -> QPoint:
        """Where the cursor is, in viewport pixels; the middle when it is elsewhere."""
        view = self.viewport().rect()
        return self._cursor if self._cursor is not None and view.contains(self._cursor) else view.center()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        strokes = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        if mouse and (event.modifiers() & strokes or self.interaction is not None):
            event.accept()  # the right button draws a stroke
            return
        self.cancel_interaction()
        self._cursor = place = event.pos()
        if mouse:
            self.gestures.point_out(self.mapToScene(place))
        elif self.workspace.selection:  # the menu key means what is selected
            place = self.node_point(self.workspace.selection[0])
        canvas_menu(self, self.mapToScene(place)).popup(self.viewport().mapToGlobal(place))
        event.accept()

    # -- navigation events

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.travel()
        self.navigation.wheel(event)
        event.accept()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QNativeGestureEvent | QGestureEvent):
            if self.navigation.gesture(event):
                return True
        elif event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            text = tips.tip_at(self, event.pos()) if self.interaction is None else ""
            QToolTip.showText(event.globalPos(), text, self.viewport())
            return True
        return super().viewportEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._settle()
        # Until the user moves the viewport it keeps showing the whole project, whatever the panels do.
        if not self._travelled:
            self.fit()
        self._moved_viewport()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._travelled:
            self.fit()

    def _moved_viewport(self) -> None:
        self._show_minimap()
        self._show_zoom()
        self.thumbnails.look_soon()

    # -- keys

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.ShortcutOverride and self.interaction is not None:
                event.accept()  # during a gesture every key is for the gesture, also one that a menu knows
                return True
            tab = event.key() == Qt.Key.Key_Tab and not event.modifiers()
            if event.type() == QEvent.Type.KeyPress and tab:
                self.keyPressEvent(event)
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space:
            self.gestures.hold_space(True)
            event.accept()
        elif keys.press(self, event):
            event.accept()
        else:
            event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self.gestures.hold_space(False)
        event.accept()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.gestures.lose_focus()
        super().focusOutEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self.cancel_interaction()
        self._remembered.keep(self.workspace.document.path)
        super().hideEvent(event)

    # -- drops from the palette, and of files

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        drop = drop_of(self, event.mimeData(), self.files_dropped)
        if drop is None:
            event.ignore()
            return
        self.cancel_interaction()
        self._drop = drop
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if self._drop is None:
            event.ignore()
            return
        self._drop.move(self.mapToScene(event.position().toPoint()), event.modifiers())
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._end_drop()
        event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        drop = self._end_drop()
        if drop is None:
            event.ignore()
            return
        drop.release(self.mapToScene(event.position().toPoint()), event.modifiers())
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _end_drop(self) -> Drop | None:
        drop, self._drop = self._drop, None
        if drop is not None:
            drop.cancel()
        return drop

    # -- following the workspace

    def _changed(self, change: Change) -> None:
        # Whatever the gesture was about may be gone: it ends without a trace.
        self.cancel_interaction()
        self.compose.forget_gone()
        if change.kind == "load":
            self._remembered.switch(self.workspace.document.path)
        else:
            self.travel()  # whoever edits has found a place to work: no panel that opens may move it
        self._show_status()

    def _scope_changed(self, scope: str) -> None:
        self.cancel_interaction()
        self.compose.forget_gone()
        self._remembered.enter(scope)
        self.thumbnails.look_again()
        self._show_status()

    def _selected(self, ids: tuple[str, ...]) -> None:
        # What another panel selects is meant alone: Delete must not take an earlier wire along.
        if ids and self.interaction is None and not self.hasFocus():
            self.graph_scene.choose_nothing()

    def _arranged(self) -> None:
        self.extent = self.graph_scene.bounds()
        self.navigation.set_area(self.extent or QRectF())
        self.empty.setVisible(not self.graph_scene.node_items)
        self._show_minimap()
        self.empty.settle()
        self.thumbnails.look_soon()

    def _show_minimap(self) -> None:
        """Shows the map unless it is unwanted, empty, or hides a node of a graph in full view."""
        shown = self._wants_minimap and self.extent is not None
        if shown and self.extent is not None and self.visible_rect().contains(self.extent):
            under = self.mapToScene(self.minimap.geometry()).boundingRect()
            shown = not self.graph_scene.nodes_in(under)
        self.minimap.setVisible(shown)
        self.minimap.update()

    def _show_status(self) -> None:
        self._facts = fact_parts(self.workspace)
        self._show_zoom()

    def _show_zoom(self) -> None:
        self.status.show_parts([zoom_part(self.navigation.zoom), *self._facts])
