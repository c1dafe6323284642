"""Patterns for a memory to store, and disturbed ones to restore. Portable: exports carry this source."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from engine.data.sets.scikit_learn import scikit_learn_set
from engine.data.splits import columns_of


def stored_patterns(form: str) -> Tensor:
    """Rows of -1 and 1 to store: a few in 2-D or 3-D, or ten digits of 8 × 8."""
    if form == "2-D":
        return torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    if form == "3-D":
        return torch.tensor([[-1.0, -1.0, 1.0], [1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])
    pixels, digit = scikit_learn_set("digits")
    first = torch.stack([(digit == one).nonzero()[0, 0] for one in range(10)])
    return torch.where(pixels[first] >= 8, 1.0, -1.0).float()


def load_patterns(
    folder: Path, device: str, *, form: str = "2-D", noise: float = 0.3, copies: int = 20, seed: int = 0
) -> dict[str, dict[str, Tensor]]:
    """Patterns as {split: {"start": (N, n), "stored": (N, n)}}.

    To train there are the patterns themselves, in both columns. To validate and to test, each is there
    `copies` times as a start that normal noise of that deviation has moved, cut off at -1 and 1.
    """
    patterns = stored_patterns(form)
    many = patterns.repeat(copies, 1)
    draw = torch.Generator().manual_seed(seed)
    moved = (many + noise * torch.randn(2, *many.shape, generator=draw)).clamp(-1, 1)
    start = torch.cat([patterns, *moved])
    stored = torch.cat([patterns, many, many])
    sizes = [len(patterns), len(many), len(many)]
    parts = torch.split(torch.arange(len(start)), sizes)
    rows = dict(zip(("train", "validation", "test"), parts, strict=True))
    return columns_of({"start": start, "stored": stored}, rows, device)
