"""Equal rows are dealt together or once, and rare classes come again: exactly, and alike for a seed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.data.lazy import Mapped
from engine.data.repeats import (
    common_thinned,
    equals_once,
    equals_together,
    first_equals,
    groups_together,
    rare_repeated,
)
from engine.data.splits import (
    split_at_random,
    split_by_bootstrap,
    split_by_class,
    split_by_group,
    split_rows,
)

SHARES = {"validation": 0.2, "test": 0.1, "seed": 3}


def copied(n: int = 300) -> torch.Tensor:
    """Row i of the last 100 is a copy of row i of the first 100."""
    x = torch.randn(n, 3, generator=torch.Generator().manual_seed(0))
    x[n - 100 :] = x[:100]
    return x


def test_rows_are_equal_where_every_bit_is_and_zeros_and_gaps_are_alike() -> None:
    nan = float("nan")
    x = torch.tensor([[0.0, nan], [1.0, 2.0], [-0.0, nan], [1.0, 2.0000002], [1.0, 2.0]])
    assert first_equals([x]).tolist() == [0, 1, 0, 3, 1]
    assert first_equals([x, torch.tensor([0, 1, 0, 3, 4])]).tolist() == [0, 1, 0, 3, 4]
    assert first_equals([["a", "b", "a"]]).tolist() == [0, 1, 0]


@pytest.mark.parametrize("form", ["tensor", "array", "file"])
def test_columns_in_memory_and_in_files_are_told_alike(form: str) -> None:
    values = np.random.default_rng(0).integers(0, 3, (5000, 4)).astype(np.float32)
    made = {"tensor": torch.from_numpy(values), "array": values, "file": Mapped(values, "cpu")}
    first = first_equals([made[form]]).numpy()
    _, kinds = np.unique(values, axis=0, return_inverse=True)
    assert len(np.unique(first)) == 81
    assert all(first[row] == np.flatnonzero(kinds == kinds[row])[0] for row in range(0, 5000, 97))


@pytest.mark.parametrize("splitter", [split_at_random, split_by_class])
def test_together_no_row_is_in_two_splits_and_none_is_lost(splitter) -> None:  # type: ignore[no-untyped-def]
    x, keys = copied(), torch.arange(300) % 2
    rows = split_rows(300, keys, splitter, {**SHARES, "repeats": equals_together}, [x])
    assert sorted(torch.cat(list(rows.values())).tolist()) == list(range(300))
    where = {row: split for split, at in rows.items() for row in at.tolist()}
    assert all(where[row] == where[row + 200] for row in range(100))
    plain = split_rows(300, keys, splitter, SHARES, [x])
    where = {row: split for split, at in plain.items() for row in at.tolist()}
    assert any(where[row] != where[row + 200] for row in range(100))
    again = split_rows(300, keys, splitter, {**SHARES, "repeats": equals_together}, [x])
    assert all(torch.equal(rows[split], again[split]) for split in rows)


def test_left_out_only_the_first_of_equal_rows_stays() -> None:
    rows = split_rows(300, None, split_at_random, {**SHARES, "repeats": equals_once}, [copied()])
    assert sorted(torch.cat(list(rows.values())).tolist()) == list(range(200))
    assert [len(rows[split]) for split in ("train", "validation", "test")] == [140, 40, 20]


def test_drawn_with_replacement_all_that_are_equal_come_together() -> None:
    options = {"test": 0.2, "seed": 0, "repeats": equals_together}
    rows = split_rows(300, None, split_by_bootstrap, options, [copied()])
    counts = torch.bincount(rows["train"], minlength=300)
    assert torch.equal(counts[:100], counts[200:])
    assert int(counts.max()) > 1


def test_groups_that_share_a_row_stay_in_one_split_with_all_of_theirs() -> None:
    x, groups = copied(), torch.arange(300) // 5
    rows = split_rows(300, groups, split_by_group, {**SHARES, "repeats": groups_together}, [x])
    where = torch.empty(300, dtype=torch.int64)
    for number, at in enumerate(rows.values()):
        where[at] = number
    assert sorted(torch.cat(list(rows.values())).tolist()) == list(range(300))
    assert torch.equal(where[:100], where[200:])
    assert all(len(set(where[groups == one].tolist())) == 1 for one in range(60))


def test_rare_classes_come_again_until_all_have_as_many() -> None:
    classes = torch.tensor([0] * 70 + [1] * 20 + [2] * 7 + [0, 1, 2])
    rows = rare_repeated(torch.arange(97), classes, seed=1)
    assert torch.bincount(classes[rows]).tolist() == [70, 70, 70]
    times = torch.bincount(rows, minlength=97)
    assert set(times[:70].tolist()) == {1}
    assert sorted(times[70:90].tolist()) == [3] * 10 + [4] * 10
    assert set(times[90:].tolist()) == {10}
    assert torch.equal(rows, rare_repeated(torch.arange(97), classes, seed=1))
    assert not torch.equal(rows, rare_repeated(torch.arange(97), classes, seed=2))
    assert torch.bincount(classes[common_thinned(torch.arange(97), classes, 1)]).tolist() == [7, 7, 7]


def test_rows_that_are_held_out_stay_as_they_were_dealt() -> None:
    classes = torch.tensor([0] * 270 + [1] * 30)
    x = torch.arange(300.0)[:, None]
    plain = split_rows(300, classes, split_by_class, SHARES, [x], classes)
    even = split_rows(300, classes, split_by_class, {**SHARES, "balance": rare_repeated}, [x], classes)
    assert all(torch.equal(plain[split], even[split]) for split in ("validation", "test"))
    assert torch.bincount(classes[even["train"]]).tolist() == [189, 189]
    assert set(even["train"].tolist()) == set(plain["train"].tolist())
    with pytest.raises(ValueError, match="no classes"):
        split_rows(300, None, split_at_random, {**SHARES, "balance": rare_repeated}, [x])
