import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.data.splits import columns_of, standardised, stratified_holdout, stratified_split


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@given(
    counts=st.lists(st.integers(1, 60), min_size=1, max_size=6),
    share=st.floats(0.0, 0.9),
    seed=st.integers(0, 2**31 - 1),
)
def test_every_row_is_dealt_once_and_every_class_in_proportion(counts, share, seed):
    labels = torch.cat([torch.full((count,), index) for index, count in enumerate(counts)])
    kept, held = stratified_holdout(labels, share, generator(seed))
    assert sorted([*kept.tolist(), *held.tolist()]) == list(range(len(labels)))
    assert len(held) == round(share * len(labels))
    for index, count in enumerate(counts):
        assert abs((labels[held] == index).sum().item() - count * len(held) / len(labels)) < 1


@pytest.mark.parametrize("validation", [0.05, 0.2, 0.4])
@pytest.mark.parametrize("test", [0.05, 0.2, 0.4])
def test_sorted_classes_reach_every_split(validation, test):
    labels = torch.arange(3).repeat_interleave(50)
    rows = stratified_split(labels, validation, test, seed=0)
    assert sorted(torch.cat(list(rows.values())).tolist()) == list(range(150))
    for at in rows.values():
        assert set(labels[at].tolist()) == {0, 1, 2}
    assert len(rows["test"]) == round(150 * test)
    assert abs(len(rows["validation"]) - 150 * validation) <= 1


def test_the_seed_alone_decides():
    labels = torch.arange(3).repeat_interleave(50)
    torch.manual_seed(1)
    first = stratified_split(labels, 0.2, 0.2, seed=4)
    torch.manual_seed(2)
    again, other = stratified_split(labels, 0.2, 0.2, seed=4), stratified_split(labels, 0.2, 0.2, seed=5)
    assert all(torch.equal(first[split], again[split]) for split in first)
    assert not torch.equal(first["test"], other["test"])


def test_splitting_leaves_the_global_random_state_alone():
    before = torch.get_rng_state()
    stratified_split(torch.zeros(20), 0.2, 0.2, seed=1)
    assert torch.equal(before, torch.get_rng_state())


def test_rows_within_a_split_are_shuffled():
    labels = torch.arange(3).repeat_interleave(50)
    train = labels[stratified_split(labels, 0.2, 0.2, seed=0)["train"]]
    assert not torch.equal(train, train.sort().values)


def test_standardising_sees_the_training_rows_only():
    values = torch.randn(30, 3, generator=generator(), dtype=torch.float64) * 7 + 5
    train = torch.arange(20)
    scaled = standardised(values, train)
    assert torch.allclose(scaled[train].mean(0), torch.zeros(3, dtype=torch.float64), atol=1e-12)
    assert torch.allclose(scaled[train].std(0, correction=0), torch.ones(3, dtype=torch.float64))
    other = values.clone()
    other[20:] = 1e6
    assert torch.equal(standardised(other, train)[:20], scaled[:20])


def test_a_constant_column_becomes_zero_not_nan():
    values = torch.full((10, 1), 0.1, dtype=torch.float64)
    assert standardised(values, torch.arange(8)).abs().max() < 1e-9


def test_columns_of_deals_every_column_alike():
    columns = {"a": torch.arange(6), "b": torch.arange(6) * 10}
    splits = columns_of(columns, {"train": torch.tensor([4, 0]), "test": torch.tensor([5])}, "cpu")
    assert splits["train"]["a"].tolist() == [4, 0]
    assert splits["train"]["b"].tolist() == [40, 0]
    assert splits["test"]["b"].tolist() == [50]
