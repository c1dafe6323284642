"""Arrays of NumPy's files and IDX files: read whole, each a column of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.emit.sources.parts import literal, tuple_text
from engine.emit.sources.splitting import split_lines
from engine.emit.sources.straight import Reading, Straight
from engine.emit.statements import Statement, tree, under

SPLITTING = ("splitter", "validation", "test", "folds", "fold", "gap", "seed", "repeats", "balance")
PARTS = ("train", "validation", "test")
OWN = (
    *("arrays", "error", "classes", "odd", "ones", "rows", "keys", "columns", "known", "low", "high", "raw"),
    *("mean", "variance", "deviation", "part", "found", "more", "away", "count", "squares", "values"),
    *("name", "at"),
)
BLOCK = 2**22  # numbers that are looked at at once

READ = """
try:
    <reads>
except Exception as error:  # a damaged file may fail in any way
    raise SystemExit(f"{folder} no longer holds what it did: {error}") from error
"""

SOUND = """
if $name.shape != (len($first)$size)$kind:
    raise SystemExit(f"$title in {folder} changed: it is {$name.dtype} of shape {$name.shape} now.")
"""

CLASSES = """
$name = np.char.decode($name, "utf-8")  #? bytes
classes = $classes
$name = $name.reshape(-1)  #? flat
odd = $name[~np.isin($name, classes)]
if len(odd):
    raise SystemExit(f"$title in {folder} has {odd[0]}, which is none of its classes.")
$name = np.searchsorted(classes, $name)
"""

HOT = """
ones = $name == 1
if not ((ones.sum(1) == 1) & (ones | ($name == 0)).all(1)).all():
    raise SystemExit(f"$title in {folder} has rows that are no single 1 among zeros.")
"""

RANGE = """
known = $value[rows["train"]].double()
low, high = known.min(), known.max()
if not (high - low).isfinite():
    raise SystemExit(f"$title in {folder} has values that are missing or infinite.")
$value = ($value - low.float()) / torch.where((high - low).float() > 1e-12, (high - low).float(), 1.0)
"""

MOMENTS = """
known = $value[rows["train"].sort().values].double()
mean = known.mean($over, keepdim=True)[0]
variance = ((known - mean) ** 2).sum($over, keepdim=True)[0] / (known.numel() // mean.numel())
deviation = variance.sqrt().float()
if not deviation.isfinite().all():
    raise SystemExit(f"$title in {folder} has values that are missing or infinite.")
$value = ($value - mean.float()) / torch.where(deviation > 1e-12, deviation, 1.0)
"""

LARGE_MOMENTS = """
count, mean, squares = 0, torch.zeros(()).double(), torch.zeros(()).double()
for part in $value[rows["train"].sort().values].split($length):
    known = part.double()
    found = known.mean($over, keepdim=True)[0]
    more = known.numel() // found.numel()
    away, count = found - mean, count + more
    squares = squares + ((known - found) ** 2).sum($over, keepdim=True)[0]
    squares = squares + away**2 * ((count - more) * more / count)  # Chan and others, 1979
    mean = mean + away * (more / count)
deviation = (squares / count).sqrt().float()
if not deviation.isfinite().all():
    raise SystemExit(f"$title in {folder} has values that are missing or infinite.")
$value = ($value - mean.float()) / torch.where(deviation > 1e-12, deviation, 1.0)
"""


@dataclass(frozen=True)
class Array:
    """A column, the variable that holds its arrays, and the type that they were of."""

    variable: str
    dtype: np.dtype[Any]
    name: str
    files: tuple[tuple[str, str, str], ...]
    size: tuple[int, ...]
    role: str = "input"
    classes: tuple[Any, ...] = ()
    whole: bool = False
    span: tuple[int, int] = (0, 0)
    hot: bool = False

    @property
    def value(self) -> str:
        """Where its values are in the end."""
        return f"columns[{literal(self.name)}]"

    @property
    def numbers(self) -> bool:
        """Whether its values are measurements."""
        return not self.classes and not self.whole

    def row(self) -> int:
        """How many numbers a row is."""
        first, last = self.span
        return math.prod((*self.size[:-1], last - first) if last else self.size)


def write_arrays(reading: Reading) -> Straight | None:
    """The lines for `load_arrays`; None where values stay in their files, or what they hold is not known."""
    how, data = reading.options, reading.data
    dtypes = data.dtypes()
    if not all(one["name"] in dtypes for one in how["columns"]):
        return None
    for name in OWN:
        reading.names.give(name)
    variables: dict[Any, str] = {}
    for one in how["columns"]:
        if one["files"] not in variables:
            variables[one["files"]] = reading.names.give(one["name"])
    if any("classes" in one and one.get("span") for one in how["columns"]):
        return None  # the last features of an array are classes
    every = [Array(variables[one["files"]], np.dtype(dtypes[one["name"]]), **one) for one in how["columns"]]
    rows, kept = data.row_count(), [one for one in every if one.role in ("input", "target", "weight")]
    if rows * sum(one.row() * (4 if one.numbers else 8) for one in kept) > how["memory"] * 2**20 or not rows:
        return None
    by = next((one for one in every if one.name == how.get("by")), None)
    inputs = [one for one in kept if one.role == "input"]
    labels = next((one for one in kept if one.classes and one.role == "target"), None)
    asked = {*reading.wanted, *([labels.name] if labels and "balance" in how else [])}
    asked |= {one.name for one in inputs if "repeats" in how} | ({by.name} if by in kept and by else set())
    lines = tree(READ, reads=_reads(every, reading))
    for one in {one.variable: one for one in every}.values():
        lines += _sound(one, every[0], how["values"])
    for one in every:
        if one.classes and (one.name in asked or one is by):
            lines += _classes(one)
    keys = "keys" if how.get("given") else "None"
    if by is not None:
        values = by.value if by in kept else _tensor(by, how)
        keys = values if by.classes else f"{values}.flatten()"
    items = [Statement(f"{literal(one.name)}: {_tensor(one, how)},") for one in kept if one.name in asked]
    lines += [under("columns = {", items), Statement("}")]
    if how.get("given"):
        parts = [f"np.full(len({name}), {PARTS.index(split)})" for name, split in _parts(every[0], reading)]
        lines += tree("keys = torch.from_numpy(np.concatenate([$parts]))", parts=", ".join(parts))
    splitting = {name: how[name] for name in SPLITTING if name in how}
    raw = [one.value for one in inputs]
    count = f"len({every[0].variable})"
    split, carries = split_lines(splitting, count, keys, raw, "" if labels is None else labels.value)
    lines += split
    for one in inputs:
        if one.name in reading.wanted and one.numbers:
            lines += _scaled(one, how, rows)
    named = (
        ""
        if asked <= {*reading.wanted}
        else f" if name in {tuple_text([literal(one) for one in reading.wanted])}"
    )
    part = f"{{name: values[at].to(device) for name, values in columns.items(){named}}}"
    return Straight(lines, f"{{split: {part} for split, at in rows.items()}}", carries)


def _parts(one: Array, reading: Reading) -> list[tuple[str, str]]:
    """The variable of each file that a column is in, and the split it is for."""
    if len(one.files) == 1:
        return [(one.variable, one.files[0][0])]
    return [(f"{one.variable}_{at}", split) for at, (split, _, _) in enumerate(one.files, 1)]


def _reads(every: Sequence[Array], reading: Reading) -> list[Statement]:
    """Lines that read each file once, and put together what is in several."""
    wanted: dict[str, dict[str, tuple[str, np.dtype[Any], int]]] = {}
    lines, joined = [], []
    for one in {one.variable: one for one in every}.values():
        parts = [name for name, _ in _parts(one, reading)]
        for part, (_, file, key) in zip(parts, one.files, strict=True):
            wanted.setdefault(file, {})[part] = (key, one.dtype, len(one.size) + 1)
        if len(parts) > 1:
            joined += tree("$name = np.concatenate([$parts])", name=one.variable, parts=", ".join(parts))
    for file, arrays in wanted.items():
        place, name = f"folder / {literal(file)}", file.casefold()
        if name.endswith(".npz"):
            reads = [Statement(f"arrays{_keyed(key)}", target=part) for part, (key, _, _) in arrays.items()]
            lines.append(under(f"with np.load({place}) as arrays:", reads))
        elif name.endswith((".idx", "-ubyte", ".gz")):
            [(part, (_, dtype, axes))] = arrays.items()
            raw = f"({place}).read_bytes()"
            lines.append(Statement(f"gzip.decompress({raw})" if name.endswith(".gz") else raw, target="raw"))
            shape = f'np.frombuffer(raw, ">i4", {axes}, 4)'
            found = f'np.frombuffer(raw, "{dtype}", offset={4 + 4 * axes}).reshape({shape})'
            lines.append(Statement(found, target=part))
        else:
            for part, (key, _, _) in arrays.items():
                found = f'np.load({place}, mmap_mode="r"){_keyed(key) if key else ""}'
                lines.append(Statement(found, target=part))
    return [*lines, *joined]


def _keyed(key: str) -> str:
    """Which of several arrays, and which field of records."""
    return "".join(f"[{literal(part)}]" for part in key.split("//") if part)


def _sound(one: Array, first: Array, values: str) -> list[Statement]:
    """What was found of an array when it was opened, as far as its numbers depend on it."""
    kind = ""
    if one.dtype.kind in "SU":
        kind = f' or {one.variable}.dtype.kind != "{one.dtype.kind}"'
    elif one.role == "input" and one.numbers and values == "0 to 1":
        kind = f' or {one.variable}.dtype != "{one.dtype}"'
    size = "".join(f", {length}" for length in one.size) or ","
    return tree(SOUND, name=one.variable, first=first.variable, size=size, kind=kind, title=_said(one))


def _said(one: Array) -> str:
    """Its name within a text of a script."""
    return literal(one.name)[1:-1].replace("{", "{{").replace("}", "}}").replace('"', "'")


def _classes(one: Array) -> list[Statement]:
    if one.hot:
        return tree(HOT, name=one.variable, title=_said(one))
    listed = list(one.classes)
    classes = f"np.array({[*listed]!r})"
    if listed == list(range(len(listed))) and len(listed) > 2:
        classes = f"np.arange({len(listed)})"
    given = {"bytes": one.dtype.kind == "S", "flat": bool(one.size)}
    return tree(CLASSES, name=one.variable, title=_said(one), classes=classes, **given)


def _tensor(one: Array, how: Mapping[str, Any]) -> str:
    """All rows of a column."""
    if one.classes:
        return f"torch.from_numpy({'ones.argmax(1)' if one.hot else one.variable})"
    first, last = one.span
    found = f"{one.variable}[..., {first}:{last}]" if last else one.variable
    axes = how["axes"] if one.role == "input" else ""
    if not one.size or (axes == "add a channel" and len(one.size) == 2):
        found = f"{found}[:, None]"
    elif axes == "channels first" and len(one.size) == 3:
        found = f"np.moveaxis({found}, -1, 1)"
    kind = "int64" if one.whole else "float32"
    return f'torch.from_numpy({found}.astype(np.{kind}, order="C"))'


def _scaled(one: Array, how: Mapping[str, Any], rows: int) -> list[Statement]:
    """Lines that bring inputs to a range or to standard deviations, by the training rows."""
    values = how["values"]
    if values == "0 to 1" and one.dtype.kind == "b":
        return []
    if values == "0 to 1" and one.dtype.kind == "u":
        return tree("$value = $value / $top", value=one.value, top=np.iinfo(one.dtype).max)
    given = {"value": one.value, "title": _said(one)}
    if values == "0 to 1":
        return tree(RANGE, **given)
    if values == "as they are":
        return []
    axes = 1 + max(1, len(one.size)) + (how["axes"] == "add a channel" and len(one.size) == 2)
    over: Any = (0, 2, 3) if axes == 4 else 0 if axes == 2 else tuple(range(axes))
    length = max(1, BLOCK // max(1, one.row()))
    return tree(MOMENTS if rows <= length else LARGE_MOMENTS, over=over, length=length, **given)
