"""Tables read with polars alone: columns of one kind each, then features side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.data.tables.columns import port_name, used_columns
from engine.data.tables.nested import flattened
from engine.data.tables.reading import column_names
from engine.emit.sources.parts import literal, tuple_text
from engine.emit.sources.splitting import split_lines
from engine.emit.sources.straight import Function, Reading, Straight
from engine.emit.sources.table_reading import (
    PARTS,
    Cell,
    Source,
    read_lines,
    readable,
    sheet_source,
    text_source,
    typed_source,
)
from engine.emit.statements import Statement, tree, under, walked

NEEDED = ("target", "weight", "time")  # a row that lacks one is of no use
MAY_CARRY: tuple[Function, ...] = (column_names, flattened)
SPLITTING = ("splitter", "validation", "test", "folds", "fold", "gap", "seed", "repeats", "balance")
DAY = "86_400_000_000"

FEATURES = """
features = []
for column in $inputs:
    kind = column.dtype  #? some_hot
    values = column$physical.to_numpy()$days
    if column.dtype == pl.Datetime:  #? some_dates
        values = values / $day  # microseconds to days  #? some_dates
    <filled>
    <branches>
"""

FILLED = """
lost = np.isnan(values)
known = values[training][~lost[training]]
if isinstance(column.dtype, pl.Enum):  #? both
    values = np.where(lost, np.bincount(known.astype(np.int64), minlength=1).argmax(), values)  #? both
else:  #? both
    values = np.where(lost, np.$average(known) if len(known) else 0.0, values)  #? both
values = np.where(lost, np.bincount(known.astype(np.int64), minlength=1).argmax(), values)  #? only_classes
values = np.where(lost, np.$average(known) if len(known) else 0.0, values)  #? only_numbers
"""

HOT = """
hot = values[:, None] == np.arange(len(kind.categories))
features.append(hot & hot[training].any(0))  # zeros for a class that no training row has
"""

SCALED = """
known = values[training]
unit = $unit
$target(values - known.$middle()) / (unit if unit > 1e-12 else 1.0)$end
"""

CYCLES = """
turns = [2 * math.pi * values / days for days in (365.2425, 7.0, 1.0)]
features += [turn(angle) for angle in turns for turn in (np.sin, np.cos)]
"""


def text_table(reading: Reading) -> Straight | None:
    """The lines for `load_text_table`."""
    source = text_source(reading, reading.options, [row[0] for row in reading.options["columns"]])
    return None if source is None else table_lines(reading, source)


def sheet_table(reading: Reading) -> Straight | None:
    """The lines for `load_sheet`."""
    source = sheet_source(reading, reading.options)
    return None if source is None else table_lines(reading, source)


def typed_table(reading: Reading) -> Straight | None:
    """The lines for `load_typed_table`."""
    source = typed_source(reading, reading.options["blanks"])
    return None if source is None else table_lines(reading, source)


def table_lines(reading: Reading, source: Source) -> Straight | None:
    """Lines that make columns of a table; None where one is of a kind or in a form that they cannot read."""
    how = reading.options
    used = used_columns(how["columns"])
    cells = [Cell(name, kind, role, tuple(map(str, rest))) for name, kind, role, rest in used]
    needed = any(_needed(one, how["missing"]) for one in cells)
    if needed:  # else a row is one where a group is named
        cells = [one for one in cells if one.name == how["by"] or not one.keyed]
    if not readable(cells) or not _asked(cells, how) or (source.loose and not needed):
        return None
    lines = read_lines(cells, how["file"], source)
    lines += _whole(cells, how["missing"])
    found = _columns(reading, cells, lines)
    return replace(found, carries=[*found.carries, *source.carries])


def _asked(cells: Sequence[Cell], how: Mapping[str, Any]) -> bool:
    """Whether what is asked of columns can be done with them."""
    labelled = any(one.role == "target" and one.classes for one in cells)
    used = any(one.role in ("input", "target", "weight") for one in cells)
    return used and (labelled or "balance" not in how)


def _needed(cell: Cell, missing: str) -> bool:
    """Whether a row without it is left out."""
    return cell.role in NEEDED or (cell.role == "input" and missing == "drop rows")


def _whole(cells: Sequence[Cell], missing: str) -> list[Statement]:
    """Rows that lack what they need are left out, and lines with nothing in them."""
    needed = [one.name for one in cells if _needed(one, missing)]
    if not needed:
        return tree("table = table.filter(~pl.all_horizontal(pl.all().is_null()))  # blank lines")
    others = [one.name for one in cells if one.name not in needed]
    if not others:
        return tree("table = table.drop_nulls()")
    if len(needed) <= len(others):
        return tree("table = table.drop_nulls([$names])", names=_listed(needed))
    return tree("table = table.drop_nulls(pl.selectors.exclude($names))", names=_listed(others))


def _columns(reading: Reading, cells: Sequence[Cell], lines: list[Statement]) -> Straight:
    """The rest: rows are split, and what is fitted is fitted on training rows."""
    how, wanted = reading.options, reading.wanted
    inputs = [one for one in cells if one.role == "input"]
    every = _every(cells, inputs)
    labels = next((_labels(one) for one in cells if one.role == "target" and one.classes), "")
    keys = next((_keys(one) for one in cells if one.name == how["by"]), "")
    splitting = {name: how[name] for name in SPLITTING if name in how}
    raw = f"*(column.to_physical().to_numpy() for column in {every})"
    classes = "keys" if labels == keys else labels
    split, carries = split_lines(splitting, "len(table)", "keys" if keys else "None", [raw], classes)
    lines = [*lines, *(tree("keys = $keys", keys=keys) if keys else []), *split]
    columns: dict[str, str] = {}
    body: list[Statement] = []
    scaled: list[Statement] = []
    if "features" in wanted:
        made, columns["features"] = _features(inputs, every, how)
        body += made
    for one in sorted(cells, key=lambda cell: cell.role):
        port = port_name(one.name)
        if one.role not in ("target", "weight"):
            continue
        if port in wanted and one.classes:
            columns[port] = "keys" if _labels(one) == keys else _labels(one)
        elif port in wanted:
            scaling = how["target_scaling"] if one.role == "target" else "none"
            if scaling == "none":
                columns[port] = f"torch.from_numpy({_numbers(one)}.astype(np.float32)[:, None])"
            else:
                scaled += tree("values = $values", values=_numbers(one))
                scaled += _scaled(scaling, "values = ", "")
                scaled += tree(
                    "columns[$port] = torch.from_numpy(values.astype(np.float32)[:, None])",
                    port=literal(port),
                )
        if f"{port} as number" in wanted and one.kind == "yes-no":
            columns[f"{port} as number"] = f"{_cell(one)}.to_physical().cast(pl.Float32).to_torch()[:, None]"
    fitted = any("[training]" in one.plain for one in walked([*body, *scaled]))
    lines = [*lines, *(tree('training = rows["train"].numpy()') if fitted else []), *body]
    items = ", ".join(f"{literal(name)}: {value}" for name, value in columns.items())
    lines += [Statement(f"{{{items}}}", target="columns"), *scaled]
    part = "{name: values[at].to(device) for name, values in columns.items()}"
    return Straight(lines, f"{{split: {part} for split, at in rows.items()}}", carries)


def _every(cells: Sequence[Cell], inputs: Sequence[Cell]) -> str:
    """The inputs, a polars series each."""
    others = [one.name for one in cells if one.role != "input"]
    if not others:
        return "table.iter_columns()"
    if len(others) <= len(inputs):
        return f"table.drop({_listed(others)}).iter_columns()"
    return f"table.select({_listed([one.name for one in inputs])}).iter_columns()"


def _features(inputs: Sequence[Cell], every: str, how: Mapping[str, Any]) -> tuple[list[Statement], str]:
    """Lines that scale inputs, and the features (N, D) as an expression."""
    dates = [one for one in inputs if one.kind == "date"]
    flags = [one.name for one in inputs if one.kind == "yes-no"]
    branches: list[tuple[str, list[Statement]]] = []
    rest = [one for one in inputs if not one.classes]
    hot = [one for one in inputs if one.kind == "category"]
    scaled, cycles = how["scaling"] != "none", dates and how["dates"] == "days and cycles"
    if flags and (hot or (rest and (scaled or cycles))):
        names = tuple_text([literal(one) for one in flags])
        branches.append((f"column.name in {names}", tree("features.append(values)")))
    if hot:
        branches.append(("isinstance(kind, pl.Enum)", tree(HOT)))
    if rest or (flags and not branches):
        asis = tree("features.append(values)")
        numbers = _scaled(how["scaling"], "features.append(", ")") if scaled and rest else asis
        if cycles and len(dates) == len(rest):
            numbers += tree(CYCLES)
        elif cycles:
            numbers.append(under("if column.dtype == pl.Datetime:", tree(CYCLES)))
        branches.append(("", numbers))
    filled = []
    if how["missing"] != "drop rows":
        average = "median" if how["missing"] == "fill with median" else "mean"
        both = bool(rest) and len(rest) < len(inputs)
        kinds = {"both": both, "only_classes": not rest, "only_numbers": bool(rest) and not both}
        filled = tree(FILLED, average=average, **kinds)
    physical = ".to_physical()" if dates or len(rest) < len(inputs) else ""
    alone = len(dates) == len(inputs)
    some = bool(dates) and not alone
    if not filled and not dates and len(branches) == 1 and branches[0][1] == tree("features.append(values)"):
        made = f"column{physical}.to_numpy() for column in {every}"
        return [], f"torch.from_numpy(np.column_stack([{made}]).astype(np.float32))"
    given = {"inputs": every, "physical": physical, "days": f" / {DAY}" if alone else "", "day": DAY}
    lines = tree(
        FEATURES, **given, some_dates=some, some_hot=bool(hot), filled=filled, branches=_branched(branches)
    )
    return lines, "torch.from_numpy(np.column_stack(features).astype(np.float32))"


def _branched(branches: Sequence[tuple[str, list[Statement]]]) -> list[Statement]:
    """An `if` for each condition, `else` where there is none."""
    if not branches[0][0]:
        return branches[0][1]
    found = []
    for at, (condition, body) in enumerate(branches):
        last = not condition
        found.append(under("else:" if last else f"{'elif' if at else 'if'} {condition}:", body))
    return found


def _scaled(scaling: str, target: str, end: str) -> list[Statement]:
    """What training values are scaled by, and all of them scaled."""
    middle, unit = (
        ("mean", "known.std()") if scaling == "standardise" else ("min", "known.max() - known.min()")
    )
    return tree(SCALED, middle=middle, unit=unit, target=target, end=end)


def _cell(one: Cell) -> str:
    return f"table[{literal(one.name)}]"


def _numbers(one: Cell) -> str:
    """A column of numbers or days, as numpy has it."""
    if one.kind == "date":
        return f"({_cell(one)}.to_physical().to_numpy() / {DAY})"
    return f"{_cell(one)}.to_numpy()"


def _labels(one: Cell) -> str:
    """The numbers of classes."""
    return f"{_cell(one)}.to_physical().cast(pl.Int64).to_torch()"


def _keys(one: Cell) -> str:
    """What rows are split by."""
    if one.role == "group":
        return f'{_cell(one)}.fill_null("").rank("dense").cast(pl.Int64).to_torch()'
    if one.role == "split":
        numbers = ", ".join(str(PARTS[word.casefold()]) for word in one.details)
        words = f"{_cell(one)}.to_physical().cast(pl.Int64).fill_null({len(one.details)})"
        return f"torch.tensor([{numbers}, 3])[{words}.to_torch()]"
    if one.role == "time" and one.kind == "date":
        return f"torch.from_numpy{_numbers(one)}"
    if one.role == "time":
        return f"{_cell(one)}.to_physical().cast(pl.Float64).to_torch()"
    return _labels(one)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(literal, names))
