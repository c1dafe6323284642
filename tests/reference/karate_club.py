"""Karate club

Exported from Neuroloom. Needs torch and numpy only.

    python karate_club.py --data FOLDER --epochs 60

FOLDER holds karate.edges; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 8, 60


def numbered(
    edges: list[tuple[str, str, float, str]], nodes: list[dict[str, str]]
) -> dict[tuple[str, str], int]:
    """A number for each node, by graph and name: those of the table first, then as edges name them."""
    key = next(iter(nodes[0])) if nodes else ""
    names = [(row.get("graph", ""), row[key]) for row in nodes]
    names += [(graph, end) for first, second, _, graph in edges for end in (first, second)]
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def node_features(nodes: list[dict[str, str]], features: tuple[str, ...], count: int, file: str) -> Tensor:
    """Columns of the table of nodes as (count, F). Errors: `ValueError` with the row of what is no number."""
    found = torch.zeros(count, len(features))
    if features and len(nodes) < count:
        raise ValueError(f"{file}: {count - len(nodes):,} nodes have edges but no row in the table of nodes.")
    for row, known in enumerate(nodes):
        for at, name in enumerate(features):
            try:
                found[row, at] = float(known[name])
            except (KeyError, ValueError):
                raise ValueError(f"{file}: {name} of node {row + 1:,} is {known.get(name)!r}.") from None
    return found


def read_rows(path: Path, delimiter: str) -> list[list[str]]:
    """The cells of a delimited text file ("" parts at spaces); empty lines and those after # are left out."""
    import csv

    with open(path, encoding="utf-8-sig", newline="") as file:
        try:
            lines = [line for line in file if line.strip() and not line.startswith(("#", "%"))]
            cells = csv.reader(lines, delimiter=delimiter) if delimiter else (line.split() for line in lines)
            return [[cell.strip() for cell in row] for row in cells]
        except UnicodeDecodeError as error:
            raise ValueError(f"{path.name} is not text in UTF-8: byte {error.start:,} is not.") from None
        except csv.Error as error:
            raise ValueError(f"{path.name} cannot be read as a table: {error}.") from error


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a table with a header as {column: text}; none where there is no such file."""
    if not path.is_file():
        return []
    rows = read_rows(path, ",")
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise ValueError(f"{path.name}, row {number:,} has {len(row)} cells, not {len(rows[0])}.")
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def class_numbers(said: list[str], classes: tuple[str, ...], count: int, file: str) -> Tensor:
    """Labels as numbers of classes. Errors: `ValueError` where one is lacking or unknown."""
    if len(said) < count:
        raise ValueError(f"{file}: {count - len(said):,} of {count:,} have no label.")
    strange = next((row for row, label in enumerate(said) if label not in classes), None)
    if strange is not None:
        raise ValueError(
            f"{file}: label {said[strange]!r} in row {strange + 1:,} is none of the classes known."
        )
    return torch.tensor([classes.index(label) for label in said])


def padded_graphs(
    path: Path,
    numbers: dict[tuple[str, str], int],
    nodes: Tensor,
    ends: Tensor,
    weights: Tensor,
    classes: tuple[str, ...],
    directed: bool,
    size: int,
) -> dict[str, Tensor]:
    """Graphs of several sizes, padded: nodes (N, size, F), adjacency (N, size, size), mask (N, size), label.

    Errors: `ValueError` for a graph with more nodes than `size`, or without a label.
    """
    names = list(dict.fromkeys(graph for graph, _ in numbers))
    at = {name: number for number, name in enumerate(names)}
    whose = torch.tensor([at[graph] for graph, _ in numbers])
    counts = torch.bincount(whose, minlength=len(names))
    if int(counts.max()) > size:
        largest = names[int(counts.argmax())]
        raise ValueError(
            f"Graph {largest!r} has {int(counts.max()):,} nodes, more than the {size:,} allowed."
        )
    order = whose.argsort(stable=True)
    place = torch.empty_like(whose)
    place[order] = torch.arange(len(whose)) - (counts.cumsum(0) - counts)[whose[order]]
    found = {"nodes": torch.zeros(len(names), size, nodes.shape[1]), "mask": torch.zeros(len(names), size)}
    found["nodes"][whose, place] = nodes
    found["mask"][whose, place] = 1.0
    matrix = torch.zeros(len(names), size, size)
    first, second = ends
    matrix.index_put_((whose[second], place[second], place[first]), weights, accumulate=True)
    if not directed:
        both = first != second  # a loop is one edge, not two
        first, second = first[both], second[both]
        matrix.index_put_((whose[first], place[first], place[second]), weights[both], accumulate=True)
    found["adjacency"] = matrix
    if classes:
        table = read_table(path.with_name(path.name.split(".")[0] + ".graphs.csv"))
        labels = {row.get("graph", ""): row.get("label", "") for row in table}
        found["label"] = class_numbers(
            [labels.get(name, "") for name in names], classes, len(names), path.name
        )
    return found


class Lazy:
    """Rows of a file as (N, *size) of `dtype`; `picked` are their numbers in the file, all by default.

    A subclass overrides `read`. Rows arrive on `device`, whatever device their numbers are on.
    """

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
            return self[torch.tensor([range(len(self))[rows]])][0]
        asked = self.picked[rows.cpu() if isinstance(rows, Tensor) else rows]
        return self.read(asked).to(self.device)

    def index_select(self, dim: int, rows: Tensor) -> Tensor:
        """Rows by number, as of a tensor; `dim` is 0."""
        return self[rows]

    def dim(self) -> int:
        return len(self.shape)

    def numel(self) -> int:
        return self.shape.numel()

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point


def dealt_columns(columns: dict[str, Any], rows: dict[str, Tensor], device: str) -> dict[str, dict[str, Any]]:
    """Each split's part of every column, tensors (N, ...) on `device`; lazy columns stay in their files.

    Errors: `ValueError` where a split has no row.
    """
    empty = [split for split, at in rows.items() if not len(at)]
    if empty:
        count = sum(len(at) for at in rows.values())
        raise ValueError(
            f"Of {count:,} rows none is left for {empty[0]}: give it a larger share, or more rows."
        )
    return {
        split: {
            name: values.at(at) if isinstance(values, Lazy) else values[at].to(device)
            for name, values in columns.items()
        }
        for split, at in rows.items()
    }


def adjacency(count: int, ends: Tensor, weights: Tensor, directed: bool) -> Tensor:
    """Weights of edges `ends` (2, E) as (count, count): row i holds those that lead to i, parallels added."""
    found = torch.zeros(count, count)
    found.index_put_((ends[1], ends[0]), weights, accumulate=True)
    if not directed:
        both = ends[0] != ends[1]  # a loop is one edge, not two
        found.index_put_((ends[0, both], ends[1, both]), weights[both], accumulate=True)
    return found


def load_graph(
    folder: Path,
    device: str,
    *,
    file: str,
    read: Callable[..., Any],
    features: tuple[str, ...],
    target: str,
    classes: tuple[str, ...],
    directed: bool,
    examples: str,
    size: int,
    deal: Callable[..., dict[str, Tensor]],
    delimiter: str = "",
    header: bool = False,
    by: str = "",
    **dealing: Any,
) -> dict[str, dict[str, Tensor]]:
    """A graph whose nodes are the examples, or that is the only one, or many graphs, `size` nodes at most.

    "nodes": {"features" (N, F + 1), "label" (N,)}, the degree last. "whole graph": one row in every split,
    {"nodes" (1, n, F + 1), "adjacency" (1, n, n), "mask" (1, n), "label" (1, n)}, the mask 1 for the nodes of
    the split. "graphs": {"nodes" (N, n, F + 1), "adjacency" (N, n, n), "mask" (N, n), "label" (N,)}, padded;
    the labels are in `NAME.graphs.csv`. Errors: `ValueError`, `OSError`.
    """
    if not (folder / file).is_file():
        raise FileNotFoundError(f"There is no {folder / file}: choose the file again.")
    edges, table = read(folder / file, delimiter, header)
    numbers = numbered(edges, table)
    count = len(numbers)
    ends = torch.tensor([[numbers[g, a], numbers[g, b]] for a, b, _, g in edges]).reshape(-1, 2).T
    weights = torch.tensor([weight for _, _, weight, _ in edges])
    degree = torch.zeros(count).index_add_(0, ends[1], torch.ones(len(edges)))
    degree = degree if directed else degree.index_add_(0, ends[0], torch.ones(len(edges)))
    nodes = torch.cat([node_features(table, features, count, file), degree[:, None]], 1)
    if examples == "graphs":
        columns = padded_graphs(folder / file, numbers, nodes, ends, weights, classes, directed, size)
    else:
        columns = {"features": nodes}
        if target:
            columns["label"] = class_numbers([row.get(target, "") for row in table], classes, count, file)
    n = len(next(iter(columns.values())))
    keys = columns.get("label") if by == "class" else None
    if by == "split":
        known = {"train": 0, "validation": 1, "val": 1, "test": 2}
        keys = torch.tensor([known.get(row.get("split", "").casefold(), -1) for row in table])
        keys = torch.cat([keys, torch.full((n - len(keys),), -1)])
    rows = deal(n, keys, **dealing)
    if examples != "whole graph":
        return dealt_columns(columns, rows, device)
    whole = {"nodes": nodes[None], "adjacency": adjacency(count, ends, weights, directed)[None]}
    if target:
        whole["label"] = columns["label"][None]
    return {
        split: {
            **{name: column.to(device) for name, column in whole.items()},
            "mask": torch.zeros(1, count).index_fill_(1, at, 1.0).to(device),
        }
        for split, at in rows.items()
    }


def read_edge_list(
    path: Path, delimiter: str, header: bool
) -> tuple[list[tuple[str, str, float, str]], list[dict[str, str]]]:
    """Edges as (source, target, weight, graph), and the table of nodes beside, `NAME.nodes.csv`, if any.

    Columns are source, target and, where there are more, weight; with a header one may be called graph.
    Errors: `ValueError` with the line.
    """
    rows = read_rows(path, delimiter)
    names = [cell.casefold() for cell in rows[0]] if header and rows else []
    whose = names.index("graph") if "graph" in names else -1
    heavy = names.index("weight") if "weight" in names else 2 if not names else -1
    ends = [at for at in range(len(rows[0]) if rows else 0) if at not in (whose, heavy)][:2]
    edges = []
    for number, row in enumerate(rows[header:], 1 + header):
        try:
            weight = float(row[heavy]) if 0 <= heavy < len(row) else 1.0
            edges.append((row[ends[0]], row[ends[1]], weight, row[whose] if whose >= 0 else ""))
        except (IndexError, ValueError):
            raise ValueError(
                f"{path.name}, edge {number:,}: two names of nodes and perhaps a weight should stand there, "
                f"not {', '.join(row)[:60]!r}."
            ) from None
        if not math.isfinite(weight):
            raise ValueError(f"{path.name}, edge {number:,}: its weight is {weight}.")
    return edges, read_table(path.with_name(path.name.split(".")[0] + ".nodes.csv"))


def dealt_by_class(
    n: int, keys: Tensor | None, *, validation: float, test: float, seed: int
) -> dict[str, Tensor]:
    """Every class of `keys` alike in every split, as far as its rows go."""
    assert keys is not None
    shuffle = torch.Generator().manual_seed(seed)
    order = torch.randperm(n, generator=shuffle)
    by_class = order[keys[order].argsort(stable=True)]
    at = torch.arange(n + 1)
    into_test = (at * round(test * n) // max(n, 1)).diff() > 0  # rises evenly, so each class gives its part
    rest = by_class[~into_test]
    at = torch.arange(len(rest) + 1)
    held = (at * round(validation * n) // max(len(rest), 1)).diff() > 0
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


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: features (N, 3); label (N,)."""
    return load_graph(
        folder,
        device,
        file="karate.edges",
        features=("steps_to_1", "steps_to_34"),
        target="club",
        classes=("Mr. Hi", "Officer"),
        directed=False,
        examples="nodes",
        size=34,
        read=read_edge_list,
        delimiter="",
        header=True,
        by="class",
        deal=dealt_by_class,
        validation=0.2,
        test=0.2,
        seed=0,
    )


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["features"])
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
        size = len(batch["features"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.02)


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
        "--data", type=Path, default=Path(__file__).parent / "files", help="folder that holds karate.edges"
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
