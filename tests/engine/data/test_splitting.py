"""Every splitter: fractions, classes, groups, order and seeds; no row twice, none lost without cause."""

from __future__ import annotations

import pytest
import torch

from engine.data.splits import (
    split_as_given,
    split_at_random,
    split_by_bootstrap,
    split_by_class,
    split_by_group,
    split_columns,
    split_in_blocks,
    split_in_folds,
    split_in_time,
)

SHARES = {"validation": 0.2, "test": 0.1}


def sizes(rows: dict[str, torch.Tensor]) -> list[int]:
    return [len(rows[split]) for split in ("train", "validation", "test")]


def every(rows: dict[str, torch.Tensor]) -> list[int]:
    return sorted(torch.cat(list(rows.values())).tolist())


def test_at_random_gives_the_shares_and_each_row_once() -> None:
    rows = split_at_random(1000, None, **SHARES, seed=3)
    assert sizes(rows) == [700, 200, 100]
    assert every(rows) == list(range(1000))


def test_a_seed_deals_the_same_rows_again_and_another_seed_others() -> None:
    keys = torch.arange(300) % 3
    for splitter in (split_at_random, split_by_class, split_by_group):
        first, again, other = (splitter(300, keys, **SHARES, seed=seed) for seed in (1, 1, 2))
        assert all(torch.equal(first[split], again[split]) for split in first)
        assert splitter is split_by_group or not torch.equal(first["test"], other["test"])


def test_by_class_gives_every_class_its_part_of_every_split() -> None:
    keys = torch.tensor([0] * 500 + [1] * 300 + [2] * 200)
    rows = split_by_class(1000, keys, **SHARES, seed=0)
    assert every(rows) == list(range(1000))
    assert {split: torch.bincount(keys[at]).tolist() for split, at in rows.items()} == {
        "train": [350, 210, 140],
        "validation": [100, 60, 40],
        "test": [50, 30, 20],
    }
    assert keys[rows["train"]].diff().ne(0).sum() > 300  # not sorted by class


def test_a_group_is_never_in_two_splits() -> None:
    keys = torch.randint(40, (1000,), generator=torch.Generator().manual_seed(0)) * 7
    rows = split_by_group(1000, keys, **SHARES, seed=0)
    groups = [set(keys[at].tolist()) for at in rows.values()]
    assert every(rows) == list(range(1000))
    assert not (groups[0] & groups[1] or groups[0] & groups[2] or groups[1] & groups[2])
    assert sizes(rows)[1] == pytest.approx(200, abs=30)


def test_in_time_keeps_the_order_and_puts_the_last_rows_into_test() -> None:
    assert [at.tolist() for at in split_in_time(10, None, validation=0.2, test=0.2).values()] == [
        [0, 1, 2, 3, 4, 5],
        [6, 7],
        [8, 9],
    ]
    times = torch.tensor([5.0, 1.0, 4.0, 2.0, 3.0])
    assert split_in_time(5, times, validation=0.2, test=0.2)["train"].tolist() == [1, 3, 4]


def test_as_given_leaves_out_what_belongs_nowhere() -> None:
    rows = split_as_given(6, torch.tensor([0, 0, 1, 2, -1, 0]), validation=0.4, test=0.4, seed=0)
    assert [at.tolist() for at in rows.values()] == [[0, 1, 5], [2], [3]]


def test_as_given_takes_a_split_that_is_lacking_from_train() -> None:
    keys = torch.tensor([0] * 10 + [2] * 3)
    rows = split_as_given(13, keys, validation=0.2, test=0.2, seed=0)
    assert [len(at) for at in rows.values()] == [8, 2, 3] and every(rows) == list(range(13))
    assert rows["test"].tolist() == [10, 11, 12] and rows["train"].tolist() == sorted(rows["train"].tolist())


def test_folds_together_validate_on_every_row_once() -> None:
    keys = torch.arange(100) % 4
    parts = [split_in_folds(100, keys, folds=5, fold=fold, test=0.2, seed=0) for fold in range(5)]
    tested = set(parts[0]["test"].tolist())
    assert all(set(part["test"].tolist()) == tested and every(part) == list(range(100)) for part in parts)
    held = torch.cat([part["validation"] for part in parts]).tolist()
    assert sorted(held) == sorted(set(range(100)) - tested)
    assert all(torch.bincount(keys[part["validation"]]).tolist() == [4] * 4 for part in parts)


def test_blocks_of_time_never_train_on_what_comes_later() -> None:
    for fold in range(4):
        rows = split_in_blocks(100, None, folds=4, fold=fold, gap=3, test=0.1)
        assert rows["train"].max() + 3 < rows["validation"].min()
        assert rows["validation"].max() < rows["test"].min()
        assert len(rows["train"]) == 90 * (fold + 1) // 5 - 3
    assert rows["validation"].max() + 3 < rows["test"].min()


def test_a_bootstrap_draws_as_many_rows_and_validates_on_the_others() -> None:
    rows = split_by_bootstrap(20_000, None, test=0.2, seed=0)
    trained, held = set(rows["train"].tolist()), set(rows["validation"].tolist())
    assert len(rows["train"]) == 16_000 and not trained & held
    assert trained | held | set(rows["test"].tolist()) == set(range(20_000))
    assert len(held) / 16_000 == pytest.approx(0.368, abs=0.01)  # 1 / e of the rows are never drawn


def test_a_split_without_rows_is_refused_with_its_name() -> None:
    rows = split_at_random(3, None, validation=0.1, test=0.4, seed=0)
    with pytest.raises(ValueError, match="Of 3 rows none is left for validation"):
        split_columns({"x": torch.zeros(3, 1)}, rows, "cpu")
