"""The user's arrays as columns: `.npy`, `.npz` and IDX files. Portable: exports carry this source.

What fits is held in memory. What doesn't stays in its file, and batches read their rows from there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.data.array_reading import stored_array
from engine.data.lazy import Lazy
from engine.data.splits import split_columns, split_rows
from engine.data.telling import tell


class FileRows:
    """Rows of an array in a file. What was mapped is let go from time to time, so that it doesn't add up.

    The system counts every page that was ever looked at as memory of ours, until the file is mapped again.
    """

    def __init__(self, path: Path, key: str, most: int) -> None:
        self.place = (path, key, most)
        self.array = stored_array(path, key, most)
        self.seen = 0

    def take(self, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The rows of these numbers, copied."""
        found: np.ndarray[Any, Any] = np.array(self.array[rows])
        if isinstance(self.array, np.memmap):
            self.seen += found.nbytes + 2**16 * len(rows)  # pages around each row come with it
            if self.seen > 2**28:
                self.array, self.seen = stored_array(*self.place), 0
        return found


class Stored(Lazy):
    """A column of arrays in files, one after another: numbers as float32, classes and ids as int64.

    `axes` says what becomes of those of images; `span` are the features that are taken, all for (0, 0);
    `classes` are the values that stand for classes 0, 1, ...; where `hot`, the place of a row's only 1 does.
    What `fit` finds is subtracted and divided by.
    """

    def __init__(
        self,
        name: str,
        parts: list[FileRows],
        device: str,
        axes: str = "as they are",
        whole: bool = False,
        span: tuple[int, int] = (0, 0),
        classes: tuple[Any, ...] = (),
        hot: bool = False,
    ) -> None:
        self.hot = hot
        self.name, self.parts, self.axes, self.span = name, parts, axes, span
        self.starts = np.cumsum([0, *(len(part.array) for part in parts)])
        self.classes = np.array(classes) if classes else None
        self.shift: Tensor | None = None
        self.scale: Tensor | None = None
        dtype = torch.int64 if whole or classes else torch.float32
        row = np.zeros((1, *parts[0].array.shape[1:]), np.float32)
        size = () if classes else tuple(self.arranged(row).shape[1:])
        super().__init__(int(self.starts[-1]), size, dtype, device)

    def read(self, rows: Tensor) -> Tensor:
        asked = rows.numpy()
        found = self.raw(asked)
        if self.hot:
            return self.place_of_one(found, asked)
        if self.classes is not None:
            return self.numbered(found.reshape(len(found)), asked)
        whole = not self.dtype.is_floating_point
        with np.errstate(over="ignore", invalid="ignore"):  # what is too large becomes infinite
            values = torch.from_numpy(self.arranged(found).astype(np.int64 if whole else np.float32))
        if self.shift is not None:
            values = values - self.shift
        return values if self.scale is None else values / self.scale

    def raw(self, asked: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Rows as they are in their files."""
        if len(self.parts) == 1:
            return self.parts[0].take(asked)
        first = self.parts[0].array
        found = np.empty((len(asked), *first.shape[1:]), first.dtype)
        where = np.searchsorted(self.starts, asked, side="right") - 1
        for number, part in enumerate(self.parts):
            at = where == number
            if at.any():
                found[at] = part.take(asked[at] - self.starts[number])
        return found

    def arranged(self, found: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The features that are taken, and the axes as layers expect them; (N,) becomes (N, 1)."""
        first, last = self.span
        found = found[..., first:last] if last else found
        if found.ndim == 1:
            return found[:, None]
        if self.axes == "add a channel" and found.ndim == 3:
            return found[:, None]
        if self.axes == "channels first" and found.ndim == 4:
            return np.ascontiguousarray(np.moveaxis(found, -1, 1))
        return found

    def numbered(self, found: np.ndarray[Any, Any], asked: np.ndarray[Any, Any]) -> Tensor:
        """Values as the numbers of their classes. Errors: `ValueError` with the row of one that is none."""
        assert self.classes is not None
        found = np.char.decode(found, "utf-8") if found.dtype.kind == "S" else found
        at = np.minimum(np.searchsorted(self.classes, found), len(self.classes) - 1)
        strange = np.flatnonzero(self.classes[at] != found)
        if len(strange):
            raise ValueError(
                f'"{self.name}" in {self.file_of(asked[strange[0]])} is {found[strange[0]]} in row '
                f"{asked[strange[0]] + 1:,}, which is none of its {len(self.classes):,} classes: "
                "open the file again."
            )
        return torch.from_numpy(at.astype(np.int64))

    def file_of(self, row: int) -> str:
        """The name of the file that holds a row."""
        part = self.parts[int(np.searchsorted(self.starts, row, side="right")) - 1]
        return str(part.place[0].name)

    def place_of_one(self, found: np.ndarray[Any, Any], asked: np.ndarray[Any, Any]) -> Tensor:
        """Where the 1 of each row stands. Errors: `ValueError` with a row that is no single 1 among zeros."""
        ones = found == 1
        strange = np.flatnonzero((ones.sum(1) != 1) | ~(ones | (found == 0)).all(1))
        if len(strange):
            raise ValueError(
                f'"{self.name}" is no single 1 among zeros in row {asked[strange[0]] + 1:,}: open the file '
                'again, or set "Labels are" to numbers.'
            )
        return torch.from_numpy(ones.argmax(1).astype(np.int64))

    def fit(self, how: str, rows: Tensor) -> None:
        """Find what to subtract and divide by in these rows: for "0 to 1" or "standardise".

        They are read a block at a time. For "standardise" each feature of a table and each channel of images
        has its own numbers, other arrays have one. Unsigned whole numbers span all that their type allows.
        Errors: `ValueError` for values that are no numbers.
        """
        kind = self.parts[0].array.dtype
        if how == "0 to 1" and kind.kind in "ub":
            self.scale = torch.tensor(1.0 if kind.kind == "b" else float(np.iinfo(kind).max))
            return
        over = [0, 2, 3] if self.dim() == 4 else [0] if self.dim() == 2 else list(range(self.dim()))
        low, high, count = math.inf, -math.inf, 0
        mean, squares = torch.zeros(()).double(), torch.zeros(()).double()
        length = max(1, 2**22 // max(1, self.shape[1:].numel()))
        order = rows.sort().values
        for at in range(0, len(order), length):
            values = self.read(order[at : at + length]).double()
            if not values.isfinite().all():
                raise ValueError(
                    f'"{self.name}" holds values that are missing or infinite, so it cannot be brought to '
                    f'"{how}": leave the values as they are and fill them first.'
                )
            low, high = min(low, values.min().item()), max(high, values.max().item())
            found = values.mean(over, keepdim=True)[0]
            more = values.numel() // max(1, found.numel())
            away, count = found - mean, count + more
            squares = squares + ((values - found) ** 2).sum(over, keepdim=True)[0]
            squares = squares + away**2 * ((count - more) * more / max(1, count))  # Chan and others, 1979
            mean = mean + away * (more / max(1, count))
        deviation = (squares / max(1, count)).sqrt()
        spread = torch.tensor(high - low)
        self.shift = torch.tensor(low) if how == "0 to 1" else mean.float()
        scale = spread if how == "0 to 1" else deviation.float()
        self.scale = torch.where(scale > 1e-12, scale, 1.0)


def load_arrays(
    folder: Path,
    device: str,
    *,
    columns: tuple[dict[str, Any], ...],
    values: str,
    axes: str,
    memory: int,
    splitter: Callable[..., dict[str, Tensor]],
    by: str = "",
    given: bool = False,
    **splitting: Any,
) -> dict[str, dict[str, Any]]:
    """Arrays of one length as {split: {column: (N, ...)}}; they stay in their files above `memory` MiB.

    Each of `columns` is {"name", "files": ((split, file, key), ...), "size"} and, where it has them, "role",
    "classes", "hot", "whole" and "span". `values` is what becomes of inputs: "as they are", "0 to 1" or
    "standardise"; `axes` what becomes of those of images. The splitter goes by the column `by`; where the
    splits are `given`, at what the files are for. Errors: `ValueError`, `OSError`.
    """
    found = {column["name"]: stored_column(folder, device, axes, memory, **column) for column in columns}
    counts = {name: len(column) for name, column in found.items()}
    if len(set(counts.values())) > 1:
        told = ", ".join(f'"{name}" {count:,}' for name, count in counts.items())
        raise ValueError(f"The arrays are no longer of one length ({told}): open the file again.")
    n = next(iter(counts.values()))
    keys = found[by][:].cpu().flatten() if by else None
    if given:
        first = columns[0]
        lengths = np.diff(found[first["name"]].starts)
        numbers = [("train", "validation", "test").index(split) for split, _, _ in first["files"]]
        keys = torch.from_numpy(np.repeat(numbers, lengths))
    of = {column["name"]: column.get("role", "input") for column in columns}
    inputs = [found[name] for name, role in of.items() if role == "input"]
    of_classes = [found[one["name"]] for one in columns if "classes" in one and of[one["name"]] == "target"]
    classes = of_classes[0][:].cpu() if of_classes and "balance" in splitting else None
    rows = split_rows(n, keys, splitter, splitting, inputs, classes)
    kept = {
        column["name"]: found[column["name"]]
        for column in columns
        if column.get("role", "input") in ("input", "target", "weight")
    }
    for column in columns:
        scaled = column.get("role", "input") == "input" and kept[column["name"]].is_floating_point()
        if scaled and values != "as they are":
            kept[column["name"]].fit(values, rows["train"])
    if sum(one.numel() * one.dtype.itemsize for one in kept.values()) > memory * 2**20:
        return split_columns(kept, rows, device)
    return split_columns({name: in_memory(one) for name, one in kept.items()}, rows, device)


def stored_column(
    folder: Path,
    device: str,
    axes: str,
    memory: int,
    *,
    name: str,
    files: tuple[tuple[str, str, str], ...],
    size: tuple[int, ...],
    role: str = "input",
    classes: tuple[Any, ...] = (),
    whole: bool = False,
    span: tuple[int, int] = (0, 0),
    hot: bool = False,
) -> Stored:
    """One column of `load_arrays`. Errors: `ValueError` where its files changed."""
    parts = [FileRows(folder / file, key, memory * 2**20) for _, file, key in files]
    for part, (_, file, _) in zip(parts, files, strict=True):
        if tuple(part.array.shape[1:]) != tuple(size):
            raise ValueError(
                f'"{name}" in {file} is now of shape {part.array.shape} and no longer made of rows of '
                f"{tuple(size)}: open the file again."
            )
    axes = axes if role == "input" else "as they are"
    return Stored(name, parts, device, axes, whole, span, classes, hot)


def in_memory(column: Stored) -> Tensor:
    """All rows of a column, read a block at a time, so that the file's own form is never there as a whole."""
    whole = torch.empty(column.shape, dtype=column.dtype)
    block = max(1, 2**22 // max(1, column.shape[1:].numel()))
    for first in range(0, len(column), block):
        tell(first, len(column), "rows")
        whole[first : first + block] = column.read(torch.arange(first, min(first + block, len(column))))
    return whole
