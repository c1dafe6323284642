"""The shapes inside blocks: one book for each definition and the inputs it meets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine.catalogue import Composite, Data, Input, Layer, Loss, Metric, Source, symbols
from engine.catalogue.bypass import keeps_values, without_muted
from engine.catalogue.emitter import build
from engine.catalogue.traits import Squash
from engine.document.graph import BLOCK, BLOCK_INPUT, Node, Project
from engine.document.plan import Plan
from engine.errors import NeuroloomError
from engine.shapes.problems import Problem
from engine.shapes.ragged import of_block
from engine.shapes.signatures import Facts, Signature, marks, wires_of

if TYPE_CHECKING:
    from engine.shapes.saved import Saved
    from engine.shapes.shapes import ShapeBook

Given = Mapping[str, Signature]


class Insides:
    """Keeps the books of block definitions; what is inside is inferred once for each set of inputs."""

    def __init__(self) -> None:
        self._books: dict[Any, ShapeBook] = {}
        self._prints: dict[str, Any] = {}
        self.saved: dict[Any, Saved] = {}  # what nodes keep for the backward pass

    def refresh(self, project: Project) -> set[str]:
        """Notice what changed in the definitions; returns the blocks whose inside is another now."""
        before, self._prints = self._prints, {}
        for block_id in project.blocks:
            self._print(project, block_id)
        changed = {one for one, found in self._prints.items() if before.get(one) != found}
        alive = set(self._prints.values())
        self._books = {key: book for key, book in self._books.items() if key[0] in alive}
        return changed

    def book(self, parent: ShapeBook, project: Project, block_id: str, given: Given) -> ShapeBook:
        """The book of a block's inside where `given` arrives at its input nodes."""
        key = (self._prints.get(block_id), tuple(sorted(marks(given))))
        found = self._books.get(key)
        if found is None:
            found = self._books[key] = parent.inside(given)
            found.update(within(project, block_id))
        return found

    def _print(self, project: Project, block_id: str) -> Any:
        """What of a definition decides shapes and code; where its nodes lie doesn't."""
        found = self._prints.get(block_id)
        if found is not None or block_id not in project.blocks:
            return found
        graph = project.blocks[block_id].graph
        nodes = tuple(
            (node.id, node.type, node.name, repr(sorted(node.params.items())), node.muted, node.shares)
            for node in graph.nodes.values()
        )
        nested = tuple(self._print(project, one) for one in _used(graph.nodes.values()))
        self._prints[block_id] = (block_id, hash((nodes, graph.links, nested)))
        return self._prints[block_id]


def within(project: Project, block_id: str) -> Project:
    """A block's definition as a project of its own."""
    block = project.blocks[block_id]
    return replace(project, title=block.name, graph=block.graph, plan=Plan())


def composite_facts(
    parent: ShapeBook, project: Project, node: Node, made: Composite, arriving: Given
) -> tuple[Facts, ShapeBook | None]:
    """What is known of a block's instance, and the book of its inside."""
    name = node.name or "this block"

    def wrong(message: str, code: str = "shape", port: str | None = None) -> Facts:
        return Facts(problem=Problem(node.id, message, port, code=code))

    if not made.outputs():
        return wrong(f"Nothing leaves {name}: add a Block output inside.", "inside"), None
    given, states, steps = dict(arriving), made.states(), None
    if made.scan:
        for port in [one for one in given if one not in states]:
            if not given[port].shape:
                return wrong(f"{name} runs along a sequence, but {given[port]} comes in.", port=port), None
            if steps is not None and steps != given[port].shape[0]:
                return wrong(f"The sequences that {name} reads differ in length."), None
            steps = given[port].shape[0]
            given[port] = replace(
                given[port], shape=given[port].shape[1:], axes=given[port].axes[1:], ragged=()
            )
        if steps is None:
            return wrong(f"{name} runs along a sequence and needs an input that is no state."), None
        for port, state in states.items():
            size = Signature(state.size)
            if port in arriving and arriving[port] != size:
                return wrong(f"The state of {name} is {size}, but it starts as {arriving[port]}."), None
            given[port] = size
    book = parent.insides.book(parent, project, made.block, given)
    stray = next((one for one, found in book.types.items() if _stays_outside(found)), None)
    if stray is not None:
        return wrong(f"Data, losses and metrics stay outside blocks, but {name} holds one.", "inside"), book
    if book.errors:
        return wrong(f"Inside {name}: {book.errors[0].message}", "inside"), book
    outputs: dict[str, Signature] = {}
    for out in made.outputs():
        found = book.input_signature(out.name, "x")
        if found is None:
            return wrong(f"Inside {name}, nothing reaches {out.title}.", "inside"), book
        outputs[out.name] = found
    for port, state in states.items():
        if outputs[state.fed_by] != given[port]:
            message = f"The state of {name} is {given[port]}, but comes back as {outputs[state.fed_by]}."
            return wrong(message), book
    try:
        code = build(made, "block", wires_of(arriving), classes=lambda _: symbols.name(BLOCK))
    except NeuroloomError as error:
        return wrong(str(error)), book
    runs, copies = made.times, made.times if made.own_weights else 1
    if made.times > 1 and list(outputs.values()) != list(arriving.values()):
        one, other = (" and ".join(map(str, found.values())) for found in (arriving, outputs))
        return wrong(
            f"{name} is repeated, so what leaves it must fit what enters: {one} is not {other}."
        ), book
    if steps is not None:
        for port, found in outputs.items():
            axes = ("steps", *found.axes) if len(found.axes) == len(found.shape) else ()
            outputs[port] = replace(found, shape=(steps, *found.shape), axes=axes)
        runs, copies = steps, 1
    outputs = of_block(made, arriving, outputs, book)
    weights, steps_of_one = book.total_parameters * copies, book.total_multiply_adds * runs
    return Facts(outputs, weights, steps_of_one, book.total_layers * copies, carries=code.carries), book


def _stays_outside(found: object) -> bool:
    alone = isinstance(found, Input) and found.type_id != BLOCK_INPUT
    return alone or isinstance(found, (Data, Source, Loss, Metric))


def _used(nodes: Iterable[Node]) -> list[str]:
    named = [node.params.get("block") for node in nodes if node.type == BLOCK]
    return [one for one in named if isinstance(one, str)]


def last_squash(project: Project, book: ShapeBook, wire: tuple[str, str]) -> Squash | None:
    """The function between two ends that the numbers of a wire have passed last, also inside a block."""
    graph, (node_id, port) = project.graph, wire
    while keeps_values(made := book.types.get(node_id)):
        link = graph.feeding(node_id, "x")
        if link is None:
            return None
        node_id, port = link.source, link.source_port
    if not isinstance(made, Composite):
        return made.squash() if isinstance(made, Layer) else None
    inner, types = within(project, made.block), book.books[node_id]
    inner = without_muted(inner, types.types)
    link = inner.graph.feeding(port, "x")
    return None if link is None else last_squash(inner, types, (link.source, link.source_port))


def joins_rows(book: ShapeBook) -> bool:
    """Whether a layer compares the examples of a batch, so that a batch of one is too small for it."""
    return any(
        made.least_rows(arriving.shape) > 1
        for one in every_book(book)
        for node_id, made in one.types.items()
        if isinstance(made, Layer) and (arriving := one.input_signature(node_id, "x")) is not None
    )


def batch_statistics(book: ShapeBook) -> bool:
    """Whether a layer keeps the statistics of batches."""
    every = (made for one in every_book(book) for made in one.types.values())
    return any(isinstance(made, Layer) and made.traits.batch_statistics for made in every)


def every_book(book: ShapeBook) -> Iterable[ShapeBook]:
    """The book and those inside blocks, each once."""
    found = [book]
    for one in found:  # which grows on the way
        for inner in one.books.values():
            if inner not in found:
                found.append(inner)
    return found


def scanned(book: ShapeBook, node_id: str) -> tuple[str, Composite, ShapeBook] | None:
    """The block that hands a state along a sequence which a node is or holds, and the book of its inside."""
    outside = next((one for one in every_book(book) if node_id in one.books), None)
    if outside is None:
        return None
    made, inside = outside.types[node_id], outside.books[node_id]
    if isinstance(made, Composite) and made.scan:
        return (node_id, made, inside) if made.states() else None
    return next((found for one in inside.books if (found := scanned(inside, one)) is not None), None)
