"""Parquet, Arrow, JSON and spreadsheets in straight lines: the same numbers as in the application."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from engine.catalogue import Data
from engine.data.open.opening import Opened, open_data
from tests.engine.data.open.test_tables import workbook
from tests.engine.emit.sources import agreeing
from tests.engine.emit.sources.agreeing import load_of, text_of
from tests.engine.emit.sources.reading import assert_alike, assert_clean, is_carried, refuses

ROWS = 60
MISSING = ("drop rows", "fill with mean", "fill with median")


def frame() -> pl.DataFrame:
    draw = np.random.default_rng(0)
    texts = [f"{value:.2f}" for value in draw.normal(size=ROWS)]
    return pl.DataFrame(
        {
            "small": pl.Series(draw.normal(size=ROWS).astype("float32")),
            "whole": draw.integers(-5, 400, ROWS),
            "large": draw.normal(size=ROWS) * 1e5,
            "decimal": pl.Series(texts).cast(pl.Decimal(10, 2)),
            "flag": draw.random(ROWS) > 0.5,
            "word": draw.choice(["red", "green", "blue"], ROWS),
            "level": pl.Series(draw.choice(["low", "high"], ROWS)).cast(pl.Categorical),
            "day": [date(2020, 1, 1) + timedelta(int(at)) for at in draw.integers(0, 900, ROWS)],
            "at": [datetime(2020, 1, 1) + timedelta(minutes=int(at)) for at in draw.integers(0, 9000, ROWS)],
            "written": [f"{at % 28 + 1:02d}.03.2021" for at in range(ROWS)],
            "number": draw.integers(0, 3, ROWS),
            "species": draw.choice(["a", "b"], ROWS),
        }
    )


def holed(whole: pl.DataFrame) -> pl.DataFrame:
    lost = np.random.default_rng(1).random((ROWS, whole.width)) < 0.04
    rows = [
        {name: None if gone else cell for (name, cell), gone in zip(row.items(), gaps, strict=True)}
        for row, gaps in zip(whole.rows(named=True), lost, strict=True)
    ]
    return pl.DataFrame(rows, schema=whole.schema)


def node(opened: Opened, **changes: object) -> Data:
    return agreeing.data_of(opened, changes)


def save(path: Path, table: pl.DataFrame) -> None:
    plain = table.cast({name: pl.Float64 for name, kind in table.schema.items() if kind == pl.Decimal})
    if path.suffix in (".parquet", ".pq"):
        table.write_parquet(path)
    elif path.suffix in (".arrow", ".feather"):
        table.write_ipc(path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(plain.rows(named=True), default=str), encoding="utf-8")
    else:
        plain.write_ndjson(path)


def saved(path: Path, table: pl.DataFrame) -> Opened:
    save(path, table)
    return open_data(path)


@pytest.mark.parametrize("end", ["parquet", "pq", "arrow", "feather", "json", "ndjson"])
@pytest.mark.parametrize("lost", [False, True])
def test_files_that_know_their_kinds(tmp_path: Path, end: str, lost: bool) -> None:
    opened = saved(tmp_path / f"t.{end}", holed(frame()) if lost else frame())
    assert opened.params["plain"] is True
    for missing, dates in product(MISSING, ("days", "days and cycles")):
        data = node(opened, missing=missing, dates=dates, target_scaling="standardise")
        assert not is_carried(data)
        assert_alike(data)


@pytest.mark.parametrize("role", ["target", "input", "ignore"])
def test_every_column_in_every_role(tmp_path: Path, role: str) -> None:
    opened = saved(tmp_path / "t.parquet", frame())
    table = opened.params["table"]
    assert isinstance(table, tuple)
    for at in range(len(table)):
        rows = [list(row) for row in table if isinstance(row, tuple)]
        rows[at][2] = role
        assert_alike(node(opened, table=tuple(map(tuple, rows)), split="random"))


@pytest.mark.parametrize("end", ["parquet", "arrow"])
def test_columns_that_are_parted_and_cells_that_need_care(tmp_path: Path, end: str) -> None:
    halves = ["a", "b"] * 20
    for number, table in enumerate(
        (
            pl.DataFrame({"x": [[1.0, float(at)] for at in range(40)], "y": halves}),
            pl.DataFrame({"x": [{"p": at, "q": at % 7} for at in range(40)], "y": halves}),
            pl.DataFrame({"x": [timedelta(seconds=at) for at in range(40)], "z": range(40), "y": halves}),
            pl.DataFrame({"x": [1.0, float("nan"), 2.0, 5.0] * 10, "z": range(40), "y": halves}),
            pl.DataFrame(
                {"x": [float(at) for at in range(40)], "z": [" p", "q ", "p", "q"] * 10, "y": halves}
            ),
        )
    ):
        opened = saved(tmp_path / f"{number}.{end}", table)
        for missing in MISSING:
            data = node(opened, missing=missing)
            assert not is_carried(data)
            assert_alike(data)


def test_units_below_the_header_of_a_sheet(tmp_path: Path) -> None:
    rows: list[list[str | float]] = [["length", "width", "kind"], ["cm", "mm", ""]]
    rows += [[at / 4, at % 5 - 1.5, "abc"[at % 3]] for at in range(45)]
    workbook(tmp_path / "t.xlsx", {"one": rows})
    opened = open_data(tmp_path / "t.xlsx")
    assert opened.params["aside"] == (2,)
    assert_alike(node(opened))


@pytest.mark.parametrize(("header", "above"), [(True, 0), (True, 2), (False, 0)])
@pytest.mark.parametrize("padded", [False, True])
def test_spreadsheets(tmp_path: Path, header: bool, above: int, padded: bool) -> None:
    rows: list[list[str | float]] = [["about this"]] * above + (
        [["length", "width", "kind"]] if header else []
    )
    rows += [[at / 4, at % 5 - 1.5, "abc"[at % 3] + " " * (padded and at == 3)] for at in range(45)]
    workbook(tmp_path / "t.xlsx", {"one": rows})
    opened = open_data(tmp_path / "t.xlsx")
    for missing in MISSING:
        data = node(opened, missing=missing)
        assert not is_carried(data)
        assert_alike(data)
    load = load_of(node(opened))
    (tmp_path / "t.xlsx").write_bytes(b"no book")
    assert "t.xlsx" in refuses(load, tmp_path)


@pytest.mark.parametrize("end", ["parquet", "arrow", "json", "ndjson"])
def test_a_file_that_changed_gets_one_sentence(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"t.{end}"
    load = load_of(node(saved(path, frame())))
    assert not refuses(load, tmp_path)
    for table, said in (
        (frame().drop("large"), "large"),
        (frame().with_columns(species=pl.lit("new")), "'species' for 60 out of 60 values: [\"new\""),
        (frame().with_columns(large=pl.lit("much")), "'large' for 60 out of 60 values: [\"much\""),
        (frame().head(2), "too few rows"),
    ):
        save(path, table)
        assert said in refuses(load, tmp_path)
    path.write_bytes(b"")
    assert path.name in refuses(load, tmp_path)


def test_lines_are_clean_for_ruff_and_mypy(tmp_path: Path) -> None:
    ends = ("parquet", "arrow", "json", "ndjson")
    texts = [text_of(node(saved(tmp_path / f"t.{end}", frame()), dates="days and cycles")) for end in ends]
    workbook(tmp_path / "t.xlsx", {"one": [["a", "b"], *[[at / 2, "xy"[at % 2]] for at in range(30)]]})
    assert_clean(tmp_path, [*texts, text_of(node(open_data(tmp_path / "t.xlsx")))])
