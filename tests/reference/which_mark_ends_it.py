"""Which mark ends it

Exported from Neuroloom. Needs torch, numpy and polars only.

    python which_mark_ends_it.py --data FOLDER --epochs 60

FOLDER holds sentences.csv; --data names another than the usual.
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
    epochs: int = 60
    patience: int = 6  # epochs without a better validation loss before training stops
    learning_rate: float = 0.01


CONFIG = Config()


def filled_up(found: list[np.ndarray[Any, Any]], length: int) -> tuple[Tensor, Tensor, Tensor]:
    """Token numbers of texts as (N, length), 1 where there is a token (N, length), and how many (N,)."""
    tokens = np.zeros((len(found), length), np.int64)
    lengths = np.zeros(len(found), np.int64)
    for row, ids in enumerate(found):
        kept = ids[:length - 0]
        kept = kept
        tokens[row, : len(kept)], lengths[row] = kept, len(kept)
    mask = np.arange(length) < lengths[:, None]
    return torch.from_numpy(tokens), torch.from_numpy(mask).float(), torch.from_numpy(lengths)


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


def without_filling(batch: dict[str, Tensor], filled: Mapping[str, Sequence[str]]) -> dict[str, Tensor]:
    """The batch without places that its longest row does not have."""
    found = dict(batch)
    for told, columns in filled.items():
        lengths = batch[told] if batch[told].dim() == 1 else batch[told].sum(1)
        longest = max(1, int(lengths.max()))
        for name in columns:
            found[name] = found[name][:, :longest]
    return found


def masked_means(x: Tensor, mask: Tensor) -> Tensor:
    """The mean over the places (N, T, F) where the mask (N, T) is not 0, (N, F); 0 where there are none."""
    return torch.where(mask[..., None] != 0, x, 0.0).sum(1) / (mask != 0).sum(1, keepdim=True).clamp(min=1)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(500, 16)
        self.mark = nn.Linear(16, 3)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:  # (N, tokens ≤ 31), (N, tokens ≤ 31)
        x = self.words(tokens)                                  # (N, tokens ≤ 31, 16)
        x = masked_means(x, mask)                               # (N, 16)
        return self.mark(x)                                     # (N, 3)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    mark = model(batch["tokens"], batch["mask"])
    return {"loss": F.cross_entropy(mark, batch["label"])}


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    mark = model(batch["tokens"], batch["mask"])
    return {
        "loss": F.cross_entropy(mark, batch["label"]),
        "accuracy": (mark.argmax(1) == batch["label"]).float().mean(),
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

    tokens (N, 31); mask (N, 31); label (N,).
    """
    try:
        table = pl.read_csv((folder / "sentences.csv").read_bytes(), infer_schema=False)
        cells = [column.fill_null("").to_list() for column in (table["sentence"], table["mark"])]
    except (OSError, UnicodeError, pl.exceptions.PolarsError) as error:
        raise SystemExit(f"The table cannot be read: {error}") from error
    found = [(one, other.strip()) for one, other in zip(*cells, strict=True) if one or other]
    classes = ("exclamation", "question", "statement")
    numbers = {name: number for number, name in enumerate(classes)}
    if {one[1] for one in found} - numbers.keys() or not found:
        raise SystemExit(f"The texts in {folder} are not of the 3 classes that they had.")
    texts = [one[0] for one in found]
    labels = torch.tensor([numbers[one[1]] for one in found])
    rows = split_by_class(len(texts), labels, validation=0.2, test=0.2, seed=0)
    if not all(len(at) for at in rows.values()):
        raise SystemExit("There are too few rows for three splits: has the data changed?")
    made = learned_words([texts[row] for row in rows["train"].tolist()], 500)
    tokens, mask, lengths = filled_up([made.ids(one) for one in texts], 31)
    columns = {"tokens": tokens, "mask": mask, "label": labels}
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in rows.items()}


# What says how long rows are, and the columns that are filled up.
FILLED = {"mask": ("tokens", "mask")}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["tokens"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(CONFIG.batch):
        batch = {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}
        yield without_filling(batch, FILLED)


@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over a split, with dropout off."""
    model.eval()
    n = 0
    sums: dict[str, float] = {}
    for batch in batches(split):
        size = len(batch["tokens"])
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
    parser = argparse.ArgumentParser(description="Which mark ends it")
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).parent / "files", help="folder that holds sentences.csv"
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
