"""Further data that come inside scikit-learn. Portable: exports carry this source."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from engine.data.sets.scikit_learn import scikit_learn_set
from engine.data.splits import columns_of, standardised, stratified_split


def load_linnerud(
    folder: Path,
    device: str,
    *,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
    standardise: bool = True,
    standardise_target: bool = True,
) -> dict[str, dict[str, Tensor]]:
    """Linnerud as {split: {"exercises": (N, 3), "body": (N, 3)}}; `folder` is not used."""
    exercises, body = scikit_learn_set("linnerud")
    rows = stratified_split(torch.zeros(len(body)), validation, test, seed)
    exercises = standardised(exercises, rows["train"]) if standardise else exercises
    body = standardised(body, rows["train"]) if standardise_target else body
    return columns_of({"exercises": exercises.float(), "body": body.float()}, rows, device)


def load_photograph(
    folder: Path,
    device: str,
    *,
    picture: str = "flower",
    width: int = 64,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
) -> dict[str, dict[str, Tensor]]:
    """A photograph as {split: {"place": (N, 2), "colour": (N, 3)}}, a row a pixel; `folder` is not used.

    Places are (x, y) of the pixel's middle, both in -1..1 from the left and from the top; colours are red,
    green and blue in 0..1, the mean of what falls into the pixel.
    """
    try:
        from sklearn.datasets import load_sample_image
    except ImportError as error:
        raise ImportError("The photographs come with scikit-learn: pip install scikit-learn.") from error
    levels = np.array(load_sample_image(f"{picture}.jpg"))
    whole = torch.from_numpy(levels).permute(2, 0, 1)[None].float() / 255
    height = max(1, round(width * whole.shape[2] / whole.shape[3]))
    colour = F.interpolate(whole, (height, width), mode="area")[0].flatten(1).T.contiguous()
    x = (torch.arange(width) + 0.5) / width * 2 - 1
    y = (torch.arange(height) + 0.5) / height * 2 - 1
    place = torch.stack([x.repeat(height), y.repeat_interleave(width)], dim=1)
    rows = stratified_split(torch.zeros(len(place)), validation, test, seed)
    return columns_of({"place": place, "colour": colour}, rows, device)
