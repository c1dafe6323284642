"""Karate club

Exported from Neuroloom. Needs torch and numpy only.

    python karate_club.py --data FOLDER --epochs 60

FOLDER holds karate.edges and karate.nodes.csv; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import csv
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
    batch: int = 8
    epochs: int = 60
    learning_rate: float = 0.02


CONFIG = Config()


def edge_columns(names: list[str]) -> list[int]:
    """Which columns, called `names`, are the two ends of an edge: by their names, else the first two left."""
    for source, target in (("source", "target"), ("from", "to"), ("src", "dst")):
        if source in names and target in names:
            return [names.index(source), names.index(target)]
    return [at for at, name in enumerate(names) if name not in ("graph", "weight")][:2]


def evenly(n: int, count: int) -> Tensor:
    """Which `count` of `n` places in a row, spread evenly, as (n,) of yes and no."""
    return (torch.arange(n + 1) * count // max(n, 1)).diff() > 0


def split_by_class(
    n: int, keys: Tensor | None, *, validation: float, test: float, seed: int
) -> dict[str, Tensor]:
    """Every class of `keys` alike in every split, as far as its rows go."""
    assert keys is not None
    shuffle = torch.Generator().manual_seed(seed)
    order = torch.randperm(n, generator=shuffle)
    by_class = order[keys[order].argsort(stable=True)]
    into_test = evenly(n, round(test * n))  # so that each class gives its part
    rest = by_class[~into_test]
    held = evenly(len(rest), round(validation * n))
    parts = {"train": rest[~held], "validation": rest[held], "test": by_class[into_test]}
    return {
        split: rows[torch.randperm(len(rows), generator=shuffle)] for split, rows in parts.items()
    }  # what was sorted by class must not stay so


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(3, 8)
        self.club = nn.Linear(8, 2)

    def forward(self, features: Tensor) -> Tensor:  # (N, 3)
        x = torch.tanh(self.hidden(features))       # (N, 8)
        return self.club(x)                         # (N, 2)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    club = model(batch["features"])
    return {"loss": F.cross_entropy(club, batch["label"])}


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    club = model(batch["features"])
    return {
        "loss": F.cross_entropy(club, batch["label"]),
        "accuracy": (club.argmax(1) == batch["label"]).float().mean(),
    }


def cells_of(path: Path, delimiter: str = ",") -> list[list[str]]:
    """The cells of a table; lines that begin with # or % are left out."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        lines = [line for line in file if line.strip() and line[0] not in "#%"]
    rows = csv.reader(lines, delimiter=delimiter) if delimiter else map(str.split, lines)
    return [[cell.strip() for cell in row] for row in rows]


def graph_in(path: Path) -> tuple[list[tuple[str, str, float, str]], list[dict[str, str]]]:
    """Edges as (source, target, weight, graph), and what a table beside, if any, says of the nodes."""
    names, *rows = cells_of(path, "")
    names = [name.casefold() for name in names]
    one, other = edge_columns(names)
    heavy, whose = (names.index(name) if name in names else -1 for name in ("weight", "graph"))
    edges = []
    for row in rows:
        weight = float(row[heavy]) if 0 <= heavy < len(row) else 1.0
        edges.append((row[one], row[other], weight, row[whose] if whose >= 0 else ""))
    beside = path.with_name(path.name.split(".")[0] + ".nodes.csv")
    head, *nodes = cells_of(beside) if beside.is_file() else [[]]
    return edges, [dict(zip(head, row, strict=True)) for row in nodes]


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: features (N, 3); label (N,)."""
    classes = ("Mr. Hi", "Officer")
    try:
        edges, table = graph_in(folder / "karate.edges")
        names = [(row.get("graph", ""), next(iter(row.values()))) for row in table]
        names += [(graph, end) for a, b, _, graph in edges for end in (a, b)]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        known = torch.tensor([[float(row[name]) for name in ("steps_to_1", "steps_to_34")] for row in table])
        if len(table) != len(numbers):
            raise ValueError("some nodes have no row in the table")
        labels = torch.tensor([classes.index(row["club"]) for row in table])
        ends = torch.tensor([[numbers[graph, a], numbers[graph, b]] for a, b, _, graph in edges]).T
        degree = torch.bincount(ends.flatten(), minlength=len(numbers)).float()
    except (OSError, LookupError, ValueError, csv.Error) as error:
        raise SystemExit(f"What is in {folder} is not as it was: {error}") from error
    nodes = torch.cat([known, degree[:, None]], 1)
    rows = split_by_class(len(numbers), labels, validation=0.2, test=0.2, seed=0)
    if not all(len(at) for at in rows.values()):
        raise SystemExit("There are too few rows for three splits: has the data changed?")
    columns = {"features": nodes, "label": labels}
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in rows.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["features"])
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
        size = len(batch["features"])
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
    parser = argparse.ArgumentParser(description="Karate club")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).parent / "files",
        help="folder that holds karate.edges and karate.nodes.csv",
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
