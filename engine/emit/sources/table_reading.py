"""Files of rows and columns as a polars table, each column of the kind that it was found to be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from engine.data.tables import column_roles
from engine.data.tables.nested import flattened
from engine.data.tables.plain import READERS, reader_for
from engine.data.tables.reading import column_names, separator
from engine.emit.sources.parts import literal, tuple_text
from engine.emit.sources.straight import Function, Reading
from engine.emit.statements import Statement, tree, under

CLASSES, NUMBERS = ("category", "yes-no"), ("number", "whole")
PARTS = {word: number for number, words in enumerate(column_roles.PARTS) for word in words}
FEW = 8  # columns with numbered names that are still written one by one
FLOATS = "[name for name, kind in schema.items() if kind == pl.Float64]"

READ = """
try:
    <read>
    <cells>
    table = table.select(pl.col(name).cast(kind) for name, kind in schema.items())
except $errors as error:$why
    raise SystemExit(f"{file} is no longer as it was: {str(error).splitlines()[0]}") from error
table = table.with_columns(pl.when(pl.col(pl.Float64).is_finite()).then(pl.col(pl.Float64)))  #? finite
"""

PLAIN_LINES = r"""
text = file.read_text(encoding=$encoding)
names = re.findall(r"(?im)^\s*@attribute\s+('[^']*'|\"[^\"]*\"|\S+)", text)  #? arff
lines = text.split("\n")
for at in $blank:  #? aside
    lines[at] = ""
lines = [re.sub(r"^\s*#\s*(?=[^\W\d])", "", line) for line in lines]  #? spaces
lines = ["\t".join(re.findall(r'"[^"]*"|\S+', line)) for line in lines]  #? spaces
lines = [",".join(names), *(line for line in lines if line.lstrip()[:1] not in ("@", "%"))]  #? arff
lines = [re.sub(r'\\(["\\])', lambda one: one[1] * (1 + (one[1] == '"')), line) for line in lines]  #? escaped
"""

SHEET = """
book = fastexcel.read_excel(file)
table = book.load_sheet($sheet, header_row=None, skip_rows=$skip, dtypes="string").to_polars()
names = column_names(list(table.row(0)))  #? header
number = pl.int_range(pl.len())  #? blank
table = table.select(pl.when(~number.is_in($aside)).then(pl.all()).name.keep())  #? blank
table = table.slice(1).rename(dict(zip(table.columns, names, strict=True)))  #? header
table.columns = [f"column {at + 1}" for at in range(table.width)]  #? not header
"""


SPACES = r"[ \u00a0\u2009\u202f]"
FORMED = r"""
cell = pl.col($name)  # written as $form
number = r"$digits"
number = rf"(?:$beside$spaces*[-+]?{number}|{number}$spaces*$beside)"  #? unit
follows = cell.str.contains(rf"^(?:[-+]?{number}|\({number}\))$$")
plain = $plain
below = pl.when(cell.str.starts_with("(")).then(pl.format("-{}", plain)).otherwise(plain)
table = table.with_columns(pl.when(follows).then(below).otherwise(pl.format("{}?", cell)).alias($name))
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


@dataclass(frozen=True)
class Source:
    """Lines that read `file` as a `table`, which may be all of text, and what is to be known of its cells.

    Where it is `loose`, blanks may stand around cells or for one, and numbers may be written with a long
    minus, or not be finite.
    """

    lines: Sequence[Statement]
    blanks: Sequence[str] = ()
    decimal: str = "."
    loose: bool = False
    text: bool = True
    careful: bool = False  # what reads it may fail in ways of its own
    carries: Sequence[Function] = ()


def text_source(reading: Reading, form: Mapping[str, Any], names: Sequence[str]) -> Source | None:
    """A table of delimited text with columns of these names; None where it is neither plain nor loose."""
    loose, arff = reading.data.loosely(), form["delimiter"] == "arff"
    if not loose and not reading.data.plainly():
        return None
    given = {
        "has_header": (form["header"], True),
        "skip_lines": (0 if arff else form["skip"], 0),
        "separator": (separator(form["delimiter"]), ","),
        "quote_char": (form["quote"][-1:] or None, '"'),
    }
    lines = _plain_lines(form)
    file = 'io.StringIO("\\n".join(lines))' if lines else "file"
    if not lines and form["encoding"] != "utf-8":
        file = f"io.StringIO(file.read_text(encoding={literal(form['encoding'])}))"
    how = "".join(f", {name}={literal(value)}" for name, (value, usual) in given.items() if value != usual)
    read = f"pl.read_csv({file}, infer_schema=False{how})"
    unnamed = [name for name in names if re.fullmatch("column [0-9]+", name)]
    if form["header"] and unnamed:  # a cell of the header is empty, or says so
        read += f'.rename({{"": {literal(unnamed[0])}}}, strict=False)'
    lines.append(Statement(read, target="table"))
    if form["header"] and loose:
        lines += tree('table.columns = [" ".join(name.split()) for name in table.columns]')
    if not form["header"]:
        lines += tree('table.columns = [f"column {at + 1}" for at in range(table.width)]')
    return Source(lines, form["blanks"], form["decimal"], loose)


def _plain_lines(form: Mapping[str, Any]) -> list[Statement]:
    """Lines that make a text's `lines` such that polars can read them; none where it can read the file."""
    aside = form.get("aside", ())
    ways = {
        "aside": bool(aside),
        "spaces": form["delimiter"] == "spaces",
        "arff": form["delimiter"] == "arff",
        "escaped": len(form["quote"]) > 1,
    }
    encoding = "utf-8-sig" if form["encoding"] == "utf-8" else form["encoding"]
    blank = tuple_text([str(line - 1) for line in aside])
    return tree(PLAIN_LINES, encoding=literal(encoding), blank=blank, **ways) if any(ways.values()) else []


def sheet_source(reading: Reading, form: Mapping[str, Any]) -> Source | None:
    """A sheet of a spreadsheet, all of text."""
    loose, aside = reading.data.loosely(), form.get("aside", ())
    if not loose and not reading.data.plainly():
        return None
    lines = tree(
        SHEET,
        sheet=literal(form["sheet"] or 0),
        skip=form["skip"],
        header=form["header"],
        aside=[line - form["skip"] - 1 for line in aside],
        blank=bool(aside),
    )
    carries = [column_names] if form["header"] else []
    return Source(lines, form["blanks"], loose=loose, careful=True, carries=carries)


def typed_source(reading: Reading, blanks: Sequence[str]) -> Source | None:
    """A file that knows the kinds of its columns: Parquet, Arrow or JSON."""
    reader, loose = reader_for(reading.options["file"]), reading.data.loosely()
    if not loose and not reading.data.plainly():
        return None
    read, carries = f"{reader}(file{READERS[reader]})", list[Function]()
    if loose and "json" not in reader:
        read, carries = f"flattened({reader.replace('read', 'scan')}(file)).collect()", [flattened]
    line = Statement(read, target="table")
    return Source([line], blanks, loose=loose, text=False, careful=True, carries=carries)


def read_lines(cells: Sequence[Cell], file: str, source: Source) -> list[Statement]:
    """Lines that read a file as a `table` of these columns, each of the kind that it is."""
    lines = tree("file = folder / $file", file=literal(file))
    lines += [under("schema = {", _schema(cells)), Statement("}")]
    errors, why = "(OSError, UnicodeError, pl.exceptions.PolarsError)", ""
    if source.careful:
        errors, why = "Exception", "  # a damaged file may fail in any way"
    finite = source.loose and any(one.kind in NUMBERS for one in cells)
    given = {"read": source.lines, "cells": _cells(cells, source), "errors": errors, "why": why}
    return lines + tree(READ, finite=finite, **given)


def readable(cells: Sequence[Cell]) -> bool:
    """Whether columns are of kinds that the lines can read."""
    for one in cells:
        if one.role == "split":
            known = one.kind == "category" and {*map(str.casefold, one.details)} <= {*PARTS}
        else:
            times = one.kind in NUMBERS and bool(one.details) and one.details[0].endswith("kMB")
            known = one.keyed or one.classes or one.kind == "date" or (one.kind in NUMBERS and not times)
        if not known or one.name == "*" or (one.name[:1], one.name[-1:]) == ("^", "$"):  # polars' own marks
            return False
    return True


def _schema(cells: Sequence[Cell]) -> list[Statement]:
    found = []
    for kind, run in groupby(cells, _dtype):
        names = [one.name for one in run]
        for pattern, part in groupby(enumerate(names), lambda one: _numbered(one[1], one[0])):
            here = [name for _, name in part]
            if pattern is None or len(here) < FEW:
                found += [Statement(f"{literal(name)}: {kind},") for name in here]
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


def _cells(cells: Sequence[Cell], source: Source) -> list[Statement]:
    """What is to be done to cells before they are numbers, classes or days."""
    found = []
    lost = ["", *source.blanks] if source.loose else source.blanks
    marks = f".replace([{', '.join(map(literal, lost))}], None)" if lost else ""
    numbers = [one for one in cells if one.kind in NUMBERS and not one.keyed]
    if source.loose:
        found.append(f"{'pl.all()' if source.text else 'pl.col(pl.String)'}.str.strip_chars(){marks}")
    elif marks:
        found.append(f"{'pl.all()' if source.text else 'pl.col(pl.String)'}{marks}")
    if source.loose and source.text and numbers:
        found.append(f'pl.col({FLOATS}).str.replace("−", "-", literal=True)')
    plain = [one for one in numbers if not one.details]
    if source.decimal == "," and plain:
        chosen = FLOATS
        if len(plain) < len(numbers):
            chosen = f"[{', '.join(literal(one.name) for one in plain)}]"
        point = '.str.replace(".", "?", literal=True).str.replace(",", ".", literal=True)'
        found.append(f"pl.col({chosen}){point}")
    if not source.text:
        texts = ", ".join(literal(one.name) for one in cells if one.classes or one.keyed)
        words = ", ".join(literal(one.name) for one in cells if one.details == ("no", "yes"))
        if texts:
            found.append(f"pl.col({texts}).cast(pl.String)")
        if words:
            found.append(f'pl.col({words}).replace({{"false": "no", "true": "yes"}})')
    for one in cells:
        form = literal(one.details[0]) + ", " if one.details and one.details[0] else ""
        if one.kind == "date" and not one.keyed and (source.text or form):
            cast = "" if source.text else ".cast(pl.String)"
            found.append(f'pl.col({literal(one.name)}){cast}.str.to_datetime({form}time_unit="us")')
    lines = [Statement(f"table.with_columns({one})", target="table") for one in found]
    return lines + [line for one in numbers if one.details for line in _formed(one)]


def _formed(cell: Cell) -> list[Statement]:
    """Lines that make plain numbers of those that are written as 1.234,5 €, and mark all others."""
    found = re.fullmatch(r"1(\D?)234([.,])5(?: (.+))?", cell.details[0])
    assert found is not None
    group, point, unit = found.groups("")
    part = {"": "", " ": SPACES, "'": "['’]"}.get(group, f"[{group}]")
    digits = rf"(?:[1-9]\d{{0,2}}(?:{part}\d{{3}})+|\d+)" if group else r"\d+"
    plain = r"""cell.str.replace_all(r"[^\d.,\-]", "")"""
    if group in (".", ",") and group:
        plain += f'.str.replace_all("{group}", "", literal=True)'
    if point == ",":
        plain += '.str.replace(",", ".", literal=True)'
    given = {"name": literal(cell.name), "digits": rf"{digits}(?:[{point}]\d*)?", "plain": plain}
    beside = "".join(f"[{letter}]" for letter in unit)
    return tree(FORMED, unit=unit, beside=beside, spaces=SPACES, form=cell.details[0], **given)
