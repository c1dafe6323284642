"""Objectives as functions that run only the layers they need, in a model that several objectives train."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from engine.bypass import origin
from engine.catalogue import Data, Layer, Source, Wire
from engine.emit.builder import NodeCode, Unpack, build
from engine.emit.lines import Line, indented, laid_out, returned_dict, statement, tapped
from engine.emit.model import (
    RESERVED,
    Assembly,
    Place,
    column_of,
    enters,
    forward_lines,
    signature_of,
    weight_of,
)
from engine.emit.names import NameBook
from engine.errors import EmitError, NeuroloomError
from engine.symbols import Expr, name

Penalised = Callable[[Expr], list[Expr]]


@dataclass(slots=True)
class Inlined:
    """A part of the graph as lines of a function, and the expression of each value in it."""

    lines: list[Line]
    values: dict[Place, str]
    names: NameBook


def objective_lines(
    made: Assembly,
    function: str,
    doc: str,
    shares: Mapping[str, float],
    trained: frozenset[str],
    penalties: Sequence[Expr] = (),
) -> list[Line]:
    """The function of an objective: "loss" is the weighted sum of the loss nodes `shares`, and its parts.

    What lies before every trained node is computed without gradients.
    """
    made_inline = inline(made, list(shares), trained)
    body = [Line(f'"""{doc}"""'), *made_inline.lines]
    items: list[tuple[str, Expr, Expr, str | None]] = []
    total: Expr | None = None
    several = len(shares) > 1 or bool(penalties)
    for one, share in shares.items():
        plain, twin = (measured(made, made_inline, one, taps) for taps in (False, True))
        share *= weight_of(made.book.types[one])
        if several or share != 1:
            variable = made_inline.names.give(made.losses[one])
            body.append(statement(variable, plain, twin, one))
            plain = twin = name(variable)
            part = plain if share == 1 else share * plain
            total = part if total is None else total + part
            if len(shares) > 1:
                items.append((made.losses[one], plain, plain, one))
        else:
            items.append(("loss", plain, twin, one))
    for penalty in penalties:
        total = penalty if total is None else total + penalty
    if total is not None:
        items.insert(0, ("loss", total, total, None))
    body += returned_dict(items)
    head = Line(f"def {function}(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:")
    return laid_out([head, *indented(body)])


def measuring_inline(made: Assembly, wanted: Sequence[str], losses: Sequence[str]) -> list[Line]:
    """The function `measure`: every loss and metric of a batch; "loss" is the weighted sum of the losses."""
    inlined = inline(made, wanted, None)
    body = [Line('"""The losses and metrics of a batch."""'), *inlined.lines]
    items: list[tuple[str, Expr, Expr, str | None]] = []
    total: Expr | None = None
    for one in wanted:
        plain, twin = (measured(made, inlined, one, taps) for taps in (False, True))
        if one in losses:
            variable = inlined.names.give(made.losses[one])
            body.append(statement(variable, plain, twin, one))
            plain = twin = name(variable)
            share = weight_of(made.book.types[one])
            part = plain if share == 1 else share * plain
            total = part if total is None else total + part
            if len(losses) > 1:
                items.append((made.losses[one], plain, plain, one))
        else:
            items.append((made.metrics[one], plain, twin, one))
    if total is not None:
        items.insert(0, ("loss", total, total, None))
    body += returned_dict(items)
    head = Line("def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:")
    return laid_out([head, *indented(body)])


def rule_lines(made: Assembly, function: str, doc: str, node_id: str) -> list[Line]:
    """The function of a rule: the layer's own update, with the values of its inputs and its rule's inputs."""
    inlined = inline(made, [node_id], None)
    node_type = made.book.types[node_id]
    assert isinstance(node_type, Layer)
    wires = {
        link.target_port: _wire(made, (link.source, link.source_port), inlined)
        for link in made.graph.incoming(node_id)
    }
    with blamed(node_id):
        call = node_type.emit_rule(None, getattr(name("model"), made.attributes[node_id]), **wires)
    made.measured |= call.carries
    body = [Line(f'"""{doc}"""'), *inlined.lines, Line(f"return {call}", node_id=node_id)]
    head = Line(f"def {function}(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:")
    return laid_out([head, *indented(body)])


def residual_lines(
    made: Assembly,
    function: str,
    shares: Mapping[str, float],
    trained: frozenset[str],
    vector: Callable[[Sequence[tuple[float, Expr]]], Expr],
) -> list[Line]:
    """The function of the single errors, for optimisers that use more of them than their sum."""
    inlined = inline(made, list(shares), trained)
    losses = [
        (share * weight_of(made.book.types[one]), measured(made, inlined, one, False))
        for one, share in shares.items()
    ]
    found = vector(losses)
    made.measured |= found.carries
    doc = '"""The vector whose sum of squares is the loss."""'
    head = Line(f"def {function}(model: Model, batch: dict[str, Tensor]) -> Tensor:")
    return laid_out([head, *indented([Line(doc), *inlined.lines, Line(f"return {found}")])])


def needed_by(made: Assembly, wanted: Sequence[str]) -> list[str]:
    """The nodes that compute what goes into the nodes `wanted`, in order."""
    graph = made.graph
    before = {one for node_id in wanted for one in graph.ancestors(node_id)}
    return [one for one in graph.order() if one in before]


def trained_nodes(made: Assembly, of: Sequence[str]) -> frozenset[str]:
    """The layers that change when the nodes `of` are trained: they, and all that share their weights."""
    graph = made.graph
    layers = [one for one in graph.nodes if isinstance(made.book.types[one], Layer)]
    if not of:
        return frozenset(layers)
    roots = {_root(made, one) for one in of if one in graph.nodes}
    return frozenset(one for one in layers if _root(made, one) in roots)


def _root(made: Assembly, node_id: str) -> str:
    other = origin(made.graph, made.graph.node(node_id))
    return node_id if other is None else other.id


def inline(made: Assembly, wanted: Sequence[str], trained: frozenset[str] | None) -> Inlined:
    """The lines that compute what goes into `wanted`; gradients only where the `trained` need them."""
    graph, types = made.graph, made.book.types
    needed = needed_by(made, wanted)
    layers = [one for one in needed if isinstance(types[one], Layer)]
    moved: set[str] = set()
    for one in layers:
        if trained is None or one in trained or moved.intersection(graph.ancestors(one)):
            moved.add(one)
    still = [one for one in layers if one not in moved]
    order = [*still, *(one for one in layers if one in moved)]
    names = NameBook((*RESERVED, *made.book.calls, "model", "batch"))
    values: dict[Place, str] = {}
    lines: list[Line] = []
    for one in needed:
        if isinstance(types[one], Data):
            for port in types[one].outputs():
                leaving = [link for link in graph.outgoing(one) if link.source_port == port.name]
                if any(
                    link.target in wanted or (link.target in layers and enters(types, link))
                    for link in leaving
                ):
                    variable = values[one, port.name] = names.give(port.name)
                    column = column_of((one, port.name), False), column_of((one, port.name), True)
                    lines.append(statement(variable, *column, one, comment_of(made, (one, port.name))))
    sample = _sample(made, values)
    for one in needed:
        if isinstance(types[one], Source):
            drawn_port = types[one].outputs()[0].name
            variable = values[one, drawn_port] = names.give(graph.node(one).name or drawn_port)
            drawn = draw(made, one, sample)
            comment = comment_of(made, (one, drawn_port))
            lines.append(statement(variable, drawn, tapped(one, drawn_port, drawn), one, comment))
    part = replace(made, codes={}, variables=values, variable_names=names, returned=[], results={})
    quiet: list[Line] = []
    for position, one in enumerate(order):
        _name_ports(part, order, position, set(wanted))
        part.codes[one] = _code(part, one, made)
        (quiet if one in still else lines).extend(forward_lines(part, one))
        if one == (still[-1] if still else None):
            lines += [Line("with torch.no_grad():"), *indented(quiet)]
    return Inlined(lines, values, names)


def _name_ports(part: Assembly, order: Sequence[str], position: int, wanted: set[str]) -> None:
    graph, one = part.graph, order[position]
    inside = {*order, *wanted}
    links = [link for link in graph.outgoing(one) if link.target in inside]
    used = list(dict.fromkeys(link.source_port for link in links))
    following = order[position + 1] if position + 1 < len(order) else None
    for port in used:
        mine = [link for link in links if link.source_port == port]
        if len(used) == 1 and len(mine) == 1 and mine[0].target == following:
            part.variables[one, port] = "x"
        else:
            title = part.attributes[one]
            if part.graph.node(one).name:
                title = part.graph.node(one).name
            part.variables[one, port] = part.variable_names.give(
                title if len(used) == 1 else f"{title} {port}"
            )


def _code(part: Assembly, one: str, made: Assembly) -> NodeCode:
    """The node's code once more, with this function's variables and the model's layers."""
    node_type = part.book.types[one]
    ruled = {port.name for port in node_type.rule_ports} if isinstance(node_type, Layer) else set()
    wires = {}
    for link in part.graph.incoming(one):
        if link.target_port not in ruled:
            place = (link.source, link.source_port)
            found = signature_of(made, place)
            wires[link.target_port] = Wire(name(part.variables[place]), found.shape, found.dtype)
    attributes = iter(list(made.codes[one].modules))
    main = made.attributes[one]

    def attribute(_: str) -> str:
        return next(attributes, main)

    with blamed(one):
        code = build(node_type, main, wires, attribute, part.variable_names.give, lambda _: name("Block"))
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


def _sample(made: Assembly, values: Mapping[Place, str]) -> Expr:
    """A column whose rows are the examples of the batch."""
    known = next((name(variable) for place, variable in values.items() if place[0] == made.source), None)
    if known is not None:
        return known
    if made.source is None:
        raise EmitError("Nothing says how many values to draw.", fix="Connect a data source.")
    columns = made.columns()
    return column_of((made.source, columns[0].name), False)


def draw(made: Assembly, node_id: str, sample: Expr) -> Expr:
    """What a source draws beside a column of the batch."""
    node_type = made.book.types[node_id]
    with blamed(node_id):
        found = node_type.emit(None, name("len")(sample), sample.device)
    if not isinstance(found, Expr):
        raise EmitError(f"{node_type.title} does not say what it draws.", node_id=node_id)
    made.measured |= found.carries
    return found


def measured(made: Assembly, inlined: Inlined, one: str, taps: bool) -> Expr:
    """The value of a loss or metric node."""
    wires = {
        link.target_port: _wire(made, (link.source, link.source_port), inlined)
        for link in made.graph.incoming(one)
    }
    with blamed(one):
        code = build(made.book.types[one], "loss", wires)
    result = next(iter(code.ports.values()))
    made.measured |= result.carries
    return tapped(one, "value", result) if taps else result


def _wire(made: Assembly, place: Place, inlined: Inlined) -> Wire:
    found = signature_of(made, place)
    return Wire(name(inlined.values[place]), found.shape, found.dtype)


def comment_of(made: Assembly, place: Place) -> str:
    """The sizes of a value, as a comment: `(N, 28, 28)`."""
    found = signature_of(made, place)
    sizes = ", ".join(["N", *(str(size) for size in found.shape)])
    return f"({sizes},)" if not found.shape else f"({sizes})"


@contextmanager
def blamed(node_id: str) -> Iterator[None]:
    """Errors in here belong to that node."""
    try:
        yield
    except NeuroloomError as error:
        error.node_id = node_id
        raise
