"""Arrays in straight lines of numpy: the same numbers as in the application, to the last bit."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.catalogue import Data
from engine.data.open.opening import Opened, open_data
from tests.engine.emit.sources import agreeing
from tests.engine.emit.sources.agreeing import load_of, text_of
from tests.engine.emit.sources.reading import assert_alike, assert_clean, data_of, is_carried, refuses
from tests.engine.sketches import gallery
from tests.sampling import sampled

ROWS = 80
VALUES = ("as they are", "0 to 1", "standardise")
SPLITS = ("by class", "random", "by group", "in time", "folds", "blocks of time", "bootstrap")
TYPES = ("uint8", "int16", "int64", "float32", "float64", ">f4", "float16", "bool", "uint16", "uint32")


def random_array(dtype: str, size: tuple[int, ...], seed: int = 0, rows: int = ROWS) -> np.ndarray[Any, Any]:
    draw = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "uib":
        return draw.integers(0, 2 if dtype == "bool" else 250, (rows, *size)).astype(dtype)
    return draw.normal(3, 2, (rows, *size)).astype(dtype)


def node(opened: Opened, **changes: Any) -> Data:
    return agreeing.data_of(opened, changes)


def saved(folder: Path, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Opened:
    np.savez(folder / "a.npz", **arrays)  # type: ignore[arg-type]
    return open_data(folder / "a.npz")


@pytest.mark.parametrize(("dtype", "values"), sampled(2, TYPES, VALUES))
@pytest.mark.parametrize(
    ("size", "axes"),
    [
        ((), "as they are"),
        ((3,), "as they are"),
        ((4, 5), "as they are"),
        ((4, 5), "add a channel"),
        ((4, 5, 3), "channels first"),
        ((2, 3, 4, 2), "as they are"),
    ],
)
def test_every_type_and_size(
    tmp_path: Path, dtype: str, values: str, size: tuple[int, ...], axes: str
) -> None:
    draw = np.random.default_rng(1)
    opened = saved(tmp_path, {"x": random_array(dtype, size), "y": draw.integers(0, 3, ROWS)})
    data = node(opened, values=values, axes=axes)
    assert not is_carried(data)
    assert_alike(data)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("repeats", ["as they are", "in one split", "left out"])
@pytest.mark.parametrize("balance", ["as they come", "repeat the rare", "thin the common"])
def test_every_way_to_split(tmp_path: Path, split: str, repeats: str, balance: str) -> None:
    draw = np.random.default_rng(2)
    arrays = {
        "x": draw.integers(0, 3, (ROWS, 2)).astype("uint8"),
        "y": draw.choice(["red", "green", "blue"], ROWS),
        "time": draw.normal(size=ROWS),
        "group": draw.integers(0, 20, ROWS),
        "weight": draw.random(ROWS),
    }
    opened = saved(tmp_path, arrays)
    assert_alike(node(opened, split=split, repeats=repeats, balance=balance, values="0 to 1", fold=2, gap=1))


@pytest.mark.parametrize("kind", ["int64", "float64", "U", "S", "bool", "column"])
def test_classes_of_every_type(tmp_path: Path, kind: str) -> None:
    draw = np.random.default_rng(3)
    labels = draw.integers(2, 6, ROWS)
    y: np.ndarray[Any, Any] = {
        "U": np.array(["a", "b", "é", "d", "e", "f"])[labels],
        "S": np.array([b"a", b"b", b"c", b"d", b"e", b"f"])[labels],
        "bool": labels > 3,
        "column": labels[:, None],
    }.get(kind, labels.astype("float64" if kind == "float64" else "int64"))
    opened = saved(tmp_path, {"x": random_array("float64", (4,)), "y": y})
    for values, labelled in product(VALUES, ("classes", "numbers")):
        if labelled == "classes" or kind not in "US":
            assert_alike(node(opened, values=values, labels=labelled))


def test_one_hot_ids_and_targets_at_the_end(tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    opened = saved(
        tmp_path, {"x": draw.integers(0, 50, (ROWS, 6)), "y": np.eye(4)[draw.integers(0, 4, ROWS)]}
    )
    assert_alike(node(opened))
    assert_alike(node(opened, whole="ids"))
    for values in VALUES:
        assert_alike(node(opened, last=2, values=values))


def idx(array: np.ndarray[Any, Any], code: int) -> bytes:
    return (
        struct.pack(">BBBB", 0, 0, code, array.ndim)
        + struct.pack(f">{array.ndim}I", *array.shape)
        + array.tobytes()
    )


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("split", ["as given", "random"])
def test_files_of_their_own_for_each_split(tmp_path: Path, packed: bool, split: str) -> None:
    for part, rows in (("train", 60), ("t10k", 20)):
        for name, array in (
            ("images-idx3", random_array("uint8", (5, 4), rows, rows)),
            ("labels-idx1", np.arange(rows, dtype="uint8") % 4),
        ):
            content = idx(array, 8)
            ending = "-ubyte.gz" if packed else "-ubyte"
            (tmp_path / f"{part}-{name}{ending}").write_bytes(gzip.compress(content) if packed else content)
    opened = open_data(tmp_path / ("train-images-idx3-ubyte" + (".gz" if packed else "")))
    data = node(opened, split=split, values="0 to 1", axes="add a channel")
    assert not is_carried(data)
    assert_alike(data)


def test_plain_files_records_and_columns_first(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    np.save(tmp_path / "x_train.npy", np.asfortranarray(draw.normal(size=(60, 3))))
    np.save(tmp_path / "x_test.npy", draw.normal(size=(20, 3)))
    np.save(tmp_path / "y_train.npy", draw.integers(0, 3, 60))
    np.save(tmp_path / "y_test.npy", draw.integers(0, 3, 20))
    for split, values in product(("as given", "random"), VALUES):
        assert_alike(node(open_data(tmp_path / "x_train.npy"), split=split, values=values))
    records = np.zeros(ROWS, [("length", "f4"), ("images", "u1", (3, 3)), ("kind", "i2")])
    records["length"], records["kind"] = draw.normal(size=ROWS), draw.integers(0, 3, ROWS)
    records["images"] = draw.integers(0, 255, (ROWS, 3, 3))
    np.save(tmp_path / "records.npy", records)
    for values in VALUES:
        assert_alike(node(open_data(tmp_path / "records.npy"), values=values, split="random"))


@pytest.mark.parametrize("size", [(2**15,), (3, 100, 101), (70, 80)])
@pytest.mark.parametrize("values", VALUES)
def test_what_is_looked_at_in_blocks(tmp_path: Path, size: tuple[int, ...], values: str) -> None:
    opened = saved(tmp_path, {"x": random_array("float32", size, rows=1000), "y": np.arange(1000) % 3})
    assert_alike(node(opened, values=values))


def test_what_stays_in_its_file_is_carried(tmp_path: Path) -> None:
    opened = saved(tmp_path, {"x": random_array("float32", (2**14,), rows=40), "y": np.arange(40) % 3})
    assert not is_carried(node(opened, memory=3))
    assert is_carried(node(opened, memory=1))


def test_the_digits_of_the_gallery() -> None:
    data = data_of("ArrayFile", gallery("array-digits").graph.nodes["n1"].params)
    assert not is_carried(data)
    assert_alike(data)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(TYPES), st.sampled_from([(), (2,), (3, 2), (2, 3, 2)])),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(VALUES),
    st.sampled_from(["by class", "random", "folds", "bootstrap", "in time"]),
    st.integers(0, 99),
)
def test_products(
    tmp_path: Path, kinds: list[tuple[str, tuple[int, ...]]], values: str, split: str, seed: int
) -> None:
    arrays = {f"part {at}": random_array(dtype, size, seed + at) for at, (dtype, size) in enumerate(kinds)}
    opened = saved(tmp_path, {**arrays, "labels": np.random.default_rng(seed).integers(0, 3, ROWS)})
    assert_alike(node(opened, values=values, split=split, seed=seed))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"x": None}, "x is not a file in the archive"),
        ({"x": np.zeros((ROWS, 5))}, "x in"),
        ({"x": np.zeros((ROWS, 4), "float32")}, "float32 of shape"),
        ({"y": np.full(ROWS, 9)}, "9, which is none of its classes"),
        ({"y": np.zeros(7, int)}, "y in"),
        ({"x": np.zeros((2, 4), "uint8"), "y": np.arange(2)}, "too few rows"),
    ],
)
def test_a_file_that_changed_gets_one_sentence(tmp_path: Path, change: Mapping[str, Any], said: str) -> None:
    arrays: dict[str, Any] = {"x": random_array("uint8", (4,)), "y": np.arange(ROWS) % 3}
    load = load_of(node(saved(tmp_path, arrays), values="0 to 1"))
    assert not refuses(load, tmp_path)
    np.savez(
        tmp_path / "a.npz",
        **{name: value for name, value in {**arrays, **change}.items() if value is not None},
    )
    assert said in refuses(load, tmp_path)
    (tmp_path / "a.npz").write_bytes(b"")
    assert "no longer holds" in refuses(load, tmp_path)


def test_lines_are_clean_for_ruff_and_mypy(tmp_path: Path) -> None:
    arrays = {
        "x": random_array("float32", (3, 4)),
        "z": random_array("uint8", (2, 2, 3)),
        "time": np.arange(ROWS),
        "y": np.array([b"a", b"b"])[np.arange(ROWS) % 2],
        "hot": np.eye(3)[np.arange(ROWS) % 3],
    }
    opened = saved(tmp_path, arrays)
    texts = [
        text_of(node(opened, values=values, split=split))
        for values in VALUES
        for split in ("by class", "in time")
    ]
    assert_clean(tmp_path, texts)
