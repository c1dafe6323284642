"""Points drawn by hand

Exported from Neuroloom. Needs torch and numpy only.

    python points_drawn_by_hand.py --epochs 150
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 16, 150


def split_rows(n: int, keys: Tensor | None) -> dict[str, Tensor]:
    """Rows of each split by `splitter`; what is fitted on training rows must be fitted on these."""
    rows: dict[str, Tensor]
    rows = split_as_drawn(n, keys, validation=0.2, test=0.2, seed=0)
    return rows


class Lazy:
    """Rows of a file as (N, *size) of `dtype`; `picked` are their numbers in the file, all by default.

    A subclass overrides `read`. Rows arrive on `device`, whatever device their numbers are on. Of a `ragged`
    column an example has any number of rows, and `size` is that of one.
    """

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

    def dim(self) -> int:
        return len(self.shape)

    def numel(self) -> int:
        return self.shape.numel()

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point


def split_columns(columns: dict[str, Any], rows: dict[str, Tensor], device: str) -> dict[str, dict[str, Any]]:
    """Each split's part of every column, tensors (N, ...) on `device`; lazy columns stay in their files."""
    empty = [split for split, at in rows.items() if not len(at)]
    if empty:
        count = sum(len(at) for at in rows.values())
        raise ValueError(
            f'Of {count:,} rows none is left for {empty[0]}: give it a larger fraction, or more rows.'
        )
    return {
        split: {
            name: values.at(at) if isinstance(values, Lazy) else values[at].to(device)
            for name, values in columns.items()
        }
        for split, at in rows.items()
    }


def load_drawn(device: str, *, spare: int=20) -> dict[str, dict[str, Any]]:
    """Drawn points as {split: {"point": (N, 2), "label": (N,), "side": (N, 1) of -1 and 1}}."""
    written = [
        point.split()
        for line in (
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
        for point in line.split(",")
    ]
    if not written:
        raise ValueError("There are no points yet: draw some, or paste them.")
    table = torch.tensor([[float(word) for word in point] for point in written], dtype=torch.float64)
    label = table[:, 2].long()
    point = table[:, :2].float()
    columns = {"point": point, "label": label, "side": torch.where(label[:, None] == 0, -1.0, 1.0)}
    if len(table) < spare:  # of so few, none can be held back
        rows = dict.fromkeys(("train", "validation", "test"), torch.arange(len(table)))
    else:
        classes = label
        rows = split_rows(len(table), classes)
    return split_columns(columns, rows, device)


def split_as_drawn(
    n: int, keys: Tensor | None, *, validation: float, test: float, seed: int
) -> dict[str, Tensor]:
    """Every class of `keys` alike in every split; a point stays in its split while others are added.

    The j-th point of a class goes by the fraction of (j + 1) · golden ratio, which fills 0..1 evenly.
    """
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
    splits = load_drawn(device, spare=20)
    used = ("point", "label")
    return {split: {name: columns[name] for name in used} for split, columns in splits.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["point"])
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
        size = len(batch["point"])
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
    parser = argparse.ArgumentParser(description="Points drawn by hand")
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
    data = load(args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
