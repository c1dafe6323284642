"""Rows of different lengths in a batch: filled up to the longest, and no further. Portable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor


def without_filling(batch: dict[str, Tensor], filled: Mapping[str, Sequence[str]]) -> dict[str, Tensor]:
    """The batch without places that its longest row does not have.

    For each column of lengths (N,), or of a mask (N, T) of ones and then zeros, `filled` names the columns
    (N, T, ...) that it is about. One place at least stays.
    """
    found = dict(batch)
    for told, columns in filled.items():
        lengths = batch[told] if batch[told].dim() == 1 else batch[told].sum(1)
        longest = max(1, int(lengths.max()))
        for name in columns:
            found[name] = found[name][:, :longest]
    return found
