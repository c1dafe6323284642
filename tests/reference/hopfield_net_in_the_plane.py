"""Hopfield net in the plane

Exported from Neuroloom. Needs torch, numpy and scikit-learn only.

    python hopfield_net_in_the_plane.py
    python hopfield_net_in_the_plane.py recall_hebb --weights FILE
    python hopfield_net_in_the_plane.py recall_saturating --weights FILE
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, EPOCHS = 0, 1


# engine.data.sets.scikit_learn.scikit_learn_set, 8 lines, 61276bf3f0a8


# engine.data.sets.patterns.stored_patterns, 9 lines, 05a6bfd0e351


# engine.data.splits.columns_of, 7 lines, ecfa9d4753f0


# engine.data.sets.patterns.load_patterns, 18 lines, b73a7a3ec1c8


# engine.procedures.falling.fall, 6 lines, c45a0947a25a


# engine.procedures.falling.recalled, 12 lines, 816be245de52


# engine.procedures.rows.FileRows, 5 lines, 4047b69e9fef


# engine.procedures.rows.chosen_rows, 21 lines, 0d32f6f81743


# engine.procedures.rows.state_as_json, 3 lines, 96c58e94ae55


# engine.procedures.rows.state_in_words, 10 lines, b35dd774c3ec


# engine.data.weights.read_weights, 17 lines, 87ddea6fc7c9


# engine.procedures.rows.weights_of, 6 lines, f136e315ea55


# engine.layers.hopfield.Hopfield, 81 lines, 2274bc9dc8a9


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hebb = Hopfield(2, diagonal=True)
        self.saturating = Hopfield(2, steps=40, design="saturating")

    def forward(self, start: Tensor) -> tuple[Tensor, Tensor]:  # (N, 2)
        hebb, _ = self.hebb(start)                              # (N, 2)
        saturating, _ = self.saturating(start)                  # (N, 2)
        return hebb, saturating


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: start (N, 2); stored (N, 2)."""
    return load_patterns(folder, device, form="2-D", noise=0.3, copies=20, seed=0)


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
            values = {}
            with torch.no_grad():
                for name, update in rules:
                    values[name] = update(model, batch)["loss"].item()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, **values}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(description="Hopfield net in the plane")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(Path(), args.device)
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


PROCEDURES = {
    "recall_hebb": (recall_hebb, {
        "--steps": {"type": int, "default": 20, "help": "how often the state is renewed"},
        "--turned": {
            "type": float, "default": 0.0,
            "help": "fraction of the units whose sign is turned round at the start",
        },
    }),
    "recall_saturating": (recall_saturating, {
        "--steps": {"type": int, "default": 20, "help": "how often the state is renewed"},
        "--turned": {
            "type": float, "default": 0.0,
            "help": "fraction of the units whose sign is turned round at the start",
        },
    }),
}


def run(name: str, words: Sequence[str]) -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    procedure, options = PROCEDURES[name]
    parser = argparse.ArgumentParser(prog=f"{Path(__file__).name} {name}", description=procedure.__doc__)
    parser.add_argument("--weights", type=Path, required=True, help="as --save writes them, or .safetensors")
    parser.add_argument("--split", default="validation", choices=["train", "validation", "test"])
    parser.add_argument("--rows", type=int, nargs="+", default=[0], help="of the split, from 0")
    parser.add_argument("--input", type=Path, help="JSON of {column: rows}, in place of rows")
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    own = [parser.add_argument(option, **facts).dest for option, facts in options.items()]
    args = parser.parse_args(words)

    try:
        model = Model().to(args.device).eval()
        model.load_state_dict(weights_of(args.weights))
        columns = load(Path(), args.device)[args.split]
        batch = chosen_rows(columns, args.rows, args.input)
        torch.manual_seed(args.seed)
        draws = torch.Generator().manual_seed(args.seed)
        for state in procedure(model, batch, draws, **{name: vars(args)[name] for name in own}):
            print(json.dumps(state_as_json(state)) if args.json else state_in_words(state))
    except (OSError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in PROCEDURES:
        run(sys.argv[1], sys.argv[2:])
    else:
        main()
