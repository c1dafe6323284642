"""What is found in a file of series, and what a person is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.data.open.opening import open_data
from engine.data.open.series import open_it
from engine.data.watch import Watch
from engine.errors import DataError


def test_a_file_of_numbers_alone_is_a_series(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"{k / 2}\n" for k in range(100)), encoding="utf-8")
    found = open_data(tmp_path / "a.txt")
    assert (found.type, found.params["rows"], found.params["lag"]) == ("SeriesFile", 100, 10)


def test_whole_numbers_are_readings_and_gaps_and_order_are_told(tmp_path: Path) -> None:
    days = [*range(1, 11), 15, 12, *range(16, 29)]
    rows = "".join(f"2024-01-{day:02};{'' if day == 4 else day % 5}\n" for day in days)
    (tmp_path / "a.csv").write_text("day;level\n" + rows, encoding="utf-8")
    found = open_it(tmp_path / "a.csv", Watch())
    assert found.params["table"] == (("day", "date", "time", "%Y-%m-%d"), ("level", "whole", "input"))
    assert (found.params["missing"], found.params["order"]) == ("interpolate", "by time")
    told = " ".join(found.remarks)
    assert "1 reading missing" in told and "sorted by time" in told
    assert "2 of 24 steps in time are not the usual 1 days" in told


def test_several_series_are_told_apart(tmp_path: Path) -> None:
    rows = "".join(
        f"2024-01-{day:02},{name},{day}.5\n" for name in ("north", "south") for day in range(1, 21)
    )
    (tmp_path / "a.csv").write_text("day,place,level\n" + rows, encoding="utf-8")
    found = open_it(tmp_path / "a.csv", Watch())
    assert [row[2] for row in found.params["table"]] == ["time", "group", "input"]  # type: ignore[union-attr, index]
    assert "2 series, one for each value of place." in found.remarks
    assert "order" not in found.params


def test_numpy(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(60.0).reshape(30, 2))
    found = open_it(tmp_path / "a.npy", Watch())
    assert found.params["table"] == (("1", "number", "input"), ("2", "number", "input"))


@pytest.mark.parametrize("content", [b"", b"day,word\n1,a\n", b"\0\1\2\3" * 9])
def test_what_holds_no_series_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd.csv").write_bytes(content)
    with pytest.raises(DataError, match="odd"):
        open_it(tmp_path / "odd.csv", Watch())
