"""The data sets that come inside scikit-learn. Portable: exports carry this source.

`folder` is not used: scikit-learn brings the files. Splits are seeded, and stratified
where there are classes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.data.splits import columns_of, standardised, stratified_split


def scikit_learn_set(name: str, **options: Any) -> tuple[Tensor, Tensor]:
    """A data set of scikit-learn as (values (N, D), target (N,) or (N, M)), both float64."""
    try:
        from sklearn import datasets
    except ImportError as error:
        raise ImportError(f"The {name} data come with scikit-learn: pip install scikit-learn.") from error
    values, target = getattr(datasets, f"load_{name}")(return_X_y=True, **options)
    return torch.tensor(values).double(), torch.tensor(target).double()


def load_iris(
    folder: Path,
    device: str,
    *,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
    standardise: bool = True,
) -> dict[str, dict[str, Tensor]]:
    """Iris as {split: {"features": (N, 4), "species": (N,) of 3 classes}}."""
    features, species = scikit_learn_set("iris")
    rows = stratified_split(species, validation=validation, test=test, seed=seed)
    features = standardised(features, rows["train"]) if standardise else features
    return columns_of({"features": features.float(), "species": species.long()}, rows, device)


def load_wine(
    folder: Path,
    device: str,
    *,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
    standardise: bool = True,
) -> dict[str, dict[str, Tensor]]:
    """Wine as {split: {"features": (N, 13), "cultivar": (N,) of 3 classes}}."""
    features, cultivar = scikit_learn_set("wine")
    rows = stratified_split(cultivar, validation=validation, test=test, seed=seed)
    features = standardised(features, rows["train"]) if standardise else features
    return columns_of({"features": features.float(), "cultivar": cultivar.long()}, rows, device)


def load_breast_cancer(
    folder: Path,
    device: str,
    *,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
    standardise: bool = True,
) -> dict[str, dict[str, Tensor]]:
    """Breast cancer as {split: {"features": (N, 30), "diagnosis": (N,), "benign": (N, 1)}}; benign is 1."""
    features, benign = scikit_learn_set("breast_cancer")
    rows = stratified_split(benign, validation=validation, test=test, seed=seed)
    features = standardised(features, rows["train"]) if standardise else features
    columns = {"features": features.float(), "diagnosis": benign.long(), "benign": benign.float()[:, None]}
    return columns_of(columns, rows, device)


def load_diabetes(
    folder: Path,
    device: str,
    *,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
    standardise: bool = True,
    standardise_target: bool = True,
) -> dict[str, dict[str, Tensor]]:
    """Diabetes as {split: {"features": (N, 10), "progression": (N, 1)}}."""
    # scikit-learn's own scaling is fitted on all rows, test rows included, so the raw values are taken
    features, target = scikit_learn_set("diabetes", scaled=False)
    rows = stratified_split(torch.zeros(len(target)), validation, test, seed)
    progression = target[:, None]
    features = standardised(features, rows["train"]) if standardise else features
    progression = standardised(progression, rows["train"]) if standardise_target else progression
    return columns_of({"features": features.float(), "progression": progression.float()}, rows, device)


def load_digits(
    folder: Path, device: str, *, validation: float = 0.2, test: float = 0.2, seed: int = 0
) -> dict[str, dict[str, Tensor]]:
    """Small digits as {split: {"image": (N, 1, 8, 8), "profile": (N, 16), "digit": (N,), "odd": (N, 1)}}.

    Image and profile lie in 0..1; the profile is the mean ink of the 8 rows, then of the 8 columns.
    """
    pixels, digit = scikit_learn_set("digits")
    image = pixels.reshape(-1, 1, 8, 8) / 16
    columns = {
        "image": image.float(),
        "profile": torch.cat([image.mean(3), image.mean(2)], dim=2).squeeze(1).float(),
        "digit": digit.long(),
        "odd": (digit % 2).float()[:, None],
    }
    return columns_of(columns, stratified_split(digit, validation=validation, test=test, seed=seed), device)
