"""Steps that fix a node whose inputs do not fit; each is tried out on shapes before it is offered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.catalogue import Data, Layer, Loss, Metric, NodeType
from engine.document.edits import AddNodes, Connect, Disconnect, Edit, Move, Remove, SetParam
from engine.document.graph import Graph, Link, Node, Project
from engine.document.names import free_name, names_of
from engine.shapes.node_rules import REMEDIES
from engine.shapes.problems import Fix, Problem

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook, Signature

ROOM = 190.0  # scene units from one node to the next in a row
# A value that often helps, and what it does, for parameters that can make a layer impossible.
USUAL: tuple[tuple[str, Any, str], ...] = (
    ("padding", "same", "Pad the input to keep its size"),
    ("groups", 1, "Use a single group"),
    ("stride", 1, "Use a stride of 1"),
    ("dropout", 0.0, "Set its dropout to 0"),
    ("output_padding", 0, "Set its output padding to 0"),
    ("axis", 1, "Use axis 1"),
)


def remedy(project: Project, problem: Problem, book: ShapeBook) -> Fix | None:
    """A step after which the node of a shape problem fits its inputs; None where none is known."""
    graph = project.graph
    node = graph.nodes.get(problem.node_id or "")
    if node is None or node.id not in book.types:
        return None
    if problem.code == "unconnected" and problem.port == "target":
        return _target(graph, node, book)
    if problem.code != "shape":
        return None
    if isinstance(book.types[node.id], (Loss, Metric)):
        return _other_column(graph, node, book) or _other_units(graph, node, book)
    return _usual_value(node, book) or next(
        (fix for find in REMEDIES if (fix := find(graph, node, book)) is not None), None
    )


def fits(book: ShapeBook, node: Node, arriving: Mapping[str, Signature]) -> bool:
    """Whether a node can compute with what arrives."""
    return book.trial(node.type, node.params, arriving).problem is None


def _target(graph: Graph, node: Node, book: ShapeBook) -> Fix | None:
    """Connect the one wire that fits as a target: another target's first, else a column of the data."""
    known = {
        (link.source, link.source_port)
        for link in graph.links
        if link.target_port == "target" and link.target != node.id
    }
    reached = {link.source for link in graph.links}
    columns = {
        (one, column.name)
        for one, made in book.types.items()
        if isinstance(made, Data) and made.kind == "data" and one in reached
        for column in made.columns()
    }
    sees = {(link.source, link.source_port) for link in graph.links if link.target_port != "target"}
    for wires in (known, columns - sees, columns):
        fitting = [wire for wire in sorted(wires) if _as_target(node, wire, book)]
        if len(fitting) == 1:
            link = Link(*fitting[0], node.id, "target")
            source = graph.node(link.source)
            behind = link.source_port == "output" or not isinstance(book.types[source.id], Data)
            return doing(f"Connect {source.name if behind else link.source_port}", Connect(link))
        if fitting:
            return None
    return None


def _as_target(node: Node, wire: tuple[str, str], book: ShapeBook) -> bool:
    """Whether a wire fits as the target of a node, and has as many classes as there are scores."""
    found, arriving = book.signature(*wire), book.inputs(node.id)
    if found is None or "target" in arriving or not fits(book, node, {**arriving, "target": found}):
        return False
    data, scores = book.types.get(wire[0]), arriving.get("prediction")
    column = data.column(wire[1]) if isinstance(data, Data) else None
    if column is None or not column.classes or scores is None or found.shape:
        return True
    return not scores.shape or scores.shape == found.shape or scores.shape[0] >= len(column.classes)


def _other_column(graph: Graph, node: Node, book: ShapeBook) -> Fix | None:
    """Compare with another column of the same data."""
    link = graph.feeding(node.id, "target")
    data = book.types.get(link.source) if link else None
    if link is None or not isinstance(data, Data):
        return None
    for column in data.columns():
        found = book.signature(link.source, column.name)
        if found is None or column.name == link.source_port:
            continue
        if fits(book, node, {**book.inputs(node.id), "target": found}):
            instead = Link(link.source, column.name, node.id, "target")
            return doing(f"Compare with {column.name} instead", Disconnect(link), Connect(instead))
    return None


def units_parameter(made: NodeType | None) -> str:
    """The parameter that says how many numbers leave a layer along the last axis; "" where none does."""
    return made.traits.units if isinstance(made, Layer) else ""


def _other_units(graph: Graph, node: Node, book: ShapeBook) -> Fix | None:
    """Give the dense layer before a loss as many units as the target has numbers."""
    link, arriving = graph.feeding(node.id, "prediction"), book.inputs(node.id)
    target = arriving.get("target")
    parameter = units_parameter(book.types.get(link.source)) if link is not None else ""
    if link is None or target is None or not target.shape or not parameter:
        return None
    before, units = graph.node(link.source), target.shape[-1]
    facts = book.trial(before.type, {**before.params, parameter: units}, book.inputs(before.id))
    if "output" in facts.outputs and fits(book, node, {**arriving, "prediction": facts.outputs["output"]}):
        label = f"Give {before.name or 'the layer'} {count_of_units(units)}"
        return doing(label, SetParam(before.id, parameter, units))
    return None


def _usual_value(node: Node, book: ShapeBook) -> Fix | None:
    """Set the one parameter that makes the layer impossible to its usual value."""
    for parameter, value, label in USUAL:
        spec = book.types[node.id].param_spec(parameter)
        if spec is None or (isinstance(value, str) and value not in spec.words):
            continue
        if book.trial(node.type, {**node.params, parameter: value}, book.inputs(node.id)).problem is None:
            return doing(label, SetParam(node.id, parameter, value))
    return None


def doing(label: str, *edits: Edit) -> Fix:
    """A fix whose edits are known already."""
    return Fix(label, lambda _: edits)


def inserting(label: str, link: Link, type_id: str, params: Mapping[str, Any] | None = None) -> Fix:
    """A fix that puts a new node into a wire."""
    return Fix(label, lambda project: insert(project, link, type_id, params))


def replacing(label: str, node: Node, feed: Link, type_id: str) -> Fix:
    """A fix that puts a new node ("x" in, "output" out) in the place of one that `feed` ends at."""

    def edits(project: Project) -> tuple[Edit, ...]:
        graph = project.graph
        name = free_name(type_id.lower(), names_of(graph))
        added = Node(project.new_id(), type_id, name, {}, node.position)
        leaving = [
            Link(added.id, "output", link.target, link.target_port) for link in graph.outgoing(node.id)
        ]
        arriving = Link(feed.source, feed.source_port, added.id, "x")
        return Remove((node.id,)), AddNodes((added,), (arriving, *leaving))

    return Fix(label, edits)


def insert(
    project: Project, link: Link, type_id: str, params: Mapping[str, Any] | None = None
) -> tuple[Edit, ...]:
    """The edits that put a new node ("x" in, "output" out) into a wire, making room for it."""
    graph = project.graph
    source, target = graph.node(link.source), graph.node(link.target)
    there = ((source.position[0] + target.position[0]) / 2, (source.position[1] + target.position[1]) / 2)
    added = Node(project.new_id(), type_id, free_name(type_id.lower(), names_of(graph)), params or {}, there)
    edits: list[Edit] = [
        Disconnect(link),
        AddNodes(
            (added,),
            (
                Link(link.source, link.source_port, added.id, "x"),
                Link(added.id, "output", link.target, link.target_port),
            ),
        ),
    ]
    if abs(target.position[0] - source.position[0]) < 2 * ROOM:
        pushed = {link.target} | graph.descendants(link.target)
        places = {one: graph.node(one).position for one in sorted(pushed)}
        edits.append(Move({one: (x + ROOM, y) for one, (x, y) in places.items()}))
    return tuple(edits)


def count_of_units(count: int) -> str:
    """So many units, in words."""
    return f"{count:,} unit" + ("" if count == 1 else "s")
