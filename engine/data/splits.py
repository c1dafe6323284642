"""Dealing the rows of a data set into train, validation and test. Portable: exports carry this source."""

from __future__ import annotations

import torch
from torch import Tensor


def evenly(n: int, count: int) -> Tensor:
    """Which `count` of `n` places in a row, spread evenly, as (n,) of yes and no."""
    return (torch.arange(n + 1) * count // max(n, 1)).diff() > 0


def stratified(labels: Tensor, share: float, shuffle: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows as (kept, held): a random `share` is held back, in every class alike."""
    n = len(labels)
    order = torch.randperm(n, generator=shuffle)
    by_class = labels[order].argsort(stable=True)
    held = torch.zeros(n, dtype=torch.bool)
    held[by_class] = evenly(n, round(share * n))  # so that each class gives its part
    return order[~held], order[held]


def three_ways(labels: Tensor, validation: float, test: float, seed: int) -> dict[str, Tensor]:
    """Rows of each split; the shares are of all rows, in every class alike."""
    shuffle = torch.Generator().manual_seed(seed)
    rest, tested = stratified(labels, test, shuffle)
    kept, held = stratified(labels[rest], validation / (1 - test), shuffle)
    return {"train": rest[kept], "validation": rest[held], "test": tested}


def standardised(values: Tensor, train: Tensor) -> Tensor:
    """`values` (N, D) in standard deviations from the mean, both of the `train` rows alone."""
    mean, deviation = values[train].mean(0), values[train].std(0, correction=0)
    return (values - mean) / torch.where(deviation > 1e-12, deviation, 1.0)


def columns_of(
    columns: dict[str, Tensor], rows: dict[str, Tensor], device: str
) -> dict[str, dict[str, Tensor]]:
    """Each split's part of every column, on `device`."""
    return {
        split: {name: values[at].to(device) for name, values in columns.items()} for split, at in rows.items()
    }
