"""Numbers in words

Exported from Neuroloom. Needs torch, numpy and polars only.

    python numbers_in_words.py --data FOLDER --epochs 40

FOLDER holds numbers.tsv; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 32, 40
PATIENCE = 10  # epochs without a better validation loss before training stops


# engine.data.text.tokenisers.Tokeniser, 21 lines, 6790fd60621a


# engine.data.file_there.file_there, 21 lines, e806fb3e922a


# engine.data.text.lines.read_text, 22 lines, 82dbe6612d6a


# engine.data.text.lines.lines_of, 3 lines, 9a4492c46da6


# engine.data.tables.reading.separator, 3 lines, d4aa7fb7a95c


# engine.data.tables.reading.nameable, 7 lines, 475837e46a4a


# engine.data.tables.reading.is_plain, 4 lines, 0efec0f1972e


# engine.data.tables.reading.plain_lines, 21 lines, 236231b252be


# engine.data.tables.reading.decoded, 17 lines, 550887648b89


# engine.data.tables.reading.line_end, 5 lines, dc56d691a351


# engine.data.tables.reading.cell_form, 10 lines, 37f8eb06fa4a


# engine.data.tables.reading.beginning, 7 lines, e72851c8ada2


# engine.data.tables.reading.text_rows, 20 lines, 5b41b825d49b


# engine.data.tables.reading.longer_row, 4 lines, b1a67065bee4


# engine.data.tables.reading.text_trouble, 21 lines, 9cc9230adb18


# engine.data.tables.reading.column_names, 14 lines, 3272b40470f7


# engine.data.tables.reading.named_by, 13 lines, 89fd405c13d5


# engine.data.tables.reading.text_form, 23 lines, 8e692b3d9af5


# engine.data.tables.reading.check_columns, 8 lines, cce0e015f266


# engine.data.tables.reading.read_text_table, 39 lines, c21217d6a846


# engine.data.text.lines.rows_of_table, 8 lines, d2d205f19e17


# engine.data.text.lines.text_pairs, 24 lines, 83413b5526b0


# engine.data.splits.split_rows, 23 lines, bbdcf948008a


# engine.data.text.texts.filled_up, 13 lines, d217fec93549


# engine.data.lazy.Lazy, 52 lines, dab65619d41c


# engine.data.splits.split_columns, 18 lines, f1edd3ce763d


# engine.data.text.texts.load_text_pairs, 40 lines, 79af7f100d28


# engine.data.text.tokenisers.portions, 9 lines, b4002111460f


# engine.data.text.tokenisers.words_of, 3 lines, 3c776cc25b03


# engine.data.text.tokenisers.Words, 8 lines, c0ae5e20a15e


# engine.data.text.tokenisers.special_tokens, 3 lines, 90691ec30aa5


# engine.data.text.tokenisers.most_used, 3 lines, 2fe6a557f6ed


# engine.data.text.tokenisers.room_for, 6 lines, bb2dc9d385ed


# engine.data.text.tokenisers.learned_words, 8 lines, 3e876b1bacf4


# engine.data.splits.split_at_random, 11 lines, 2e98d906d7c2


# engine.layers.losses.counted, 8 lines, bbecc4196720


# engine.layers.losses.counted_cross_entropy, 16 lines, b630d8dfe2fb


# engine.layers.scores.masked_accuracy, 9 lines, 6eb75c4a252b


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(40, 16)
        self.read = nn.LSTM(16, 48, bidirectional=True, batch_first=True)
        self.thought = nn.Linear(96, 120)
        self.digits = nn.Linear(24, 16)

    def forward(self, source: Tensor) -> Tensor:  # (N, 8)
        x = self.words(source)                    # (N, 8, 16)
        _, (h, _) = self.read(x)
        x = torch.cat((h[-2], h[-1]), 1)          # (N, 96)
        x = F.relu(self.thought(x))               # (N, 120)
        x = x.reshape(-1, 5, 24)                  # (N, 5, 24)
        return self.digits(x)                     # (N, 5, 16)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss". "weight" is how much the batch counts."""
    digits = model(batch["source"])
    return {
        "loss": counted_cross_entropy(digits.flatten(0, -2), batch["next"].flatten()),
        "weight": counted(batch["next"]),
    }


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, tuple[Tensor, Tensor | int]]:
    """The losses and metrics of a batch, each with how much the batch counts in the mean over several."""
    digits = model(batch["source"])
    return {
        "loss": (
            counted_cross_entropy(digits.flatten(0, -2), batch["next"].flatten()), counted(batch["next"])
        ),
        "accuracy": (masked_accuracy(digits.argmax(-1), batch["next"]), counted(batch["next"])),
    }


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: source (N, 8); next (N, 5)."""
    splits = load_text_pairs(
        folder,
        device,
        file="numbers.tsv",
        encoding="utf-8",
        learn=learned_words,
        size=40,
        lower=False,
        length=8,
        other="",
        source="words",
        target="digits",
        table={"delimiter": '\t', "quote": '"', "decimal": ".", "header": True, "skip": 0},
        target_size=16,
        target_length=5,
        splitter=split_at_random,
        validation=0.2,
        test=0.2,
        seed=0,
    )
    used = ("source", "next")
    return {split: {name: columns[name] for name in used} for split, columns in splits.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["source"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(BATCH):
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}


@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over what counts in a split, with dropout off."""
    model.eval()
    sums: dict[str, float] = {}
    weights: dict[str, float] = {}
    for batch in batches(split):
        for name, (value, weight) in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + float(weight) * value.item()
            weights[name] = weights.get(name, 0.0) + float(weight)
    model.train()
    return {name: value / (weights[name] or math.nan) for name, value in sums.items()}


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
    waited = 0
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
            waited = 0
            kept = {name: value.clone() for name, value in model.state_dict().items()}
        else:
            waited += 1
            if waited == PATIENCE:
                break
    if kept is not None:
        model.load_state_dict(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description="Numbers in words")
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).parent / "files", help="folder that holds numbers.tsv"
    )
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


if __name__ == "__main__":
    main()
