"""How much memory training takes, estimated from shapes before anything is allocated.

It is what the run adds to the program: weights and their gradients, what the optimiser remembers, averages
and the best weights so far, one batch with all that is kept of it for the backward pass, and the data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.catalogue import Composite, Data, Environment, Layer, Source
from engine.catalogue.bypass import linked, without_muted
from engine.catalogue.training.optimisers import make_optimiser
from engine.document.graph import Graph, Project
from engine.document.plan import Minimise, Phase, Plan, Rollout
from engine.errors import NeuroloomError
from engine.shapes.inside import within
from engine.shapes.saved import Saved, saved_by
from engine.shapes.shapes import ShapeBook
from engine.shapes.signatures import Signature
from engine.shapes.size import WEIGHT, leaving_from

SIZES = {"float64": 8, "int64": 8, "float32": 4, "int32": 4, "float16": 2, "bfloat16": 2}  # others: 1
UNITS = ((2**40, "TB"), (2**30, "GB"), (2**20, "MB"), (2**10, "kB"))


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that training takes at once, by what takes them; `rows` is the size of the largest batch.

    `nodes` tells how much of that is each node's, of weights with all that goes with them, and of a batch.
    """

    weights: int = 0  # with their gradients
    optimiser: int = 0
    copies: int = 0  # averages and the best weights
    batch: int = 0
    data: int = 0
    replay: int = 0  # what agents have seen, and the environments they act in
    rows: int = 0
    nodes: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return self.weights + self.optimiser + self.copies + self.batch + self.data + self.replay

    @property
    def largest(self) -> str | None:
        """The node that takes most."""
        return max(self.nodes, key=lambda one: sum(self.nodes[one]), default=None)

    def to_json(self) -> dict[str, int]:
        """In bytes, as `check --json` prints it."""
        names = ("total", "weights", "optimiser", "copies", "batch", "data", "replay")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        of = "1 example" if self.rows == 1 else f"{self.rows:,} examples"
        parts = (
            ("weights", self.weights),
            ("optimiser", self.optimiser),
            ("copies of the weights", self.copies),
            (f"a batch of {of}", self.batch),
            ("data", self.data),
            ("what agents have seen", self.replay),
        )
        told = ", ".join(f"{what} {in_bytes(size)}" for what, size in parts if size)
        return f"About {in_bytes(self.total)} of memory: {told}." if told else ""


def in_bytes(size: float) -> str:
    """A size as people say it: `1.2 GB`, `30 MB`. A GB is 2³⁰ bytes, as memory is sold."""
    for unit, word in UNITS:
        if size >= unit:
            found = size / unit
            return f"{found:,.1f} {word}" if found < 10 else f"{found:,.0f} {word}"
    return f"{size:.0f} bytes"


def estimate(project: Project, book: ShapeBook) -> Memory | None:
    """What training the project takes; None where nothing is known of it, as shapes are missing."""
    try:
        project, book = book.as_trained(project)
        project = without_muted(project, book.types)
        return _estimate(project, book)
    except NeuroloomError:
        return None  # the plan has a problem of its own


def _estimate(project: Project, book: ShapeBook) -> Memory | None:
    graph, plan = project.graph, project.plan
    if not all(book.facts(one) and one in book.types for one in graph.nodes):
        return None
    examples, row, held = _data(graph, book)
    kept = kept_of(project, book)
    rows = max(_rows(plan, phase, examples) for phase in plan.phases)
    learned = book.total_parameters
    fixed = sum(one.fixed for one in kept.values())
    optimised = [WEIGHT * _remembered(project, book, phase) for phase in plan.phases]
    copies = max(_copies(phase) for phase in plan.phases)
    slopes = bool(plan.minimised)
    each = sum(one.each for one in kept.values()) + row
    passing = max((one.passing for one in kept.values()), default=0)
    batch = rows * (each + passing) + sum(one.once for one in kept.values())
    if not slopes:  # a rule sees one layer's values after the other
        batch = rows * (row + passing)
    per_weight = (1 + slopes + copies) * WEIGHT + max(optimised) / max(1, learned)
    replays = _replays(project, book)
    nodes = {
        one: (int(per_weight * book.parameters(one)) + kept[one].fixed, int(rows * kept[one].each))
        for one in kept
    } | {one: (held.get(one, 0) + replays.get(one, 0), 0) for one in {**held, **replays}}
    return Memory(
        weights=(1 + slopes) * WEIGHT * learned + fixed,
        optimiser=max(optimised),
        copies=copies * WEIGHT * learned,
        batch=int(batch),
        data=sum(held.values()),
        replay=sum(replays.values()),
        rows=rows,
        nodes=nodes,
    )


def largest_batch(project: Project, book: ShapeBook) -> tuple[int, int]:
    """How many examples the largest batch has, and the bytes of the data and of what agents have seen."""
    examples, _, held = _data(project.graph, book)
    kept = sum(held.values()) + sum(_replays(project, book).values())
    return max(_rows(project.plan, phase, examples) for phase in project.plan.phases), kept


def _replays(project: Project, book: ShapeBook) -> dict[str, int]:
    """The bytes of the transitions that each environment's agents keep, and of the agents' own state.

    They are stored with the weights, so that the best weights so far hold them once more.
    """
    times = 1 + any(phase.stop.patience is not None for phase in project.plan.phases)
    found: dict[str, int] = {}
    for step in project.plan.objectives:
        environment = book.types.get(step.node) if isinstance(step, Rollout) else None
        if isinstance(step, Rollout) and isinstance(environment, Environment):
            row = sum(bytes_of(Signature(one.shape, one.dtype)) for one in environment.columns())
            found[step.node] = times * (step.memory * row + step.agents * environment.agent_size())
    return found


def _data(graph: Graph, book: ShapeBook) -> tuple[int, int, dict[str, int]]:
    """How many examples there are, the bytes of one, and those that each data node holds in memory."""
    examples, row, held = 0, 0, {}
    for one in graph.nodes:
        made = book.types.get(one)
        if isinstance(made, Data) and made.kind == "data" and graph.outgoing(one):
            ports = {link.source_port for link in graph.outgoing(one)}
            width = sum(bytes_of(book.signature(one, port)) for port in ports)
            count = made.row_count()
            examples, row = max(examples, count), row + width
            held[one] = 0 if made.read_by_batch() else made.held(count * width)
    return examples, row, held


def _rows(plan: Plan, phase: Phase, examples: int) -> int:
    """How many examples a batch of a phase has; where all are taken and their number isn't known, 1."""
    size = plan.batch_of(phase)
    return min(size or examples, examples or size) or 1


def _copies(phase: Phase) -> int:
    """How many copies of the weights are kept beside them: an average, the best so far and its state."""
    averages = any(isinstance(one, Minimise) and one.average is not None for one in phase.objectives)
    return averages + (phase.stop.patience is not None)


def _remembered(project: Project, book: ShapeBook, phase: Phase) -> int:
    """How many numbers the optimisers of a phase keep."""
    return sum(
        make_optimiser(one.optimiser).remembered(
            sum(book.parameters(node) for node in one.of) if one.of else book.total_parameters
        )
        for one in phase.objectives
        if isinstance(one, Minimise)
    )


# -- what is kept of a batch --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kept:
    """Bytes that a node keeps: `each` for each example, `once`, `fixed` of untrained values.

    `passing` is what its slopes take for each example while they are computed.
    """

    each: float = 0.0
    once: int = 0
    fixed: int = 0
    passing: int = 0


def kept_of(project: Project, book: ShapeBook, learning: bool = False) -> dict[str, Kept]:
    """What each node of a graph keeps for the backward pass; a wire counts at the node it leaves.

    `learning` says that slopes are wanted for what comes in, too.
    """
    graph = project.graph
    slopes: set[str] = set()
    saved: dict[str, Saved] = {}
    found: dict[str, Kept] = {}
    wires: set[tuple[str, str]] = set()
    origin: dict[tuple[str, str], tuple[str, str]] = {}
    for one in graph.order():
        node, made = linked(graph, graph.node(one)), book.types[one]
        feeding = {link.target_port: (link.source, link.source_port) for link in graph.incoming(one)}
        entering = learning and made.kind in ("input", "output")
        if book.parameters(one) or entering or any(source in slopes for source, _ in feeding.values()):
            slopes.add(one)
        elif not isinstance(made, Layer):
            continue
        if isinstance(made, Composite):
            found[one] = _inside(project, book, one, made, one in slopes)
        elif made.kind in ("layer", "loss"):
            saved[one] = saved_by(book, one, node.params)
        for out, into in saved[one].same if one in saved else ():
            if into in feeding:
                origin[one, out] = origin.get(feeding[into], feeding[into])
        if one not in slopes:
            continue
        keeps = saved[one].wires if one in saved else frozenset(feeding)
        wires |= {feeding[port] for port in keeps if port in feeding}
        wires |= {(one, port) for port in keeps if port not in feeding and book.signature(one, port)}
    wires = {origin.get(wire, wire) for wire in wires}
    for one, of in saved.items():
        arriving = sum(bytes_of(found) for found in book.inputs(one).values())
        leaving = sum(map(bytes_of, leaving_from(book, one)))
        each = of.each if one in slopes else 0
        found[one] = Kept(each, of.once if one in slopes else 0, of.fixed, arriving + leaving)
    for source, port in wires:
        if isinstance(book.types[source], (Data, Source)) or source not in found:
            continue  # the batch itself, which is counted as data; a block's input is its feeder's
        now, size = found[source], bytes_of(book.signature(source, port))
        found[source] = Kept(now.each + size, now.once, now.fixed, now.passing)
    return found


def _inside(project: Project, book: ShapeBook, node_id: str, made: Composite, learning: bool) -> Kept:
    """What a block keeps with all that is in it, in every copy and at every step."""
    inner = book.books.get(node_id)
    if inner is None:
        return Kept()
    whole = within(project, made.block)
    parts = kept_of(without_muted(whole, inner.types), inner, learning).values()
    times = made.times
    if made.scan:
        shapes = [one.shape for port, one in book.inputs(node_id).items() if port not in made.states()]
        times = max((shape[0] for shape in shapes if shape), default=1)
    copies = times if made.own_weights and not made.scan else 1
    return Kept(
        times * sum(one.each for one in parts),
        times * sum(one.once for one in parts),
        copies * sum(one.fixed for one in parts),
        max((one.passing for one in parts), default=0),
    )


def bytes_of(found: Signature | None) -> int:
    """How much a value takes for each example."""
    return math.prod(found.shape) * SIZES.get(found.dtype, 1) if found is not None else 0
