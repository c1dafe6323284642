"""Arrays of a file as columns: which belong together, what each may mean, what the user should know."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.catalogue.traits import FileForm
from engine.data.array_files import FileRows
from engine.data.array_reading import stored_array
from engine.data.open.opening import Opened, reader, stamp
from engine.data.tables.reading import column_names
from engine.data.watch import Watch
from engine.errors import DataError, reason_of
from engine.values import Value

SPLITS = {
    **dict.fromkeys(("train", "training", "trn"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev"), "validation"),
    **dict.fromkeys(("test", "testing", "tst", "t10k"), "test"),
}
TARGETS = {
    "y",
    "label",
    "labels",
    "target",
    "targets",
    "class",
    "classes",
    "output",
    "outputs",
    "digit",
    "lbl",
}
INPUTS = {
    "x",
    "data",
    "features",
    "feature",
    "image",
    "images",
    "input",
    "inputs",
    "values",
    "samples",
    "points",
}
_ROLES = {
    "group": {"group", "groups", "subject", "subjects", "patient", "patients"},
    "weight": {"weight", "weights"},
    "ignore": {"id", "ids", "index", "indices"},
    "split": {"split", "splits"},
    "time": {"time", "times", "timestamp", "timestamps"},
}
MOST_CLASSES = 1000
LOOKED_AT = 2**31  # bytes of an array that are looked through for values that are missing
READ = 2**30  # bytes that a compressed array may fill when it is opened


@dataclass(frozen=True)
class Found:
    """An array in a file: shape with the rows, and what its name says of it."""

    file: str
    key: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    base: str
    split: str = ""

    @property
    def said(self) -> str:
        return f'"{self.key}"' if self.key else self.file


@dataclass
class Column:
    """Arrays of one name, one a split, and what is guessed of them."""

    name: str
    parts: list[Found]
    kind: str = "number"
    role: str = "input"
    classes: tuple[Value, ...] = ()
    names: tuple[str, ...] = ()
    remarks: list[str] = field(default_factory=list)
    hot: bool = False  # every row is a single 1 among zeros
    either: bool = False  # every number is 0 or 1

    @property
    def size(self) -> tuple[int, ...]:
        return self.parts[0].shape[1:]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.parts[0].dtype

    @property
    def rows(self) -> int:
        return sum(part.shape[0] for part in self.parts)

    def entry(self) -> tuple[Value, ...]:
        """As the node keeps it."""
        files = tuple((part.split, part.file, part.key) for part in self.parts)
        alike = str(self.dtype) if len({part.dtype for part in self.parts}) == 1 else ""
        return (self.name, self.kind, self.role, self.size, self.classes, files, self.names, alike)


def parted(stem: str) -> tuple[str, str]:
    """A name as (what it is, the split it is for): "x_train" is ("x", "train")."""
    stem = re.sub(r"[-.]?idx\d?([-.]u?byte)?$|-ubyte$", "", stem)
    glued = re.fullmatch("(x|y)(train|test|val|valid)", stem, re.IGNORECASE)
    words = list(glued.groups()) if glued else re.split(r"[_\-. ]+", stem)
    splits = [word for word in words if word.casefold() in SPLITS]
    if len(splits) != 1:
        return stem, ""
    rest = "_".join(word for word in words if word != splits[0])
    return rest or "values", SPLITS[splits[0].casefold()]


def words_of(name: str) -> set[str]:
    return {word for word in re.split(r"[^a-z]+", name.casefold()) if word}


def opened(path: Path, found: Sequence[Found], watch: Watch, remarks: list[str]) -> Opened:
    """The node for arrays that belong together. Errors: `DataError`."""
    columns = as_columns(found, remarks)
    for column, name in zip(columns, column_names([column.name for column in columns]), strict=True):
        column.name = name
    aside = {one.base: one for one in found if all(one not in column.parts for column in columns)}
    for number, column in enumerate(columns):
        _look_through(path.parent, column, partial(_tell, watch, number, len(columns)))
        remarks += column.remarks
    _as_one_hot(columns, remarks)
    _name_classes(path.parent, columns, aside, remarks)
    remarks += [
        f"{one.said} of shape {sizes_of(one.shape)} is left out: it has not as many rows."
        for one in aside.values()
    ]
    _give_roles(columns)
    values, axes = _guess(columns, remarks)
    splits = [
        split for split in ("train", "validation", "test") if split in {p.split for p in columns[0].parts}
    ]
    if len(splits) > 1:
        said = ", ".join(
            f"{sum(p.shape[0] for p in columns[0].parts if p.split == s):,} for {s}" for s in splits
        )
        remarks.append(f"Rows are split as the names say: {said}.")
    if len({part.file for column in columns for part in column.parts}) > 1:
        files = dict.fromkeys(part.file for column in columns for part in column.parts)
        remarks.append(f"Read together: {', '.join(files)}.")
    params: dict[str, Value] = {
        "path": str(path),
        "table": tuple(column.entry() for column in columns),
        "rows": columns[0].rows,
        "stamp": stamp(path),
        "values": values,
        "axes": axes,
    }
    if len(splits) > 1:
        params["split"] = "as given"
    return Opened(reader(FileForm.ARRAYS), params, parted(path.name.split(".")[0])[0], tuple(remarks))


def _tell(watch: Watch, number: int, count: int, share: float) -> None:
    watch.look((number + share) / count, "reading")


def as_columns(found: Sequence[Found], remarks: list[str]) -> list[Column]:
    """Arrays of one number of rows, those of one name and several splits as one column."""
    named: dict[str, list[Found]] = {}
    for one in found:
        named.setdefault(one.base, []).append(one)
    several = {base: parts for base, parts in named.items() if len({part.split for part in parts}) > 1}
    groups: dict[tuple[tuple[str, int], ...], list[Column]] = {}
    if several:
        for base, parts in several.items():
            parts.sort(key=lambda part: list(SPLITS.values()).index(part.split) if part.split else -1)
            if len({part.shape[1:] for part in parts}) > 1:
                shapes = ", ".join(f"{part.said} {sizes_of(part.shape)}" for part in parts)
                raise DataError(f"The splits of {base} have rows of different shapes: {shapes}.")
            lengths = tuple((part.split, part.shape[0]) for part in parts)
            groups.setdefault(lengths, []).append(Column(base, parts))
    else:
        for one in found:
            groups.setdefault((("", one.shape[0]),), []).append(
                Column(one.base if one.split else _own(one), [one])
            )
    return max(groups.values(), key=lambda columns: (len(columns), columns[0].rows))


def _own(found: Found) -> str:
    return (found.key.partition("//")[2] or found.key or found.base).strip() or "values"


def _look_through(folder: Path, column: Column, look: Callable[[float], None]) -> None:
    """Find classes, values that are missing and numbers that float32 cannot hold."""
    values: set[Any] | None = set() if math.prod(column.size) == 1 else None
    column.hot = len(column.size) == 1 and 2 <= column.size[0] <= MOST_CLASSES and column.dtype.kind in "biuf"
    column.either = column.hot
    missing = infinite = large = seen = 0
    kind = column.dtype.kind
    everything = sum(math.prod(part.shape) * part.dtype.itemsize for part in column.parts)
    for part in column.parts:
        try:
            rows = FileRows(folder / part.file, part.key, READ)
        except ValueError as error:
            column.remarks.append(f"Its values were not looked at: {reason_of(error)}")
            column.hot = column.either = False
            continue
        step = max(1, 2**24 // max(1, math.prod(part.shape[1:]) * part.dtype.itemsize))
        for first in range(0, part.shape[0], step):
            look(seen / max(1, everything))
            if seen > LOOKED_AT or (kind in "bu" and values is None and not column.either):
                break
            block = rows.take(np.arange(first, min(first + step, part.shape[0])))
            seen += block.nbytes
            if kind == "f":
                missing += int(np.isnan(block).sum())
                infinite += int(np.isinf(block).sum())
            elif kind in "iu" and block.dtype.itemsize > 2:
                large += int((np.abs(block.astype(np.float64)) > 2**24).sum())
            values = _more_values(values, block)
            column.either = column.either and bool(((block == 0) | (block == 1)).all())
            column.hot = column.hot and bool(
                ((block == 1).sum(1) == 1).all() and ((block != 0).sum(1) == 1).all()
            )
    if seen > LOOKED_AT:
        column.remarks.append(f"{column.name}: only its first {seen / 2**30:.1f} GiB were looked through.")
    for count, what in ((missing, "missing (NaN)"), (infinite, "infinite")):
        if count:
            is_are = "value is" if count == 1 else "values are"
            column.remarks.append(
                f"{column.name}: {count:,} {is_are} {what}; a network cannot learn from them."
            )
    if kind == "f" and column.dtype.itemsize > 4:
        column.remarks.append(
            f"{column.name} is kept with {column.dtype.itemsize * 8} bits and read with 32."
        )
    whole = not missing and not infinite
    _as_classes(column, values if whole else None)
    if large and column.kind != "category":
        column.remarks.append(
            f"{column.name}: {large:,} whole numbers beyond 16,777,216 lose their last digits."
        )


def _more_values(values: set[Any] | None, block: np.ndarray[Any, Any]) -> set[Any] | None:
    """The different values so far; None where they are too many, or no whole numbers, for classes."""
    if values is None or (block.dtype.kind == "f" and not (block == np.round(block)).all()):
        return None
    values = values | set(np.unique(block).tolist())
    return values if len(values) <= MOST_CLASSES else None


def _as_classes(column: Column, values: set[Any] | None) -> None:
    kind = column.dtype.kind
    few = values is not None and (
        kind in "US" or len(values) <= max(20, min(MOST_CLASSES, column.rows // 10))
    )
    if kind == "S" and few:
        try:
            values = {value.decode("utf-8") for value in values or ()}
        except UnicodeDecodeError:
            few = False
    labelled = bool(words_of(column.name) & TARGETS)
    if few and values and (kind in "USb" or (labelled and kind in "iuf") or kind in "iu"):
        column.kind = "category"
        column.classes = tuple(sorted(int(value) if isinstance(value, float) else value for value in values))
        if kind in "iuf" and column.classes != tuple(range(len(column.classes))):
            said = f"{column.classes[0]} to {column.classes[-1]}"
            column.remarks.append(
                f"{column.name} holds {len(column.classes):,} labels, {said}: classes with these names."
            )
    elif kind in "US":
        column.role = "ignore"
        column.remarks.append(
            f"{column.name} holds more different texts than classes can be: it is left out."
        )
    elif kind in "iu":
        column.kind = "whole"


def _as_one_hot(columns: Sequence[Column], remarks: list[str]) -> None:
    """Rows of a single 1 are classes where the column is called a target, or nothing else could be one."""
    named = {column.name for column in columns if words_of(column.name) & TARGETS}
    for column in columns:
        if column.either and not column.hot and column.name in named and len(columns) > 1:
            column.kind = "yes-no"
            remarks.append(f"{column.name} has {column.size[0]:,} labels a row, each 0 or 1: yes or no.")
        others = [other for other in columns if other is not column]
        larger = any(math.prod(other.size) > column.size[0] for other in others) if column.hot else False
        free = larger and not named and all(other.kind != "category" and not other.hot for other in others)
        if column.hot and (free or (column.name in named and others)):
            column.kind, column.classes = "one-hot", tuple(range(column.size[0]))
            remarks[:] = [said for said in remarks if said not in column.remarks]  # on its numbers
            remarks.append(
                f"{column.name} has a single 1 in each row: {column.size[0]:,} classes, by its place "
                '("Labels are").'
            )


def _name_classes(
    folder: Path, columns: Iterable[Column], aside: dict[str, Found], remarks: list[str]
) -> None:
    """Texts beside, as many as there are classes, are the names of the classes."""
    for base, one in list(aside.items()):
        for column in columns:
            plain = column.classes == tuple(range(len(column.classes)))
            if one.dtype.kind in "US" and plain and one.shape == (len(column.classes),):
                names = stored_array(folder / one.file, one.key, READ)
                names = np.char.decode(names, "utf-8") if names.dtype.kind == "S" else names
                column.names = tuple(str(name) for name in names)
                remarks.append(f"{one.said} names the classes of {column.name}.")
                del aside[base]
                break


def _give_roles(columns: list[Column]) -> None:
    free = [column for column in columns if column.role == "input"]
    for column in free:
        words = words_of(column.name)
        if math.prod(column.size) == 1 and column.kind != "one-hot":
            for role, meant in _ROLES.items():
                if words & meant and (role != "group" or column.kind != "number"):
                    column.role = role
    free = [column for column in free if column.role == "input"]
    targets = [column for column in free if words_of(column.name) & TARGETS]
    if not targets:
        targets = [column for column in free if column.kind in ("category", "one-hot")][-1:]
    if not targets and len(free) > 1 and math.prod(free[-1].size) == 1:
        targets = free[-1:]
    if len(targets) < len(free):
        for column in targets:
            column.role = "target"
    columns.sort(
        key=lambda column: ("input", "target").index(column.role) if column.role in ("input", "target") else 2
    )


def _guess(columns: Sequence[Column], remarks: list[str]) -> tuple[str, str]:
    """What becomes of inputs' values, and of the axes of images."""
    images = [column for column in columns if column.role == "input" and len(column.size) >= 2]
    values, axes = "as they are", "as they are"
    if any(column.dtype == np.uint8 for column in images):
        values = "0 to 1"
        remarks.append("Whole numbers from 0 to 255 are taken for grey levels and divided by 255.")
    for column in images:
        size = column.size
        named = bool(words_of(column.name) & {"image", "images", "img", "imgs"}) or column.dtype == np.uint8
        if len(size) == 2 and named and min(size) >= 4:
            axes = "add a channel"
        elif len(size) == 3 and size[2] in (1, 3, 4) and size[0] not in (1, 3, 4):
            axes = "channels first"
            remarks.append(
                f"Images of {sizes_of(size)} have their channels last: they are moved to the front."
            )
    return values, axes


def sizes_of(shape: Sequence[int]) -> str:
    return "×".join(f"{one:,}" for one in shape) or "one value"
