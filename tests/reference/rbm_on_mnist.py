"""RBM on MNIST

Exported from Neuroloom. Needs torch and numpy only.

    python rbm_on_mnist.py --data FOLDER
    python rbm_on_mnist.py gibbs --weights FILE

FOLDER holds mnist/ and is the script's own by default.
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

SEED, BATCH, EPOCHS = 0, 32, 10


# engine.data.sets.mnist.read_idx, 16 lines, a3e72ca008ae


# engine.data.splits.evenly, 3 lines, 599b8f7d4329


# engine.data.splits.stratified, 8 lines, 87e105d15bfd


# engine.data.sets.mnist.load_mnist, 22 lines, 9dee75e5d816


# engine.procedures.boltzmann.drawn_bits, 3 lines, c2f265719604


# engine.procedures.boltzmann.emptied, 7 lines, 1b1feb8fd2fd


# engine.procedures.boltzmann.gibbs_states, 25 lines, 0160fbaee8c0


# engine.procedures.boltzmann.gibbs_chain, 11 lines, 9ee4c1f3b48d


# engine.procedures.rows.FileRows, 5 lines, 4047b69e9fef


# engine.procedures.rows.chosen_rows, 21 lines, 0d32f6f81743


# engine.procedures.rows.state_as_json, 3 lines, 96c58e94ae55


# engine.procedures.rows.state_in_words, 10 lines, b35dd774c3ec


# engine.data.weights.read_weights, 17 lines, 87ddea6fc7c9


# engine.procedures.rows.weights_of, 6 lines, f136e315ea55


# engine.layers.boltzmann.RBM, 64 lines, a2858aa79bb7


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rbm = RBM(784, 100, lr=0.05)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:  # (N, 1, 28, 28)
        pixels = image.flatten(1)                               # (N, 784)
        _, rbm = self.rbm(pixels)                               # (N, 784)
        return pixels, rbm


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: image (N, 1, 28, 28)."""
    splits = load_mnist(folder, device, validation=0.1, seed=0)
    used = ("image",)
    return {split: {name: columns[name] for name in used} for split, columns in splits.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["image"])
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
        size = len(batch["image"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of RBM."""
    image = batch["image"]     # (N, 1, 28, 28)
    pixels = image.flatten(1)  # (N, 784)
    return model.rbm.update(pixels)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    image = batch["image"]      # (N, 1, 28, 28)
    pixels = image.flatten(1)   # (N, 784)
    _, rbm = model.rbm(pixels)  # (N, 784)
    return {
        "reconstruction_error": F.mse_loss(rbm, pixels),
        "pseudo_likelihood": model.rbm.pseudo_likelihood(pixels),
    }


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle):
            with torch.no_grad():
                value = objective(model, batch)["loss"].item()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(description="RBM on MNIST")
    parser.add_argument("--data", type=Path, default=Path(__file__).parent, help="folder that holds mnist/")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.data, args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


@torch.no_grad()
def gibbs(
    model: Model, batch: dict[str, Tensor], draws: torch.Generator, **options: Any
) -> Iterator[dict[str, Any]]:
    """Draws hidden units given the visible ones and visible ones given the hidden, in turn."""
    image = batch["image"]     # (N, 1, 28, 28)
    pixels = image.flatten(1)  # (N, 784)
    yield from gibbs_chain(model.rbm, pixels, draws=draws, **options)


PROCEDURES = {
    "gibbs": (gibbs, {
        "--rounds": {"type": int, "default": 20, "help": "how often both layers are drawn"},
        "--held": {
            "type": int, "default": 0,
            "help": "so many visible units, from the first, keep the example's values",
        },
        "--rest": {
            "type": str, "choices": ["blank", "random"], "default": "blank",
            "help": "how units begin that are not held, where some are",
        },
    }),
}


def run(name: str, words: Sequence[str]) -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    procedure, options = PROCEDURES[name]
    parser = argparse.ArgumentParser(prog=f"{Path(__file__).name} {name}", description=procedure.__doc__)
    parser.add_argument("--weights", type=Path, required=True, help="as --save writes them, or .safetensors")
    parser.add_argument("--data", type=Path, default=Path(__file__).parent, help="folder that holds mnist/")
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
        columns = load(args.data, args.device)[args.split]
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
