"""Records of epochs as columns."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.train import epochs
from engine.train.epochs import Epochs

FIRST = {"epoch": 0, "val_loss": 0.5, "step": 10}
SECOND = {"epoch": 1, "val_loss": float("inf"), "step": 20, "val_other": 0.25}


def test_records_come_back_as_they_were() -> None:
    found = Epochs([FIRST, SECOND])
    assert list(found) == [FIRST, SECOND] and found[-1] == SECOND and len(found) == 2
    assert (
        isinstance(found[1]["step"], int) and list(found.since(1)) == [SECOND] and list(found.since(5)) == []
    )
    with pytest.raises(IndexError):
        found[2]


def test_a_column_has_a_gap_where_a_record_lacks_the_value() -> None:
    found = Epochs([FIRST, SECOND, FIRST])
    assert np.array_equal(found.column("val_other"), [np.nan, 0.25, np.nan], equal_nan=True)
    assert np.isnan(found.column("never")).tolist() == [True] * 3


def test_what_is_cut_is_gone_though_its_place_is_used_again() -> None:
    found = Epochs([FIRST, SECOND])
    found.cut(1)
    found.append({"epoch": 1})
    assert list(found) == [FIRST, {"epoch": 1}]


VALUES = st.one_of(st.none(), st.floats(), st.integers(-3, 3).map(float))


@given(st.lists(VALUES, max_size=40), st.integers(0, 3), st.integers(0, 40))
def test_what_is_in_files_is_read_as_the_rest(values: list[float | None], but: int, kept: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(epochs, "MOST_IN_MEMORY", 8)
        patch.setattr(epochs, "_AT_ONCE", 5)
        right = [{"epoch": at} | ({"loss": one} if one is not None else {}) for at, one in enumerate(values)]
        found = Epochs()
        for at, record in enumerate(right):
            found.append(record)
            check_lowest(found, right[: at + 1], but)
        found.cut(kept)
        right = right[:kept]
        found.append({"epoch": 50, "other": 1.5})
        right.append({"epoch": 50, "other": 1.5})
        check_lowest(found, right, but)
        losses = [record.get("loss", np.nan) for record in right]
        assert repr(list(found)) == repr(right) and repr(list(found.since(7))) == repr(right[7:])
        for start, end in ((0, None), (-4, None), (3, 9), (-1, -1)):
            assert np.array_equal(found.column("loss", start, end), losses[start:end], equal_nan=True)


def check_lowest(found: Epochs, right: list[dict[str, int | float]], but: int) -> None:
    losses = np.array([record.get("loss", np.nan) for record in right[: max(0, len(right) - but)]])
    count, at, value, finite = found.lowest("loss", but)
    assert count == len(losses) and finite == bool(np.isfinite(losses).all())
    if np.isnan(losses).all():
        assert (at, value) == (-1, np.inf)
    else:
        assert value == np.nanmin(losses) and at == np.nanargmin(losses)


def test_epochs_take_no_more_memory_however_many_they_are() -> None:
    tracemalloc.start()
    found = Epochs()
    for at in range(30_000):
        found.append({"epoch": at, "val_loss": at / 7, "val_accuracy": at / 9})
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found[19_999]["val_loss"] == 19_999 / 7 and taken < 3 * 2 * 9 * epochs.MOST_IN_MEMORY
