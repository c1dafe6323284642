"""Numbers in words

Exported from Neuroloom. Needs torch, numpy and polars only.

    python numbers_in_words.py --data FOLDER --epochs 40

FOLDER holds numbers.tsv; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 32
    epochs: int = 40
    patience: int = 10  # epochs without a better validation loss before training stops
    learning_rate: float = 0.01


CONFIG = Config()


def filled_up(found: list[np.ndarray[Any, Any]], length: int, ends: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Token numbers of texts as (N, length), 1 where there is a token (N, length), and how many (N,)."""
    tokens = np.zeros((len(found), length), np.int64)
    lengths = np.zeros(len(found), np.int64)
    for row, ids in enumerate(found):
        kept = ids[: length - 2 * ends]
        kept = np.concatenate([[2], kept, [3]]) if ends else kept
        tokens[row, : len(kept)], lengths[row] = kept, len(kept)
    mask = np.arange(length) < lengths[:, None]
    return torch.from_numpy(tokens), torch.from_numpy(mask).float(), torch.from_numpy(lengths)


def split_at_random(n: int, *, validation: float, test: float, seed: int) -> dict[str, Tensor]:
    """Any row into any split."""
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    held, tested = round(validation * n), round(test * n)
    return {
        "train": order[held + tested :],
        "validation": order[tested : held + tested],
        "test": order[:tested],
    }


def without_filling(batch: dict[str, Tensor], filled: Mapping[str, Sequence[str]]) -> dict[str, Tensor]:
    """The batch without places that its longest row does not have."""
    found = dict(batch)
    for told, columns in filled.items():
        lengths = batch[told] if batch[told].dim() == 1 else batch[told].sum(1)
        longest = max(1, int(lengths.max()))
        for name in columns:
            found[name] = found[name][:, :longest]
    return found


def counted(target: Tensor) -> Tensor:
    """How much classes (N, ...) count: each 1, or the weight of its class; -100 and `ignored` nothing."""
    counts = target != -100
    return counts.sum()


def counted_cross_entropy(scores: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy of scores (N, classes, ...) with classes (N, ...): the mean over what counts."""
    total = F.cross_entropy(scores, target, None, reduction="sum", label_smoothing=0.0)
    return total / counted(target).clamp(min=1e-12)


def masked_accuracy(guessed: Tensor, target: Tensor) -> Tensor:
    """The fraction of places (N, ...) whose class is right, without those of class -100 or `ignored`."""
    there = target != -100
    return ((guessed == target) & there).sum() / there.sum().clamp(1)


def read_to_end(layer: nn.Module, x: Tensor, lengths: Tensor) -> tuple[Tensor, Any]:
    """What a recurrent layer gives for rows (N, T, F) of these lengths (N,), and its state at each row's
    end."""
    ends = lengths.clamp(min=1).cpu()
    packed = nn.utils.rnn.pack_padded_sequence(x, ends, batch_first=True, enforce_sorted=False)
    output, state = layer(packed)
    padded, _ = nn.utils.rnn.pad_packed_sequence(output, batch_first=True, total_length=x.shape[1])
    return padded, state


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(40, 16)
        self.read = nn.LSTM(16, 48, bidirectional=True, batch_first=True)
        self.thought = nn.Linear(96, 120)
        self.digits = nn.Linear(24, 16)

    def forward(self, source: Tensor, source_length: Tensor) -> Tensor:  # (N, source ≤ 8), (N,)
        x = self.words(source)            # (N, source ≤ 8, 16)
        _, (h, _) = read_to_end(self.read, x, source_length)
        x = torch.cat((h[-2], h[-1]), 1)  # (N, 96)
        x = F.relu(self.thought(x))       # (N, 120)
        x = x.reshape(-1, 5, 24)          # (N, 5, 24)
        return self.digits(x)             # (N, 5, 16)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss". "weight" is how much the batch counts."""
    digits = model(batch["source"], batch["source_length"])
    return {
        "loss": counted_cross_entropy(digits.flatten(0, -2), batch["next"].flatten()),
        "weight": counted(batch["next"]),
    }


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, tuple[Tensor, Tensor | int]]:
    """The losses and metrics of a batch, each with how much the batch counts in the mean over several."""
    digits = model(batch["source"], batch["source_length"])
    return {
        "loss": (
            counted_cross_entropy(digits.flatten(0, -2), batch["next"].flatten()), counted(batch["next"])
        ),
        "accuracy": (masked_accuracy(digits.argmax(-1), batch["next"]), counted(batch["next"])),
    }


class WordTokens:
    """Text as token numbers: 0 fills up, 1 is unknown, 2 begins, 3 ends, 4 hides, others are words."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = ["[pad]", "[unknown]", "[begin]", "[end]", "[mask]", *tokens]
        self.numbers = {token: number for number, token in enumerate(self.tokens)}

    def ids(self, text: str) -> np.ndarray[Any, Any]:
        return np.array([self.numbers.get(one, 1) for one in re.findall(r"\w+|[^\w\s]|\n", text)], np.int32)

    def text(self, ids: list[int]) -> str:
        return " ".join(self.tokens[one if one < len(self.tokens) else 1] for one in ids)


def learned_words(texts: list[str], size: int) -> WordTokens:
    """The commonest words of texts, at most `size` tokens."""
    counts = Counter(one for text in texts for one in re.findall(r"\w+|[^\w\s]|\n", text))
    kept = sorted(counts, key=lambda one: (-counts[one], one))[: size - 5]
    return WordTokens(kept)


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test.

    source (N, 8); source_length (N,); next (N, 5).
    """
    try:
        table = pl.read_csv((folder / "numbers.tsv").read_bytes(), infer_schema=False, separator='\t')
        cells = [column.fill_null("").to_list() for column in (table["words"], table["digits"])]
    except (OSError, UnicodeError, pl.exceptions.PolarsError) as error:
        raise SystemExit(f"The table cannot be read: {error}") from error
    found = [(one, other) for one, other in zip(*cells, strict=True) if one or other]
    if not found or not all(one.strip() and other.strip() for one, other in found):
        raise SystemExit("One text of a pair is empty, or there are none.")
    left, right = [one for one, _ in found], [other for _, other in found]
    rows = split_at_random(len(left), validation=0.2, test=0.2, seed=0)
    if not all(len(at) for at in rows.values()):
        raise SystemExit("There are too few rows for three splits: has the data changed?")
    training = rows["train"].tolist()
    made = learned_words([left[row] for row in training], 40)
    target = learned_words([right[row] for row in training], 16)
    tokens, mask, lengths = filled_up([made.ids(one) for one in left], 8, False)
    whole, _, _ = filled_up([target.ids(one) for one in right], 6, True)
    columns = {"source": tokens, "source_length": lengths, "next": whole[:, 1:]}
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in rows.items()}


# What says how long rows are, and the columns that are filled up.
FILLED = {"source_length": ("source",)}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["source"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(CONFIG.batch):
        batch = {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}
        yield without_filling(batch, FILLED)


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
            if waited == CONFIG.patience:
                break
    if kept is not None:
        model.load_state_dict(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description="Numbers in words")
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).parent / "files", help="folder that holds numbers.tsv"
    )
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
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
