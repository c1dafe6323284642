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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 32
    epochs: int = 120
    learning_rate: float = 0.01


CONFIG = Config()


def edge_columns(names: list[str]) -> list[int]:
    """Which columns, called `names`, are the two ends of an edge: by their names, else the first two left."""
    for source, target in (("source", "target"), ("from", "to"), ("src", "dst")):
        if source in names and target in names:
            return [names.index(source), names.index(target)]
    return [at for at, name in enumerate(names) if name not in ("graph", "weight")][:2]


class Lazy:
    """Rows of a file as (N, *size) of `dtype`; `picked` are their numbers in the file, all by default."""

    ragged = False

    def __init__(
        self, count: int, size: tuple[int, ...], dtype: torch.dtype, device: str, picked: Tensor | None = None
    ) -> None:
        self.picked = torch.arange(count) if picked is None else picked
        self.dtype = dtype
        self.device = torch.device(device)
        self.shape = torch.Size((len(self.picked), *size))

    def read(self, rows: Tensor) -> Tensor:
        """Rows of the file by number (int64, on the CPU) as (len(rows), *size) of `dtype`, on the CPU."""
        raise NotImplementedError

    def at(self, rows: Tensor) -> Lazy:
        """These rows of the column, as a column."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.picked = self.picked[rows.cpu()]
        other.shape = torch.Size((len(other.picked), *self.shape[1:]))
        return other

    def __len__(self) -> int:
        return len(self.picked)

    def __getitem__(self, rows: Any) -> Tensor:
        """One row by number, or several by a slice or a tensor of numbers."""
        if isinstance(rows, int):
            found = self[torch.tensor([range(len(self))[rows]])]
            return found if self.ragged else found[0]
        asked = self.picked[rows.cpu() if isinstance(rows, Tensor) else rows]
        return self.read(asked).to(self.device)

    def index_select(self, dim: int, rows: Tensor) -> Tensor:
        """Rows by number, as of a tensor; `dim` is 0."""
        return self[rows]

    def numel(self) -> int:
        return self.shape.numel()

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point


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


class Fitted:
    """What was found in the training rows: `change` changes rows (n, ...), `undo` gives back what they
    were."""

    def __init__(
        self, change: Callable[[Tensor], Tensor], undo: Callable[[Tensor], Tensor], each: bool = True
    ) -> None:
        self.change, self.undo, self.each = change, undo, each


def training_rows(splits: dict[str, dict[str, Any]]) -> Iterator[Tensor]:
    """The training rows of a column, float64, a few thousand at a time, so that any amount can be fitted."""
    values = splits["train"]["nodes"]
    for first in range(0, len(values), 4096):
        yield values[first : first + 4096].double().cpu()


def moments(splits: dict[str, dict[str, Any]], axes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation (population) of the training rows over `axes`, sizes kept as 1."""
    n, total, squares = 0, torch.tensor(0.0), torch.tensor(0.0)
    mean = None
    for values in training_rows(splits):
        if mean is None:  # the first rows' mean is near enough to keep the sums of squares exact
            mean = values.mean(axes, keepdim=True)
        n += values.numel() // mean.numel()
        total = total + (values - mean).sum(axes, keepdim=True)
        squares = squares + (values - mean).square().sum(axes, keepdim=True)
    assert mean is not None
    shift = total / n
    return mean + shift, (squares / n - shift.square()).clamp(min=0).sqrt()


class Changed(Lazy):
    """A lazy column whose rows are changed as they are read; `change` keeps (rows, ...) as it is or not."""

    def __init__(self, column: Lazy, change: Callable[[Tensor], Tensor], size: tuple[int, ...]) -> None:
        super().__init__(len(column), size, torch.float32, str(column.device))
        self.column, self.change, self.ragged = column, change, column.ragged

    def read(self, rows: Tensor) -> Tensor:
        return self.change(self.column[rows].cpu())


def change_all(splits: dict[str, dict[str, Any]], found: Fitted) -> Fitted:
    """Add `into`, the values of `column` as `found` changes them, to every split."""
    change = found.change
    for columns in splits.values():
        values = columns["nodes"]
        if isinstance(values, Lazy):
            size = tuple(change(values[:1].cpu()).shape[1:])
            columns["scaled"] = Changed(values, change, size)
        else:
            columns["scaled"] = change(values)
    return found


def standardise(splits: dict[str, dict[str, Any]]) -> Fitted:
    """Standard deviations from the mean; what never varies becomes 0."""
    mean, deviation = moments(splits, (0,))
    scale = torch.where(deviation > 1e-12, deviation, 1.0)

    def change(x: Tensor) -> Tensor:
        return ((x - mean.to(x.device)) / scale.to(x.device)).float()

    def undo(y: Tensor) -> Tensor:
        return (y * scale.to(y.device) + mean.to(y.device)).float()

    return change_all(splits, Fitted(change, undo))


def neighbour_sums(nodes: Tensor, edges: Tensor, weights: Tensor | None = None) -> Tensor:
    """What comes along the edges into each node, times their weights (e,), added up: (n, F)."""
    arriving = nodes[edges[:, 0]]
    if weights is not None:
        arriving = arriving * weights[:, None]
    return arriving.new_zeros(nodes.shape).index_add(0, edges[:, 1], arriving)


def convolved(nodes: Tensor, edges: Tensor, weights: Tensor | None = None) -> Tensor:
    """Each node and what comes into it, added up as if each led to itself as well."""
    weights = nodes.new_ones(len(edges)) if weights is None else weights
    source, target = edges.unbind(1)
    degree = weights.new_ones(len(nodes)).index_add(0, target, weights.abs())
    weights = weights * (degree[source] * degree[target]).rsqrt()
    return nodes / degree[:, None] + neighbour_sums(nodes, edges, weights)


def graph_of_node(nodes: Tensor, sizes: Tensor) -> Tensor:
    """The number of the graph that each node belongs to, (n,)."""
    return torch.arange(len(sizes), device=sizes.device).repeat_interleave(sizes, output_size=len(nodes))


def graph_sums(nodes: Tensor, sizes: Tensor) -> Tensor:
    """The sum of the nodes of each graph, (B, F)."""
    return nodes.new_zeros(len(sizes), nodes.shape[1]).index_add(0, graph_of_node(nodes, sizes), nodes)


def graph_means(nodes: Tensor, sizes: Tensor) -> Tensor:
    """The mean of the nodes of each graph, (B, F)."""
    return graph_sums(nodes, sizes) / sizes.clamp(min=1)[:, None]


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
    standardise(splits)
    used = ("sizes", "label", "edges", "scaled")
    return {split: {name: columns[name] for name in used} for split, columns in splits.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["sizes"])
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
        size = len(batch["sizes"])
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
    parser = argparse.ArgumentParser(description="Kinds of graphs")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).parent / "files",
        help="folder that holds gatherings.edges, gatherings.nodes.csv and gatherings.graphs.csv",
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
