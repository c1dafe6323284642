"""Transforms are fitted on training rows alone; the values are those of scikit-learn where it has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn import decomposition, preprocessing

from engine.data.fitted import impute, ranks, rescale, standardise, whiten
from engine.data.lazy import Mapped

DRAW = torch.Generator().manual_seed(0)
TABLE = torch.randn(9000, 4, generator=DRAW) * torch.tensor([1.0, 30.0, 0.01, 2.0]) + 100
TABLE[:, 3] = 7.0  # never varies


def splits(values: torch.Tensor = TABLE, lazy: bool = False) -> dict[str, dict[str, Any]]:
    found = {"train": values[:8500], "validation": values[8500:8600], "test": values[8600:]}
    return {
        split: {"x": Mapped(part.numpy(), "cpu") if lazy else part.clone()} for split, part in found.items()
    }


@pytest.mark.parametrize("lazy", [False, True])
def test_standardise_is_scikit_learns_fitted_on_training_rows(lazy: bool) -> None:
    data = splits(lazy=lazy)
    standardise(data, "x", "y")
    known = preprocessing.StandardScaler().fit(TABLE[:8500].double().numpy())
    for split, rows in splits().items():
        expected = known.transform(rows["x"].double().numpy())
        expected[:, 3] = 0
        assert np.allclose(data[split]["y"][:].numpy(), expected, atol=1e-4)
        assert data[split]["y"].dtype == torch.float32
        assert torch.equal(data[split]["x"][:], rows["x"])  # the column it reads stays


def test_images_share_statistics_by_channel_or_by_all() -> None:
    images = torch.rand(20, 3, 5, 5, generator=DRAW) * torch.tensor([1.0, 5.0, 9.0])[:, None, None]
    data = {split: {"x": images[:10] if split == "train" else images[10:]} for split in ("train", "test")}
    standardise(data, "x", "y", over="each channel")
    assert torch.allclose(data["train"]["y"].mean((0, 2, 3)), torch.zeros(3), atol=1e-6)
    assert torch.allclose(data["train"]["y"].std((0, 2, 3), correction=0), torch.ones(3), atol=1e-6)
    standardise(data, "x", "z", over="all numbers")
    assert data["train"]["z"].std(correction=0).item() == pytest.approx(1)
    assert data["train"]["z"][:, 2].mean() > 0.3 > data["train"]["z"][:, 0].mean()


@pytest.mark.parametrize("lazy", [False, True])
def test_rescale_maps_training_rows_onto_the_range_and_others_beyond(lazy: bool) -> None:
    values = torch.arange(9000.0)[:, None].repeat(1, 4)
    data = splits(values, lazy)
    rescale(data, "x", "y", low=-1, high=1)
    assert data["train"]["y"][0].tolist() == [-1] * 4
    assert data["train"]["y"][-1].tolist() == [1] * 4
    assert (
        data["test"]["y"][-1, 0]
        if not lazy
        else data["test"]["y"][-1][0] == pytest.approx(2 * 8999 / 8499 - 1, abs=1e-6)
    )


def test_whitening_leaves_no_correlation_and_is_scikit_learns_pca() -> None:
    mixed = TABLE[:, :3] @ torch.tensor([[1.0, 0.2, 0], [0.1, 0.5, 0], [3, 0, 9]])
    data = splits(mixed)
    whiten(data, "x", "y", kind="PCA", components=2, epsilon=0)
    known = decomposition.PCA(2, whiten=True).fit(mixed[:8500].double().numpy())
    expected = torch.tensor(known.transform(mixed[8600:].double().numpy())).float()
    signs = torch.sign((expected * data["test"]["y"]).sum(0))
    assert torch.allclose(data["test"]["y"] * signs, expected, atol=2e-3)
    whiten(data, "x", "z", kind="ZCA", epsilon=0)
    covariance = torch.cov(data["train"]["z"].double().T, correction=0)
    assert torch.allclose(covariance, torch.eye(3).double(), atol=1e-3)
    assert (torch.corrcoef(torch.cat([data["train"]["z"], data["train"]["x"]], 1).T)[:3, 3:].diag() > 0).all()
    whiten(data, "x", "w", kind="projection")
    variances = data["train"]["w"].double().var(0, correction=0)
    assert torch.allclose(variances[:2], torch.tensor(known.explained_variance_) * 8499 / 8500, rtol=1e-4)


def test_imputing_takes_what_the_training_rows_know() -> None:
    nan = float("nan")
    data = {
        "train": {"x": torch.tensor([[1.0, nan], [2, nan], [9, nan], [nan, nan]])},
        "test": {"x": torch.tensor([[nan, 5.0]])},
    }
    impute(data, "x", "mean", by="mean", value=-1)
    assert data["test"]["mean"].tolist() == [[4, 5]]
    assert data["train"]["mean"][:, 1].tolist() == [-1] * 4  # nothing is known of it
    impute(data, "x", "median", by="median", marks=True)
    assert data["test"]["median"].tolist() == [[2, 5, 1, 0]]
    impute(data, "x", "zero", by="value", value=0.5)
    assert data["test"]["zero"].tolist() == [[0.5, 5]]


def test_ranks_are_the_shares_of_training_rows_below() -> None:
    data = splits(torch.linspace(0, 10, 9000)[:, None].exp())
    ranks(data, "x", "y", steps=500)
    found = data["train"]["y"][:, 0]
    assert torch.allclose(found, torch.linspace(0, 1, 8500), atol=3e-3)
    assert data["test"]["y"][-1].item() == 1  # beyond what training knew


@pytest.mark.parametrize("lazy", [False, True])
def test_every_transform_can_be_undone_where_nothing_was_left_out(lazy: bool) -> None:
    rows = TABLE[8500:8520]
    data = splits(lazy=lazy)
    for found in (
        standardise(data, "x", "y"),
        standardise(data, "x", "y", over="all numbers"),
        rescale(data, "x", "y", low=-2, high=5),
        whiten(data, "x", "y", kind="PCA", epsilon=1e-9),
        whiten(data, "x", "y", kind="ZCA", epsilon=1e-9),
        whiten(data, "x", "y", kind="projection"),
    ):
        assert torch.allclose(found.undo(found.change(rows)), rows, rtol=1e-5, atol=1e-3)


def test_whitening_that_left_axes_out_is_undone_as_far_as_the_others_tell() -> None:
    found = whiten(splits(), "x", "y", components=2)
    once = found.undo(found.change(TABLE[:20]))
    assert not found.each and torch.allclose(found.change(once), found.change(TABLE[:20]), atol=1e-4)
    assert torch.allclose(once[:, 1], TABLE[:20, 1], atol=0.5)  # the axis of the greatest variance


def test_what_was_missing_is_missing_again_and_ranks_become_values() -> None:
    holes = TABLE.clone()
    holes[::7, 1] = torch.nan
    marked = impute(splits(holes), "x", "y", marks=True)
    again = marked.undo(marked.change(holes[:15]))
    assert torch.equal(again.isnan(), holes[:15].isnan()) and not marked.each
    assert torch.equal(again.nan_to_num(), holes[:15].nan_to_num())
    ranked = ranks(splits(), "x", "y", steps=8000)
    off = (ranked.undo(ranked.change(TABLE[:200])) - TABLE[:200]).abs()
    assert (off.median(0).values <= torch.tensor([0.001, 0.03, 1e-5, 0.0])).all()
