"""Your own tables: rows of examples in text files, Parquet, Arrow or Excel."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from engine.catalogue import Column, Emitted, Emitter, param
from engine.catalogue.params import FilePath, Ints, Names, Rows
from engine.catalogue.traits import FileForm
from engine.data.tables.sizes import MEMORY, bytes_to_read
from engine.data.tables.sniff import RECORDS, SHEETS, TYPED
from engine.errors import ParamError
from nodes.data.delimited import ASIDE, DELIMITERS, ENCODINGS, QUOTE, lines_aside
from nodes.data.own_file import OwnFile, memory_param
from nodes.data.splitting import BLOCKS, BY_CLASS, BY_GROUP, FOLDS, GIVEN, IN_TIME, SplitData

KINDS = ("number", "whole", "category", "yes-no", "date", "text", "path")
ROLES = ("input", "target", "weight", "group", "split", "time", "ignore")
NAMED = 40  # features that the help text names one by one


class TableFile(SplitData, OwnFile):
    """A table from a file of your own: a row an example, a column an input, a target or left out.

    All inputs come out side by side as features, a category as one feature for each of its classes; every
    target has a port of its own. Means, scales and what fills a blank cell come from the training rows alone.
    """

    reads = FileForm.TABLE
    title = "Table"
    aliases = ("csv", "excel", "spreadsheet", "parquet", "arrow", "json", "file")
    source = "a file of your own"
    path: FilePath = param(
        "", label="File", doc="a CSV, TSV, Parquet, Arrow, Feather, Excel, OpenDocument or JSON file"
    )
    stamp: str = param("", hidden=True, doc="marks the content that the columns were found in")
    rows: int = param(0, minimum=0, hidden=True, doc="how many rows were found")
    plain: bool = param(False, hidden=True, doc="whether the file is as simple readers expect it")
    loose: bool = param(False, hidden=True, doc="whether it is but for cells with blanks, or odd numbers")
    table: Rows = param(
        (),
        hidden=True,
        label="Columns",
        doc="name, kind, role, and classes or form of every column of the file",
    )
    missing: str = param(
        "drop rows",
        choices=("drop rows", "fill with mean", "fill with median"),
        label="Missing inputs",
        doc="drop rows: leave out every row with a blank input; or fill it with the mean or median of the "
        "training rows, a category with its most common class. A row without its target is always left out",
    )
    missing_as: Names = param((), label="Missing is", doc="texts that mean a blank cell, such as NA or ?")
    scaling: str = param(
        "standardise",
        choices=("standardise", "0 to 1", "none"),
        label="Scale inputs",
        doc="of numbers and dates, by the training rows alone: standard deviations from their mean, or 0 for "
        "their smallest and 1 for their largest",
    )
    target_scaling: str = param(
        "none",
        choices=("none", "standardise", "0 to 1"),
        label="Scale targets",
        doc="the same for targets that are numbers",
    )
    dates: str = param(
        "days",
        choices=("days", "days and cycles"),
        doc="days: one number; and cycles: six more, sine and cosine of where in the year, week and day",
    )
    delimiter: str = param(",", choices=DELIMITERS, doc="what stands between the cells of a text file")
    quote: str = QUOTE
    decimal: str = param(".", choices=(".", ","), label="Decimal mark", doc="as in 28.7 or in 28,7")
    encoding: str = param("utf-8", choices=ENCODINGS, doc="how the bytes of a text file stand for letters")
    header: bool = param(True, doc="the first row names the columns")
    skip: int = param(0, minimum=0, maximum=100_000, label="Lines before", doc="lines above the table")
    aside: Ints | None = ASIDE
    units: Names = param((), hidden=True, doc="the unit of each column of the file, where a line says it")
    sheet: str = param("", doc="the name of a spreadsheet's sheet; the first where empty")
    memory: int = memory_param(
        "a table that takes more to read is read in pieces, once, and its numbers are kept in a "
        "folder of their own; where those take more too, batches read their rows there (no spreadsheet)",
        MEMORY,
    )

    def columns(self) -> tuple[Column, ...]:
        return self._columns

    def plainly(self) -> bool:
        return self.plain

    def loosely(self) -> bool:
        return self.loose

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.tables import files as files

        if not self.path:
            raise ParamError("No file is chosen yet.")
        if self.delimiter == self.decimal and self.quote == "none":
            raise ParamError(
                "A comma parts the cells, so it cannot be the decimal mark, too: change one of the two."
            )
        by, classes = self._split_by()
        options: dict[str, Any] = {
            "file": Path(self.path).name,
            "columns": tuple(row for row in self.table if row[2] != "ignore"),
            "missing": self.missing,
            "scaling": self.scaling,
            "target_scaling": self.target_scaling,
            "dates": self.dates,
            "blanks": self.missing_as,
            "by": by,
            **self.splitting(classes),
        }
        end = Path(self.path).suffix.casefold()
        large = self.needed() > self.memory * 2**20
        if large and end not in (*SHEETS, *RECORDS):
            options["memory"] = self.memory
        if end in TYPED:
            from engine.data.tables.large import load_large_typed_table
            from engine.data.tables.reading import read_typed_table

            if large:
                return e.load(load_large_typed_table, **options)
            return e.load(files.load_typed_table, read=read_typed_table, **options)
        if end in SHEETS:
            place = {"sheet": self.sheet, "header": self.header, "skip": self.skip, **lines_aside(self.aside)}
            return e.load(files.load_sheet, **options, **place)
        if end in RECORDS:
            from engine.data.tables.records import read_records

            return e.load(files.load_typed_table, read=read_records, **options)
        form = {
            "delimiter": {"tab": "\t"}.get(self.delimiter, self.delimiter),
            "quote": "" if self.quote == "none" else self.quote,
            "decimal": self.decimal,
            "encoding": self.encoding,
            "header": self.header,
            "skip": self.skip,
            **lines_aside(self.aside),
        }
        from engine.data.tables.large import load_large_text_table

        return e.load(load_large_text_table if large else files.load_text_table, **options, **form)

    def needed(self) -> int:
        """About how many bytes it takes to read the table as a whole."""
        return bytes_to_read(self.rows, self.table, len(self._features))

    def summary(self) -> str:
        if not self.table:
            return "no file yet"
        features = len(self._features)
        parts = [f"{self.rows:,} row{'' if self.rows == 1 else 's'}"] if self.rows else []
        parts.append(f"{features:,} feature{'' if features == 1 else 's'}")
        classes = next((len(column.classes) for column in self._columns if column.classes), 0)
        return " · ".join(parts + ([f"{classes} classes"] if classes else []))

    def _with_role(self, role: str) -> list[tuple[str, str, tuple[str, ...]]]:
        """Name, kind and details of the columns that have a role."""
        return [
            (str(row[0]), str(row[1]), tuple(str(one) for one in row[3:]))
            for row in self.table
            if row[2] == role
        ]

    def _split_by(self) -> tuple[str, bool]:
        """The column whose values split the rows, "" for none, and whether it holds classes.

        Errors: `ParamError` where the way that was chosen needs a column that isn't there.
        """
        first = {
            role: next((one[0] for one in self._with_role(role)), "") for role in ("group", "split", "time")
        }
        if self.split in (BY_CLASS, FOLDS):
            found = next(
                (one[0] for one in self._with_role("target") if one[1] in ("category", "yes-no")), ""
            )
            return found, bool(found)
        needed = {BY_GROUP: "group", GIVEN: "split"}.get(self.split)
        if needed and not first[needed]:
            raise ParamError(f'Rows split {self.split} need a column with the role "{needed}".')
        return (first["time"] if self.split in (IN_TIME, BLOCKS) else first[needed] if needed else ""), False

    @cached_property
    def _features(self) -> tuple[str, ...]:
        found: list[str] = []
        units = dict(zip((row[0] for row in self.table), self.units, strict=False))
        for name, kind, details in self._with_role("input"):
            if kind == "category":
                found += [f"{name}: {one}" for one in details]
            else:
                found.append(f"{name} ({units[name]})" if units.get(name) else name)
            if kind == "date" and self.dates == "days and cycles":
                found += [
                    f"{name}: {turn} of the {of}"
                    for of in ("year", "week", "day")
                    for turn in ("sine", "cosine")
                ]
        return tuple(found)

    @cached_property
    def _columns(self) -> tuple[Column, ...]:
        columns = []
        if self._features:
            named = ", ".join(self._features[:NAMED]) + (", ..." if len(self._features) > NAMED else "")
            scaled = {"standardise": "standardised", "0 to 1": "scaled to 0 to 1"}.get(self.scaling, "")
            size = (len(self._features),)
            columns.append(Column("features", size, doc=named, names=self._features, scaled=scaled))
        for role in ("target", "weight"):
            for name, kind, details in self._with_role(role):
                port = "features (2)" if name == "features" else name
                if kind in ("category", "yes-no"):
                    columns.append(Column(port, (), "int64", details, doc=f"{name} as a class"))
                if kind == "yes-no":
                    doc = f"{name} as a number: 1 for {details[1]}, else 0"
                    columns.append(Column(f"{port} as number", (1,), doc=doc, ends=(0.0, 1.0)))
                if kind in ("number", "whole", "date"):
                    columns.append(Column(port, (1,), doc=f"{name}, a {role}"))
        return tuple(columns)
