import math

import numpy as np
import pytest
import torch

from engine.data.preview import sample, summary
from engine.data.sets.laser import load_santa_fe
from engine.document.shipped import datasets_folder

SPLITS = {
    "train": {"x": torch.tensor([[0.0, 2.0], [4.0, 6.0]]), "kind": torch.tensor([2, 0])},
    "validation": {"x": torch.zeros(0, 2), "kind": torch.zeros(0, dtype=torch.int64)},
    "test": {"x": torch.tensor([[1.0, 1.0]]), "kind": torch.tensor([1])},
}


def test_places_of_no_class_are_no_numbers() -> None:
    found = summary({"train": {"mask": torch.tensor([[[0, 2], [-100, 1]]])}}).columns["train"]["mask"]
    assert (found.minimum, found.maximum, found.mean) == (0, 2, 1)
    nothing = summary({"train": {"mask": torch.full((1, 2, 2), -100)}}).columns["train"]["mask"]
    assert math.isnan(nothing.minimum)


def test_counts_ranges_and_moments():
    found = summary(SPLITS)
    assert found.rows == {"train": 2, "validation": 0, "test": 1}
    x = found.columns["train"]["x"]
    assert (x.shape, x.dtype) == ((2,), "float32")
    assert (x.minimum, x.maximum, x.mean) == (0.0, 6.0, 3.0)
    assert x.deviation == pytest.approx(math.sqrt(5))
    assert x.classes == ()
    assert math.isnan(found.columns["validation"]["x"].mean)


def test_class_counts_have_a_place_for_every_class_in_every_split():
    assert summary(SPLITS).class_counts("kind") == {
        "train": (1, 0, 1),
        "validation": (0, 0, 0),
        "test": (0, 1, 0),
    }


def test_mnist_counts(mnist):
    found = summary(mnist)
    assert found.rows == {"train": 54_000, "validation": 6_000, "test": 10_000}
    assert found.class_counts("digit")["test"] == (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009)
    assert found.columns["train"]["image"].mean == pytest.approx(0.1307, abs=5e-4)


def test_a_sample_is_a_copy(mnist):
    found = sample(mnist, "image", 12, split="test", start=3)
    assert isinstance(found, np.ndarray)
    assert found.shape == (12, 1, 28, 28)
    assert np.array_equal(found[0], mnist["test"]["image"][3].numpy())
    found[:] = 7
    assert mnist["test"]["image"].max() == 1


def test_a_sample_is_at_most_the_split():
    splits = load_santa_fe(datasets_folder(), "cpu")
    assert sample(splits, "window", 1000, split="test").shape == (100, 50, 1)
    assert sample(splits, "next", 5, split="test", start=98).shape == (2, 1)
