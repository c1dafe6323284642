"""The delta rule by hand

Exported from Neuroloom. Needs torch and numpy only.

    python the_delta_rule_by_hand.py
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    epochs: int = 20


CONFIG = Config()


class DeltaRule(nn.Module):
    """A net with one layer or two that learns by the delta rule, every product written out."""
    # Source: Widrow and Hoff 1960; Rumelhart, Hinton and Williams 1986.

    def __init__(
        self,
        inputs: int,
        hidden: int,
        outputs: int,
        lr: float = 0.1,
        output: str = "linear",
        slope: str = "its own",
        online: bool = False,
        start: tuple[float, ...] = (),
    ) -> None:
        super().__init__()
        sizes = (inputs, hidden, outputs) if hidden else (inputs, outputs)
        shapes = [(sizes[n + 1], sizes[n] + 1) for n in range(len(sizes) - 1)]
        if start:
            numbers = torch.split(torch.tensor(start), [rows * columns for rows, columns in shapes])
            drawn = [part.reshape(shape) for part, shape in zip(numbers, shapes, strict=True)]
        else:
            drawn = [torch.empty(shape).uniform_(-1, 1) / shape[1] ** 0.5 for shape in shapes]
        self.weights = nn.ParameterList([nn.Parameter(weight) for weight in drawn])
        self.lr, self.online = lr, online
        self.bends = output == "sigmoid"  # whether the output is a sigmoid
        self.bent_slope = self.bends or slope == "sigmoid's"

    def forward(self, x: Tensor) -> Tensor:
        return self.signals(x)[1][-1]

    def signals(self, x: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """The input of each layer with a one in front, and the output of each."""
        given, made = [], []
        for number, weight in enumerate(self.weights, start=1):
            given.append(torch.cat([torch.ones_like(x[:, :1]), x], 1))
            x = given[-1] @ weight.T
            if number < len(self.weights) or self.bends:
                x = torch.sigmoid(x)
            made.append(x)
        return given, made

    def deltas(self, x: Tensor, target: Tensor) -> list[Tensor]:
        """The delta of each layer, (N, units): how the loss ½ Σ (y - target)² of a row grows with sums."""
        _, made = self.signals(x)
        bent = made[-1] if self.bends else torch.sigmoid(made[-1])
        delta = (made[-1] - target) * (bent * (1 - bent) if self.bent_slope else 1)
        found = [delta]
        for number in range(len(self.weights) - 1, 0, -1):
            hidden = made[number - 1]
            found.insert(0, (found[0] @ self.weights[number][:, 1:]) * hidden * (1 - hidden))
        return found

    def update(self, x: Tensor, target: Tensor) -> dict[str, Tensor]:
        """Change the weights by -lr times the mean of delta · input, over the batch or a row at a time."""
        target = target.reshape(len(x), -1).to(x)
        rows = 1 if self.online else len(x)
        losses = []
        for part, wanted in zip(torch.split(x, rows), torch.split(target, rows), strict=True):
            given, made = self.signals(part)
            losses.append((made[-1] - wanted).square().sum(1) / 2)
            for weight, delta, before in zip(self.weights, self.deltas(part, wanted), given, strict=True):
                weight -= self.lr / len(part) * delta.T @ before
        return {"loss": torch.cat(losses).mean()}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gradient = DeltaRule(2, 2, 1, lr=1.0, start=(0.4, 0.2, -1.2, 0.7, -0.7, -0.7, 0.4, -0.5, 2.3))
        self.as_printed = DeltaRule(
            2, 2, 1, lr=1.0, slope="sigmoid's", start=(0.4, 0.2, -1.2, 0.7, -0.7, -0.7, 0.4, -0.5, 2.3)
        )

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:  # (N, 2)
        gradient = self.gradient(inputs)                         # (N, 1)
        as_printed = self.as_printed(inputs)                     # (N, 1)
        return gradient, as_printed


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: inputs (N, 2); target (N, 1)."""
    inputs = torch.tensor([[1.0, 1.0], [0.0, -2.0], [-1.0, 1.0]])
    columns = {"inputs": inputs, "target": torch.tensor([[-1.0], [1.0], [1.0]])}
    rows = torch.arange(3)
    parts = dict.fromkeys(("train", "validation", "test"), rows)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["inputs"])
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
        size = len(batch["inputs"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def gradient(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of gradient."""
    inputs = batch["inputs"]  # (N, 2)
    target = batch["target"]  # (N, 1)
    return model.gradient.update(inputs, target)


def printed(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of as printed."""
    inputs = batch["inputs"]  # (N, 2)
    target = batch["target"]  # (N, 1)
    return model.as_printed.update(inputs, target)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    inputs = batch["inputs"]                  # (N, 2)
    target = batch["target"]                  # (N, 1)
    gradient_output = model.gradient(inputs)  # (N, 1)
    as_printed = model.as_printed(inputs)     # (N, 1)
    return {
        "gradient_error": F.mse_loss(gradient_output, target),
        "printed_error": F.mse_loss(as_printed, target),
    }


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    rules = [("gradient", gradient), ("printed", printed)]
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
    parser = argparse.ArgumentParser(description="The delta rule by hand")
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
