"""Shape and dtype of every wire, found by running each node's own emitted line on the meta device.

Nothing here knows a shape rule: a node's line is evaluated with tensors that have sizes and no numbers, once
for each (type, parameters, input shapes), and the answer is kept. An edit touches only what lies downstream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from engine.catalogue import (
    Catalogue,
    Column,
    Composite,
    Data,
    Input,
    Layer,
    Loss,
    Metric,
    NodeType,
    Source,
    Transform,
)
from engine.catalogue.bypass import linked, passed_on, without_muted
from engine.catalogue.emitter import NodeCode, build
from engine.catalogue.symbols import evaluate, name
from engine.document.edits import Disconnect
from engine.document.graph import BLOCK, Graph, Link, Node, Project
from engine.errors import NeuroloomError, reason_of
from engine.shapes.advice import unused_blocks
from engine.shapes.inside import Insides, composite_facts, within
from engine.shapes.links import link_problems
from engine.shapes.lint import lint
from engine.shapes.plain_words import plainly
from engine.shapes.problems import Fix, Problem, Severity
from engine.shapes.ragged import by_places
from engine.shapes.remedies import doing, remedy
from engine.shapes.running import BATCH, COUNTS, counted, empty
from engine.shapes.signatures import Facts, Signature, marks, wires_of, with_axes
from engine.shapes.size import TOO_LARGE
from engine.values import Value

if TYPE_CHECKING:
    from engine.shapes.memory import Memory

__all__ = ["Fix", "Problem", "Severity", "ShapeBook", "Signature", "check", "wires_of"]

MOST_KNOWN = 20_000  # answers kept; a value dragged for an hour gives as many


class ShapeBook:
    """The shapes, sizes and problems of a project, kept up to date edit by edit.

    `given` is what arrives at the inputs of a block, where the book is that of a block's inside. Nodes inside
    blocks are known too, as they are in the first instance of their block.
    """

    def __init__(self, catalogue: Catalogue, given: Mapping[str, Signature] | None = None) -> None:
        self.catalogue = catalogue
        self.given = dict(given or {})
        self.whole = given is None  # a project's, not that of a block's inside
        self.device: str | None = None  # on which the project is to be trained; None for the best there is
        self.insides = Insides()
        self.books: dict[str, ShapeBook] = {}  # of the inside of each instance of a block
        self._inner: dict[str, ShapeBook] = {}
        self.problems: list[Problem] = []
        self._own: list[Problem] = []
        self._seen: dict[str, tuple[Problem, ...]] = {}
        self.types: dict[str, NodeType] = {}
        self._facts: dict[str, Facts] = {}
        self._inputs: dict[str, dict[str, Signature]] = {}
        self._ports: dict[str, tuple[str, ...] | None] = {}  # output ports; None where the type has a problem
        self._followers: dict[str, set[str]] = {}
        self._known: dict[Any, Facts] = {}

    def update(self, project: Project, touched: Iterable[str] | None = None) -> None:
        """Bring the book up to date; `touched` are the nodes an edit touched (None: all)."""
        graph = project.graph
        dirty = set(graph.nodes) if touched is None else {one for one in touched if one in graph.nodes}
        for gone in [one for one in self._facts if one not in graph.nodes]:
            # A removed node takes its wires with it, and the edit need not name where they ended.
            dirty |= {one for one in self._followers.pop(gone, ()) if one in graph.nodes}
            del self._facts[gone]
            self._inputs.pop(gone, None)
            self._ports.pop(gone, None)
            self.types.pop(gone, None)
        dirty |= {one for one in graph.nodes if one not in self._facts}
        dirty |= _users(graph, self.insides.refresh(project)) if project.blocks or self.books else set()
        if any(node.shares for node in graph.nodes.values()):
            dirty |= {one for one, node in graph.nodes.items() if node.shares}
        for node_id in _downstream(graph, dirty):
            then, ports = self._facts.get(node_id), self._ports.get(node_id)
            found = self._infer(project, graph.node(node_id))
            self._facts[node_id] = found
            self._followers[node_id] = {link.target for link in graph.outgoing(node_id)}
            if then is None or (marks(then.outputs), ports) != (marks(found.outputs), self._ports[node_id]):
                dirty |= self._followers[node_id]
        self._enter(graph)
        own = [facts.problem for node_id in graph.nodes if (facts := self._facts[node_id]).problem]
        own = [replace(problem, fix=problem.fix or remedy(project, problem, self)) for problem in own]
        own += link_problems(project, self)
        failed = {problem.node_id for problem in own}
        own += unused_blocks(project)
        as_trained = without_muted(project, self.types)
        inner = [problem for book in dict.fromkeys(self.books.values()) for problem in book.problems]
        self._own = [*own, *lint(as_trained, self, failed), *inner]
        self._gather(project)

    def note(self, source: str, problems: Iterable[Problem], project: Project) -> None:
        """Take in what somebody else has found, in place of what `source` found before: a file is gone."""
        self._seen[source] = tuple(problems)
        self._gather(project)

    def _gather(self, project: Project) -> None:
        seen = [one for found in self._seen.values() for one in found]
        seen = [one for one in seen if one.node_id is None or one.node_id in project.graph.nodes]
        self.problems = sorted([*self._own, *seen], key=lambda found: found.severity != "error")

    def signature(self, node_id: str, port: str) -> Signature | None:
        """What leaves an output port; None while it is unknown."""
        facts = self.facts(node_id)
        return facts.outputs.get(port) if facts else None

    def input_signature(self, node_id: str, port: str) -> Signature | None:
        """What arrives at an input port; None where nothing does, or it is unknown."""
        return self.inputs(node_id).get(port)

    def inputs(self, node_id: str) -> Mapping[str, Signature]:
        """What arrives at each connected input port."""
        if node_id not in self._inputs and node_id in self._inner:
            return self._inner[node_id].inputs(node_id)
        return self._inputs.get(node_id, {})

    def facts(self, node_id: str) -> Facts | None:
        """What is known of a node, also of one inside a block; None where nothing is."""
        found = self._facts.get(node_id)
        return self._inner[node_id].facts(node_id) if found is None and node_id in self._inner else found

    def parameters(self, node_id: str) -> int:
        """How many numbers a node learns."""
        facts = self.facts(node_id)
        return facts.parameters if facts else 0

    @property
    def total_parameters(self) -> int:
        return sum(facts.parameters for facts in self._facts.values())

    @property
    def total_layers(self) -> int:
        """How many nodes there are with those inside blocks, each copy counted."""
        return sum(facts.layers for facts in self._facts.values())

    def multiply_adds(self, node_id: str) -> int:
        """Multiply-adds of one example's forward pass through a node (matrix products and convolutions)."""
        facts = self.facts(node_id)
        return facts.multiply_adds if facts else 0

    @property
    def total_multiply_adds(self) -> int:
        return sum(facts.multiply_adds for facts in self._facts.values())

    @property
    def carries(self) -> frozenset[Callable[..., Any]]:
        """The functions and classes of ours that the lines of the nodes use, and those inside blocks."""
        inside = (book.carries for book in dict.fromkeys(self.books.values()))
        return frozenset().union(*(facts.carries for facts in self._facts.values()), *inside)

    @property
    def errors(self) -> list[Problem]:
        """The problems that keep the graph from training."""
        return [problem for problem in self.problems if problem.severity == "error"]

    def memory(self, project: Project) -> Memory | None:
        """What training the project takes; None while that isn't known."""
        from engine.shapes.memory import estimate  # it needs this module

        if any(one.code != TOO_LARGE for one in self.errors) or not self.knows(project):
            return None
        return estimate(project, self)

    def knows(self, project: Project) -> bool:
        """Whether it was brought up to date with every node there is, those inside of blocks, too."""
        nodes = project.graph.nodes
        return nodes.keys() <= self._facts.keys() and all(
            book.knows(within(project, nodes[one].block))
            for one, book in self.books.items()
            if one in nodes and nodes[one].block in project.blocks
        )

    def of(self, node_id: str) -> list[Problem]:
        """The problems of one node."""
        return [problem for problem in self.problems if problem.node_id == node_id]

    def trial(self, type_id: str, params: Mapping[str, Value], arriving: Mapping[str, Signature]) -> Facts:
        """What a node of that type and these parameters would make of these inputs."""
        try:
            node_type = self.catalogue.make(Node("", type_id, "", params))
        except NeuroloomError as error:
            return Facts(problem=_problem(None, error, "type"))
        if isinstance(node_type, Transform):
            first = next(iter(arriving.values()), Signature((1,)))
            return _fitted(node_type, Column("x", first.shape, first.dtype, rows=first.rows))
        return self._ask(node_type, type_id, params, arriving)

    def inside(self, given: Mapping[str, Signature]) -> ShapeBook:
        """A book for the inside of a block, which shares what is known of blocks and layers."""
        book = ShapeBook(self.catalogue, given)
        book.insides, book._known = self.insides, self._known
        return book

    def count_once(self, node_id: str, shared: int | None) -> None:
        """Leave `shared` of a node's parameters (None: all) out of the sum: another node counts them."""
        facts = self._facts[node_id]
        own = 0 if shared is None else max(0, facts.parameters - shared)
        self._facts[node_id] = replace(facts, parameters=own)

    def _enter(self, graph: Graph) -> None:
        """Know the nodes inside blocks by their first instance."""
        self._inner = {}
        self.books = {one: book for one, book in self.books.items() if one in graph.nodes}
        for one in graph.order() if self.books else ():
            book = self.books.get(one)
            for node_id in (*book._facts, *book._inner) if book else ():
                assert book is not None
                self._inner.setdefault(node_id, book)

    def _infer(self, project: Project, node: Node) -> Facts:
        graph = project.graph
        node = linked(graph, node)
        self.books.pop(node.id, None)
        self._inputs[node.id] = {}
        self._ports[node.id] = None
        self.types.pop(node.id, None)
        try:
            node_type = self.catalogue.make(node, project)
            self._ports[node.id] = tuple(port.name for port in node_type.outputs())
            misplaced = _misplaced(node_type, graph.incoming(node.id), self._ports)
            missing = _missing(graph, node, node_type)
            begins = _begins(node.id, node_type, self.given.get(node.id))
        except NeuroloomError as error:
            return Facts(problem=_problem(node.id, error, "type"))
        except Exception as error:  # a third party's type may fail in any way
            message = f"{node.name or node.type} failed to describe itself: {reason_of(error)}."
            return Facts(problem=Problem(node.id, message, code="type"))
        self.types[node.id] = node_type
        arriving, unknown = self._inputs[node.id], False
        for link in graph.incoming(node.id):
            found = self.signature(link.source, link.source_port)
            if found is None:
                unknown = True
            else:
                arriving[link.target_port] = found
        if misplaced is not None:
            return Facts(problem=misplaced)
        if begins is not None:
            return Facts(begins)
        if missing is not None:
            message = f"{node.name or node_type.title}: nothing is connected to {missing}."
            return Facts(problem=Problem(node.id, message, missing, code="unconnected"))
        if unknown:
            return Facts()  # what feeds it has a problem of its own
        if node.muted:
            passing = {
                port.name: passed_on(graph, node.id, port.name, node_type) for port in node_type.outputs()
            }
            return Facts({port: arriving[link.target_port] for port, link in passing.items() if link})
        if isinstance(node_type, Transform):
            return self._transformed(node, node_type, graph.incoming(node.id)[0])
        if isinstance(node_type, Composite):
            whole, book = composite_facts(self, project, node, node_type, arriving)
            if book is not None:
                self.books[node.id] = book
            return whole
        facts = self._ask(node_type, node.type, node.params, arriving)
        if facts.problem is not None:
            problem = facts.problem
            return Facts(problem=Problem(node.id, problem.message, problem.port, code=problem.code))
        return facts

    def _transformed(self, node: Node, node_type: Transform, link: Link) -> Facts:
        before = self.types.get(link.source)
        column = before.column(link.source_port) if isinstance(before, Data) else None
        if column is None:
            name = node.name or node_type.title
            message = f"{name} is fitted while the data are read: connect it to data or another transform."
            return Facts(problem=Problem(node.id, message, link.target_port, code="transform"))
        facts = _fitted(node_type, column)
        return facts if facts.problem is None else Facts(problem=replace(facts.problem, node_id=node.id))

    def as_trained(self, project: Project) -> tuple[Project, ShapeBook]:
        """The project and its shapes as runs see them: transforms are columns of the data they hang on.

        Columns of several data nodes have names of their own.
        """
        data = [made for made in self.types.values() if isinstance(made, Data)]
        if len(data) < 2 or not all(made.columns() for made in data if isinstance(made, Transform)):
            return project, self
        from engine.shapes.folding import folded  # it needs this module

        return folded(project, self)

    def folded(self, source: str, data: Data, gone: Iterable[str]) -> ShapeBook:
        """A copy for reading, in which `data` stands at `source` and the transforms `gone` are in it."""
        book, folded = copy(self), set(gone)
        book.types = {one: made for one, made in self.types.items() if one not in folded}
        book.types[source] = data
        outputs = {one.name: _column_of(one, source) for one in data.columns()}
        book._facts = {**self._facts, source: Facts(outputs)}
        return book

    def _ask(
        self,
        node_type: NodeType,
        type_id: str,
        params: Mapping[str, Value],
        arriving: Mapping[str, Signature],
    ) -> Facts:
        key = (type_id, _key(params), marks(arriving))
        facts = self._known.get(key)
        if facts is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            facts = self._known[key] = self._run(node_type, arriving)
        return facts

    def _run(self, node_type: NodeType, arriving: Mapping[str, Signature]) -> Facts:
        numbers = [port for port, found in arriving.items() if found.dtype == "int64"]
        whole = next((port for port in numbers if not node_type.takes_whole_at(port)), None)
        if whole is not None and isinstance(node_type, Layer) and not node_type.takes_whole:
            message = f"{node_type.title} needs measurements, but whole numbers ({arriving[whole]}) come in."
            return Facts(problem=Problem(None, message, whole, code="shape"))
        apart = next((port for port, found in arriving.items() if found.rows), None)
        if apart is not None and isinstance(node_type, (Loss, Metric)):
            message = (
                f"{node_type.title} needs a row for each example, but {arriving[apart].rows} come in: "
                "put Graph read-out between."
            )
            return Facts(problem=Problem(None, message, apart, code="shape"))
        try:
            return _on_meta(node_type, by_places(node_type, arriving))
        except NeuroloomError as error:
            return Facts(problem=_problem(None, error, "shape"))
        except Exception as error:  # torch raises many kinds; each is about this node's line
            shapes = " and ".join(signature.full for signature in arriving.values())
            message = f"{node_type.title} does not fit {shapes or 'its input'}: {plainly(error, COUNTS)}"
            return Facts(problem=Problem(None, message, next(iter(arriving), None), code="shape"))


def check(project: Project, catalogue: Catalogue) -> ShapeBook:
    """A book of a project seen for the first time."""
    book = ShapeBook(catalogue)
    book.update(project)
    return book


def _fitted(node_type: Transform, arriving: Column) -> Facts:
    """What a transform makes of a column."""
    try:
        node_type.bind(arriving)
    except NeuroloomError as error:
        return Facts(problem=_problem(None, error, "shape"))
    return Facts({one.name: _of_column(one) for one in node_type.columns()})


def _of_column(column: Column) -> Signature:
    return Signature(column.shape, column.dtype, rows=column.rows, axes=column.axes)


def _column_of(column: Column, node_id: str) -> Signature:
    """What leaves a data node, along which axis rows differ in length with it."""
    return replace(_of_column(column), ragged=(column.ragged, node_id) if column.ragged else ())


def _on_meta(node_type: NodeType, arriving: Mapping[str, Signature]) -> Facts:
    wires = wires_of(arriving)
    code = build(node_type, "layer", wires)
    carries = code.carries
    if isinstance(node_type, Layer) and node_type.learns_by_rule:  # it refuses a target that does not fit
        carries |= node_type.emit_rule(None, name("layer"), **wires).carries
    with torch.device("meta"), torch.no_grad():
        layers = {attribute: evaluate(made, {}) for attribute, made in code.modules.items()}
        values, operations = counted(code, layers, empty(arriving))
    outputs = with_axes(node_type, arriving, {port: _signature(value) for port, value in values.items()})
    learned = {
        id(weight): weight.numel()
        for layer in layers.values()
        for weight in layer.parameters()
        if weight.requires_grad
    }
    constructors = tuple(str(constructor) for constructor in code.modules.values())
    weights, steps = sum(learned.values()), operations // BATCH
    return Facts(outputs, weights, steps, carries=carries, constructors=constructors)


def _signature(value: torch.Tensor) -> Signature:
    dtype = str(value.dtype).removeprefix("torch.")
    if value.dim() == 0:
        return Signature((), dtype, per_batch=True)
    rows = next((what for what, count in COUNTS.items() if count == value.shape[0]), None)
    if rows is None:
        raise ValueError("the examples of a batch must stay apart, but this mixes them.")
    return Signature(tuple(value.shape[1:]), dtype, rows=rows)


def _users(graph: Graph, blocks: set[str]) -> set[str]:
    """The instances of these blocks."""
    return {
        one for one, node in graph.nodes.items() if node.type == BLOCK and node.params.get("block") in blocks
    }


def _begins(node_id: str, node_type: NodeType, given: Signature | None) -> dict[str, Signature] | None:
    """What a data source or an input gives; None for a node that computes."""
    if isinstance(node_type, Transform):
        return None
    if isinstance(node_type, Data):
        return {column.name: _column_of(column, node_id) for column in node_type.columns()}
    if given is not None:
        return {"output": given}
    if isinstance(node_type, Input):
        column = node_type.column()
        return {"output": Signature(column.shape, column.dtype)}
    if isinstance(node_type, Source):
        column = node_type.column()
        return {column.name: Signature(column.shape, column.dtype)}
    return None


def _misplaced(
    node_type: NodeType, links: Iterable[Link], ports: Mapping[str, tuple[str, ...] | None]
) -> Problem | None:
    """What is wrong with a wire that begins or ends at a port that is not there."""
    for link in links:
        known = ports.get(link.source)
        if node_type.input_port(link.target_port) is None:
            sentence = f"{node_type.title} has no input called {link.target_port[:60]!r}."
        elif known is not None and link.source_port not in known:
            sentence = f"This wire begins at {link.source_port[:60]!r}, which is no output."
        else:
            continue
        fix = doing("Remove the wire", Disconnect(link))
        return Problem(link.target, sentence, link.target_port, fix=fix, code="port")
    return None


def _missing(graph: Graph, node: Node, node_type: NodeType) -> str | None:
    for port in node_type.inputs():
        if port.optional:
            continue
        if port.many:
            if not graph.incoming(node.id):
                return port.title
        elif graph.feeding(node.id, port.name) is None:
            return port.title
    return None


def _downstream(graph: Graph, dirty: set[str]) -> Iterator[str]:
    """Every dirty node in order; what is added to `dirty` on the way is visited too."""
    if len(dirty) == 1 and not graph.outgoing(next(iter(dirty))):
        yield from dirty
        return
    for node_id in graph.order():
        if node_id in dirty:
            yield node_id


def _key(params: Mapping[str, Value]) -> tuple[Any, ...]:
    # 1, 1.0 and True are equal keys but not equal parameters.
    return tuple(sorted((key, type(value).__name__, value) for key, value in params.items()))


def _problem(node_id: str | None, error: NeuroloomError, code: str) -> Problem:
    return Problem(node_id, str(error), code=code)


def warm_up() -> None:
    """Run one layer on the meta device: the first run costs a second of imports, best spent in a thread."""
    from engine.catalogue.symbols import F, nn

    code = NodeCode({"layer": nn.Linear(2, 2)}, [], {"output": F.relu(name("self").layer(name("x")))})
    with torch.device("meta"), torch.no_grad():
        layers = {attribute: evaluate(made, {}) for attribute, made in code.modules.items()}
        counted(code, layers, {"x": torch.empty(BATCH, 2)})
