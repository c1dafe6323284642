"""Hidden letters

Exported from Neuroloom. Needs torch and numpy only.

    python hidden_letters.py --data FOLDER --epochs 15

FOLDER holds romeo_and_juliet.txt; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import json
import math
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
    epochs: int = 15
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


def fixed_draws(tokens: Tensor, seed: int) -> Tensor:
    """Three numbers in [0, 1) for each token (N, ..., T), as if drawn, from its row's tokens and the seed."""
    place = torch.arange(tokens.shape[-1], device=tokens.device)
    row = (scrambled(tokens + scrambled(place + seed)) * (tokens != 0)).sum(-1, keepdim=True)
    drawn = [scrambled(scrambled(row + number) + place) for number in (1, 2, 3)]
    return (torch.stack(drawn) >> 8).float() / 2**24


class MaskTokens(nn.Module):
    """Hides a fraction `rate` of the tokens (N, ..., T): gives (tokens, targets), both of that shape."""
    # Source: Devlin, Chang, Lee and Toutanova, 2018.

    def __init__(
        self, size: int, rate: float = 0.15, hidden: float = 0.8, swapped: float = 0.1, seed: int = 0
    ) -> None:
        super().__init__()
        self.size = size
        self.rate = rate
        self.hidden = hidden
        self.swapped = swapped
        self.seed = seed

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        if self.training:
            drawn, fate, other = torch.rand(3, *tokens.shape, device=tokens.device)
        else:
            drawn, fate, other = fixed_draws(tokens, self.seed)
        drawn = drawn.masked_fill(tokens < 5, 2.0)
        lowest = drawn.amin(-1, keepdim=True).clamp(max=1.0)
        picked = (drawn < self.rate) | (drawn == lowest)
        random = 5 + (other * (self.size - 5)).long()
        masked = torch.where(picked & (fate < self.hidden), 4, tokens)
        swaps = picked & (fate >= self.hidden) & (fate < self.hidden + self.swapped)
        return torch.where(swaps, random, masked), torch.where(picked, tokens, -100)


def counted(target: Tensor) -> Tensor:
    """How much classes (N, ...) count: each 1, or the weight of its class; -100 and `ignored` nothing."""
    counts = target != -100
    return counts.sum()


def counted_cross_entropy(scores: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy of scores (N, classes, ...) with classes (N, ...): the mean over what counts."""
    total = F.cross_entropy(scores, target, None, reduction="sum", label_smoothing=0.0)
    return total / counted(target).clamp(min=1e-12)


def masked_accuracy(guessed: Tensor, target: Tensor) -> Tensor:
    """The fraction of places (N, ...) whose class is right, without those of class -100 or `ignored`."""
    there = target != -100
    return ((guessed == target) & there).sum() / there.sum().clamp(1)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hide = MaskTokens(72)
        self.letters = nn.Embedding(72, 32)
        self.lstm = nn.LSTM(32, 64, bidirectional=True, batch_first=True)
        self.scores = nn.Linear(128, 72)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:  # (N, 64)
        hide_tokens, hide_targets = self.hide(tokens)            # (N, 64), (N, 64)
        x = self.letters(hide_tokens)                            # (N, 64, 32)
        x, _ = self.lstm(x)                                      # (N, 64, 128)
        scores = self.scores(x)                                  # (N, 64, 72)
        return hide_targets, scores


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss". "weight" is how much the batch counts."""
    hide_targets, scores = model(batch["tokens"])
    return {
        "loss": counted_cross_entropy(scores.flatten(0, -2), hide_targets.flatten()),
        "weight": counted(hide_targets),
    }


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, tuple[Tensor, Tensor | int]]:
    """The losses and metrics of a batch, each with how much the batch counts in the mean over several."""
    hide_targets, scores = model(batch["tokens"])
    return {
        "loss": (counted_cross_entropy(scores.flatten(0, -2), hide_targets.flatten()), counted(hide_targets)),
        "accuracy": (masked_accuracy(scores.argmax(-1), hide_targets), counted(hide_targets)),
    }


class LetterTokens:
    """Text as token numbers: 0 fills up, 1 is unknown, 2 begins, 3 ends, 4 hides, others are characters."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = ["[pad]", "[unknown]", "[begin]", "[end]", "[mask]", *tokens]
        self.numbers = {token: number for number, token in enumerate(self.tokens)}

    def ids(self, text: str) -> np.ndarray[Any, Any]:
        return np.array([self.numbers.get(one, 1) for one in text], np.int32)

    def text(self, ids: list[int]) -> str:
        return "".join(self.tokens[one if one < len(self.tokens) else 1] for one in ids)


def learned_characters(texts: list[str], size: int) -> LetterTokens:
    """The commonest characters of texts, at most `size` tokens."""
    counts = Counter("".join(texts))
    kept = sorted(counts, key=lambda one: (-counts[one], one))[: size - 5]
    return LetterTokens(sorted(kept) or ["\n"])


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: tokens (N, 64)."""
    try:
        text = (folder / "romeo_and_juliet.txt").read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise SystemExit(f"The text cannot be read: {error}") from error
    units = portions(text, len(text) // 1000 + 1)
    first = len(units) - round(0.1 * len(units)) - round(0.1 * len(units))
    last = len(units) - round(0.1 * len(units))
    texts = {"train": units[:first], "validation": units[first:last], "test": units[last:]}
    made = learned_characters(["".join(texts["train"])], 72)
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
    """The means over what counts in a split, with dropout off."""
    model.eval()
    sums: dict[str, float] = {}
    weights: dict[str, float] = {}
    for batch in batches(split):
        for name, (value, weight) in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + float(weight) * value.item()
            weights[name] = weights.get(name, 0.0) + float(weight)
    model.train()
    return {name: value / (weights[name] or math.nan) for name, value in sums.items()}


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=CONFIG.learning_rate)


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    optimiser = optimiser_for(model)
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    best = float("inf")
    kept = None
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
        if found["loss"] < best:
            best = found["loss"]
            kept = {name: value.clone() for name, value in model.state_dict().items()}
    if kept is not None:
        model.load_state_dict(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description="Hidden letters")
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
