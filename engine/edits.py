"""The only ways to change a project: edits, each of which returns its exact inverse when applied.

`apply` raises GraphError and changes nothing when the edit is impossible. Only `engine.document`
applies edits; inside a step, so that everything can be undone.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final

from engine.errors import GraphError
from engine.graph import Graph, Link, Node, Project, place
from engine.plan import Plan
from engine.values import Value, frozen


class _Unset(Enum):
    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Unset.UNSET
"""As a value in SetParam: back to the type's default."""

NODE_ID = re.compile(r"n(0|[1-9][0-9]{0,14})")


class Edit(ABC):
    """One change of a project."""

    @abstractmethod
    def apply(self, project: Project) -> Edit:
        """Change the project and return the edit that takes the change back. Raises GraphError."""

    @property
    @abstractmethod
    def touched(self) -> frozenset[str]:
        """The ids of the nodes whose own data or inputs this changes."""


def _ends(links: tuple[Link, ...]) -> frozenset[str]:
    return frozenset(end for link in links for end in (link.source, link.target))


@dataclass(frozen=True)
class AddNodes(Edit):
    """Add nodes, and links among them or to nodes that are there already."""

    nodes: tuple[Node, ...] = ()
    links: tuple[Link, ...] = ()

    def __post_init__(self) -> None:  # a list given here could change under the history
        object.__setattr__(self, "nodes", tuple(self.nodes))
        object.__setattr__(self, "links", tuple(self.links))

    def apply(self, project: Project) -> Edit:
        graph = project.graph
        for node in self.nodes:
            if not NODE_ID.fullmatch(node.id):
                raise GraphError(f'A node\'s id is "n" and a number, not "{node.id[:40]}".')
        added: list[Node] = []
        plugged: list[Link] = []
        try:
            for node in self.nodes:
                graph._insert(node)
                added.append(node)
            for link in self.links:
                graph._plug(link)
                plugged.append(link)
            if plugged:
                graph._refuse_cycle()
        except GraphError:
            _take_out(graph, added, plugged)
            raise
        highest = max((int(node.id[1:]) for node in self.nodes), default=-1)
        project.next_id = max(project.next_id, highest + 1)
        return Remove(tuple(node.id for node in self.nodes), self.links)

    @property
    def touched(self) -> frozenset[str]:
        return _ends(self.links).union(node.id for node in self.nodes)


def _take_out(graph: Graph, nodes: list[Node], links: list[Link]) -> None:
    for link in links:
        graph._unplug(link)
    for node in nodes:
        graph._discard(node.id)


@dataclass(frozen=True)
class Remove(Edit):
    """Remove nodes with every link attached to them, and further links."""

    nodes: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(self.nodes))
        object.__setattr__(self, "links", tuple(self.links))

    def apply(self, project: Project) -> Edit:
        graph = project.graph
        gone = [graph.node(id) for id in dict.fromkeys(self.nodes)]
        for link in self.links:
            if graph.feeding(link.target, link.target_port) != link:
                raise GraphError(f"There is no link {link}.", node_id=link.target)
        links = set(self.links)
        for node in gone:
            links.update(graph.incoming(node.id), graph.outgoing(node.id))
        _take_out(graph, gone, list(links))
        return AddNodes(tuple(gone), tuple(sorted(links)))

    @property
    def touched(self) -> frozenset[str]:
        return _ends(self.links).union(self.nodes)


@dataclass(frozen=True)
class Connect(Edit):
    """Add one link; its input port must be free (disconnect first to replace)."""

    link: Link

    def apply(self, project: Project) -> Edit:
        graph, link = project.graph, self.link
        source, target = graph.node(link.source), graph.node(link.target)
        if graph.would_cycle(link.source, link.target):
            raise GraphError(
                f'"{source.name or source.id}" cannot feed "{target.name or target.id}": '
                "the wire would close a cycle.",
                node_id=link.target,
            )
        graph._plug(link)
        return Disconnect(link)

    @property
    def touched(self) -> frozenset[str]:
        return _ends((self.link,))


@dataclass(frozen=True)
class Disconnect(Edit):
    """Remove one link."""

    link: Link

    def apply(self, project: Project) -> Edit:
        project.graph._unplug(self.link)
        return Connect(self.link)

    @property
    def touched(self) -> frozenset[str]:
        return _ends((self.link,))


@dataclass(frozen=True)
class SetParam(Edit):
    """Set one parameter of a node, or take it back to the type's default with UNSET.

    Whether the node's type allows the value is the catalogue's business, not the document's.
    """

    node_id: str
    name: str
    value: Value | _Unset

    def __post_init__(self) -> None:
        if not isinstance(self.value, _Unset):
            object.__setattr__(self, "value", frozen(self.value))

    def apply(self, project: Project) -> Edit:
        node = project.graph.node(self.node_id)
        before = node.params.get(self.name, UNSET)
        params: dict[str, Value] = dict(node.params)
        if isinstance(self.value, _Unset):
            params.pop(self.name, None)
        else:
            params[self.name] = self.value
        project.graph._replace(replace(node, params=params))
        return SetParam(self.node_id, self.name, before)

    @property
    def touched(self) -> frozenset[str]:
        return frozenset((self.node_id,))


@dataclass(frozen=True)
class Rename(Edit):
    """Give a node another name; any text will do, the emitter makes identifiers of it."""

    node_id: str
    name: str

    def apply(self, project: Project) -> Edit:
        node = project.graph.node(self.node_id)
        project.graph._replace(replace(node, name=self.name))
        return Rename(self.node_id, node.name)

    @property
    def touched(self) -> frozenset[str]:
        return frozenset((self.node_id,))


@dataclass(frozen=True)
class Move(Edit):
    """Place nodes on the canvas, in scene units."""

    positions: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "positions", {id: place(xy) for id, xy in self.positions.items()})

    def apply(self, project: Project) -> Edit:
        graph = project.graph
        moved = [replace(graph.node(id), position=xy) for id, xy in self.positions.items()]
        return Move({node.id: graph._replace(node).position for node in moved})

    @property
    def touched(self) -> frozenset[str]:
        return frozenset(self.positions)


@dataclass(frozen=True)
class SetPlan(Edit):
    """Replace the training plan."""

    plan: Plan

    def apply(self, project: Project) -> Edit:
        before, project.plan = project.plan, self.plan
        return SetPlan(before)

    @property
    def touched(self) -> frozenset[str]:
        return frozenset()


@dataclass(frozen=True)
class SetTitle(Edit):
    """Give the project another title."""

    title: str

    def apply(self, project: Project) -> Edit:
        before, project.title = project.title, _text(self.title)
        return SetTitle(before)

    @property
    def touched(self) -> frozenset[str]:
        return frozenset()


@dataclass(frozen=True)
class SetNotes(Edit):
    """Replace the project's notes (Markdown)."""

    notes: str

    def apply(self, project: Project) -> Edit:
        before, project.notes = project.notes, _text(self.notes)
        return SetNotes(before)

    @property
    def touched(self) -> frozenset[str]:
        return frozenset()


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise GraphError("Titles and notes are text.")
    return value


def does_nothing(edit: Edit, inverse: Edit) -> bool:
    """Return whether an edit with this inverse leaves a project as it was."""
    if isinstance(edit, (AddNodes, Remove)):
        return not edit.nodes and not edit.links
    return edit == inverse and repr(edit) == repr(inverse)  # 1, 1.0 and True are equal, yet three values


def supersedes(later: Edit, earlier: Edit) -> bool:
    """Return whether `later`, applied right after `earlier`, leaves nothing of it."""
    if isinstance(later, SetParam) and isinstance(earlier, SetParam):
        return (later.node_id, later.name) == (earlier.node_id, earlier.name)
    if isinstance(later, Rename) and isinstance(earlier, Rename):
        return later.node_id == earlier.node_id
    if isinstance(later, Move) and isinstance(earlier, Move):
        return later.positions.keys() == earlier.positions.keys()
    return type(later) is type(earlier) and isinstance(later, (SetPlan, SetTitle, SetNotes))
