"""Files that end or defeat the native reader of their kind cost a sentence, not the program."""

from __future__ import annotations

import io
import json
import zipfile
from inspect import unwrap
from pathlib import Path
from unittest.mock import Mock

import polars as pl
import pytest

from engine.data.open.opening import open_data
from engine.data.tables.apart import READER, connect
from engine.data.tables.looks import look_at_table
from engine.data.tables.reader_process import answer_to
from engine.data.tables.records import read_records
from engine.data.watch import Stopped, Watch
from engine.document.shipped import reading
from engine.errors import DataError
from tests.engine.data.open.test_tables import in_order, workbook

ROWS: list[list[str | float]] = [["a", "kind"], *[[at / 2, "xy"[at % 2]] for at in range(30)]]


def with_part(path: Path, name: str, content: str) -> Path:
    """A sound workbook, one part of which is this."""
    workbook(path, {"flowers": ROWS})
    out = io.BytesIO()
    with zipfile.ZipFile(path) as book, zipfile.ZipFile(out, "w") as other:
        for part in book.namelist():
            if part != name:
                other.writestr(part, book.read(part))
        other.writestr(name, content)
    path.write_bytes(out.getvalue())
    return path


def test_a_book_that_ends_its_reader_is_refused_and_the_next_one_is_read(tmp_path: Path) -> None:
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    many = f'<sst xmlns="{space}" count="4000000000" uniqueCount="4000000000"><si><t>a</t></si></sst>'
    with pytest.raises(DataError, match=r'"sst\.xlsx" (cannot be read|is no whole spreadsheet)'):
        open_data(with_part(tmp_path / "sst.xlsx", "xl/sharedStrings.xml", many))
    workbook(tmp_path / "sound.xlsx", {"flowers": ROWS})
    found = open_data(tmp_path / "sound.xlsx")
    assert in_order(found.params)["features"][:, 0].tolist() == [at / 2 for at in range(30)]


def test_a_process_that_was_idle_or_lost_is_replaced(tmp_path: Path) -> None:
    workbook(tmp_path / "sound.xlsx", {"flowers": ROWS})
    open_data(tmp_path / "sound.xlsx")
    process = READER._process
    assert process is not None
    process.kill()
    process.wait()
    assert open_data(tmp_path / "sound.xlsx").params["rows"] == 30


def test_reading_a_book_can_be_stopped(tmp_path: Path) -> None:
    workbook(tmp_path / "sound.xlsx", {"flowers": ROWS})
    READER.end()
    asked: list[str] = []

    def stopped() -> bool:
        return "reading the spreadsheet" in asked

    with pytest.raises(Stopped):
        open_data(tmp_path / "sound.xlsx", Watch(lambda _, doing: asked.append(doing), stopped))
    assert READER._process is None


def test_a_panic_is_an_error_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"a": [1.5, 2.5] * 20, "kind": ["x", "y"] * 20}).write_parquet(path)
    params = open_data(path).params

    def panics(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException("called `Result::unwrap()` on an `Err` value")

    monkeypatch.setattr(pl.LazyFrame, "collect", panics)
    for look in (lambda: open_data(path), lambda: look_at_table({**params, "delimiter": ","})):
        with pytest.raises(DataError, match="parquet"):
            look()
    with pytest.raises(DataError, match="gave up"), reading():
        panics()


def large_json(path: Path, rows: int = 40) -> Path:
    """A table larger than JSON that is read at once, of a few rows."""
    filled = " " * (220 << 10)
    path.write_text(json.dumps([{"a": at / 2, "kind": "xy"[at % 2] + filled} for at in range(rows)]), "utf-8")
    return path


def test_large_json_is_read_in_another_process_and_can_be_stopped(tmp_path: Path) -> None:
    path = large_json(tmp_path / "large.json")
    READER.end()
    assert read_records(path, ["a"])["a"].to_list() == [at / 2 for at in range(40)]
    assert READER._process is not None
    asked: list[str] = []
    with pytest.raises(Stopped):
        open_data(path, Watch(lambda _, doing: asked.append(doing), lambda: "reading the table" in asked))
    assert READER._process is None


def test_small_json_is_read_at_once(tmp_path: Path) -> None:
    READER.end()
    path = tmp_path / "small.json"
    path.write_text(json.dumps([{"a": at} for at in range(3)]), "utf-8")
    assert read_records(path, None)["a"].to_list() == [0, 1, 2]
    assert READER._process is None


def test_json_that_takes_too_much_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = large_json(tmp_path / "large.json")
    monkeypatch.setattr(json, "loads", raises := Mock(side_effect=MemoryError))
    found = answer_to(
        {"module": read_records.__module__, "function": "read_records", "path": str(path), "rest": [None]},
        tmp_path / "cells",
    )
    assert raises.called and "more memory" in found["error"]


def test_training_reads_large_json_in_another_process_too(tmp_path: Path) -> None:
    names = {"read_records": unwrap(read_records)}
    connect(names)
    assert names["read_records"] is read_records
    others = {"read_records": unwrap(look_at_table)}  # of the user's own
    connect(others)
    assert others["read_records"] is not read_records
