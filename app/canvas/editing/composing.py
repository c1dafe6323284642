"""Commands that give a graph its structure: mute, frames, notes, blocks, shared weights.

Each makes one undoable step or none; menus and keys call them through `GraphView.compose`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit

from app.canvas.editing import drawn, editing
from app.canvas.editing.framing import membership
from app.canvas.editing.joining import addable
from app.canvas.finder import Finder
from app.canvas.in_place import InPlace
from app.canvas.items.frame_item import TITLE
from app.canvas.items.geometry import finite, snapped
from app.canvas.scene.canvas import Canvas
from app.workspace import block_library
from engine.document import blocks
from engine.document.dressing import Frame, Note
from engine.document.edits import (
    AddBlock,
    AddFrame,
    AddNote,
    ChangeFrame,
    ChangeNote,
    Edit,
    RemoveFrame,
    Rename,
    RenameBlock,
    SetMuted,
    SetShares,
)
from engine.document.files import reason
from engine.document.graph import Node
from engine.document.names import free_name, names_of
from engine.errors import NeuroloomError

FIELD_WIDTH, FIELD_HEIGHT = 120, 24
NOTE_SIZE = (240.0, 120.0)


class Composing:
    """The structural commands of one canvas."""

    def __init__(
        self, view: Canvas, finder: Finder, names: InPlace[QLineEdit], notes: InPlace[QPlainTextEdit]
    ) -> None:
        self._view = view
        self._finder, self._names, self._notes = finder, names, notes
        self._workspace = view.workspace
        self._scene = view.graph_scene
        for typing in (names, notes):
            typing.ended.connect(self._workspace.seal)

    def _chosen(self) -> list[Node]:
        graph = self._workspace.graph
        return [graph.nodes[one] for one in self._workspace.selection if one in graph.nodes]

    def _made(self, make: Callable[[], Iterable[Edit]]) -> tuple[Edit, ...]:
        """The edits that `make` gives; none, with a message that says why, when it refuses."""
        try:
            return tuple(make())
        except NeuroloomError as error:
            self._workspace.message.emit(error.message, "warning")
            return ()

    def _apply(self, label: str, edits: Iterable[Edit], merge: str | None = None) -> bool:
        found = tuple(edits)
        self._view.cancel_interaction()
        return bool(found) and self._workspace.apply(label, *found, merge=merge)

    def forget_gone(self) -> None:
        """Closes a field over something that is no longer on the canvas."""
        for typing in (self._names, self._notes):
            if typing.owner is not None and not self._scene.shows(typing.owner):
                typing.finish(keep=False)

    def rename(self) -> None:
        """Opens the name of the selected node, or the title of the selected frame, for typing."""
        nodes = self._chosen()
        if not nodes:
            for key in sorted(self._scene.dressing.chosen)[:1]:
                self.rename_frame(key)
            return
        self._view.reveal(nodes[0].id)
        item = self._scene.node_items[nodes[0].id]
        place = partial(self._field_at, QPointF(item.x() + 8, item.y() + 4), item.face.layout.width - 16)
        self._names.begin(nodes[0].id, item.face.name, place, self._rename_node)

    def _rename_node(self, node_id: str, name: str) -> bool:
        return editing.rename(self._workspace, node_id, name)

    def offer_replacement(self) -> None:
        """Offers the node types that can take the place of the selected node."""
        nodes = self._chosen()
        if len(nodes) != 1:
            self._workspace.message.emit("Select the node to be replaced first.", "info")
            return
        node, item = nodes[0], self._scene.node_items[nodes[0].id]
        types = [
            found for found in addable(self._workspace) if found.type_id not in (node.type, *blocks.PORTS)
        ]
        corner = self._view.mapFromScene(QPointF(item.x(), item.y() + item.face.layout.height + 8))
        choose = partial(editing.replace_node, self._workspace, node.id)
        self._finder.offer(corner, types, choose, _nothing)

    # -- mute

    def mute(self) -> None:
        """Mutes the selected nodes, or wakes them when all are muted already."""
        nodes = self._chosen()
        muted = not all(node.muted for node in nodes)
        changed = tuple(node.id for node in nodes if node.muted != muted)
        if changed:
            self._apply("Mute" if muted else "Unmute", [SetMuted(changed, muted)])

    # -- frames

    def frame_selection(self) -> None:
        """Draws a frame around the selected nodes and lets its title be typed."""
        ids = [node.id for node in self._chosen()]
        if not ids:
            self._workspace.message.emit("Select the nodes that the frame goes around first.", "info")
            return
        workspace = self._workspace
        frame = Frame(workspace.document.project.new_id("f"), "Frame", members=frozenset(ids))
        frame = replace(frame, scope=workspace.scope)
        # The title that is typed next belongs to the same step, as does the text of a new note.
        if self._apply("Frame", [*self._left(frame.members), AddFrame(frame)], _text_of(frame.id)):
            self._scene.choose_nothing()
            self._scene.dressing.choose((frame.id,))
            self.rename_frame(frame.id)

    def _left(self, ids: frozenset[str]) -> list[Edit]:
        """Takes nodes out of frames that the new one does not fit into or around."""
        frames = self._workspace.document.project.frames.values()
        here = [frame for frame in frames if frame.scope == self._workspace.scope and frame.members & ids]
        crossed = [frame for frame in here if not (ids < frame.members or frame.members < ids)]
        return [
            ChangeFrame(left) if (left := frame.without(ids)) is not None else RemoveFrame(frame.id)
            for frame in crossed
        ]

    def unframe(self) -> None:
        """Takes the selected frames away, or the selected nodes out of theirs."""
        frames = [key for key in sorted(self._scene.dressing.chosen) if key in self._scene.dressing.frames]
        if frames:
            self._apply("Remove frame", map(RemoveFrame, frames))
        else:
            ids = [node.id for node in self._chosen()]
            self._apply("Take out of frame", membership(self._workspace, ids, None))

    def rename_frame(self, frame_id: str) -> None:
        """Opens the title of a frame for typing."""
        item = self._scene.dressing.frames.get(frame_id)
        if item is not None:
            place = QPointF(item.outline.left() + 4, item.outline.top() - TITLE - 2)
            self._names.begin(frame_id, item.frame.title, partial(self._field_at, place), self._title_frame)

    def _title_frame(self, frame_id: str, title: str) -> bool:
        frame = self._workspace.document.project.frames.get(frame_id)
        if frame is None:
            return False
        change = ChangeFrame(replace(frame, title=title))
        return self._workspace.apply("Rename frame", change, merge=_text_of(frame_id))

    def colour_frames(self, colour: str) -> None:
        """Gives the selected frames a colour of the palette."""
        frames = self._workspace.document.project.frames
        chosen = [frames[key] for key in sorted(self._scene.dressing.chosen) if key in frames]
        changed = [replace(frame, colour=colour) for frame in chosen if frame.colour != colour]
        self._apply("Colour frame", map(ChangeFrame, changed))

    def _field_at(self, point: QPointF, width: float = 0.0) -> QRect:
        """Where a line stands that begins at a scene point, and is so wide in the scene if there is room."""
        corner = self._view.mapFromScene(point)
        wide = max(FIELD_WIDTH, round(width * self._view.navigation.zoom))
        return QRect(corner, corner + QPoint(wide, FIELD_HEIGHT))

    # -- notes

    def add_note(self) -> None:
        """Puts an empty note at the cursor and lets it be written."""
        workspace = self._workspace
        at = self._view.mapToScene(self._view.cursor_place())
        place = finite(snapped((at.x(), at.y())))
        note_id = workspace.document.project.new_id("t")
        note = Note(note_id, "", place, NOTE_SIZE, workspace.scope)
        if self._apply("Add note", [AddNote(note)], _text_of(note_id)):
            self._scene.choose_nothing()
            self._scene.dressing.choose((note_id,))
            self.edit_note(note_id)

    def edit_note(self, note_id: str) -> None:
        """Opens a note for writing."""
        item = self._scene.dressing.notes.get(note_id)
        if item is not None:
            place = partial(self._page_at, item.rect())
            self._notes.begin(note_id, item.note.text, place, self._write_note)

    def _page_at(self, rect: QRectF) -> QRect:
        """Where a page lies over a part of the scene, large enough to write on."""
        corner, end = self._view.mapFromScene(rect.topLeft()), self._view.mapFromScene(rect.bottomRight())
        size = end - corner
        return QRect(corner.x(), corner.y(), max(size.x(), 220), max(size.y(), 100))

    def _write_note(self, note_id: str, text: str) -> bool:
        note = self._workspace.document.project.notes_on_canvas.get(note_id)
        if note is None:
            return False
        change = ChangeNote(replace(note, text=text))
        return self._workspace.apply("Write note", change, merge=_text_of(note_id))

    # -- blocks

    def group(self) -> None:
        """Makes the selection a block and lets its name be typed."""
        workspace = self._workspace
        notes = [key for key in self._scene.dressing.chosen if key in self._scene.dressing.notes]
        ids = [node.id for node in self._chosen()]
        if not ids:
            workspace.message.emit("Select the nodes for the block first.", "info")
            return
        edits = self._made(partial(blocks.group, workspace.document.project, [*ids, *notes]))
        before = set(workspace.graph.nodes)
        block = next((edit.block.id for edit in edits if isinstance(edit, AddBlock)), "")
        # As with a frame, the name that is typed next belongs to the same step.
        if self._apply("Group", edits, _text_of(block)):
            made = [one for one in workspace.graph.nodes if one not in before]
            workspace.select(made, seal=False)
            if made:
                self.name_block(made[0])

    def name_block(self, instance_id: str) -> None:
        """Opens the name of a block for typing, on one of its instances."""
        node, item = self._workspace.node(instance_id), self._scene.node_items.get(instance_id)
        block = self._workspace.document.project.blocks.get(node.block) if node is not None else None
        if item is not None and block is not None:
            place = QPointF(item.x() + 8, item.y() + 4)
            self._names.begin(instance_id, block.name, partial(self._field_at, place), self._rename_block)

    def _rename_block(self, instance_id: str, name: str) -> bool:
        """Names the block, and the instance on which the name was typed after it."""
        node = self._workspace.node(instance_id)
        block = self._workspace.document.project.blocks.get(node.block) if node is not None else None
        if node is None or block is None or not name.strip():
            return False
        own = free_name(name, names_of(self._workspace.graph) - {node.name})
        named = RenameBlock(block.id, name), Rename(instance_id, own)
        return self._workspace.apply("Rename block", *named, merge=_text_of(block.id))

    def ungroup(self) -> None:
        """Puts the inside of the selected blocks in their place."""
        project = self._workspace.document.project
        instances = [node.id for node in self._chosen() if node.block]
        if not instances:
            self._workspace.message.emit("Select a block to ungroup first.", "info")
        for instance_id in instances:
            before = set(self._workspace.graph.nodes)
            if self._apply("Ungroup", self._made(partial(blocks.ungroup, project, instance_id))):
                self._workspace.select(one for one in self._workspace.graph.nodes if one not in before)

    def make_independent(self) -> None:
        """Gives the selected instances a definition of their own."""
        for node in self._chosen():
            if node.block:
                make = partial(blocks.copy_independent, self._workspace.document.project, node.id)
                self._apply("Make independent copy", self._made(make))

    def swap(self) -> None:
        """Draws the selected layer from its parts, or puts the fast node in the place of its drawing."""
        drawn.swap(self._workspace)

    def enter(self) -> bool:
        """Shows the inside of the selected block; False when no block is selected."""
        nodes = self._chosen()
        if len(nodes) != 1 or not nodes[0].block:
            return False
        self._workspace.enter(nodes[0].block)
        return True

    def keep(self) -> None:
        """Puts the selected blocks into the user's own library."""
        workspace = self._workspace
        for node in self._chosen():
            block = workspace.document.project.blocks.get(node.block)
            if block is None:
                continue
            try:
                path = block_library.keep(workspace.places.blocks, workspace.document.project, node.id)
            except (OSError, NeuroloomError) as error:
                workspace.message.emit(f"The block could not be kept: {reason(error)}.", "error")
                continue
            workspace.message.emit(f"“{block.name or path.stem}” is among your blocks now.", "info")

    def leave(self) -> bool:
        """Goes back to the graph that the shown block stands in; False at the root."""
        if not self._workspace.scope:
            return False
        self._workspace.leave()
        return True

    # -- shared weights

    def can_link(self) -> bool:
        """Whether the selection is several nodes of one type."""
        nodes = self._chosen()
        return len(nodes) > 1 and len({node.type for node in nodes}) == 1

    def link_weights(self) -> None:
        """Lets the selected nodes use the weights of the first of them."""
        nodes = self._chosen()
        if not self.can_link():
            self._workspace.message.emit("Select several nodes of one type to share weights.", "info")
            return
        first = nodes[0].shares or nodes[0].id
        self._apply("Share weights", [SetShares(node.id, first) for node in nodes if node.id != first])

    def unlink_weights(self) -> None:
        """Gives the selected nodes weights of their own again."""
        changed = [SetShares(node.id, "") for node in self._chosen() if node.shares]
        self._apply("Own weights", changed)


def _text_of(key: str) -> str:
    """The merge key of what is typed into a frame or a note that has just been made."""
    return f"text {key}"


def _nothing() -> None:
    """The search was given up."""
