"""Words to digits, with attention

Exported from Neuroloom. Needs torch, numpy and polars only.

    python words_to_digits_with_attention.py --data FOLDER --epochs 15
    python words_to_digits_with_attention.py translate --weights FILE

FOLDER holds numbers.tsv; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    epochs: int = 15
    learning_rate: float = 0.005


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


def translated(
    scores: Callable[[Tensor], Tensor], window: Tensor, known: Any, *, method: str, width: int
) -> Iterator[dict[str, Any]]:
    """The second text behind its begin token, token by token up to the end token (3) or the longest."""
    # Source: Sutskever, Vinyals and Le, 2014. `known` is the tokeniser.
    name = known.text
    steps, kept = window.shape[1], width if method == "beam" else 1
    found = F.pad(window[:1, :1], (0, steps - 1))
    total = torch.zeros(1, dtype=torch.float64)
    ended = torch.zeros(1, dtype=torch.bool)
    for step in range(steps):
        every = torch.log_softmax(scores(found)[:, step].double().cpu(), 1)
        every[ended] = -torch.inf
        every[ended, 0] = 0.0  # a text that has ended stays as it is
        best = (total[:, None] + every).flatten().argsort(descending=True, stable=True)[:kept]
        total = (total[:, None] + every).flatten()[best]
        parents, tokens = best // every.shape[1], best % every.shape[1]
        found = found[parents.to(found.device)]
        if step + 1 < steps:
            found[:, step + 1] = tokens.to(found)
        ended = ended[parents] | (tokens == 3)
        told = [one for one in (*found[0, 1 : step + 1].tolist(), int(tokens[0])) if one > 4]
        state = {"step": step + 1, "text": name(told), "log_probability": total[0].item()}
        if method == "beam":
            level = {"ends": tokens, "log_probabilities": total, "kept": tokens >= 0}
            state |= {**level, "parents": parents, "names": [name([one or 3]) for one in tokens.tolist()]}
        yield state
        if ended.all():
            break
    yield {"tokens": told, "log_probability": total[0].item(), "whole": name(told)}


def as_many(batch: dict[str, Tensor], count: int) -> dict[str, Tensor]:
    """So many rows that all are the first of the batch."""
    return {name: column[:1].expand(count, *column.shape[1:]) for name, column in batch.items()}


def state_in_words(state: dict[str, Any]) -> str:
    """A state as a line: large tensors by their sizes and means."""
    words = []
    for name, value in state.items():
        if isinstance(value, Tensor):
            size = "x".join(str(one) for one in value.shape)
            few = "[" + " ".join(f"{one:.4g}" for one in value.flatten().tolist()) + "]"
            value = few if value.numel() <= 12 else f"{size} mean {value.double().mean():.4g}"
        words.append(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}")
    return "  ".join(words)


def places_there(lengths: Tensor, count: int) -> Tensor:
    """Which of `count` places each row has, (N, count), by how many it has (N,)."""
    return torch.arange(count, device=lengths.device) < lengths[:, None]


class Attention(nn.Module):
    """Each step of a sequence (N, T, F) reads the steps of a memory (N, S, M) whose keys fit its query."""
    # Sources: Vaswani and others, 2017; groups: Shazeer, 2019; Ainslie and others, 2023.

    scale: float | None = None  # of the scores: 1 / √D
    plain = True  # nothing is added to the scores, so that torch itself leaves out later steps

    def __init__(
        self,
        features: int,
        memory: int,
        heads: int = 4,
        groups: int | None = None,
        causal: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.heads, self.groups, self.causal, self.dropout = heads, groups or heads, causal, dropout
        shared = features // heads * self.groups
        self.query = nn.Linear(features, features)
        self.key = nn.Linear(memory, shared)
        self.value = nn.Linear(memory, shared)
        self.output = nn.Linear(features, features)

    def forward(self, x: Tensor, memory: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """`lengths` (N,) say how many steps the memory has; its first may always be read."""
        query, key, value = self.split(x, x if memory is None else memory)
        left_out = self.plain and self.causal and lengths is None and query.shape[2] == key.shape[2]
        read = self.read(query, key, value, None if left_out else self.added(query, key, lengths))
        found: Tensor = self.output(read.transpose(1, 2).flatten(2))
        return found

    def split(self, x: Tensor, memory: Tensor, first: int = 0) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (N, heads, T, D), and keys and values (N, heads, S, D); step 0 is number `first`."""
        query = self.query(x).unflatten(2, (self.heads, -1)).transpose(1, 2)
        key = self.key(memory).unflatten(2, (self.groups, -1)).transpose(1, 2)
        value = self.value(memory).unflatten(2, (self.groups, -1)).transpose(1, 2)
        times = self.heads // self.groups
        if times == 1:
            return query, key, value
        return query, key.repeat_interleave(times, 1), value.repeat_interleave(times, 1)

    def added(self, query: Tensor, key: Tensor, lengths: Tensor | None) -> Tensor | None:
        """What is added to the scores: minus infinity where nothing may be read."""
        allowed = None
        if lengths is not None:
            allowed = places_there(lengths.clamp(min=1), key.shape[2])[:, None, None]
        if self.causal:
            steps = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device)
            steps = steps.tril(key.shape[2] - query.shape[2])  # queries are those of the last keys
            allowed = steps if allowed is None else steps & allowed
        return None if allowed is None else torch.where(allowed, 0.0, -torch.inf).to(query.dtype)

    def read(self, query: Tensor, key: Tensor, value: Tensor, added: Tensor | None) -> Tensor:
        """What each step reads, (N, heads, T, D)."""
        dropout, causal = self.dropout if self.training else 0.0, self.causal and added is None
        return F.scaled_dot_product_attention(query, key, value, added, dropout, causal, scale=self.scale)


class AdditiveAttention(Attention):
    """Attention whose score is a small network of query and key: v · tanh(q + k)."""
    # Source: Bahdanau, Cho and Bengio, 2015.

    plain = False

    def __init__(self, features: int, memory: int, heads: int = 4, **options: Any) -> None:
        super().__init__(features, memory, heads, **options)
        size = features // heads
        self.fit = nn.Parameter(torch.randn(heads, 1, 1, size) / math.sqrt(size))

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """How well each query fits each key, (N, heads, T, S)."""
        return (torch.tanh(query[:, :, :, None] + key[:, :, None]) * self.fit).sum(4)

    def read(self, query: Tensor, key: Tensor, value: Tensor, added: Tensor | None) -> Tensor:
        scores = self.scores(query, key)
        weights = (scores if added is None else scores + added).softmax(3)
        return F.dropout(weights, self.dropout, self.training) @ value


def read_to_end(layer: nn.Module, x: Tensor, lengths: Tensor) -> tuple[Tensor, Any]:
    """What a recurrent layer gives for rows (N, T, F) of these lengths (N,), and its state at each row's
    end."""
    ends = lengths.clamp(min=1).cpu()
    packed = nn.utils.rnn.pack_padded_sequence(x, ends, batch_first=True, enforce_sorted=False)
    output, state = layer(packed)
    padded, _ = nn.utils.rnn.pad_packed_sequence(output, batch_first=True, total_length=x.shape[1])
    return padded, state


def real_places(x: Tensor, lengths: Tensor) -> Tensor:
    """The places (M, ...) that rows (N, T, ...) have, one row after the other; lengths (N,) say how many."""
    there = torch.arange(x.shape[1], device=x.device) < lengths[:, None]
    there[0, 0] |= ~there.any()
    return x[there]


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(40, 16)
        self.encoder = nn.LSTM(16, 32, bidirectional=True, batch_first=True)
        self.digits_so_far = nn.Embedding(16, 16)
        self.decoder = nn.LSTM(16, 64, batch_first=True)
        self.attention = AdditiveAttention(64, 64, 1)
        self.thought = nn.Linear(128, 64)
        self.digits = nn.Linear(64, 16)

    def forward(self, source: Tensor, target: Tensor, source_length: Tensor, target_mask: Tensor) -> Tensor:
        x = self.words(source)                               # (N, source ≤ 8, 16)
        encoder, _ = read_to_end(self.encoder, x, source_length)  # (N, source ≤ 8, 64)
        x = self.digits_so_far(target)                       # (N, target ≤ 5, 16)
        decoder, _ = read_to_end(self.decoder, x, target_mask.sum(1).long())  # (N, target ≤ 5, 64)
        x = self.attention(decoder, encoder, source_length)  # (N, target ≤ 5, 64)
        x = torch.cat((decoder, x), -1)                      # (N, target ≤ 5, 128)
        x = torch.tanh(self.thought(x))                      # (N, target ≤ 5, 64)
        return self.digits(x)                                # (N, target ≤ 5, 16)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss". "weight" is how much the batch counts."""
    digits = model(batch["source"], batch["target"], batch["source_length"], batch["target_mask"])
    return {
        "loss": F.cross_entropy(
            real_places(digits, batch["target_mask"].sum(1).long()),
            real_places(batch["next"], batch["target_mask"].sum(1).long()),
        ),
        "weight": batch["target_mask"].sum(1).long().sum(),
    }


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, tuple[Tensor, Tensor | int]]:
    """The losses and metrics of a batch, each with how much the batch counts in the mean over several."""
    digits = model(batch["source"], batch["target"], batch["source_length"], batch["target_mask"])
    return {
        "loss": (
            F.cross_entropy(
                real_places(digits, batch["target_mask"].sum(1).long()),
                real_places(batch["next"], batch["target_mask"].sum(1).long()),
            ),
            batch["target_mask"].sum(1).long().sum(),
        ),
        "accuracy": (
            (
                real_places(digits, batch["target_mask"].sum(1).long()).argmax(1) == real_places(
                    batch["next"], batch["target_mask"].sum(1).long()
                )
            ).float().mean(),
            batch["target_mask"].sum(1).long().sum(),
        ),
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


TOKENISERS: list[Any] = []  # that are learned from the data, in their order


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test.

    source (N, 8); source_length (N,); target (N, 5); next (N, 5); target_mask (N, 5).
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
    TOKENISERS[:] = [made, target]
    tokens, mask, lengths = filled_up([made.ids(one) for one in left], 8, False)
    whole, there, _ = filled_up([target.ids(one) for one in right], 6, True)
    columns = {
        "source": tokens,
        "source_length": lengths,
        "target": torch.where(whole[:, :-1] == 3, 0, whole[:, :-1]),
        "next": whole[:, 1:],
        "target_mask": there[:, 1:],
    }
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in rows.items()}


# What says how long rows are, and the columns that are filled up.
FILLED = {"source_length": ("source",), "target_mask": ("target", "next", "target_mask")}


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


def command_line(description: str | None) -> argparse.ArgumentParser:
    """What training and procedures are both told."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).parent / "files", help="folder that holds numbers.tsv"
    )
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def main() -> None:
    parser = command_line("Words to digits, with attention")
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
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
def translate(
    model: Model, batch: dict[str, Tensor], draws: torch.Generator, **options: Any
) -> Iterator[dict[str, Any]]:
    """Writes the second text of a pair from the first, token by token, as the network alone would."""
    target = batch["target"]  # (N, target ≤ 5)

    def scores(target: Tensor, batch: dict[str, Tensor] = batch) -> Tensor:
        batch = as_many(batch, len(target))
        return model(batch["source"], target, batch["source_length"], batch["target_mask"])

    yield from translated(scores, target, TOKENISERS[-1], **options)


def run() -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    parser = command_line(translate.__doc__)
    parser.prog += " translate"
    parser.add_argument("--weights", type=Path, required=True, help="as --save writes them")
    parser.add_argument("--split", default="validation", choices=["train", "validation", "test"])
    parser.add_argument("--rows", type=int, nargs="+", default=[0], help="of the split, from 0")
    parser.add_argument(
        "--method",
        choices=["greedy", "beam"],
        default="greedy",
        help="the likeliest token at each step, or the likeliest text",
    )
    parser.add_argument("--width", type=int, default=4, help="texts that a beam keeps")
    args = parser.parse_args(sys.argv[2:])

    try:
        model = Model().to(args.device).eval()
        model.load_state_dict(torch.load(args.weights, map_location="cpu", weights_only=True))
        columns = load(args.data, args.device)[args.split]
        batch = {name: column[args.rows] for name, column in columns.items()}
        torch.manual_seed(args.seed)
        draws = torch.Generator().manual_seed(args.seed)
        for state in translate(model, batch, draws, method=args.method, width=args.width):
            told = json.dumps(state, default=Tensor.tolist) if args.json else state_in_words(state)
            print(told, flush=True)
    except KeyboardInterrupt:
        parser.exit(130, f"{parser.prog}: stopped\n")
    except (OSError, ValueError, IndexError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    if sys.argv[1:2] == ["translate"]:
        run()
    else:
        main()
