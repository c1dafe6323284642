import gzip
import hashlib
import shutil

import numpy as np
import pytest
import torch

from engine.data.sets.mnist import load_mnist, read_idx
from engine.document.shipped import datasets_folder

FILES = datasets_folder() / "mnist"

# of the uncompressed files, as published
MD5 = {
    "train-images-idx3-ubyte.gz": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte.gz": "a25bea736e30d166cdddb491f175f624",
    "t10k-images-idx3-ubyte.gz": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte.gz": "27ae3e4e09519cfbb04c329615203637",
}


@pytest.mark.parametrize(("name", "md5"), MD5.items())
def test_the_shipped_files_are_the_published_ones(name, md5):
    assert hashlib.md5(gzip.decompress((FILES / name).read_bytes())).hexdigest() == md5


def test_the_licence_lies_beside_the_files():
    text = (FILES / "SOURCE.txt").read_text(encoding="utf-8")
    assert all(word in text for word in ("LeCun", "Cortes", "Burges", "CC BY-SA 3.0"))


def test_sizes_types_and_ranges(mnist):
    assert {split: len(part["digit"]) for split, part in mnist.items()} == {
        "train": 54_000,
        "validation": 6_000,
        "test": 10_000,
    }
    for part in mnist.values():
        assert part["image"].shape[1:] == (1, 28, 28)
        assert part["image"].dtype == torch.float32
        assert part["digit"].dtype == torch.int64
        assert part["image"].min() == 0
        assert part["image"].max() == 1


def test_the_test_split_is_the_published_one_in_its_order(mnist):
    assert mnist["test"]["digit"][:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    raw = gzip.decompress((FILES / "t10k-images-idx3-ubyte.gz").read_bytes())
    pixels = np.frombuffer(raw, np.uint8, offset=16).reshape(10_000, 1, 28, 28)
    assert torch.equal(mnist["test"]["image"], torch.tensor(pixels).float() / 255)


def test_train_and_validation_share_out_the_sixty_thousand(mnist):
    digits = torch.cat([mnist["train"]["digit"], mnist["validation"]["digit"]])
    assert digits.bincount().tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    images = torch.cat([mnist["train"]["image"], mnist["validation"]["image"]])
    assert images.mean().item() == pytest.approx(0.1307, abs=1e-4)  # the constants everyone knows
    assert images.std().item() == pytest.approx(0.3081, abs=1e-4)


def test_validation_is_stratified_and_apart_from_train(mnist):
    share = mnist["validation"]["digit"].bincount() / torch.tensor(
        [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    )
    assert share.min() > 0.0998
    assert share.max() < 0.1002
    seen = {image.numpy().tobytes() for image in mnist["train"]["image"]}
    assert not any(image.numpy().tobytes() in seen for image in mnist["validation"]["image"])


def test_image_and_digit_stay_together(mnist):
    """The first training image is a 5; it is found again with that label."""
    first = read_idx(FILES / "train-images-idx3-ubyte.gz", (60000, 28, 28))[0]
    wanted = torch.tensor(first).float() / 255
    train = mnist["train"]
    at = (train["image"].squeeze(1) == wanted).all(dim=(1, 2)).nonzero().flatten().tolist()
    found = [train["digit"][index].item() for index in at]
    if not found:
        held = mnist["validation"]
        at = (held["image"].squeeze(1) == wanted).all(dim=(1, 2)).nonzero().flatten().tolist()
        found = [held["digit"][index].item() for index in at]
    assert found == [5]


def test_the_same_seed_gives_the_same_split_to_the_bit(mnist):
    again = load_mnist(datasets_folder(), "cpu")
    for split, part in mnist.items():
        assert all(torch.equal(values, again[split][name]) for name, values in part.items())
    other = load_mnist(datasets_folder(), "cpu", validation=0.2, seed=1)
    assert len(other["validation"]["digit"]) == 12_000


@pytest.mark.filterwarnings("error")
def test_any_folder_name_will_do_and_nothing_is_written(tmp_path):
    folder = tmp_path / "données" / "猫" / "My Data (1)" / "ß"
    shutil.copytree(FILES, folder / "mnist")
    before = _sha256(folder)
    load_mnist(folder, "cpu")
    assert _sha256(folder) == before


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"There is no .*train-images-idx3-ubyte\.gz: choose the folder"
    ):
        load_mnist(tmp_path, "cpu")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not gzip at all",
        gzip.compress(b"\0" * 100),
        (FILES / "train-labels-idx1-ubyte.gz").read_bytes()[:-2000],
        (FILES / "t10k-labels-idx1-ubyte.gz").read_bytes(),
    ],
    ids=["empty", "not gzip", "too short", "cut off", "another file"],
)
def test_a_damaged_file_is_named(tmp_path, content):
    shutil.copytree(FILES, tmp_path / "mnist")
    (tmp_path / "mnist" / "train-labels-idx1-ubyte.gz").write_bytes(content)
    with pytest.raises(ValueError, match=r"train-labels-idx1-ubyte\.gz is damaged, or is another file"):
        load_mnist(tmp_path, "cpu")


def _sha256(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }
