"""The loaders of public sets give the values that are in the files, and sentences for other files."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.data.sets.public import idx_levels, load_cifar, load_idx_images
from tests.engine.data.public_made import TEST, TRAIN, write_idx, write_set

IDX = {"target": "article", "classes": 10, "validation": 0.25, "seed": 3}
TEN = {
    "train": tuple(f"data_batch_{number}.bin" for number in range(1, 6)),
    "test": ("test_batch.bin",),
    "classes": {"object": 10},
    "validation": 0.25,
    "seed": 3,
}


def test_grey_images_come_with_their_labels(tmp_path: Path) -> None:
    write_set(tmp_path, "fashion-mnist")
    found = load_idx_images(tmp_path, "cpu", **IDX)  # type: ignore[arg-type]
    assert {split: len(columns["image"]) for split, columns in found.items()} == {
        "train": TRAIN - 15,
        "validation": 15,
        "test": TEST,
    }
    rows = []
    for split in ("train", "validation"):
        image, article = found[split]["image"], found[split]["article"]
        assert image.shape[1:] == (1, 28, 28) and image.dtype == torch.float32
        whole = image[torch.arange(len(image))]
        for one, label in zip(whole, article.tolist(), strict=True):
            assert one[0, label].tolist() == pytest.approx([200 / 255] * 28)
            assert round(one[0, -1, 0].item() * 255) % 10 == label
        rows += (whole[:, 0, -1, 0] * 255).round().int().tolist()
    assert sorted(rows) == list(range(TRAIN))  # each row once
    test = found["test"]
    assert torch.equal(test["article"], torch.arange(TEST) % 10)  # in the order of the file
    assert (test["image"][torch.arange(TEST)][:, 0, -1, 0] * 255).round().int().tolist() == list(range(TEST))


def test_each_class_gives_its_part_to_validation(tmp_path: Path) -> None:
    write_set(tmp_path, "kmnist")
    found = load_idx_images(tmp_path, "cpu", **{**IDX, "validation": 0.5})  # type: ignore[arg-type]
    assert found["validation"]["article"].bincount().tolist() == [3] * 10


def test_colours_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    write_set(tmp_path, "cifar-10")
    found = load_cifar(tmp_path, "cpu", **TEN)  # type: ignore[arg-type]
    image, label = found["test"]["image"], found["test"]["object"]
    assert image.shape == (TEST, 3, 32, 32)
    assert torch.equal(label, torch.arange(TEST) % 10)
    red, green, blue = image[4]
    assert red[4].tolist() == pytest.approx([200 / 255] * 32)
    assert green[4].tolist() == pytest.approx([100 / 255] * 32)
    assert not blue.any()
    assert len(found["train"]["image"]) + len(found["validation"]["image"]) == TRAIN


def test_a_hundred_classes_have_two_labels(tmp_path: Path) -> None:
    write_set(tmp_path, "cifar-100")
    found = load_cifar(
        tmp_path,
        "cpu",
        train=("train.bin",),
        test=("test.bin",),
        classes={"group": 20, "object": 100},
        validation=0.5,
        seed=0,
    )
    assert torch.equal(found["test"]["object"], torch.arange(100))
    assert torch.equal(found["test"]["group"], torch.arange(100) % 20)
    assert found["validation"]["object"].bincount().tolist() == [1] * 100


def test_the_seed_deals(tmp_path: Path) -> None:
    write_set(tmp_path, "cifar-10")
    first, again, other = (
        load_cifar(tmp_path, "cpu", **{**TEN, "seed": seed})["train"]["object"]  # type: ignore[arg-type]
        for seed in (1, 1, 2)
    )
    assert torch.equal(first, again) and not torch.equal(first, other)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "is damaged"),
        (b"no gzip at all", "is damaged"),
        (b"\x1f\x8b\x08\x00", "is damaged"),
        (gzip.compress(b"\0\0\x08\x01\0\0", mtime=0), "is damaged"),
        (None, "download the data"),
    ],
)
def test_damaged_and_missing_idx_files_are_a_sentence(body: bytes | None, why: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.gz"
    if body is not None:
        path.write_bytes(body)
    with pytest.raises((ValueError, FileNotFoundError), match=why):
        idx_levels(path, ())


def test_idx_files_of_other_sizes_are_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "images.gz"
    write_idx(path, np.zeros((4, 27, 28)))
    with pytest.raises(ValueError, match="is damaged, or is another file"):
        idx_levels(path, (28, 28))
    write_idx(path, np.zeros((4, 28, 28)))
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(ValueError, match="is damaged, or is another file"):
        idx_levels(path, (28, 28))
    write_idx(path, np.zeros(5))
    with pytest.raises(ValueError, match="is damaged, or is another file"):
        idx_levels(path, (28, 28))


def test_labels_of_another_set_are_a_sentence(tmp_path: Path) -> None:
    write_set(tmp_path, "fashion-mnist")
    with pytest.raises(ValueError, match="article 9 is none of 7 classes"):
        load_idx_images(tmp_path, "cpu", **{**IDX, "classes": 7})  # type: ignore[arg-type]
    write_idx(tmp_path / "train-labels-idx1-ubyte.gz", np.zeros(59))
    with pytest.raises(ValueError, match="60 train images, but 59 labels"):
        load_idx_images(tmp_path, "cpu", **IDX)  # type: ignore[arg-type]


def test_cifar_files_of_another_length_are_a_sentence(tmp_path: Path) -> None:
    write_set(tmp_path, "cifar-10")
    path = tmp_path / "data_batch_3.bin"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"data_batch_3\.bin is damaged"):
        load_cifar(tmp_path, "cpu", **TEN)  # type: ignore[arg-type]
    path.unlink()
    with pytest.raises(FileNotFoundError, match="download the data"):
        load_cifar(tmp_path, "cpu", **TEN)  # type: ignore[arg-type]
