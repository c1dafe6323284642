"""Images in a NumPy archive

Exported from Neuroloom. Needs torch and numpy only.

    python images_in_a_numpy_archive.py --data FOLDER --epochs 15

FOLDER holds small_digits.npz; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 64, 15


class Lazy:
    """Rows of a file as (N, *size) of `dtype`; `picked` are their numbers in the file, all by default.

    A subclass overrides `read`. Rows arrive on `device`, whatever device their numbers are on.
    """

    def __init__(
        self, count: int, size: tuple[int, ...], dtype: torch.dtype, device: str, picked: Tensor | None = None
    ) -> None:
        self.picked = torch.arange(count) if picked is None else picked
        self.dtype = dtype
        self.device = torch.device(device)
        self.shape = torch.Size((len(self.picked), *size))

    def read(self, rows: Tensor) -> Tensor:
        """Rows of the file by number (int64, on the CPU) as (len(rows), *size) of `dtype`, on the CPU."""
        raise NotImplementedError

    def at(self, rows: Tensor) -> Lazy:
        """These rows of the column, as a column."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.picked = self.picked[rows.cpu()]
        other.shape = torch.Size((len(other.picked), *self.shape[1:]))
        return other

    def __len__(self) -> int:
        return len(self.picked)

    def __getitem__(self, rows: Any) -> Tensor:
        """One row by number, or several by a slice or a tensor of numbers."""
        if isinstance(rows, int):
            return self[torch.tensor([range(len(self))[rows]])][0]
        asked = self.picked[rows.cpu() if isinstance(rows, Tensor) else rows]
        return self.read(asked).to(self.device)

    def index_select(self, dim: int, rows: Tensor) -> Tensor:
        """Rows by number, as of a tensor; `dim` is 0."""
        return self[rows]

    def dim(self) -> int:
        return len(self.shape)

    def numel(self) -> int:
        return self.shape.numel()

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point


def npz_member(path: Path, key: str) -> tuple[Any, int]:
    """A member's entry in an `.npz` file, and the byte where it begins (-1 where it is compressed)."""
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            entry = archive.getinfo(key + ".npy")
    except KeyError:
        raise ValueError(f'There is no array "{key}" in {path.name} any more: open it again.') from None
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise ValueError(f"{path.name} is not a whole .npz file: {error}.") from error
    if entry.flag_bits & 1:
        raise ValueError(f'"{key}" in {path.name} is locked with a password: save it without.')
    if entry.compress_type != zipfile.ZIP_STORED:
        return entry, -1
    with open(path, "rb") as file:
        file.seek(
            entry.header_offset + 26
        )  # a local header repeats the name, with an extra of its own length
        lengths = file.read(4)
    begin = entry.header_offset + 30 + int.from_bytes(lengths[:2], "little")
    return entry, begin + int.from_bytes(lengths[2:], "little")


def npy_header(file: Any, name: str, size: int) -> tuple[tuple[int, ...], bool, Any, int]:
    """Shape, whether it lies column by column, dtype, and byte where the numbers begin, of an `.npy` file.

    `size` is how many bytes the file has; nothing is believed that it has no room for. Errors: `ValueError`.
    """
    import ast

    magic = file.read(8)
    if magic[:6] != b"\x93NUMPY":
        raise ValueError(f"{name} is not a NumPy array: it begins with {magic[:6].hex(' ') or 'nothing'}.")
    version = magic[6:7].hex().lstrip("0") or "0"
    if version not in ("1", "2", "3"):
        raise ValueError(
            f"{name} is in version {version} of NumPy's format; versions 1 to 3 can be read: save it again."
        )
    width = 2 if version == "1" else 4
    length = int.from_bytes(file.read(width), "little")
    begin = 8 + width + length
    if len(magic) < 8 or begin > size:
        raise ValueError(f"{name} ends within its header, after {size:,} bytes: it is cut short.")
    text = file.read(min(length, 2**22)).decode("utf-8" if version == "3" else "latin-1", "replace")
    try:
        said = ast.literal_eval(text.strip().replace("L,", ",").replace("L)", ")"))  # Python 2 wrote 10L
        shape, by_column, form = said["shape"], said["fortran_order"], said["descr"]
        dtype = np.lib.format.descr_to_dtype(form)
        sound = isinstance(by_column, bool) and all(type(one) is int and one >= 0 for one in shape)
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError):
        sound = False
    if not sound:
        raise ValueError(f"The header of {name} cannot be understood: it is damaged.")
    if dtype.hasobject:
        raise ValueError(
            f"{name} holds Python objects, which could run code when read: save numbers or texts instead."
        )
    needed = math.prod(shape) * dtype.itemsize
    if begin + needed > size:
        raise ValueError(
            f"{name} says it holds {needed:,} bytes of numbers, but has {size - begin:,}: it is cut short."
        )
    return tuple(shape), by_column, dtype, begin


def mapped(
    path: Path, shape: tuple[int, ...], by_column: bool, dtype: Any, begin: int
) -> np.ndarray[Any, Any]:
    """Numbers that stay in their file from byte `begin` on."""
    if not math.prod(shape) * dtype.itemsize:
        return np.empty(shape, dtype)  # nothing cannot be mapped
    order: Any = "F" if by_column else "C"
    return np.memmap(path, dtype, "r", begin, shape, order)


def stored_npz(path: Path, key: str, most: int) -> np.ndarray[Any, Any]:
    """An array of an `.npz` file: mapped if it was saved uncompressed, else read. Errors: `ValueError`."""
    import zipfile
    import zlib

    name = f'"{key}" in {path.name}'
    entry, begin = npz_member(path, key)
    if begin >= 0:
        with open(path, "rb") as file:
            file.seek(begin)
            room = min(entry.file_size, path.stat().st_size - begin)
            shape, by_column, dtype, at = npy_header(file, name, room)
        return mapped(path, shape, by_column, dtype, begin + at)
    try:
        with zipfile.ZipFile(path) as archive, archive.open(entry) as file:
            shape, by_column, dtype, _ = npy_header(file, name, entry.file_size)
            needed = math.prod(shape) * dtype.itemsize
            if needed > most:
                raise ValueError(
                    f"{name} is compressed, so it cannot stay on disk, and fills {needed / 2**20:,.0f} MiB "
                    f"of memory where {most / 2**20:,.0f} are allowed: allow more, or use numpy.savez."
                )
            raw = file.read(needed)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ValueError(f"{name} is damaged: {error}.") from error
    if len(raw) < needed:
        raise ValueError(f"{name} is cut short: {needed - len(raw):,} bytes are missing.")
    return np.frombuffer(raw, dtype).reshape(shape, order="F" if by_column else "C")


def idx_header(file: Any, name: str) -> tuple[tuple[int, ...], Any, int]:
    """Shape, dtype and byte where the numbers begin, of an IDX file. Errors: `ValueError`."""
    kinds = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in kinds or not magic[3]:
        raise ValueError(f"{name} is not an IDX file: it begins with {magic.hex(' ') or 'nothing'}.")
    sizes = file.read(4 * magic[3])
    if len(sizes) < 4 * magic[3]:
        raise ValueError(f"{name} ends within its header: it is cut short.")
    shape = tuple(int(one) for one in np.frombuffer(sizes, ">u4"))
    return shape, np.dtype(kinds[magic[2]]), 4 + 4 * magic[3]


def stored_idx(path: Path, most: int) -> np.ndarray[Any, Any]:
    """The array of an IDX file: mapped, or read where the file is compressed. Errors: `ValueError`."""
    import zlib

    packed = path.name.casefold().endswith(".gz")
    opened = gzip.open if packed else open
    try:
        with opened(path, "rb") as file:
            shape, dtype, begin = idx_header(file, path.name)
            needed = math.prod(shape) * dtype.itemsize
            if not packed:
                held = path.stat().st_size - begin
            elif needed > most:
                raise ValueError(
                    f"{path.name} is compressed, so it cannot stay on disk, and says that it fills "
                    f"{needed / 2**20:,.0f} MiB of memory where {most / 2**20:,.0f} are allowed: "
                    "allow more, or unpack it."
                )
            else:
                raw = file.read(needed + 1)
                held = len(raw)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path.name} cannot be unpacked: it is damaged or cut short.") from error
    if held != needed:
        less = "only " if held < needed else "more: "
        raise ValueError(f"{path.name} says it holds {needed:,} bytes of numbers, but has {less}{held:,}.")
    return np.frombuffer(raw, dtype).reshape(shape) if packed else mapped(path, shape, False, dtype, begin)


def stored_array(path: Path, key: str, most: int) -> np.ndarray[Any, Any]:
    """The array of a file (`key`: which of an `.npz`; behind "//" a field of records), read if it must be.

    At most `most` bytes are read. Errors: `ValueError`, `OSError`.
    """
    if not path.is_file():
        raise FileNotFoundError(f"There is no {path}: choose the file again.")
    name = path.name.casefold()
    key, _, part = key.partition("//")
    if name.endswith(".npz"):
        found = stored_npz(path, key, most)
    elif name.endswith((".idx", "-ubyte", ".gz")):
        found = stored_idx(path, most)
    else:
        with open(path, "rb") as file:
            shape, by_column, dtype, begin = npy_header(file, path.name, path.stat().st_size)
        found = mapped(path, shape, by_column, dtype, begin)
    if part and part not in (found.dtype.names or ()):
        raise ValueError(f'There is no field "{part}" in {path.name} any more: open it again.')
    return found[part] if part else found


class FileRows:
    """Rows of an array in a file. What was mapped is let go from time to time, so that it doesn't add up.

    The system counts every page that was ever looked at as memory of ours, until the file is mapped anew.
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
    `classes` are the values that stand for classes 0, 1, ... What `fit` finds is subtracted and divided by.
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
    ) -> None:
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
        if self.classes is not None:
            return self.numbered(found.reshape(len(found)), asked)
        whole = not self.dtype.is_floating_point
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
                f'"{self.name}" is {found[strange[0]]} in row {asked[strange[0]] + 1:,}, which is none of '
                f"its {len(self.classes):,} classes: open the file again."
            )
        return torch.from_numpy(at.astype(np.int64))

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
    return Stored(name, parts, device, axes, whole, span, classes)


def dealt_columns(columns: dict[str, Any], rows: dict[str, Tensor], device: str) -> dict[str, dict[str, Any]]:
    """Each split's part of every column, tensors (N, ...) on `device`; lazy columns stay in their files.

    Errors: `ValueError` where a split has no row.
    """
    empty = [split for split, at in rows.items() if not len(at)]
    if empty:
        count = sum(len(at) for at in rows.values())
        raise ValueError(
            f"Of {count:,} rows none is left for {empty[0]}: give it a larger share, or more rows."
        )
    return {
        split: {
            name: values.at(at) if isinstance(values, Lazy) else values[at].to(device)
            for name, values in columns.items()
        }
        for split, at in rows.items()
    }


def in_memory(column: Stored) -> Tensor:
    """All rows of a column, read a block at a time, so that the file's own form is never there as a whole."""
    whole = torch.empty(column.shape, dtype=column.dtype)
    block = max(1, 2**22 // max(1, column.shape[1:].numel()))
    for first in range(0, len(column), block):
        whole[first : first + block] = column.read(torch.arange(first, min(first + block, len(column))))
    return whole


def load_arrays(
    folder: Path,
    device: str,
    *,
    columns: tuple[dict[str, Any], ...],
    values: str,
    axes: str,
    memory: int,
    deal: Callable[..., dict[str, Tensor]],
    by: str = "",
    given: bool = False,
    **dealing: Any,
) -> dict[str, dict[str, Any]]:
    """Arrays of one length as {split: {column: (N, ...)}}; they stay in their files above `memory` MiB.

    Each of `columns` is {"name", "files": ((split, file, key), ...), "size"} and, where it has them, "role",
    "classes", "whole" and "span". `values` is what becomes of inputs: "as they are", "0 to 1" or
    "standardise"; `axes` what becomes of those of images. The dealer looks at the column `by`; where the
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
    rows = deal(n, keys, **dealing)
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
        return dealt_columns(kept, rows, device)
    return dealt_columns({name: in_memory(one) for name, one in kept.items()}, rows, device)


def dealt_by_class(
    n: int, keys: Tensor | None, *, validation: float, test: float, seed: int
) -> dict[str, Tensor]:
    """Every class of `keys` alike in every split, as far as its rows go."""
    assert keys is not None
    shuffle = torch.Generator().manual_seed(seed)
    order = torch.randperm(n, generator=shuffle)
    by_class = order[keys[order].argsort(stable=True)]
    at = torch.arange(n + 1)
    into_test = (at * round(test * n) // max(n, 1)).diff() > 0  # rises evenly, so each class gives its part
    rest = by_class[~into_test]
    at = torch.arange(len(rest) + 1)
    held = (at * round(validation * n) // max(len(rest), 1)).diff() > 0
    parts = {"train": rest[~held], "validation": rest[held], "test": by_class[into_test]}
    return {
        split: rows[torch.randperm(len(rows), generator=shuffle)] for split, rows in parts.items()
    }  # what was sorted by class must not stay so


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.edges = nn.Conv2d(1, 16, kernel_size=3)
        self.digit = nn.Linear(576, 10)

    def forward(self, images: Tensor) -> Tensor:  # (N, 1, 8, 8)
        x = F.relu(self.edges(images))            # (N, 16, 6, 6)
        x = x.flatten(1)                          # (N, 576)
        return self.digit(x)                      # (N, 10)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    digit = model(batch["images"])
    return {"loss": F.cross_entropy(digit, batch["labels"])}


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    digit = model(batch["images"])
    return {
        "loss": F.cross_entropy(digit, batch["labels"]),
        "accuracy": (digit.argmax(1) == batch["labels"]).float().mean(),
    }


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: images (N, 1, 8, 8); labels (N,)."""
    return load_arrays(
        folder,
        device,
        columns=(
            {"name": "images", "files": (("", "small_digits.npz", "images"),), "size": (8, 8)},
            {
                "name": "labels",
                "files": (("", "small_digits.npz", "labels"),),
                "size": (),
                "role": "target",
                "classes": (0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
            },
        ),
        values="0 to 1",
        axes="add a channel",
        memory=1024,
        by="labels",
        deal=dealt_by_class,
        validation=0.2,
        test=0.2,
        seed=0,
    )


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["images"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(BATCH):
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}


@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over a split, with dropout off."""
    model.eval()
    n = 0
    sums: dict[str, float] = {}
    for batch in batches(split):
        size = len(batch["images"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.003)


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    optimiser = optimiser_for(model)
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    best = float("inf")
    kept = None
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle):
            optimiser.zero_grad()
            loss = objective(model, batch)["loss"]
            value = loss.item()
            if not math.isfinite(value):
                raise SystemExit(f"The loss is {value} after {step} steps: a lower rate may help.")
            loss.backward()
            optimiser.step()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)
        if found["loss"] < best:
            best = found["loss"]
            kept = {name: value.clone() for name, value in model.state_dict().items()}
    if kept is not None:
        model.load_state_dict(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description="Images in a NumPy archive")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).parent / "files",
        help="folder that holds small_digits.npz",
    )
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.set_num_threads(1)  # faster than several for so small a network
    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.data, args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
