"""Edits of how a graph lies on the canvas: places, bends of wires, frames and notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from engine.document.dressing import Frame, Note
from engine.document.edit_base import Edit, ends, keep_ids, one_of, with_one
from engine.document.graph import Link, Points, Project
from engine.document.scopes import refuse_frame
from engine.errors import GraphError
from engine.values import place


@dataclass(frozen=True)
class Move(Edit):
    """Place nodes on the canvas, in scene units."""

    positions: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "positions", {id: place(xy) for id, xy in self.positions.items()})

    def apply(self, project: Project) -> Edit:
        moved = [(project.graph_of(project.home(id)), id, xy) for id, xy in self.positions.items()]
        return Move(
            {id: graph._replace(replace(graph.node(id), position=xy)).position for graph, id, xy in moved}
        )

    @property
    def touched(self) -> frozenset[str]:
        return frozenset(self.positions)


@dataclass(frozen=True)
class SetBends(Edit):
    """Lead a wire through points, in order from its source; none makes it straight again."""

    link: Link
    points: Points = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", tuple(place(point, "bend of a wire") for point in self.points))

    def apply(self, project: Project) -> Edit:
        graph = project.graph_of(project.home(self.link.target))
        return SetBends(self.link, graph._bend(self.link, self.points))

    @property
    def touched(self) -> frozenset[str]:
        return ends((self.link,))


@dataclass(frozen=True)
class AddFrame(Edit):
    """Draw a frame around nodes of one scope."""

    frame: Frame

    def apply(self, project: Project) -> Edit:
        if self.frame.id in project.frames:
            raise GraphError(f'There are two frames with the id "{self.frame.id}".')
        refuse_frame(project, self.frame)
        project.frames = with_one(project.frames, self.frame.id, self.frame)
        keep_ids(project, self.frame.id)
        return RemoveFrame(self.frame.id)


@dataclass(frozen=True)
class RemoveFrame(Edit):
    """Take a frame away; its members stay where they are."""

    frame_id: str

    def apply(self, project: Project) -> Edit:
        before = one_of(project.frames, self.frame_id, "frame")
        del project.frames[self.frame_id]
        return AddFrame(before)


@dataclass(frozen=True)
class ChangeFrame(Edit):
    """Put another frame of the same id in a frame's place: title, colour, members."""

    frame: Frame

    def apply(self, project: Project) -> Edit:
        before = one_of(project.frames, self.frame.id, "frame")
        refuse_frame(project, self.frame)
        project.frames[self.frame.id] = self.frame
        return ChangeFrame(before)


@dataclass(frozen=True)
class AddNote(Edit):
    """Put a note on the canvas of one scope."""

    note: Note

    def apply(self, project: Project) -> Edit:
        if self.note.id in project.notes_on_canvas:
            raise GraphError(f'There are two notes with the id "{self.note.id}".')
        project.graph_of(self.note.scope)
        project.notes_on_canvas = with_one(project.notes_on_canvas, self.note.id, self.note)
        keep_ids(project, self.note.id)
        return RemoveNote(self.note.id)


@dataclass(frozen=True)
class RemoveNote(Edit):
    """Take a note off the canvas."""

    note_id: str

    def apply(self, project: Project) -> Edit:
        before = one_of(project.notes_on_canvas, self.note_id, "note")
        del project.notes_on_canvas[self.note_id]
        return AddNote(before)


@dataclass(frozen=True)
class ChangeNote(Edit):
    """Put another note of the same id in a note's place: text, position, size."""

    note: Note

    def apply(self, project: Project) -> Edit:
        before = one_of(project.notes_on_canvas, self.note.id, "note")
        project.graph_of(self.note.scope)
        project.notes_on_canvas[self.note.id] = self.note
        return ChangeNote(before)
