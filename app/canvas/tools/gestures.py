"""Which gesture a press begins, and the one that is under way."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QPoint, QPointF, Qt

from app.canvas.editing import editing
from app.canvas.editing.composing import Composing
from app.canvas.scene.shown import Shown
from app.canvas.tools.badge import PressBadge
from app.canvas.tools.base import Interaction, Pointer, Surface
from app.canvas.tools.bend import AddBends, DragBend
from app.canvas.tools.box import BoxSelect
from app.canvas.tools.cut import CutWires
from app.canvas.tools.edge_pan import EdgePan
from app.canvas.tools.ends import MoveWires
from app.canvas.tools.grab import GrabWire
from app.canvas.tools.move import MoveNodes
from app.canvas.tools.pan import Pan
from app.canvas.tools.resize import ResizeNote
from app.canvas.tools.wire import from_port

WIRE_REACH = 6.0
_LEFT, _MIDDLE, _RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton, Qt.MouseButton.RightButton


class PressedCanvas(Surface, Protocol):
    """The canvas with what a double press opens and what follows the pointer."""

    compose: Composing
    shown: Shown

    def rename_selected(self) -> None: ...
    def open_search_at(self, place: QPoint) -> None: ...


class Gestures:
    """Holds at most one Interaction and feeds it the pointer; without one, shows what the pointer is over."""

    def __init__(self, view: PressedCanvas) -> None:
        self._view = view
        self.current: Interaction | None = None
        self._edge = EdgePan(view, self.move)
        self._button = Qt.MouseButton.NoButton
        self._space = False
        self._hovered: str | None = None

    # -- life of a gesture

    def begin(self, interaction: Interaction) -> None:
        """Starts a gesture; one that was under way is cancelled."""
        self.cancel()
        self.current = interaction
        self._show_cursor()

    def turn_into(self, interaction: Interaction, pointer: Pointer) -> None:
        """The gesture under way goes on as another one."""
        self.current = interaction
        interaction.move(pointer)

    def keep(self, interaction: Interaction) -> None:
        """A gesture goes on after its release, until it calls `done`."""
        self.current = interaction

    def done(self, interaction: Interaction) -> None:
        """Takes away what a kept gesture shows."""
        if self.current is interaction:
            self.current = None
        interaction.cancel()

    def cancel(self) -> bool:
        """Ends the gesture under way as if it had never begun; False when there is none."""
        self._edge.stop()
        interaction, self.current = self.current, None
        if interaction is not None:
            interaction.cancel()
            self._show_cursor()
        return interaction is not None

    def lose_focus(self) -> None:
        """The canvas lost the keyboard: to a popup of the gesture itself, or to another window."""
        self.hold_space(False)
        if self.current is not None and not self.current.survives_focus_out:
            self.cancel()

    def hold_space(self, held: bool) -> None:
        """The space bar turns the left button into a hand."""
        if held != self._space:
            self._space = held
            self._show_cursor()

    # -- pointer

    def press(self, pointer: Pointer, button: Qt.MouseButton) -> None:
        if button == _MIDDLE or (button == _LEFT and self._space):
            self._view.travel()
            self.begin(Pan(self._view, pointer))
        elif button == _LEFT:
            self.begin(self._by_place(pointer))
        elif button == _RIGHT and pointer.has(Qt.KeyboardModifier.ControlModifier):
            self.begin(CutWires(self._view, pointer))
        elif button == _RIGHT and pointer.has(Qt.KeyboardModifier.ShiftModifier):
            self.begin(AddBends(self._view, pointer))
        else:
            self.cancel()
        self._button = button

    def move(self, pointer: Pointer) -> None:
        held = pointer.buttons & self._button
        if self.current is not None and not held and not self.current.survives_focus_out:
            self.cancel()  # the button was let go where no event of it came here
        if self.current is not None:
            self.current.move(pointer)
            if self.current.reaches_out:
                self._edge.watch(pointer)
        else:
            self._hover(pointer)

    def release(self, pointer: Pointer, button: Qt.MouseButton) -> None:
        if self.current is None or button != self._button:
            return
        self.current.move(pointer)  # there may have been no move to this place, or with these keys
        interaction = self.current
        # Forgotten first: the change it makes must not look like one that interrupts it.
        self.current = None
        self._edge.stop()
        interaction.release(pointer)
        self._show_cursor()
        if self.current is None:
            self._hover(pointer)

    def double_press(self, pointer: Pointer, button: Qt.MouseButton) -> None:
        if button != _LEFT or self._space:
            self.press(pointer, button)
            return
        scene = self._view.graph_scene
        node = scene.node_at(pointer.scene)
        if scene.port_at(pointer.scene, self._view.port_reach()) is not None:
            self.press(pointer, button)
        elif node is not None:
            self._view.workspace.select((node.node_id,))
            if node.face.block:
                self._view.compose.enter()
            elif self._view.workspace.has_editor(node.node_id):
                self._view.workspace.editor_wanted.emit(node.node_id)
            else:
                self._view.rename_selected()
        elif not self._double_press_beside(pointer):
            self._view.workspace.select(())
            self._view.open_search_at(pointer.view)

    def _double_press_beside(self, pointer: Pointer) -> bool:
        """Opens the note or the frame's title, or gives the wire a bend; False where there is nothing."""
        view, scene = self._view, self._view.graph_scene
        wire = scene.link_at(pointer.scene, self._wire_reach())
        note, frame = scene.dressing.note_at(pointer.scene), scene.dressing.frame_at(pointer.scene)
        if scene.bend_at(pointer.scene, self._wire_reach()) is not None:
            return True
        if wire is not None:
            place = (pointer.scene.x(), pointer.scene.y())
            editing.add_bend(view.workspace, wire.polyline(), wire.link, place)
        elif note is not None:
            view.compose.edit_note(note.note.id)
        elif frame is not None:
            view.compose.rename_frame(frame.frame.id)
        return not (wire is None and note is None and frame is None)

    def point_out(self, point: QPointF) -> None:
        """Selects what the context menu is opened on, unless it is selected along with the rest.

        Over nothing, nothing is selected: the menu is that of the canvas.
        """
        view, scene = self._view, self._view.graph_scene
        node, note, frame = (
            scene.node_at(point),
            scene.dressing.note_at(point),
            scene.dressing.frame_at(point),
        )
        beside = note.note.id if note is not None else frame.frame.id if frame is not None else None
        wire = scene.link_at(point, self._wire_reach())
        if node is not None:
            if node.node_id not in view.workspace.selection:
                scene.choose_nothing()
                view.workspace.select((node.node_id,))
        else:
            view.workspace.select(())
            scene.select_links((wire.link,) if wire is not None else ())
            bend = scene.bend_at(point, self._wire_reach())
            scene.pick_bend(bend)
            scene.dressing.choose((beside,) if wire is None and beside is not None else ())

    def _by_place(self, pointer: Pointer) -> Interaction:
        """The gesture for what is under the pointer: port, node, wire or canvas."""
        view, scene = self._view, self._view.graph_scene
        port = scene.port_at(pointer.scene, view.port_reach())
        if port is not None:
            moves_all = port.side == "out" and pointer.has(Qt.KeyboardModifier.ControlModifier)
            return MoveWires(view, pointer, port) if moves_all else from_port(view, pointer, port)
        badge = scene.badge_at(pointer.scene)
        if badge is not None and not pointer.adds:
            self._on_node(pointer, badge.node_id)
            return PressBadge(view, pointer, badge.node_id)
        node = scene.node_at(pointer.scene)
        if node is not None:
            return self._on_node(pointer, node.node_id)
        reach = self._wire_reach()
        bend = scene.bend_at(pointer.scene, reach)
        if bend is not None:
            scene.dressing.choose(())
            return DragBend(view, pointer, *bend)
        wire = scene.link_at(pointer.scene, reach)
        if wire is None:
            return self._on_dressing(pointer)
        scene.dressing.choose(())
        scene.pick_bend(None)
        if pointer.adds:
            scene.select_links(scene.selected_links ^ {wire.link})
        else:
            view.workspace.select(())
            scene.select_links({wire.link})
        return GrabWire(view, pointer, wire.link)

    def _on_node(self, pointer: Pointer, node_id: str) -> Interaction:
        workspace = self._view.workspace
        chosen = workspace.selection
        if pointer.adds:
            kept = tuple(one for one in chosen if one != node_id)
            workspace.select(kept if node_id in chosen else (*chosen, node_id))
        elif node_id not in chosen:
            self._view.graph_scene.choose_nothing()
            workspace.select((node_id,))
        # A click on one of several selected nodes selects it alone, but only once it is known to be no drag.
        return MoveNodes(self._view, pointer, node_id, click_selects=not pointer.adds)

    def _on_dressing(self, pointer: Pointer) -> Interaction:
        """The gesture for a frame's title, a note, or nothing."""
        view, dressing = self._view, self._view.graph_scene.dressing
        note, frame = dressing.note_at(pointer.scene), dressing.frame_at(pointer.scene)
        if note is not None and note.selected and note.on_corner(pointer.scene):
            return ResizeNote(view, pointer, note.note.id)
        if frame is None and note is None:
            return BoxSelect(view, pointer)
        key = note.note.id if note is not None else frame.frame.id if frame is not None else ""
        if pointer.adds:
            dressing.choose(dressing.chosen ^ {key})
        elif key not in dressing.chosen:
            view.graph_scene.choose_nothing()
            view.workspace.select(())
            dressing.choose((key,))
        return MoveNodes(view, pointer, key, click_selects=not pointer.adds)

    def _wire_reach(self) -> float:
        return max(WIRE_REACH, WIRE_REACH / self._view.navigation.zoom)

    # -- without a gesture

    def _hover(self, pointer: Pointer) -> None:
        scene = self._view.graph_scene
        port = scene.port_at(pointer.scene, self._view.port_reach())
        node = scene.node_at(pointer.scene) if port is None else scene.node_items[port.node_id]
        self._hover_over(node.node_id if node is not None else None)
        wire = scene.link_at(pointer.scene, self._wire_reach()) if node is None else None
        self._view.shown.hover(wire.link if wire is not None else None)
        self._show_cursor(Qt.CursorShape.CrossCursor if port is not None else Qt.CursorShape.ArrowCursor)

    def hover_nothing(self) -> None:
        """The pointer left the canvas."""
        self._hover_over(None)
        self._view.shown.hover(None)

    def _hover_over(self, node_id: str | None) -> None:
        # The item is told again even if the id is the same: it may be a new one, brought back by an undo.
        items = self._view.graph_scene.node_items
        before = items.get(self._hovered) if self._hovered is not None else None
        now = items.get(node_id) if node_id is not None else None
        if before is not None and before is not now:
            before.show_hovered(False)
        if now is not None:
            now.show_hovered(True)
        self._hovered = node_id

    def _show_cursor(self, usual: Qt.CursorShape = Qt.CursorShape.ArrowCursor) -> None:
        """The cursor of the gesture under way, else a hand while the space bar is down, else `usual`."""
        shape = Qt.CursorShape.OpenHandCursor if self._space else usual
        if self.current is not None:
            shape = self.current.cursor
        viewport = self._view.viewport()
        if viewport.cursor().shape() != shape:
            viewport.setCursor(shape)
