"""Perceptrons learn gates

Exported from Neuroloom. Needs torch and numpy only.

    python perceptrons_learn_gates.py
"""

from __future__ import annotations

import argparse
import json
import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

SEED, BATCH = 0, 1


def columns_of(
    columns: dict[str, Tensor], rows: dict[str, Tensor], device: str
) -> dict[str, dict[str, Tensor]]:
    """Each split's part of every column, on `device`."""
    return {
        split: {name: values[at].to(device) for name, values in columns.items()} for split, at in rows.items()
    }


def three_copies(columns: dict[str, Tensor], device: str) -> dict[str, dict[str, Tensor]]:
    """The same rows as every split: of so few, none can be spared."""
    rows = torch.arange(len(next(iter(columns.values()))))
    return columns_of(columns, dict.fromkeys(("train", "validation", "test"), rows), device)


def load_gates(device: str) -> dict[str, dict[str, Tensor]]:
    """AND, OR and XOR as {split: {"inputs": (4, 2), "both": (4, 1), "either": (4, 1), "differ": (4, 1)}}."""
    inputs = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    ones = inputs.sum(1, keepdim=True)
    answers = {"both": ones == 2, "either": ones >= 1, "differ": ones == 1}
    columns = {"inputs": inputs, **{name: answer.float() for name, answer in answers.items()}}
    columns = {name: 2 * values - 1 for name, values in columns.items()}
    return three_copies(columns, device)


class Perceptron(nn.Module):
    """Sign units that learn from their mistakes only; a row on the boundary w·x + b = 0 is one.

    x (N, inputs) -> (N, units) of -1 and 1, or of 0 and 1 where `low` is 0. Weights begin at zero.
    `updates` counts the mistakes so far: at most R² / γ² where a boundary with margin γ exists, R the length
    of the longest row, both with the bias as one more input of 1.
    Source: Rosenblatt 1958; the bound: Novikoff 1962.
    """

    updates: Tensor

    def __init__(self, inputs: int, units: int = 1, lr: float = 1.0, low: int = -1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(units, inputs))
        self.bias = nn.Parameter(torch.zeros(units))
        self.register_buffer("updates", torch.zeros(()))
        self.lr, self.low = lr, low

    def forward(self, x: Tensor) -> Tensor:
        sign = torch.sign(x @ self.weight.T + self.bias)
        return sign if self.low else (sign + 1) / 2

    def update(self, x: Tensor, target: Tensor) -> dict[str, Tensor]:
        """Go through the rows in turn; on a mistake w += y x, b += y. The loss: the fraction of mistakes."""
        wanted = target.reshape(len(x), -1).to(x)
        wanted = wanted if self.low else 2 * wanted - 1
        mistakes = torch.zeros((), device=x.device)
        for row, y in zip(x, wanted, strict=True):
            wrong = y * (self.weight @ row + self.bias) <= 0
            step = self.lr * torch.where(wrong, y, 0.0)
            self.weight.add_(step[:, None] * row)
            self.bias.add_(step)
            mistakes += wrong.sum()
        self.updates += mistakes
        reach = wanted * (x @ self.weight.T + self.bias) / self.weight.norm(dim=1).clamp(min=1e-12)
        return {"loss": mistakes / wanted.numel(), "updates": self.updates.clone(), "margin": reach.min()}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.and_unit = Perceptron(2, 1)
        self.or_unit = Perceptron(2, 1)
        self.xor_unit = Perceptron(2, 1)

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # (N, 2)
        and_unit = self.and_unit(inputs)  # (N, 1)
        or_unit = self.or_unit(inputs)    # (N, 1)
        xor_unit = self.xor_unit(inputs)  # (N, 1)
        return and_unit, or_unit, xor_unit


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test.

    inputs (N, 2); both (N, 1); either (N, 1); differ (N, 1).
    """
    return load_gates(device)


def batches(
    split: dict[str, Tensor], shuffle: torch.Generator | None = None, size: int | None = BATCH
) -> Iterator[dict[str, Tensor]]:
    n = len(split["inputs"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(size or n):
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}


@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over a split, with dropout off."""
    model.eval()
    n = 0
    sums: dict[str, float] = {}
    for batch in batches(split):
        size = len(batch["inputs"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def and_(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of AND unit."""
    inputs = batch["inputs"]  # (N, 2)
    both = batch["both"]      # (N, 1)
    return model.and_unit.update(inputs, both)


def or_(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of OR unit."""
    inputs = batch["inputs"]  # (N, 2)
    either = batch["either"]  # (N, 1)
    return model.or_unit.update(inputs, either)


def xor(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of XOR unit."""
    inputs = batch["inputs"]  # (N, 2)
    differ = batch["differ"]  # (N, 1)
    return model.xor_unit.update(inputs, differ)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    inputs = batch["inputs"]           # (N, 2)
    both = batch["both"]               # (N, 1)
    either = batch["either"]           # (N, 1)
    differ = batch["differ"]           # (N, 1)
    and_unit = model.and_unit(inputs)  # (N, 1)
    or_unit = model.or_unit(inputs)    # (N, 1)
    xor_unit = model.xor_unit(inputs)  # (N, 1)
    return {
        "and_accuracy": (and_unit.gt(0) == both.gt(0)).float().mean(),
        "or_accuracy": (or_unit.gt(0) == either.gt(0)).float().mean(),
        "xor_accuracy": (xor_unit.gt(0) == differ.gt(0)).float().mean(),
    }


@dataclass
class Player:
    """An objective at work: what it computes, the weights it moves, and what moves them."""

    name: str
    objective: Callable[[Model, dict[str, Tensor]], dict[str, Tensor]]
    weights: list[nn.Parameter] = field(default_factory=list)
    optimiser: Any = None  # none: a rule, which moves them itself
    schedule: Any = None
    every: int = 1


def take_turn(player: Player, model: Model, batch: dict[str, Tensor], turn: int) -> dict[str, Tensor]:
    """One step of an objective; returns what it computed before the step."""
    with torch.no_grad():
        return player.objective(model, batch)


def make_players(model: Model, steps_per_epoch: int, epochs: int) -> list[Player]:
    """The objectives, with fresh optimisers."""
    return [
        Player("and_", and_),
        Player("or_", or_),
        Player("xor", xor),
    ]


@dataclass
class Phase:
    """A stretch of training: its players take turns until one of its stop rules holds."""

    players: Callable[[Model, int, int], list[Player]]
    epochs: int
    batch: int | None = None  # none: all rows at once
    frozen: tuple[str, ...] = ()  # layers that are not trained: dropout and batch statistics rest
    monitor: str = "val_loss"
    sign: int = 1  # -1: the monitored value is better when it grows
    patience: int | None = None  # epochs without a better value before the phase ends
    restore_best: bool = True
    until: tuple[tuple[str, str, float], ...] = ()  # ends as soon as one of these holds


PHASES = (
    Phase(make_players, 15, batch=1, monitor="val_loss", restore_best=False, until=(("", "==", 0.0),)),
)


def set_modes(model: Model, phase: Phase) -> None:
    """Training mode, but for the layers that the phase leaves alone."""
    model.train()
    for layer in phase.frozen:
        model.get_submodule(layer).eval()


def over(phase: Phase, seen: dict[str, float]) -> bool:
    """Whether one of the phase's stop rules holds; "" stands for every training loss."""
    tests = {"<": operator.lt, "<=": operator.le, ">=": operator.ge, "==": operator.eq}
    for key, test, value in phase.until:
        found = [seen[name] for name in seen if name == key or (not key and name.startswith("train_"))]
        if found and all(tests[test](one, value) for one in found):
            return True
    return False


def train(
    model: Model,
    data: dict[str, dict[str, Tensor]],
    seed: int,
    epochs: int | None,
    as_json: bool,
) -> None:
    shuffle = torch.Generator().manual_seed(seed)
    n = len(data["train"]["inputs"])
    step = epoch = 0
    for phase in PHASES:
        limit = epochs or phase.epochs
        players = phase.players(model, math.ceil(n / (phase.batch or n)), limit)
        best, kept, waited, turn = math.inf, None, 0, 0
        for _ in range(limit):
            set_modes(model, phase)
            sums: dict[str, tuple[float, float]] = {}  # (sum, weight) by objective
            for batch in batches(data["train"], shuffle, phase.batch):
                values = {}
                for player in players:
                    if turn % player.every == 0:
                        found = take_turn(player, model, batch, turn)
                        values[player.name] = value = found["loss"].item()
                        weight = len(batch["inputs"])
                        total, count = sums.get(player.name, (0.0, 0.0))
                        sums[player.name] = total + weight * value, count + weight
                step, turn = step + 1, turn + 1
                if as_json:
                    print(json.dumps({"step": step, "epoch": epoch, **values}))
            found = evaluate(model, data["validation"])
            record = {f"val_{name}": value for name, value in found.items()}
            report({"epoch": epoch, **record}, as_json)
            epoch += 1
            means = {f"train_{name}": total / count for name, (total, count) in sums.items()}
            seen = {**record, **means}
            value = phase.sign * seen.get(phase.monitor, math.nan)
            if value < best:
                best, waited = value, 0
                if phase.restore_best:
                    kept = {name: value.clone() for name, value in model.state_dict().items()}
            else:
                waited += 1
            if waited == phase.patience or over(phase, seen):
                break
        if kept is not None:
            model.load_state_dict(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description="Perceptrons learn gates")
    parser.add_argument("--epochs", type=int, help="of each phase, in place of the plan's own")
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.set_num_threads(1)  # faster than several for so small a network
    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.device)
    try:
        train(model, data, args.seed, args.epochs, args.json)
    except FloatingPointError as error:
        raise SystemExit(f"{error} A lower learning rate may help.") from None
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
