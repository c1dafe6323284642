"""The functions of a script that draw its rows: `batches`, and what evaluates over them."""

from __future__ import annotations

from collections.abc import Sequence

from engine.emit.statements import Statement, quoted, tree

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
    yield from read_ahead(split, $rows)  #? ahead
    for rows in $rows:  #? not ahead
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}
"""


def batches_lines(first: str, size: str, *, sized: bool = False, joins: bool, ahead: bool) -> list[Statement]:
    """The function `batches`, by the column `first` and with as many rows as the expression `size`.

    Where it is `sized`, its caller may say how many. Where it `joins`, a row that would be a batch of its own
    joins the batch before it; where it reads `ahead`, the next one is read while the network computes.
    """
    rows = "parts" if joins else f"order.split({size})"
    takes = "split: dict[str, Tensor], shuffle: torch.Generator | None = None"
    takes += ", size: int | None = BATCH" if sized else ""
    given = {"first": quoted(first), "takes": takes, "size": size, "rows": rows}
    return tree(BATCHES, **given, joins=joins, joined=tree(JOINED) if joins else [], ahead=ahead)


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
        yield {name: column for part in found for name, column in part.items()}
    for parts in zip(*orders, strict=True):  #? not ahead
        batch: dict[str, Tensor] = {}
        for columns, at in zip(streams, parts, strict=True):
            batch |= {name: column.index_select(0, at.to(column.device)) for name, column in columns.items()}
        yield batch
'''


def stream_batches(
    streams: Sequence[Sequence[str]], size: str, *, joins: bool, ahead: bool
) -> list[list[Statement]]:
    """The function `batches` of several streams of data, with those that it calls.

    `streams` are the columns of each, the one that counts its rows first; `size` is how many rows a batch
    usually has, as an expression. `joins` and `ahead` are as for `batches_lines`.
    """
    listed = ", ".join(f"({', '.join(map(quoted, names))}{',' * (len(names) == 1)})" for names in streams)
    least = "2 * steps" if joins else "steps"
    return [
        tree(STREAMS, streams=f"({listed})"),
        tree(STEPS_OF, joins=joins),
        tree(PARTS_OF, joined=tree(JOINED) if joins else [], least=least),
        tree(OF_STREAMS, size=size, ahead=ahead),
    ]
