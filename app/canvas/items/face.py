"""What the canvas shows of a node, read from the document and the catalogue."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from app.canvas.items.geometry import Layout, PortName, lay_out
from app.canvas.items.text_fit import name_width
from engine.catalogue import Catalogue, Composite, NodeType, Port
from engine.document.graph import BLOCK, BLOCK_INPUT, BLOCK_OUTPUT, Graph, Node, Project
from engine.document.names import fresh_name
from engine.errors import NeuroloomError
from engine.values import natural

WITH_THUMBNAIL = (
    "data",
    "source",
    "convolution",
)  # kinds and families that get a strip of thumbnails from the start
NUMBERED = ("convolution", "dense", "recurrent")  # a network usually has several of these
_DIMENSIONS = re.compile(r" [123]-d$")


@dataclass(frozen=True, slots=True)
class Face:
    """A node as drawn, without its place: texts, family, and the layout with its ports."""

    name: str
    summary: str
    family: str
    kind: str
    known: bool
    tall: bool
    layout: Layout
    form: str = "node"  # "block" is drawn as a stack, "entry" and "exit" as the tabs of a block's ports
    muted: bool = False
    block: str = ""  # the block that an instance stands for
    repeated: bool = False


_FORMS = {BLOCK: "block", BLOCK_INPUT: "entry", BLOCK_OUTPUT: "exit"}


def face_of(node: Node, graph: Graph, catalogue: Catalogue, project: Project) -> Face:
    """The face of a node; a placeholder with the ports its links use where the type is unknown."""
    incoming = [link.target_port for link in graph.incoming(node.id)]
    outgoing = [link.source_port for link in graph.outgoing(node.id)]
    found = catalogue.get(node.type)
    if found is None:
        name = node.name or node.type
        layout = lay_out(_named(incoming), _named(outgoing), tall=False, name=name_width(name))
        summary = f"unknown: {node.type}"
        return Face(name, summary, "unknown", "unknown", False, False, layout, muted=node.muted)
    made, summary = _made(node, found, project)
    tall = found.kind in WITH_THUMBNAIL or found.family in WITH_THUMBNAIL
    inputs = list(_inputs(made.inputs(), incoming)) if made is not None else list(_named(incoming))
    outputs = (
        [PortName(port.name, port.title, port.doc) for port in made.outputs()] if made is not None else []
    )
    # A link may use a port that a changed parameter took away: it stays visible, so that it can be repaired.
    inputs += _named(set(incoming) - {port.name for port in inputs})
    outputs += _named(set(outgoing) - {port.name for port in outputs})
    block = project.blocks.get(node.block)
    name = node.name or (block.name if block is not None else "") or found.title
    form = _FORMS.get(node.type, "node")
    layout = lay_out(inputs, outputs, tall=tall, name=name_width(name))
    if node.muted:
        summary = "muted"
    repeated = isinstance(times := node.params.get("times", 1), int) and times > 1
    return Face(
        name,
        summary,
        found.family,
        found.kind,
        True,
        tall,
        layout,
        form=form,
        muted=node.muted,
        block=node.block,
        repeated=repeated,
    )


def _made(node: Node, found: type[NodeType], project: Project) -> tuple[NodeType | None, str]:
    """The node with its values, or with the defaults where those are refused."""
    try:
        made = found(node.params)
        if isinstance(made, Composite):
            made.bind(project)
        return made, made.summary()
    except NeuroloomError as error:
        summary = error.message
    try:
        return found(), summary
    except NeuroloomError:
        return None, summary


def _inputs(ports: Iterable[Port], linked: list[str]) -> Iterable[PortName]:
    """Ports that take many come as the linked ones and one that is free."""
    for port in ports:
        if not port.many:
            yield PortName(port.name, port.title, port.doc)
            continue
        stem = port.name
        numbers = {
            int(name[len(stem) :])
            for name in linked
            if name[: len(stem)] == stem and name[len(stem) :].isdecimal()
        }
        free = next(number for number in range(1, len(numbers) + 2) if number not in numbers)
        for number in sorted(numbers | {free}):
            yield PortName(f"{stem}{number}", f"{port.title} {number}", port.doc, numbered=True)


def _named(names: Iterable[str]) -> list[PortName]:
    return [PortName(name, name) for name in sorted(set(names), key=natural)]


def new_name(graph: Graph, found: type[NodeType]) -> str:
    """A short name for a new node that no other has: "conv1", "linear1", "flatten", "flatten2"."""
    stem = found.title if found.kind in ("data", "input") else found.title.casefold()
    stem = _DIMENSIONS.sub("", stem)
    if found.family in NUMBERED:
        return fresh_name(graph, stem)
    taken = {node.name for node in graph.nodes.values()}
    return stem if stem not in taken else next(name for n in count(2) if (name := f"{stem}{n}") not in taken)
