"""Objectives as functions that run only the layers they need, in a model that several objectives train."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.catalogue import Data, Layer, Source
from engine.catalogue.bypass import origin
from engine.catalogue.emitter import NodeCode, Unpack, build
from engine.catalogue.identifiers import NameBook, slug
from engine.catalogue.symbols import Expr, carried, listing, name
from engine.document.graph import BLOCK
from engine.emit.batching import lengths_of_batch
from engine.emit.measuring import (
    Computed,
    column_of,
    draw,
    function_lines,
    measure_lines,
    measured,
    weighed,
    wires_into,
)
from engine.emit.model import (
    Assembly,
    InBlocks,
    Place,
    blamed,
    comment_of,
    enters,
    forward_lines,
    in_blocks,
    wire_of,
)
from engine.emit.statements import Statement, statement, under
from engine.errors import EmitError
from engine.optim.together import Passing, in_one_step


def objective_lines(
    made: Assembly,
    function: str,
    doc: str,
    weights: Mapping[str, float],
    trained: frozenset[str],
    penalties: Sequence[Expr] = (),
    gathers: bool = False,
) -> list[Statement]:
    """The function of an objective: "loss" is the weighted sum of the loss nodes `weights`, and its parts.

    What lies before every trained node is computed without gradients.
    """
    computed = inline(made, list(weights), trained)
    return function_lines(made, function, doc, computed, weighed(made, weights), penalties, gathers)


def measuring_inline(
    made: Assembly,
    losses: Sequence[str],
    metrics: Sequence[str],
    ruled: Sequence[str],
    played: Mapping[str, Expr],
) -> list[Statement]:
    """The function `measure`: losses and metrics of a batch, and scores of the layers `ruled` by a rule.

    "loss" is the weighted sum of the losses. There is no function where there is nothing to measure. `played`
    are further means, over as many episodes as the batch has rows, by key.
    """
    kinds = {one: type(made.book.types[one]) for one in dict.fromkeys(ruled)}
    methods = {one: kind.scores for one, kind in kinds.items() if issubclass(kind, Layer) and kind.scores}
    wanted = [*losses, *metrics, *methods]
    if not wanted and not played:
        return []
    outputs = {one: [port.name for port in kind.ports_out] for one, kind in kinds.items()}
    shown = [one for one, found in methods.items() if set(found) & set(outputs[one])]
    beside = [(one, port) for one in shown for port in outputs[one] if port in methods[one]]
    computed = inline(made, wanted, None, beside=beside)
    names = NameBook(("loss", *made.losses.values(), *made.metrics.values()))
    scores = {names.give(key): value for key, value in played.items()}
    for one, found in methods.items():
        wires = wires_into(made, computed, one)
        given = [wires[port.name] for port in kinds[one].ports_in]
        for method in found:
            if method in outputs[one]:
                scores[names.give(method)] = computed.at((one, method)).mean()
                continue
            layer: Expr = getattr(name("model"), made.attributes[one])
            scores[names.give(method)] = getattr(layer, method)(*given)
    return measure_lines(made, computed, weighed(made, dict.fromkeys(losses, 1.0)), metrics, scores)


def rule_lines(made: Assembly, function: str, doc: str, nodes: Sequence[str]) -> list[Statement]:
    """The function of a rule: each layer's own update, of what reached it before the first of them moved.

    What passes through layers inside blocks is kept while the blocks run. Errors: `EmitError`.
    """
    inner = {one: list(in_blocks(made, one)) for one in nodes if one not in made.graph.nodes}
    types = {one: _by_rule(made, one, inner.get(one)) for one in nodes}
    teachers: dict[str, str] = {}
    for one, kind in types.items():
        if kind.teaches and teachers.setdefault(kind.teaches, one) != one:
            raise EmitError(f"Two nodes of one rule give {kind.teaches}: make a rule of each.", node_id=one)
    blocks = dict.fromkeys(at.instance for places in inner.values() for at in places)
    beside = [(one, made.book.types[one].outputs()[0].name) for one in blocks]
    beside += [(one, what) for what, one in teachers.items() if one not in inner]
    computed = inline(made, [one for one in nodes if one not in inner], None, beside=beside)
    layers = {one: name(computed.names.give(f"{_name_of(made, one)} layers")) for one in inner}
    passing, lines = name(computed.names.give("passing")), computed.lines
    if inner:
        kept = carried(Passing)(*layers.values())
        lines = [
            Statement(_listed(places), node_id=one, target=str(layers[one])) for one, places in inner.items()
        ]
        lines.append(under(f"with {kept} as {passing}:", computed.lines))
        made.measured |= kept.carries
    calls = {}
    for one, kind in types.items():
        teacher = teachers.get(kind.learns_from)
        if kind.learns_from and (teacher is None or not _match(inner, teacher, one)):
            raise EmitError(
                f"Nothing in this rule gives it the {kind.learns_from} to learn from.", node_id=one
            )
        if teacher is None:
            taught = []
        elif teacher in inner:
            taught = [passing.out_of(layers[teacher])]
        else:
            taught = [listing([computed.at((teacher, kind.learns_from))])]
        if one in inner:
            calls[one] = passing.update(layers[one], *taught)
        else:
            calls[one] = _update(made, computed, one, taught)
        made.measured |= calls[one].carries
    returned = [Statement(call, node_id=one, target="return") for one, call in calls.items()]
    if len(calls) > 1:
        together = carried(in_one_step)
        made.measured |= together.carries
        each = [Statement(f"{call},", node_id=one) for one, call in calls.items()]
        returned = [under(f"return {together}(", each), Statement(")")]
    head = f"def {function}(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:"
    return [under(head, [Statement(f'"""{doc}"""'), *lines, *returned])]


def _by_rule(made: Assembly, one: str, inside: Sequence[InBlocks] | None) -> Layer:
    """The type of a node that learns by a rule. Errors: `EmitError` where it does not."""
    kinds = [made.book.types.get(one), *(at.node_type for at in inside or ())]
    found = next((kind for kind in kinds if isinstance(kind, Layer) and kind.learns_by_rule), None)
    if not isinstance(found, Layer):
        raise EmitError("A rule of the plan belongs to a node that has none.", node_id=one)
    if inside and found.rule_ports:
        wanted = found.rule_ports[0].title
        raise EmitError(f"The {wanted} that its rule reads does not reach into a block.", node_id=one)
    return found


def _update(made: Assembly, computed: Computed, one: str, taught: Sequence[Expr]) -> Expr:
    """The update of a layer of the network; `taught` is a list that holds what it is taught."""
    kind = made.book.types[one]
    assert isinstance(kind, Layer)
    wires: dict[str, Any] = wires_into(made, computed, one)
    for each in taught:
        wires[kind.learns_from] = Expr(each.tree.elts[0]) if isinstance(each.tree, ast.List) else each[0]
    with blamed(one):
        return kind.emit_rule(None, getattr(name("model"), made.attributes[one]), **wires)


def _match(inner: Mapping[str, Sequence[InBlocks]], teacher: str, learner: str) -> bool:
    """Whether there is one layer that teaches, or one for each that learns."""
    teaching, learning = (sum(at.count for at in inner.get(one, ())) or 1 for one in (teacher, learner))
    return teaching in (1, learning)


def _name_of(made: Assembly, one: str) -> str:
    node = made.project.find(one)
    return "" if node is None else node.name


def _listed(places: Sequence[InBlocks]) -> Expr:
    """A list of the layers at these places."""
    each = [Expr(ast.ListComp(at.layer.tree, list(at.loops))) if at.loops else at.layer for at in places]
    if len(each) == 1 and places[0].loops:
        return each[0]
    return listing(
        Expr(ast.Starred(one.tree)) if at.loops else one for at, one in zip(places, each, strict=True)
    )


def policy_lines(made: Assembly, function: str, doc: str, wire: Place, state: Place) -> list[Statement]:
    """The function of the scores that a wire has for states (N, ...), with the model first.

    Errors: `EmitError` where nothing reads the wire, or it hangs on more than the state.
    """
    consumer = consumer_of(made, wire)
    if consumer is None:
        raise EmitError("Nothing reads the scores of this policy.", node_id=wire[0])
    given = {state: "state"}
    known = {**beside(made, {wire: consumer}, given), **given}
    kinds = (made.book.types[one] for one in needed_by(made, [consumer], known))
    if any(isinstance(one, Data | Source) for one in kinds):
        raise EmitError("A policy scores actions by the state alone.", node_id=wire[0])
    computed = inline(made, [consumer], None, known)
    lines = [replace(one, twin=None) for one in computed.lines]  # not what the batch makes of the nodes
    value = computed.at(wire)
    if lines and lines[-1].target == str(value):
        lines[-1] = replace(lines[-1], target="return")
    else:
        lines.append(Statement(value, node_id=wire[0], target="return"))
    return [
        under(f"def {function}(model: Model, state: Tensor) -> Tensor:", [Statement(f'"""{doc}"""'), *lines])
    ]


def consumer_of(made: Assembly, wire: Place) -> str | None:
    """The node behind a wire before which the least has to be computed; None where nothing reads it."""
    graph = made.graph
    behind = [link.target for link in graph.outgoing(wire[0]) if link.source_port == wire[1]]
    return min(behind, key=lambda one: len(graph.ancestors(one)), default=None)


def beside(made: Assembly, wanted: Mapping[Place, str], given: Collection[Place] = ()) -> dict[Place, str]:
    """What else goes into the nodes behind the wires `wanted`, and need not be computed."""
    nodes = {*needed_by(made, [wire[0] for wire in wanted], given), *(wire[0] for wire in wanted)}
    read = {(link.source, link.source_port) for one in nodes for link in made.graph.incoming(one)}
    links = [link for one in wanted.values() for link in made.graph.incoming(one)]
    places = {(link.source, link.source_port) for link in links} - read - set(wanted) - set(given)
    return dict.fromkeys(places, "unread")


def residual_lines(
    made: Assembly,
    function: str,
    weights: Mapping[str, float],
    trained: frozenset[str],
    vector: Callable[[Sequence[tuple[float, Expr]]], Expr],
) -> list[Statement]:
    """The function of the single errors, for optimisers that use more of them than their sum."""
    computed = inline(made, list(weights), trained)
    losses = [
        (weight, measured(made, computed, one, False)) for one, weight in weighed(made, weights).items()
    ]
    found = vector(losses)
    made.measured |= found.carries
    doc = Statement('"""The vector whose sum of squares is the loss."""')
    head = f"def {function}(model: Model, batch: dict[str, Tensor]) -> Tensor:"
    return [under(head, [doc, *computed.lines, Statement(found, target="return")])]


def needed_by(made: Assembly, wanted: Sequence[str], given: Collection[Place] = ()) -> list[str]:
    """The nodes that compute what goes into the nodes `wanted` beside what is `given`, in order."""
    graph = made.graph
    waiting, before = list(wanted), set[str]()
    while waiting:
        for link in graph.incoming(waiting.pop()):
            if link.source not in before and (link.source, link.source_port) not in given:
                before.add(link.source)
                waiting.append(link.source)
    return [one for one in graph.order() if one in before]


def trained_nodes(made: Assembly, of: Sequence[str]) -> frozenset[str]:
    """The layers that change when the nodes `of` are trained: they, and all that share their weights."""
    graph = made.graph
    layers = [one for one in graph.nodes if isinstance(made.book.types[one], Layer)]
    if not of:
        return frozenset(layers)
    roots = {root_of(made, one) for one in of if one in graph.nodes}
    return frozenset(one for one in layers if root_of(made, one) in roots)


def root_of(made: Assembly, node_id: str) -> str:
    """The node whose weights a node uses: itself, or the one that it shares them with."""
    other = origin(made.graph, made.graph.node(node_id))
    return node_id if other is None else other.id


def inline(
    made: Assembly,
    wanted: Sequence[str],
    trained: frozenset[str] | None,
    given: Mapping[Place, str] | None = None,
    beside: Collection[Place] = (),
) -> Computed:
    """The lines that compute what goes into `wanted`, and what is `beside` it.

    Gradients are computed only where the `trained` need them. What is `given` is in variables of these names
    already.
    """
    types = made.book.types
    ends = [one for one, _ in beside]
    before = {*ends, *needed_by(made, [*wanted, *ends], given or ())}
    needed = [one for one in made.graph.order() if one in before]
    moved: set[str] = set()  # and what comes after it
    for one in needed:
        itself = isinstance(types[one], Layer) and (trained is None or one in trained)
        if itself or any(link.source in moved for link in made.graph.incoming(one)):
            moved.add(one)
    layers = [one for one in needed if isinstance(types[one], Layer)]
    still = [one for one in layers if one not in moved]
    order = [*still, *(one for one in layers if one in moved)]
    names = NameBook(outer=made.names)
    values: dict[Place, str] = {place: names.give(variable) for place, variable in (given or {}).items()}
    lines = _columns(made, needed, set(wanted), values, names)
    for one in needed:
        if isinstance(types[one], Source):
            lines.append(draw(made, (one, types[one].outputs()[0].name), values, names))
    part = replace(made, codes={}, variables=values, variable_names=names, returned=[], results={})
    part.lengths = lengths_of_batch(made.filled, given)
    inside = {*order, *wanted}
    quiet: list[Statement] = []
    for position, one in enumerate(order):
        following = order[position + 1] if position + 1 < len(order) else None
        _name_ports(part, one, None if following in wanted else following, inside, beside)
        part.codes[one] = _code(part, one, made)
        (quiet if position < len(still) else lines).extend(forward_lines(part, one))
        if position == len(still) - 1:
            lines.append(under("with torch.no_grad():", quiet))
    return Computed(lines, values, names)


def _columns(
    made: Assembly, needed: Sequence[str], wanted: set[str], values: dict[Place, str], names: NameBook
) -> list[Statement]:
    """The columns of the batch that the layers among `needed`, and the nodes `wanted`, read, as variables."""
    types, inside = made.book.types, set(needed)
    lines: list[Statement] = []
    for one in needed:
        for port in types[one].outputs() if isinstance(types[one], Data) else ():
            place = (one, port.name)
            leaving = [link for link in made.graph.outgoing(one) if link.source_port == port.name]
            if place not in values and any(
                link.target in wanted or (link.target in inside and enters(types, link)) for link in leaving
            ):
                values[place] = names.give(port.name)
                plain, twin = (column_of(place, taps) for taps in (False, True))
                lines.append(statement(values[place], plain, twin, one, comment_of(made, place)))
    return lines


def _name_ports(
    part: Assembly, one: str, following: str | None, inside: set[str], kept: Collection[Place] = ()
) -> None:
    """Name the variables that hold a node's outputs: `x` where only the node after it reads it."""
    links = [link for link in part.graph.outgoing(one) if link.target in inside]
    ends = [port for node, port in kept if node == one]
    used = list(dict.fromkeys([*(link.source_port for link in links), *ends]))
    for port in used:
        mine = [link for link in links if link.source_port == port]
        if len(used) == 1 and len(mine) == 1 and mine[0].target == following and not ends:
            part.variables[one, port] = "x"
            continue
        title = part.graph.node(one).name or part.attributes[one]
        if len(used) > 1:
            title = f"{title} {port}"
        elif slug(title) in part.names:
            title = f"{title} output"
        part.variables[one, port] = part.variable_names.give(title)


def _code(part: Assembly, one: str, made: Assembly) -> NodeCode:
    """The node's code once more, with this function's variables and the model's layers."""
    node_type = part.book.types[one]
    ruled = {port.name for port in node_type.rule_ports} if isinstance(node_type, Layer) else set()
    wires = {}
    for link in part.graph.incoming(one):
        if link.target_port not in ruled:
            place = (link.source, link.source_port)
            wires[link.target_port] = wire_of(part, place, name(part.variables[place]))
    attributes = iter(list(made.codes[one].modules))
    main = made.attributes[one]

    def attribute(_: str) -> str:
        return next(attributes, main)

    with blamed(one):
        code = build(node_type, main, wires, attribute, part.variable_names.give, lambda _: name(BLOCK))
    code.modules.clear()
    wanted = [port for port in code.ports if (one, port) in part.variables]
    return NodeCode(
        {},
        [Unpack(unpack.pattern, _of_model(unpack.call)) for unpack in code.unpacks],
        {port: _of_model(code.ports[port]) for port in wanted},
    )


class _Model(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name("model", node.ctx) if node.id == "self" else node


def _of_model(found: Expr) -> Expr:
    copied = ast.parse(ast.unparse(found.tree), mode="eval").body
    return Expr(_Model().visit(copied), found.carries)
