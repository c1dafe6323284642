"""Romeo and Juliet, letter by letter

Exported from Neuroloom. Needs torch and numpy only.

    python romeo_and_juliet_letter_by_letter.py --data FOLDER --epochs 8
    python romeo_and_juliet_letter_by_letter.py generate --weights FILE

FOLDER holds romeo_and_juliet.txt; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 32, 8


# engine.data.text.tokenisers.portions, 9 lines, b4002111460f


# engine.procedures.text.beams, 20 lines, 3644419ec30b


# engine.procedures.text.next_probabilities, 19 lines, 282f37b80315


# engine.procedures.text.written, 49 lines, 825db5e4b8ac


# engine.procedures.rows.as_many, 3 lines, 0fb81ada274e


# engine.procedures.rows.FileRows, 5 lines, 4047b69e9fef


# engine.procedures.rows.chosen_rows, 21 lines, 0d32f6f81743


# engine.procedures.rows.state_as_json, 3 lines, 96c58e94ae55


# engine.procedures.rows.state_in_words, 10 lines, b35dd774c3ec


# engine.data.weights.read_weights, 17 lines, 87ddea6fc7c9


# engine.procedures.rows.weights_of, 6 lines, f136e315ea55


# engine.procedures.rows.keeping, 9 lines, fad5351bcf09


# engine.layers.losses.counted, 8 lines, bbecc4196720


# engine.layers.losses.counted_cross_entropy, 16 lines, b630d8dfe2fb


# engine.layers.scores.masked_accuracy, 9 lines, 6eb75c4a252b


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.letters = nn.Embedding(72, 32)
        self.lstm = nn.LSTM(32, 128, batch_first=True)
        self.scores = nn.Linear(128, 72)

    def forward(self, tokens: Tensor) -> Tensor:  # (N, 64)
        x = self.letters(tokens)                  # (N, 64, 32)
        x, _ = self.lstm(x)                       # (N, 64, 128)
        return self.scores(x)                     # (N, 64, 72)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss". "weight" is how much the batch counts."""
    scores = model(batch["tokens"])
    return {
        "loss": counted_cross_entropy(scores.flatten(0, -2), batch["next"].flatten()),
        "weight": counted(batch["next"]),
    }


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, tuple[Tensor, Tensor | int]]:
    """The losses and metrics of a batch, each with how much the batch counts in the mean over several."""
    scores = model(batch["tokens"])
    return {
        "loss": (
            counted_cross_entropy(scores.flatten(0, -2), batch["next"].flatten()), counted(batch["next"])
        ),
        "accuracy": (masked_accuracy(scores.argmax(-1), batch["next"]), counted(batch["next"])),
    }


class LetterTokens:
    """Text as token numbers: 0 fills up, 1 is unknown, 2 begins, 3 ends, 4 hides, others are characters."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = ["[pad]", "[unknown]", "[begin]", "[end]", "[mask]", *tokens]
        self.numbers = {token: number for number, token in enumerate(self.tokens)}

    def ids(self, text: str) -> np.ndarray[Any, Any]:
        return np.array([self.numbers.get(one, 1) for one in text], np.int32)

    def text(self, ids: list[int]) -> str:
        return "".join(self.tokens[one if one < len(self.tokens) else 1] for one in ids)


def learned_characters(texts: list[str], size: int) -> LetterTokens:
    """The commonest characters of texts, at most `size` tokens."""
    counts = Counter("".join(texts))
    kept = sorted(counts, key=lambda one: (-counts[one], one))[: size - 5]
    return LetterTokens(sorted(kept) or ["\n"])


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: tokens (N, 64); next (N, 64)."""
    try:
        text = (folder / "romeo_and_juliet.txt").read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise SystemExit(f"The text cannot be read: {error}") from error
    units = portions(text, len(text) // 1000 + 1)
    first = len(units) - round(0.1 * len(units)) - round(0.1 * len(units))
    last = len(units) - round(0.1 * len(units))
    texts = {"train": units[:first], "validation": units[first:last], "test": units[last:]}
    made = learned_characters(["".join(texts["train"])], 72)
    windows: dict[str, dict[str, Tensor]] = {}
    for split, part in texts.items():
        ids = torch.from_numpy(made.ids("".join(part))).long().to(device)
        if len(ids) <= 64:
            raise SystemExit(f"The part for {split} has {len(ids)} tokens, too few for a window of 64.")
        windows[split] = {"tokens": ids[:-1].unfold(0, 64, 64), "next": ids[1:].unfold(0, 64, 64)}
    return windows


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["tokens"])
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
    return torch.optim.Adam(model.parameters(), lr=0.005)


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
    parser = argparse.ArgumentParser(description="Romeo and Juliet, letter by letter")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).parent / "files",
        help="folder that holds romeo_and_juliet.txt",
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


TOKENISERS = []  # in their order, as they are learned from the data


@torch.no_grad()
def generate(
    model: Model, batch: dict[str, Tensor], draws: torch.Generator, **options: Any
) -> Iterator[dict[str, Any]]:
    """Writes on behind an example, token by token: the likeliest, drawn ones, or by beam search."""
    tokens = batch["tokens"]  # (N, 64)

    def scores(tokens: Tensor) -> Tensor:
        return model(tokens)[:, -1]

    yield from written(scores, tokens, TOKENISERS, draws=draws, **options)


PROCEDURES = {
    "generate": (generate, {
        "--length": {"type": int, "default": 200, "help": "how many tokens are written"},
        "--method": {
            "type": str, "choices": ["sample", "greedy", "beam"], "default": "sample",
            "help": "each token drawn, each the likeliest, or the likeliest of several texts",
        },
        "--temperature": {
            "type": float, "default": 1.0,
            "help": "below 1 the likeliest tokens come more often",
        },
        "--top-k": {"type": int, "default": 0, "help": "so many of the likeliest tokens only; 0: all"},
        "--top-p": {
            "type": float, "default": 1.0,
            "help": "only the likeliest whose probabilities come to this",
        },
        "--width": {"type": int, "default": 4, "help": "texts that a beam keeps"},
        "--prompt": {
            "type": str, "default": "",
            "help": "text with which the new one begins, behind the example",
        },
    }),
}


def run(name: str, words: Sequence[str]) -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    procedure, options = PROCEDURES[name]
    parser = argparse.ArgumentParser(prog=f"{Path(__file__).name} {name}", description=procedure.__doc__)
    parser.add_argument("--weights", type=Path, required=True, help="as --save writes them, or .safetensors")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).parent / "files",
        help="folder that holds romeo_and_juliet.txt",
    )
    parser.add_argument("--split", default="validation", choices=["train", "validation", "test"])
    parser.add_argument("--rows", type=int, nargs="+", default=[0], help="of the split, from 0")
    parser.add_argument("--input", type=Path, help="JSON of {column: rows}, in place of rows")
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    own = [parser.add_argument(option, **facts).dest for option, facts in options.items()]
    args = parser.parse_args(words)

    load.__globals__["learned_characters"] = keeping(learned_characters, TOKENISERS)
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
