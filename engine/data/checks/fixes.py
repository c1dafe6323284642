"""The edits behind a finding's button: parameters, roles of columns, nodes put behind a port."""

from __future__ import annotations

from dataclasses import replace

from engine.data.checks.findings import Change, Insert
from engine.document.edits import AddNodes, ChangeNote, Disconnect, Edit, Move, SetParam
from engine.document.graph import Link, Node, Project
from engine.document.names import free_name, names_of
from engine.values import Value

COLUMN = 200.0  # from one node to the next in a row
ROW = 100.0  # from one node to the next below
BESIDE = 64.0  # what begins less far to the right of a node stands above or below it
TABLE = "table"  # the parameter that says name, kind and role of every column


def edits_of(project: Project, node_id: str, change: Change) -> tuple[Edit, ...]:
    """The edits that a change makes at a data node; none where the node is gone.

    Ids for new nodes are taken from the project. Raises `GraphError` where a wire is gone.
    """
    node = project.graph.nodes.get(node_id)
    if node is None:
        return ()
    edits: list[Edit] = [SetParam(node_id, key, value) for key, value in change.params.items()]
    for other, params in change.others.items():
        if other in project.graph.nodes:
            edits += [SetParam(other, key, value) for key, value in params.items()]
    if change.roles:
        edits.append(SetParam(node_id, TABLE, with_roles(node, change)))
    trial = project.copy()
    for edit in edits:
        edit.apply(trial)
    for insert in change.inserts:
        for edit in put_behind(trial, insert, project.new_id()):
            edit.apply(trial)
            edits.append(edit)
    return tuple(edits)


def with_roles(node: Node, change: Change) -> tuple[Value, ...]:
    """The node's table of columns with the roles that the change gives."""
    rows = node.params.get(TABLE)
    found: list[Value] = []
    for row in rows if isinstance(rows, tuple) else ():
        if isinstance(row, tuple) and len(row) >= 3 and row[0] in change.roles:
            row = (*row[:2], change.roles[str(row[0])], *row[3:])
        found.append(row)
    return tuple(found)


def put_behind(project: Project, insert: Insert, new_id: str) -> tuple[Edit, ...]:
    """The edits that put a node ("x" in, "output" out) between a port and all that it feeds.

    What stands to the right is pushed away as far as the newcomer needs.
    """
    graph = project.graph
    source = graph.node(insert.node_id)
    wires = [link for link in graph.outgoing(insert.node_id) if link.source_port == insert.port]
    if not wires:
        return ()
    name = free_name(insert.name, names_of(graph))
    left = source.position[0]
    there = (left + COLUMN, min(graph.node(link.target).position[1] for link in wires))
    added = Node(new_id, insert.type_id, name, insert.params, there)
    joined = [Link(new_id, "output", link.target, link.target_port) for link in wires]
    edits: list[Edit] = [Disconnect(link) for link in wires]
    edits.append(AddNodes((added,), (Link(source.id, insert.port, new_id, "x"), *joined)))
    places = {one: node.position for one, node in graph.nodes.items()}
    fed = {link.target for link in wires}
    in_the_way = [
        x
        for one, (x, y) in places.items()
        if left + BESIDE < x < there[0] + COLUMN and (one in fed or abs(y - there[1]) < ROW)
    ]
    if in_the_way:
        first = min(in_the_way)
        push = there[0] + COLUMN - first
        edits.append(Move({one: (x + push, y) for one, (x, y) in places.items() if x >= first}))
        for note in project.notes_on_canvas.values():
            x, y = note.position
            if not note.scope and x >= first:
                edits.append(ChangeNote(replace(note, position=(x + push, y))))
    return tuple(edits)
