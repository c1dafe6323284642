"""Edits of what one node holds: its values, its name, whether it is muted, whose weights it uses."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.document.edit_base import UNSET, Edit, Unset
from engine.document.graph import Graph, Node, Project
from engine.document.scopes import refuse_instance, refuse_sharing
from engine.errors import GraphError
from engine.values import Value, frozen


@dataclass(frozen=True)
class SetParam(Edit):
    """Set one parameter of a node, or take it back to the type's default with UNSET.

    Whether the node's type allows the value is the catalogue's business, not the document's.
    """

    node_id: str
    name: str
    value: Value | Unset

    def __post_init__(self) -> None:
        if not isinstance(self.value, Unset):
            object.__setattr__(self, "value", frozen(self.value))

    def apply(self, project: Project) -> Edit:
        scope = project.home(self.node_id)
        graph = project.graph_of(scope)
        node = graph.node(self.node_id)
        before = node.params.get(self.name, UNSET)
        params: dict[str, Value] = dict(node.params)
        if isinstance(self.value, Unset):
            params.pop(self.name, None)
        else:
            params[self.name] = self.value
        after = replace(node, params=params)
        if after.block and after.block != node.block:
            refuse_instance(project, scope, after.block, node.id)
        graph._replace(after)
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
        graph, node = _found(project, self.node_id)
        graph._replace(replace(node, name=self.name))
        return Rename(self.node_id, node.name)

    @property
    def touched(self) -> frozenset[str]:
        return frozenset((self.node_id,))


@dataclass(frozen=True)
class SetMuted(Edit):
    """Mute nodes, so that each passes its input through, or let them work again."""

    node_ids: tuple[str, ...]
    muted: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "node_ids", tuple(dict.fromkeys(self.node_ids)))

    def apply(self, project: Project) -> Edit:
        if not isinstance(self.muted, bool):
            raise GraphError("A node is muted or not.")
        found = [_found(project, id) for id in self.node_ids]
        changed = [(graph, node) for graph, node in found if node.muted is not self.muted]
        for graph, node in changed:
            graph._replace(replace(node, muted=self.muted))
        return SetMuted(tuple(node.id for _, node in changed), not self.muted)

    @property
    def touched(self) -> frozenset[str]:
        return frozenset(self.node_ids)


@dataclass(frozen=True)
class SetShares(Edit):
    """Let a node use the weights of another one of its scope, or its own with ""."""

    node_id: str
    other_id: str = ""

    def apply(self, project: Project) -> Edit:
        graph, node = _found(project, self.node_id)
        after = replace(node, shares=self.other_id)
        graph._replace(after)
        try:
            refuse_sharing(graph, after)
        except GraphError:
            graph._replace(node)
            raise
        return SetShares(self.node_id, node.shares)

    @property
    def touched(self) -> frozenset[str]:
        return frozenset((self.node_id, self.other_id)) - {""}


def _found(project: Project, id: str) -> tuple[Graph, Node]:
    graph = project.graph_of(project.home(id))
    return graph, graph.node(id)
