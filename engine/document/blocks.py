"""Blocks made and unmade: a selection becomes one node, one node its inside again.

Each function answers with edits and changes nothing but the counter of ids; apply them in one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from engine.document.dressing import Frame
from engine.document.edits import (
    AddBlock,
    AddFrame,
    AddNodes,
    AddNote,
    ChangeFrame,
    Connect,
    Disconnect,
    Edit,
    Remove,
    RemoveBlock,
    RemoveFrame,
    RemoveNote,
    SetParam,
)
from engine.document.graph import BLOCK, BLOCK_INPUT, BLOCK_OUTPUT, Block, Graph, Link, Node, Points, Project
from engine.document.names import free_name, names_of, numbered
from engine.document.renumber import Renumbering, copied_note, innermost_first, moved
from engine.errors import GraphError
from engine.values import natural

INSIDE, OUTSIDE = "output", "x"  # the ports of the nodes BlockInput and BlockOutput themselves
MARGIN, ROW = 240.0, 100.0  # scene units: from the ports to what they serve, and from port to port
PORTS = (BLOCK_INPUT, BLOCK_OUTPUT)

End = tuple[str, str]  # a node and one of its ports


# -- looking


def ports_of(project: Project, block_id: str) -> tuple[list[Node], list[Node]]:
    """Return the nodes that are a block's inputs and outputs, in order of "order", then of the ids."""
    nodes = project.block(block_id).graph.nodes.values()
    found = [sorted((node for node in nodes if node.type == kind), key=_port_order) for kind in PORTS]
    return found[0], found[1]


def _port_order(node: Node) -> tuple[int, tuple[str, int, str, str]]:
    order = node.params.get("order", 0)
    return order if isinstance(order, int) else 0, natural(node.id)


def _block_of(project: Project, instance_id: str) -> Block:
    node = project.node(instance_id)
    if not node.block:
        raise GraphError(f'"{node.name or node.id}" is no block.', node_id=node.id)
    return project.block(node.block)


def block_name(project: Project, base: str) -> str:
    """Return a name that no block of the project has: the base itself, or numbered on."""
    taken = {block.name for block in project.blocks.values()}
    return free_name(base, taken) if base else numbered(BLOCK, taken)


# -- grouping


def group(project: Project, ids: Iterable[str], name: str = BLOCK) -> tuple[Edit, ...]:
    """Return the edits that turn nodes of one scope, and notes among the ids, into a block with one instance.

    Wires across the edge go through ports; one that feeds several nodes inside has one port. The last
    AddNodes adds the instance. Raises GraphError where no block can be made of them.
    """
    given = set(ids)
    chosen = sorted(given - project.notes_on_canvas.keys(), key=natural)
    scope = _common_scope(project, chosen)
    graph = project.graph_of(scope)
    nodes = [graph.node(id) for id in chosen]
    _refuse_group(graph, nodes, frozenset(chosen))
    block_id = project.new_id("b")
    inside = _Inside(project, graph, frozenset(chosen))
    block = Block(block_id, block_name(project, name), inside.graph(nodes))
    own_name = free_name(name or BLOCK, names_of(graph))
    instance = Node(project.new_id(), BLOCK, own_name, {"block": block_id}, _middle(nodes))
    notes = [
        project.notes_on_canvas[id] for id in sorted(given & project.notes_on_canvas.keys(), key=natural)
    ]
    frames = [frame for frame in project.frames.values() if frame.members & given]
    within = [frame for frame in frames if frame.members <= given]
    around = [frame for frame in frames if frame.members > set(chosen)]
    links, bends = inside.wires_of(instance.id)
    return (
        *(RemoveFrame(frame.id) for frame in within),
        *(RemoveNote(note.id) for note in notes),
        Remove(tuple(chosen)),
        AddBlock(block),
        *(AddFrame(replace(frame, scope=block_id)) for frame in within),
        *(AddNote(replace(note, scope=block_id)) for note in notes),
        AddNodes((instance,), links, scope, bends),
        *(ChangeFrame(_with(frame, chosen, [instance.id])) for frame in around),
    )


def _with(frame: Frame, out: Iterable[str], into: Iterable[str]) -> Frame:
    return replace(frame, members=frame.members.difference(out).union(into))


def _common_scope(project: Project, ids: list[str]) -> str:
    if not ids:
        raise GraphError("Choose the nodes that the block should hold.")
    scopes = {project.home(id) for id in ids}
    if len(scopes) > 1:
        raise GraphError("A block is made of nodes of one graph.", node_id=ids[0])
    return scopes.pop()


def _refuse_group(graph: Graph, nodes: list[Node], ids: frozenset[str]) -> None:
    for node in nodes:
        if node.type in PORTS:
            raise GraphError("The inputs and outputs of a block stay where they are.", node_id=node.id)
    for node in graph.nodes.values():
        if node.shares and (node.id in ids) is not (node.shares in ids):
            inner, outer = (node.id, node.shares) if node.id in ids else (node.shares, node.id)
            raise GraphError(
                f"{_called(graph, inner)} shares weights with {_called(graph, outer)}, which stays outside.",
                node_id=inner,
                fix="Choose both, or give one weights of its own.",
            )
    between = (_reached(graph, ids, forwards=True) & _reached(graph, ids, forwards=False)) - ids
    if between:
        first = min(between, key=natural)
        raise GraphError(
            f"{_called(graph, first)} lies between these nodes: the block would feed itself.",
            node_id=first,
            fix="Choose it too.",
        )


def _called(graph: Graph, id: str) -> str:
    return f'"{graph.node(id).name[:40] or id}"'


def _reached(graph: Graph, ids: frozenset[str], forwards: bool) -> set[str]:
    """Return what a walk from nodes along the wires, or against them, comes to."""
    found: set[str] = set()
    waiting = list(ids)
    while waiting:
        id = waiting.pop()
        links = graph._outgoing.get(id, ()) if forwards else graph._incoming.get(id, ())
        near = {link.target if forwards else link.source for link in links} - found
        found |= near
        waiting.extend(near - ids)
    return found


def _middle(nodes: Iterable[Node]) -> tuple[float, float]:
    xs, ys = zip(*(node.position for node in nodes), strict=True)
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2


class _Inside:
    """A selection as the inside of a block: its own wires, and a port for each end that wires cross to."""

    def __init__(self, project: Project, graph: Graph, ids: frozenset[str]) -> None:
        self._graph, self._ids = graph, ids
        entering = [link for link in graph.links if link.target in ids and link.source not in ids]
        leaving = [link for link in graph.links if link.source in ids and link.target not in ids]
        self._entering, self._leaving = entering, leaving
        self._inputs: dict[End, Node] = {}
        self._outputs: dict[End, Node] = {}
        xs = [graph.node(id).position[0] for id in ids]
        names: set[str] = {graph.node(id).name for id in ids}
        sides = ((entering, self._inputs, min(xs) - MARGIN), (leaving, self._outputs, max(xs) + MARGIN))
        for links, ports, x in sides:
            rows: dict[End, list[Link]] = {}
            for link in sorted(links, key=self._height):
                rows.setdefault((link.source, link.source_port), []).append(link)
            top = _middle(graph.node(id) for id in ids)[1] - ROW * (len(rows) - 1) / 2
            for order, (end, row) in enumerate(rows.items()):
                kind, base = (
                    (BLOCK_INPUT, row[0].target_port) if links is entering else (BLOCK_OUTPUT, end[1])
                )
                name = free_name(base, names)
                names.add(name)
                place = (x, top + ROW * order)
                ports[end] = Node(project.new_id(), kind, name, {"order": order}, place)

    def _height(self, link: Link) -> tuple[float, float, Link]:
        x, y = self._graph.node(link.source).position
        return y, x, link

    def graph(self, nodes: Iterable[Node]) -> Graph:
        """Return the graph of the block. A wire that enters keeps its bends inside."""
        links = [link for link in self._graph.links if link.source in self._ids and link.target in self._ids]
        bends = {link: self._graph.bends(link) for link in links}
        for link in self._entering:
            port = self._inputs[link.source, link.source_port]
            inner = Link(port.id, INSIDE, link.target, link.target_port)
            bends[inner] = self._graph.bends(link)
        for (source, source_port), port in self._outputs.items():
            bends[Link(source, source_port, port.id, OUTSIDE)] = ()
        return Graph((*nodes, *self._inputs.values(), *self._outputs.values()), bends, bends)

    def wires_of(self, instance_id: str) -> tuple[tuple[Link, ...], dict[Link, Points]]:
        """Return the wires of the instance. A wire that leaves keeps its bends outside."""
        into = [Link(*end, instance_id, port.id) for end, port in self._inputs.items()]
        bends: dict[Link, Points] = {}
        for link in self._leaving:
            port = self._outputs[link.source, link.source_port]
            outer = Link(instance_id, port.id, link.target, link.target_port)
            bends[outer] = self._graph.bends(link)
        return (*into, *bends), {link: points for link, points in bends.items() if points}


# -- ungrouping


def ungroup(project: Project, instance_id: str) -> tuple[Edit, ...]:
    """Return the edits that put the inside of a block in the place of one instance of it.

    The only instance gives its nodes back under their own ids, and the block goes; of several, this one
    is replaced by a copy. Raises GraphError for a repeated or scanned block, or one with another's weights.
    """
    block = _block_of(project, instance_id)
    scope = project.home(instance_id)
    outer = project.graph_of(scope)
    instance = outer.node(instance_id)
    _refuse_ungroup(instance)
    only = project.instances(block.id) == [instance_id]
    inner = [node for node in block.graph.nodes.values() if node.type not in PORTS]
    fresh = Renumbering({} if only else {node.id: project.new_id() for node in inner})
    middle = _middle(inner) if inner else instance.position
    by = (instance.position[0] - middle[0], instance.position[1] - middle[1])
    ports = frozenset(block.graph.nodes.keys() - {node.id for node in inner})
    owners = {node.id: _weights_beyond(block.graph, node.shares, ports) for node in inner}
    nodes = tuple(
        replace(
            fresh.node(replace(node, shares=owners[node.id]), by),
            muted=node.muted or instance.muted,
        )
        for node in inner
    )
    wires = _joined(outer, instance_id, block.graph, fresh, by)
    ids = {node.id for node in nodes}
    edits: list[Edit] = [Remove((instance_id,))]
    if only:
        edits.append(RemoveBlock(block.id))
    edits.append(
        AddNodes(nodes, tuple(wires), scope, {link: bends for link, bends in wires.items() if bends})
    )
    for frame in project.frames.values():
        left = frame.without(ports) if frame.scope == block.id else None
        if left is not None:
            edits.append(AddFrame(fresh.frame(left, frame.id if only else project.new_id("f"), scope)))
        elif instance_id in frame.members and ids:
            after = _with(frame, [instance_id], ids)
            edits.append(AddFrame(after) if frame.members == {instance_id} else ChangeFrame(after))
    for note in project.notes_on_canvas.values():
        if note.scope == block.id:
            edits.append(AddNote(copied_note(note, note.id if only else project.new_id("t"), scope, by)))
    return tuple(edits)


def _weights_beyond(graph: Graph, id: str, ports: frozenset[str]) -> str:
    """Return whose weights are shared where `id` is shared: a port has none of its own."""
    while id in ports:
        id = graph.node(id).shares
    return id


def _refuse_ungroup(instance: Node) -> None:
    called = f'"{instance.name[:40] or instance.id}"'
    if instance.params.get("scan", False) is not False:
        raise GraphError(f"{called} runs along the sequence, which nodes alone cannot.", node_id=instance.id)
    if instance.params.get("times", 1) != 1:
        raise GraphError(f"{called} is repeated.", node_id=instance.id, fix="Set Repeat to 1 first.")
    if instance.shares:
        raise GraphError(
            f"{called} uses the weights of another block.",
            node_id=instance.id,
            fix="Give it weights of its own first.",
        )


def _joined(
    outer: Graph, instance_id: str, inner: Graph, fresh: Renumbering, by: tuple[float, float]
) -> dict[Link, Points]:
    """Return the wires of an instance's inside, put together with the wires outside, and their bends.

    A wire that leads into an input or out of an output, or is at a port which those lack, carries nothing:
    it goes with the ports.
    """
    found: dict[Link, Points] = {}
    for link in inner.links:
        source, target = inner.node(link.source).type, inner.node(link.target).type
        begins, ends = source == BLOCK_INPUT, target == BLOCK_OUTPUT
        if source == BLOCK_OUTPUT or target == BLOCK_INPUT:
            continue
        if (begins and link.source_port != INSIDE) or (ends and link.target_port != OUTSIDE):
            continue
        bends = tuple(moved(point, by) for point in inner.bends(link))
        after = fresh.link(link, inner)
        start: End = (after.source, after.source_port)
        if begins:
            before = outer.feeding(instance_id, link.source)
            if before is None:
                continue
            start, bends = (before.source, before.source_port), outer.bends(before) + bends
        if not ends:
            found[Link(*start, after.target, after.target_port)] = bends
            continue
        for beyond in outer.outgoing(instance_id):
            if beyond.source_port == link.target:
                end = Link(*start, beyond.target, beyond.target_port)
                found[end] = bends + outer.bends(beyond)
    return found


# -- copies


def copy_independent(project: Project, instance_id: str) -> tuple[Edit, ...]:
    """Return the edits that give an instance a definition of its own, and so the blocks inside it.

    Its wires stay, at the ports of the copy. Raises GraphError if the node is no block.
    """
    block = _block_of(project, instance_id)
    fresh = Renumbering()
    wanted = {block.id, *project.contents(block.id)}
    edits = list(copies(project, {id: project.blocks[id] for id in wanted}, fresh, project))
    graph = project.graph_of(project.home(instance_id))
    links = [*graph.incoming(instance_id), *graph.outgoing(instance_id)]
    edits.extend(Disconnect(link) for link in links)
    edits.append(SetParam(instance_id, "block", fresh.blocks[block.id]))
    edits.extend(Connect(_at_copy(link, instance_id, fresh), graph.bends(link)) for link in links)
    return tuple(edits)


def _at_copy(link: Link, instance_id: str, fresh: Renumbering) -> Link:
    if link.source == instance_id:
        return replace(link, source_port=fresh.nodes.get(link.source_port, link.source_port))
    return replace(link, target_port=fresh.nodes.get(link.target_port, link.target_port))


def copies(
    project: Project, blocks: Mapping[str, Block], fresh: Renumbering, source: Project
) -> tuple[Edit, ...]:
    """Return the edits that add copies of blocks of `source` to a project, each after the blocks inside it.

    The new ids are noted in `fresh`; the frames and notes inside are copied too.
    """
    order = innermost_first(blocks)
    for id in order:
        fresh.blocks[id] = project.new_id("b")
        fresh.nodes.update({node: project.new_id() for node in blocks[id].graph.nodes})
    taken = {block.name for block in project.blocks.values()}
    edits: list[Edit] = []
    for id in order:
        name = free_name(blocks[id].name or BLOCK, taken)
        taken.add(name)
        edits.append(AddBlock(fresh.block(blocks[id], name)))
    for frame in source.frames.values():
        if frame.scope in blocks:
            edits.append(AddFrame(fresh.frame(frame, project.new_id("f"), fresh.blocks[frame.scope])))
    for note in source.notes_on_canvas.values():
        if note.scope in blocks:
            edits.append(AddNote(copied_note(note, project.new_id("t"), fresh.blocks[note.scope])))
    return tuple(edits)
