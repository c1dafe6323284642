"""The Santa Fe laser as windows of a time series. Portable: exports carry this source.

Training takes the first 1,000 readings and testing the next 100, as in Weigend and Gershenfeld 1993.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor


def read_laser(folder: Path) -> Tensor:
    """The 1,100 readings of the experiment as (1100,), raw intensities 0..255."""
    path = folder / "santafe" / "santafe_laser.npy"
    if not path.is_file():
        raise FileNotFoundError(f"There is no {path}: choose the folder that holds santafe/ with that file.")
    try:
        return torch.tensor(np.load(path, allow_pickle=False).reshape(10093)[:1100]).double()
    except (ValueError, EOFError, TypeError) as error:
        raise ValueError(f"{path} is damaged, or is another file: copy it again.") from error


def santa_fe_scale(folder: Path, *, validation: float = 0.1) -> tuple[float, float]:
    """Mean and standard deviation of the training readings: raw = mean + deviation * standardised."""
    return scale_of(read_laser(folder)[: 1000 - round(1000 * validation)])


def scale_of(training: Tensor) -> tuple[float, float]:
    """Mean and standard deviation of readings."""
    return training.mean().item(), training.std(correction=0).item()


def load_santa_fe(
    folder: Path, device: str, *, lag: int = 50, validation: float = 0.1
) -> dict[str, dict[str, Tensor]]:
    """The laser as {split: {"window": (N, lag, 1), "next": (N, 1)}}, splits in the order of time.

    Each split holds the readings to predict; a window may reach back into the split before.
    """
    readings = read_laser(folder)
    trained = 1000 - round(1000 * validation)
    mean, deviation = scale_of(readings[:trained])
    windows = ((readings - mean) / deviation).float().unfold(0, lag + 1, 1)  # row i: readings i to i + lag
    held, tested = trained - lag, 1000 - lag
    parts = {"train": windows[:held], "validation": windows[held:tested], "test": windows[tested:]}
    return {
        split: {"window": part[:, :lag, None].to(device).clone(), "next": part[:, lag:].to(device).clone()}
        for split, part in parts.items()
    }
