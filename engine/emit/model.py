"""The graph as code: the `Model` class and those of its blocks."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from engine.catalogue import (
    Column,
    Composite,
    Data,
    Environment,
    Input,
    Layer,
    Loss,
    NodeType,
    Output,
    Source,
    Wire,
)
from engine.catalogue.axes import Ragged
from engine.catalogue.bypass import measured_names, origin, without_muted
from engine.catalogue.emitter import NodeCode, build, names_in
from engine.catalogue.identifiers import NameBook
from engine.catalogue.symbols import Expr, carried, name, without_defaults
from engine.catalogue.training.checks import is_general
from engine.document.graph import Graph, Link, Project
from engine.document.plan import Rollout
from engine.emit.batching import lengths_in
from engine.emit.classes import Classes, Version
from engine.emit.statements import BLANK, Statement, statement, tapped, under
from engine.emit.unpacking import flat, pattern_text, ports_of_pattern
from engine.errors import EmitError, NeuroloomError
from engine.procedures.declare import SPLITS
from engine.shapes.folding import folded
from engine.shapes.inside import within
from engine.shapes.links import tied, ties
from engine.shapes.ragged import Filled, axes_read, filled_axes
from engine.shapes.shapes import ShapeBook, Signature
from engine.shapes.size import TOO_LARGE
from engine.shapes.streams import Streams, streams_of

Place = tuple[str, str]  # a node's id and the name of one of its output ports


@dataclass(slots=True)
class Assembly:
    """A project's graph, ready to be printed.

    `attributes` maps node ids to their names inside the model; `arguments` and `results` are the places that
    go into and come out of `Model.forward`, with the names they have there.
    """

    project: Project
    book: ShapeBook
    classes: Classes
    attributes: dict[str, str] = field(default_factory=dict)
    arguments: dict[Place, str] = field(default_factory=dict)
    results: dict[Place, str] = field(default_factory=dict)
    losses: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, str] = field(default_factory=dict)
    streams: Streams = field(default_factory=Streams)
    codes: dict[str, NodeCode] = field(default_factory=dict)
    variables: dict[Place, str] = field(default_factory=dict)
    measured: frozenset[Any] = frozenset()  # functions of ours that losses and metrics call
    blocks: dict[str, Version] = field(default_factory=dict)  # what each instance of a block constructs
    replays: dict[str, Expr] = field(default_factory=dict)  # of environments, where agents act in them
    ties: list[tuple[str, str]] = field(default_factory=list)  # nodes that take another's weight matrix
    in_forward: frozenset[str] | None = None  # the nodes that `forward` runs, where it does not run all
    returned: list[str] = field(default_factory=list)  # variables, where they are not those of `results`
    attribute_names: NameBook = field(default_factory=NameBook)
    variable_names: NameBook = field(default_factory=NameBook)  # of `forward`
    filled: dict[Ragged, Filled] = field(default_factory=dict)  # axes along which rows differ in length
    lengths: dict[Ragged, Expr] = field(default_factory=dict)  # how long rows are, as `forward` has it
    taken: list[str] = field(default_factory=list)  # lengths that the forward pass of a block takes

    @property
    def names(self) -> NameBook:
        """The names of the script's own scope, which no variable takes."""
        return self.classes.names

    @property
    def graph(self) -> Graph:
        return self.project.graph

    @property
    def carries(self) -> frozenset[Any]:
        """Functions and classes of ours that the code calls by name."""
        replays = (replay.carries for replay in self.replays.values())
        return self.measured.union(*(code.carries for code in self.codes.values()), *replays)

    @property
    def source(self) -> str | None:
        """The first data node that the graph learns from."""
        return next(iter(self.streams.data), None)

    def sources(self) -> list[tuple[str, Data]]:
        """The data nodes that the graph learns from."""
        found = [(one, self.book.types[one]) for one in self.streams.data]
        return [(one, data) for one, data in found if isinstance(data, Data)]

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that all data nodes have: those whose fraction is 0 are left out."""
        lacking = {split for _, data in self.sources() for split in data.lacks()}
        return tuple(split for split in SPLITS if split not in lacking)

    def columns(self, *sources: str) -> list[Column]:
        """The columns of data nodes, as a rule of all, that the graph uses, in the nodes' order."""
        used = {(one, link.source_port) for one, _ in self.sources() for link in self.graph.outgoing(one)}
        used |= {filled.place for filled in self.filled.values()}
        return [
            column
            for one, data in self.sources()
            for column in data.columns()
            if (one, column.name) in used and (not sources or one in sources)
        ]

    def counting(self, stream: int = 0) -> Column:
        """The column of a stream by which its rows are counted. Errors: `EmitError` where there is none."""
        columns = self.columns(*self.streams.nodes[stream])
        found = next((column for column in columns if not column.rows), None)
        if found is None:
            raise EmitError(
                f"Nothing used here has a row for each example: there are only {columns[0].rows}.",
                node_id=self.streams.nodes[stream][0],
                fix="Connect sizes or label, too.",
            )
        return found


def as_trained(project: Project, book: ShapeBook) -> tuple[Project, ShapeBook]:
    """The graph without muted nodes, its transforms in the data. Errors: `EmitError` of the first problem."""
    for problem in (one for one in book.errors if one.code != TOO_LARGE):
        raise EmitError(problem.message, node_id=problem.node_id)
    return folded(without_muted(project, book.types), book)


def assemble(project: Project, book: ShapeBook, names: NameBook) -> Assembly:
    """Name everything and run every node's `emit` in order; `names` are those of the script's own scope.

    Errors: `EmitError`, for one where no layer is there to emit.
    """
    made = Assembly(project, book, Classes(names), variable_names=NameBook(outer=names))
    graph, types = project.graph, book.types
    order = graph.order()
    layers = [one for one in order if isinstance(types[one], Layer)]
    if not layers:
        raise EmitError("There is no layer to build a model from.", fix="Add one and connect it.")
    _name_layers(made, layers)
    made.streams = streams_of(graph, types, project.plan.pairing)
    named = measured_names(project, types)
    made.losses = {one: key for one, key in named.items() if isinstance(types[one], Loss)}
    made.metrics = {one: key for one, key in named.items() if one not in made.losses}
    entrances = sorted(
        (one for one in graph.nodes if isinstance(types[one], (Data, Input, Source))), key=_number
    )
    _name_entrances(made, entrances)
    made.filled = filled_axes(graph, book)
    for axis in sorted(axes_read(book, graph.nodes)):
        _name_lengths(made, axis)
    if not made.arguments:
        raise EmitError("No data reaches a layer.", fix="Connect a data source or an Input node.")
    _name_places(made, layers)
    for one in layers:
        made.codes[one] = _build(made, one)
    for step in project.plan.objectives:
        if isinstance(step, Rollout):
            _keep_replay(made, step)
    if is_general(project.plan):
        _answer_outputs(made)
    made.classes.finish(class_lines)
    return made


def _keep_replay(made: Assembly, step: Rollout) -> None:
    """Let the model keep what agents see in an environment. Errors: `EmitError`, `ParamError`."""
    from engine.layers.agents.replay import Replay

    environment = made.book.types.get(step.node)
    if not isinstance(environment, Environment):
        raise EmitError(
            "A rollout of the plan acts in a node that is no environment, or that a transform stands behind: "
            "agents see states as they are.",
            node_id=step.node if step.node in made.graph.nodes else None,
            fix="Connect the environment to the layers directly.",
        )
    with blamed(step.node):
        world, options = environment.world()
    short = without_defaults(carried(world)(**options)).tree
    assert isinstance(short, ast.Call)
    own = {word.arg: options[word.arg] for word in short.keywords if word.arg}
    found = without_defaults(carried(Replay)(carried(world), agents=step.agents, memory=step.memory, **own))
    known = made.replays.setdefault(step.node, found)
    if str(known) != str(found):
        raise EmitError(
            "Two rollouts of the plan act in one environment with other agents or another memory.",
            node_id=step.node,
            fix="Give both the same.",
        )
    if step.node not in made.attributes:
        node = made.graph.node(step.node)
        made.attributes[step.node] = made.attribute_names.give(node.name, environment.title)


def _name_lengths(made: Assembly, axis: Ragged) -> None:
    """Let `forward` take the column that says how long rows are along an axis. Errors: `EmitError`."""
    if axis not in made.filled:
        raise EmitError("Nothing says how long its rows are.", node_id=axis[1])
    found = made.filled[axis]
    if found.place not in made.arguments:
        variable = made.variable_names.give(found.column.name, "lengths")
        made.arguments[found.place] = made.variables[found.place] = variable
    made.lengths[axis] = lengths_in(found.column, name(made.variables[found.place]))


def _answer_outputs(made: Assembly) -> None:
    """Where objectives run their own layers, `forward` answers the Output nodes, if there are any."""
    graph, types = made.graph, made.book.types
    asked = [
        (link.source, link.source_port)
        for one in graph.order()
        if isinstance(types[one], Output)
        for link in graph.incoming(one)
    ]
    results = {place: made.results[place] for place in asked if place in made.results}
    if not results:
        return
    sources = {place[0] for place in results}
    made.in_forward = frozenset(sources.union(*(graph.ancestors(one) for one in sources)))
    made.results = results
    told = {made.filled[axis].place for axis in axes_read(made.book, made.in_forward)}
    made.arguments = {
        place: argument
        for place, argument in made.arguments.items()
        if place in told
        or any(link.target in made.in_forward for link in _leaving(graph, *place) if enters(types, link))
    }


def assemble_block(project: Project, book: ShapeBook, ports: Composite, classes: Classes) -> Assembly:
    """The inside of a block, with arguments and results in the order of its ports."""
    project = without_muted(project, book.types)
    made = Assembly(project, book, classes, variable_names=NameBook(outer=classes.names))
    graph, types = project.graph, book.types
    feeding = [graph.feeding(port.name, "x") for port in ports.outputs()]
    ends = {link.source for link in feeding if link is not None}
    needed = ends.union(*(graph.ancestors(one) for one in ends))
    layers = [one for one in graph.order() if one in needed and isinstance(types[one], Layer)]
    _name_layers(made, layers)
    _name_entrances(made, [port.name for port in ports.inputs()], every=True)
    for axis in sorted(axes_read(book, layers)):
        made.taken.append(made.variable_names.give(f"{axis[0]} lengths"))
        made.lengths[axis] = name(made.taken[-1])
    _name_places(made, layers)
    for one in layers:
        made.codes[one] = _build(made, one)
    made.returned = [made.variables[link.source, link.source_port] for link in feeding if link is not None]
    return made


def block_lines(made: Assembly) -> list[list[Statement]]:
    """The classes of the blocks, inner ones first."""
    return [class_lines(one.version.made, one.name, one.parameters) for one in made.classes.finished]


@dataclass(frozen=True, slots=True)
class InBlocks:
    """A node inside blocks: the instance in the whole network, and where its layer is in the model.

    `layer` reads the variables of `loops`, which run over repetitions; there are `count` layers.
    """

    instance: str
    node_type: NodeType
    layer: Expr
    loops: tuple[ast.comprehension, ...] = ()
    count: int = 1


def in_blocks(made: Assembly, node_id: str, model: Expr | None = None, depth: int = 1) -> Iterator[InBlocks]:
    """Every place that a node of a block's definition has in the model."""
    for one, version in made.blocks.items():
        if made.graph.node(one).shares:  # these layers are those of another instance
            continue
        block: Expr = getattr(model or name("model"), made.attributes[one])
        composite, inner, times = made.book.types[one], version.made, 1
        loops: tuple[ast.comprehension, ...] = ()
        if isinstance(composite, Composite) and composite.times > 1 and composite.own_weights:
            part, times = f"part{depth}", composite.times
            loops = (ast.comprehension(ast.Name(part, ast.Store()), block.tree, [], 0),)
            block = name(part)
        if node_id in inner.codes:
            layer = getattr(block, inner.attributes[node_id])
            yield InBlocks(one, inner.book.types[node_id], layer, loops, times)
        for found in in_blocks(inner, node_id, block, depth + 1):
            yield replace(found, instance=one, loops=(*loops, *found.loops), count=times * found.count)


def class_lines(
    made: Assembly, title: str = "Model", parameters: Mapping[str, str] | None = None
) -> list[Statement]:
    """The class of a model or a block."""
    layers = list(made.codes)
    init = [Statement("super().__init__()")]
    forward: list[Statement] = []
    for one in layers:
        code = made.codes[one]
        for attribute, constructor in code.modules.items():
            init.append(Statement(constructor, node_id=one, target=f"self.{attribute}"))
        init.extend(Statement(begun, node_id=one) for begun in code.begins)
        if made.in_forward is None or one in made.in_forward:
            forward.extend(forward_lines(made, one))
    for one, replay in made.replays.items():
        init.append(Statement(replay, node_id=one, target=f"self.{made.attributes[one]}"))
    for one, other in made.ties:
        tied_to = f"self.{made.attributes[other]}.weight"
        target = f"self.{made.attributes[one]}.weight"
        init.append(Statement(tied_to, node_id=one, comment="one matrix for both", target=target))
    returned = made.returned or list(made.results.values())
    if len(returned) == 1 and forward and forward[-1].target == returned[0]:
        forward[-1] = replace(forward[-1], target="return")
    else:
        forward.append(Statement(", ".join(returned), target="return"))
    arguments = ", ".join(f"{argument}: Tensor" for argument in [*made.arguments.values(), *made.taken])
    kind = "Tensor" if len(returned) == 1 else f"tuple[{', '.join(['Tensor'] * len(returned))}]"
    takes = ", ".join(comment_of(made, place) for place in made.arguments)
    takes_too = "".join(f", {one}: {kind}" for one, kind in (parameters or {}).items())
    begins = under(f"def __init__(self{takes_too}) -> None:", init)
    runs = under(f"def forward(self, {arguments}) -> {kind}:", forward, comment=takes)
    return [under(f"class {title}(nn.Module):", [begins, BLANK, runs])]


def _name_layers(made: Assembly, layers: Sequence[str]) -> None:
    """Name the layers inside the model; a linked node goes by the name of the one whose weights it uses."""
    graph, types = made.graph, made.book.types
    made.ties = [pair for pair in tied(made.project, types) if set(pair) <= set(layers)]
    for one in layers:
        made.attributes[one] = made.attribute_names.give(graph.node(one).name, types[one].title)
    for one in layers:
        other = origin(graph, graph.node(one))
        if other is not None and not ties(types[one], types.get(other.id)) and other.id in made.attributes:
            made.attributes[one] = made.attributes[other.id]


def _name_entrances(made: Assembly, entrances: Sequence[str], every: bool = False) -> None:
    """Name what comes into the model: what feeds a layer, or every entrance of a block."""
    graph, types, names = made.graph, made.book.types, made.variable_names
    for one in entrances:
        for port in types[one].outputs():
            leaving = _leaving(graph, one, port.name)
            if every or any(enters(types, link) for link in leaving):
                title = port.name if isinstance(types[one], Data) else graph.node(one).name
                made.arguments[one, port.name] = made.variables[one, port.name] = names.give(title, "input")


def enters(types: Mapping[str, NodeType], link: Link) -> bool:
    """Whether a wire ends at a layer, at an input that its forward pass reads."""
    target = types[link.target]
    return isinstance(target, Layer) and all(port.name != link.target_port for port in target.rule_ports)


def _name_places(made: Assembly, layers: Sequence[str]) -> None:
    """Decide what is a result, and which variable holds each value in between."""
    graph, types, names = made.graph, made.book.types, made.variable_names
    results: list[Place] = []
    for position, one in enumerate(layers):
        used = [port.name for port in types[one].outputs() if _leaving(graph, one, port.name)]
        used = used or [types[one].outputs()[0].name]
        for out in used:
            links = _leaving(graph, one, out)
            leaves = [link for link in links if not enters(types, link)]
            if leaves or not links:
                results.append((one, out))
            following = layers[position + 1] if position + 1 < len(layers) else None
            if len(used) == 1 and len(links) == 1 and links[0].target == following:
                made.variables[one, out] = "x"
            else:
                made.variables[one, out] = names.give(_title(made, one, out, links, used))
    made.results = {place: made.variables[place] for place in results}


def _title(made: Assembly, one: str, port: str, links: Sequence[Link], used: Sequence[str]) -> str:
    named = [link.target for link in links if isinstance(made.book.types[link.target], Output)]
    if named:
        return made.graph.node(named[0]).name
    return made.attributes[one] if len(used) == 1 else f"{made.attributes[one]}_{port}"


def _build(made: Assembly, one: str) -> NodeCode:
    wires = {}
    for link in made.graph.incoming(one):
        if enters(made.book.types, link):
            place = (link.source, link.source_port)
            wires[link.target_port] = wire_of(made, place, name(made.variables[place]))
    attribute = made.attributes[one]
    shared = made.graph.node(one).shares and not any(one == tying for tying, _ in made.ties)

    def class_of(composite: Composite) -> Expr:
        inside = made.book.books[one]
        made_inside = partial(
            assemble_block, within(made.project, composite.block), inside, composite, made.classes
        )
        constructor = made.classes.constructor(composite.block, inside, made_inside)
        made.blocks[one] = made.classes.version(composite.block, inside)
        return constructor

    namer = str if shared else made.attribute_names.give
    with blamed(one):
        code = build(made.book.types[one], attribute, wires, namer, made.variable_names.give, class_of)
    if shared:
        code.modules.clear()  # the node it shares weights with keeps them
        code.begins.clear()
    for port in [port for port in code.ports if (one, port) not in made.variables]:
        del code.ports[port]
    return code


def forward_lines(made: Assembly, one: str) -> list[Statement]:
    """The lines that compute a node's outputs."""
    code = made.codes[one]
    reads = Counter(found for value in code.ports.values() for found in names_in(value.tree))
    reads.update(found for unpack in code.unpacks for found in names_in(unpack.call.tree))
    read = set(reads)
    unpacked = {part for unpack in code.unpacks for part in flat(unpack.pattern)}
    # A part that is a port's whole value and nothing else goes by the name of the port's variable.
    bare = {
        value.tree.id: port
        for port, value in code.ports.items()
        if isinstance(value.tree, ast.Name)
        and value.tree.id in unpacked
        and reads[value.tree.id] == 1
        and (len(code.unpacks) == 1 or made.variables[one, port] != "x")  # a later call may read x
    }
    renamed = {variable: made.variables[one, port] for variable, port in bare.items()}
    lines = []
    for unpack in code.unpacks:
        target = pattern_text(unpack.pattern, read, renamed)
        twin = tapped(one, ports_of_pattern(unpack.pattern, bare), unpack.call)
        comment = ", ".join(
            comment_of(made, (one, bare[part])) for part in flat(unpack.pattern) if part in bare
        )
        lines.append(statement(target, unpack.call, twin, one, comment))
    for port, value in code.ports.items():
        if port in bare.values():
            continue
        twin = code.twins.get(port) or tapped(one, port, value)
        comment = comment_of(made, (one, port))
        lines.append(statement(made.variables[one, port], value, twin, one, comment))
    return lines


@contextmanager
def blamed(node_id: str | None) -> Iterator[None]:
    """Errors in here belong to that node."""
    try:
        yield
    except NeuroloomError as error:
        error.node_id = node_id
        raise


def wire_of(made: Assembly, place: Place, expression: Expr) -> Wire:
    """An expression as a wire, which knows its sizes and dtype."""
    found = signature_of(made, place)
    lengths = made.lengths.get(found.ragged)
    return Wire(expression, found.shape, found.dtype, found.rows, ragged=found.ragged, lengths=lengths)


def signature_of(made: Assembly, place: Place) -> Signature:
    """Sizes and dtype of a value. Errors: `EmitError` where they are not known."""
    found = made.book.signature(*place)
    if found is None:
        raise EmitError("The shape of its output is not known.", node_id=place[0])
    return found


def comment_of(made: Assembly, place: Place) -> str:
    """The sizes of a value, as a comment: `(N, 28, 28)`."""
    found = signature_of(made, place)
    sizes = ", ".join([found.rows or "N", *found.sizes])
    return f"({sizes},)" if not found.shape else f"({sizes})"


def _leaving(graph: Graph, one: str, port: str) -> list[Link]:
    return [link for link in graph.outgoing(one) if link.source_port == port]


def _number(node_id: str) -> tuple[int, str]:
    digits = node_id.lstrip("n")
    return (int(digits) if digits.isdecimal() else 0, node_id)
