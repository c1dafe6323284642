"""What two projects differ in, in words: how they are trained, and their graphs wherever nodes stand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from engine.catalogue import Catalogue
from engine.catalogue.training.optimisers import OPTIMISERS, SCHEDULES
from engine.document.graph import Graph, Link, Node, Project

UNSET = "not set"
# What a run was told or found that can differ between two runs of one project.
RUN_FACTS = {
    "epochs": "epochs",
    "seed": "seed",
    "device": "device",
    "batch": "batch size",
    "torch": "torch version",
    "python": "Python version",
    "computer": "computer",
    "weights": "first weights",
    "branched_from": "branched from",
    "fast": "fast path",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs: `kind` is setting, node, wire or block, `what` says it in words.

    `change` is added, removed or changed; `before` and `after` are the values, "" where there is none.
    """

    kind: str
    change: str
    what: str
    before: str = ""
    after: str = ""
    node_id: str = ""

    def to_json(self) -> dict[str, str]:
        return asdict(self)


def compare(before: Project, after: Project, catalogue: Catalogue | None = None) -> list[Difference]:
    """The differences from one project to another; with a catalogue, what isn't set counts as its default."""
    found = list(_settings(before, after))
    for scope in dict.fromkeys((*(s for s, _ in before.graphs()), *(s for s, _ in after.graphs()))):
        old, new = (
            dict(before.graphs()).get(scope, Graph()),
            dict(after.graphs()).get(scope, Graph()),
        )
        block = after.blocks.get(scope) or before.blocks.get(scope)
        where = f" in block {block.name or scope}" if block is not None else ""
        if scope and (scope in before.blocks) != (scope in after.blocks):
            change = "added" if scope in after.blocks else "removed"
            found.append(
                Difference("block", change, f"block {block.name or scope if block else scope} {change}")
            )
            continue
        found += _graph(old, new, where, catalogue)
    return found


def compare_facts(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """The differences between what two runs were told, from their settings.json, beside plan and graph."""
    found = []
    for key, name in RUN_FACTS.items():
        old, new = before.get(key), after.get(key)
        if old != new and not (old is None and key not in after) and not (new is None and key not in before):
            found.append(_changed("setting", name, _fact(old), _fact(new)))
    return found


def compare_runs(
    before: tuple[Mapping[str, Any], Project],
    after: tuple[Mapping[str, Any], Project],
    catalogue: Catalogue | None = None,
) -> list[Difference]:
    """The differences between two runs, by settings.json and project; what was told counts, not the plan."""
    facts = compare_facts(before[0], after[0])
    told = {*RUN_FACTS.values()} if before[0] and after[0] else set()
    plans = compare(before[1], after[1], catalogue)
    return facts + [one for one in plans if one.kind != "setting" or one.what.partition(":")[0] not in told]


def graph_hash(project: Project) -> str:
    """The same for projects whose networks are the same, wherever their nodes stand on the canvas."""
    parts = [
        [scope, [_node_facts(node) for node in graph.nodes.values()], [str(link) for link in graph.links]]
        for scope, graph in project.graphs()
    ]
    return _hash(parts)


def plan_hash(project: Project) -> str:
    """The same for projects that are trained alike."""
    return _hash(project.plan.to_json())


def _hash(parts: Any) -> str:
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _node_facts(node: Node) -> list[Any]:
    return [node.id, node.type, node.name, dict(node.params), node.muted, node.shares]


# -- settings


def _settings(before: Project, after: Project) -> Iterator[Difference]:
    old = {name: (value, own) for name, value, own in _flat_plan(before.plan.to_json())}
    new = {name: (value, own) for name, value, own in _flat_plan(after.plan.to_json())}
    for name in dict.fromkeys((*old, *new)):
        (was, was_set), (now, is_set) = old.get(name, (UNSET, False)), new.get(name, (UNSET, False))
        # A default that only one of two optimisers has follows from the choice of the optimiser.
        alone = name not in old or name not in new
        if was != now and (was_set or is_set or not alone):
            yield _changed("setting", name, was, now)


Setting = tuple[str, str, bool]  # the words for it, its value in words, whether somebody set it


def _flat_plan(plan: Mapping[str, Any]) -> Iterator[Setting]:
    """Every value of a plan under the words that say where it stands."""
    phases = plan.get("phases", [])
    for key, value in plan.items():
        if key != "phases":
            yield _words(key), say(value), True
    for number, phase in enumerate(phases, start=1):
        in_phase = f"phase {number}, " if len(phases) > 1 else ""
        objectives = phase.get("objectives", [])
        for key, value in phase.items():
            if key not in ("objectives", "stop"):
                yield in_phase + _words(key), say(value), True
        for key, value in phase.get("stop", {}).items():
            yield in_phase + _words(key), say(value), True
        for index, objective in enumerate(objectives, start=1):
            name = objective.get("name") or f"objective {index}"
            yield from _flat_objective(objective, in_phase + (f"{name}, " if len(objectives) > 1 else ""))


def _flat_objective(objective: Mapping[str, Any], where: str) -> Iterator[Setting]:
    for key, value in objective.items():
        if not isinstance(value, dict) or "name" not in value:
            yield where + _words(key), say(value), True
            continue
        yield where + _words(key), str(value["name"]), True
        family = _FAMILIES.get(key, {})
        for name, set_to in defaults_and(family.get(value["name"]), value.get("params", {})).items():
            title = _words(name) if key == "optimiser" else f"{_words(key)}, {_words(name)}"
            yield where + title, say(set_to), name in value.get("params", {})


_FAMILIES: dict[str, Mapping[str, Any]] = {"optimiser": OPTIMISERS, "schedule": SCHEDULES}


def defaults_and(kind: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a type: its defaults, with what was set over them."""
    defaults = {spec.name: spec.default for spec in getattr(kind, "params", ())}
    return {**defaults, **params}


# -- graphs


def _graph(before: Graph, after: Graph, where: str, catalogue: Catalogue | None) -> Iterator[Difference]:
    twins = _twins(before, after)
    taken = set(twins.values())
    for id, node in before.nodes.items():
        if id not in twins:
            yield Difference("node", "removed", f"{_title(node, catalogue)}{where} removed", node_id=id)
    for id, node in after.nodes.items():
        if id not in taken:
            yield Difference("node", "added", f"{_title(node, catalogue)}{where} added", node_id=id)
    for id, twin in twins.items():
        yield from _node(before.nodes[id], after.nodes[twin], where, catalogue)
    yield from _wires(before, after, twins, where)


def _twins(before: Graph, after: Graph) -> dict[str, str]:
    """Which node of the one graph is which of the other: by id, type and name, then by less and less."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for key in (_id_and_type, _name_and_type, _type_alone, _id_alone):
        waiting: dict[Any, list[str]] = {}
        for id, node in after.nodes.items():
            if id not in taken and (mark := key(node)) is not None:
                waiting.setdefault(mark, []).append(id)
        for id, node in before.nodes.items():
            if id not in found and waiting.get(key(node)):
                found[id] = waiting[key(node)].pop(0)
        taken = set(found.values())
    return {id: found[id] for id in before.nodes if id in found}


def _id_and_type(node: Node) -> Any:
    # Ids belong to one project: in another the same number may be a layer of another name.
    return node.id, node.type, node.name


def _name_and_type(node: Node) -> Any:
    return (node.name, node.type) if node.name else None


def _type_alone(node: Node) -> Any:
    return node.type


def _id_alone(node: Node) -> Any:
    return node.id, node.name


def _node(old: Node, new: Node, where: str, catalogue: Catalogue | None) -> Iterator[Difference]:
    name = _name(new, catalogue) + where
    if old.name != new.name:
        was = old.name or "without a name"
        yield _changed("node", f"{_name(old, catalogue)}{where}, name", was, new.name or "none", new.id)
    if old.type != new.type:
        yield _changed("node", f"{name}, type", _type(old, catalogue), _type(new, catalogue), new.id)
    before, after = _params(old, catalogue), _params(new, catalogue)
    for key in dict.fromkeys((*before, *after)):
        if old.type == new.type and before.get(key, UNSET) != after.get(key, UNSET):
            values = say(before.get(key, UNSET)), say(after.get(key, UNSET))
            yield _changed("node", f"{name}, {_words(key)}", *values, new.id)
    if old.muted != new.muted:
        yield _changed("node", f"{name}, muted", say(old.muted), say(new.muted), new.id)
    if old.shares != new.shares:
        yield _changed(
            "node", f"{name}, shares weights with", old.shares or "none", new.shares or "none", new.id
        )


def _wires(before: Graph, after: Graph, twins: Mapping[str, str], where: str) -> Iterator[Difference]:
    """Wires between nodes that are in both graphs; a node that came or went says enough of its own."""
    old = [_carried(link, twins) for link in before.links if {link.source, link.target} <= twins.keys()]
    both = set(twins.values())
    new = [link for link in after.links if {link.source, link.target} <= both]
    for link in old:
        if link not in new:
            yield Difference("wire", "removed", f"wire {_wire(link, after)}{where} removed")
    for link in new:
        if link not in old:
            yield Difference("wire", "added", f"wire {_wire(link, after)}{where} added")


def _carried(link: Link, twins: Mapping[str, str]) -> Link:
    return Link(twins[link.source], link.source_port, twins[link.target], link.target_port)


def _wire(link: Link, graph: Graph) -> str:
    source, target = graph.nodes[link.source], graph.nodes[link.target]
    ends = (
        f"{source.name or source.type} ({link.source_port})",
        f"{target.name or target.type} ({link.target_port})",
    )
    return " → ".join(ends)


def _params(node: Node, catalogue: Catalogue | None) -> dict[str, Any]:
    return defaults_and(catalogue.get(node.type) if catalogue is not None else None, node.params)


def _type(node: Node, catalogue: Catalogue | None) -> str:
    kind = catalogue.get(node.type) if catalogue is not None else None
    return kind.title if kind is not None else node.type


def _name(node: Node, catalogue: Catalogue | None) -> str:
    return node.name or f"{_type(node, catalogue)} {node.id}"


def _title(node: Node, catalogue: Catalogue | None) -> str:
    return f"{node.name} ({_type(node, catalogue)})" if node.name else f"{_type(node, catalogue)} {node.id}"


# -- words


def _changed(kind: str, name: str, before: str, after: str, node_id: str = "") -> Difference:
    return Difference(kind, "changed", f"{name}: {before} → {after}", before, after, node_id)


_PLAIN = {
    "lr": "learning rate",
    "batch": "batch size",
    "minimise": "loss",
    "monitor": "watched value",
    "restore_best": "restore the best weights",
    "of": "trained layers",
    "fast": "fast path",
}


def _words(key: str) -> str:
    return _PLAIN.get(key, key.replace("_", " "))


def say(value: Any) -> str:
    """A value as the user writes it: yes and no, off, 0.001, 3 × 3, names in a row."""
    if value is None:
        return "off"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        inside = {key: say(part) for key, part in value.items()}
        if set(value) == {"name", "params"}:
            values = ", ".join(f"{_words(key)} {say(part)}" for key, part in value["params"].items())
            return f"{value['name']} ({values})" if values else str(value["name"])
        return ", ".join(f"{_words(key)} {part}" for key, part in inside.items()) or "none"
    if isinstance(value, (list, tuple)):
        numbers = bool(value) and all(isinstance(part, (int, float)) for part in value)
        return (" × " if numbers else ", ").join(say(part) for part in value) or "none"
    return str(value)


def _fact(value: Any) -> str:
    if isinstance(value, Mapping) and "file" in value:  # the weights it began with
        return f"{value['file']} ({value.get('layers')} of {value.get('of')} layers)"
    if isinstance(value, Mapping) and "run" in value:  # what it is a branch of
        return f"run {value['run']} at epoch {value.get('epoch')}"
    return "none" if value is None or value == "" else say(value)
