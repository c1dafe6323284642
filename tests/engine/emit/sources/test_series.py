"""Time series in straight lines: the same windows as in the application, to the last bit."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.catalogue import Data
from engine.data.open.opening import Opened
from engine.data.open.series import open_it
from engine.data.watch import Watch
from tests.engine.data.open.test_tables import workbook
from tests.engine.emit.sources import agreeing
from tests.engine.emit.sources.agreeing import load_of, text_of
from tests.engine.emit.sources.reading import assert_alike, assert_clean, data_of, is_carried, refuses
from tests.engine.sketches import gallery

HOW = (
    {"horizon": 1, "stride": 1, "gap": 0, "reach_back": True},
    {"horizon": 4, "stride": 1, "gap": 5, "reach_back": False},
    {"horizon": 3, "stride": 2, "gap": 3, "reach_back": True},
)
MISSING = ("stop", "interpolate", "carry forward")


def written(
    path: Path,
    *,
    rows: int = 200,
    lost: float = 0.0,
    several: bool = False,
    shuffled: bool = False,
    seed: int = 0,
) -> Opened:
    """A file of two readings, a time and perhaps several places, opened as series."""
    draw = np.random.default_rng(seed)
    lines = []
    for place in ("north", "east", "south") if several else ("north",):
        level = draw.normal(size=(rows, 2)).cumsum(0)
        for at in range(rows):
            cells = [f"{value:.4f}" if draw.random() > lost else "" for value in level[at]]
            day = f"2020-{1 + at // 28 % 12:02d}-{1 + at % 28:02d} {at // 336:02d}:30"
            lines.append(",".join([day, *([place] if several else []), *cells]))
    if shuffled:
        draw.shuffle(lines)
    head = "when,place,level,flow" if several else "when,level,flow"
    path.write_text("\n".join([head, *lines, ""]), encoding="utf-8")
    return open_it(path, Watch())


def node(opened: Opened, **changes: Any) -> Data:
    data = agreeing.data_of(opened, {"lag": 6, **changes})
    assert not is_carried(data)
    return data


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("difference", [0, 1, 2])
@pytest.mark.parametrize("standardise", [False, True])
def test_filled_differences_and_scales(
    tmp_path: Path, several: bool, missing: str, difference: int, standardise: bool
) -> None:
    opened = written(tmp_path / "s.csv", lost=0.0 if missing == "stop" else 0.15, several=several)
    how = {"missing": missing, "difference": difference, "standardise": standardise}
    for split in ("in time", "blocks of time"):
        assert_alike(node(opened, **how, split=split, fold=2))


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(
    ("horizon", "stride", "gap", "back"), [(1, 1, 0, True), (4, 1, 5, False), (3, 2, 3, True)]
)
@pytest.mark.parametrize(
    ("seen", "predicted"), [((), ()), (("flow",), ("level",)), (("flow", "level"), ("flow",))]
)
def test_windows(tmp_path: Path, several: bool, horizon: int, stride: int, gap: int, back: bool,
                 seen: tuple[str, ...], predicted: tuple[str, ...]) -> None:  # fmt: skip
    opened = written(tmp_path / "s.csv", several=several)
    how = {"horizon": horizon, "stride": stride, "gap": gap, "reach_back": back}
    columns = {"window_columns": seen, "next_columns": predicted}
    for split in ("in time", "blocks of time"):
        assert_alike(node(opened, **how, **columns, split=split, fold=3, folds=4))


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("skip", "most"), [(0, None), (7, None), (5, 150), (0, 160)])
def test_order_clock_and_a_part_of_the_readings(
    tmp_path: Path, several: bool, skip: int, most: int | None
) -> None:
    opened = written(tmp_path / "s.csv", lost=0.1, several=several, shuffled=True)
    for order, clock, missing in product(("by time", "as in the file"), (False, True), MISSING[1:]):
        assert_alike(node(opened, order=order, clock=clock, skip=skip, most=most, missing=missing))


def test_blank_lines_at_the_end(tmp_path: Path) -> None:
    opened = written(tmp_path / "s.csv", lost=0.1)
    with open(tmp_path / "s.csv", "a", encoding="utf-8") as file:
        file.write("\n\n2021-01-01 00:00,,\n")
    assert_alike(node(opened, missing="interpolate"))


@pytest.mark.parametrize("columns", [0, 3])
def test_numpy_files(tmp_path: Path, columns: int) -> None:
    draw = np.random.default_rng(0)
    np.save(tmp_path / "s.npy", draw.normal(size=(150, columns) if columns else 150).astype("float32"))
    opened = open_it(tmp_path / "s.npy", Watch())
    for difference, horizon, skip in product((0, 1), (1, 3), (0, 4)):
        assert_alike(node(opened, difference=difference, horizon=horizon, skip=skip))


@pytest.mark.parametrize("end", ["parquet", "arrow", "xlsx"])
def test_series_in_other_files(tmp_path: Path, end: str) -> None:
    written(tmp_path / "s.csv", lost=0.1)
    table = pl.read_csv(tmp_path / "s.csv")
    path = tmp_path / f"s.{end}"
    if end == "xlsx":
        rows = [["" if cell is None else cell for cell in row] for row in table.rows()]
        workbook(path, {"one": [[*table.columns], *rows]})
    else:
        table = table.with_columns(pl.col("when").str.to_datetime("%Y-%m-%d %H:%M"))
        table.write_parquet(path) if end == "parquet" else table.write_ipc(path)
    opened = open_it(path, Watch())
    for order, clock in product(("by time", "as in the file"), (False, True)):
        assert_alike(node(opened, order=order, clock=clock, missing="interpolate"))


def test_large_windows_are_cut_when_they_are_asked_for(tmp_path: Path) -> None:
    np.save(tmp_path / "s.npy", np.random.default_rng(0).normal(size=30_000))
    data = node(open_it(tmp_path / "s.npy", Watch()), lag=1500)
    assert "cut_windows" in text_of(data)
    found = load_of(data)(tmp_path, "cpu")
    assert type(found["train"]["window"]).__name__ == "Windows"
    wanted = agreeing.strictly(data)
    for split, columns in wanted.items():
        assert found[split]["window"][5:9].equal(columns["window"][5:9])
        assert found[split]["next"].equal(columns["next"])


def test_the_series_of_the_gallery() -> None:
    data = data_of("SeriesFile", gallery("co2-series").graph.nodes["n1"].params)
    assert not is_carried(data)
    assert_alike(data)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.booleans(),
    st.sampled_from(MISSING[1:]),
    st.integers(0, 3),
    st.integers(1, 4),
    st.integers(0, 4),
    st.booleans(),
    st.sampled_from(["in time", "blocks of time"]),
    st.sampled_from(["by time", "as in the file"]),
    st.integers(60, 90),
)
def test_products(
    tmp_path: Path,
    several: bool,
    missing: str,
    difference: int,
    horizon: int,
    gap: int,
    back: bool,
    split: str,
    order: str,
    rows: int,
) -> None:
    opened = written(tmp_path / "s.csv", rows=rows, lost=0.2, several=several, seed=rows)
    how = {"missing": missing, "difference": difference, "horizon": horizon, "gap": gap, "reach_back": back}
    assert_alike(node(opened, **how, split=split, order=order, lag=4))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("when,level\n2020-01-01 00:30,1\n", 'unable to find column "flow"'),
        ("when,level,flow\n2020-01-01 00:30,1,much\n", "'flow' for 1 out of 1 values"),
        (
            "when,level,flow\n2020-01-01 00:30,1,2\n2020-01-02 00:30,1,2\n",
            "too few readings for a window in train",
        ),
        ("when,level,flow\n2020-01-01 00:30,,2\n", "readings that are missing"),
        ("", "empty CSV"),
    ],
)
def test_a_file_that_changed_gets_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    load = load_of(node(written(tmp_path / "s.csv")))
    assert not refuses(load, tmp_path)
    (tmp_path / "s.csv").write_text(text)
    assert said in refuses(load, tmp_path)


def test_lines_are_clean_for_ruff_and_mypy(tmp_path: Path) -> None:
    texts = []
    for several, missing, order in product((False, True), MISSING, ("by time", "as in the file")):
        opened = written(tmp_path / "s.csv", several=several)
        for how in ({"difference": 1, "clock": True, "skip": 3}, {"horizon": 4, "gap": 2, "difference": 2}):
            texts.append(text_of(node(opened, missing=missing, order=order, **how)))
        texts.append(
            text_of(node(opened, split="blocks of time", standardise=False, stride=2, reach_back=True))
        )
    assert_clean(tmp_path, texts)
