"""Tiny files of the form that the public sets have, made up: a class has its own bright rows."""

from __future__ import annotations

import gzip
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

TRAIN, TEST = 60, 20


@cache
def public_folder(set_id: str) -> Path:
    """A folder with files for a set, which lasts as long as the program."""
    home = _home()
    write_set(home / set_id, set_id)
    return home / set_id


@cache
def _home() -> Path:
    kept = tempfile.TemporaryDirectory(prefix="public-sets-")
    _KEPT.append(kept)
    return Path(kept.name)


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


def write_set(folder: Path, set_id: str) -> None:
    """Write the files of a set; row i is of class i modulo how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    if set_id == "cifar-10":
        for number in range(1, 6):
            _cifar(folder / f"data_batch_{number}.bin", (10,), TRAIN // 5)
        _cifar(folder / "test_batch.bin", (10,), TEST)
    elif set_id == "cifar-100":
        _cifar(folder / "train.bin", (20, 100), 200)
        _cifar(folder / "test.bin", (20, 100), 100)
    else:
        for name, count in (("train", TRAIN), ("t10k", TEST)):
            write_idx(folder / f"{name}-images-idx3-ubyte.gz", _levels(count, 28, 28, 10))
            write_idx(folder / f"{name}-labels-idx1-ubyte.gz", np.arange(count) % 10)


def write_idx(path: Path, values: np.ndarray) -> None:
    """Write an array of bytes as a gzip-compressed IDX file."""
    head = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">u4").tobytes()
    path.write_bytes(gzip.compress(head + values.astype(np.uint8).tobytes(), mtime=0))


def _levels(count: int, high: int, wide: int, classes: int) -> np.ndarray:
    levels = np.zeros((count, high, wide), np.uint8)
    for row in range(count):
        levels[row, (row % classes) % high] = 200
        levels[row, -1, :2] = (row % 256, 255)
    return levels


def _cifar(path: Path, classes: tuple[int, ...], count: int) -> None:
    labels = np.stack([np.arange(count) % many for many in classes], axis=1).astype(np.uint8)
    images = np.repeat(_levels(count, 32, 32, classes[-1])[:, None], 3, axis=1)
    images[:, 1] //= 2  # green is half as bright as red, blue is black
    images[:, 2] = 0
    path.write_bytes(np.concatenate([labels, images.reshape(count, -1)], axis=1).tobytes())
