"""A text table that is too large to hold is found to be what it is when held, however it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.data.open import tables as open_table
from engine.data.open.importing import guessed_form, preview, without_odd_rows
from engine.data.open.opening import Opened, open_data
from engine.data.tables import looks
from engine.data.tables import stream as table_stream
from engine.data.tables.looks import details_for, look_at_table
from engine.data.watch import Stopped, Watch
from engine.errors import DataError
from nodes.data.table_file import TableFile
from tests.engine.data.open.test_tables import loaded

ROWS = 300


def lines(mark: str = ",", word: str = "red") -> list[str]:
    return [
        mark.join(("size", "colour", "y")),
        *(mark.join((repr(at / 8), ("blue", word)[at % 2], str(at % 3))) for at in range(ROWS)),
    ]


def joined(rows: list[str], encoding: str = "utf-8", end: str = "\n") -> bytes:
    return end.join([*rows, ""]).encode(encoding)


def with_rows(rows: list[str], **more: str) -> list[str]:
    """More rows below those of these numbers, from the last."""
    for at, row in sorted(((int(name[1:]), row) for name, row in more.items()), reverse=True):
        rows.insert(at, row)
    return rows


FORMS = {
    "rows that are longer": joined(with_rows(lines(), _7="1,red,2,3", _120="1,red,2,3,4", _301="0,,0,1")),
    "rows that are longer in latin-1": joined(with_rows(lines(word="größer"), _9="1,ö,2,3"), "latin-1"),
    "latin-1": joined(lines(word="größer"), "latin-1", "\r\n"),
    "utf-16": joined(lines(word="赤"), "utf-16"),
    "cells between spaces": joined(lines("   ")),
    "quotes behind a backslash": joined(
        with_rows(lines(), **{f"_{at}": '2,"a \\"red\\" one",1' for at in range(2, 60, 7)})
    ),
    "a delimiter at the end of rows": joined(
        [f"{line}{',' * (at > 0)}" for at, line in enumerate(lines())]
    ),
    "blank lines": joined([*with_rows(lines(), _5="", _6=",,", _200="  "), "", ""]),
    "rows that end early": joined(with_rows(lines(), _5="1", _9="1,red", _20="  ")),
    "a line of units": joined(with_rows(lines(), _1="cm,-,-")),
    "quotes that nothing closes": joined(
        [*lines("\t"), *(f'{at}\t"red\t{at % 3}' for at in range(0, 60, 7))]
    ),
    "cells over several lines": joined(with_rows(lines(), _30='1,"red\nor so",1')),
    "weka": joined(
        [
            "% of old",
            "@relation r",
            "@attribute size numeric",
            "@attribute colour {blue,red}",
            "@attribute y {0,1,2}",
            "@data",
            *lines()[1:],
        ]
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("NEUROLOOM_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(table_stream, "SAMPLE", 150)
    monkeypatch.setattr(table_stream, "PIECE", 70)
    return tmp_path


def opened(path: Path, name: str) -> Opened:
    return without_odd_rows(path, Watch()) if "longer" in name else open_data(path)


def given(found: Opened) -> dict[str, Any]:
    params = {spec.name: spec.default for spec in TableFile.params} | dict(found.params)
    return {name: value for name, value in params.items() if name not in ("plain", "loose")}


@pytest.mark.parametrize("name", FORMS)
def test_a_large_text_is_read_as_a_small_one(name: str, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = small / "table.csv"
    path.write_bytes(FORMS[name])
    held = opened(path, name)
    rows = look_at_table(given(held)).rows
    assert rows == held.params["rows"] >= ROWS
    small_ones = loaded(given(held))
    monkeypatch.setattr(open_table, "LARGE", 100)
    monkeypatch.setattr(Path, "read_bytes", never)
    monkeypatch.setattr(Path, "read_text", never)
    large = opened(path, name)
    monkeypatch.undo()
    monkeypatch.setenv("NEUROLOOM_HOME", str(small / "home"))
    assert given(large) == given(held) and large.remarks == held.remarks
    assert not list((small / "home" / "tables").glob("part-*")), "a copy is left"
    many = loaded(given(large), memory=0)
    for split, part in small_ones.items():
        for column, values in part.items():
            assert many[split][column][:].equal(values)


def never(*_: Any, **__: Any) -> Any:
    raise AssertionError("a large file is read as a whole")


def test_of_a_large_text_only_the_rows_that_are_shown_are_held(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells in quotes go over two lines, so that as many lines as rows are too few."""
    path = small / "table.csv"
    rows = [f'{at},"a\nb",{at % 2}' for at in range(ROWS)]
    path.write_bytes(joined(["size,text,y", *rows[:99], "1,2,3,4,5", *rows[99:]], "latin-1"))
    params = given(without_odd_rows(path, Watch()))
    monkeypatch.setattr(Path, "read_bytes", never)
    assert look_at_table(params, 10).rows == 10 and not look_at_table(params, 10).whole
    assert look_at_table(params).rows == ROWS and look_at_table(params).whole
    assert looks.lacking(params) == ()
    assert details_for(params, "y", "category") == ("0", "1")
    found = preview(path, guessed_form(path))
    assert len(found.rows) >= 100 and len(found.odd) == 1 and not found.trouble


def test_a_byte_of_another_encoding_is_named_wherever_it_is(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = small / "table.csv"
    content = joined(with_rows(lines(), _200="1,r\xe9d,2"), "latin-1")
    path.write_bytes(content)
    monkeypatch.setattr(open_table, "LARGE", 100)
    said = f'"table.csv" is not utf-8 from byte {content.index(0xE9) + 1:,} on.'
    for form in ({}, {"aside": (3,)}, {"quote": "\\"}):
        with pytest.raises(DataError) as told:
            open_table.open_as(path, {"path": str(path), **form}, Watch())
        assert told.value.message.startswith(said)


def test_the_copy_of_a_large_text_is_told_stopped_and_has_room(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = small / "table.csv"
    path.write_bytes(FORMS["latin-1"])
    monkeypatch.setattr(open_table, "LARGE", 100)
    said: list[str] = []
    open_data(path, Watch(lambda _, doing: said.append(doing)))
    assert "reading the lines" in said and "reading" in said
    with pytest.raises(Stopped):
        open_data(path, Watch(stopped=lambda: "reading the lines" in said))

    def full(*_: Any) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(table_stream, "text_as_utf8", full)
    with pytest.raises(DataError, match=r'A copy of "table.csv" cannot be kept in .*: No space left'):
        open_data(path)
    assert not list((small / "home" / "tables").glob("part-*"))
