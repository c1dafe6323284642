"""A curve whose older points are in a file reads as if all were in memory."""

from __future__ import annotations

import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.feed import series
from engine.feed.series import POINT, Series


def points(first: int, count: int) -> NDArray[Any]:
    rows = np.zeros(count, POINT)
    rows["step"] = np.arange(first, first + count)
    rows["value"] = np.random.default_rng(first).normal(size=count)
    return rows


def make_small(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(series, "_FIRST_ROOM", 4)
    patch.setattr(series, "MOST_IN_MEMORY", 16)
    patch.setattr(series, "_AT_ONCE", 8)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    make_small(monkeypatch)


TURNS = st.lists(
    st.tuples(st.sampled_from(["append", "extend", "cut", "read"]), st.integers(0, 60), st.integers(0, 60)),
    max_size=25,
)


@given(TURNS)
def test_it_holds_what_a_list_would(turns: list[tuple[str, int, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        make_small(patch)
        curve, right = Series(), np.empty(0, POINT)
        for turn, count, other in turns:
            if turn == "cut":
                curve.cut(len(right) - count)
                right = right[: max(0, len(right) - count)]
            elif turn == "read":
                assert (curve.read(count, other) == right[count:other]).all()
            else:
                new = points(len(right) + 1, count)
                if turn == "extend":
                    curve.extend(new)
                else:
                    for row in new.tolist():
                        curve.append(*row)
                right = np.concatenate((right, new))
            assert len(curve) == len(right)
            assert (curve.read() == right).all()
            assert (curve.read(max(0, len(right) - 1)) == right[-1:]).all()


def test_a_long_curve_takes_no_more_memory_than_its_newest_points() -> None:
    curve, new = Series(), points(1, 50_000)
    tracemalloc.start()
    for _ in range(10):
        curve.extend(new)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(curve) == 500_000 and held < 2.5 * 2**20
    assert (curve.read(450_000) == new).all()


@pytest.mark.usefixtures("small")
def test_without_room_on_the_disk_points_stay_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    curve, right = Series(), points(1, 300)
    for row in right.tolist():
        curve.append(*row)
    assert (curve.read() == right).all()


@pytest.mark.usefixtures("small")
def test_a_reader_beside_the_writer_sees_whole_points_in_order() -> None:
    curve, wrong, done = Series(), [], threading.Event()

    def read() -> None:
        while not done.is_set():
            rows = curve.read()
            if (
                not np.array_equal(rows["step"], np.arange(len(rows)))
                or (rows["value"] != rows["step"]).any()
            ):
                wrong.append(len(rows))

    reader = threading.Thread(target=read)
    reader.start()
    for step in range(5_000):
        curve.append(step, 0.0, 0.0, float(step))
    done.set()
    reader.join()
    assert not wrong
