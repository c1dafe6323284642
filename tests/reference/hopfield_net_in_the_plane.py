"""Hopfield net in the plane

Exported from Neuroloom. Needs torch and numpy only.

    python hopfield_net_in_the_plane.py
    python hopfield_net_in_the_plane.py recall_hebb --weights FILE
    python hopfield_net_in_the_plane.py recall_saturating --weights FILE
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    epochs: int = 1


CONFIG = Config()


def fall(step: Callable[[Tensor], Tensor], start: Tensor, steps: int) -> Iterator[Tensor]:
    """`start` (N, units), then the states that follow it."""
    yield start
    for _ in range(steps):
        start = step(start)
        yield start


def recalled(
    layer: Any, start: Tensor, *, draws: torch.Generator, steps: int, turned: float
) -> Iterator[dict[str, Any]]:
    """States (N, units) from `start`, some of whose signs are turned first, with their energies (N,)."""
    start = start.flatten(1)
    flips = torch.rand(start.shape, generator=draws).to(start.device) < turned
    before = start = torch.where(flips, -start, start)
    for step, state in enumerate(fall(layer.step, start, steps)):
        moved = (state - before).abs().amax(1)
        energy = layer.energy(state).reshape(len(state))
        yield {"step": step, "state": state, "energy": energy, "moved": moved}
        before = state


def state_in_words(state: dict[str, Any]) -> str:
    """A state as a line: large tensors by their sizes and means."""
    words = []
    for name, value in state.items():
        if isinstance(value, Tensor):
            size = "x".join(str(one) for one in value.shape)
            few = "[" + " ".join(f"{one:.4g}" for one in value.flatten().tolist()) + "]"
            value = few if value.numel() <= 12 else f"{size} mean {value.double().mean():.4g}"
        words.append(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}")
    return "  ".join(words)


class Hopfield(nn.Module):
    """Remembers patterns: a start (N, units) falls towards one of them; gives (state, energy (N, 1))."""
    # Source: Hopfield 1982; saturating units: Hopfield 1984.

    def __init__(
        self,
        units: int,
        steps: int = 20,
        design: str = "Hebbian",
        diagonal: bool = False,
        activation: str = "saturating",
        in_turn: bool = False,
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(units, units))
        self.bias = nn.Parameter(torch.zeros(units))
        self.steps, self.design, self.diagonal = steps, design, diagonal
        self.activation, self.in_turn = activation, in_turn

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        for _ in range(self.steps):
            x = self.step(x)
        return x, self.energy(x)

    def step(self, x: Tensor) -> Tensor:
        """One step of every unit. A unit whose sum is 0 keeps its state where units are signs."""
        if not self.in_turn:
            return self.settle(x @ self.weight.T + self.bias, x)
        columns = list(x.unbind(1))
        for unit in range(len(columns)):
            total = torch.stack(columns, 1) @ self.weight[unit] + self.bias[unit]
            columns[unit] = self.settle(total, columns[unit])
        return torch.stack(columns, 1)

    def settle(self, total: Tensor, before: Tensor) -> Tensor:
        if self.activation == "saturating":
            return F.hardtanh(total)
        return torch.where(total == 0, before, torch.sign(total))

    def energy(self, x: Tensor) -> Tensor:
        """-½ xᵀWx - bᵀx + Σ ∫ a⁻¹, (N, 1): the integral is 0 for signs, ½ x² for a line up to its ends."""
        energies = -x * (x @ self.weight.T / 2 + self.bias)
        if self.activation == "saturating":
            energies = energies + torch.where(x.abs() <= 1, x.square() / 2, math.inf)
        return energies.sum(1, keepdim=True)

    def update(self, x: Tensor) -> dict[str, Tensor]:
        """Store the rows of the batch, in place of what was stored; the loss is how far a step moves them."""
        patterns = x.cpu().double()
        bias = torch.zeros(patterns.shape[1], dtype=patterns.dtype)
        if self.design == "Hebbian":
            weight = patterns.T @ patterns
            if not self.diagonal:
                weight -= torch.diag(weight.diagonal())
        elif self.design == "pseudo-inverse":
            weight = torch.linalg.pinv(patterns) @ patterns
        else:
            weight, bias = self.saturating(patterns)
        self.weight.copy_(weight)
        self.bias.copy_(bias)
        return {"loss": F.mse_loss(self.step(x), x), "energy": self.energy(x).mean()}

    def saturating(self, patterns: Tensor, tau: float = 10.0, h: float = 0.15) -> tuple[Tensor, Tensor]:
        """Weight and bias by which the cube's corners at `patterns` attract what is near."""
        last = patterns[-1]
        _, sizes, axes = torch.linalg.svd(patterns[:-1] - last, full_matrices=False)
        axes = axes[sizes > 1e-9 * sizes.max()] if len(sizes) else axes
        inside = axes.T @ axes
        outside = torch.eye(len(last), dtype=last.dtype) - inside
        drive = last - (inside - tau * outside) @ last
        grown, shrunk = math.exp(h), math.exp(-tau * h)
        weight = grown * inside + shrunk * outside
        return weight, ((grown - 1) * inside + (1 - shrunk) / tau * outside) @ drive


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hebb = Hopfield(2, diagonal=True)
        self.saturating = Hopfield(2, steps=40, design="saturating")

    def forward(self, start: Tensor) -> tuple[Tensor, Tensor]:  # (N, 2)
        hebb, _ = self.hebb(start)                              # (N, 2)
        saturating, _ = self.saturating(start)                  # (N, 2)
        return hebb, saturating


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: start (N, 2); stored (N, 2)."""
    patterns = torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    many = patterns.repeat(20, 1)
    draw = torch.Generator().manual_seed(0)
    moved = (many + 0.3 * torch.randn(2, *many.shape, generator=draw)).clamp(-1, 1)
    start = torch.cat([patterns, *moved])
    stored = torch.cat([patterns, many, many])
    sizes = [len(patterns), len(many), len(many)]
    parts = torch.split(torch.arange(len(start)), sizes)
    rows = dict(zip(("train", "validation", "test"), parts, strict=True))
    columns = {"start": start, "stored": stored}
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in rows.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["start"])
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
        size = len(batch["start"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def store_by_hebb(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of Hebb."""
    start = batch["start"]  # (N, 2)
    return model.hebb.update(start)


def store_saturating(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of saturating."""
    start = batch["start"]  # (N, 2)
    return model.saturating.update(start)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    start = batch["start"]                   # (N, 2)
    stored = batch["stored"]                 # (N, 2)
    hebb, _ = model.hebb(start)              # (N, 2)
    saturating, _ = model.saturating(start)  # (N, 2)
    return {
        "hebb_recall": F.mse_loss(hebb, stored),
        "saturating_recall": F.mse_loss(saturating, stored),
    }


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    rules = [("store_by_hebb", store_by_hebb), ("store_saturating", store_saturating)]
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


def command_line(description: str | None) -> argparse.ArgumentParser:
    """What training and procedures are both told."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def main() -> None:
    parser = command_line("Hopfield net in the plane")
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


@torch.no_grad()
def recall_hebb(
    model: Model, batch: dict[str, Tensor], draws: torch.Generator, **options: Any
) -> Iterator[dict[str, Any]]:
    """Lets the state of an associative memory fall from each example towards a stored pattern."""
    start = batch["start"]  # (N, 2)
    yield from recalled(model.hebb, start, draws=draws, **options)


@torch.no_grad()
def recall_saturating(
    model: Model, batch: dict[str, Tensor], draws: torch.Generator, **options: Any
) -> Iterator[dict[str, Any]]:
    """Lets the state of an associative memory fall from each example towards a stored pattern."""
    start = batch["start"]  # (N, 2)
    yield from recalled(model.saturating, start, draws=draws, **options)


def run(name: str) -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    procedure = {"recall_hebb": recall_hebb, "recall_saturating": recall_saturating}[name]
    parser = command_line(procedure.__doc__)
    parser.prog += f" {name}"
    parser.add_argument("--weights", type=Path, required=True, help="as --save writes them")
    parser.add_argument("--split", default="validation", choices=["train", "validation", "test"])
    parser.add_argument("--rows", type=int, nargs="+", default=[0], help="of the split, from 0")
    parser.add_argument("--steps", type=int, default=20, help="how often the state is renewed")
    parser.add_argument(
        "--turned",
        type=float,
        default=0.0,
        help="fraction of the units whose sign is turned round at the start",
    )
    args = parser.parse_args(sys.argv[2:])

    try:
        model = Model().to(args.device).eval()
        model.load_state_dict(torch.load(args.weights, map_location="cpu", weights_only=True))
        columns = load(args.device)[args.split]
        batch = {name: column[args.rows] for name, column in columns.items()}
        torch.manual_seed(args.seed)
        draws = torch.Generator().manual_seed(args.seed)
        for state in procedure(model, batch, draws, steps=args.steps, turned=args.turned):
            told = json.dumps(state, default=Tensor.tolist) if args.json else state_in_words(state)
            print(told, flush=True)
    except KeyboardInterrupt:
        parser.exit(130, f"{parser.prog}: stopped\n")
    except (OSError, ValueError, IndexError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in ("recall_hebb", "recall_saturating"):
        run(sys.argv[1])
    else:
        main()
