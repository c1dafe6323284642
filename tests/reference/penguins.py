"""Penguins

Exported from Neuroloom. Needs torch, numpy and polars only.

    python penguins.py --data FOLDER --epochs 40

FOLDER holds penguins.csv; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 16, 40
PATIENCE = 15  # epochs without a better validation loss before training stops


def wanted_columns(columns: tuple[tuple[Any, ...], ...]) -> list[str]:
    """The names of the columns that are not ignored."""
    return [str(name) for name, _, role, *_ in columns if role != "ignore"]


def decoded(path: Path, encoding: str, delimiter: str) -> Any:
    """What polars can read: the file itself where it is UTF-8, or its text again as UTF-8.

    Errors: `ValueError` with the byte that is not of the encoding.
    """
    if encoding == "utf-8" and delimiter != "spaces":
        return path
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        raise ValueError(
            f'"{path.name}" is not {encoding} from byte {error.start + 1:,} on. Choose another encoding.'
        ) from error
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if delimiter == "spaces":
        cells = re.compile(r'"[^"]*"|\S+')
        text = "\n".join("\t".join(cells.findall(line)) for line in text.split("\n"))
    return text.encode("utf-8", "surrogatepass")


def line_end(path: Path) -> str:
    """What ends a line: a carriage return alone in files of old Macintoshes."""
    with open(path, "rb") as file:
        head = file.read(1 << 20)
    return "\r" if b"\n" not in head and b"\r" in head else "\n"


def beginning(source: Any) -> Any:
    """The whole lines at the beginning of a file; all of what is small, or held in memory."""
    if not isinstance(source, Path):
        return source
    with open(source, "rb") as file:
        head = file.read(1 << 18)
    return head[: head.rfind(b"\n") + 1] or source


def row_sizes(source: Any, form: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """The number of each row in the file, from 1, and how many cells it has; ends where quotes go wrong."""
    mark = form["quote_char"]
    quoting: dict[str, Any] = {"quotechar": mark} if mark else {"quoting": csv.QUOTE_NONE}
    if isinstance(source, Path):
        text = source.read_text(encoding="utf-8-sig", errors="replace")
    else:
        text = source.decode(errors="replace")
    lines = io.StringIO(text.replace("\r", "\n") if form["eol_char"] == "\r" else text, newline="")
    for _ in range(form["skip_lines"]):
        lines.readline()
    try:
        for number, row in enumerate(csv.reader(lines, delimiter=form["separator"], **quoting), start=1):
            yield number + form["skip_lines"], len(row)
    except csv.Error:
        return


def longer_row(source: Any, width: int, form: dict[str, Any]) -> tuple[int, int] | None:
    """The first row that has more cells than `width`: its number in the file from 1, and how many cells."""
    return next(((at, size) for at, size in row_sizes(source, form) if size > width), None)


def text_trouble(path: Path, source: Any, error: Exception, form: dict[str, Any]) -> str:
    """Why a text table could not be read, and in which row."""
    text = str(error)
    if "utf-8" in text:
        raw = path.read_bytes()
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError as found:
            return f'"{path.name}" is not utf-8 from byte {found.start + 1:,} on. Choose another encoding.'
    if "more fields" in text or "extra_columns" in text:
        long = longer_row(source, len(form["new_columns"]), form)
        if long:
            return (
                f'Row {long[0]:,} of "{path.name}" has {long[1]:,} cells, but the first has '
                f"{len(form['new_columns']):,}. Choose another delimiter or quote, or mend that row."
            )
    if text.startswith('could not parse `"'):
        return f'"{path.name}" has a quote that nothing closes. Choose another quote, or mend that row.'
    return f'"{path.name}" cannot be read as a table: {text.splitlines()[0]}.'


def column_names(cells: list[Any]) -> list[str]:
    """Names as a header's cells give them: in one line, none empty, each once."""
    found: list[str] = []
    taken: set[str] = set()
    for at, cell in enumerate(cells, start=1):
        plain = "".join(letter if letter.isprintable() else " " for letter in str(cell or "")[:400])
        name = wanted = " ".join(plain.split())[:120] or f"column {at}"
        number = 2
        while name in taken:
            name, number = f"{wanted} ({number})", number + 1
        taken.add(name)
        found.append(name)
    return found


def text_form(
    path: Path, source: Any, delimiter: str, quote: str, header: bool, skip: int
) -> tuple[dict[str, Any], list[str]]:
    """How polars is to read a text table, and the names of its columns."""
    import polars as pl

    form: dict[str, Any] = {
        "separator": "\t" if delimiter == "spaces" else delimiter,
        "quote_char": quote or None,
        "skip_lines": skip,
        "eol_char": line_end(path) if isinstance(source, Path) else "\n",
        "infer_schema": False,
    }
    top = None
    for given in (beginning(source), source):  # of a large file, polars would look at much more for one row
        try:
            top = pl.read_csv(given, has_header=False, n_rows=1, truncate_ragged_lines=True, **form)
            break
        except pl.exceptions.PolarsError as error:
            why = str(error).splitlines()[0]
            if given is not source:
                continue
            if "utf-8" in why:
                raise ValueError(text_trouble(path, source, error, form)) from error
            raise ValueError(f'"{path.name}" holds no table that can be read: {why}.') from error
    assert top is not None
    form["has_header"] = header and bool(len(top))
    return form, column_names(list(top.row(0)) if header and len(top) else [None] * top.width)


def check_columns(file: str, names: list[str], wanted: list[str]) -> None:
    """Errors: `ValueError` where the file lacks a column that is wanted."""
    lost = [name for name in wanted if name not in names]
    if lost:
        held = ", ".join(f'"{name}"' for name in names[:8]) + (", ..." if len(names) > 8 else "")
        raise ValueError(
            f'"{file}" has no column "{lost[0]}"; it has {held}. Open it again, or set that column to ignore.'
        )


def read_text_table(
    path: Path,
    wanted: list[str] | None,
    columns: tuple[tuple[Any, ...], ...] = (),
    *,
    delimiter: str,
    quote: str,
    decimal: str,
    encoding: str,
    header: bool,
    skip: int,
    blanks: tuple[str, ...],
    most: int | None = None,
) -> Any:
    """The wanted columns (all by default) as a polars frame of text, numbers where `columns` say so.

    Only the first `most` rows where that is given.
    Errors: `ValueError` where a row is longer than the first, or bytes are not of the encoding.
    """
    import polars as pl

    source = decoded(path, encoding, delimiter)
    form, names = text_form(path, source, delimiter, quote, header, skip)
    if wanted is not None:
        check_columns(path.name, names, wanted)
    numeric = {name: pl.Float64 for name, kind, *_ in columns if kind in ("number", "whole")}
    form |= {"new_columns": names, "null_values": ["", *blanks], "n_rows": most}
    for types in (numeric, {}):  # as text where some number is written in a way of its own
        try:
            comma = decimal == "," and bool(types)
            # every column is read, as polars only then notices rows that are too long
            frame = pl.read_csv(source, **form, schema_overrides=types, decimal_comma=comma)
        except pl.exceptions.PolarsError as error:
            if not types:
                raise ValueError(text_trouble(path, source, error, form)) from error
        else:
            return frame if wanted is None else frame.select(wanted)
    raise AssertionError("never reached")


def blank_rows(frame: Any, blanks: tuple[str, ...]) -> np.ndarray[Any, Any]:
    """Which rows (N,) have nothing in any cell: lines between the rows, or below them."""
    import polars as pl

    if not frame.width:
        return np.zeros(len(frame), bool)
    empty = [
        pl.col(name).is_null() if kind != pl.String else pl.col(name).str.strip_chars().fill_null("") == ""
        for name, kind in frame.schema.items()
    ]
    whole: np.ndarray[Any, Any] = frame.select(pl.all_horizontal(empty)).to_series().to_numpy().astype(bool)
    return whole


class Cells:
    """The cells of one column, and where they stand, for the sentence on one that is odd."""

    def __init__(
        self, series: Any, name: str, file: str, first: int, blanks: tuple[str, ...], decimal: str
    ) -> None:
        import polars as pl

        self.name, self.file, self.first, self.decimal = name, file, first, decimal
        if series.dtype in (pl.Categorical, pl.Enum):
            series = series.cast(pl.String)
        if series.dtype == pl.String:
            series = series.str.strip_chars()
            series = series.set(series.is_in(["", *blanks]), None)
        self.series = series

    def values(self, kind: str, details: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        """The column as (N,) float64, NaN where a cell is missing; classes are numbered from 0."""
        if kind in ("number", "whole"):
            return self.numbers()
        if kind == "date":
            return self.days(details[0] if details else "")
        if kind in ("category", "yes-no"):
            return self.classes([str(one) for one in details])
        raise ValueError(f'"{self.name}" holds texts, which are no numbers. Set the column to ignore.')

    def numbers(self) -> np.ndarray[Any, Any]:
        import polars as pl

        series = self.series
        if series.dtype == pl.String:
            plain = series.str.replace("−", "-", literal=True)
            if self.decimal == ",":
                plain = plain.str.replace(".", "?", literal=True).str.replace(",", ".", literal=True)
            series = plain.cast(pl.Float64, strict=False)
            self.check(series, "is no number")
        elif series.dtype.is_temporal() or series.dtype.is_nested():
            raise ValueError(f'"{self.name}" in "{self.file}" no longer holds numbers. Open the file again.')
        found = series.cast(pl.Float64).to_numpy().astype(np.float64)
        return np.where(np.isfinite(found), found, np.nan)

    def days(self, form: str) -> np.ndarray[Any, Any]:
        """Days since 1970-01-01."""
        import polars as pl

        series = self.series
        if series.dtype == pl.String:
            series = series.str.to_datetime(form or None, strict=False, time_unit="us")
            self.check(series, f'is no date written as "{form}"')
        found = series.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64).to_numpy()
        days: np.ndarray[Any, Any] = found.astype(np.float64) / 86_400_000_000
        return days

    def classes(self, names: list[str]) -> np.ndarray[Any, Any]:
        import polars as pl

        series = self.texts()
        numbers = series.replace_strict(
            pl.Series(names, dtype=pl.String),
            pl.Series(range(len(names)), dtype=pl.Float64),
            default=None,
            return_dtype=pl.Float64,
        )
        self.check(numbers, "is none of the classes that were there when it was opened")
        found: np.ndarray[Any, Any] = numbers.to_numpy().astype(np.float64)
        return found

    def texts(self) -> Any:
        """The cells as text, as classes are named by it."""
        import polars as pl

        if self.series.dtype == pl.Boolean:
            return self.series.replace_strict([False, True], ["no", "yes"], return_dtype=pl.String)
        return self.series.cast(pl.String)

    def keys(self) -> np.ndarray[Any, Any]:
        """A number for each different text, in the order of texts; objects keep the texts."""
        texts: np.ndarray[Any, Any] = self.texts().fill_null("").to_numpy().astype(str)
        return texts

    def check(self, parsed: Any, what: str) -> None:
        """Errors: `ValueError` on the first cell that is not blank and was not understood."""
        odd = (self.series.is_not_null() & parsed.is_null()).arg_true()
        if len(odd):
            at = int(odd[0])
            more = f", and {len(odd) - 1:,} more like it" if len(odd) > 1 else ""
            raise ValueError(
                f'Row {self.first + at:,} of "{self.file}" has "{str(self.series[at])[:60]}" '
                f'in "{self.name}", '
                f"which {what}{more}. Mend it, open the file again, or change what the column is."
            )


def split_keys(
    values: np.ndarray[Any, Any], name: str, used: list[tuple[str, str, str, tuple[Any, ...]]]
) -> np.ndarray[Any, Any]:
    """What the dealer looks at, a number a row. Errors: `ValueError` for a word that names no split."""
    role = next(role for column, _, role, _ in used if column == name)
    if role == "split":
        words = {"train": 0, "training": 0, "val": 1, "valid": 1, "validation": 1, "dev": 1, "test": 2}
        words |= {"testing": 2, "": 3}
        texts, at = np.unique(values, return_inverse=True)
        odd = [text for text in texts if text.casefold() not in words]
        if odd:
            raise ValueError(f'"{name}" says "{odd[0]}", but a split is train, validation or test.')
        return np.array([words[text.casefold()] for text in texts], np.int64)[at]
    if role == "group":
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    return values if role == "time" else values.astype(np.int64)


def filled(
    values: np.ndarray[Any, Any], kind: str, train: np.ndarray[Any, Any], missing: str
) -> np.ndarray[Any, Any]:
    """Missing values take the training rows' mean or median; those of classes, their most common class."""
    lost = np.isnan(values)
    if not lost.any():
        return values
    known = values[train][~lost[train]]
    if not len(known):
        return np.where(lost, 0.0, values)
    if kind in ("category", "yes-no"):
        fill = float(np.bincount(known.astype(np.int64)).argmax())
    else:
        fill = float(np.median(known) if missing == "fill with median" else known.mean())
    return np.where(lost, fill, values)


def scaled_by(
    values: np.ndarray[Any, Any], train: np.ndarray[Any, Any], scaling: str
) -> np.ndarray[Any, Any]:
    """Values in the units of the training rows; what is the same in all of them becomes 0."""
    known = values[train]
    if scaling == "standardise":
        middle, unit = known.mean(), known.std()
    elif scaling == "0 to 1":
        middle, unit = known.min(), known.max() - known.min()
    else:
        return values
    scaled: np.ndarray[Any, Any] = (values - middle) / (unit if unit > 1e-12 else 1.0)
    return scaled


def as_features(
    values: np.ndarray[Any, Any],
    kind: str,
    details: tuple[Any, ...],
    train: np.ndarray[Any, Any],
    missing: str,
    scaling: str,
    dates: str,
) -> list[np.ndarray[Any, Any]]:
    """The features (N,) that an input column becomes; a class that no training row has is all zeros."""
    values = filled(values, kind, train, missing)
    if kind == "category":
        seen = np.unique(values[train])
        return [(values == at) & (at in seen) for at in range(len(details))]
    if kind == "yes-no":
        return [values]
    found = [scaled_by(values, train, scaling)]
    if kind == "date" and dates == "days and cycles":
        turns = [2 * math.pi * values / days for days in (365.2425, 7.0, 1.0)]
        found += [turn(angle) for angle in turns for turn in (np.sin, np.cos)]
    return found


def port_name(name: str) -> str:
    """What a target column is called on the node: "features" is taken."""
    return "features (2)" if name == "features" else name


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


def dealt_table(
    frame: Any,
    columns: tuple[tuple[Any, ...], ...],
    device: str,
    *,
    file: str,
    first: int,
    blanks: tuple[str, ...] = (),
    decimal: str = ".",
    missing: str = "drop rows",
    scaling: str = "standardise",
    target_scaling: str = "none",
    dates: str = "days",
    by: str = "",
    deal: Callable[..., dict[str, Tensor]],
    **dealing: Any,
) -> dict[str, dict[str, Any]]:
    """A polars frame as {split: {"features": (N, D), target: (N, 1) or (N,), ...}}.

    `first` is the number of the frame's first row in the file, `by` the column whose values deal the rows.
    Errors: `ValueError` with the row and the column.
    """
    used = [(str(name), kind, role, tuple(rest)) for name, kind, role, *rest in columns if role != "ignore"]
    values: dict[str, np.ndarray[Any, Any]] = {}
    kept = ~blank_rows(frame, blanks)
    for name, kind, role, details in used:
        cells = Cells(frame[name], name, file, first, blanks, decimal)
        values[name] = cells.keys() if role in ("group", "split") else cells.values(kind, details)
        if role in ("target", "weight", "time") or (role == "input" and missing == "drop rows"):
            kept &= ~np.isnan(values[name])
    if not kept.any():
        raise ValueError(f'"{file}" has no row in which nothing is missing. Fill what is missing instead.')
    values = {name: found[kept] for name, found in values.items()}
    count = int(kept.sum())
    keys = torch.from_numpy(split_keys(values[by], by, used)) if by else None
    rows = deal(count, keys, **dealing)
    train = rows["train"].numpy()
    found: dict[str, Tensor] = {}
    parts = [
        part
        for name, kind, role, details in used
        if role == "input"
        for part in as_features(values[name], kind, details, train, missing, scaling, dates)
    ]
    if parts:
        features = np.empty((count, len(parts)), np.float32)
        for at, part in enumerate(parts):
            features[:, at] = part
        found["features"] = torch.from_numpy(features)
    for name, kind, role, _ in sorted(used, key=lambda one: one[2]):  # targets, then weights
        if role not in ("target", "weight"):
            continue
        port, column = port_name(name), values[name]
        if kind in ("category", "yes-no"):
            found[port] = torch.from_numpy(column.astype(np.int64))
            if kind == "yes-no":
                found[f"{port} as number"] = torch.from_numpy(column.astype(np.float32))[:, None]
        else:
            scaled = scaled_by(column, train, target_scaling if role == "target" else "none")
            found[port] = torch.from_numpy(scaled.astype(np.float32))[:, None]
    return dealt_columns(found, rows, device)


def load_text_table(
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
    deal: Callable[..., dict[str, Tensor]],
    **how: Any,
) -> dict[str, dict[str, Any]]:
    """A file of delimited text as {split: {column: values}}; `skip` lines stand before the table.

    Errors: `ValueError` with the row, counted from the file's first, and the column.
    """
    form: dict[str, Any] = {"delimiter": delimiter, "quote": quote, "decimal": decimal, "encoding": encoding}
    path, wanted = folder / file, wanted_columns(columns)
    frame = read_text_table(path, wanted, columns, **form, header=header, skip=skip, blanks=blanks)
    first = skip + header + 1
    return dealt_table(
        frame, columns, device, file=file, first=first, blanks=blanks, decimal=decimal, deal=deal, **how
    )


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
        self.hidden1 = nn.Linear(9, 16)
        self.hidden2 = nn.Linear(16, 16)
        self.species = nn.Linear(16, 3)

    def forward(self, features: Tensor) -> Tensor:  # (N, 9)
        x = F.relu(self.hidden1(features))          # (N, 16)
        x = F.relu(self.hidden2(x))                 # (N, 16)
        return self.species(x)                      # (N, 3)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    species = model(batch["features"])
    return {"loss": F.cross_entropy(species, batch["species"])}


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    species = model(batch["features"])
    return {
        "loss": F.cross_entropy(species, batch["species"]),
        "accuracy": (species.argmax(1) == batch["species"]).float().mean(),
    }


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: features (N, 9); species (N,)."""
    return load_text_table(
        folder,
        device,
        file="penguins.csv",
        columns=(
            ("species", "category", "target", "Adelie", "Chinstrap", "Gentoo"),
            ("island", "category", "input", "Biscoe", "Dream", "Torgersen"),
            ("bill_length_mm", "number", "input"),
            ("bill_depth_mm", "number", "input"),
            ("flipper_length_mm", "whole", "input"),
            ("body_mass_g", "whole", "input"),
            ("sex", "category", "input", "FEMALE", "MALE"),
        ),
        missing="drop rows",
        scaling="standardise",
        target_scaling="none",
        dates="days",
        blanks=(),
        by="species",
        deal=dealt_by_class,
        validation=0.2,
        test=0.2,
        seed=0,
        delimiter=",",
        quote='"',
        decimal=".",
        encoding="utf-8",
        header=True,
        skip=0,
    )


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["features"])
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
        size = len(batch["features"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.01)


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    optimiser = optimiser_for(model)
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    best = float("inf")
    kept = None
    waited = 0
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
            waited = 0
            kept = {name: value.clone() for name, value in model.state_dict().items()}
        else:
            waited += 1
            if waited == PATIENCE:
                break
    if kept is not None:
        model.load_state_dict(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description="Penguins")
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).parent / "files", help="folder that holds penguins.csv"
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
