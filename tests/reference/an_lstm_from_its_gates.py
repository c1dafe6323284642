"""An LSTM from its gates

Exported from Neuroloom. Needs torch and numpy only.

    python an_lstm_from_its_gates.py --epochs 24
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
    epochs: int = 24
    learning_rate: float = 0.02


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


def scan(
    cell: nn.Module, sequences: tuple[Tensor, ...], states: tuple[Tensor, ...], fed: tuple[int, ...]
) -> tuple[Tensor, ...]:
    """The cell run along sequences (N, T, ...): every step's results, each stacked to (N, T, ...)."""
    found = []
    for step in zip(*(sequence.unbind(1) for sequence in sequences), strict=True):
        results = cell(*step, *states)
        results = results if isinstance(results, tuple) else (results,)
        states = tuple(results[index] for index in fed)
        found.append(results)
    return tuple(torch.stack(steps, 1) for steps in zip(*found, strict=True))


class LstmCell(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.input_of_x = nn.Linear(8, 16)
        self.input_of_h = nn.Linear(16, 16)
        self.forget_of_x = nn.Linear(8, 16)
        self.forget_of_h = nn.Linear(16, 16)
        self.candidate_of_x = nn.Linear(8, 16)
        self.candidate_of_h = nn.Linear(16, 16)
        self.output_of_x = nn.Linear(8, 16)
        self.output_of_h = nn.Linear(16, 16)

    def forward(self, x_: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:  # (N, 8), (N, 16), (N, 16)
        input_of_x = self.input_of_x(x_)          # (N, 16)
        x = self.input_of_h(h)                    # (N, 16)
        x = input_of_x + x                        # (N, 16)
        input_gate = torch.sigmoid(x)             # (N, 16)
        forget_of_x = self.forget_of_x(x_)        # (N, 16)
        x = self.forget_of_h(h)                   # (N, 16)
        x = forget_of_x + x                       # (N, 16)
        forget_gate = torch.sigmoid(x)            # (N, 16)
        candidate_of_x = self.candidate_of_x(x_)  # (N, 16)
        x = self.candidate_of_h(h)                # (N, 16)
        x = candidate_of_x + x                    # (N, 16)
        candidate = torch.tanh(x)                 # (N, 16)
        output_of_x = self.output_of_x(x_)        # (N, 16)
        x = self.output_of_h(h)                   # (N, 16)
        x = output_of_x + x                       # (N, 16)
        output_gate = torch.sigmoid(x)            # (N, 16)
        kept = forget_gate * c                    # (N, 16)
        x = input_gate * candidate                # (N, 16)
        next_c = kept + x                         # (N, 16)
        x = torch.tanh(next_c)                    # (N, 16)
        next_h = output_gate * x                  # (N, 16)
        return next_h, next_c


class LstmFromGates(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = LstmCell()

    def forward(self, in_: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # (N, 10, 8)
        output, cell_n39 = scan(
            self.cell, (in_,), (in_.new_zeros((in_.size(0), 16)), in_.new_zeros((in_.size(0), 16))), (0, 1)
        )  # (N, 10, 16), (N, 10, 16)
        h = output[:, -1]    # (N, 16)
        c = cell_n39[:, -1]  # (N, 16)
        return output, h, c


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.symbols = nn.Embedding(6, 8)
        self.memory = LstmFromGates()
        self.scores = nn.Linear(16, 4)

    def forward(self, tokens: Tensor) -> Tensor:  # (N, 10)
        x = self.symbols(tokens)                  # (N, 10, 8)
        x, _, _ = self.memory(x)                  # (N, 10, 16)
        return self.scores(x)                     # (N, 10, 4)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss". "weight" is how much the batch counts."""
    scores = model(batch["tokens"])
    return {
        "loss": counted_cross_entropy(scores.flatten(0, -2), batch["recall"].flatten()),
        "weight": counted(batch["recall"]),
    }


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, tuple[Tensor, Tensor | int]]:
    """The losses and metrics of a batch, each with how much the batch counts in the mean over several."""
    scores = model(batch["tokens"])
    return {
        "loss": (
            counted_cross_entropy(scores.flatten(0, -2), batch["recall"].flatten()), counted(batch["recall"])
        ),
        "recalled": (masked_accuracy(scores.argmax(-1), batch["recall"]), counted(batch["recall"])),
    }


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: tokens (N, 10); recall (N, 10)."""
    # Source: Hochreiter and Schmidhuber, 1997; Arjovsky, Shah and Bengio, 2016.
    symbols, length, delay, rows, seed = 4, 2, 6, 2500, 0
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
    parser = argparse.ArgumentParser(description="An LSTM from its gates")
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
    data = load(args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
