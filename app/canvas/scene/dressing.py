"""What lies on the canvas beside nodes and wires: frames, notes, and the chains between linked nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtCore import QPointF, QRectF

from app.canvas.items import geometry as g
from app.canvas.items.chain_item import ChainItem
from app.canvas.items.drawn_nodes import DrawnNodes
from app.canvas.items.frame_item import MARGIN, STEP, TITLE, FrameItem
from app.canvas.items.note_item import NoteItem
from engine.document.dressing import Frame, Note
from engine.layout.clusters import Cluster
from engine.values import natural


class Dressing:
    """Follows the frames, notes and shared weights of the scope that a scene shows."""

    def __init__(self, scene: DrawnNodes) -> None:
        self._scene = scene
        self.frames: dict[str, FrameItem] = {}
        self.notes: dict[str, NoteItem] = {}
        self.chains: dict[str, ChainItem] = {}  # by the node that uses another's weights
        self.chosen: frozenset[str] = frozenset()  # selected frames and notes
        self._frames_of: dict[str, list[str]] = {}
        self._depths: dict[str, int] = {}

    def sync(self) -> bool:
        """Shows what the document has; whether anything came, went or changed its size."""
        project, scope = self._scene.workspace.document.project, self._scene.workspace.scope
        frames = {key: frame for key, frame in project.frames.items() if frame.scope == scope}
        notes = {key: note for key, note in project.notes_on_canvas.items() if note.scope == scope}
        changed = self._sync_frames(frames)
        changed |= self._sync_notes(notes)
        self._sync_chains()
        self.choose(self.chosen)
        return changed

    def _sync_frames(self, frames: Mapping[str, Frame]) -> bool:
        before = {key: (item.frame, item.outline) for key, item in self.frames.items()}
        for key in self.frames.keys() - frames.keys():
            self._scene.removeItem(self.frames.pop(key))
        self._frames_of = {}
        for key, frame in frames.items():
            for member in frame.members:
                self._frames_of.setdefault(member, []).append(key)
        self._depths = _depths(frames)
        for key, frame in frames.items():
            self._show_frame(key, frame)
        return before != {key: (item.frame, item.outline) for key, item in self.frames.items()}

    def _show_frame(self, key: str, frame: Frame, members: frozenset[str] | None = None) -> None:
        items = self._scene.node_items
        chosen = frame.members if members is None else members
        box = g.around(items[one].box() for one in chosen if one in items)
        if box is None:
            return
        item = self.frames.get(key)
        if item is None:
            item = self.frames[key] = FrameItem(frame, box, self._scene.detail)
            self._scene.addItem(item)
        item.show_frame(frame, box, self._depths.get(key, 0))

    def _sync_notes(self, notes: Mapping[str, Note]) -> bool:
        before = {key: (item.note, item.rect()) for key, item in self.notes.items()}
        for key in self.notes.keys() - notes.keys():
            self._scene.removeItem(self.notes.pop(key))
        for key, note in notes.items():
            if key in self.notes:
                self.notes[key].show_note(note)
            else:
                self.notes[key] = NoteItem(note, self._scene.detail)
                self._scene.addItem(self.notes[key])
        return before != {key: (item.note, item.rect()) for key, item in self.notes.items()}

    def _sync_chains(self) -> None:
        graph, items = self._scene.workspace.graph, self._scene.node_items
        wanted = {
            node_id: node.shares
            for node_id, node in graph.nodes.items()
            if node.shares and node_id in items and node.shares in items
        }
        for key in self.chains.keys() - wanted.keys():
            self._scene.removeItem(self.chains.pop(key))
        for key, other in wanted.items():
            item = self.chains.get(key)
            if item is None:
                item = self.chains[key] = ChainItem(key, other, self._scene.detail)
                self._scene.addItem(item)
            item.join(other, items[key].box(), items[other].box())

    def clusters(self, node_ids: frozenset[str]) -> list[Cluster]:
        """What a layout of these nodes keeps together: the frames that have no other members."""
        found = []
        for key, item in self.frames.items():
            if item.frame.members <= node_ids:
                room = MARGIN + self._depths[key] * STEP
                found.append(Cluster(item.frame.members, room, room + TITLE))
        return found

    # -- following nodes that move

    def refit(self, node_ids: Iterable[str]) -> None:
        """Nodes are shown elsewhere: their frames and chains follow."""
        moved = set(node_ids)
        touched = {key for node_id in moved for key in self._frames_of.get(node_id, ())}
        for key in touched:
            self._show_frame(key, self.frames[key].frame)
        items = self._scene.node_items
        for key, chain in self.chains.items():
            if key in moved or chain.other in moved:
                chain.join(chain.other, items[key].box(), items[chain.other].box())

    def preview_members(self, frame_id: str, members: frozenset[str]) -> None:
        """Shows a frame around other members than it has, until the next change or `refit`."""
        item = self.frames.get(frame_id)
        if item is not None and members:
            self._show_frame(frame_id, item.frame, members)

    def preview_notes(self, positions: Mapping[str, g.Point]) -> None:
        """Shows notes at other places, until the next `sync`."""
        for key, place in positions.items():
            self.notes[key].setPos(*place)

    # -- selection

    def choose(self, ids: Iterable[str]) -> None:
        """Selects these frames and notes and no others; the document does not know of it."""
        wanted = frozenset(key for key in ids if key in self.frames or key in self.notes)
        items: dict[str, FrameItem | NoteItem] = {**self.frames, **self.notes}
        for key, item in items.items():
            item.show_selected(key in wanted)
        self.chosen = wanted

    # -- what is where

    def frame_at(self, point: QPointF) -> FrameItem | None:
        """The frame whose title or outline is at a scene point, the innermost first."""
        found = [item for item in self.frames.values() if item.holds(point)]
        return min(found, key=_area, default=None)

    def frame_around(self, point: QPointF) -> FrameItem | None:
        """The innermost frame that a scene point lies in."""
        found = [item for item in self.frames.values() if item.outline.contains(point)]
        return min(found, key=_area, default=None)

    def note_at(self, point: QPointF) -> NoteItem | None:
        """The topmost note at a scene point."""
        found = [item for item in self.notes.values() if item.rect().contains(point)]
        return max(found, key=_number, default=None)

    def notes_in(self, rect: QRectF) -> list[str]:
        """The notes that lie wholly inside a rectangle."""
        return [key for key, item in self.notes.items() if rect.contains(item.rect())]

    def bounds(self) -> QRectF:
        """The rectangle around all of it; null for none."""
        found = QRectF()
        for frame in self.frames.values():
            found = found.united(frame.boundingRect())
        for note in self.notes.values():
            found = found.united(note.rect())
        return found

    def restyle(self) -> None:
        """The theme, and so the fonts, may have changed."""
        items: list[FrameItem | NoteItem] = [*self.frames.values(), *self.notes.values()]
        for item in items:
            item.restyle()


def _depths(frames: Mapping[str, Frame]) -> dict[str, int]:
    """How many frames lie inside each other, by members."""
    depths: dict[str, int] = {}
    for key, frame in sorted(frames.items(), key=_size):
        inside = [depths[other] + 1 for other in depths if frames[other].members < frame.members]
        depths[key] = max(inside, default=0)
    return depths


def _size(entry: tuple[str, Frame]) -> tuple[int, tuple[object, ...]]:
    return len(entry[1].members), natural(entry[0])


def _area(item: FrameItem) -> float:
    return item.outline.width() * item.outline.height()


def _number(item: NoteItem) -> tuple[object, ...]:
    return natural(item.note.id)
