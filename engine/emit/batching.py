"""The functions of a script that draw its rows: `batches`, and what evaluates over them."""

from __future__ import annotations

from engine.emit.statements import Statement, quoted, tree

BATCHES = """
def batches($takes) -> Iterator[dict[str, Tensor]]:
    n = len(split[$first])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    parts = list(order.split($size))  #? joins
    if len(parts) > 1 and len(parts[-1]) == 1:  # a single row cannot be compared with others  #? joins
        parts[-2:] = [torch.cat(parts[-2:])]
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
    return tree(BATCHES, first=quoted(first), takes=takes, size=size, rows=rows, joins=joins, ahead=ahead)
