"""Your own time series as a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.catalogue import Column, Emitted, Emitter, param
from engine.catalogue.axes import SEQUENCE
from engine.catalogue.params import FilePath, Names, Rows
from engine.catalogue.traits import FileForm
from engine.errors import ParamError
from nodes.data.delimited import Numbered
from nodes.data.own_file import OwnFile
from nodes.data.splitting import BLOCKS, IN_TIME

AS_IN_FILE, BY_TIME = "as in the file", "by time"
STOP, INTERPOLATE, CARRY = "stop", "interpolate", "carry forward"
NUMBERS = ("number", "whole", "yes-no")


class SeriesFile(Numbered, OwnFile):
    """One or several time series from a file of your own: windows of past readings, and what follows each.

    A row of the file is a reading; the parts for training, validation and test follow each other in time.
    Mean and deviation come from the training readings alone.
    """

    reads = FileForm.SERIES
    family = "files"
    title = "Time series"
    aliases = ("forecast", "windows", "lags", "horizon", "csv", "own data")
    source = "a file of your own"
    path: FilePath = param("", label="File", doc="a CSV, text, Parquet, Arrow, Excel or .npy file")
    stamp: str = param("", hidden=True, doc="marks the content that the columns were found in")
    rows: int = param(0, minimum=0, hidden=True, doc="how many rows were found")
    plain: bool = param(False, hidden=True, doc="whether the file is as simple readers expect it")
    loose: bool = param(False, hidden=True, doc="whether it is but for cells with blanks, or odd numbers")
    table: Rows = param(
        (), hidden=True, label="Columns", doc="name, kind and role of every column of the file"
    )
    window_columns: Names = param((), label="Window of", doc="columns in a window; all where empty")
    next_columns: Names = param(
        (), label="To predict", doc="columns to predict; where empty, those of the window"
    )
    time: str = param("", label="Time column", doc="says when a reading was taken; empty if the rows do")
    series: str = param("", label="Series column", doc="tells several series in one file apart")
    order: str = param(
        AS_IN_FILE, choices=(AS_IN_FILE, BY_TIME), doc="by time: rows are sorted by the time column first"
    )
    skip: int = param(
        0, minimum=0, label="Skip readings", doc="so many readings at the beginning of each series stay out"
    )
    most: int | None = param(
        None, minimum=2, label="Use readings", doc="at most so many of each series; all where empty"
    )
    lag: int = param(
        24, minimum=1, maximum=100_000, label="Window", doc="how many past readings are in a window"
    )
    horizon: int = param(
        1, minimum=1, maximum=10_000, doc="how many of the readings that follow are predicted"
    )
    stride: int = param(1, minimum=1, maximum=100_000, doc="from one window's beginning to the next one's")
    missing: str = param(
        STOP,
        choices=(STOP, INTERPOLATE, CARRY),
        label="Missing readings",
        doc="stop and say where; interpolate on a line between neighbours; or carry the last one forward. "
        "Nothing is filled from a later part",
    )
    difference: int = param(
        0,
        minimum=0,
        maximum=3,
        label="Differences",
        doc="1: changes from reading to reading; 2: of these again",
    )
    standardise: bool = param(
        True, doc="subtract each column's mean and divide by its deviation, both of the training readings"
    )
    clock: bool = param(
        False, label="Time of day and year", doc="sine and cosine of where in day, week and year; needs dates"
    )
    split: str = param(
        IN_TIME,
        choices=(IN_TIME, BLOCKS),
        doc="in time: the last readings for test, those before for validation; blocks of time: one of "
        "several blocks for validation and all before it for training",
    )
    validation: float = param(
        0.2,
        minimum=0,
        below=1,
        label="Validation fraction",
        doc="fraction of readings that decide when to stop",
    )
    test: float = param(
        0.2,
        minimum=0,
        below=1,
        label="Test fraction",
        doc="fraction of readings that is only evaluated in the end",
    )
    folds: int = param(
        5, minimum=2, maximum=1000, when=("split", (BLOCKS,)), doc="into how many parts, with blocks of time"
    )
    fold: int = param(
        1, minimum=1, maximum=1000, when=("split", (BLOCKS,)), doc="which of them is for validation, from 1"
    )
    gap: int = param(0, minimum=0, maximum=1_000_000, doc="readings left out before the border of two parts")
    reach_back: bool = param(
        False,
        label="Windows reach back",
        doc="whether a window may see the end of the part before; what it predicts never crosses a border",
    )

    def plainly(self) -> bool:
        return self.plain

    def loosely(self) -> bool:
        return self.loose

    def seen(self) -> tuple[str, ...]:
        """The columns of a window."""
        return self.window_columns or self._numbers("input", "target")

    def predicted(self) -> tuple[str, ...]:
        """The columns that are predicted."""
        return self.next_columns or self._numbers("target") or self.seen()

    def called(self, column: str) -> str:
        """What the numbers of a column are in the file: `co2`, or `change of co2` for differences."""
        names = self.predicted() if column == "next" else ()
        if len(names) != 1:
            return column
        return names[0] if not self.difference else f"change of {names[0]}"

    def columns(self) -> tuple[Column, ...]:
        seen, predicted = self.seen(), self.predicted()
        if not seen:
            return ()
        width = (len(predicted),)
        ahead = width if self.horizon == 1 else (self.horizon, *(width if len(predicted) > 1 else ()))
        columns = [
            Column(
                "window",
                (self.lag, len(seen)),
                axes=SEQUENCE,
                doc=f"the last readings, oldest first; {_listed(seen)}",
            ),
            Column("next", ahead, doc=_listed(predicted)),
        ]
        if self.clock:
            columns.append(
                Column(
                    "clock",
                    (self.lag, 6),
                    axes=SEQUENCE,
                    doc="sine, cosine of the day, of the week and of the year",
                )
            )
        return tuple(columns)

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.series.files import form_for, load_series, reader_of

        if not self.path:
            raise ParamError("No file is chosen yet.")
        time, series = self._column(self.time, "time"), self._column(self.series, "group")
        if (self.order == BY_TIME or self.clock) and not time:
            raise ParamError("No column says the time: name it, or leave the rows in their order.")
        form = {**self.form(), "encoding": self.encoding, "sheet": ""}
        used = {*self.seen(), *self.predicted(), time, series}
        return e.load(
            load_series,
            file=Path(self.path).name,
            columns=tuple(row for row in self.table if row[0] in used),
            read=reader_of(Path(self.path)),
            table=form_for(Path(self.path), form),
            inputs=self.seen(),
            targets=self.predicted(),
            time=time,
            series=series,
            order=self.order,
            skip=self.skip,
            most=self.most,
            lag=self.lag,
            horizon=self.horizon,
            stride=self.stride,
            reach_back=self.reach_back,
            between=self.gap,
            missing=self.missing,
            difference=self.difference,
            standardise=self.standardise,
            clock=self.clock,
            **self._splitting(),
        )

    def lacks(self) -> frozenset[str]:
        return super().lacks() - (set() if self.split == IN_TIME else {"validation"})

    def _splitting(self) -> dict[str, Any]:
        from engine.data import splits as ways

        if self.split == IN_TIME:
            if self.validation + self.test >= 1:
                raise ParamError(
                    "Validation and test fractions must leave readings to train on: less than 1 together."
                )
            return {"splitter": ways.split_in_time, "validation": self.validation, "test": self.test}
        if self.fold > self.folds:
            raise ParamError(f"Fold is at most {self.folds}, the number of folds; not {self.fold}.")
        return {
            "splitter": ways.split_in_blocks,
            "gap": 0,
            "folds": self.folds,
            "fold": self.fold - 1,
            "test": self.test,
        }

    def _numbers(self, *roles: str) -> tuple[str, ...]:
        return tuple(str(row[0]) for row in self.table if row[1] in NUMBERS and row[2] in roles)

    def _column(self, named: str, role: str) -> str:
        """The column the user named, else the one with the role. Errors: `ParamError` for one not there."""
        names = [str(row[0]) for row in self.table]
        wanted = (*self.window_columns, *self.next_columns, named)
        lost = [name for name in wanted if name and name not in names]
        if lost:
            raise ParamError(f'The file has no column "{lost[0]}"; it has {_listed(names)}.')
        return named or next((str(row[0]) for row in self.table if row[2] == role), "")

    def summary(self) -> str:
        if not self.table:
            return "no file yet"
        ahead = "" if self.horizon == 1 else f" · {self.horizon:,} ahead"
        return f"{self.rows:,} readings · window {self.lag:,}{ahead}"


def _listed(names: Any, most: int = 20) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
