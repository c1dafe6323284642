"""MNIST from its four IDX files. Portable: exports carry this source."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from engine.data.splits import stratified_holdout


def read_idx(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    """The bytes of a gzip-compressed IDX file, as an array of `shape`."""
    import zlib

    if not path.is_file():
        raise FileNotFoundError(
            f"There is no {path}: choose the folder that holds mnist/ with its four files."
        )
    header = 4 + 4 * len(shape)
    try:
        raw = zlib.decompress(path.read_bytes(), wbits=31)
    except zlib.error:
        raw = b""
    if len(raw) != header + math.prod(shape):
        raise ValueError(f"{path} is damaged, or is another file: copy it from MNIST again.")
    return np.frombuffer(raw, np.uint8, offset=header).reshape(shape)


def load_mnist(
    folder: Path, device: str, *, validation: float = 0.1, seed: int = 0
) -> dict[str, dict[str, Tensor]]:
    """MNIST as {split: {"image": (N, 1, 28, 28) in 0..1, "digit": (N,)}}; validation is part of train."""

    def columns(image: np.ndarray, digit: np.ndarray) -> dict[str, Tensor]:
        return {
            "image": torch.from_numpy(image).to(device).float().unsqueeze(1) / 255,
            "digit": torch.from_numpy(digit).to(device).long(),
        }

    files = folder / "mnist"
    image = read_idx(files / "train-images-idx3-ubyte.gz", (60000, 28, 28))
    digit = read_idx(files / "train-labels-idx1-ubyte.gz", (60000,))
    test_image = read_idx(files / "t10k-images-idx3-ubyte.gz", (10000, 28, 28))
    test_digit = read_idx(files / "t10k-labels-idx1-ubyte.gz", (10000,))
    kept, held = stratified_holdout(torch.tensor(digit), validation, torch.Generator().manual_seed(seed))
    return {
        "train": columns(image[kept.numpy()], digit[kept.numpy()]),
        "validation": columns(image[held.numpy()], digit[held.numpy()]),
        "test": columns(test_image.copy(), test_digit.copy()),
    }
