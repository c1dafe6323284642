"""The functions of a script that draw its rows: `batches`, and what evaluates over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engine.catalogue import Column
from engine.catalogue.axes import Ragged
from engine.catalogue.symbols import Expr, name
from engine.emit.sources.parts import tuple_text
from engine.emit.statements import Statement, quoted, tree
from engine.shapes.ragged import Filled

JOINED = """
if len(parts) > 1 and len(parts[-1]) == 1:  # a single row cannot be compared with others
    parts[-2:] = [torch.cat(parts[-2:])]
"""
BATCHES = """
def batches($takes) -> Iterator[dict[str, Tensor]]:
    n = len(split[$first])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    parts = list(order.split($size))  #? joins
    <joined>
    yield from read_ahead(split, $rows)  #? whole_ahead
    for batch in read_ahead(split, $rows):  #? cut_ahead
        yield without_filling(batch, FILLED)
    for rows in $rows:  #? whole
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}
    for rows in $rows:  #? cut
        batch = {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}
        yield without_filling(batch, FILLED)
"""
FILLED = """
# What says how long rows are, and the columns that are filled up.
FILLED = $filled
"""


def filled_lines(filled: Iterable[Filled]) -> list[Statement]:
    """The constant that says which columns are cut to the longest row of a batch; nothing where none is."""
    cut = {one.place[1]: one.columns for one in filled if one.is_cut}
    items = ", ".join(
        f"{quoted(told)}: {tuple_text([quoted(one) for one in names])}" for told, names in cut.items()
    )
    return tree(FILLED, filled=f"{{{items}}}") if cut else []


def batches_lines(
    first: str, size: str, *, sized: bool = False, joins: bool, ahead: bool, cut: bool = False
) -> list[Statement]:
    """The function `batches`, by the column `first` and with as many rows as the expression `size`.

    Where it is `sized`, its caller may say how many. Where it `joins`, a row that would be a batch of its own
    joins the batch before it; where it reads `ahead`, the next one is read while the network computes. Rows
    that differ in length are `cut` to the longest of their batch.
    """
    rows = "parts" if joins else f"order.split({size})"
    takes = "split: dict[str, Tensor], shuffle: torch.Generator | None = None"
    takes += ", size: int | None = CONFIG.batch" if sized else ""
    given = {"first": quoted(first), "takes": takes, "size": size, "rows": rows}
    ways = {"whole_ahead": ahead and not cut, "cut_ahead": ahead and cut}
    ways |= {"whole": not ahead and not cut, "cut": not ahead and cut}
    return tree(BATCHES, **given, joins=joins, joined=tree(JOINED) if joins else [], **ways)


def count_text(rows: str, size: str, *, joins: bool) -> str:
    """How many batches so many rows make, as code; where it `joins`, no row is a batch of its own."""
    return f"max(1, math.ceil(({rows} - 1) / {size}))" if joins else f"math.ceil({rows} / {size})"


STREAMS = """
STREAMS = $streams  # columns whose rows belong together
"""
STEPS_OF = '''
def steps_of(split: dict[str, Tensor], size: int | None) -> int:
    """How many batches an epoch has: those of the longest stream."""
    rows = [len(split[names[0]]) for names in STREAMS]
    return max(math.ceil(n / (size or n)) for n in rows)  #? not joins
    return max(1, *(math.ceil((n - 1) / (size or n)) for n in rows))  #? joins
'''
PARTS_OF = '''
def parts_of(n: int, steps: int, shuffle: torch.Generator | None, size: int | None) -> list[Tensor]:
    """The n rows of a stream in so many batches; where they are too few, they go round in a new order."""
    if shuffle is None:  # each row comes equally often
        return list(torch.arange(n).repeat(math.ceil($least / n)).tensor_split(steps))
    found: list[Tensor] = []
    while len(found) < steps:
        parts = list(torch.randperm(n, generator=shuffle).split(size or n))
        <joined>
        found += parts
    return found[:steps]
'''
OF_STREAMS = '''
def batches(
    split: dict[str, Tensor], shuffle: torch.Generator | None = None, size: int | None = $size
) -> Iterator[dict[str, Tensor]]:
    """A batch of each stream beside those of the others, until the longest is through."""
    streams = [{name: split[name] for name in names} for names in STREAMS]
    rows, steps = [len(split[names[0]]) for names in STREAMS], steps_of(split, size)
    orders = [parts_of(n, steps, shuffle, size) for n in rows]
    for found in zip(*map(read_ahead, streams, orders), strict=True):  #? ahead
        batch = {name: column for part in found for name, column in part.items()}
        yield batch  #? not cut
        yield without_filling(batch, FILLED)  #? cut
    for parts in zip(*orders, strict=True):  #? not ahead
        batch: dict[str, Tensor] = {}
        for columns, at in zip(streams, parts, strict=True):
            batch |= {name: column.index_select(0, at.to(column.device)) for name, column in columns.items()}
        yield batch  #? not cut
        yield without_filling(batch, FILLED)  #? cut
'''


def stream_batches(
    streams: Sequence[Sequence[str]], size: str, *, joins: bool, ahead: bool, cut: bool = False
) -> list[list[Statement]]:
    """The function `batches` of several streams of data, with those that it calls.

    `streams` are the columns of each, the one that counts its rows first; `size` is how many rows a batch
    usually has, as an expression. `joins`, `ahead` and `cut` are as for `batches_lines`.
    """
    listed = ", ".join(f"({', '.join(map(quoted, names))}{',' * (len(names) == 1)})" for names in streams)
    least = "2 * steps" if joins else "steps"
    return [
        tree(STREAMS, streams=f"({listed})"),
        tree(STEPS_OF, joins=joins),
        tree(PARTS_OF, joined=tree(JOINED) if joins else [], least=least),
        tree(OF_STREAMS, size=size, ahead=ahead, cut=cut),
    ]


def lengths_in(column: Column, value: Expr) -> Expr:
    """How long rows are (N,), by a column that says so or is a mask."""
    found: Expr = value.sum(1).long() if column.shape else value
    return found


def lengths_of_batch(
    filled: Mapping[Ragged, Filled], given: Mapping[tuple[str, str], str] | None = None
) -> dict[Ragged, Expr]:
    """How long rows are, in a function of a batch; some columns may be `given` as variables."""
    known = {place: name(variable) for place, variable in (given or {}).items()}
    values = {axis: known.get(one.place, name("batch")[one.place[1]]) for axis, one in filled.items()}
    return {axis: lengths_in(one.column, values[axis]) for axis, one in filled.items()}
