"""Tables read with polars alone: columns of one kind each, then features side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from engine.data.tables.columns import port_name, used_columns
from engine.emit.sources.parts import literal
from engine.emit.sources.splitting import split_lines
from engine.emit.sources.straight import Reading, Straight
from engine.emit.statements import Statement, quoted, tree, under, walked
from engine.shapes.folding import Prepared

CLASSES, NUMBERS = ("category", "yes-no"), ("number", "whole")
NEEDED = ("target", "weight", "time")  # a row that lacks one is of no use
SPLITTING = ("splitter", "validation", "test", "folds", "fold", "gap", "seed", "repeats", "balance")
DAY = "86_400_000_000"
PARTS = {"train": 0, "training": 0, "val": 1, "valid": 1, "validation": 1, "dev": 1, "test": 2, "testing": 2}
FEW = 8  # columns with numbered names that are still written one by one

READ = """
try:
    table = $read
    table.columns = [f"column {at + 1}" for at in range(table.width)]  #? unnamed
    <cells>
    table = table.select(pl.col(name).cast(kind) for name, kind in schema.items())
except (OSError, UnicodeError, pl.exceptions.PolarsError) as error:
    raise SystemExit(f"{file} is no longer as it was: {str(error).splitlines()[0]}") from error
"""

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
known = values[train][~lost[train]]
if isinstance(column.dtype, pl.Enum):  #? both
    values = np.where(lost, np.bincount(known.astype(np.int64), minlength=1).argmax(), values)  #? both
else:  #? both
    values = np.where(lost, np.$average(known) if len(known) else 0.0, values)  #? both
values = np.where(lost, np.bincount(known.astype(np.int64), minlength=1).argmax(), values)  #? only_classes
values = np.where(lost, np.$average(known) if len(known) else 0.0, values)  #? only_numbers
"""

HOT = """
hot = values[:, None] == np.arange(len(kind.categories))
features.append(hot & hot[train].any(0))  # zeros for a class that no training row has
"""

SCALED = """
known = values[train]
unit = $unit
$target(values - known.$middle()) / (unit if unit > 1e-12 else 1.0)$end
"""

CYCLES = """
turns = [2 * math.pi * values / days for days in (365.2425, 7.0, 1.0)]
features += [turn(angle) for angle in turns for turn in (np.sin, np.cos)]
"""


@dataclass(frozen=True)
class Cell:
    """A column that is used."""

    name: str
    kind: str
    role: str
    details: tuple[str, ...]

    @property
    def classes(self) -> bool:
        return self.kind in CLASSES

    @property
    def keyed(self) -> bool:
        """Whether its texts only say where rows go."""
        return self.role in ("group", "split")


def text_table(reading: Reading) -> Straight | None:
    """The lines for `load_text_table`."""
    how = reading.options
    read = text_read(how, [row[0] for row in how["columns"]]) if plainly(reading) else None
    if read is None:
        return None
    return table_lines(reading, read, decimal=how["decimal"], header=how["header"])


def text_read(form: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """An expression that reads the text table `file` with columns of these names; None for some forms."""
    if form["delimiter"] in ("spaces", "arff") or form.get("aside") or len(form["quote"]) > 1:
        return None
    file = "file"
    if form["encoding"] != "utf-8":
        file = f"io.StringIO(file.read_text(encoding={quoted(form['encoding'])}))"
    given = {
        "has_header": (form["header"], True),
        "skip_lines": (form["skip"], 0),
        "separator": (form["delimiter"], ","),
        "quote_char": (form["quote"] or None, '"'),
    }
    how = "".join(f", {name}={literal(value)}" for name, (value, usual) in given.items() if value != usual)
    read = f"pl.read_csv({file}, infer_schema=False{how})"
    unnamed = [name for name in names if re.fullmatch("column [0-9]+", name)]
    if form["header"] and unnamed:  # a cell of the header is empty, or says so
        read += f'.rename({{"": {literal(unnamed[0])}}}, strict=False)'
    return read


def plainly(reading: Reading) -> bool:
    """Whether the file was found to be as simple readers expect it."""
    data = reading.data
    return (data.data if isinstance(data, Prepared) else data).plainly()


def table_lines(reading: Reading, read: str, *, decimal: str = ".", header: bool = True) -> Straight | None:
    """Lines that make columns of the table that the expression `read` gives, all of text.

    None where a column is of a kind or in a form that they cannot read.
    """
    how = reading.options
    cells = [
        Cell(name, kind, role, tuple(map(str, rest)))
        for name, kind, role, rest in used_columns(how["columns"])
    ]
    if any(_needed(one, how["missing"]) for one in cells):  # else a row is one where a group is named
        cells = [one for one in cells if one.name == how["by"] or not one.keyed]
    if not readable(cells) or not _asked(cells, how):
        return None
    lines = read_lines(cells, how["file"], read, how["blanks"], decimal=decimal, header=header)
    lines += _whole(cells, how["missing"])
    return _columns(reading, cells, lines)


def read_lines(
    cells: Sequence[Cell], file: str, read: str, blanks: Sequence[str], *, decimal: str, header: bool
) -> list[Statement]:
    """Lines that read a file as a `table` of these columns, each of the kind that it is."""
    lines = tree("file = folder / $file", file=literal(file))
    lines += [under("schema = {", _schema(cells)), Statement("}")]
    return lines + tree(READ, unnamed=not header, read=read, cells=_cells(cells, blanks, decimal))


def readable(cells: Sequence[Cell]) -> bool:
    """Whether columns are of kinds that the lines can read."""
    for one in cells:
        if one.role == "split":
            known = one.kind == "category" and {*map(str.casefold, one.details)} <= {*PARTS}
        else:
            plain = one.kind in NUMBERS and not one.details
            known = one.keyed or plain or one.classes or one.kind == "date"
        if not known or one.name == "*" or (one.name[:1], one.name[-1:]) == ("^", "$"):  # polars' own marks
            return False
    return True


def _asked(cells: Sequence[Cell], how: Mapping[str, Any]) -> bool:
    """Whether what is asked of columns can be done with them."""
    labelled = any(one.role == "target" and one.classes for one in cells)
    used = any(one.role in ("input", "target", "weight") for one in cells)
    return used and (labelled or "balance" not in how)


def _schema(cells: Sequence[Cell]) -> list[Statement]:
    found = []
    for kind, run in groupby(cells, _dtype):
        names = [one.name for one in run]
        for pattern, part in groupby(enumerate(names), lambda one: _numbered(one[1], one[0])):
            here = [name for _, name in part]
            if pattern is None or len(here) < FEW:
                found += [Statement(f"{quoted(name)}: {kind},") for name in here]
                continue
            first = int(here[0].removeprefix(pattern[0]))
            name = repr(pattern[0].replace("{", "{{").replace("}", "}}") + "{at}")
            within = f"{first}, {first + len(here)}" if first else f"{len(here)}"
            found.append(Statement(f"**{{f{name}: {kind} for at in range({within})}},"))
    return found


def _numbered(name: str, at: int) -> tuple[str, int] | None:
    """What names such as `pixel7` have in common, where each is one further than that before."""
    parts = re.fullmatch(r"(.*?)(0|[1-9][0-9]{0,8})", name)
    return None if parts is None else (parts[1], int(parts[2]) - at)


def _dtype(cell: Cell) -> str:
    if cell.role == "group":
        return "pl.String()"
    if cell.classes:
        return f"pl.Enum({_names(cell.details)})"
    return 'pl.Datetime("us")' if cell.kind == "date" else "pl.Float64()"


def _names(classes: Sequence[str]) -> str:
    """Classes as Python; many that are numbered as a range."""
    count = len(classes)
    if count >= FEW and list(classes) == [str(at) for at in range(count)]:
        return f"map(str, range({count}))"
    return f"[{', '.join(map(literal, classes))}]"


def _cells(cells: Sequence[Cell], blanks: Sequence[str], decimal: str) -> list[Statement]:
    """What is to be done to the texts of cells before they are numbers, classes or days."""
    found = []
    if blanks:
        found.append(f"pl.all().replace([{', '.join(map(literal, blanks))}], None)")
    if decimal == "," and any(one.kind in NUMBERS for one in cells):
        names = "[name for name, kind in schema.items() if kind == pl.Float64]"
        found.append(
            f'pl.col({names}).str.replace(".", "?", literal=True).str.replace(",", ".", literal=True)'
        )
    for one in cells:
        if one.kind == "date" and not one.keyed:
            form = f"{literal(one.details[0])}, " if one.details and one.details[0] else ""
            found.append(f'pl.col({literal(one.name)}).str.to_datetime({form}time_unit="us")')
    return [Statement(f"table.with_columns({one})", target="table") for one in found]


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
    fitted = any("[train]" in one.plain for one in walked([*body, *scaled]))
    lines = [*lines, *(tree('train = rows["train"].numpy()') if fitted else []), *body]
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
        comma = "," if len(flags) == 1 else ""
        branches.append((f"column.name in ({_listed(flags)}{comma})", tree("features.append(values)")))
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
