"""Nodes that decide which rows there are, and labels that stay wrong: right counts, all else as it was."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.catalogue import Column
from engine.data.lazy import Mapped
from engine.data.picked_rows import keep_one_of_equals, keep_whole_rows, pick_by_class, wrong_labels
from engine.data.repeats import rare_repeated
from engine.errors import EmitError, ParamError
from nodes.rows import BalanceClasses, LeaveOutRows, WrongLabels


def splits(lazy: bool = False) -> dict[str, dict[str, Any]]:
    """Numbers that count up over all splits; the label of row i is 1 where i is divisible by 10."""
    rows = {"train": range(100), "validation": range(100, 130), "test": range(130, 150)}
    found: dict[str, dict[str, Any]] = {}
    for split, numbers in rows.items():
        x = torch.tensor(list(numbers), dtype=torch.float32)[:, None]
        found[split] = {"x": Mapped(x.numpy(), "cpu") if lazy else x, "y": (x[:, 0].long() % 10 == 0).long()}
    return found


@pytest.mark.parametrize("lazy", [False, True])
def test_held_out_rows_that_repeat_others_go_with_all_of_their_columns(lazy: bool) -> None:
    made = splits()
    made["train"]["x"][7] = made["train"]["x"][3]
    made["validation"]["x"][:5] = made["train"]["x"][:5]
    made["test"]["x"][0] = made["validation"]["x"][9]
    if lazy:
        made = {split: {**one, "x": Mapped(one["x"].numpy(), "cpu")} for split, one in made.items()}
    keep_one_of_equals(made, "x", "kept")
    assert [len(part["kept"]) for part in made.values()] == [99, 25, 19]
    assert [len(part["y"]) for part in made.values()] == [99, 25, 19]
    assert made["validation"]["x"][0].tolist() == [105]
    for part in made.values():
        assert torch.equal(part["y"], (part["x"][:][:, 0].long() % 10 == 0).long())
    every = torch.cat([part["kept"][:] for part in made.values()])
    assert len(every.unique()) == len(every)


def test_a_split_of_nothing_but_copies_is_refused() -> None:
    made = splits()
    made["test"]["x"][:] = made["train"]["x"][:20]
    with pytest.raises(ValueError, match="Every row of test repeats another"):
        keep_one_of_equals(made, "x", "kept")


def test_rows_that_lack_a_number_are_left_out() -> None:
    made = splits()
    made["train"]["x"][[2, 50]] = float("nan")
    made["test"]["x"][1] = float("nan")
    keep_whole_rows(made, "x", "kept")
    assert [len(part["y"]) for part in made.values()] == [98, 30, 19]
    assert not any(part["kept"].isnan().any() for part in made.values())


@pytest.mark.parametrize("lazy", [False, True])
def test_training_classes_come_equally_often_and_others_as_they_did(lazy: bool) -> None:
    made = splits(lazy)
    pick_by_class(made, "y", "even", pick=rare_repeated, seed=0)
    assert torch.bincount(made["train"]["even"]).tolist() == [90, 90]
    x = made["train"]["x"][:][:, 0].long()
    assert torch.equal(made["train"]["y"], (x % 10 == 0).long())
    assert torch.bincount(x)[::10].tolist() == [9] * 10
    assert [len(made[split]["x"]) for split in ("validation", "test")] == [30, 20]


def test_wrong_labels_stay_wrong_and_held_out_ones_stay_right() -> None:
    made = splits()
    labels = torch.arange(5000) % 7
    made["train"] = {"y": labels, "x": torch.zeros(5000, 1)}
    wrong_labels(made, "y", "noisy", share=0.3, classes=7, seed=4)
    noisy = made["train"]["noisy"]
    off = noisy != labels
    assert off.double().mean().item() == pytest.approx(0.3, abs=0.02)
    assert torch.bincount((noisy - labels)[off] % 7, minlength=7)[1:].min() > 150  # every other class
    assert torch.equal(made["test"]["noisy"], made["test"]["y"])
    again = {"train": {"y": labels}}
    wrong_labels(again, "y", "noisy", share=0.3, classes=7, seed=4)
    assert torch.equal(again["train"]["noisy"], noisy)
    wrong_labels(made, "y", "noisy", share=1.0, classes=2, everywhere=True)
    assert torch.equal(made["test"]["noisy"], 1 - made["test"]["y"])


def test_what_the_nodes_need_is_said() -> None:
    numbers, label = Column("size", (3,)), Column("kind", (), "int64", ("a", "b"))
    for node in (BalanceClasses(), WrongLabels()):
        with pytest.raises(EmitError, match="size has none"):
            node.bind(numbers)
        node.bind(label)
        assert node.columns()[0].classes == ("a", "b")
    with pytest.raises(ParamError, match="how many classes"):
        WrongLabels().bind(Column("kind", (), "int64"))
    with pytest.raises(EmitError, match="no number can be missing"):
        LeaveOutRows({"that": "lack a number"}).bind(label)
