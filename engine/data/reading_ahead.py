"""The next batch is read while the network computes. Portable: exports carry this source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from torch import Tensor


def read_ahead(split: dict[str, Any], parts: Sequence[Tensor]) -> Iterator[dict[str, Tensor]]:
    """The rows of each of `parts`, in this order; where columns stay in files, the next are read meanwhile.

    A thread reads one batch and ends: while training rests or when it stops, none is left. What reading
    raises is raised where its batch is asked for. Columns must not draw random numbers of torch's.
    """
    from threading import Thread

    found: list[Any] = []  # the batch that was read, or why it could not be
    reader: Any = None

    def read(rows: Tensor) -> None:
        try:
            found.append(
                {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}
            )
        except BaseException as error:
            found.append(error)

    ahead = not all(isinstance(column, Tensor) for column in split.values())
    try:
        for number, rows in enumerate(parts):
            if reader is None:
                read(rows)
            else:
                reader.join()
            batch = found.pop()
            if isinstance(batch, BaseException):
                raise batch
            if ahead and number + 1 < len(parts):
                reader = Thread(target=read, args=(parts[number + 1],), name="reading ahead")
                reader.start()
            yield batch
    finally:
        if reader is not None:
            reader.join()  # who leaves early leaves no thread behind
