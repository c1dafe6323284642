"""Digits side by side, to be read from left to right. Portable: exports carry this source."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from engine.data.sets.scikit_learn import scikit_learn_set
from engine.data.splits import stratified_split


def load_digit_rows(
    folder: Path,
    device: str,
    *,
    fewest: int = 2,
    most: int = 5,
    gap: int = 3,
    rows: int = 3000,
    validation: float = 0.1,
    test: float = 0.1,
    seed: int = 0,
) -> dict[str, dict[str, Tensor]]:
    """Rows of `fewest` to `most` digits with up to `gap` empty columns before each, by split.

    "columns" (N, T, 8) are the columns of ink from left to right, `width` (N,) of them; "labels" (N, `most`)
    are 1 more than the digits, 0 behind the last, `count` (N,) of them. No digit is in two splits.
    """
    images, target = scikit_learn_set("digits")
    ink, digits = (images / 16).float().reshape(-1, 8, 8).transpose(1, 2), target.long()
    draw = torch.Generator().manual_seed(seed)
    found = {}
    sizes = {"validation": round(validation * rows), "test": round(test * rows)}
    for split, known in stratified_split(digits, validation, test, seed).items():
        size = sizes.get(split, rows - sum(sizes.values()))
        wide = most * (8 + gap)
        columns, labels = torch.zeros(size, wide, 8), torch.zeros(size, most, dtype=torch.int64)
        counts = torch.randint(fewest, most + 1, (size,), generator=draw)
        widths = torch.zeros(size, dtype=torch.int64)
        for row, count in enumerate(counts.tolist()):
            picked = known[torch.randint(len(known), (count,), generator=draw)]
            gaps = torch.randint(gap + 1, (count,), generator=draw)
            ends = (gaps + 8).cumsum(0).tolist()
            for digit, end in zip(picked.tolist(), ends, strict=True):
                columns[row, end - 8 : end] = ink[digit]
            labels[row, :count], widths[row] = digits[picked] + 1, ends[-1]
        told = {"columns": columns, "width": widths, "labels": labels, "count": counts}
        found[split] = {name: value.to(device) for name, value in told.items()}
    return found
