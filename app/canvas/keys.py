"""What each key does on the canvas. Keys reach it only while it has the focus, never from a text field."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from app.canvas.canvas_commands import CanvasCommands
from app.canvas.editing import editing
from app.canvas.editing.neighbours import nearest
from app.canvas.items.geometry import SNAP, Point

PAN = 80.0
_ARROWS: dict[int, Point] = {
    Qt.Key.Key_Left: (-1.0, 0.0),
    Qt.Key.Key_Right: (1.0, 0.0),
    Qt.Key.Key_Up: (0.0, -1.0),
    Qt.Key.Key_Down: (0.0, 1.0),
}
_PLAIN = Qt.KeyboardModifier.NoModifier
_CONTROL = Qt.KeyboardModifier.ControlModifier
_SHIFT = Qt.KeyboardModifier.ShiftModifier
_ALT = Qt.KeyboardModifier.AltModifier


def press(view: CanvasCommands, event: QKeyEvent) -> bool:
    """Does what a key stands for; False when it stands for nothing here."""
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    if view.interaction is not None and view.interaction.key(Qt.Key(event.key())):
        return True
    if event.key() == Qt.Key.Key_Escape:
        return _escape(view)
    if event.key() in _ARROWS:
        return _arrow(view, _ARROWS[event.key()], modifiers)
    for standard, command in _standard(view):
        if event.matches(standard):
            command()
            return True
    plain = _commands(view).get((event.key(), modifiers))
    if plain is None:
        return False
    plain()
    return True


def _standard(view: CanvasCommands) -> tuple[tuple[QKeySequence.StandardKey, Callable[[], object]], ...]:
    keys = QKeySequence.StandardKey
    return (
        (keys.Undo, view.undo),
        (keys.Redo, view.redo),
        (keys.Copy, view.copy),
        (keys.Cut, view.cut),
        (keys.Paste, view.paste),
        (keys.SelectAll, view.select_all),
        (keys.ZoomIn, view.zoom_in),
        (keys.ZoomOut, view.zoom_out),
    )


def _commands(view: CanvasCommands) -> dict[tuple[int, Qt.KeyboardModifier], Callable[[], object]]:
    key = Qt.Key
    return {
        (key.Key_Tab, _PLAIN): partial(_enter_or_search, view),
        (key.Key_Period, _PLAIN): view.problems.open_selected,
        (key.Key_M, _PLAIN): view.compose.mute,
        (key.Key_F, _CONTROL | _SHIFT): view.compose.frame_selection,
        (key.Key_G, _CONTROL): view.compose.group,
        (key.Key_G, _CONTROL | _SHIFT): view.compose.ungroup,
        (key.Key_Delete, _PLAIN): view.delete_selection,
        (key.Key_Backspace, _PLAIN): view.delete_selection,
        (key.Key_Delete, _CONTROL): view.delete_and_reconnect,
        (key.Key_Backspace, _CONTROL): view.delete_and_reconnect,
        (key.Key_F2, _PLAIN): view.rename_selected,
        (key.Key_Home, _PLAIN): view.fit,
        (key.Key_F, _PLAIN): view.frame_selection,
        (key.Key_C, _PLAIN): view.connect_selected,
        (key.Key_D, _CONTROL): view.duplicate,
        (key.Key_D, _SHIFT): view.duplicate,
        (key.Key_Y, _CONTROL): view.redo,
        (key.Key_Z, _CONTROL | _SHIFT): view.redo,
        (key.Key_0, _CONTROL): view.zoom_reset,
        (key.Key_Equal, _CONTROL): view.zoom_in,
    }


def _escape(view: CanvasCommands) -> bool:
    if view.cancel_interaction():
        return True
    scene, workspace = view.graph_scene, view.workspace
    chosen = workspace.selection or scene.selected_links or scene.dressing.chosen or scene.picked_bend
    if chosen:
        scene.choose_nothing()
        workspace.select(())
    else:
        view.compose.leave()
    return True


def _enter_or_search(view: CanvasCommands) -> None:
    if not view.compose.enter():
        view.open_search()


def _arrow(view: CanvasCommands, way: Point, modifiers: Qt.KeyboardModifier) -> bool:
    """Arrows move the selected nodes, with Alt the selection; with nothing selected they move the canvas."""
    chosen = view.workspace.selection
    if modifiers & _ALT:
        found = nearest(view.graph_scene.boxes.all(), chosen[0] if chosen else None, way)
        if found is not None:
            view.workspace.select((found,))
            view.reveal(found)
    elif chosen:
        step = 1.0 if modifiers & _SHIFT else SNAP
        view.cancel_interaction()
        editing.nudge(view.workspace, chosen, (way[0] * step, way[1] * step))
    else:
        view.navigation.pan_by(-way[0] * PAN, -way[1] * PAN)
    return True
