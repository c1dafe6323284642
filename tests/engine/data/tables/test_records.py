"""Tables that are written as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from engine.data.open.opening import open_data, open_for
from engine.data.tables.looks import look_at_table
from engine.errors import DataError
from nodes.data.table_file import TableFile
from tests.engine.data.open.test_tables import loaded

ROWS = [
    {"width": at + 0.5, "many": at % 4, "ok": at % 3 == 0, "colour": ("red", "blue")[at % 2]}
    for at in range(30)
]
FORMS = {
    "rows.json": json.dumps(ROWS),
    "lines.ndjson": "\n".join(json.dumps(row) for row in ROWS) + "\n",
    "columns.json": json.dumps({name: [row[name] for row in ROWS] for name in ROWS[0]}),
    "pandas.json": json.dumps(
        {name: {str(at): row[name] for at, row in enumerate(ROWS)} for name in ROWS[0]}
    ),
    "marked.json": "\ufeff" + json.dumps(ROWS, indent=1),
}


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", FORMS)
def test_every_form_holds_the_same(tmp_path: Path, name: str) -> None:
    opened = open_data(written(tmp_path / name, FORMS[name]))
    assert opened.type == "TableFile" and opened.params["rows"] == 30
    assert [row[:3] for row in opened.params["table"]] == [
        ("width", "number", "input"),
        ("many", "whole", "input"),
        ("ok", "yes-no", "input"),
        ("colour", "category", "target"),
    ]
    splits = loaded(opened.params, split="in time", scaling="none")
    assert splits["train"]["features"][:3].tolist() == [[0.5, 0, 1], [1.5, 1, 0], [2.5, 2, 0]]
    assert splits["train"]["colour"][:3].tolist() == [1, 0, 1]  # blue is 0
    assert splits["train"]["features"].dtype == torch.float32
    filled = {spec.name: spec.default for spec in TableFile.params} | dict(opened.params)
    assert look_at_table(filled).rows == 30


def test_lines_can_be_read_as_a_table(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", FORMS["lines.ndjson"])
    assert open_for(path, "TableFile").params["rows"] == 30


def test_what_a_row_lacks_is_missing_and_what_is_nested_is_text(tmp_path: Path) -> None:
    rows = [{"a": 1, "b": 2.5, "c": [1, 2]}, {"a": None, "b": 1}, {"b": 3, "c": {"d": 1}}]
    opened = open_data(written(tmp_path / "a.json", json.dumps(rows)))
    assert [row[:2] for row in opened.params["table"]] == [("a", "whole"), ("b", "number"), ("c", "text")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"a": 1},\n {"a": ]', "line 2"),
        ('{"a": 1}\n{"a": 2}\n{"a"\n', "line 3"),
        ("[1, 2, 3]", "holds no table"),
        ('{"type": "x", "features": []}', "holds no table"),
        ('{"a": [1, 2], "b": [1]}', "not equally long"),
        ("[" * 100_000, "too deep"),
        ("", "."),
        ("[]", "holds no table"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError, match=said) as caught:
        open_data(written(tmp_path / "odd.json", text))
    assert "odd.json" in caught.value.message
