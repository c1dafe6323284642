"""Kinds of graphs

Exported from Neuroloom. Needs torch and numpy only.

    python kinds_of_graphs.py --data FOLDER --epochs 120

FOLDER holds gatherings.edges, gatherings.nodes.csv and gatherings.graphs.csv; --data names another than the
usual.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 32, 120


# engine.data.graphs.files.edge_columns, 6 lines, 79b5db14163b


# engine.data.lazy.Lazy, 52 lines, dab65619d41c


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


def cells_of(path: Path, delimiter: str = ",") -> list[list[str]]:
    """The cells of a table; lines that begin with # or % are left out."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        lines = [line for line in file if line.strip() and line[0] not in "#%"]
    rows = csv.reader(lines, delimiter=delimiter) if delimiter else map(str.split, lines)
    return [[cell.strip() for cell in row] for row in rows]


def graph_in(path: Path) -> tuple[list[tuple[str, str, float, str]], list[dict[str, str]]]:
    """Edges as (source, target, weight, graph), and what a table beside, if any, says of the nodes."""
    names, *rows = cells_of(path, ",")
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


class RowsOfExamples(Lazy):
    """The rows of each example, of which a batch has all, one example's after the other's.

    Where they are places among the nodes of an example, which has `sizes` of them, they count on.
    """

    ragged = True

    def __init__(self, parts: Sequence[Tensor], device: str, sizes: Tensor | None = None) -> None:
        super().__init__(len(parts), tuple(parts[0].shape[1:]), parts[0].dtype, device)
        self.parts, self.sizes = parts, sizes

    def read(self, rows: Tensor) -> Tensor:
        found = [self.parts[row] for row in rows.tolist()]
        if self.sizes is not None:
            before = self.sizes[rows].cumsum(0) - self.sizes[rows]
            found = [part + start for part, start in zip(found, before, strict=True)]
        return torch.cat(found)


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test.

    sizes (N,); label (N,); edges (edges, 2); scaled (nodes, 2).
    """
    classes = ("alike", "anyone", "unlike")
    try:
        edges, table = graph_in(folder / "gatherings.edges")
        names = [(row.get("graph", ""), next(iter(row.values()))) for row in table]
        names += [(graph, end) for a, b, _, graph in edges for end in (a, b)]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        known = torch.tensor([[float(row[name]) for name in ("red",)] for row in table])
        if len(table) != len(numbers):
            raise ValueError("some nodes have no row in the table")
        graphs = list(dict.fromkeys(graph for graph, _ in numbers))
        head, *said_rows = cells_of(folder / "gatherings.graphs.csv")
        said = {row["graph"]: row for row in (dict(zip(head, row, strict=True)) for row in said_rows)}
        labels = torch.tensor([classes.index(said[graph]["label"]) for graph in graphs])
        ends = torch.tensor([[numbers[graph, a], numbers[graph, b]] for a, b, _, graph in edges]).T
        degree = torch.bincount(ends.flatten(), minlength=len(numbers)).float()
    except (OSError, LookupError, ValueError, csv.Error) as error:
        raise SystemExit(f"What is in {folder} is not as it was: {error}") from error
    nodes = torch.cat([known, degree[:, None]], 1)
    at_graph = {graph: number for number, graph in enumerate(graphs)}
    whose = torch.tensor([at_graph[graph] for graph, _ in numbers])
    sizes = torch.bincount(whose)
    order = whose.argsort(stable=True)
    place = torch.empty_like(whose)
    place[order] = torch.arange(len(whose)) - (sizes.cumsum(0) - sizes)[whose[order]]
    back = ends[0] != ends[1]  # edges lead both ways, but a loop is one
    ends = torch.cat([ends, ends[:, back].flip(0)], 1)
    by_graph = whose[ends[0]].argsort(stable=True)
    counts = torch.bincount(whose[ends[0]], minlength=len(graphs)).tolist()
    rows_of_nodes = RowsOfExamples(nodes[order].split(sizes.tolist()), device)
    rows_of_edges = RowsOfExamples(place[ends].T[by_graph].split(counts), device, sizes)
    rows = split_by_class(len(graphs), labels, validation=0.2, test=0.2, seed=0)
    if not all(len(at) for at in rows.values()):
        raise SystemExit("There are too few rows for three splits: has the data changed?")
    parts: dict[str, dict[str, Any]] = {}
    for split, at in rows.items():
        parts[split] = {
            "sizes": sizes[at].to(device),
            "label": labels[at].to(device),
            "nodes": rows_of_nodes.at(at),
            "edges": rows_of_edges.at(at),
        }
    splits = parts
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
