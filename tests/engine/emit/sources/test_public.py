"""Public sets of images: a script's lines give what the application reads of their files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.catalogue import Data
from engine.data.lazy import Lazy
from engine.data.open.opening import Opened
from engine.data.sets.mnist import load_mnist
from engine.document.shipped import datasets_folder
from engine.values import Value
from tests.engine.data.public_made import public_folder, write_idx
from tests.engine.emit.sources.agreeing import data_of, load_of, same, straightly, strictly

SETS = {"FashionMnist": "fashion-mnist", "Kmnist": "kmnist", "Cifar10": "cifar-10", "Cifar100": "cifar-100"}


@pytest.mark.parametrize("type_id", SETS)
@pytest.mark.parametrize("validation", [0.1, 0.25])
def test_every_set_is_read_alike(type_id: str, validation: float) -> None:
    params: dict[str, Value] = {
        "path": str(public_folder(SETS[type_id])),
        "validation": validation,
        "seed": 3,
    }
    data = data_of(Opened(type_id, params, "set"))
    found = straightly(data)
    assert isinstance(strictly(data)["train"]["image"], Lazy)
    assert type(found["train"]["image"]).__name__ == "LazyLevels"
    same(found, strictly(data))


def gone(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def damaged(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[40:60] = bytes(20)
    path.write_bytes(raw)


def others(path: Path) -> None:
    if path.suffix == ".gz":
        write_idx(path, np.full(20, 11))
    else:
        path.write_bytes(bytes([10]) + path.read_bytes()[1:])


@pytest.mark.parametrize("change", [gone, cut, others])
@pytest.mark.parametrize(("type_id", "name"), [("FashionMnist", "t10k-labels-idx1-ubyte.gz"),
                                               ("Cifar10", "data_batch_3.bin")])  # fmt: skip
def test_other_files_get_a_sentence(
    type_id: str, name: str, change: Callable[[Path], None], tmp_path: Path
) -> None:
    shutil.copytree(public_folder(SETS[type_id]), tmp_path / "set")
    load = load_of(data_of(Opened(type_id, {"path": str(tmp_path / "set")}, "set")))
    change(tmp_path / "set" / name)
    with pytest.raises(SystemExit, match="are not those that are expected"):
        load(tmp_path / "set", "cpu")


def test_damaged_images_get_a_sentence(tmp_path: Path) -> None:
    shutil.copytree(public_folder("kmnist"), tmp_path / "set")
    load = load_of(data_of(Opened("Kmnist", {"path": str(tmp_path / "set")}, "set")))
    damaged(tmp_path / "set" / "train-images-idx3-ubyte.gz")
    with pytest.raises(SystemExit, match="are not those that are expected"):
        load(tmp_path / "set", "cpu")


def mnist(validation: float) -> Data:
    return data_of(Opened("Mnist", {"validation": validation, "seed": 3}, "MNIST"))


@pytest.mark.parametrize("wanted", [("image", "digit"), ("image",), ("digit",)])
def test_mnist_is_read_alike(wanted: tuple[str, ...]) -> None:
    data = mnist(0.2)
    whole = load_mnist(datasets_folder(), "cpu", validation=0.2, seed=3)
    expected = {split: {name: columns[name] for name in wanted} for split, columns in whole.items()}
    same(load_of(data, *wanted)(datasets_folder(), "cpu"), expected)


@pytest.mark.parametrize("change", [gone, cut, damaged])
def test_where_mnist_is_not_stands_in_a_sentence(change: Callable[[Path], None], tmp_path: Path) -> None:
    shutil.copytree(datasets_folder() / "mnist", tmp_path / "mnist")
    change(tmp_path / "mnist" / "train-images-idx3-ubyte.gz")
    with pytest.raises(SystemExit, match="the four files of MNIST"):
        load_of(mnist(0.1))(tmp_path, "cpu")
