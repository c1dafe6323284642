"""Points drawn by hand

Exported from Neuroloom. Needs torch and numpy only.

    python points_drawn_by_hand.py --epochs 150
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
    batch: int = 16
    epochs: int = 150
    learning_rate: float = 0.02


CONFIG = Config()


def split_as_drawn(
    n: int, keys: Tensor | None, *, validation: float, test: float, seed: int
) -> dict[str, Tensor]:
    """Every class of `keys` alike in every split; a point stays in its split while others are added."""
    classes = torch.zeros(n, dtype=torch.int64) if keys is None else keys
    place = torch.zeros(n, dtype=torch.float64)
    for one in sorted(set(classes.tolist())):
        at = classes == one
        turn = torch.arange(1, int(at.sum()) + 1, dtype=torch.float64)
        place[at] = (turn * 0.6180339887498949 + one * 0.5698402909980532 + seed * 0.7548776662466927) % 1
    rows = torch.arange(n)
    return {
        "train": rows[place >= test + validation],
        "validation": rows[(place >= test) & (place < test + validation)],
        "test": rows[place < test],
    }


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(2, 12)
        self.scores = nn.Linear(12, 2)

    def forward(self, point: Tensor) -> Tensor:  # (N, 2)
        x = torch.tanh(self.hidden(point))       # (N, 12)
        return self.scores(x)                    # (N, 2)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    scores = model(batch["point"])
    return {"loss": F.cross_entropy(scores, batch["label"])}


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    scores = model(batch["point"])
    return {
        "loss": F.cross_entropy(scores, batch["label"]),
        "accuracy": (scores.argmax(1) == batch["label"]).float().mean(),
    }


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: point (N, 2); label (N,)."""
    lines = (
        "0.557 0.574 0, 0.476 0.556 0, 0.698 0.566 0, 0.8 0.358 0, 0.561 0.387 0, 0.425 0.471 0",
        "0.585 0.567 0, 0.631 0.857 0, 0.688 0.245 0, 0.583 0.4 0, 0.467 0.709 0, 0.514 0.188 0",
        "0.6 0.453 0, 0.362 0.353 0, 0.45 0.496 0, 0.482 0.511 0, 0.844 0.372 0, 0.421 0.46 0",
        "0.725 0.387 0, 0.779 0.291 0, 0.385 0.491 0, 0.412 0.401 0, 0.622 0.616 0, 0.568 0.456 0",
        "-0.335 0.564 1, -0.588 0.694 1, -0.694 0.526 1, -0.444 0.498 1, -0.642 0.556 1",
        "-0.637 0.405 1, -0.714 0.709 1, -0.638 0.685 1, -0.489 0.458 1, -0.443 0.544 1",
        "-0.529 0.28 1, -0.539 0.643 1, -0.472 0.659 1, -0.312 0.566 1, -0.234 0.258 1",
        "-0.588 0.096 1, -0.419 0.515 1, -0.28 0.441 1, -0.874 0.705 1, -0.765 0.297 1, -0.578 0.6 1",
        "-0.631 0.53 1, -0.851 0.777 1, -0.561 0.519 1, -0.406 -0.523 0, -0.468 -0.698 0",
        "-0.518 -0.48 0, -0.333 -0.569 0, -0.485 -0.496 0, -0.409 -0.517 0, -0.54 -0.632 0",
        "-0.32 -0.503 0, -0.497 0.006 0, -0.359 -0.414 0, -0.476 -0.712 0, -0.318 -0.564 0",
        "-0.492 -0.386 0, -0.337 -0.512 0, -0.497 -0.214 0, -0.408 -0.714 0, -0.38 -0.526 0",
        "-0.495 -0.441 0, -0.462 -0.229 0, -0.467 -0.51 0, -0.314 -0.64 0, -0.338 -0.56 0",
        "-0.311 -0.686 0, -0.433 -0.806 0, 0.429 -0.497 1, 0.579 -0.184 1, 0.794 -0.714 1",
        "0.379 -0.3 1, 0.57 -0.718 1, 0.578 -0.68 1, 0.363 -0.701 1, 0.458 -0.14 1, 0.561 -0.517 1",
        "0.902 -0.574 1, 0.476 -0.542 1, 0.567 -0.55 1, 0.733 -0.547 1, 0.59 -0.464 1",
        "0.363 -0.656 1, 0.492 -0.866 1, 0.503 -0.487 1, 0.523 -0.512 1, 0.557 -0.556 1",
        "0.603 -0.76 1, 0.646 -0.64 1, 0.578 -0.574 1, 0.432 -0.626 1, 0.714 -0.673 1",
    )
    written = [point.split() for line in lines for point in line.split(",")]
    table = torch.tensor([[float(word) for word in point] for point in written], dtype=torch.float64)
    points = table[:, :2].float()
    labels = table[:, 2].long()
    rows = split_as_drawn(len(points), labels, validation=0.2, test=0.2, seed=0)
    if not all(len(at) for at in rows.values()):
        raise SystemExit("There are too few rows for three splits: has the data changed?")
    columns = {"point": points, "label": labels}
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in rows.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["point"])
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
        size = len(batch["point"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


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
    parser = argparse.ArgumentParser(description="Points drawn by hand")
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
