"""Tables whose numbers stay on disk give the very numbers of tables held in memory."""

from __future__ import annotations

import os
import random
import shutil
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch

from engine.catalogue import load_catalogue
from engine.data import fitted
from engine.data.lazy import Lazy
from engine.data.loading.kept_tables import kept_of, said_of
from engine.data.open import tables as open_table
from engine.data.open.opening import open_data
from engine.data.tables import cache as table_cache
from engine.data.tables import pieces as table_pieces
from engine.data.tables.looks import look_at_table
from engine.data.telling import listening
from engine.data.watch import Stopped
from engine.document.graph import Node
from engine.errors import DataError
from nodes.data.table_file import TableFile
from tests.engine.data.open.test_tables import Recorder, loaded

ROWS = 400
HEADER = ("when", "size", "colour", "open", "count", "who", "part", "weight", "kind", "price")
ROLES = ("time", "input", "input", "input", "input", "group", "split", "weight", "target", "target")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NEUROLOOM_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(table_pieces, "in_pieces", few_at_a_time)
    return tmp_path / "home" / "tables"


def few_at_a_time(frame: Any, width: int) -> Any:
    yield from frame.collect_batches(chunk_size=70, maintain_order=True, lazy=True)


def rows() -> list[tuple[str, ...]]:
    """Cells of every kind, some of them blank."""
    made = random.Random(0)
    day = datetime(2020, 1, 1)
    found = []
    for at in range(ROWS):
        row = (
            (day + timedelta(hours=made.randrange(40_000))).strftime("%Y-%m-%d %H:%M"),
            repr(made.gauss(100, 30)),
            made.choice(("red", "green", "blue", "grün")),
            made.choice(("yes", "no")),
            str(made.randrange(50)),
            f"p{made.randrange(30)}",
            made.choice(("train", "train", "val", "test")),
            repr(made.random() + 0.5),
            made.choice("abc"),
            f"{made.gauss(2000, 100):.2f}",
        )
        blank = made.randrange(40)
        found.append(tuple("" if one == blank and one != 6 else cell for one, cell in enumerate(row)))
        if at % 10 == 3:
            found.append((*found[-1][:8], made.choice("ab"), "2000"))
        if at % 90 == 5:
            found.append(("",) * len(row))
    return found


def text(path: Path, mark: str = ",", encoding: str = "utf-8", end: str = "\n", comma: bool = False) -> Path:
    lines = [list(HEADER), *(list(row) for row in rows())]
    if comma:
        lines = [[cell.replace(".", ",") for cell in line] for line in lines]
    path.write_bytes(end.join(mark.join(line) for line in lines).encode(encoding))
    return path


def params_of(path: Path, **changes: Any) -> dict[str, Any]:
    found = open_data(path).params
    table = tuple((*row[:2], role, *row[3:]) for row, role in zip(found["table"], ROLES, strict=True))
    return {**found, "table": table, "split": "random", "missing": "fill with mean", **changes}


def both(params: dict[str, Any], **changes: Any) -> dict[str, dict[str, Any]]:
    """The table read either way, found to be the same to the bit; returns that which stays on disk."""
    whole, lazy = loaded(params, **changes), loaded(params, memory=0, **changes)
    assert list(whole) == list(lazy)
    for split, columns in whole.items():
        assert list(columns) == list(lazy[split])
        for name, values in columns.items():
            stays = lazy[split][name]
            assert isinstance(stays, Lazy)
            assert stays.shape == values.shape and stays.dtype == values.dtype
            assert torch.equal(stays[:], values) and torch.equal(stays[2:4], values[2:4])
            order = torch.randperm(len(values), generator=torch.Generator().manual_seed(1))
            assert torch.equal(stays[order], values[order])
    return lazy


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"missing": "drop rows"},
        {"missing": "fill with median", "scaling": "0 to 1", "target_scaling": "standardise"},
        {"scaling": "none", "target_scaling": "0 to 1", "seed": 5},
        {"split": "by class"},
        {"split": "by group"},
        {"split": "as given"},
        {"split": "in time"},
        {"split": "folds", "fold": 2},
        {"split": "blocks of time", "gap": 3},
        {"split": "bootstrap", "validation": 0},
        {"repeats": "in one split"},
        {"repeats": "left out", "split": "by class"},
        {"repeats": "in one split", "split": "by group"},
        {"balance": "repeat the rare", "split": "by class"},
        {"balance": "thin the common", "repeats": "left out"},
    ],
    ids=str,
)
def test_every_way_of_dealing_filling_and_scaling(tmp_path, changes):
    both(params_of(text(tmp_path / "a.csv")), **changes)


def test_dates_as_inputs_with_their_cycles(tmp_path):
    params = params_of(text(tmp_path / "a.csv"), dates="days and cycles")
    params["table"] = tuple(
        (*row[:2], "input", *row[3:]) if row[0] == "when" else row for row in params["table"]
    )
    assert both(params)["train"]["features"].shape[1] == 7 + 1 + 4 + 1 + 1


@pytest.mark.parametrize(
    ("form", "params"),
    [
        ({"mark": ";", "comma": True}, {"delimiter": ";", "decimal": ","}),
        ({"mark": "\t", "encoding": "utf-16"}, {"encoding": "utf-16"}),
        ({"encoding": "cp1252", "end": "\r\n"}, {"encoding": "cp1252"}),
        ({"encoding": "utf-8-sig", "end": "\r\n"}, {}),
        ({"end": "\r"}, {}),
        ({"mark": "|", "encoding": "utf-16-le"}, {}),
    ],
    ids=str,
)
def test_text_of_any_form(tmp_path, form, params):
    found = params_of(text(tmp_path / "a.csv", **form))
    assert {key: found[key] for key in params} == params
    both(found)


def test_cells_between_spaces(tmp_path):
    path = tmp_path / "a.dat"
    path.write_text("".join(f"{at * 0.7:8.3f}   {at % 7}  {at * at}\n" for at in range(60)))
    params = open_data(path).params
    assert params["delimiter"] == "spaces" and params["header"] is False
    both(params)


def test_numbers_that_some_rows_write_otherwise(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{'−' if at % 50 == 7 else ''}{at}.5,{at * 2}\n" for at in range(300)))
    found = both(open_data(path).params, scaling="none", target_scaling="none", split="in time")
    assert found["train"]["features"][6:9].tolist() == [[6.5], [-7.5], [8.5]]


@pytest.mark.parametrize("end", ["parquet", "arrow"])
def test_parquet_and_arrow(tmp_path, end):
    path = tmp_path / f"a.{end}"
    columns = {name: [row[at] or None for row in rows()] for at, name in enumerate(HEADER)}
    frame = pl.DataFrame(columns).with_columns(
        pl.col("when").str.to_datetime("%Y-%m-%d %H:%M"),
        pl.col("size", "weight", "price").cast(pl.Float64),
        pl.col("count").cast(pl.Int32),
        pl.col("colour").cast(pl.Categorical),
        pl.col("open") == "yes",
    )
    (frame.write_parquet if end == "parquet" else frame.write_ipc)(path)
    both(params_of(path))
    both(params_of(path), split="by group", missing="drop rows")


def test_what_fits_is_held_in_memory_though_read_in_pieces(tmp_path):
    params = params_of(text(tmp_path / "a.csv"))
    large = TableFile({**params, "rows": 10**8})
    recorder = Recorder()
    large.emit(recorder)
    assert recorder.values["memory"] == 1024
    found = recorder.loader(tmp_path, "cpu", **recorder.values)
    whole = loaded(params)
    assert all(
        isinstance(values, torch.Tensor) and torch.equal(values, whole[split][name])
        for split, columns in found.items()
        for name, values in columns.items()
    )


def test_a_small_table_is_read_as_ever(tmp_path, home):
    recorder = Recorder()
    TableFile(params_of(text(tmp_path / "a.csv"))).emit(recorder)
    assert "memory" not in recorder.values and recorder.loader.__name__ == "load_text_table"
    assert not home.exists()


def test_numbers_are_made_once_and_anew_where_anything_differs(tmp_path, home):
    path = text(tmp_path / "a.csv")
    before = sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns
    params = params_of(path, memory=0)
    loaded(params)
    first = [one.name for one in home.iterdir()]
    assert len(first) == 1
    made = (home / first[0] / "numbers").stat().st_mtime_ns
    loaded(params, scaling="none", split="in time", seed=9, missing="drop rows")  # the same numbers
    assert [one.name for one in home.iterdir()] == first
    assert (home / first[0] / "numbers").stat().st_mtime_ns == made
    loaded(params, missing_as=("3",))
    assert len(list(home.iterdir())) == 2
    assert (sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) == before
    path.write_bytes(path.read_bytes() + b"\n2021-01-01 10:00,1,red,yes,5,p1,train,1,a,2000\n")
    assert len(loaded(params)["train"]["price"]) > 0
    assert len(list(home.iterdir())) == 3


def test_what_was_broken_off_is_no_table(tmp_path, home, monkeypatch):
    params = params_of(text(tmp_path / "a.csv"), memory=0)
    whole = loaded(params)["train"]["features"][:]
    [place] = home.iterdir()
    with open(place / "numbers", "r+b") as file:
        file.truncate(800)
    assert torch.equal(loaded(params)["train"]["features"][:], whole)
    shutil.rmtree(place)

    def full(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(table_pieces, "write_numbers", full)
    with pytest.raises(ValueError, match=r'numbers of "a.csv" cannot be kept in .*: No space left on device'):
        loaded(params)
    assert list(home.iterdir()) == []


def test_a_file_that_changes_while_it_is_read_is_told(tmp_path, home, monkeypatch):
    path = text(tmp_path / "a.csv")
    params = params_of(path, memory=0)
    real = table_pieces.write_numbers

    def slowly(*given: Any) -> None:
        real(*given)
        with open(path, "ab") as file:
            file.write(b"\n")

    monkeypatch.setattr(table_pieces, "write_numbers", slowly)
    with pytest.raises(ValueError, match=r'"a.csv" changed while it was read'):
        loaded(params)
    assert list(home.iterdir()) == []


def test_an_open_table_outlives_its_folder(tmp_path, home):
    found = loaded(params_of(text(tmp_path / "a.csv"), memory=0))["train"]["features"]
    before = found[:]
    shutil.rmtree(home)
    found.numbers.last, found.numbers.seen = None, 2**40
    assert torch.equal(found[:], before)  # let go meanwhile
    assert torch.equal(found[:5], before[:5])


def test_the_longest_unused_go_first(tmp_path):
    sizes = {"new": (100, 1), "old": (100, 2), "older": (100, 5), "oldest": (1, 40), "part-x": (500, 2)}
    sizes["part-y"] = (500, 0.5)
    now = os.stat(tmp_path).st_mtime
    for name, (size, days) in sizes.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "numbers").write_bytes(b"0" * size)
        os.utime(tmp_path / name, (now - days * 86_400,) * 2)
    table_cache.remove_unused(tmp_path, most=250, days=30)
    assert {one.name for one in tmp_path.iterdir()} == {"new", "old", "part-y"}


def test_faults_name_the_row_and_the_column(tmp_path):
    params = params_of(text(tmp_path / "a.csv"), memory=0)
    lines = (tmp_path / "a.csv").read_text("utf-8").split("\n")
    lines[300] = lines[300].replace("p", "p", 1) + ",more,cells"
    (tmp_path / "a.csv").write_text("\n".join(lines), "utf-8")
    with pytest.raises(ValueError, match=r'Row 301 of "a.csv" has 12 cells, but the first has 10'):
        loaded(params)
    lines[300] = lines[299].replace(lines[299].split(",")[9], "much")
    (tmp_path / "a.csv").write_text("\n".join(lines), "utf-8")
    with pytest.raises(ValueError, match=r'Row 301 of "a.csv" has "much" in "price"'):
        loaded(params)
    with pytest.raises((ValueError, DataError), match=r'has no column "price"'):
        (tmp_path / "a.csv").write_text("\n".join(lines).replace("price", "cost"), "utf-8")
        loaded(params)


def test_a_person_is_told_where_the_numbers_are(tmp_path, home):
    params = params_of(text(tmp_path / "a.csv"), memory=0)
    node, catalogue = Node("n1", "TableFile", params=params), load_catalogue()
    assert kept_of(node, catalogue) is None
    rows = sum(len(part["price"]) for part in loaded(params).values())
    place = kept_of(node, catalogue)
    assert place is not None and place.parent == home
    assert (place / "numbers").stat().st_size >= 8 * 10 * rows
    kilobytes = round((place / "numbers").stat().st_size / 1000)
    assert f"The table is read in pieces: its numbers, {kilobytes} kB, are kept in {place}." in said_of(place)
    assert kept_of(Node("n1", "TableFile", params={**params, "memory": 100}), catalogue) is None


@pytest.mark.parametrize(
    ("fit", "options"),
    [
        (fitted.standardise, {}),
        (fitted.standardise, {"over": "all numbers"}),
        (fitted.rescale, {"low": -1.0}),
        (fitted.whiten, {}),
        (fitted.impute, {"by": "median", "marks": True}),
        (fitted.ranks, {"steps": 50}),
    ],
)
def test_what_is_fitted_behind_it_is_the_same(tmp_path, fit, options):
    params = params_of(text(tmp_path / "a.csv"), scaling="none")
    whole, lazy = loaded(params), loaded(params, memory=0)
    for splits in (whole, lazy):
        fit(splits, "features", "fitted", **options)
    for split, columns in whole.items():
        assert torch.equal(lazy[split]["fitted"][:], columns["fitted"])


def test_a_table_that_is_read_in_pieces_is_told_when_it_is_opened(tmp_path, monkeypatch):
    path = text(tmp_path / "a.csv")
    assert not any("in pieces" in remark for remark in open_data(path).remarks)
    monkeypatch.setattr(open_table, "MEMORY", 0)
    [told] = [remark for remark in open_data(path).remarks if "in pieces" in remark]
    assert told.startswith("Read as a whole it would take about 0.0 GiB of memory")


@pytest.mark.parametrize(
    "name", ["a*.csv", "a[1].csv", "a?.csv", "{a,b}.csv", os.fsdecode(b"\xff\xfe.csv")], ids=ascii
)
@pytest.mark.parametrize("end", ["csv", "parquet", "arrow"])
def test_names_of_any_kind_are_names(tmp_path, monkeypatch, name, end):
    for other in ("ab.csv", "a1.csv", "b.csv"):
        (tmp_path / other).with_suffix(f".{end}").write_bytes(b"nothing")
    path = (tmp_path / name).with_suffix(f".{end}")
    lines = [f"{at},{at % 7}.5,{at % 3}" for at in range(60)]
    path.write_text("\n".join(["x,y,z", *lines]))
    if end != "csv":
        frame = pl.read_csv(path.read_bytes())
        with open(path, "wb") as file:
            (frame.write_parquet if end == "parquet" else frame.write_ipc)(file)
    found = both(open_data(path).params)
    assert found["train"]["features"].shape == (36, 2)
    look = look_at_table({**{spec.name: spec.default for spec in TableFile.params}, **open_data(path).params})
    assert (look.rows, look.names) == (60, ("x", "y", "z"))
    monkeypatch.setattr(open_table, "LARGE", 0)
    assert open_data(path).params["rows"] == 60


def test_reading_is_told_and_can_be_ended_which_leaves_nothing_behind(tmp_path, home):
    params = params_of(text(tmp_path / "a.csv"), memory=0)
    told: list[tuple[int, int, str]] = []

    def listen(done: int, count: int, what: str) -> None:
        told.append((done, count, what))
        if len(told) == 3:
            raise Stopped

    with pytest.raises(Stopped), listening(listen):
        loaded(params)
    lines = len((tmp_path / "a.csv").read_text("utf-8").splitlines())
    assert [done for done, _, _ in told] == [70, 140, 210]
    assert all(what == "rows" and abs(count - lines) <= 0.06 * lines for _, count, what in told)
    assert list(home.iterdir()) == []
    with listening(lambda *more: told.append(more)):
        loaded(params)
    assert told[-1][2] == "columns, to scale them" and len(list(home.iterdir())) == 1
