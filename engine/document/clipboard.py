"""Copy and paste: nodes as JSON text that pastes in any window, mail or chat.

A copy carries the definitions of the blocks it needs. Pasted into the project it comes from, it stands
for the same blocks as before (linked); in another project the definitions come along, unless an equal
one is there already. What is linked changes together, and nothing is ever linked across projects.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from engine.document.blocks import copies
from engine.document.document import Document
from engine.document.dressing import Note
from engine.document.edits import AddFrame, AddNodes, AddNote, Edit
from engine.document.fields import Fields
from engine.document.files import (
    check_schema,
    dump,
    parse,
    parts_of,
    read_blocks,
    read_frames,
    read_graph,
    read_notes,
    reading,
    schema_of,
)
from engine.document.graph import BLOCK_INPUT, BLOCK_OUTPUT, Block, Graph, Link, Node, Project
from engine.document.names import free_name, names_of
from engine.document.renumber import Renumbering, copied_note, likeness, moved
from engine.document.scopes import verify
from engine.errors import GraphError, ProjectFileError
from engine.values import natural

FORMAT = 2
LONGEST = 16 * 1024 * 1024  # characters; no selection comes near it, a pasted log file might
CASCADE = 24.0  # scene units, so that a copy never lies exactly on what is there


@dataclass(frozen=True)
class _Copy:
    """What lies on the clipboard: a project of its own, the key of the one it is from, and outside links."""

    project: Project
    key: str
    shares: dict[str, str]


def copy_text(project: Project, ids: Iterable[str]) -> str:
    """Return nodes of one scope, and notes among the ids, as text.

    With them go the links among them, the frames around nothing else, and the blocks they stand for.
    Raises GraphError for an unknown id.
    """
    given = set(ids)
    chosen = sorted(given - project.notes_on_canvas.keys(), key=natural)
    scopes = {project.home(id) for id in chosen}
    if len(scopes) > 1:
        raise GraphError("Nodes of several graphs cannot be copied at once.")
    graph = project.graph_of(scopes.pop() if scopes else "")
    links = [link for id in chosen for link in graph.outgoing(id) if link.target in given]
    bends = {link: graph.bends(link) for link in links}
    nodes = [graph.node(id) for id in chosen]
    names = {node.block for node in nodes} - {""}
    names |= {one for name in names for one in project.contents(name)}
    frames = [
        replace(frame, scope=frame.scope if frame.scope in names else "")
        for frame in project.frames.values()
        if frame.members <= given or frame.scope in names
    ]
    notes = [
        replace(note, scope=note.scope if note.scope in names else "")
        for note in project.notes_on_canvas.values()
        if note.id in given or note.scope in names
    ]
    inside = {node.id: node.shares for node in nodes if node.shares and node.shares not in given}
    part = Project(
        graph=Graph(nodes, links, bends),
        blocks={id: project.blocks[id] for id in sorted(names, key=natural)},
        frames={frame.id: frame for frame in frames},
        notes_on_canvas={note.id: note for note in notes},
    )
    head = f'"neuroloom-nodes": {schema_of(part)}'
    if names or inside:
        head += f',\n"project": {dump(project.key)}'
    return "{" + ",\n".join((head, *parts_of(part))) + "}\n"


def paste(
    document: Document, text: str, at: tuple[float, float], into: str = "", independent: bool = False
) -> tuple[str, ...]:
    """Add what was copied, centred at a point (scene units) of a scope, as one step "Paste".

    Returns the new ids of the nodes, then of the notes. Names that are taken are numbered on. With
    `independent`, blocks get definitions of their own also in the project they come from. The inputs and
    outputs of a block are left out where they have no meaning: outside of one. Raises
    ProjectFileError, and nothing has happened, if the text isn't a copy, GraphError if it cannot be
    pasted there (a block into itself).
    """
    project = document.project
    target = project.graph_of(into)
    with reading("", "pasted"):
        copied = _read(text)
        if not into:
            copied = replace(copied, project=_without_ports(copied.project))
        source = copied.project
        fresh = Renumbering()
        edits = list(_definitions(project, copied, independent, fresh))
        fresh.nodes.update({id: project.new_id() for id in source.graph.nodes})
        ids = [fresh.nodes[id] for id in source.graph.nodes]
        frames = [frame for frame in source.frames.values() if not frame.scope]
        notes = [note for note in source.notes_on_canvas.values() if not note.scope]
        by = _shift(target, source.graph, notes, at)
        edits.append(_nodes(project, copied, fresh, into, by))
        edits.extend(AddFrame(fresh.frame(frame, project.new_id("f"), into)) for frame in frames)
        added = [AddNote(copied_note(note, project.new_id("t"), into, by)) for note in notes]
    with document.step("Paste"):
        for edit in (*edits, *added):
            document.apply(edit)
    return (*ids, *(edit.note.id for edit in added))


def _read(text: str) -> _Copy:
    if len(text) > LONGEST:
        raise ProjectFileError("it is too long to be copied nodes")
    data = parse(text) if text.lstrip().startswith("{") else None
    if not isinstance(data, dict) or "neuroloom-nodes" not in data:
        raise ProjectFileError("it holds no nodes of Neuroloom")
    fields = Fields(data, "the copied text")
    check_schema(fields.raw("neuroloom-nodes"), FORMAT)
    key = fields.text("project", "")
    graph = read_graph(fields)
    shares = {
        node.id: node.shares
        for node in graph.nodes.values()
        if node.shares and node.shares not in graph.nodes
    }
    for id in shares:
        graph._replace(replace(graph.node(id), shares=""))
    project = Project(
        graph=graph,
        blocks=read_blocks(fields),
        frames=read_frames(fields),
        notes_on_canvas=read_notes(fields),
    )
    if not graph.nodes and not project.notes_on_canvas:
        raise ProjectFileError("there is no node in it")
    verify(project)
    return _Copy(project, key, shares)


def _without_ports(project: Project) -> Project:
    """Return what was copied without inputs and outputs of a block, which mean nothing outside one."""
    graph = project.graph
    ports = {id for id, node in graph.nodes.items() if node.type in (BLOCK_INPUT, BLOCK_OUTPUT)}
    if not ports:
        return project
    links = [link for link in graph.links if not {link.source, link.target} & ports]
    nodes = [node for id, node in graph.nodes.items() if id not in ports]
    if not nodes and not project.notes_on_canvas:
        raise ProjectFileError("the inputs and outputs of a block have no place outside one")
    frames = {id: frame if frame.scope else frame.without(ports) for id, frame in project.frames.items()}
    return replace(
        project,
        graph=Graph(nodes, links, {link: graph.bends(link) for link in links}),
        frames={id: frame for id, frame in frames.items() if frame is not None},
    )


def _definitions(project: Project, copied: _Copy, independent: bool, fresh: Renumbering) -> tuple[Edit, ...]:
    """Return the edits that bring along the blocks that aren't there; `fresh` notes what becomes what."""
    source = copied.project
    brought: dict[str, Block] = dict(source.blocks)
    if not independent:
        here = copied.key == project.key
        known: dict[str, object] = {}
        likes = {likeness(project.blocks, id, known): id for id in project.blocks} if brought else {}
        alike: dict[str, object] = {}
        for id in source.blocks:
            same = id if here and id in project.blocks else likes.get(likeness(source.blocks, id, alike))
            if same is not None:
                del brought[id]
                fresh.blocks[id] = same
                if same != id or not here:
                    fresh.nodes.update(
                        zip(source.blocks[id].graph.nodes, project.blocks[same].graph.nodes, strict=False)
                    )
    return copies(project, brought, fresh, source) if brought else ()


def _nodes(
    project: Project, copied: _Copy, fresh: Renumbering, into: str, by: tuple[float, float]
) -> AddNodes:
    """Return the edit that adds the copies: with ids, free names and places of their own, and their wires."""
    target, graph = project.graph_of(into), copied.project.graph
    taken = names_of(target)
    nodes: list[Node] = []
    for node in graph.nodes.values():
        name = free_name(node.name, taken) if node.name else ""
        taken.add(name)
        outside = copied.shares.get(node.id, "")
        after = replace(fresh.node(node, by), name=name)
        if outside and copied.key == project.key and outside in target.nodes:
            after = replace(after, shares=outside)
        nodes.append(after)
    links, bends = [], {}
    for link in graph.links:
        if _leads_somewhere(project, graph, link, fresh):
            after_link = fresh.link(link, graph)
            links.append(after_link)
            if points := graph.bends(link):
                bends[after_link] = tuple(moved(point, by) for point in points)
    return AddNodes(tuple(nodes), tuple(links), into, bends)


def _leads_somewhere(project: Project, graph: Graph, link: Link, fresh: Renumbering) -> bool:
    """Return whether the ports of blocks that a link was at are there still: the block may have changed."""
    for id, port in ((link.source, link.source_port), (link.target, link.target_port)):
        block = project.blocks.get(fresh.blocks.get(graph.node(id).block, ""))
        if block is not None and fresh.nodes.get(port, port) not in block.graph.nodes:
            return False
    return True


def _shift(graph: Graph, copied: Graph, notes: list[Note], at: tuple[float, float]) -> tuple[float, float]:
    """Return how far to move the copy: its middle to `at`, further until it hides no node."""
    places = [*(node.position for node in copied.nodes.values()), *(note.position for note in notes)]
    xs, ys = zip(*places, strict=True)
    dx, dy = at[0] - (min(xs) + max(xs)) / 2, at[1] - (min(ys) + max(ys)) / 2
    taken = {_spot(*node.position) for node in graph.nodes.values()}
    while any(_spot(x + dx, y + dy) in taken for x, y in places):
        dx, dy = dx + CASCADE, dy + CASCADE
    return dx, dy


def _spot(x: float, y: float) -> tuple[int, int]:
    return round(x), round(y)
