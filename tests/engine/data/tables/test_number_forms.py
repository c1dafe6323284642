"""Numbers and times as people write them: each cell has the value that a reader would take it for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from engine.data.open import tables as open_table
from engine.data.tables import stream as table_stream
from engine.data.tables.cells import written_numbers
from engine.data.tables.looks import details_for, look_at_table
from engine.data.tables.number_forms import number_form
from nodes.data.table_file import TableFile
from tests.engine.data.open.test_tables import in_order, kinds, opened

READ = [
    (["1,234.5", "-2,000", "950", "1,234,567.25"], ".", "1,234.5", [1234.5, -2000, 950, 1234567.25]),
    (["1.234,5", "−2.000", "950", "1.234.567,25"], ".", "1.234,5", [1234.5, -2000, 950, 1234567.25]),
    (["1.234", "-2.000", "950"], ",", "1.234,5", [1234, -2000, 950]),
    (["1,234", "5,678"], ".", "1,234.5", [1234, 5678]),
    (["1 234", "12\u202f345,5", "7\u00a0000"], ",", "1 234,5", [1234, 12345.5, 7000]),
    (["1'234.50", "12’345", "-7"], ".", "1'234.5", [1234.5, 12345, -7]),
    (["$1,234.50", "-$2", "$-3", "($4.5)", "+$7"], ".", "1,234.5 $", [1234.5, -2, -3, -4.5, 7]),
    (["1.234,50 €", "2 €", "-3,5 €"], ".", "1.234,5 €", [1234.5, 2, -3.5]),
    (["12.5 %", "3%", "-1 %"], ".", "1234.5 %", [12.5, 3, -1]),
    (["12,5 %", "3%"], ".", "1234,5 %", [12.5, 3]),
    (["1,250 €", "2,500 €"], ",", "1234,5 €", [1.25, 2.5]),
    (["1,250 €", "2,500 €"], ".", "1,234.5 €", [1250, 2500]),
    (["US$ 5", "US$6.5"], ".", "1234.5 US$", [5, 6.5]),
]


@pytest.mark.parametrize(("cells", "decimal", "form", "values"), READ, ids=str)
def test_every_form_is_known_and_read(cells, decimal, form, values):
    texts = pl.Series("a", cells)
    assert number_form(texts, decimal) == form
    assert written_numbers(texts, form).to_list() == values


@pytest.mark.parametrize(
    "cells",
    [
        ["12,34", "5,6"],  # nothing is parted: two numbers, perhaps
        ["1,23,456", "5"],
        ["0,125", "1,250"],
        ["5 %", "5 €"],
        ["5 %", "5"],
        ["5 kg"],
        ["1.2.3"],
        ["2019-01-02"],
        ["555 12 34"],
        ["(030) 123"],
        ["1,234", "many"],
        [],
    ],
    ids=str,
)
def test_what_a_whole_column_does_not_say_is_no_number(cells):
    assert number_form(pl.Series("a", cells, pl.String), ".") is None


def amounts(path: Path, rows: int = 40) -> Any:
    lines = ["item;price;share;size;left"]
    lines += [f"a{at % 3};€{at * 400 + 0.5:,.2f};{at / 4:.2f} %;{at * 150:,};{at % 7}" for at in range(rows)]
    return opened(path, "\n".join(lines))


def test_a_table_of_amounts(tmp_path):
    found = amounts(tmp_path / "a.csv")
    table = {row[0]: row[1:] for row in found.params["table"]}
    assert table["price"] == ("number", "input", "1,234.5 €")
    assert table["share"] == ("number", "input", "1234.5 %")
    assert table["size"] == ("whole", "input", "1,234.5")
    assert "decimal" not in found.params  # 1,234 is no 1.234 here
    assert 'Numbers written as 1,234.5 € are read as 1234.5, without the €: "price".' in found.remarks
    assert 'Numbers written as 1,234.5 are read as 1234.5: "size".' in found.remarks
    rows = in_order(found.params)["features"]
    assert rows[39].tolist() == [1, 0, 0, 15600.5, 9.75, 5850]
    look = {one.name: one for one in look_at_table({**defaults(), **found.params}).columns}
    assert look["price"].values[-1] == 15600.5 and not look["price"].trouble


def defaults() -> dict[str, Any]:
    return {spec.name: spec.default for spec in TableFile.params}


def test_a_person_may_read_them_as_something_else_and_back(tmp_path):
    found = amounts(tmp_path / "a.csv")
    params = {**defaults(), **found.params}
    assert details_for(params, "size", "category")[:3] == ("0", "150", "300")
    assert details_for(params, "size", "number") == ("1,234.5",)
    assert details_for(params, "left", "number") == ()
    again = open_table.open_as(tmp_path / "a.csv", {**params, "decimal": ","}, table_stream.Watch())
    assert in_order(again.params)["features"][8, 5] == pytest.approx(1.2)


@pytest.mark.parametrize(("cells", "value"), [("1,234", 1.234), ("0,234", 0.234)])
def test_a_comma_that_may_be_either_is_told(tmp_path, cells, value):
    found = opened(tmp_path / "a.csv", "x;y\n" + f"{cells};3,500\n" * 20 + "2,500;1,125\n" * 20)
    assert found.params["decimal"] == ","
    told = 'A comma in "x" is read as the decimal mark: 1,234 is a little more than 1.'
    assert any(remark.startswith(told) for remark in found.remarks) == (value > 1)
    assert in_order(found.params)["features"][0].tolist() == pytest.approx([value])


def test_in_a_table_with_commas_between_cells_they_part_thousands(tmp_path):
    found = opened(tmp_path / "a.csv", "x,y\n" + '"1,234","2,500,000"\n' * 20 + '"5,000","12"\n' * 20)
    assert kinds(found)["x"][0] == "whole" and "decimal" not in found.params
    assert in_order(found.params)["features"][0].tolist() == [1234]


def test_missing_and_odd_cells_among_amounts(tmp_path):
    rows = [f'"{at * 100:,}",{at}' for at in range(40)]
    rows[3] = "NA,3"
    found = opened(tmp_path / "a.csv", "x,y\n" + "\n".join(rows))
    assert kinds(found)["x"][0] == "whole" and found.params["missing_as"] == ("NA",)
    assert len(in_order(found.params)["features"]) == 39
    (tmp_path / "a.csv").write_text("x,y\n" + "\n".join(rows).replace('"3,000"', "3;000"))
    with pytest.raises(
        ValueError, match=r'Row 32 of "a.csv" has "3;000" in "x", which is no number written as'
    ):
        in_order(found.params)


@pytest.mark.parametrize("late", ["1,234", "12,345,678"])
def test_large_files_of_amounts(tmp_path, monkeypatch, late):
    monkeypatch.setattr(open_table, "LARGE", 0)
    monkeypatch.setattr(table_stream, "SAMPLE", 10)
    monkeypatch.setattr(table_stream, "PIECE", 16)
    rows = [
        f"{at},${at * 90:,}.00,{at % 5}" if at * 90 < 1000 else f'{at},"${at * 90:,}.00",{at % 5}'
        for at in range(60)
    ]
    rows[50] = f'"{late}",NA,1'
    found = opened(tmp_path / "a.csv", "n,price,left\n" + "\n".join(rows))
    table = {row[0]: row[1:] for row in found.params["table"]}
    assert table["price"] == ("number", "input", "1,234.5 $")
    assert table["n"] == ("whole", "input", "1,234.5")
    assert found.params["missing_as"] == ("NA",)
    read = in_order(found.params)["features"]
    assert len(read) == 59 and read[49].tolist() == [49, 4410]
    rows[55] = "55,much,0"
    assert kinds(opened(tmp_path / "b.csv", "n,price,left\n" + "\n".join(rows)))["price"][0] == "text"


INSTANTS = [
    (
        ["2024-03-01T10:00:00+02:00", "2024-03-01T08:00:00Z", "2024-03-01T03:00:00-0500"],
        "%Y-%m-%dT%H:%M:%S%.f%#z",
    ),
    (["2024-03-01 10:00 +02:00", "2024-03-01 08:00 Z", "2024-03-01 03:00 -0500"], "%Y-%m-%d %H:%M%#z"),
    (["2024-03-01T08:00:00Z"] * 3, "%Y-%m-%dT%H:%M:%S%.fZ"),
    (["2024-03-01 08:00:00 UTC"] * 3, "%Y-%m-%d %H:%M:%S%.f UTC"),
]


@pytest.mark.parametrize(("cells", "form"), INSTANTS, ids=str)
def test_times_of_any_zone_are_one_instant(tmp_path, cells, form):
    lines = [f"{cells[at % 3]},{at},{at % 7}.5" for at in range(30)]
    found = opened(tmp_path / "a.csv", "when,x,y\n" + "\n".join(lines))
    row = next(row for row in found.params["table"] if row[0] == "when")
    assert row == ("when", "date", "time" if len(set(cells)) > 1 else "ignore", form) or len(set(cells)) == 1
    table = tuple((*one[:2], "input", form) if one[0] == "when" else one for one in found.params["table"])
    days = in_order({**found.params, "table": table})["features"][:, 0]
    assert days.tolist() == pytest.approx([19783 + 8 / 24] * 30)  # 2024-03-01 08:00 in UTC
    told = any('"when" say how far they are from UTC' in remark for remark in found.remarks)
    assert told == ("%#z" in form)
