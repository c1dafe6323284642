"""Public sets of images from the files that were downloaded. Portable: exports carry this source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.data.lazy import Mapped
from engine.data.splits import stratified_holdout


def load_idx_images(
    folder: Path, device: str, *, target: str, classes: int, validation: float, seed: int
) -> dict[str, dict[str, Any]]:
    """Grey images of 28 × 28 in the four files of MNIST's form, validation a part of train.

    {split: {"image": (N, 1, 28, 28) in 0..1, target: (N,)}}; images are made into floats batch by batch.
    """
    training = idx_levels(folder / "train-images-idx3-ubyte.gz", (28, 28))
    test = idx_levels(folder / "t10k-images-idx3-ubyte.gz", (28, 28))
    labels = {
        "train": {target: idx_levels(folder / "train-labels-idx1-ubyte.gz", ())},
        "test": {target: idx_levels(folder / "t10k-labels-idx1-ubyte.gz", ())},
    }
    images = {"train": training[:, None], "test": test[:, None]}
    return split_images(images, labels, {target: classes}, device, validation, seed)


def load_cifar(
    folder: Path,
    device: str,
    *,
    train: tuple[str, ...],
    test: tuple[str, ...],
    classes: dict[str, int],
    validation: float,
    seed: int,
) -> dict[str, dict[str, Any]]:
    """Colour images of 32 × 32 from CIFAR's binary files, validation a part of train.

    `classes` are the labels in front of each image, in order: {column: how many classes}; the last is split
    evenly. {split: {"image": (N, 3, 32, 32) in 0..1, column: (N,)}}; images become floats batch by batch.
    """
    images, labels = {}, {}
    for split, names in (("train", train), ("test", test)):
        found = np.concatenate([cifar_records(folder / name, len(classes)) for name in names])
        images[split] = np.ascontiguousarray(found[:, len(classes) :]).reshape(-1, 3, 32, 32)
        labels[split] = {column: found[:, at] for at, column in enumerate(classes)}
    return split_images(images, labels, classes, device, validation, seed)


def split_images(
    images: dict[str, np.ndarray],
    labels: dict[str, dict[str, np.ndarray]],
    classes: dict[str, int],
    device: str,
    validation: float,
    seed: int,
) -> dict[str, dict[str, Any]]:
    """Train, validation and test columns; a part of train is held back, in every class of the last label."""

    def columns(split: str, rows: Tensor) -> dict[str, Any]:
        found: dict[str, Any] = {"image": Mapped(images[split], device, 1 / 255).at(rows)}
        for column, values in labels[split].items():
            found[column] = torch.from_numpy(values[rows.numpy()]).to(device).long()
        return found

    for split, found in labels.items():
        for column, values in found.items():
            if len(values) != len(images[split]):
                raise ValueError(
                    f"There are {len(images[split]):,} {split} images, but {len(values):,} labels."
                )
            if len(values) and values.max() >= classes[column]:
                raise ValueError(
                    f"{column} {values.max()} is none of {classes[column]} classes: other files?"
                )
    target = torch.from_numpy(labels["train"][list(classes)[-1]].copy()).long()
    kept, held = stratified_holdout(target, validation, torch.Generator().manual_seed(seed))
    return {
        "train": columns("train", kept),
        "validation": columns("train", held),
        "test": columns("test", torch.arange(len(images["test"]))),
    }


def idx_levels(path: Path, size: tuple[int, ...]) -> np.ndarray:
    """The bytes of a gzip-compressed IDX file as (N, *size). Errors: `OSError`, `ValueError`."""
    import zlib

    damaged = f"{path} is damaged, or is another file: download it again."
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no {path}: download the data, or choose the folder that holds them."
        )
    stream = zlib.decompressobj(wbits=31)
    begin = 8 + 4 * len(size)
    try:
        raw = stream.decompress(path.read_bytes(), begin)
        if len(raw) != begin or raw[:4] != bytes([0, 0, 8, 1 + len(size)]):
            raise ValueError(damaged)
        sizes = tuple(int(one) for one in np.frombuffer(raw[4:], ">u4"))
        if sizes[1:] != size:
            raise ValueError(damaged)
        total = sizes[0] * int(np.prod(size))
        body = stream.decompress(stream.unconsumed_tail, total + 1)
    except zlib.error as error:
        raise ValueError(damaged) from error
    if len(body) != total or not stream.eof:
        raise ValueError(damaged)
    return np.frombuffer(body, np.uint8).reshape(sizes)


def cifar_records(path: Path, labels: int) -> np.ndarray:
    """The records of a file of CIFAR as (N, labels + 3072) bytes. Errors: `OSError`, `ValueError`."""
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no {path}: download the data, or choose the folder that holds them."
        )
    raw = np.fromfile(path, np.uint8)
    if not len(raw) or len(raw) % (labels + 3072):
        raise ValueError(f"{path} is damaged, or is another file: download it again.")
    return raw.reshape(-1, labels + 3072)
