"""Random graphs, with and without blocks, as padded tensors. Portable: exports carry this source."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from engine.data.splits import columns_of, stratified_split


def load_random_graphs(
    folder: Path,
    device: str,
    *,
    blocks: int = 2,
    inside: float = 0.8,
    between: float = 0.1,
    fewest: int = 8,
    most: int = 14,
    rows: int = 400,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
) -> dict[str, dict[str, Tensor]]:
    """Graphs as {split: {"nodes": (N, most, 2), "adjacency": (N, most, most), "mask": (N, most), ...}}.

    There are "label" (N,) and "block" (N, most) besides.
    Label 0 is a random graph (Erdos and Renyi), 1 one of blocks: two nodes are joined with probability
    `inside` within a block, `between` elsewhere. A random graph has as many edges on average as if it had
    blocks. Nodes hold 1 and the fraction of the others that each is joined to; padding is 0, and block -100
    where there is no node.
    """
    draw = torch.Generator().manual_seed(seed)
    label = torch.arange(rows) % 2
    count = torch.randint(fewest, most + 1, (rows,), generator=draw)
    mask = (torch.arange(most) < count[:, None]).float()
    block = torch.arange(most) * blocks // count[:, None]
    block = torch.where(mask > 0, block, -100)
    order = torch.rand(rows, most, generator=draw) + 2 * (1 - mask)  # nodes of a block need not be neighbours
    block = block.gather(1, order.argsort(1).argsort(1))
    both = mask[:, :, None] * mask[:, None, :] * (1 - torch.eye(most))
    same = (block[:, :, None] == block[:, None, :]).float() * both
    probability = same * inside + (both - same) * between
    even = both * (probability.sum((1, 2)) / both.sum((1, 2)))[:, None, None]
    probability = torch.where(label[:, None, None] == 1, probability, even)
    upper = (torch.rand(rows, most, most, generator=draw) < probability).float().triu(1)
    adjacency = upper + upper.transpose(1, 2)
    tied = adjacency.sum(2) / (count[:, None] - 1)
    nodes = torch.stack([mask, tied], 2)
    block = torch.where((label[:, None] == 1) | (mask == 0), block, 0)
    columns = {"nodes": nodes, "adjacency": adjacency, "mask": mask, "label": label, "block": block}
    return columns_of(columns, stratified_split(label, validation=validation, test=test, seed=seed), device)
