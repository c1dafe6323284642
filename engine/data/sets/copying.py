"""Symbols to recall after a delay, for networks that remember. Portable: exports carry this source."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from engine.data.splits import columns_of, split_at_random


def load_copying(
    folder: Path,
    device: str,
    *,
    symbols: int = 8,
    length: int = 10,
    delay: int = 100,
    rows: int = 4000,
    validation: float = 0.1,
    test: float = 0.1,
    seed: int = 0,
) -> dict[str, dict[str, Tensor]]:
    """Rows as {split: {"tokens": (N, T), "answer": (N, T), "recall": (N, T)}}, T = 2 `length` + `delay`.

    Tokens are `length` symbols 0..`symbols`-1, then blanks (`symbols`) but for a marker (`symbols` + 1) at
    the place `length` + `delay`, from where on the symbols are to be recalled. The answer is blank up to
    there; "recall" is the answer with -100, which no loss counts, in place of blanks.
    Source: Hochreiter and Schmidhuber, 1997; Arjovsky, Shah and Bengio, 2016.
    """
    draw = torch.Generator().manual_seed(seed)
    kept = torch.randint(symbols, (rows, length), generator=draw)
    tokens = torch.full((rows, 2 * length + delay), symbols)
    tokens[:, :length] = kept
    tokens[:, length + delay] = symbols + 1
    answer = torch.full_like(tokens, symbols)
    answer[:, length + delay :] = kept
    recall = answer.where(answer != symbols, -100)
    columns = {"tokens": tokens, "answer": answer, "recall": recall}
    splits = split_at_random(rows, None, validation=validation, test=test, seed=seed)
    return columns_of(columns, splits, device)
