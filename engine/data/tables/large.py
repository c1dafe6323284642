"""Tables whose numbers stay on disk: batches read their rows there. Portable: exports carry this source.

The numbers are the same as those of `split_table`, to the bit: the same functions make them, a few columns at
a time for what is fitted, a batch at a time for what is trained on.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.data.lazy import Lazy
from engine.data.splits import split_columns, split_rows
from engine.data.tables.cache import kept_numbers
from engine.data.tables.columns import (
    feature_fit,
    feature_parts,
    in_port_order,
    split_keys,
    target_fit,
    target_ports,
    target_values,
    used_columns,
)
from engine.data.tables.pieces import text_numbers, typed_numbers
from engine.data.telling import tell


class TableNumbers:
    """The numbers of a table (N, C), mapped from the file that was made from it once.

    What was looked at is let go when it fills `room` bytes, as the system counts it as memory of ours. The
    file may be removed meanwhile.
    """

    def __init__(self, place: Path, room: int) -> None:
        import mmap

        about = json.loads((place / "about.json").read_text("utf-8"))
        self.names: list[str] = about["names"]
        self.texts: dict[str, list[str]] = about["texts"]
        self.array = np.empty((about["rows"], len(self.names)))
        self.map = None
        if self.array.size:
            with open(place / "numbers", "rb") as file:
                self.map = mmap.mmap(file.fileno(), self.array.nbytes, access=mmap.ACCESS_READ)
            self.array = np.frombuffer(self.map).reshape(self.array.shape)
        self.seen, self.most = 0, max(2**28, room)
        self.last: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] | None = None

    def let_go(self) -> None:
        import mmap

        if self.map is not None and hasattr(self.map, "madvise"):  # not on Windows, which needs no such word
            self.map.madvise(mmap.MADV_DONTNEED)
        self.seen = 0

    def take(self, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """These rows (n, C), copied; columns of one batch ask for the same rows one after another."""
        last = self.last
        if last is not None and np.array_equal(last[0], rows):
            return last[1]
        found: np.ndarray[Any, Any] = np.array(self.array[rows])
        self.seen += found.nbytes + 2**16 * len(rows)  # pages around each row come with it
        if self.seen > self.most:
            self.let_go()
        self.last = (rows, found)
        return found

    def columns(self, names: list[str]) -> dict[str, np.ndarray[Any, Any]]:
        """All rows of these columns (N,)."""
        at = [self.names.index(name) for name in names]
        found = np.empty((len(at), len(self.array)))
        block = max(1, 2**22 // len(self.names))
        for first in range(0, len(self.array), block):
            found[:, first : first + block] = self.array[first : first + block, at].T
            self.let_go()
        return dict(zip(names, found, strict=True))

    def known(self, names: list[str]) -> np.ndarray[Any, Any]:
        """Which rows (N,) lack nothing in any of these columns."""
        at = [self.names.index(name) for name in names]
        kept = np.ones(len(self.array), bool)
        block = max(1, 2**22 // len(self.names))
        for first in range(0, len(self.array), block):
            kept[first : first + block] = ~np.isnan(self.array[first : first + block, at]).any(1)
            self.let_go()
        return kept


class TableFeatures(Lazy):
    """All inputs of a table side by side, float32, as the `fits` of their columns say."""

    def __init__(
        self, numbers: TableNumbers, fits: dict[str, dict[str, Any]], device: str, picked: Tensor
    ) -> None:
        self.numbers = numbers
        self.fits = [(numbers.names.index(name), fit) for name, fit in fits.items()]
        none = np.zeros(0)
        width = sum(len(feature_parts(none, fit)) for fit in fits.values())
        super().__init__(len(numbers.array), (width,), torch.float32, device, picked)

    def read(self, rows: Tensor) -> Tensor:
        values = self.numbers.take(rows.numpy())
        features = np.empty((len(values), self.shape[1]), np.float32)
        at = 0
        for column, fit in self.fits:
            for part in feature_parts(values[:, column], fit):
                features[:, at] = part
                at += 1
        return torch.from_numpy(features)


class TableInputs(Lazy):
    """The inputs of a table as they were read (N, C), float64."""

    def __init__(self, numbers: TableNumbers, names: list[str], picked: Tensor) -> None:
        self.numbers, self.columns = numbers, [numbers.names.index(name) for name in names]
        super().__init__(len(numbers.array), (len(names),), torch.float64, "cpu", picked)

    def read(self, rows: Tensor) -> Tensor:
        return torch.from_numpy(self.numbers.take(rows.numpy())[:, self.columns])


class TableTarget(Lazy):
    """A target or weight of a table: classes (N,) int64, or numbers (N, 1) float32."""

    def __init__(
        self,
        numbers: TableNumbers,
        name: str,
        fit: tuple[float, float],
        ending: str,
        device: str,
        picked: Tensor,
    ) -> None:
        self.numbers, self.column, self.fit, self.ending = numbers, numbers.names.index(name), fit, ending
        size, dtype = ((), torch.int64) if ending == "class" else ((1,), torch.float32)
        super().__init__(len(numbers.array), size, dtype, device, picked)

    def read(self, rows: Tensor) -> Tensor:
        values = self.numbers.take(rows.numpy())[:, self.column]
        return torch.from_numpy(target_values(values, self.fit, self.ending))


def load_large_text_table(
    folder: Path,
    device: str,
    *,
    file: str,
    columns: tuple[tuple[Any, ...], ...],
    delimiter: str = ",",
    quote: str = '"',
    decimal: str = ".",
    encoding: str = "utf-8",
    header: bool = True,
    skip: int = 0,
    blanks: tuple[str, ...] = (),
    aside: tuple[int, ...] = (),
    memory: int,
    splitter: Callable[..., dict[str, Tensor]],
    **how: Any,
) -> dict[str, dict[str, Any]]:
    """As `load_text_table`, a piece at a time; above `memory` MiB the numbers stay on disk."""
    form: dict[str, Any] = {"delimiter": delimiter, "quote": quote, "decimal": decimal, "encoding": encoding}
    form |= {"header": header, "skip": skip, "blanks": blanks, **({"aside": aside} if aside else {})}
    path, used = folder / file, used_columns(columns)
    reading = how_read(columns, form)
    place = kept_numbers(path, reading, lambda into: text_numbers(path, into, used, **form))
    return split_numbers(place, used, device, file=file, memory=memory, splitter=splitter, **how)


def load_large_typed_table(
    folder: Path,
    device: str,
    *,
    file: str,
    columns: tuple[tuple[Any, ...], ...],
    blanks: tuple[str, ...] = (),
    memory: int,
    splitter: Callable[..., dict[str, Tensor]],
    **how: Any,
) -> dict[str, dict[str, Any]]:
    """As `load_typed_table`, a piece at a time; above `memory` MiB the numbers stay on disk."""
    path, used = folder / file, used_columns(columns)
    reading = how_read(columns, {"blanks": blanks})
    place = kept_numbers(path, reading, lambda into: typed_numbers(path, into, used, blanks=blanks))
    return split_numbers(place, used, device, file=file, memory=memory, splitter=splitter, **how)


def how_read(columns: tuple[tuple[Any, ...], ...], form: dict[str, Any]) -> tuple[Any, ...]:
    """All that the numbers of a file depend on, beside its content."""
    return used_columns(columns), sorted(form.items())


def split_numbers(
    place: Path,
    used: list[tuple[str, str, str, tuple[Any, ...]]],
    device: str,
    *,
    file: str,
    memory: int,
    missing: str = "drop rows",
    scaling: str = "standardise",
    target_scaling: str = "none",
    dates: str = "days",
    by: str = "",
    splitter: Callable[..., dict[str, Tensor]],
    **splitting: Any,
) -> dict[str, dict[str, Any]]:
    """Kept numbers as {split: {"features": (N, D), target: (N, 1) or (N,), ...}}, as from `split_table`."""
    room = memory * 2**20
    numbers = TableNumbers(place, room)
    bytes_a_column = 8 * max(1, len(numbers.array))
    together = max(2, room // bytes_a_column - 5)  # columns that are looked at at once; to fit one takes five
    kept = numbers.known(needed_columns(used, missing))
    if not kept.any():
        raise ValueError(f'"{file}" has no row in which nothing is missing. Fill what is missing instead.')
    there = np.flatnonzero(kept)
    keys = torch.from_numpy(numbers_keys(numbers, by, used, there)) if by else None
    inputs = [(name, kind, details) for name, kind, role, details in used if role == "input"]
    picked = torch.from_numpy(there)
    raw = [TableInputs(numbers, [name for name, *_ in inputs], picked)] if inputs else []
    balanced = [name for name, kind, role, _ in used if role == "target" and kind in ("category", "yes-no")]
    classes = None
    if balanced and "balance" in splitting:
        classes = torch.from_numpy(numbers.columns(balanced[:1])[balanced[0]][there].astype(np.int64))
    rows = split_rows(len(there), keys, splitter, splitting, raw, classes)
    train = there[rows["train"].numpy()]
    fits: dict[str, dict[str, Any]] = {}
    for first in range(0, len(inputs), together):
        some = inputs[first : first + together]
        values = numbers.columns([name for name, *_ in some])
        for name, kind, details in some:
            tell(len(fits), len(inputs), "columns, to scale them")
            column = values.pop(name)
            fits[name] = feature_fit(column, kind, details, train, missing, scaling, dates)
    found: dict[str, Any] = {"features": TableFeatures(numbers, fits, device, picked)} if fits else {}
    for name, kind, role, _ in in_port_order(used):
        asked = target_scaling if role == "target" else "none"
        scale = target_fit(numbers.columns([name])[name], kind, train, asked)
        for port, ending in target_ports(name, kind).items():
            found[port] = TableTarget(numbers, name, scale, ending, device, picked)
    if sum(one.numel() * one.dtype.itemsize for one in found.values()) <= room:
        found = {name: all_rows(column) for name, column in found.items()}
    return split_columns(found, rows, device)


def needed_columns(used: list[tuple[str, str, str, tuple[Any, ...]]], missing: str) -> list[str]:
    """The columns that a row may not lack."""
    return [
        name
        for name, _, role, _ in used
        if role in ("target", "weight", "time") or (role == "input" and missing == "drop rows")
    ]


def numbers_keys(
    numbers: TableNumbers,
    name: str,
    used: list[tuple[str, str, str, tuple[Any, ...]]],
    rows: np.ndarray[Any, Any],
) -> np.ndarray[Any, Any]:
    """What the splitter goes by in these rows, a number a row."""
    values = numbers.columns([name])[name][rows]
    if name not in numbers.texts:
        return split_keys(values, name, used)
    codes, at = np.unique(values.astype(np.int64), return_inverse=True)
    texts = np.array(numbers.texts[name])[codes]
    keys: np.ndarray[Any, Any] = split_keys(texts, name, used)[at]
    return keys


def all_rows(column: Lazy) -> Tensor:
    """A column in memory, read a block at a time."""
    whole = torch.empty(column.shape, dtype=column.dtype)
    block = max(1, 2**20 // max(1, column.shape[1:].numel()))
    for first in range(0, len(column), block):
        tell(first, len(column), "rows into memory")
        whole[first : first + block] = column.read(column.picked[first : first + block])
    return whole
