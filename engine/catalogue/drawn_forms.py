"""Node types that can also be drawn: what block of simpler nodes is the same layer, with the same weights.

Each form is a file in `resources/drawn`: the node type it draws, the nodes and links of the block, where the
values of the type's parameters stand in it, and which weights are which. A node may be a block itself, with
its own nodes and links `inside`; its parts are named after it, as in "cell.forget gate". A further form is a
further file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from engine.document.blocks import block_name
from engine.document.graph import Block, Graph, Link, Node, Project
from engine.values import Value

FEATURES = "features"  # the numbers of a step, which the fast layer takes from the wire
INSIDE, BLOCK_PARAM, STATE_PARAM = "inside", "block", "state"


@dataclass(frozen=True)
class DrawnForm:
    """A node type, `fast`, as a block of nodes.

    `nodes` are their names, types, parameters and positions; a value "=features/heads" is computed of the
    parameters and the width. `params` says of each parameter of the type where it stands in the block, and
    `features` where the width does, if it does; `when` are parameters that only have these values in this
    form. A place may say in `words` what a value is called there. `weights` names the tensors of the fast
    layer with those of the block that they are, one below the other and alike in size.
    """

    name: str
    fast: str
    title: str
    about: str
    params: Mapping[str, Mapping[str, Any]]
    weights: Mapping[str, tuple[str, ...]]
    nodes: Sequence[Mapping[str, Any]]
    links: Sequence[Sequence[str]]
    features: tuple[str, str] | None = None
    when: Mapping[str, Value] = field(default_factory=dict)

    def blocks(self, project: Project, values: Mapping[str, Value], features: int) -> tuple[Block, ...]:
        """The block for these parameters behind those inside it, with new names and ids."""
        known: dict[str, Any] = {**values, FEATURES: features}
        for name, place in self.params.items():
            known[name] = place.get("words", {}).get(known[name], known[name])
        made: list[Block] = []
        graph, _ = _drawn(project, self.nodes, self.links, known, made)
        return *made, Block(project.new_id("b"), block_name(project, self.title), graph)

    def read(self, project: Project, graph: Graph) -> tuple[dict[str, Value], int] | None:
        """The parameters and the width of which a block is this form; None where it is another block."""
        try:
            named = _by_path(project, graph)
            features = 0 if self.features is None else _found(named, *self.features)
            values = {name: _at(named, place) for name, place in self.params.items()} | dict(self.when)
            trial = Project()
            wanted = self.blocks(trial, values, features)
            trial.blocks.update({one.id: one for one in wanted})
            same = _shape(trial, wanted[-1].graph) == _shape(project, graph)
        except (ArithmeticError, TypeError, LookupError):
            return None
        return (values, features) if same else None


def _drawn(
    project: Project,
    nodes: Sequence[Mapping[str, Any]],
    links: Sequence[Sequence[str]],
    known: Mapping[str, Any],
    made: list[Block],
) -> tuple[Graph, dict[str, str]]:
    """A graph and the ids of its nodes by name; the blocks in it are appended to those that were `made`."""
    ids = {one["name"]: project.new_id() for one in nodes}
    ports: dict[str, dict[str, str]] = {}
    drawn = []
    for one in nodes:
        params = _values(one["params"], known)
        if STATE_PARAM in params:
            params[STATE_PARAM] = ids[params[STATE_PARAM]]
        if INSIDE in one:
            inside = one[INSIDE]
            graph, ports[one["name"]] = _drawn(project, inside["nodes"], inside["links"], known, made)
            made.append(Block(project.new_id("b"), block_name(project, inside["title"]), graph))
            params[BLOCK_PARAM] = made[-1].id
        drawn.append(Node(ids[one["name"]], one["type"], one["name"], params, one["position"]))
    joined = [
        Link(ids[a], ports.get(a, {}).get(out, out), ids[b], ports.get(b, {}).get(into, into))
        for a, out, b, into in links
    ]
    return Graph(drawn, joined), ids


def _by_path(project: Project, graph: Graph, path: str = "") -> dict[str, Node]:
    """The nodes of a graph and of the blocks in it, by their names behind those of the blocks."""
    found = {path + node.name: node for node in graph.nodes.values()}
    for node in graph.nodes.values():
        if node.block:
            found |= _by_path(project, project.blocks[node.block].graph, f"{path}{node.name}.")
    return found


def _found(named: Mapping[str, Node], node: str, param: str) -> Any:
    return named[node].params[param]


def _at(named: Mapping[str, Node], place: Mapping[str, Any]) -> Value:
    """The value of a parameter, from the place where it stands. Errors: `LookupError`, `TypeError`."""
    value = _found(named, place["node"], place["param"])
    value = value[place["at"]] if "at" in place else value
    words = {there: here for here, there in place.get("words", {}).items()}
    found: Value = words[value] if words else value
    return found


def _values(params: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
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


def _shape(project: Project, graph: Graph) -> tuple[Any, ...]:
    """What of a graph counts: its nodes by name, with type and parameters, and what joins them."""
    names = {node.id: node.name for node in graph.nodes.values()}
    nodes = []
    for node in graph.nodes.values():
        params: dict[str, Any] = dict(node.params)
        if node.block:
            inside = project.blocks[node.block].graph
            params[BLOCK_PARAM] = _shape(project, inside)
            names |= {one.id: one.name for one in inside.nodes.values()}
        if STATE_PARAM in params:
            params[STATE_PARAM] = names.get(params[STATE_PARAM])
        nodes.append((node.name, node.type, node.muted, sorted(params.items())))
    links = sorted(
        (
            names[one.source],
            names.get(one.source_port, one.source_port),
            names[one.target],
            names.get(one.target_port, one.target_port),
        )
        for one in graph.links
    )
    return repr(sorted(nodes)), links


@cache
def drawn_forms() -> tuple[DrawnForm, ...]:
    """All forms, by the name of their files."""
    folder = resources.files("resources") / "drawn"
    files = sorted((one for one in folder.iterdir() if one.name.endswith(".json")), key=lambda one: one.name)
    return tuple(
        _read(one.name.removesuffix(".json"), json.loads(one.read_text(encoding="utf-8"))) for one in files
    )


def _read(name: str, told: dict[str, Any]) -> DrawnForm:
    weights = {whole: tuple(parts) for whole, parts in told.pop("weights").items()}
    features = tuple(told.pop(FEATURES, ())) or None
    return DrawnForm(name=name, weights=weights, features=features, **told)


def forms_of(type_id: str) -> tuple[DrawnForm, ...]:
    """The drawn forms of a node type."""
    return tuple(one for one in drawn_forms() if one.fast == type_id)


def form_called(name: str) -> DrawnForm | None:
    """The form whose file has that name, None where there is none."""
    return next((one for one in drawn_forms() if one.name == name), None)


def recognised(project: Project, graph: Graph) -> tuple[DrawnForm, dict[str, Value], int] | None:
    """The form that a block is, with parameters and width; None where it is none, or was changed."""
    for form in drawn_forms():
        found = form.read(project, graph)
        if found is not None:
            return form, *found
    return None
