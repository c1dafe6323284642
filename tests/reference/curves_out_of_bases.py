"""Curves out of bases

Exported from Neuroloom. Needs torch and numpy only.

    python curves_out_of_bases.py
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
    epochs: int = 1


CONFIG = Config()


def stratified_holdout(labels: Tensor, fraction: float, shuffle: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows as (kept, held): a random `fraction` is held back, in every class alike."""
    n = len(labels)
    order = torch.randperm(n, generator=shuffle)
    by_class = labels[order].argsort(stable=True)
    held = torch.zeros(n, dtype=torch.bool)
    # so that each class gives its part
    held[by_class] = (torch.arange(n + 1) * round(fraction * n) // max(n, 1)).diff() > 0
    return order[~held], order[held]


def stratified_split(labels: Tensor, validation: float, test: float, seed: int) -> dict[str, Tensor]:
    """Rows of each split; the fractions are of all rows, in every class alike."""
    shuffle = torch.Generator().manual_seed(seed)
    rest, tested = stratified_holdout(labels, test, shuffle)
    kept, held = stratified_holdout(labels[rest], validation / (1 - test), shuffle)
    return {"train": rest[kept], "validation": rest[held], "test": tested}


class LeastSquares(nn.Module):
    """A linear layer whose weights minimise |A w - y|² + λ |w|² on centred data, the bias unpunished."""
    # Source: Bishop 2006, §3.1.

    def __init__(self, inputs: int, outputs: int, ridge: float = 0.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.ridge = ridge

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)

    def fit(self, x: Tensor, target: Tensor) -> dict[str, Tensor]:
        """Fit all rows, whatever was known before. The loss is the mean squared error after."""
        rows, wanted = (part.reshape(len(x), -1).cpu().double() for part in (x, target))
        middle, level = rows.mean(0), wanted.mean(0)
        rows, wanted = rows - middle, wanted - level
        if self.ridge:  # as rows more, which ask each weight to be 0
            held = self.ridge**0.5 * torch.eye(rows.shape[1], dtype=rows.dtype)
            rows, wanted = (
                torch.cat([rows, held]),
                torch.cat([wanted, wanted.new_zeros(len(held), len(level))]),
            )
        weight = torch.linalg.lstsq(rows, wanted).solution.T
        self.weight.copy_(weight)
        self.bias.copy_(level - weight @ middle)
        return {"loss": F.mse_loss(self(x), target.reshape(len(x), -1).to(x))}


class Polynomial(nn.Module):
    """All products of 1 to `degree` features, (N, ..., F) to (N, ..., products), those of few first."""

    def __init__(self, features: int, degree: int, interactions: bool = True) -> None:
        super().__init__()
        self.names: list[str] = []
        single = torch.arange(features, device="cpu")
        for power in range(1, degree + 1):
            if interactions:
                chosen = torch.combinations(single, power, with_replacement=True)
            else:
                chosen = single[:, None].expand(-1, power)
            self.names.append(f"factors_{power}")
            self.register_buffer(self.names[-1], chosen.reshape(-1, power), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x[..., getattr(self, name)].prod(-1) for name in self.names], -1)


def splines(x: Tensor, intervals: int, degree: int, low: float, high: float) -> Tensor:
    """The B-splines of `degree` over even knots: (N, ..., F) to (N, ..., F · (intervals + degree))."""
    # Source: de Boor, 1972 (the recursion of Cox and de Boor).
    apart = (high - low) / intervals
    knots = low + apart * torch.arange(-degree, intervals + degree + 1, device=x.device)
    x = x[..., None]
    found = ((x >= knots[:-1]) & (x < knots[1:])).to(x.dtype)
    for k in range(1, degree + 1):
        rising = (x - knots[: -k - 1]) / (k * apart) * found[..., :-1]
        falling = (knots[k + 1 :] - x) / (k * apart) * found[..., 1:]
        found = rising + falling
    return found.flatten(-2)


def waves(x: Tensor, count: int, period: float) -> Tensor:
    """sin and cos of 2π k x / period for k = 1 to `count`: (N, ..., F) to (N, ..., F · 2 count)."""
    # Source: Rahimi and Recht, 2007; Mildenhall and others, 2020.
    k = torch.arange(count, device=x.device)
    k = 1.0 + k
    angle = (2 * math.pi / period) * x[..., None] * k
    return torch.cat((torch.sin(angle), torch.cos(angle)), -1).flatten(-2)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.powers = Polynomial(1, 9)
        self.line = LeastSquares(1, 1)
        self.of_powers = LeastSquares(9, 1)
        self.of_sines = LeastSquares(8, 1)
        self.of_splines = LeastSquares(10, 1, ridge=0.0001)

    def forward(self, x_: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # (N, 1)
        powers = self.powers(x_)                  # (N, 9)
        sines = waves(x_, 4, 4.0)                 # (N, 8)
        splines_2 = splines(x_, 7, 3, -1.0, 1.0)  # (N, 10)
        line = self.line(x_)                      # (N, 1)
        of_powers = self.of_powers(powers)        # (N, 1)
        of_sines = self.of_sines(sines)           # (N, 1)
        of_splines = self.of_splines(splines_2)   # (N, 1)
        return line, of_powers, of_sines, of_splines


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: x (N, 1); y (N, 1)."""
    rows, seed = 150, 0
    draw = torch.Generator().manual_seed(seed)
    drawn = torch.randn(rows, 1, generator=draw)
    x = torch.linspace(-1, 1, rows)[:, None]
    clean = torch.sin(math.pi * x)
    strength = torch.ones_like(x)
    deviation = 0.2 * strength
    columns = {"x": x, "y": clean + deviation * drawn}
    parts = stratified_split(torch.zeros(rows), validation=0.2, test=0.2, seed=seed)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["x"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(n):
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}


@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over a split, with dropout off."""
    model.eval()
    n = 0
    sums: dict[str, float] = {}
    for batch in batches(split):
        size = len(batch["x"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def line_rule(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of line."""
    x_ = batch["x"]  # (N, 1)
    y = batch["y"]   # (N, 1)
    return model.line.fit(x_, y)


def of_powers_rule(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of of powers."""
    x_ = batch["x"]            # (N, 1)
    y = batch["y"]             # (N, 1)
    powers = model.powers(x_)  # (N, 9)
    return model.of_powers.fit(powers, y)


def of_sines_rule(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of of sines."""
    x_ = batch["x"]            # (N, 1)
    y = batch["y"]             # (N, 1)
    sines = waves(x_, 4, 4.0)  # (N, 8)
    return model.of_sines.fit(sines, y)


def of_splines_rule(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of of splines."""
    x_ = batch["x"]                                # (N, 1)
    y = batch["y"]                                 # (N, 1)
    splines_output = splines(x_, 7, 3, -1.0, 1.0)  # (N, 10)
    return model.of_splines.fit(splines_output, y)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    x_ = batch["x"]                                # (N, 1)
    y = batch["y"]                                 # (N, 1)
    powers = model.powers(x_)                      # (N, 9)
    sines = waves(x_, 4, 4.0)                      # (N, 8)
    splines_output = splines(x_, 7, 3, -1.0, 1.0)  # (N, 10)
    line = model.line(x_)                          # (N, 1)
    of_powers = model.of_powers(powers)            # (N, 1)
    of_sines = model.of_sines(sines)               # (N, 1)
    of_splines = model.of_splines(splines_output)  # (N, 1)
    return {
        "line_error": F.mse_loss(line, y),
        "powers_error": F.mse_loss(of_powers, y),
        "sines_error": F.mse_loss(of_sines, y),
        "splines_error": F.mse_loss(of_splines, y),
    }


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    rules = [
        ("line_rule", line_rule),
        ("of_powers_rule", of_powers_rule),
        ("of_sines_rule", of_sines_rule),
        ("of_splines_rule", of_splines_rule),
    ]
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle):
            with torch.no_grad():
                values = {name: update(model, batch)["loss"].item() for name, update in rules}
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, **values}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(description="Curves out of bases")
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
