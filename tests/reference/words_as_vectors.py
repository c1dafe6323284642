"""Words as vectors

Exported from Neuroloom. Needs torch and numpy only.

    python words_as_vectors.py --data FOLDER --epochs 80

FOLDER holds romeo_and_juliet.txt; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 32
    epochs: int = 80
    learning_rate: float = 0.01


CONFIG = Config()


def portions(text: str, most: int = 100_000) -> list[str]:
    """A long text in portions of at most `most` characters, cut before a space where there is one."""
    found, begin = [], 0
    while len(text) - begin > most:
        cut = max(text.rfind(" ", begin + 1, begin + most), text.rfind("\n", begin + 1, begin + most))
        end = cut if cut > begin else begin + most
        found.append(text[begin:end])
        begin = end
    return [*found, text[begin:]]


def scrambled(x: Tensor) -> Tensor:
    """Whole numbers from 0 to 2³² - 1 that look random, by their lower 32 bits (Wellons, 2018)."""
    x = x & 0xFFFFFFFF
    x = (x ^ (x >> 16)) * 0x7FEB352D & 0xFFFFFFFF
    x = (x ^ (x >> 15)) * 0x846CA68B & 0xFFFFFFFF
    return x ^ (x >> 16)


def row_draws(tokens: Tensor, count: int, seed: int) -> Tensor:
    """Numbers in [0, 1) as if drawn, (N, count), from the tokens (N, T) of each row and the seed."""
    place = torch.arange(tokens.shape[1], device=tokens.device)
    row = scrambled(tokens + scrambled(place + seed)).sum(1, keepdim=True)
    return (scrambled(scrambled(row) + torch.arange(count, device=tokens.device)) >> 8).float() / 2**24


def picked(weights: Tensor, drawn: Tensor) -> Tensor:
    """Places (N, P) by weights (N, P, M), for even numbers in [0, 1) (N, P); the last where all are 0."""
    upto = weights.cumsum(2)
    found = torch.searchsorted(upto, drawn[:, :, None] * upto[:, :, -1:], right=True)
    return found[:, :, 0].clamp(max=weights.shape[2] - 1)


class SkipGram(nn.Module):
    """Draws pairs of words from rows of tokens (N, T), and `negatives` other words K for each pair."""
    # Source: Mikolov, Sutskever, Chen, Corrado and Dean, 2013.

    def __init__(
        self,
        size: int,
        window: int = 5,
        pairs: int = 32,
        negatives: int = 5,
        often: float = 1e-3,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.window = window
        self.pairs = pairs
        self.negatives = negatives
        self.often = often
        self.seed = seed
        self.counts: Tensor
        self.register_buffer("counts", torch.ones(size))  # so that every word can be drawn
        self.counts[:5] = 0

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        size = (self.pairs, 2 + self.negatives)
        if self.training:
            words = (tokens >= 5).flatten().to(self.counts)
            self.counts.index_add_(0, tokens.flatten(), words)
            drawn = torch.rand(len(tokens), *size, device=tokens.device)
        else:
            drawn = row_draws(tokens, self.pairs * (2 + self.negatives), self.seed).reshape(-1, *size)
        frequency = self.counts / self.counts.sum()
        kept = (self.often / frequency.clamp(min=1e-12)).sqrt().clamp(max=1)[tokens] * (tokens >= 5)
        at = picked(kept[:, None].expand(-1, self.pairs, -1), drawn[:, :, 0])[:, :, None]
        away = (torch.arange(tokens.shape[1], device=tokens.device) - at).abs()
        near = (self.window + 1 - away).clamp(min=0) * (away > 0) * kept[:, None]
        beside = picked(near, drawn[:, :, 1])
        upto = self.counts.pow(0.75).cumsum(0)
        others = torch.searchsorted(upto, drawn[:, :, 2:] * upto[-1], right=True).clamp(max=len(upto) - 1)
        word, neighbour = tokens.gather(1, at[:, :, 0])[:, :, None], tokens.gather(1, beside)[:, :, None]
        real = torch.zeros(*drawn.shape[:2], 1, 1 + self.negatives, device=tokens.device)
        real[..., 0] = 1
        return word, torch.cat((neighbour, others), 2), real


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.pairs = SkipGram(400, window=2, pairs=64, often=1.0)
        self.words = nn.Embedding(400, 16)
        self.contexts = nn.Embedding(400, 16)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:  # (N, 64)
        pairs_word, pairs_others, pairs_real = self.pairs(tokens)  # (N, 64, 1), (N, 64, 6), (N, 64, 1, 6)
        words = self.words(pairs_word)                           # (N, 64, 1, 16)
        x = self.contexts(pairs_others)                          # (N, 64, 6, 16)
        scores = words @ x.transpose(-2, -1)                     # (N, 64, 1, 6)
        return pairs_real, scores


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    pairs_real, scores = model(batch["tokens"])
    return {"loss": F.binary_cross_entropy_with_logits(scores, pairs_real)}


class WordTokens:
    """Text as token numbers: 0 fills up, 1 is unknown, 2 begins, 3 ends, 4 hides, others are words."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = ["[pad]", "[unknown]", "[begin]", "[end]", "[mask]", *tokens]
        self.numbers = {token: number for number, token in enumerate(self.tokens)}

    def ids(self, text: str) -> np.ndarray[Any, Any]:
        return np.array(
            [self.numbers.get(one, 1) for one in re.findall(r"\w+|[^\w\s]|\n", text.lower())], np.int32
        )

    def text(self, ids: list[int]) -> str:
        return " ".join(self.tokens[one if one < len(self.tokens) else 1] for one in ids)


def learned_words(texts: list[str], size: int) -> WordTokens:
    """The commonest words of texts, at most `size` tokens."""
    counts = Counter(one for text in texts for one in re.findall(r"\w+|[^\w\s]|\n", text.lower()))
    kept = sorted(counts, key=lambda one: (-counts[one], one))[: size - 5]
    return WordTokens(kept)


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: tokens (N, 64)."""
    try:
        text = (folder / "romeo_and_juliet.txt").read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise SystemExit(f"The text cannot be read: {error}") from error
    units = portions(text, len(text) // 1000 + 1)
    first = len(units) - round(0.05 * len(units)) - round(0.05 * len(units))
    last = len(units) - round(0.05 * len(units))
    texts = {"train": units[:first], "validation": units[first:last], "test": units[last:]}
    made = learned_words(["".join(texts["train"])], 400)
    windows: dict[str, dict[str, Tensor]] = {}
    for split, part in texts.items():
        ids = torch.from_numpy(made.ids("".join(part))).long().to(device)
        if len(ids) <= 64:
            raise SystemExit(f"The part for {split} has {len(ids)} tokens, too few for a window of 64.")
        windows[split] = {"tokens": ids[:-1].unfold(0, 64, 64)}
    return windows


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["tokens"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(CONFIG.batch):
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}


@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over a split, with dropout off."""
    model.eval()
    n = 0
    sums: dict[str, float] = {}
    for batch in batches(split):
        size = len(batch["tokens"])
        n += size
        for name, value in objective(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), lr=CONFIG.learning_rate, weight_decay=0.1)


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    optimiser = optimiser_for(model)
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle):
            optimiser.zero_grad()
            loss = objective(model, batch)["loss"]
            value = loss.item()
            if not math.isfinite(value):
                raise SystemExit(f"The loss is {value} after {step} steps: a lower rate may help.")
            loss.backward()
            optimiser.step()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(description="Words as vectors")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).parent / "files",
        help="folder that holds romeo_and_juliet.txt",
    )
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.set_num_threads(1)  # faster than several for so small a network
    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.data, args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
