"""Opening tables: what is found in files as people have them, and each cell comes out as it was written."""

from __future__ import annotations

import csv
import io
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import polars as pl
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.data.open import tables as open_table
from engine.data.open.opening import Opened, open_data
from engine.data.tables import stream as table_stream
from engine.data.watch import Stopped, Watch
from engine.errors import DataError
from nodes.data.table_file import TableFile
from tests.engine.data.malformed_tables import MALFORMED, MENDED


class Recorder:
    def load(self, loader: Any, **values: Any) -> dict[str, Any]:
        self.loader, self.values = loader, values
        return {}


def opened(path: Path, content: bytes | str = b"", encoding: str = "utf-8") -> Opened:
    if content:
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return open_data(path)


def loaded(params: Any, **changes: Any) -> dict[str, dict[str, torch.Tensor]]:
    node, recorder = TableFile({**params, **changes}), Recorder()
    node.emit(recorder)
    folder = node.folder()
    assert folder is not None
    found = recorder.loader(folder, "cpu", **recorder.values)
    for part in found.values():
        assert list(part) == [column.name for column in node.columns()]
        for column in node.columns():
            assert tuple(part[column.name].shape[1:]) == column.shape
            assert str(part[column.name].dtype) == f"torch.{column.dtype}"
    return found


def in_order(params: Any, **changes: Any) -> dict[str, torch.Tensor]:
    """All rows in the order of the file, as they are written."""
    plain = {"split": "in time", "scaling": "none", "target_scaling": "none", **changes}
    found = loaded({**params, "table": tuple(_untimed(row) for row in params["table"])}, **plain)
    return {
        name: torch.cat([found[split][name] for split in ("train", "validation", "test")])
        for name in found["train"]
    }


def _untimed(row: Any) -> Any:
    return (row[0], row[1], "input" if row[2] == "time" else row[2], *row[3:])


def kinds(found: Opened) -> dict[str, tuple[str, str]]:
    return {row[0]: (row[1], row[2]) for row in found.params["table"]}


def test_semicolons_and_decimal_commas(tmp_path):
    rows = "".join(f"2019-06-12 09:54:{second};{second - 10},7\n" for second in range(17, 37))
    found = opened(tmp_path / "d1.csv", "Datum;Temperatur (Celsius)\n" + rows)
    assert found.params["delimiter"] == ";" and found.params["decimal"] == ","
    assert kinds(found) == {"Datum": ("date", "input"), "Temperatur (Celsius)": ("number", "target")}
    values = in_order(found.params)
    expected = torch.tensor([second - 10 + 0.7 for second in range(17, 37)])
    assert torch.equal(values["Temperatur (Celsius)"][:, 0], expected)
    days = 18_059 + (9 * 3600 + 54 * 60 + 17) / 86_400
    assert values["features"][0, 0].item() == pytest.approx(days)


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("latin-1", "cp1252"),
        ("cp1252", "cp1252"),
    ],
)
def test_letters_of_any_encoding(tmp_path, encoding, said):
    text = "Größe °C,Stadt\n" + "1.5,Köln\n2.5,Zürich\n" * 6
    found = opened(tmp_path / "letters.csv", text, encoding)
    assert found.params.get("encoding", "utf-8") == said
    assert found.params["table"][0][0] == "Größe °C"
    assert found.params["table"][1] == ("Stadt", "category", "target", "Köln", "Zürich")
    values = in_order(found.params)
    assert values["features"][:, 0].tolist() == [1.5, 2.5] * 6
    assert values["Stadt"].tolist() == [0, 1] * 6


def test_rows_with_blanks_are_counted_and_dropped_or_filled(tmp_path):
    lines = [
        f"{'' if row % 14 == 1 and row < 98 else row},{row % 4 / 2},{'ab'[row % 2]}" for row in range(100)
    ]
    found = opened(tmp_path / "blanks.csv", "size,x,kind\n" + "\n".join(lines))
    assert any("7 of 100 rows have blank inputs, left out" in remark for remark in found.remarks)
    assert sum(len(part["kind"]) for part in loaded(found.params).values()) == 93
    kept = [float(row) for row in range(100) if not (row % 14 == 1 and row < 98)]
    assert in_order(found.params)["features"][:, 0].tolist() == kept
    filled = loaded(found.params, missing="fill with mean", scaling="none", split="in time")
    train = filled["train"]["features"][:, 0]
    known = torch.tensor([float(row) for row in range(60) if row % 14 != 1])
    assert train[1].item() == pytest.approx(known.mean().item())
    assert sum(len(part["kind"]) for part in filled.values()) == 100


def test_scales_are_those_of_the_training_rows(tmp_path):
    found = opened(
        tmp_path / "a.csv", "a,b,y\n" + "".join(f"{row**2},{row},{row * 1.5}\n" for row in range(50))
    )
    raw = loaded(found.params, scaling="none", target_scaling="none", seed=4)
    for name, way in (("standardise", "standardise"), ("0 to 1", "0 to 1")):
        scaled = loaded(found.params, scaling=name, target_scaling=way, seed=4)
        for column in ("features", "y"):
            train = raw["train"][column].double()
            middle, unit = train.mean(0), train.std(0, correction=0)
            if name == "0 to 1":
                middle, unit = train.amin(0), train.amax(0) - train.amin(0)
            for split in raw:
                wanted = (raw[split][column].double() - middle) / unit
                assert torch.allclose(scaled[split][column].double(), wanted, atol=1e-5)


def test_one_number_as_target_is_a_column(tmp_path):
    found = opened(tmp_path / "a.csv", "a,price\n" + "".join(f"{row},{row / 4}\n" for row in range(30)))
    assert loaded(found.params)["train"]["price"].shape == (18, 1)


def test_a_yes_or_no_is_a_class_and_a_number(tmp_path):
    found = opened(tmp_path / "a.csv", "a,ill\n" + "".join(f"{row},{'yn'[row % 2]}\n" for row in range(30)))
    values = in_order(found.params)
    assert values["ill"].tolist() == [1, 0] * 15
    assert values["ill as number"].tolist() == [[1.0], [0.0]] * 15


def test_classes_are_dealt_alike(tmp_path):
    names = ["setosa"] * 50 + ["versicolor"] * 30 + ["virginica"] * 20
    text = "x,species\n" + "".join(f"{at},{name}\n" for at, name in enumerate(names))
    for split, part in loaded(opened(tmp_path / "sorted.csv", text).params).items():
        share = 0.6 if split == "train" else 0.2
        assert part["species"].bincount().tolist() == [50 * share, 30 * share, 20 * share]


def test_a_class_that_training_never_saw_is_all_zeros(tmp_path):
    rows = "".join(f"{'new' if row == 29 else 'ab'[row % 2]},{row},{row % 3}.5\n" for row in range(30))
    found = opened(tmp_path / "a.csv", "kind,x,y\n" + rows)
    assert found.params["table"][0] == ("kind", "category", "input", "a", "b", "new")
    test = loaded(found.params, split="in time")["test"]["features"]
    assert test[-1, :3].tolist() == [0, 0, 0]
    assert test[-2, :3].tolist() == [1, 0, 0]


def test_groups_splits_weights_and_times(tmp_path):
    words = ("train", "val", "test", "train")
    rows = [f"{row % 5},{words[row % 4]},{row / 8},{40 - row},{row},{row % 7}.5" for row in range(40)]
    path = tmp_path / "a.csv"
    found = opened(path, "subject,split,sample_weight,when,x,y\n" + "\n".join(rows))
    roles = {name: role for name, (_, role) in kinds(found).items()}
    assert roles["subject"] == "group" and roles["split"] == "split" and roles["sample_weight"] == "weight"
    given_parts = loaded(found.params, split="as given", scaling="none")
    assert given_parts["validation"]["features"][:, 1].tolist() == list(range(1, 40, 4))
    assert given_parts["test"]["sample_weight"][:, 0].tolist() == [row / 8 for row in range(2, 40, 4)]
    grouped = loaded(found.params, split="by group", scaling="none")
    seen = [set((part["features"][:, 1].long() % 5).tolist()) for part in grouped.values()]
    assert sum(len(one) for one in seen) == 5
    table = tuple((*row[:2], "time", *row[3:]) if row[0] == "when" else row for row in found.params["table"])
    timed = loaded({**found.params, "table": table}, split="in time", scaling="none")
    assert timed["train"]["features"][:, 0].tolist() == list(range(39, 15, -1))


def test_the_source_is_never_written_to(tmp_path):
    path = tmp_path / "a.csv"
    found = opened(path, "a,b,y\n1,,x\n2,3,z\n" * 8)
    before = sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns
    loaded(found.params, missing="fill with mean")
    assert (sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) == before


def test_a_later_change_of_the_file_is_told(tmp_path):
    path = tmp_path / "a.csv"
    found = opened(path, "a,kind\n" + "1,x\n2,z\n" * 8)
    path.write_text("a,kind\n" + "1,x\n2,z\n" * 8 + "3,plum\n")
    with pytest.raises(ValueError, match=r'Row 18 of "a.csv" has "plum" in "kind".*open the file again'):
        loaded(found.params)
    path.write_text("b,kind\n1,x\n")
    with pytest.raises(ValueError, match=r'no column "a"; it has "b", "kind". Open it again'):
        loaded(found.params)
    path.write_text("a,kind\n1,x\nseven,z\n")
    with pytest.raises(ValueError, match=r'Row 3 of "a.csv" has "seven" in "a", which is no number'):
        loaded(found.params)


def test_columns_may_change_places_later(tmp_path):
    path = tmp_path / "a.csv"
    found = opened(path, "a,b,kind\n" + "1,5,x\n2,6,z\n" * 8)
    before = in_order(found.params)
    path.write_text("kind,b,a\n" + "x,5,1\nz,6,2\n" * 8)
    assert torch.equal(in_order(found.params)["features"], before["features"])


def test_one_odd_cell_among_numbers_is_named(tmp_path):
    text = "a,y\n" + "".join(f"{'12a' if row == 30 else row / 2},{row % 2}\n" for row in range(100))
    found = opened(tmp_path / "odd.csv", text)
    assert any('Row 32 has "12a" in "a"' in remark for remark in found.remarks)
    assert kinds(found)["a"] == ("number", "input") and found.params["missing_as"] == ("12a",)


def test_names_of_pictures_are_known(tmp_path):
    found = opened(tmp_path / "a.csv", "images/0.png,7\nimages/1.png,2\n")
    assert kinds(found) == {"column 1": ("path", "ignore"), "column 2": ("whole", "target")}
    assert any("image files" in remark for remark in found.remarks)


def test_ids_and_constants_are_left_out(tmp_path):
    found = opened(
        tmp_path / "a.csv", "id,same,x,y\n" + "".join(f"{row},1,{row % 5},{row % 2}\n" for row in range(30))
    )
    assert [role for _, role in kinds(found).values()] == ["ignore", "ignore", "input", "target"]


def test_names_that_are_doubled_or_empty(tmp_path):
    found = opened(tmp_path / "a.csv", 'a,a,," b\n c"\n1,2,3,4\n5,6,7,8\n9,8,7,6\n')
    assert [row[0] for row in found.params["table"]] == ["a", "a (2)", "column 3", "b c"]


def test_thousands_of_columns(tmp_path):
    text = (
        ",".join(f"x{at}" for at in range(3000))
        + "\n"
        + (",".join("12345"[at % 5] for at in range(3000)) + "\n") * 2
    )
    found = opened(tmp_path / "wide.csv", text + ",".join("7" for _ in range(3000)))
    node = TableFile(found.params)
    assert len(node.columns()[0].names) == 2999 and len(node.columns()[0].doc) < 400


def test_parquet_arrow_and_excel_hold_the_same(tmp_path):
    frame = pl.DataFrame(
        {
            "size": [1.5, None, 3.5, 4.5] * 5,
            "n": [1, 2, 3, 4] * 5,
            "on": [True, False] * 10,
            "kind": ["a", "b"] * 10,
        }
    )
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_ipc(tmp_path / "t.arrow")
    frame.write_csv(tmp_path / "t.csv")
    values = {}
    for end in ("parquet", "arrow", "csv"):
        found = open_data(tmp_path / f"t.{end}")
        assert [row[1] for row in found.params["table"]][:2] == ["number", "whole"]
        values[end] = in_order(found.params, missing="fill with median")
    for end in ("arrow", "csv"):
        assert torch.equal(values[end]["features"], values["parquet"]["features"])
        assert torch.equal(values[end]["kind"], values["parquet"]["kind"])


def workbook(path: Path, sheets: dict[str, list[list[str | float]]]) -> None:
    """A spreadsheet as small as can be: one XML part a sheet, texts inline."""
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts, names, links, types = {}, "", "", ""
    for number, (name, rows) in enumerate(sheets.items(), start=1):
        body = ""
        for at, row in enumerate(rows, start=1):
            cells = ""
            for letter, cell in zip("ABCDE", row, strict=False):
                text = f't="inlineStr"><is><t>{cell}</t></is>' if isinstance(cell, str) else f"><v>{cell}</v>"
                cells += f'<c r="{letter}{at}" {text}</c>' if cell != "" else ""
            body += f'<row r="{at}">{cells}</row>'
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f"<worksheet {space}><sheetData>{body}</sheetData></worksheet>"
        )
        names += f'<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>'
        links += (
            f'<Relationship Id="r{number}" Type="{office}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        )
        types += f'<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="{kind}.worksheet+xml"/>'
    parts["xl/workbook.xml"] = f'<workbook {space} xmlns:r="{office}"><sheets>{names}</sheets></workbook>'
    parts["xl/_rels/workbook.xml.rels"] = (
        f'<Relationships xmlns="{package}/relationships">{links}</Relationships>'
    )
    first = f'<Relationship Id="a" Type="{office}/officeDocument" Target="xl/workbook.xml"/>'
    parts["_rels/.rels"] = f'<Relationships xmlns="{package}/relationships">{first}</Relationships>'
    types += f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
    parts["[Content_Types].xml"] = f'<Types xmlns="{package}/content-types">{types}</Types>'
    with ZipFile(path, "w") as book:
        for name, text in parts.items():
            book.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')


def test_sheets_of_a_spreadsheet(tmp_path):
    path = tmp_path / "book.xlsx"
    flowers = [["A title"], ["length", "kind"], *[[at / 4, "ab"[at % 2]] for at in range(20)]]
    workbook(path, {"flowers": flowers, "notes": [["x", "y"], [1, 2], [3, 4]]})
    found = open_data(path)
    assert found.params["sheet"] == "flowers" and found.params["skip"] == 1
    assert any('there are also "notes"' in remark for remark in found.remarks)
    values = in_order(found.params)
    assert values["features"][:, 0].tolist() == [at / 4 for at in range(20)]
    assert values["kind"].tolist() == [at % 2 for at in range(20)]
    with pytest.raises(ValueError, match='has no sheet "gone"; it has flowers, notes'):
        loaded(found.params, sheet="gone")


def test_large_files_are_looked_through_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(table_stream, "SAMPLE", 50)
    monkeypatch.setattr(table_stream, "PIECE", 200)
    rows = [
        f"{at},{at / 8},{at % 3},{'abc'[at % 3] if at < 900 else 'late'},{'' if at == 700 else at % 2}"
        for at in range(1000)
    ]
    rows[800] = "800,100,2,NA,0"
    path = tmp_path / "large.csv"
    path.write_text("id,x,few,kind,y\n" + "\n".join(rows) + "\n")
    whole = open_data(path)
    monkeypatch.setattr(open_table, "LARGE", 100)
    shares: list[float] = []
    pieces = open_data(path, Watch(lambda share, doing: shares.append(share or 0)))
    assert {**pieces.params, "plain": True} == dict(whole.params) and pieces.remarks == whole.remarks
    assert shares == sorted(shares) and len(shares) > 2
    assert "late" in pieces.params["table"][3]
    asked = iter([False, False, False, True, True, True])
    with pytest.raises(Stopped):
        open_data(path, Watch(stopped=lambda: next(asked)))


def test_large_files_that_contradict_their_beginning(tmp_path, monkeypatch):
    monkeypatch.setattr(table_stream, "SAMPLE", 50)
    monkeypatch.setattr(table_stream, "PIECE", 200)
    monkeypatch.setattr(open_table, "LARGE", 100)
    rows = [
        f"{'-' if at == 600 else at / 8},{'q' if at > 990 else at},{f'm{at}' if at > 500 else at},{at % 2}"
        for at in range(1000)
    ]
    found = opened(tmp_path / "large.csv", "x,code,mess,y\n" + "\n".join(rows) + "\n")
    assert list(kinds(found).values()) == [
        ("number", "input"),
        ("whole", "input"),
        ("text", "ignore"),
        ("yes-no", "target"),
    ]
    assert {"-", "q"} <= set(found.params["missing_as"])
    assert any('has "q" in "code"' in remark for remark in found.remarks)
    assert any("10 of 1,000 rows have blank inputs, left out" in remark for remark in found.remarks)
    assert sum(len(part["y"]) for part in loaded(found.params).values()) == 990


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_table_is_refused_with_a_sentence(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(MALFORMED[name])
    with pytest.raises(DataError) as caught:
        loaded(open_table.open_it(path, Watch()).params)
    assert name in caught.value.message and caught.value.message.endswith(".")
    assert "\n" not in caught.value.message and len(caught.value.message) < 300


@pytest.mark.parametrize("name", MENDED)
def test_what_is_only_unusual_is_read(tmp_path, name):
    content, rows = MENDED[name]
    path = tmp_path / name
    path.write_bytes(content)
    assert open_table.open_it(path, Watch()).params["rows"] == rows


LETTERS = st.text(
    st.characters(codec="cp1252", exclude_categories=("Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=6
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    numbers=st.lists(st.floats(-1e6, 1e6, width=32), min_size=12, max_size=30),
    words=st.lists(LETTERS.map(lambda text: f"w{text}"), min_size=2, max_size=4, unique=True),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    comma=st.booleans(),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_every_cell_comes_out_as_it_was_written(tmp_path, numbers, words, delimiter, encoding, comma, end):
    """Whatever the delimiter, encoding, decimal mark, quotes and line ends; told rather than guessed."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerow(["x", "word", "y"])
    chosen = [words[at % len(words)] for at in range(len(numbers))]
    for number, word in zip(numbers, chosen, strict=True):
        writer.writerow([repr(number).replace(".", "," if comma else "."), word, "1,5" if comma else "1.5"])
    path = tmp_path / "cells.csv"
    path.write_bytes(text.getvalue().encode(encoding))
    classes = tuple(sorted(set(chosen)))
    params = {
        "path": str(path),
        "table": (
            ("x", "number", "target"),
            ("word", "category", "target", *classes),
            ("y", "number", "input"),
        ),
        "delimiter": "tab" if delimiter == "\t" else delimiter,
        "decimal": "," if comma else ".",
        "encoding": encoding.removesuffix("-sig"),
    }
    values = in_order(params)
    assert torch.equal(values["x"][:, 0], torch.tensor(numbers, dtype=torch.float64).float())
    assert [classes[at] for at in values["word"].tolist()] == chosen
    assert set(values["features"][:, 0].tolist()) == {1.5}
