"""Kinds of graphs

Exported from Neuroloom. Needs torch and numpy only.

    python kinds_of_graphs.py --data FOLDER --epochs 120

FOLDER holds gatherings.edges, gatherings.nodes.csv and gatherings.graphs.csv; --data names another than the
usual.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 32, 120


# engine.data.file_there.file_there, 21 lines, e806fb3e922a


# engine.data.graphs.files.numbered, 8 lines, a6a2b5c563a9


# engine.data.graphs.files.node_features, 15 lines, 83fc854dd4f8


# engine.data.graphs.files.graph_tensors, 16 lines, 17d18b1c7bc0


# engine.data.graphs.files.read_graph, 19 lines, d1ece5990339


# engine.data.graphs.files.names_of_graphs, 3 lines, 2d5bb6054432


# engine.data.lazy.Lazy, 52 lines, dab65619d41c


# engine.data.graphs.batches.Packed, 39 lines, f112c1e71a4a


# engine.data.graphs.batches.packed_graphs, 31 lines, 75e3276c6956


# engine.data.graphs.files.read_rows, 20 lines, 00fcf752c8e6


# engine.data.graphs.files.read_table, 9 lines, 726e28010cc5


# engine.data.graphs.files.rows_of_graphs, 5 lines, 29e2ab7abc26


# engine.data.graphs.files.class_numbers, 10 lines, cd60ce16e327


# engine.data.graphs.files.graph_labels, 4 lines, c127af2ecb35


# engine.data.graphs.files.given_splits, 5 lines, 0f7985bf7c4e


# engine.data.splits.split_rows, 23 lines, bbdcf948008a


# engine.data.splits.split_columns, 18 lines, f1edd3ce763d


# engine.data.graphs.batches.load_graph_batches, 32 lines, 5cd38988de72


# engine.data.graphs.files.edge_columns, 6 lines, 79b5db14163b


# engine.data.graphs.files.read_edge_list, 26 lines, 978fff87fd04


# engine.data.splits.evenly, 3 lines, 599b8f7d4329


# engine.data.splits.split_by_class, 15 lines, 0ce19985f978


# engine.data.fitted.Fitted, 10 lines, e6db4f938685


# engine.data.fitted.training_rows, 5 lines, c2f26e2bbeec


# engine.data.fitted.moments, 13 lines, e2cc83e58de1


# engine.data.fitted.axes_of, 7 lines, fd7990817e79


# engine.data.fitted.Changed, 9 lines, f172c78ca3c8


# engine.data.fitted.change_all, 11 lines, 0b5d36bdca4e


# engine.data.fitted.standardise, 14 lines, 7f5056510935


# engine.layers.graph_layers.neighbour_sums, 6 lines, 019f2eeb1284


# engine.layers.graph_layers.convolved, 16 lines, c019d55a81e0


# engine.layers.graph_layers.graph_of_node, 3 lines, 7fc60a9ba00c


# engine.layers.graph_layers.graph_sums, 3 lines, 37e5fecfcdc0


# engine.layers.graph_layers.graph_means, 3 lines, be9cf7883427


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.neighbours = nn.Linear(2, 32)
        self.their_neighbours = nn.Linear(32, 32)
        self.kind = nn.Linear(32, 3)

    def forward(self, sizes: Tensor, edges: Tensor, scaled: Tensor) -> Tensor:  # (N,), (edges, 2), (nodes, 2)
        x = F.relu(self.neighbours(convolved(scaled, edges)))   # (nodes, 32)
        x = F.relu(self.their_neighbours(convolved(x, edges)))  # (nodes, 32)
        x = graph_means(x, sizes)                               # (N, 32)
        return self.kind(x)                                     # (N, 3)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    kind = model(batch["sizes"], batch["edges"], batch["scaled"])
    return {"loss": F.cross_entropy(kind, batch["label"])}


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    kind = model(batch["sizes"], batch["edges"], batch["scaled"])
    return {
        "loss": F.cross_entropy(kind, batch["label"]),
        "accuracy": (kind.argmax(1) == batch["label"]).float().mean(),
    }


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test.

    sizes (N,); label (N,); edges (edges, 2); scaled (nodes, 2).
    """
    splits = load_graph_batches(
        folder,
        device,
        file="gatherings.edges",
        features=("red",),
        classes=("alike", "anyone", "unlike"),
        directed=False,
        read=read_edge_list,
        delimiter=",",
        header=True,
        by="class",
        splitter=split_by_class,
        validation=0.2,
        test=0.2,
        seed=0,
    )
    standardise(splits, "nodes", "scaled", over="each number")
    used = ("sizes", "label", "edges", "scaled")
    return {split: {name: columns[name] for name in used} for split, columns in splits.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["sizes"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(BATCH):
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}


@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over a split, with dropout off."""
    model.eval()
    n = 0
    sums: dict[str, float] = {}
    for batch in batches(split):
        size = len(batch["sizes"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.01)


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
    parser = argparse.ArgumentParser(description="Kinds of graphs")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).parent / "files",
        help="folder that holds gatherings.edges, gatherings.nodes.csv and gatherings.graphs.csv",
    )
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=SEED)
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
