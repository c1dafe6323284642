"""Functions that measure a model on a batch: its losses, their weighted sum and its metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from engine.catalogue import Data, Layer, Loss, Measure, Metric, NodeType, Source, Wire
from engine.catalogue.emitter import NodeCode, build, drawn
from engine.catalogue.identifiers import NameBook
from engine.catalogue.symbols import Expr, carried, lift, name, starred, torch
from engine.catalogue.traits import Squash
from engine.data.batch import COUNTS, MEANS, PARTS, ROWS, WEIGHT
from engine.emit.batching import lengths_of_batch
from engine.emit.model import Assembly, Place, blamed, comment_of, wire_of
from engine.emit.statements import Statement, quoted, returned_dict, statement, tapped, tree, under
from engine.errors import EmitError
from engine.shapes.inside import last_squash
from engine.shapes.ragged import by_places

MINIMISED = 'The losses of a batch; training minimises "loss".'
MEASURED = "The losses and metrics of a batch."
COUNTED = "The losses and metrics of a batch, each with how much the batch counts in the mean over several."
RETURN = "episode_return"  # what an episode earns, the mean over several
Item = tuple[str, Expr, Expr, str | None]  # key, plain value, twin value, node


@dataclass(slots=True)
class Computed:
    """Lines of a function of `model` and `batch`, and the variables that hold values of the graph there."""

    lines: list[Statement]
    values: dict[Place, str]
    names: NameBook

    def at(self, place: Place, taps: bool = False) -> Expr:
        """A value as an expression: its variable, or a column of the batch."""
        return name(self.values[place]) if place in self.values else column_of(place, taps)


def measuring_lines(made: Assembly, function: str, wanted: Sequence[str]) -> list[Statement]:
    """The function `objective` or `measure`, of the loss and metric nodes `wanted`.

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
    ran = statement(shown, call, twin_call, None)
    losses = [one for one in wanted if isinstance(made.book.types[one], Loss)]
    weights = weighed(made, dict.fromkeys(losses, 1.0))
    computed = Computed([*draws, ran], values, names)
    if function != "measure":
        return function_lines(made, function, MINIMISED, computed, weights)
    return measure_lines(made, computed, weights, [one for one in wanted if one not in weights])


def draw(made: Assembly, place: Place, values: dict[Place, str], names: NameBook) -> Statement:
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
    penalties: Sequence[Expr] = (),
    gathers: bool = False,
) -> list[Statement]:
    """A function that returns "loss", the sum of losses times `weights` and of penalties, and its parts.

    Its value called "weight" is how much the batch counts, where all losses count it alike and not by its
    examples. Where they don't, and the gradients of several batches are added up (`gathers`), "parts" (P,)
    are the terms of the sum and "counts" (P,) how much the batch counts for each.
    """
    body, items = _losses(made, computed, weights, penalties)
    weight, *others = counts_of(made, weights, computed)
    if weight is not None and not others:  # losses that count it in several ways are summed by its examples
        items.append((WEIGHT, weight, weight, None))
        doc += f' "{WEIGHT}" is how much the batch counts.'
    elif others and gathers:
        parts, counts = _apart(made, computed, weights, items, penalties)
        items += [(PARTS, parts, parts, None), (COUNTS, counts, counts, None)]
        doc += f' "{COUNTS}" says how much the batch counts for each of its "{PARTS}".'
    head = f"def {function}(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:"
    doc_line = Statement(f'"""{doc}"""')
    return [under(head, [doc_line, *computed.lines, *body, *returned_dict(items)])]


def _apart(
    made: Assembly,
    computed: Computed,
    weights: Mapping[str, float],
    items: Sequence[Item],
    penalties: Sequence[Expr],
) -> tuple[Expr, Expr]:
    """The terms of a sum of losses, and how much a batch counts for each; penalties count with its rows."""
    values = {key: value for key, value, _, _ in items}
    parts = [
        values[made.losses[one]] if w == 1 else w * values[made.losses[one]] for one, w in weights.items()
    ]
    counts = [counted(made, computed, one) for one in weights]
    if penalties:
        parts.append(reduce(_plus, penalties))
        counts.append(None)
    numbers = [name("float")(rows_of(made) if count is None else count) for count in counts]
    return torch.stack(parts), torch.tensor(numbers)


def measure_lines(
    made: Assembly,
    computed: Computed,
    weights: Mapping[str, float],
    metrics: Iterable[str],
    scores: Mapping[str, Expr] | None = None,
) -> list[Statement]:
    """The function `measure`: every loss and metric; with how much each counts where `uneven` says so.

    `scores` are further means over the rows of the batch, by key.
    """
    body, items = _losses(made, computed, weights)
    for one in metrics:
        plain, twin = (measured(made, computed, one, taps) for taps in (False, True))
        items.append((made.metrics[one], plain, twin, one))
    doc, kind = MEASURED, "Tensor"
    further = [(key, score, score, None) for key, score in (scores or {}).items()]
    if uneven(made):
        doc, kind = COUNTED, "tuple[Tensor, Tensor | int]"
        rows = rows_of(made)
        alone = next(iter(weights), "")
        items = [_paired(made, computed, item, item[3] or alone, rows) for item in items]
        items += _means(made, computed, [*weights, *metrics], rows)
        if found := _kept(made, computed, metrics, rows):
            items += found
            kind = "tuple[Any, Tensor | int]"
        further = [(key, lift((score, rows)), lift((score, rows)), None) for key, score, _, _ in further]
    head = f"def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, {kind}]:"
    doc_line = Statement(f'"""{doc}"""')
    return [under(head, [doc_line, *computed.lines, *body, *returned_dict([*items, *further])])]


def _means(made: Assembly, computed: Computed, measures: Iterable[str], rows: Expr) -> list[Item]:
    """What values that are no means are computed from, with how much the batch counts."""
    found: list[Item] = []
    for one in measures:
        node_type = made.book.types[one]
        assert isinstance(node_type, Measure)
        means = node_type.means(**compared(made, computed, one))
        if means is not None:
            weight = rows if (count := counted(made, computed, one)) is None else count
            pair = lift((means, weight))
            found.append((f"{key_of(made, one)}{MEANS}", pair, pair, None))
    return found


def _kept(made: Assembly, computed: Computed, metrics: Iterable[str], rows: Expr) -> list[Item]:
    """What values that depend on all rows of a split are computed from."""
    found: list[Item] = []
    for one in metrics:
        node_type = made.book.types[one]
        if isinstance(node_type, Metric) and (kept := node_type.kept(**compared(made, computed, one))):
            pair = lift((kept, rows))
            made.measured |= pair.carries
            found.append((f"{made.metrics[one]}{ROWS}", pair, pair, None))
    return found


def key_of(made: Assembly, one: str) -> str:
    """By which key the value of a loss or metric node is measured."""
    if one in made.metrics:
        return made.metrics[one]
    losses = [node for node in made.graph.nodes if isinstance(made.book.types[node], Loss)]
    return made.losses[one] if len(losses) > 1 else "loss"


def of_means(made: Assembly, means: Expr) -> dict[str, Expr]:
    """How the values of a split are computed from their means, by key, for those that are none themselves."""
    found: dict[str, Expr] = {}
    for one in made.graph.order():
        node_type = made.book.types[one]
        if isinstance(node_type, Measure) and type(node_type).means is not Measure.means:
            key = key_of(made, one)
            value = node_type.of_means(means[f"{key}{MEANS}"])
            made.measured |= value.carries
            factor = weight_of(node_type) if key == "loss" else 1
            found[key] = value if factor == 1 else factor * value
    return found


def of_kept(made: Assembly, kept: Expr) -> dict[str, Expr]:
    """How the values of a split are computed from its rows, by key, for those that need all of them."""
    found: dict[str, Expr] = {}
    for one, key in made.metrics.items():
        node_type = made.book.types[one]
        if isinstance(node_type, Metric) and keeps_rows(node_type):
            found[key] = node_type.of_kept(starred(kept[f"{key}{ROWS}"]))
            made.measured |= found[key].carries
    return found


def keeps_rows(node_type: NodeType) -> bool:
    """Whether the value of a split needs all its rows together."""
    return isinstance(node_type, Metric) and type(node_type).kept is not Metric.kept


def _paired(made: Assembly, computed: Computed, item: Item, one: str, rows: Expr) -> Item:
    """A value with how much the batch counts for it; for the sum of several losses that is of no use."""
    key, plain, twin, node_id = item
    weight = rows if (found := counted(made, computed, one)) is None else found
    return key, lift((plain, weight)), lift((twin, weight)), node_id


def evaluate_lines(made: Assembly, first: str, measure: str) -> list[Statement]:
    """The function `evaluate`; `first` is a column with a row an example, `measure` what it calls."""
    if not uneven(made):
        return tree(EVALUATE, first=quoted(first), measure=measure)
    losses = [one for one in made.graph.order() if isinstance(made.book.types[one], Loss)]
    total: Expr | None = None
    for one in losses:
        weight, part = weight_of(made.book.types[one]), name("found")[made.losses[one]]
        total = _plus(total, part if weight == 1 else weight * part)
    from_rows = of_kept(made, name("kept"))
    values = of_means(made, name("means"))
    means = bool(values)
    values |= from_rows
    whole = [
        Statement(str(name("float")(value)), target=f"found[{quoted(key)}]") for key, value in values.items()
    ]
    several = len(losses) > 1
    return tree(
        EVALUATE_COUNTED,
        several=several,
        total=total,
        means=means,
        rows=bool(from_rows),
        single=not several and not values,
        counted=(several or from_rows) and not means,
        found=several or values,
        whole=whole,
        suffix=MEANS,
    )


def counted(made: Assembly, computed: Computed, one: str) -> Expr | None:
    """How much a batch counts for a loss or metric node; None: its number of examples."""
    code = _built(made, computed, one, False)
    made.measured |= code.carries
    stream = made.streams.of(one)
    return rows_of(made, stream) if code.counts is None and stream else code.counts


def rows_of(made: Assembly, stream: int = 0) -> Expr:
    """How many rows a batch has of a stream."""
    found: Expr = name("len")(name("batch")[made.counting(stream).name])
    return found


def counts_of(made: Assembly, losses: Iterable[str], computed: Computed | None = None) -> list[Expr | None]:
    """In how many ways, and which, losses count a batch: None is by its examples."""
    computed = computed or Computed([], {}, NameBook())
    counts = {str(found): found for one in losses for found in [counted(made, computed, one)]}
    return list(counts.values())


def uneven(made: Assembly) -> bool:
    """Whether a loss or metric of the graph counts other than by the number of examples."""
    measures = [one for one in made.graph.nodes if isinstance(made.book.types[one], Measure)]
    kinds = [one for one in made.book.types.values() if isinstance(one, Measure)]
    if any(type(one).means is not Measure.means or keeps_rows(one) for one in kinds):
        return True
    return any(found is not None for found in counts_of(made, measures))


def _losses(
    made: Assembly, computed: Computed, weights: Mapping[str, float], penalties: Sequence[Expr] = ()
) -> tuple[list[Statement], list[Item]]:
    """The lines that compute losses, and their sum and parts by name."""
    body: list[Statement] = []
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
    return body, items


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
    result = next(iter(_built(made, computed, one, taps).ports.values()))
    made.measured |= result.carries
    return tapped(one, "value", result) if taps else result


def _built(made: Assembly, computed: Computed, one: str, taps: bool) -> NodeCode:
    with blamed(one):
        return build(made.book.types[one], "loss", compared(made, computed, one, taps))


def compared(made: Assembly, computed: Computed, one: str, taps: bool = False) -> dict[str, Wire]:
    """What a loss or metric node compares, by port."""
    wires = wires_into(made, computed, one, taps)
    if by_places(made.book.types[one], made.book.inputs(one)) != made.book.inputs(one):
        return {port: place_by_place(wire) for port, wire in wires.items()}
    return wires


def place_by_place(wire: Wire) -> Wire:
    """The places of rows that differ in length, one after the other, as if each were an example."""
    from engine.layers.ragged import real_places

    places = carried(real_places)(wire, wire.lengths)
    shape, dtype = wire.shape[1:], wire.dtype
    return Wire(places, shape, dtype, "", wire.squash, wire.ends, wire.logits, lengths=wire.lengths)


def wires_into(made: Assembly, computed: Computed, one: str, taps: bool = False) -> dict[str, Wire]:
    """What comes into a node, by port."""
    places = {link.target_port: (link.source, link.source_port) for link in made.graph.incoming(one)}
    wires = {port: wire_of(made, place, computed.at(place, taps)) for port, place in places.items()}
    lengths = lengths_of_batch(made.filled)
    for port, wire in wires.items():
        wire.lengths = lengths.get(wire.ragged)
        wire.squash = last_squash(made.project, made.book, places[port])
        wire.ends, wire.logits = ends_of(made, places[port]), is_logits(made, places[port])
    return wires


def ends_of(made: Assembly, place: Place) -> tuple[float, float] | None:
    """The two values that a column of data has alone, where that is known."""
    node_type = made.book.types[place[0]]
    columns = node_type.columns() if isinstance(node_type, Data) else ()
    return next((column.two_values for column in columns if column.name == place[1]), None)


def is_logits(made: Assembly, place: Place) -> bool:
    """Whether a loss takes a value for scores, and passes them through a sigmoid of its own."""
    leaving = [link for link in made.graph.outgoing(place[0]) if link.source_port == place[1]]
    losses = [(made.book.types[link.target], link.target_port) for link in leaving]
    return any(
        isinstance(one, Loss) and one.traits.contains is Squash.SIGMOID and port == one.ports_in[0].name
        for one, port in losses
    )


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
        found = drawn(source, _sample(made, node_id, values or {}))
    made.measured |= found.carries
    return found


def _sample(made: Assembly, node_id: str, values: Mapping[Place, str]) -> Expr:
    """A column that has as many rows as a source draws values."""
    beside = made.streams.beside(node_id)
    known = next((name(variable) for place, variable in values.items() if place[0] in beside[:1]), None)
    if known is not None:
        return known
    columns = made.columns(*beside)
    if not beside or not columns:
        raise EmitError("Nothing says how many values to draw.", fix="Connect a data source.")
    return column_of((beside[0], columns[0].name), False)


EVALUATE = '''
@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over a split, with dropout off."""
    model.eval()
    n = 0
    sums: dict[str, float] = {}
    for batch in batches(split):
        size = len(batch[$first])
        n += size
        for name, value in $measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}
'''

EVALUATE_COUNTED = '''
@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over what counts in a split, with dropout off."""
    model.eval()
    sums: dict[str, float] = {}  #? not means
    sums: dict[str, Tensor] = {}  #? means
    weights: dict[str, float] = {}
    rows: dict[str, list[tuple[Tensor, ...]]] = {}  #? rows
    for batch in batches(split):
        for name, (value, weight) in measure(model, batch).items():
            if isinstance(value, tuple):  # rows whose value is that of all of them together  #? rows
                rows.setdefault(name, []).append(tuple(column.cpu() for column in value))
                continue
            sums[name] = sums.get(name, 0.0) + float(weight) * value.item()  #? not means
            value = float(weight) * value.cpu().double()  #? means
            sums[name] = sums[name] + value if name in sums else value  #? means
            weights[name] = weights.get(name, 0.0) + float(weight)
    model.train()
    return {name: value / (weights[name] or math.nan) for name, value in sums.items()}  #? single
    found = {name: value / (weights[name] or math.nan) for name, value in sums.items()}  #? counted
    means = {name: value / (weights[name] or math.nan) for name, value in sums.items()}  #? means
    found = {name: value.item() for name, value in means.items() if not name.endswith("$suffix")}  #? means
    kept = {name: [*map(torch.cat, zip(*parts, strict=True))] for name, parts in rows.items()}  #? rows
    <whole>  #? found
    found["loss"] = $total  #? several
    return found  #? found
'''


def higher_is_better(made: Assembly, monitor: str) -> bool:
    """Whether a recorded value is better when it grows: `growing` names those."""
    wanted = monitor.removeprefix("val_").removeprefix("train_")
    return wanted not in made.losses.values() and wanted in growing(made)


def growing(made: Assembly) -> frozenset[str]:
    """Values, without the split they are of, that are better when they grow.

    Metrics that don't say otherwise, scores of layers that learn by a rule, and what episodes return.
    """
    types = made.book.types
    metrics = {
        given for one, given in made.metrics.items() if not getattr(types[one], "lower_is_better", False)
    }
    scores = {score for kind in types.values() if isinstance(kind, Layer) for score in kind.scores}
    # A metric may have the name of a score: it speaks for itself.
    return frozenset(metrics | (scores - set(made.metrics.values())) | ({RETURN} if made.replays else set()))
