"""The function `batches` of a script, in its forms."""

from __future__ import annotations

BATCHES = """
def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split[FIRST])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(BATCH):
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}
"""

GENERAL_BATCHES = """
def batches(
    split: dict[str, Tensor], shuffle: torch.Generator | None = None, size: int | None = BATCH
) -> Iterator[dict[str, Tensor]]:
    n = len(split[FIRST])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(size or n):
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}
"""

JOINED = """\
    if len(parts) > 1 and len(parts[-1]) == 1:  # a single row cannot be compared with others
        parts[-2:] = [torch.cat(parts[-2:])]
"""


def never_alone(text: str) -> str:
    """The text of `batches` in which a row that would be a batch of its own joins the batch before it."""
    head, loop = text.split("    for rows in ")
    parts, _, body = loop.partition(":\n")
    return f"{head}    parts = list({parts})\n{JOINED}    for rows in parts:\n{body}"


def read_ahead_of(text: str) -> str:
    """The text of `batches` in which the next one is read while the network computes."""
    head, loop = text.split("    for rows in ")
    return f"{head}    yield from read_ahead(split, {loop.splitlines()[0].removesuffix(':')})\n"
