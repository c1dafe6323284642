"""Records of epochs as columns."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from engine.train.epochs import Epochs

FIRST = {"epoch": 0, "val_loss": 0.5, "step": 10}
SECOND = {"epoch": 1, "val_loss": float("inf"), "step": 20, "val_other": 0.25}


def test_records_come_back_as_they_were() -> None:
    found = Epochs([FIRST, SECOND])
    assert list(found) == [FIRST, SECOND] and found[-1] == SECOND and len(found) == 2
    assert isinstance(found[1]["step"], int) and found.since(1) == [SECOND] and found.since(5) == []
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


def test_many_epochs_take_little_memory() -> None:
    tracemalloc.start()
    found = Epochs({"epoch": at, "val_loss": at / 7, "val_accuracy": at / 9} for at in range(20_000))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found[19_999]["val_loss"] == 19_999 / 7 and taken < 60 * 20_000
