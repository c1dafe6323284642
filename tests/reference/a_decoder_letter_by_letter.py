"""A decoder, letter by letter

Exported from Neuroloom. Needs torch and numpy only.

    python a_decoder_letter_by_letter.py --data FOLDER --epochs 16
    python a_decoder_letter_by_letter.py generate --weights FILE

FOLDER holds romeo_and_juliet.txt; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 16
    epochs: int = 16
    learning_rate: float = 0.003


CONFIG = Config()


def portions(text: str, most: int = 100_000) -> list[str]:
    """A long text in portions of at most `most` characters, cut before a space where there is one."""
    found, begin = [], 0
    while len(text) - begin > most:
        cut = max(text.rfind(" ", begin + 1, begin + most), text.rfind("\n", begin + 1, begin + most))
        end = cut if cut > begin else begin + most
        found.append(text[begin:end])
        begin = end
    return [*found, text[begin:]]


def beams(
    read: Callable[..., Tensor], window: Tensor, length: int, width: int
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """After each token the 2 `width` likeliest continuations (M, n), their log-probabilities and parents."""
    # Source: Graves, 2012.
    found = torch.empty(1, 0, dtype=torch.int64)
    total = torch.zeros(1, dtype=torch.float64)
    parents: Tensor | None = None
    for _ in range(length):
        texts = torch.cat([window.expand(len(found), -1), found.to(window)], 1)
        before = None if parents is None else parents[:width]
        steps = torch.log_softmax(read(texts, before).double().cpu(), 1)
        every = (total[:, None] + steps).flatten()
        best = every.argsort(descending=True, stable=True)[: 2 * width]
        parents = best // steps.shape[1]
        ranked = torch.cat([found[parents], (best % steps.shape[1])[:, None]], 1)
        yield ranked, every[best], parents
        found, total = ranked[:width], every[best][:width]


def next_probabilities(
    scores: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0
) -> Tensor:
    """The probabilities (V,) float64 on the CPU from which a token is drawn, by scores (V,)."""
    scores = scores.double().cpu() / temperature
    if 0 < top_k < len(scores):
        outside = scores.argsort(descending=True, stable=True)[top_k:]
        scores = scores.index_fill(0, outside, -torch.inf)
    probabilities = torch.softmax(scores, 0)
    if top_p < 1:
        ordered, order = probabilities.sort(descending=True, stable=True)
        outside = order[ordered.cumsum(0) - ordered >= top_p]
        probabilities = probabilities.index_fill(0, outside, 0.0)
        probabilities = probabilities / probabilities.sum()
    return probabilities


def continued(
    read: Callable[..., Tensor],
    window: Tensor,
    known: Any,
    *,
    draws: torch.Generator,
    length: int,
    method: str,
    temperature: float,
    top_k: int,
    top_p: float,
    width: int,
    prompt: str,
) -> Iterator[dict[str, Any]]:
    """Tokens after a window (1, T), one by one, then the whole text."""
    text, name = window[:1], known.text
    if prompt:
        ids = torch.as_tensor(known.ids(prompt)).to(text)
        text = torch.cat([text, ids[None]], 1)[:, -window.shape[1] :]
    tokens: list[int] = []
    total = 0.0
    if method == "beam":
        for step, (found, totals, parents) in enumerate(beams(read, text, length, width), 1):
            tokens, total = found[0].tolist(), totals[0].item()
            names = [name([token]) for token in found[:, -1].tolist()]
            tree = {"parents": parents, "ends": found[:, -1], "names": names, "log_probabilities": totals}
            kept = {"kept": torch.arange(len(found)) < width}
            yield {"step": step, "text": name(tokens), "log_probability": total, **tree, **kept}
    else:
        for step in range(1, length + 1):
            found = read(text)[0]
            if method == "greedy":
                found = torch.log_softmax(found.double().cpu(), 0).exp()
                token = found.argmax().reshape(1)
            else:
                found = next_probabilities(found, temperature, top_k, top_p)
                token = torch.multinomial(found, 1, generator=draws)
            number, probability = int(token), found[token].item()
            total += torch.tensor(probability, dtype=torch.float64).log().item()
            tokens.append(number)
            text = torch.cat([text, token.to(text)[None]], 1)
            yield {"step": step, "token": number, "text": name([number]), "probability": probability}
    yield {"tokens": tokens, "log_probability": total, "whole": prompt + name(tokens)}


class GrowingText:
    """The scores (N, V) of what comes next after texts (N, n) that grow by one token at each call."""

    def __init__(
        self, scores: Callable[[Tensor], Tensor], longest: int, model: nn.Module, cache: bool
    ) -> None:
        self.scores, self.longest, self.cache = scores, longest, cache
        self.layers: list[Any] = [layer for layer in model.modules() if hasattr(layer, "read_on")]
        self.kept: dict[tuple[Any, int], Any] = {}
        self.calls: dict[Any, int] = {}
        self.begin = self.end = 0

    def __call__(self, texts: Tensor, parents: Tensor | None = None) -> Tensor:
        """`parents` (N,) are the texts of the call before from which these go on; the same where None."""
        if texts.shape[1] - self.begin > self.longest:
            self.begin = self.end = texts.shape[1] - max(1, self.longest // 2)
            self.kept = {}
        if not self.cache:
            return self.scores(texts[:, self.begin :])
        if parents is not None:
            for place, kept in self.kept.items():
                if isinstance(kept, tuple):
                    self.kept[place] = tuple(one[parents.to(one.device)] for one in kept)
        self.calls = dict.fromkeys(self.layers, 0)
        for layer in self.layers:
            layer.forward = self.reading(layer)
        try:
            found = self.scores(texts[:, self.end :])
        finally:
            for layer in self.layers:
                del layer.forward
        self.end = texts.shape[1]
        return found

    def reading(self, layer: Any) -> Callable[[Tensor], Tensor]:
        """What a layer does in place of its `forward`; it may be called several times in a pass."""

        def read_on(x: Tensor) -> Tensor:
            place = (layer, self.calls[layer])
            self.calls[layer] += 1
            found, self.kept[place] = layer.read_on(x, self.kept.get(place))
            read: Tensor = found
            return read

        return read_on


def written_on(
    scores: Callable[[Tensor], Tensor],
    window: Tensor,
    known: Any,
    model: nn.Module,
    *,
    cache: bool,
    **options: Any,
) -> Iterator[dict[str, Any]]:
    """The states of `continued` by a causal model, whose text grows up to the length of the window."""
    yield from continued(GrowingText(scores, window.shape[1], model, cache), window, known, **options)


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

    def read_on(self, x: Tensor, kept: tuple[Tensor, Tensor] | None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """What steps that are new (N, t, F) read, causal; `kept` are keys and values of those before."""
        query, *new = self.split(x, x, 0 if kept is None else kept[0].shape[2])
        key, value = new if kept is None else (torch.cat(pair, 2) for pair in zip(kept, new, strict=True))
        read = self.read(query, key, value, self.added(query, key, None))
        return self.output(read.transpose(1, 2).flatten(2)), (key, value)

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


def rotated(x: Tensor, first: int = 0) -> Tensor:
    """Queries or keys (N, heads, T, D), each pair of numbers turned by an angle that grows with its step."""
    steps, size = x.shape[2:]
    kind = torch.promote_types(x.dtype, torch.float32)
    speed = 10000.0 ** (-torch.arange(0, size, 2, device=x.device, dtype=kind) / size)
    angle = torch.arange(first, first + steps, device=x.device, dtype=kind)[:, None] * speed
    pairs = torch.view_as_complex(x.to(kind).view(*x.shape[:3], -1, 2))
    turned = torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle))
    return turned.flatten(3).to(x.dtype)


class RotaryAttention(Attention):
    """Attention whose queries and keys are turned by their places: scores know how far apart they are."""
    # Source: Su and others, 2021.

    def split(self, x: Tensor, memory: Tensor, first: int = 0) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = super().split(x, memory)
        return rotated(query, first), rotated(key, first), value


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


class DecoderLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm_1 = nn.LayerNorm(96)
        self.attention = RotaryAttention(96, 96, 4, causal=True, dropout=0.1)
        self.norm_2 = nn.LayerNorm(96)
        self.wide = nn.Linear(96, 384)
        self.narrow = nn.Linear(384, 96)

    def forward(self, in_: Tensor) -> Tensor:  # (N, 64, 96)
        x = self.norm_1(in_)                   # (N, 64, 96)
        x = self.attention(x)                  # (N, 64, 96)
        read = in_ + x                         # (N, 64, 96)
        x = self.norm_2(read)                  # (N, 64, 96)
        x = F.gelu(self.wide(x))               # (N, 64, 384)
        x = self.narrow(x)                     # (N, 64, 96)
        return read + x                        # (N, 64, 96)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.letters = nn.Embedding(72, 96)
        self.layers = nn.Sequential(*[DecoderLayer() for _ in range(2)])
        self.norm = nn.LayerNorm(96)
        self.scores = nn.Linear(96, 72)

    def forward(self, tokens: Tensor) -> Tensor:  # (N, 64)
        x = self.letters(tokens)                  # (N, 64, 96)
        x = self.layers(x)                        # (N, 64, 96)
        x = self.norm(x)                          # (N, 64, 96)
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


TOKENISERS: list[Any] = []  # that are learned from the data, in their order


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
    TOKENISERS[:] = [made]
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
    for rows in order.split(CONFIG.batch):
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
    return torch.optim.AdamW(model.parameters(), lr=CONFIG.learning_rate)


def schedule_for(
    optimiser: torch.optim.Optimizer, steps_per_epoch: int, epochs: int
) -> torch.optim.lr_scheduler.LRScheduler:
    """Down along half a cosine wave; stepped after each batch."""
    total = max(1, epochs * steps_per_epoch)

    def factor(step: int) -> float:
        done = min(1.0, step / total)
        return (1 + math.cos(math.pi * done)) / 2

    return torch.optim.lr_scheduler.LambdaLR(optimiser, factor)


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    optimiser = optimiser_for(model)
    steps_per_epoch = math.ceil(len(data["train"]["tokens"]) / CONFIG.batch)
    schedule = schedule_for(optimiser, steps_per_epoch, epochs)
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
            schedule.step()
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
        "--data",
        type=Path,
        default=Path(__file__).parent / "files",
        help="folder that holds romeo_and_juliet.txt",
    )
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def main() -> None:
    parser = command_line("A decoder, letter by letter")
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
def generate(
    model: Model, batch: dict[str, Tensor], draws: torch.Generator, **options: Any
) -> Iterator[dict[str, Any]]:
    """Writes on behind an example, token by token: the likeliest, drawn ones, or by beam search."""
    tokens = batch["tokens"]  # (N, 64)

    def scores(tokens: Tensor) -> Tensor:
        return model(tokens)[:, -1]

    yield from written_on(scores, tokens, TOKENISERS[0], model, draws=draws, **options)


def run() -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    parser = command_line(generate.__doc__)
    parser.prog += " generate"
    parser.add_argument("--weights", type=Path, required=True, help="as --save writes them")
    parser.add_argument("--split", default="validation", choices=["train", "validation", "test"])
    parser.add_argument("--rows", type=int, nargs="+", default=[0], help="of the split, from 0")
    parser.add_argument("--length", type=int, default=200, help="how many tokens are written")
    parser.add_argument(
        "--method",
        choices=["sample", "greedy", "beam"],
        default="sample",
        help="each token drawn, each the likeliest, or the likeliest of several texts",
    )
    parser.add_argument(
        "--temperature", type=float, default=1.0, help="below 1 the likeliest tokens come more often"
    )
    parser.add_argument("--top-k", type=int, default=0, help="so many of the likeliest tokens only; 0: all")
    parser.add_argument(
        "--top-p", type=float, default=1.0, help="only the likeliest whose probabilities come to this"
    )
    parser.add_argument("--width", type=int, default=4, help="texts that a beam keeps")
    parser.add_argument("--prompt", default="", help="text with which the new one begins, behind the example")
    parser.add_argument(
        "--cache",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="attention keeps its keys and values: each token is read once, the text is the same",
    )
    args = parser.parse_args(sys.argv[2:])

    try:
        model = Model().to(args.device).eval()
        model.load_state_dict(torch.load(args.weights, map_location="cpu", weights_only=True))
        columns = load(args.data, args.device)[args.split]
        batch = {name: column[args.rows] for name, column in columns.items()}
        torch.manual_seed(args.seed)
        draws = torch.Generator().manual_seed(args.seed)
        taken = {
            name: getattr(args, name)
            for name in ("length", "method", "temperature", "top_k", "top_p", "width", "prompt", "cache")
        }
        for state in generate(model, batch, draws, **taken):
            told = json.dumps(state, default=Tensor.tolist) if args.json else state_in_words(state)
            print(told, flush=True)
    except KeyboardInterrupt:
        parser.exit(130, f"{parser.prog}: stopped\n")
    except (OSError, ValueError, IndexError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    if sys.argv[1:2] == ["generate"]:
        run()
    else:
        main()
