"""What must hold across the graphs of a project: ids, instances of blocks, shared weights, frames."""

from __future__ import annotations

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

from engine.document.dressing import Frame
from engine.document.graph import Graph, Node, Project
from engine.errors import GraphError
from engine.values import natural


def refuse_taken(project: Project, ids: Iterable[str]) -> None:
    """Raise GraphError if a node of any scope has one of these ids."""
    for id in ids:
        if any(id in graph.nodes for _, graph in project.graphs()):
            raise GraphError(f'There are two nodes with the id "{id}".', node_id=id)


def refuse_instance(project: Project, scope: str, block_id: str, node_id: str) -> None:
    """Raise GraphError unless a node in this scope may stand for this block."""
    if block_id not in project.blocks:
        raise GraphError(f'"{node_id}" stands for the block "{block_id[:40]}", which does not exist.')
    if scope and (scope == block_id or scope in project.contents(block_id)):
        name = project.blocks[block_id].name or block_id
        raise GraphError(f'The block "{name[:40]}" cannot contain itself.', node_id=node_id)


def refuse_sharing(graph: Graph, node: Node) -> None:
    """Raise GraphError unless a node of this graph may use the weights it names.

    Which types fit is a question of shapes: a Linear may use the matrix of an Embedding.
    """
    seen, one = {node.id}, node
    while one.shares:
        other = graph.nodes.get(one.shares)
        if other is None:
            raise GraphError(
                f'"{one.id}" uses the weights of "{one.shares[:40]}", which is not in the same graph.',
                node_id=one.id,
            )
        if other.id in seen:
            raise GraphError(f'"{other.id}" would use its own weights.', node_id=node.id)
        seen.add(other.id)
        one = other


def refuse_frame(project: Project, frame: Frame) -> None:
    """Raise GraphError unless all members of a frame are in its scope."""
    missing = frame.members - project.graph_of(frame.scope).nodes.keys()
    if missing:
        first = min(missing, key=natural)
        raise GraphError(f'The frame "{frame.id}" cannot hold "{first[:40]}": it is not in the same graph.')


def verify(project: Project) -> None:
    """Raise GraphError for the first thing in a whole project that no edit could have made."""
    homes: dict[str, str] = {}
    for scope, graph in project.graphs():
        for id, node in graph.nodes.items():
            if id in homes:
                raise GraphError(f'There are two nodes with the id "{id}".', node_id=id)
            homes[id] = scope
            if node.block and node.block not in project.blocks:
                refuse_instance(project, scope, node.block, id)
            if node.shares:
                refuse_sharing(graph, node)
    inside = {
        id: {node.block for node in block.graph.nodes.values()} - {""} for id, block in project.blocks.items()
    }
    try:
        TopologicalSorter(inside).prepare()
    except CycleError as error:
        block = project.block(error.args[1][0])
        raise GraphError(f'The block "{(block.name or block.id)[:40]}" contains itself.') from error
    for frame in project.frames.values():
        refuse_frame(project, frame)
    for note in project.notes_on_canvas.values():
        project.graph_of(note.scope)
