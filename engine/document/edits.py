"""The only ways to change a project: edits, each of which returns its exact inverse when applied.

`apply` raises GraphError and changes nothing when the edit is impossible. Only `engine.document.document`
applies edits; inside a step, so that everything can be undone.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.document.edit_base import NODE_ID, UNSET, Edit, Together, checked_text
from engine.document.edits_blocks import AddBlock, RemoveBlock, RenameBlock
from engine.document.edits_canvas import (
    AddFrame,
    AddNote,
    ChangeFrame,
    ChangeNote,
    Move,
    RemoveFrame,
    RemoveNote,
    SetBends,
)
from engine.document.edits_graph import AddNodes, Connect, Disconnect, Remove
from engine.document.edits_nodes import Rename, SetMuted, SetParam, SetShares
from engine.document.graph import Project
from engine.document.plan import Plan

__all__ = [
    "NODE_ID",
    "UNSET",
    "AddBlock",
    "AddFrame",
    "AddNodes",
    "AddNote",
    "ChangeFrame",
    "ChangeNote",
    "Connect",
    "Disconnect",
    "Edit",
    "Move",
    "Remove",
    "RemoveBlock",
    "RemoveFrame",
    "RemoveNote",
    "Rename",
    "RenameBlock",
    "SetBends",
    "SetMuted",
    "SetNotes",
    "SetParam",
    "SetPlan",
    "SetShares",
    "SetTitle",
    "Together",
    "does_nothing",
    "supersedes",
]


@dataclass(frozen=True)
class SetPlan(Edit):
    """Replace the training plan."""

    plan: Plan

    def apply(self, project: Project) -> Edit:
        before, project.plan = project.plan, self.plan
        return SetPlan(before)


@dataclass(frozen=True)
class SetTitle(Edit):
    """Give the project another title."""

    title: str

    def apply(self, project: Project) -> Edit:
        before, project.title = project.title, checked_text(self.title, "A title")
        return SetTitle(before)


@dataclass(frozen=True)
class SetNotes(Edit):
    """Replace the project's notes (Markdown)."""

    notes: str

    def apply(self, project: Project) -> Edit:
        before, project.notes = project.notes, checked_text(self.notes, "A note")
        return SetNotes(before)


def does_nothing(edit: Edit, inverse: Edit) -> bool:
    """Return whether an edit with this inverse leaves a project as it was."""
    if isinstance(edit, (AddNodes, Remove)):
        return not edit.nodes and not edit.links
    if isinstance(inverse, SetMuted):
        return not inverse.node_ids
    if isinstance(edit, Together):
        return not edit.edits
    return edit == inverse and repr(edit) == repr(inverse)  # 1, 1.0 and True are equal, yet three values


def supersedes(later: Edit, earlier: Edit) -> bool:
    """Return whether `later`, applied right after `earlier`, leaves nothing of it."""
    if isinstance(later, SetParam) and isinstance(earlier, SetParam):
        return (later.node_id, later.name) == (earlier.node_id, earlier.name)
    if isinstance(later, Rename) and isinstance(earlier, Rename):
        return later.node_id == earlier.node_id
    if isinstance(later, Move) and isinstance(earlier, Move):
        return later.positions.keys() == earlier.positions.keys()
    if isinstance(later, SetBends) and isinstance(earlier, SetBends):
        return later.link == earlier.link
    if isinstance(later, SetShares) and isinstance(earlier, SetShares):
        return later.node_id == earlier.node_id
    if isinstance(later, RenameBlock) and isinstance(earlier, RenameBlock):
        return later.block_id == earlier.block_id
    if isinstance(later, ChangeFrame) and isinstance(earlier, ChangeFrame):
        return later.frame.id == earlier.frame.id
    if isinstance(later, ChangeNote) and isinstance(earlier, ChangeNote):
        return later.note.id == earlier.note.id
    return type(later) is type(earlier) and isinstance(later, (SetPlan, SetTitle, SetNotes))
