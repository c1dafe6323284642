"""How tables are written down, as real files have it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.data.open.opening import open_data, open_for
from engine.data.tables.looks import look_at_table
from engine.data.tables.sniff import form_of
from engine.errors import DataError
from nodes.data.table_file import TableFile
from tests.engine.data.open.test_tables import loaded

UNNAMED = '"","x"\n"1",5.2\n"2",6.5\n"3",6.9\n"4",7\n'  # what R writes of one vector
REMARKS = "Title,\nmade by us,\na,b\n1,2\n3,4\n5,6\n7,8\n"
LONG = 'Name:,"RT33"\nNote:,"two\nlines"\n\nwhere,a,b,c,d\nx,1,2,3,4\ny,5,6,7,8\nz,9,8,7,6\nw,1,2,3,4\n'
MIXED = "STATE\tDONE  \tINCOME  POOR\nTexas    37 \t34453\t16.7\nOhio   9\t41534  12.5\nIowa 1\t3\t4"
TABS = "name\tcity\tage\nAl\tNew York\t3\nBo\tLos Angeles\t4\nCy\tSan Jose\t5\nDi\tOslo\t6\n"


@pytest.mark.parametrize(
    ("text", "delimiter", "skip", "header"),
    [
        (UNNAMED, ",", 0, True),
        (REMARKS, ",", 2, True),
        (LONG, ",", 4, True),
        (MIXED, "spaces", 0, True),
        (TABS, "\t", 0, True),
        ("1 2 3\n4 5 6\n", "spaces", 0, False),
        ("a,b\n1,2,3\n4,5\n6,7\n", ",", 0, True),
    ],
)
def test_forms_of_tables(text: str, delimiter: str, skip: int, header: bool) -> None:
    form = form_of(text, "utf-8")
    assert (form.delimiter, form.skip, form.header) == (delimiter, skip, header)


def test_lines_above_a_table_are_told(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text(LONG, encoding="utf-8")
    opened = open_data(path)
    assert [row[0] for row in opened.params["table"]] == ["where", "a", "b", "c", "d"]
    assert opened.params["rows"] == 4
    assert '4 lines above the table are skipped ("Lines before").' in opened.remarks


def test_an_unnamed_column_keeps_the_name_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "vector.csv"
    path.write_text(UNNAMED, encoding="utf-8")
    opened = open_data(path)
    assert [row[0] for row in opened.params["table"]] == ["column 1", "x"]
    assert opened.params["rows"] == 4 and not any("above" in one for one in opened.remarks)


@pytest.mark.parametrize(("name", "groups", "role"), [("group", 2, "input"), ("group", 12, "group")])
def test_a_few_groups_are_what_was_done_and_many_belong_together(
    tmp_path: Path, name: str, groups: int, role: str
) -> None:
    path = tmp_path / "a.csv"
    rows = [f"g{row % groups},{row / 7:.3f},{row * row % 11}.5" for row in range(60)]
    path.write_text(f"{name},x,y\n" + "\n".join(rows), encoding="utf-8")
    assert open_data(path).params["table"][0][2] == role


def test_rows_without_their_time_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    days = [f"2020-01-{day:02d}" if day != 9 else "" for day in range(1, 29)]
    path.write_text("x,when,y\n" + "\n".join(f"{at}.5,{day},{at % 4}.5" for at, day in enumerate(days)))
    assert '1 of 28 rows lack the time "when": left out.' in open_data(path).remarks


R_TABLES = {
    "r.csv": '"a","b"\n"x",1,2.5\n"y",3,4.5\n"z",5,6.5\n',
    "r.dat": '"a" "b"\n"x y" 1 2.5\n"y" 3 4.5\n"z" 5 6.5\n',
    "r.tsv": "a\tb\nx\t1\t2.5\ny\t3\t4.5\nz\t5\t6.5\n",
}


@pytest.mark.parametrize("name", R_TABLES)
def test_a_header_that_leaves_out_the_names_of_the_rows(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(R_TABLES[name], encoding="utf-8")
    opened = open_data(path)
    assert [row[:3] for row in opened.params["table"]] == [
        ("column 1", "text", "ignore"),
        ("a", "whole", "input"),
        ("b", "number", "target"),
    ]
    assert opened.params["rows"] == 3
    look = look_at_table({spec.name: spec.default for spec in TableFile.params} | dict(opened.params))
    assert [one.name for one in look.columns] == ["column 1", "a", "b"] and look.rows == 3
    assert look.columns[2].values.tolist() == [2.5, 4.5, 6.5]


def test_a_table_of_one_row_too_long_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2,3\n4,5\n6,7\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"Row 2 of .* has 3 cells, but the first has 2"):
        open_data(path)


def test_a_column_of_sentences_and_one_of_classes_are_texts(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    rows = [
        f'"a {word} film, number {at}",{kind}'
        for at in range(30)
        for word, kind in (("fine", "good"), ("dull", "bad"))
    ]
    path.write_text("text,label\n" + "\n".join(rows), encoding="utf-8")
    opened = open_data(path)
    assert opened.type == "LabelledText" and opened.params["classes"] == ("bad", "good")
    assert any("would have no inputs" in one for one in opened.remarks)
    assert open_for(path, "TableFile").type == "TableFile"
    measured = tmp_path / "measured.csv"
    measured.write_text(
        "note,x,label\n" + "\n".join(f'"note {at} here",{at / 7},{"ab"[at % 2]}' for at in range(60))
    )
    assert open_data(measured).type == "TableFile"


def test_readings_and_nothing_else_are_a_series(tmp_path: Path) -> None:
    path = tmp_path / "readings.csv"
    path.write_text(
        "level\n" + "\n".join(f"{(at * 7) % 12 + at / 9:.3f}" for at in range(200)), encoding="utf-8"
    )
    opened = open_data(path)
    assert opened.type == "SeriesFile" and any("nothing to predict" in one for one in opened.remarks)
    path.write_text(
        "level,flow\n" + "\n".join(f"{at / 9:.3f},{at % 7}.5" for at in range(200)), encoding="utf-8"
    )
    assert open_data(path).type == "TableFile"


@pytest.mark.parametrize(
    ("name", "head"),
    [("a.zip", b"PK\x03\x04"), ("a.csv.gz", b"\x1f\x8b\x08"), ("a.tar", b"a" * 257 + b"ustar")],
)
def test_an_archive_is_to_be_unpacked(tmp_path: Path, name: str, head: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(head + bytes(600))
    with pytest.raises(DataError, match="is an archive") as caught:
        open_data(path)
    assert name in caught.value.message and caught.value.fix.startswith("Unpack")


def test_a_table_of_which_nothing_is_used_says_so(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("\n".join(map(str, range(1, 13))), encoding="utf-8")
    with pytest.raises(ValueError, match=r'No column of "numbers\.csv" is used'):
        loaded(open_data(path).params)


def test_two_columns_of_texts_are_pairs(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    rows = [f"the number {at} in words\tla cifra {at} in parole" for at in range(40)]
    path.write_text("english\titalian\n" + "\n".join(rows), encoding="utf-8")
    opened = open_data(path)
    assert opened.type == "TextPairs" and opened.params["count"] == 40
    assert any("pairs of texts: a table of it" in one for one in opened.remarks)
