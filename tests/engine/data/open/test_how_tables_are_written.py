"""Tables as programs write them that follow no standard: each cell is read, or what is not is told."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.data.open.opening import open_data
from engine.data.tables.looks import look_at_table
from engine.errors import DataError
from nodes.data.table_file import TableFile
from tests.engine.data.open.test_tables import in_order, kinds, loaded, opened

FLOWERS = [(4.5 + at / 8, 50 + at, ("low", "high")[at % 2]) for at in range(40)]


def told(found: Any, words: str) -> bool:
    return any(words in remark for remark in found.remarks)


@pytest.mark.parametrize("every", [1, 100])
def test_rows_that_end_in_a_delimiter_keep_their_names(tmp_path, every):
    rows = [f"{a},{b},{c}" + ("," if not at % every else "") for at, (a, b, c) in enumerate(FLOWERS)]
    found = opened(tmp_path / "trail.csv", "width,height,grade\n" + "\n".join(rows))
    assert kinds(found) == {
        "width": ("number", "input"),
        "height": ("whole", "input"),
        "grade": ("category", "target"),
    }
    assert told(found, "Rows end in a delimiter")
    assert look_at_table(found.params).names == ("width", "height", "grade")
    assert in_order(found.params)["features"].tolist() == [[a, float(b)] for a, b, _ in FLOWERS]


def test_quotes_that_never_close_are_letters(tmp_path):
    lines = [
        f"the {'so-called ' if at % 9 else chr(34)}film {at}\t{'neg' if at % 2 else 'pos'}"
        for at in range(60)
    ]
    found = opened(tmp_path / "quotes.tsv", "sentence\tlabel\n" + "\n".join(lines))
    assert found.params["count"] == 60 and found.params["quote"] == "none"
    assert told(found, "Quotes are read as letters")


def test_cells_over_several_lines_are_told(tmp_path):
    rows = [f'{at},"first\nsecond",{at % 2}' if at in (3, 7) else f"{at},one,{at % 2}" for at in range(30)]
    found = opened(tmp_path / "notes.csv", "n,note,y\n" + "\n".join(rows))
    assert found.params["rows"] == 30
    assert told(
        found,
        "2 lines go on with the row above them, as they are in quotes: the first row of several is in "
        "lines 5 to 6.",
    )


def test_a_backslash_may_stand_before_a_quote(tmp_path):
    rows = [f'{at},"she said \\"no, {at}\\" twice",{at % 7},{"ny"[at % 2]}' for at in range(40)]
    rows[4] = rows[4].replace(",4,", ",\\N,")
    found = opened(tmp_path / "mysql.csv", "id,comment,score,flag\n" + "\n".join(rows))
    assert found.params["quote"] == '\\"' and found.params["rows"] == 40
    assert kinds(found)["score"] == ("whole", "input") and found.params["missing_as"] == ("\\N",)
    features = in_order(found.params)["features"][:, 0].tolist()
    assert features == [float(at % 7) for at in range(40) if at != 4]


def test_windows_paths_end_in_no_escaped_quote(tmp_path):
    rows = [f'"C:\\data\\",{at},{at % 2}' for at in range(30)]
    found = opened(tmp_path / "paths.csv", "folder,n,y\n" + "\n".join(rows))
    assert found.params.get("quote", '"') == '"' and found.params["rows"] == 30


def test_one_text_among_numbers_that_makes_them_classes_is_told(tmp_path):
    rows = [f"{'low' if at % 10 == 1 else at % 5},{'ab'[at % 2]}" for at in range(60)]
    found = opened(tmp_path / "mixed.csv", "score,kind\n" + "\n".join(rows))
    assert kinds(found)["score"][0] == "category"
    assert told(
        found, 'Row 3 has "low" in "score" (and 5 more cells), which is no number so all of them are texts'
    )


@pytest.mark.parametrize(
    ("year", "form"),
    [
        ("{d:02d}.{m:02d}.{y}", "%d.%m.%y"),
        ("{m:02d}/{d:02d}/{y}", "%m/%d/%y"),
        ("{d:02d}/{m:02d}/{y}", "%d/%m/%y"),
    ],
)
def test_years_of_two_digits_are_of_this_century_or_the_last(tmp_path, year, form):
    days = [(99, 11, 21 + at) for at in range(9)] + [(0, 1, 15 + at) for at in range(11)]
    rows = [f"{year.format(y=f'{y:02d}', m=m, d=d)},{at},{at / 2}" for at, (y, m, d) in enumerate(days)]
    found = opened(tmp_path / "days.csv", "day,n,y\n" + "\n".join(rows))
    assert found.params["table"][0] == ("day", "date", "time", form)
    found.params["table"] = tuple((*row[:2], "input", *row[3:]) if row[0] == "day" else row
                                  for row in found.params["table"])  # fmt: skip
    features = in_order(found.params)["features"][:, 0].tolist()
    assert features[0] == 10_916 and features[9] == 10_971  # 1999-11-21 and 2000-01-15


def test_named_months_are_no_matter_of_doubt(tmp_path):
    rows = [f"{1 + at:02d} Mar 2021;{at};{at / 3:.3f}" for at in range(20)]
    found = opened(tmp_path / "abbr.csv", "day;n;y\n" + "\n".join(rows))
    assert found.params["table"][0][3] == "%d %b %Y" and not told(found, "other way")


def test_days_as_numbers_are_asked_about(tmp_path):
    rows = [f"202101{1 + at:02d},{at % 3},{at / 3:.3f}" for at in range(20)]
    found = opened(tmp_path / "days.csv", "day,n,y\n" + "\n".join(rows))
    assert found.params["table"][0] == ("day", "date", "time", "%Y%m%d")
    assert told(found, "is read as days, as 20210131 is one: are they? If not, set it to whole.")


def test_large_ids_are_names_and_can_group(tmp_path):
    first = 1_403_220_000_000_000_000
    rows = [f"{first + at % 10},{at / 7:.2f},{'ill' if at % 3 else 'well'}" for at in range(60)]
    found = opened(tmp_path / "ids.csv", "patient,dose,outcome\n" + "\n".join(rows))
    assert kinds(found)["patient"] == ("category", "group") and found.params["split"] == "by group"
    splits = loaded(found.params)
    assert sum(len(part["outcome"]) for part in splits.values()) == 60
    assert all(len(part["outcome"]) % 6 == 0 for part in splits.values())


def test_amounts_in_thousands_and_millions(tmp_path):
    rows = [
        f"{at},{1 + at / 4:.2f}M,{at % 5 / 100:.2f} %" if at % 3 else f"{at},{100 + at}K,0.33 %"
        for at in range(30)
    ]
    found = opened(tmp_path / "videos.csv", "n,views,rate\n" + "\n".join(rows))
    assert kinds(found) == {
        "n": ("whole", "input"),
        "views": ("number", "input"),
        "rate": ("number", "target"),
    }
    assert told(found, 'The target is "rate", as the last column: a number.')
    views = in_order(found.params)["features"][:, 1].tolist()
    assert views == [100_000 + 1000 * at if not at % 3 else (1 + at / 4) * 1e6 for at in range(30)]


def test_a_constant_label_is_told(tmp_path):
    found = opened(
        tmp_path / "one.csv", "a,label,b\n" + "".join(f"{at},1,{at % 7 / 2}\n" for at in range(30))
    )
    assert told(found, '"label" cannot be the target: it is the same in every row.')


UNITS = "time,temp,state\ns,degC,-\n" + "".join(
    f"{at / 2},{20 + at / 8},{'run' if at % 2 else 'stop'}\n" for at in range(30)
)


def test_a_row_of_units_is_no_example(tmp_path):
    found = opened(tmp_path / "units.csv", UNITS)
    assert found.params["units"] == ("s", "degC", "") and found.params["aside"] == (2,)
    assert found.params["rows"] == 30 and "missing_as" not in found.params
    assert [remark for remark in found.remarks if "degC" in remark] == [
        'Line 2 holds the units of the columns, no examples ("Skipped lines"): time: s, temp: degC.'
    ]
    assert look_at_table(found.params).rows == 30
    found_values = in_order(found.params)
    assert found_values["features"].tolist() == [[at / 2, 20 + at / 8] for at in range(30)]
    assert [
        len(column.classes) for column in TableFile(found.params).columns() if column.name == "state"
    ] == [2]


def test_lines_left_out_are_the_same_in_memory_and_in_pieces(tmp_path):
    path = tmp_path / "units.csv"
    path.write_text(UNITS)
    params = open_data(path).params
    whole, pieces = loaded(params), loaded(params, memory=0)
    for split in whole:
        for name in whole[split]:
            found = pieces[split][name]
            assert torch.equal(whole[split][name], found[torch.arange(len(found))])


def test_a_loggers_header_is_known(tmp_path):
    head = '"TOA5","St1","CR1000","123","CR1000.Std.32","CPU:prog.CR1","4455","Table1"\n'
    head += '"TIMESTAMP","RECORD","AirT_Avg","RH"\n"TS","RN","Deg C","%"\n"","","Avg","Smp"\n'
    rows = [
        f'"2021-05-{1 + at // 24:02d} {at % 24:02d}:00:00",{at},{13 + at / 9:.2f},{44.5 - at / 4}'
        for at in range(50)
    ]
    found = opened(tmp_path / "toa5.dat", head + "\n".join(rows) + "\n")
    assert list(kinds(found)) == ["TIMESTAMP", "RECORD", "AirT_Avg", "RH"]
    assert found.params["skip"] == 1 and found.params["aside"] == (3, 4) and found.params["rows"] == 50
    assert found.params["units"] == ("TS", "RN", "Deg C", "%")
    assert in_order(found.params)["RH"][:, 0].tolist() == [44.5 - at / 4 for at in range(50)]


def test_a_mark_before_a_header_is_none_of_its_words(tmp_path):
    rows = [f"{at / 7:.18e} {at % 3:.18e} {at % 2:.18e}" for at in range(60)]
    found = opened(tmp_path / "savetxt.txt", "# x y label\n" + "\n".join(rows) + "\n")
    assert found.type == "TableFile" and list(kinds(found)) == ["x", "y", "label"]
    assert in_order(found.params)["label"][:, 0].tolist() == [float(at % 2) for at in range(60)]
    found = opened(tmp_path / "marked.csv", "#x,y,label\n" + "\n".join(rows).replace(" ", ",") + "\n")
    assert list(kinds(found)) == ["x", "y", "label"]


def test_rows_of_weka_have_the_names_of_their_attributes(tmp_path):
    head = "% a comment\n@RELATION flowers\n\n"
    head += "@ATTRIBUTE 'sepal length' NUMERIC\n@ATTRIBUTE class {a,b}\n\n@DATA\n"
    rows = "".join(f"{at / 4},{'ab'[at % 2]}\n" for at in range(40)) + "?,a\n"
    found = opened(tmp_path / "iris.arff", head + rows)
    assert kinds(found) == {"sepal length": ("number", "input"), "class": ("category", "target")}
    assert in_order(found.params)["features"][:, 0].tolist() == [at / 4 for at in range(40)]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("heart.libsvm", "+1 1:0.5 3:0.1\n-1 2:0.5 3:0.2\n" * 9, "sparse rows (libsvm)"),
        ("export.xls", "<html><body><table><tr><th>a</th></tr></table></body></html>", "is an HTML table"),
        (
            "export2.xls",
            "a\tb\n1\t2\n" * 9,
            "is text parted by tabs under the name of a spreadsheet: name it .tsv",
        ),
    ],
)
def test_what_is_not_read_is_named(tmp_path, name, content, said):
    with pytest.raises(DataError) as caught:
        opened(tmp_path / name, content)
    assert said in caught.value.message
