"""Which graph of a project is on show, how one gets there, and which edits only change how it is drawn."""

from __future__ import annotations

from collections.abc import Iterable

from engine.document.edits import (
    AddFrame,
    AddNote,
    ChangeFrame,
    ChangeNote,
    Edit,
    Move,
    RemoveFrame,
    RemoveNote,
    SetBends,
    Together,
)
from engine.document.graph import Project

Trail = tuple[str, ...]
ROOT: Trail = ("",)

_DRAWING = (Move, SetBends, AddFrame, ChangeFrame, RemoveFrame, AddNote, ChangeNote, RemoveNote)


def trail_to(project: Project, scope: str, trail: Trail) -> Trail:
    """The scopes from the root to `scope`: along `trail` where it leads there, else through the first use."""
    if scope in trail:
        return trail[: trail.index(scope) + 1]
    around = [project.home(node_id) for node_id in project.instances(scope)]
    if not around:
        return (*ROOT, scope)
    home = trail[-1] if trail[-1] in around else around[0]
    return (*trail_to(project, home, trail), scope)


def what_is_left(project: Project, trail: Trail) -> Trail:
    """The beginning of `trail` up to a block that is gone."""
    gone = [place for place, scope in enumerate(trail) if scope and scope not in project.blocks]
    return trail[: gone[0]] if gone else trail


def only_drawn(edits: Iterable[Edit]) -> bool:
    """Whether edits leave the network itself as it is."""
    return all(
        only_drawn(edit.edits) if isinstance(edit, Together) else isinstance(edit, _DRAWING) for edit in edits
    )


def upstream(project: Project, node_id: str) -> set[str]:
    """The nodes, in any scope, that what a node computes can depend on. GraphError for an unknown node."""
    found: set[str] = set()
    waiting = [node_id]
    while waiting:
        here = waiting.pop()
        scope = project.home(here)
        found |= project.graph_of(scope).ancestors(here)
        around = [one for one in project.instances(scope) if one not in found] if scope else []
        found.update(around)
        waiting.extend(around)
    return found
