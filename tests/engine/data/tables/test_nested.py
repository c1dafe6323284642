"""Parquet and Arrow files whose cells hold lists, structs, durations and times."""

from __future__ import annotations

from datetime import time, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch

from engine.data.open.opening import open_data
from nodes.data.table_file import TableFile
from tests.engine.data.open.test_tables import in_order, kinds, loaded

ROWS = 40
LABELS = ["ab"[at % 2] for at in range(ROWS)]


def saved(path: Path, **columns: Any) -> Any:
    frame = pl.DataFrame({**columns, "label": LABELS})
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_ipc(path)
    return open_data(path)


@pytest.mark.parametrize("kind", [pl.List(pl.Float64), pl.Array(pl.Float64, 3)])
@pytest.mark.parametrize("name", ["emb.parquet", "emb.arrow"])
def test_lists_of_one_length_are_features(tmp_path: Path, kind: Any, name: str) -> None:
    rows = [[at / 2, at - 1.5, float(at % 3)] for at in range(ROWS)]
    found = saved(tmp_path / name, emb=pl.Series(rows, dtype=kind))
    assert list(kinds(found)) == ["emb 1", "emb 2", "emb 3", "label"]
    assert kinds(found)["label"] == ("category", "target")
    assert in_order(found.params)["features"].tolist() == rows
    whole, pieces = loaded(found.params), loaded(found.params, memory=0)
    for split, part in whole.items():
        read = pieces[split]["features"]
        assert torch.equal(part["features"], read[torch.arange(len(read))])


def test_structs_durations_and_times_are_numbers(tmp_path: Path) -> None:
    found = saved(
        tmp_path / "odd.parquet",
        place=[{"x": float(at), "at": {"y": at % 5}} for at in range(ROWS)],
        took=[timedelta(minutes=at) for at in range(ROWS)],
        clock=[time(at % 24, 30) for at in range(ROWS)],
    )
    assert list(kinds(found)) == ["place.x", "place.at.y", "took", "clock", "label"]
    assert 'Durations and times of day are read as seconds: "took", "clock".' in found.remarks
    assert TableFile(found.params).columns()[0].names == ("place.x", "place.at.y", "took (s)", "clock (s)")
    expected = [[at, at % 5, 60.0 * at, 3600.0 * (at % 24) + 1800] for at in range(ROWS)]
    assert in_order(found.params)["features"].tolist() == expected


def test_what_cannot_be_used_is_named_and_breaks_nothing(tmp_path: Path) -> None:
    found = saved(
        tmp_path / "odd.parquet",
        x=[at / 4 for at in range(ROWS)],
        raw=[b"\x00\x01"] * ROWS,
        image=[{"bytes": b"\x89PNG", "path": "a.png"}] * ROWS,
        words=pl.Series([["a"] * (1 + at % 3) for at in range(ROWS)]),
    )
    remarks = " ".join(found.remarks)
    assert 'Left out as bytes: "raw".' in remarks
    assert 'Left out as structs of bytes, as images are: save those as files: "image".' in remarks
    assert 'Left out as lists of different lengths: "words".' in remarks
    assert kinds(found)["label"] == ("category", "target")
    assert in_order(found.params)["features"].tolist() == [[at / 4] for at in range(ROWS)]


@pytest.mark.parametrize("name", ["ids.parquet", "ids.csv"])
def test_neighbouring_ids_stay_apart(tmp_path: Path, name: str) -> None:
    ids = [2**60 + at % 8 for at in range(ROWS)]
    frame = pl.DataFrame({"patient": ids, "dose": [at / 3 for at in range(ROWS)], "outcome": LABELS})
    frame.write_parquet(tmp_path / name) if name.endswith("parquet") else frame.write_csv(tmp_path / name)
    found = open_data(tmp_path / name)
    assert kinds(found)["patient"] == ("category", "group")
    assert found.params["table"][0][3:] == tuple(str(2**60 + at) for at in range(8))  # type: ignore[index]
