"""Copy and paste: nodes as JSON text that pastes in any window, mail or chat."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from engine.document import Document
from engine.edits import AddNodes
from engine.errors import ProjectFileError
from engine.fields import Fields
from engine.files import check_schema, dump, link_to_json, node_to_json, parse, read_graph, reading
from engine.graph import Graph, Link, Node, Project
from engine.names import names_of, numbered
from engine.values import natural

FORMAT = 1
LONGEST = 16 * 1024 * 1024  # characters; no selection comes near it, a pasted log file might
CASCADE = 24.0  # scene units, so that a copy never lies exactly on what is there


def copy_text(project: Project, ids: Iterable[str]) -> str:
    """Return nodes, with the links among them, as text. Raises GraphError for an unknown id."""
    graph = project.graph
    chosen = {id: graph.node(id) for id in sorted(set(ids), key=natural)}
    links = [link for id in chosen for link in graph.outgoing(id) if link.target in chosen]
    nodes = ",\n".join(dump(node_to_json(node)) for node in chosen.values())
    wires = ",\n".join(dump(link_to_json(link)) for link in sorted(links))
    return f'{{"neuroloom-nodes": {FORMAT},\n"nodes": [\n{nodes}\n],\n"links": [\n{wires}\n]}}\n'


def paste(document: Document, text: str, at: tuple[float, float]) -> tuple[str, ...]:
    """Add the copied nodes, centred at a point (scene units), as one step "Paste"; returns their new ids.

    Names that are taken are numbered on. Raises ProjectFileError, and nothing has happened, if the
    text isn't a copy.
    """
    project = document.project
    with reading("", "pasted"):
        copied = _read(text)
        ids = {id: project.new_id() for id in copied.nodes}
        nodes = _placed(project.graph, copied, ids, at)
    links = tuple(
        Link(ids[link.source], link.source_port, ids[link.target], link.target_port) for link in copied.links
    )
    with document.step("Paste"):
        document.apply(AddNodes(nodes, links))
    return tuple(ids.values())


def _read(text: str) -> Graph:
    if len(text) > LONGEST:
        raise ProjectFileError("it is too long to be copied nodes")
    data = parse(text) if text.lstrip().startswith("{") else None
    if not isinstance(data, dict) or "neuroloom-nodes" not in data:
        raise ProjectFileError("it holds no nodes of Neuroloom")
    fields = Fields(data, "the copied text")
    check_schema(fields.raw("neuroloom-nodes"), FORMAT)
    graph = read_graph(fields)
    if not graph.nodes:
        raise ProjectFileError("there is no node in it")
    return graph


def _placed(graph: Graph, copied: Graph, ids: dict[str, str], at: tuple[float, float]) -> tuple[Node, ...]:
    """Return the copies as they are to be added: with ids, free names and places of their own."""
    dx, dy = _shift(graph, copied, at)
    taken = names_of(graph)
    nodes = []
    for node in copied.nodes.values():
        name = node.name
        if name in taken and name:
            name = numbered(name.rstrip("0123456789") or name, taken)
        taken.add(name)
        x, y = node.position
        nodes.append(replace(node, id=ids[node.id], name=name, position=(x + dx, y + dy)))
    return tuple(nodes)


def _shift(graph: Graph, copied: Graph, at: tuple[float, float]) -> tuple[float, float]:
    """Return how far to move the copy: its middle to `at`, further until it hides no node."""
    xs, ys = zip(*(node.position for node in copied.nodes.values()), strict=True)
    dx, dy = at[0] - (min(xs) + max(xs)) / 2, at[1] - (min(ys) + max(ys)) / 2
    taken = {_spot(*node.position) for node in graph.nodes.values()}
    while any(_spot(x + dx, y + dy) in taken for x, y in zip(xs, ys, strict=True)):
        dx, dy = dx + CASCADE, dy + CASCADE
    return dx, dy


def _spot(x: float, y: float) -> tuple[int, int]:
    return round(x), round(y)
