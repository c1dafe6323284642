"""What comes inside scikit-learn arrives whole, row by row as it is there."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from sklearn import datasets

from engine.data.sets.scikit_learn_more import load_linnerud, load_photograph
from nodes.data.bundled import Photograph

NOWHERE = Path("nowhere")


def test_every_man_is_in_one_split_with_his_own_measures() -> None:
    splits = load_linnerud(NOWHERE, "cpu", standardise=False, standardise_target=False)
    assert {split: len(part["body"]) for split, part in splits.items()} == {
        "train": 12,
        "validation": 4,
        "test": 4,
    }
    found = torch.cat([torch.cat([part["exercises"], part["body"]], dim=1) for part in splits.values()])
    source = datasets.load_linnerud()
    wanted = torch.cat([torch.tensor(source.data), torch.tensor(source.target)], dim=1).float()
    assert sorted(found.tolist()) == sorted(wanted.tolist())


def test_what_is_standardised_is_so_on_train_alone() -> None:
    splits = load_linnerud(NOWHERE, "cpu")
    for name in ("exercises", "body"):
        assert splits["train"][name].mean(0).abs().max() < 1e-6
        assert splits["test"][name].mean(0).abs().max() > 1e-3


@pytest.mark.parametrize("picture", ["flower", "china"])
def test_a_photograph_is_there_pixel_by_pixel(picture: str) -> None:
    splits = load_photograph(NOWHERE, "cpu", picture=picture, width=640)
    place = torch.cat([part["place"] for part in splits.values()])
    colour = torch.cat([part["colour"] for part in splits.values()])
    levels = torch.tensor(datasets.load_sample_image(f"{picture}.jpg").copy())
    column = ((place[:, 0] + 1) / 2 * 640 - 0.5).round().long()
    row = ((place[:, 1] + 1) / 2 * 427 - 0.5).round().long()
    assert len(set(zip(row.tolist(), column.tolist(), strict=True))) == 640 * 427
    assert torch.equal((colour * 255).round().to(torch.uint8), levels[row, column])


def test_a_small_photograph_has_means() -> None:
    splits = load_photograph(NOWHERE, "cpu", width=64)
    assert sum(len(part["place"]) for part in splits.values()) == 64 * 43
    assert "64 × 43" in Photograph().summary()
    whole = torch.tensor(datasets.load_sample_image("flower.jpg").copy()).float().mean((0, 1)) / 255
    found = torch.cat([part["colour"] for part in splits.values()]).mean(0)
    assert torch.allclose(found, whole, atol=0.01)
    assert "8 × 5" in Photograph({"width": 8}).summary()
