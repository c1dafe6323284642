import sys
from pathlib import Path

import pytest
import torch
from sklearn import datasets

from engine.data.sets import scikit_learn as tables

NOWHERE = Path("nowhere")  # scikit-learn brings its own files
CLASSES = {
    "load_iris": ("species", [50, 50, 50], 4),
    "load_wine": ("cultivar", [59, 71, 48], 13),
    "load_breast_cancer": ("diagnosis", [212, 357], 30),
}
ALL = (*CLASSES, "load_diabetes", "load_digits")


@pytest.mark.parametrize(("loader", "target", "counts", "width"), [(k, *v) for k, v in CLASSES.items()])
def test_classes_are_stratified_and_rows_complete(loader, target, counts, width):
    splits = getattr(tables, loader)(NOWHERE, "cpu", standardise=False)
    total = torch.stack([part[target].bincount(minlength=len(counts)) for part in splits.values()])
    assert total.sum(0).tolist() == counts
    for found, share in zip(total, (0.6, 0.2, 0.2), strict=True):
        assert (found - share * torch.tensor(counts)).abs().max() < 2.5
    rows = torch.cat([part["features"] for part in splits.values()])
    source = torch.tensor(getattr(datasets, loader)().data).float()
    assert rows.shape == (sum(counts), width)
    assert sorted(rows.tolist()) == sorted(source.tolist())


def test_iris_sorted_by_class_still_gives_every_split_every_class():
    assert datasets.load_iris().target.tolist() == [0] * 50 + [1] * 50 + [2] * 50
    splits = tables.load_iris(NOWHERE, "cpu")
    assert {split: part["species"].bincount().tolist() for split, part in splits.items()} == {
        "train": [30, 30, 30],
        "validation": [10, 10, 10],
        "test": [10, 10, 10],
    }


def test_features_keep_their_class():
    """Every flower of the source with short petals is a setosa; so is every one here."""
    for part in tables.load_iris(NOWHERE, "cpu", standardise=False).values():
        assert torch.equal(part["features"][:, 2] < 2.5, part["species"] == 0)


@pytest.mark.parametrize("loader", [*CLASSES, "load_diabetes"])
def test_standardising_is_fitted_on_train_alone(loader):
    raw = getattr(tables, loader)(NOWHERE, "cpu", standardise=False)
    scaled = getattr(tables, loader)(NOWHERE, "cpu")
    train = raw["train"]["features"].double()
    mean, deviation = train.mean(0), train.std(0, correction=0)
    for split, part in scaled.items():
        expected = ((raw[split]["features"].double() - mean) / deviation).float()
        assert torch.allclose(part["features"], expected, atol=1e-4)
    assert scaled["train"]["features"].mean(0).abs().max() < 1e-5
    assert scaled["test"]["features"].mean(0).abs().max() > 1e-3


def test_breast_cancer_gives_the_same_answer_twice():
    for part in tables.load_breast_cancer(NOWHERE, "cpu").values():
        assert part["benign"].shape == (len(part["diagnosis"]), 1)
        assert part["benign"].dtype == torch.float32
        assert torch.equal(part["benign"].squeeze(1).long(), part["diagnosis"])


def test_diabetes_takes_the_unscaled_values_and_can_keep_the_raw_target():
    splits = tables.load_diabetes(NOWHERE, "cpu", standardise=False, standardise_target=False)
    features = torch.cat([part["features"] for part in splits.values()])
    progression = torch.cat([part["progression"] for part in splits.values()])
    assert features.shape == (442, 10)
    assert (features[:, 0].min().item(), features[:, 0].max().item()) == (19, 79)  # ages in years
    assert progression.shape == (442, 1)
    assert (progression.min().item(), progression.max().item()) == (25, 346)
    scaled = tables.load_diabetes(NOWHERE, "cpu")["train"]["progression"]
    assert scaled.mean().abs() < 1e-5
    assert scaled.std(correction=0).item() == pytest.approx(1, abs=1e-5)


def test_digits_profile_and_parity_follow_from_the_image():
    splits = tables.load_digits(NOWHERE, "cpu")
    assert sum(len(part["digit"]) for part in splits.values()) == 1797
    for part in splits.values():
        image, profile = part["image"], part["profile"]
        assert image.shape[1:] == (1, 8, 8)
        assert (image.min().item(), image.max().item()) == (0, 1)
        assert torch.allclose(profile[:, :8], image.sum(dim=(1, 3)) / 8)
        assert torch.allclose(profile[:, 8:], image.sum(dim=(1, 2)) / 8)
        assert torch.equal(part["odd"].squeeze(1), (part["digit"] % 2).float())
        assert part["digit"].bincount().min() >= 34
    pixels = sum(part["image"].double().sum().item() for part in splits.values())
    assert pixels * 16 == datasets.load_digits().data.sum()


@pytest.mark.parametrize("loader", ALL)
def test_types_and_determinism(loader):
    load = getattr(tables, loader)
    first, again, other = load(NOWHERE, "cpu"), load(NOWHERE, "cpu"), load(NOWHERE, "cpu", seed=1)
    for split, part in first.items():
        for name, values in part.items():
            assert values.dtype in (torch.float32, torch.int64)
            assert torch.isfinite(values).all()
            assert torch.equal(values, again[split][name])
    assert any(not torch.equal(first["test"][name], other["test"][name]) for name in first["test"])


def test_without_scikit_learn_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ImportError, match="The iris data come with scikit-learn: pip install scikit-learn"):
        tables.load_iris(NOWHERE, "cpu")
