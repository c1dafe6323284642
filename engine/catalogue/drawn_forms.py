"""Node types that can also be drawn: what block of simpler nodes is the same layer, with the same weights.

Each form is a file in `resources/drawn`: the node type it draws, the nodes and links of the block, where the
values of the type's parameters stand in it, and which weights are which. A further form is a further file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from engine.document.graph import Graph, Link, Node, Project
from engine.values import Value

FEATURES = "features"  # the numbers of a step, which the fast layer takes from the wire


@dataclass(frozen=True)
class DrawnForm:
    """A node type, `fast`, as a block of nodes.

    `nodes` are their names, types, parameters and positions; a value "=features/heads" is computed of the
    parameters and the width. `params` says of each parameter of the type where it stands in the block, and
    `features` where the width does. `weights` names the tensors of the fast layer with those of the block
    that they are, one below the other.
    """

    fast: str
    title: str
    about: str
    features: tuple[str, str]
    params: Mapping[str, Mapping[str, Any]]
    weights: Mapping[str, tuple[str, ...]]
    nodes: tuple[Mapping[str, Any], ...]
    links: tuple[tuple[str, str, str, str], ...]

    def graph(self, project: Project, values: Mapping[str, Value], features: int) -> Graph:
        """The inside of a block for these parameters, with new ids."""
        known = {**values, FEATURES: features}
        ids = {one["name"]: project.new_id() for one in self.nodes}
        made = [
            Node(ids[one["name"]], one["type"], one["name"], _values(one["params"], known), one["position"])
            for one in self.nodes
        ]
        return Graph(made, [Link(ids[a], out, ids[b], into) for a, out, b, into in self.links])

    def read(self, graph: Graph) -> tuple[dict[str, Value], int] | None:
        """The parameters and the width of which a block is this form; None where it is another block."""
        named = {node.name: node for node in graph.nodes.values()}
        node, param = self.features
        features = named[node].params.get(param) if node in named else None
        values = {name: _found(named, place) for name, place in self.params.items()}
        if not isinstance(features, int) or any(value is None for value in values.values()):
            return None
        try:
            wanted = self.graph(Project(), values, features)
        except (ArithmeticError, TypeError, KeyError):
            return None
        return (values, features) if _shape(wanted) == _shape(graph) else None


def _found(named: Mapping[str, Node], place: Mapping[str, Any]) -> Value:
    node = named.get(place["node"])
    value = None if node is None else node.params.get(place["param"])
    if "at" in place:
        value = value[place["at"]] if isinstance(value, tuple) and len(value) > place["at"] else None
    return value


def _values(params: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Value]:
    """Parameters with what is computed in place of its sign."""
    return {
        name: tuple(_value(one, known) for one in value) if isinstance(value, list) else _value(value, known)
        for name, value in params.items()
    }


def _value(value: Any, known: Mapping[str, Any]) -> Any:
    if not isinstance(value, str) or not value.startswith("="):
        return value
    first, *others = value[1:].split("/")
    found = known[first]
    for other in others:
        found //= known[other]
    return found


def _shape(graph: Graph) -> tuple[Any, ...]:
    """What of a graph counts: its nodes by name, with type and parameters, and what joins them."""
    names = {node.id: node.name for node in graph.nodes.values()}
    nodes = sorted(
        (one.name, one.type, one.muted, sorted(one.params.items())) for one in graph.nodes.values()
    )
    links = sorted(
        (names[one.source], one.source_port, names[one.target], one.target_port) for one in graph.links
    )
    return repr(nodes), links


@cache
def drawn_forms() -> tuple[DrawnForm, ...]:
    """All forms, by the name of their files."""
    folder = resources.files("resources") / "drawn"
    files = sorted((one for one in folder.iterdir() if one.name.endswith(".json")), key=lambda one: one.name)
    return tuple(_read(json.loads(one.read_text(encoding="utf-8"))) for one in files)


def _read(told: Mapping[str, Any]) -> DrawnForm:
    return DrawnForm(
        told["fast"],
        told["title"],
        told["about"],
        (told["features"][0], told["features"][1]),
        told["params"],
        {name: tuple(parts) for name, parts in told["weights"].items()},
        tuple(told["nodes"]),
        tuple((a, out, b, into) for a, out, b, into in told["links"]),
    )


def form_of(type_id: str) -> DrawnForm | None:
    """The drawn form of a node type, None where it has none."""
    return next((one for one in drawn_forms() if one.fast == type_id), None)


def recognised(graph: Graph) -> tuple[DrawnForm, dict[str, Value], int] | None:
    """The form that a block is, with parameters and width; None where it is none, or was changed."""
    for form in drawn_forms():
        found = form.read(graph)
        if found is not None:
            return form, *found
    return None
