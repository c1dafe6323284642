"""Copying after a long delay

Exported from Neuroloom. Needs torch and numpy only.

    python copying_after_a_long_delay.py --epochs 12
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 50
    epochs: int = 12
    learning_rate: float = 0.01


CONFIG = Config()


def split_at_random(n: int, *, validation: float, test: float, seed: int) -> dict[str, Tensor]:
    """Any row into any split."""
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    held, tested = round(validation * n), round(test * n)
    return {
        "train": order[held + tested :],
        "validation": order[tested : held + tested],
        "test": order[:tested],
    }


def linear_scan(factor: Tensor, added: Tensor) -> Tensor:
    """The states of h[t] = factor[t] · h[t-1] + added[t] from h = 0, all (N, T, H), in log2 T rounds."""
    # Source: Hillis and Steele, 1986; Blelloch, 1990.
    apart = 1
    while apart < added.shape[1]:
        joined = added[:, apart:] + factor[:, apart:] * added[:, :-apart]
        added = torch.cat((added[:, :apart], joined), 1)
        if 2 * apart < added.shape[1]:
            factor = torch.cat((factor[:, :apart], factor[:, apart:] * factor[:, :-apart]), 1)
        apart *= 2
    return added


class LRU(nn.Module):
    """A linear recurrence of complex numbers, each turned and shrunk by a factor inside the unit disc."""
    # Source: Orvieto and others, 2023.

    def __init__(self, features: int, hidden: int, least: float = 0.0, most: float = 1.0) -> None:
        super().__init__()
        squares = least**2 + torch.rand(hidden) * (most**2 - least**2)
        self.nu = nn.Parameter((-0.5 * squares.clamp(1e-8, 1 - 1e-6).log()).log())
        self.theta = nn.Parameter(2 * math.pi * torch.rand(hidden))
        self.into = nn.Parameter(torch.randn(2, hidden, features) / math.sqrt(2 * features))
        self.out = nn.Parameter(torch.randn(2, features, hidden) / math.sqrt(hidden))
        self.skip = nn.Parameter(torch.randn(features))

    def eigenvalues(self) -> Tensor:
        """The factors λ, (H,) complex."""
        return torch.polar((-self.nu.exp()).exp(), self.theta)

    def forward(self, x: Tensor) -> Tensor:
        factor = self.eigenvalues()
        scale = (1 - factor.abs().square()).sqrt()
        into = torch.complex(x @ self.into[0].T, x @ self.into[1].T) * scale
        states = linear_scan(factor.expand(into.shape), into)
        return states.real @ self.out[0].T - states.imag @ self.out[1].T + self.skip * x


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


def remembering(lstm: nn.LSTM, steps: int) -> nn.LSTM:
    """An LSTM whose cells begin to keep what they hold for 2 to `steps` steps, each for as long as
    another."""
    # Source: Tallec and Ollivier, 2018.
    with torch.no_grad():
        for name, bias in lstm.named_parameters():
            if name.startswith("bias"):
                enter, forget = bias[: 2 * lstm.hidden_size].view(2, -1)
                open_for = torch.rand_like(forget) * (steps - 2) + 1
                forget.copy_(open_for.log() if "_ih_" in name else 0 * forget)
                enter.copy_(-forget)
    return lstm


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.elman_symbols = nn.Embedding(6, 16)
        self.elman = nn.RNN(16, 48, batch_first=True)
        self.elman_scores = nn.Linear(48, 4)
        self.lstm_symbols = nn.Embedding(6, 16)
        self.lstm = remembering(nn.LSTM(16, 48, batch_first=True), 60)
        self.lstm_scores = nn.Linear(48, 4)
        self.lru_symbols = nn.Embedding(6, 16)
        self.linear_unit = LRU(16, 48, least=0.95)
        self.dense = nn.Linear(16, 64)
        self.lru_scores = nn.Linear(64, 4)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # (N, 58)
        x = self.elman_symbols(tokens)       # (N, 58, 16)
        x, _ = self.elman(x)                 # (N, 58, 48)
        elman_scores = self.elman_scores(x)  # (N, 58, 4)
        x = self.lstm_symbols(tokens)        # (N, 58, 16)
        x, _ = self.lstm(x)                  # (N, 58, 48)
        lstm_scores = self.lstm_scores(x)    # (N, 58, 4)
        x = self.lru_symbols(tokens)         # (N, 58, 16)
        x = self.linear_unit(x)              # (N, 58, 16)
        x = F.gelu(self.dense(x))            # (N, 58, 64)
        lru_scores = self.lru_scores(x)      # (N, 58, 4)
        return elman_scores, lstm_scores, lru_scores


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss". "weight" is how much the batch counts."""
    elman_scores, lstm_scores, lru_scores = model(batch["tokens"])
    elman_loss = counted_cross_entropy(elman_scores.flatten(0, -2), batch["recall"].flatten())
    lstm_loss = counted_cross_entropy(lstm_scores.flatten(0, -2), batch["recall"].flatten())
    lru_loss = counted_cross_entropy(lru_scores.flatten(0, -2), batch["recall"].flatten())
    return {
        "loss": elman_loss + lstm_loss + lru_loss,
        "elman_loss": elman_loss,
        "lstm_loss": lstm_loss,
        "lru_loss": lru_loss,
        "weight": counted(batch["recall"]),
    }


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, tuple[Tensor, Tensor | int]]:
    """The losses and metrics of a batch, each with how much the batch counts in the mean over several."""
    elman_scores, lstm_scores, lru_scores = model(batch["tokens"])
    elman_loss = counted_cross_entropy(elman_scores.flatten(0, -2), batch["recall"].flatten())
    lstm_loss = counted_cross_entropy(lstm_scores.flatten(0, -2), batch["recall"].flatten())
    lru_loss = counted_cross_entropy(lru_scores.flatten(0, -2), batch["recall"].flatten())
    return {
        "loss": (elman_loss + lstm_loss + lru_loss, counted(batch["recall"])),
        "elman_loss": (elman_loss, counted(batch["recall"])),
        "lstm_loss": (lstm_loss, counted(batch["recall"])),
        "lru_loss": (lru_loss, counted(batch["recall"])),
        "elman_recalled": (
            masked_accuracy(elman_scores.argmax(-1), batch["recall"]), counted(batch["recall"])
        ),
        "lstm_recalled": (masked_accuracy(lstm_scores.argmax(-1), batch["recall"]), counted(batch["recall"])),
        "lru_recalled": (masked_accuracy(lru_scores.argmax(-1), batch["recall"]), counted(batch["recall"])),
    }


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: tokens (N, 58); recall (N, 58)."""
    # Source: Hochreiter and Schmidhuber, 1997; Arjovsky, Shah and Bengio, 2016.
    symbols, length, delay, rows, seed = 4, 4, 50, 2500, 0
    draw = torch.Generator().manual_seed(seed)
    kept = torch.randint(symbols, (rows, length), generator=draw)
    tokens = torch.full((rows, 2 * length + delay), symbols)
    tokens[:, :length] = kept
    tokens[:, length + delay] = symbols + 1
    answer = torch.full_like(tokens, symbols)
    answer[:, length + delay:] = kept
    recall = answer.where(answer != symbols, -100)
    columns = {"tokens": tokens, "recall": recall}
    splits = split_at_random(rows, validation=0.1, test=0.1, seed=seed)
    return {
        split: {name: one[at].to(device) for name, one in columns.items()} for split, at in splits.items()
    }


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
    found = {name: value / (weights[name] or math.nan) for name, value in sums.items()}
    found["loss"] = found["elman_loss"] + found["lstm_loss"] + found["lru_loss"]
    return found


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
    parser = argparse.ArgumentParser(description="Copying after a long delay")
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
