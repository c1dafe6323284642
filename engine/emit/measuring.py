"""Functions that measure a model on a batch: its losses, their weighted sum and its metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.catalogue import Loss, NodeType, Source, Wire
from engine.catalogue.emitter import build, drawn
from engine.catalogue.identifiers import NameBook
from engine.catalogue.symbols import Expr, name
from engine.emit.lines import Line, indented, laid_out, returned_dict, statement, tapped
from engine.emit.model import Assembly, Place, blamed, comment_of, wire_of
from engine.errors import EmitError

MEASURED = "The losses and metrics of a batch."
Item = tuple[str, Expr, Expr, str | None]  # key, plain value, twin value, node


@dataclass(slots=True)
class Computed:
    """Lines of a function of `model` and `batch`, and the variables that hold values of the graph there."""

    lines: list[Line]
    values: dict[Place, str]
    names: NameBook

    def at(self, place: Place, taps: bool = False) -> Expr:
        """A value as an expression: its variable, or a column of the batch."""
        return name(self.values[place]) if place in self.values else column_of(place, taps)


def measuring_lines(made: Assembly, function: str, doc: str, wanted: Sequence[str]) -> list[Line]:
    """A function that returns the named values of the loss and metric nodes `wanted`.

    It runs the model once; of several losses, "loss" is the weighted sum.
    """
    needed = {(link.source, link.source_port) for one in wanted for link in made.graph.incoming(one)}
    names = NameBook(outer=made.names)
    values = {place: names.give(variable) for place, variable in made.results.items()}
    # What a source draws for a loss is drawn once, and the model gets the same.
    sources = [place for place in needed if isinstance(made.book.types[place[0]], Source)]
    draws = [draw(made, place, values, names) for place in sorted(sources)]
    call, twin_call = (
        name("model")(
            *(
                name(values[place]) if place in sources else argument_of(made, place, taps)
                for place in made.arguments
            )
        )
        for taps in (False, True)
    )
    shown = ", ".join(values[place] if place in needed else "_" for place in made.results)
    ran = Line(f"{shown} = {call}", f"{shown} = {twin_call}")
    losses = [one for one in wanted if isinstance(made.book.types[one], Loss)]
    weights = weighed(made, dict.fromkeys(losses, 1.0))
    metrics = [one for one in wanted if one not in weights]
    return function_lines(made, function, doc, Computed([*draws, ran], values, names), weights, metrics)


def draw(made: Assembly, place: Place, values: dict[Place, str], names: NameBook) -> Line:
    """The line that draws what leaves a source; its variable goes to `values`."""
    found = drawn_by(made, place[0], values)
    variable = values[place] = names.give(made.graph.node(place[0]).name or place[1])
    return statement(variable, found, tapped(*place, found), place[0], comment_of(made, place))


def function_lines(
    made: Assembly,
    function: str,
    doc: str,
    computed: Computed,
    weights: Mapping[str, float],
    metrics: Iterable[str] = (),
    penalties: Sequence[Expr] = (),
) -> list[Line]:
    """A function that returns "loss", the sum of losses times `weights` and of penalties, and its parts."""
    body = [Line(f'"""{doc}"""'), *computed.lines]
    items: list[Item] = []
    total: Expr | None = None
    alone = len(weights) == 1 and not penalties
    for one, weight in weights.items():
        plain, twin = (measured(made, computed, one, taps) for taps in (False, True))
        if alone and weight == 1:
            items.append(("loss", plain, twin, one))
            break
        variable = computed.names.give(made.losses[one])
        body.append(statement(variable, plain, twin, one))
        value = name(variable)
        total = _plus(total, value if weight == 1 else weight * value)
        if len(weights) > 1:
            items.append((made.losses[one], value, value, one))
    for penalty in penalties:
        total = _plus(total, penalty)
    if total is not None:
        items.insert(0, ("loss", total, total, None))
    for one in metrics:
        plain, twin = (measured(made, computed, one, taps) for taps in (False, True))
        items.append((made.metrics[one], plain, twin, one))
    head = Line(f"def {function}(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:")
    return laid_out([head, *indented([*body, *returned_dict(items)])])


def _plus(total: Expr | None, part: Expr) -> Expr:
    return part if total is None else total + part


def weighed(made: Assembly, weights: Mapping[str, float]) -> dict[str, float]:
    """How much each loss node counts: its weight times the weight that it has itself."""
    return {one: weight * weight_of(made.book.types[one]) for one, weight in weights.items()}


def weight_of(node_type: NodeType) -> float:
    """How much a loss node counts."""
    return float(getattr(node_type, "weight", 1.0))


def measured(made: Assembly, computed: Computed, one: str, taps: bool) -> Expr:
    """The value of a loss or metric node."""
    wires = wires_into(made, computed, one, taps)
    with blamed(one):
        code = build(made.book.types[one], "loss", wires)
    result = next(iter(code.ports.values()))
    made.measured |= result.carries
    return tapped(one, "value", result) if taps else result


def wires_into(made: Assembly, computed: Computed, one: str, taps: bool = False) -> dict[str, Wire]:
    """What comes into a node, by port."""
    places = {link.target_port: (link.source, link.source_port) for link in made.graph.incoming(one)}
    return {port: wire_of(made, place, computed.at(place, taps)) for port, place in places.items()}


# -- what goes in


def column_of(place: Place, taps: bool) -> Expr:
    """A column of the batch: `batch["image"]`."""
    column = name("batch")[place[1]]
    return tapped(place[0], place[1], column) if taps else column


def argument_of(made: Assembly, place: Place, taps: bool) -> Expr:
    """What the model is called with: a column of the batch, or what a source draws for its rows."""
    if not isinstance(made.book.types[place[0]], Source):
        return column_of(place, taps)
    found = drawn_by(made, place[0])
    return tapped(*place, found) if taps else found


def drawn_by(made: Assembly, node_id: str, values: Mapping[Place, str] | None = None) -> Expr:
    """What a source draws beside the batch; `values` are variables, one of which may hold a column of it."""
    source = made.book.types[node_id]
    assert isinstance(source, Source)
    with blamed(node_id):
        found = drawn(source, _sample(made, values or {}))
    made.measured |= found.carries
    return found


def _sample(made: Assembly, values: Mapping[Place, str]) -> Expr:
    """A column whose rows are the examples of the batch."""
    known = next((name(variable) for place, variable in values.items() if place[0] == made.source), None)
    if known is not None:
        return known
    columns = made.columns()
    if made.source is None or not columns:
        raise EmitError("Nothing says how many values to draw.", fix="Connect a data source.")
    return column_of((made.source, columns[0].name), False)
