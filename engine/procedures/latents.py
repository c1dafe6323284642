"""Where a network generates examples from a few numbers: behind a source of noise, or a bottleneck."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from engine.shapes.heads import VALUES, Wire, heads

if TYPE_CHECKING:
    from engine.document.graph import Project
    from engine.shapes.shapes import ShapeBook

MOST = 4096  # numbers of a code


@dataclass(frozen=True, slots=True)
class Latent:
    """`size` numbers on the wire `code`, and the wire `made` that carries what is generated from them.

    `spread` is how a source draws the numbers: ("normal", deviation) or ("even", range); None for codes that
    the network finds for examples.
    """

    code: Wire
    size: int
    made: Wire
    shape: tuple[int, ...]
    spread: tuple[str, float] | None = None


def latent_of(project: Project, book: ShapeBook, node_id: str) -> Latent | None:
    """The numbers that a source, a bottleneck or the layer behind one of them hands on; None for others."""
    if node_id not in project.graph.nodes:
        return None
    before = [(link.source, link.source_port) for link in project.graph.incoming(node_id)]
    for wire in ((node_id, _first_port(book, node_id)), *before):
        found = _latent(project, book, wire)
        if found is not None:
            return found
    return None


def _latent(project: Project, book: ShapeBook, wire: Wire) -> Latent | None:
    made = book.types.get(wire[0])
    code = book.signature(*wire)
    if made is None or code is None or code.dtype != "float32":
        return None
    size = prod(code.shape)
    if not 1 < size <= MOST:
        return None
    if made.kind == "source":
        end = _largest(project, book, wire[0], size)
        spread = ("even", float(made.reach)) if hasattr(made, "reach") else None
        spread = spread or ("normal", float(getattr(made, "deviation", 1.0)))
        return Latent(wire, size, *end, spread) if end is not None else None
    arriving = max((prod(found.shape) for found in book.inputs(wire[0]).values()), default=0)
    if made.kind != "layer" or len(code.shape) != 1 or arriving <= size:
        return None
    behind = dict(_behind(project, wire[0]))
    ends = [
        (behind[ask.prediction[0]], ask.prediction)
        for ask in heads(project, book)
        if ask.kind == VALUES and ask.prediction[0] in behind and ask.size > size
    ]
    if not ends:
        return None
    end_wire = min(ends)[1]
    shape = book.signature(*end_wire)
    return Latent(wire, size, end_wire, shape.shape) if shape is not None else None


def _largest(
    project: Project, book: ShapeBook, node_id: str, size: int
) -> tuple[Wire, tuple[int, ...]] | None:
    """The first of the largest outputs behind a source that are larger than what it draws."""
    best: tuple[Wire, tuple[int, ...]] | None = None
    for reached, _ in _behind(project, node_id):
        wire = (reached, _first_port(book, reached))
        found = book.signature(*wire)
        if found is None or book.types[reached].kind != "layer" or prod(found.shape) <= size:
            continue
        if best is None or prod(found.shape) > prod(best[1]):
            best = wire, found.shape
    return best


def _first_port(book: ShapeBook, node_id: str) -> str:
    facts = book.facts(node_id)
    return next(iter(facts.outputs), "") if facts is not None else ""


def _behind(project: Project, node_id: str) -> Iterator[tuple[str, int]]:
    """The nodes that a node leads to with their distance, the nearest first."""
    waiting, seen = [(node_id, 0)], {node_id}
    while waiting:
        here, far = waiting.pop(0)
        if far:
            yield here, far
        for link in project.graph.outgoing(here):
            if link.target not in seen:
                seen.add(link.target)
                waiting.append((link.target, far + 1))
