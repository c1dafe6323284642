"""The canvas's own context menu."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import QMenu

from app.canvas.canvas_commands import CanvasCommands
from app.canvas.editing import editing
from app.canvas.editing.drawn import swap_words
from app.canvas.items.frame_item import frame_colour
from app.canvas.scene.shown import labels_always, shows_thumbnails
from app.theme import current_theme
from engine.document.dressing import COLOURS

Entry = tuple[str, Callable[[], object]]


def canvas_menu(view: CanvasCommands, at: QPointF) -> QMenu:
    """What can be done with the selection, or with the canvas at a scene point when nothing is selected."""
    menu = QMenu(view.viewport())
    menu.setObjectName("canvasMenu")
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    scene = view.graph_scene
    if view.workspace.selection:
        _add(menu, _for_nodes(view), _for_blocks(view), _for_weights(view), _for_all(view))
    elif scene.dressing.chosen:
        _for_dressing(view, menu)
        _add(menu, [("Delete\tDel", view.delete_selection)])
    elif scene.picked_bend is not None:
        _add(menu, [("Remove the bend\tDel", view.delete_selection)])
    elif scene.selected_links:
        _add(menu, _for_wires(view, at), [("Delete\tDel", view.delete_selection)])
    else:
        _add(menu, _for_canvas(view))
        _switches(view, menu)
    return menu


def _add(menu: QMenu, *groups: list[Entry]) -> None:
    """Adds the entries with a line between groups."""
    for group in groups:
        if group and not menu.isEmpty():
            menu.addSeparator()
        for text, command in group:
            menu.addAction(text).triggered.connect(_Call(command))


class _Call:
    """Calls a command without the `checked` argument that `triggered` carries."""

    def __init__(self, command: Callable[[], object]) -> None:
        self._command = command

    def __call__(self, _checked: bool = False) -> None:
        self._command()


def _for_wires(view: CanvasCommands, at: QPointF) -> list[Entry]:
    scene, place = view.graph_scene, (at.x(), at.y())
    links = sorted(scene.selected_links)
    if len(links) != 1:
        return []
    bend = partial(editing.add_bend, view.workspace, scene.link_items[links[0]].polyline(), links[0], place)
    return [
        ("Add a bend", bend),
        ("Show where it begins", partial(view.workspace.reveal, links[0].source)),
        ("Show where it ends", partial(view.workspace.reveal, links[0].target)),
    ]


def _for_nodes(view: CanvasCommands) -> list[Entry]:
    nodes = [node for node in map(view.workspace.node, view.workspace.selection) if node is not None]
    several, muted = len(nodes) > 1, all(node.muted for node in nodes)
    entries: list[Entry] = [("Rename\tF2", view.rename_selected)]
    if not several and nodes and view.workspace.has_editor(nodes[0].id):
        kind = view.workspace.type_of(nodes[0])
        words = f"{kind.editor if kind is not None else ''}…"
        entries.insert(0, (words, partial(view.workspace.editor_wanted.emit, nodes[0].id)))
    if several:
        entries.append(("Connect\tC", view.connect_selected))
    else:
        entries.append(("Replace…", view.compose.offer_replacement))
    if any(view.graph_scene.problems_of(node.id) for node in nodes):
        entries.append(("Problems…\t.", view.problems.open_selected))
    entries.append(("Unmute\tM" if muted else "Mute\tM", view.compose.mute))
    entries.append(("Put into a frame\tCtrl+Shift+F", view.compose.frame_selection))
    frames = view.workspace.document.project.frames.values()
    if any(one in frame.members for frame in frames for one in view.workspace.selection):
        entries.append(("Take out of the frame", view.compose.unframe))
    return entries


def _for_blocks(view: CanvasCommands) -> list[Entry]:
    compose = view.compose
    nodes = [node for node in map(view.workspace.node, view.workspace.selection) if node is not None]
    entries: list[Entry] = [("Group into a block\tCtrl+G", compose.group)]
    words = swap_words(view.workspace)
    if words:
        entries.append((words, compose.swap))
    instances = [node for node in nodes if node.block]
    if not instances:
        return entries
    if len(nodes) == 1:
        entries.append(("Open the block\tTab", compose.enter))
        entries.append(("Name the block…", partial(compose.name_block, nodes[0].id)))
    entries.append(("Ungroup\tCtrl+Shift+G", compose.ungroup))
    if any(len(view.workspace.document.project.instances(node.block)) > 1 for node in instances):
        entries.append(("Make independent copy", compose.make_independent))
    entries.append(("Add to my blocks", compose.keep))
    return entries


def _for_weights(view: CanvasCommands) -> list[Entry]:
    entries: list[Entry] = []
    nodes = [node for node in map(view.workspace.node, view.workspace.selection) if node is not None]
    if view.compose.can_link() and not any(node.block for node in nodes):
        entries.append(("Share weights", view.compose.link_weights))
    if any(node.shares for node in nodes):
        entries.append(("Give weights of its own", view.compose.unlink_weights))
    return entries


def _for_all(view: CanvasCommands) -> list[Entry]:
    return [
        ("Duplicate\tCtrl+D", view.duplicate),
        ("Copy\tCtrl+C", view.copy),
        ("Cut\tCtrl+X", view.cut),
        ("Show\tF", view.frame_selection),
        ("Delete and reconnect\tCtrl+Del", view.delete_and_reconnect),
        ("Delete\tDel", view.delete_selection),
    ]


def _for_dressing(view: CanvasCommands, menu: QMenu) -> None:
    dressing = view.graph_scene.dressing
    frames = sorted(dressing.chosen & dressing.frames.keys())
    notes = sorted(dressing.chosen & dressing.notes.keys())
    if frames:
        _add(menu, [("Rename\tF2", partial(view.compose.rename_frame, frames[0]))])
        colours = menu.addMenu("Colour")
        shown = dressing.frames[frames[0]].frame.colour
        for name in COLOURS:
            action = colours.addAction(_swatch(name), name.capitalize())
            action.setCheckable(True)
            action.setChecked(name == shown)
            action.triggered.connect(_Call(partial(view.compose.colour_frames, name)))
        _add(menu, [("Remove the frame, keep its nodes", view.compose.unframe)])
    elif notes:
        _add(menu, [("Write", partial(view.compose.edit_note, notes[0])), ("Copy\tCtrl+C", view.copy)])


def _swatch(name: str) -> QIcon:
    pixmap = QPixmap(12, 12)
    pixmap.fill(frame_colour(current_theme(), name))
    return QIcon(pixmap)


def _for_canvas(view: CanvasCommands) -> list[Entry]:
    entries: list[Entry] = [
        ("Add a node…\tTab", view.open_search),
        ("Add a note", view.compose.add_note),
        ("Paste\tCtrl+V", view.paste),
        ("Select all\tCtrl+A", view.select_all),
        ("Show everything\tHome", view.fit),
    ]
    if view.workspace.scope:
        entries.append(("Leave the block\tEsc", view.compose.leave))
    return entries


def _switches(view: CanvasCommands, menu: QMenu) -> None:
    menu.addSeparator()
    settings = view.workspace.settings
    for text, shown, switch in (
        ("Snap to grid", view.snapping, view.set_snapping),
        ("Map", view.shows_minimap, view.set_minimap),
        ("Live views", shows_thumbnails(settings), view.shown.set_thumbnails),
        ("Shapes on all wires", labels_always(settings), view.shown.set_labels),
        ("Status line", not view.status.isHidden(), view.set_status),
    ):
        action = menu.addAction(text)
        action.setCheckable(True)
        action.setChecked(shown)
        action.toggled.connect(switch)
