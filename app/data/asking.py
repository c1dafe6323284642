"""Which data node the data panel shows, and what is known of it from the graph around it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.data.facts import Source
from app.data.roles import TABLE, filled, rows_of
from app.workspace.classes import classes_of
from app.workspace.engine_parts import Shapes
from app.workspace.open_document import CheckedDocument
from engine.catalogue import Column, Data, Loss, NodeType
from engine.catalogue.traits import Answer, Preparation
from engine.data.checks.findings import Asked, Compared
from engine.document.graph import Link, Node, Project
from engine.errors import NeuroloomError
from engine.shapes.heads import names_of
from engine.shapes.remedies import units_parameter


def used_node(workspace: CheckedDocument) -> str:
    """The data node that the network uses, else the first; empty without one."""
    graph, catalogue = workspace.document.project.graph, workspace.catalogue
    found = [
        node_id
        for node_id, node in graph.nodes.items()
        if (kind := catalogue.get(node.type)) is not None and issubclass(kind, Data)
    ]
    used = [node_id for node_id in found if graph.outgoing(node_id)]
    return next(iter(used or found), "")


def shown_node(workspace: CheckedDocument) -> str:
    """The single selected data node, else the one that the network uses."""
    if len(workspace.selection) == 1:
        node = workspace.node(workspace.selection[0])
        kind = workspace.type_of(node) if node is not None else None
        if node is not None and kind is not None and issubclass(kind, Data) and not kind.ports_in:
            return node.id
    return used_node(workspace)


def trainer_reads(workspace: CheckedDocument, node_id: str) -> bool:
    """Whether the trainer reads this node's data and no others, now or as soon as it comes to it."""
    graph, catalogue = workspace.document.project.graph, workspace.catalogue
    kinds = {one: catalogue.get(node.type) for one, node in graph.nodes.items() if graph.outgoing(one)}
    data = [one for one, kind in kinds.items() if kind is not None and kind.kind == "data"]
    return data == [node_id] and not workspace.errors()


def source_of(workspace: CheckedDocument, node: Node, splits: Any) -> Source:
    """What the facts of a node are gathered from."""
    params = filled(workspace, node)
    table = params if TABLE in params and "delimiter" in params else None
    return Source(node, workspace.catalogue, splits, _asked(workspace, node, params), table)


def _asked(workspace: CheckedDocument, node: Node, params: dict[str, Any]) -> Asked:
    kind = workspace.type_of(node)
    choices = {spec.name: spec.choices for spec in kind.params if spec.choices} if kind is not None else {}
    targets = {name for name, row in rows_of(node).items() if row[2] in ("target", "weight")}
    targets |= {f"{name} as number" for name in targets}
    known = {name: names for name, names in classes_of(workspace, node.id).items() if names}
    around = _around(workspace, node.id)
    return Asked(
        params,
        {**known, **around.classes},
        frozenset(targets | set(around.targets)),
        around.compared,
        choices,
        around.wires,
        around.behind,
    )


def _around(workspace: CheckedDocument, node_id: str) -> Asked:
    """What the network around a data node says of its columns; those of transforms behind it have theirs."""
    from engine.shapes.folding import Prepared  # it brings torch, which the window starts without

    graph, book = workspace.document.project.graph, workspace.shapes
    if book is None or node_id not in book.types:
        return Asked()
    wires = {link.source_port: (node_id, link.source_port) for link in graph.outgoing(node_id)}
    behind: dict[str, set[Preparation]] = {name: set() for name in wires}
    classes: dict[str, tuple[str, ...]] = {}
    project, trained = book.as_trained(workspace.document.project)
    made = trained.types[node_id]
    steps = made.steps if isinstance(made, Prepared) else ()
    for step in steps:
        behind[step.into.name] = behind.get(step.column, set()) | _done(book.types.get(step.node_id))
        wires[step.into.name] = (step.node_id, "output")
        if step.into.classes:
            classes[step.into.name] = step.into.classes
    leaving = [replace(link, source_port=_own_name(made, link)) for link in project.graph.outgoing(node_id)]
    used = {link.source_port for link in leaving}
    for step in reversed(steps):  # what reaches the network through transforms alone has theirs behind it
        if step.column not in used:
            behind[step.column] = behind.get(step.column, set()) | behind[step.into.name]
    targets, compared = set(), {}
    for link in leaving:
        if link.target_port == "target":
            targets.add(link.source_port)
            found = _compared(project, trained, link)
            if found is not None:
                compared[link.source_port] = found
        else:
            done = _done(book.types.get(link.target))
            behind[link.source_port] = behind.get(link.source_port, set()) | done
    return Asked({}, classes, targets, compared, {}, wires, behind)


def _own_name(made: NodeType, link: Link) -> str:
    """What the data node itself calls the column that goes into a wire."""
    from engine.shapes.folding import Prepared

    return made.own_name(link.source_port) if isinstance(made, Prepared) else link.source_port


def _done(made: NodeType | None) -> set[Preparation]:
    found = made.prepares() if made is not None else None
    return set() if found is None else {found}


def _compared(project: Project, book: Shapes, link: Link) -> Compared | None:
    """The loss at the end of a wire."""
    loss, made = project.graph.node(link.target), book.types.get(link.target)
    if not isinstance(made, Loss) or not made.traits.class_weights:
        return None
    traits = made.traits
    weighed = getattr(made, traits.class_weights) not in (None, (), 1)
    scores = book.input_signature(loss.id, "prediction")
    size = scores.shape[0] if scores is not None and scores.shape else 0
    found = Compared(
        loss.id,
        traits.answers,
        size if traits.answers is Answer.CLASSES else 0,
        weighed=weighed,
        weights=traits.class_weights,
    )
    before = project.graph.feeding(loss.id, "prediction")
    units = units_parameter(book.types.get(before.source)) if before is not None else ""
    if before is None or not units:
        return found
    layer = project.graph.node(before.source)
    return replace(found, layer_id=layer.id, layer_name=layer.name, units=units)


def scaled(workspace: CheckedDocument, node: Node) -> dict[str, str]:
    """What a data node does to the numbers of its columns, in a word, by column."""
    return {one.name: one.scaled for one in _columns(workspace, node) if one.scaled}


def _columns(workspace: CheckedDocument, node: Node) -> tuple[Column, ...]:
    try:
        made = workspace.catalogue.make(node)
        return made.columns() if isinstance(made, Data) else ()
    except NeuroloomError:
        return ()


def row_of_numbers(workspace: CheckedDocument, node: Node) -> Column | None:
    """The column of data whose rows are numbers with names of their own; None without one."""
    found = _columns(workspace, node)
    return next((one for one in found if len(one.shape) == 1 and names_of(one)[0] != f"{one.name} 1"), None)
