"""BERT in small

Exported from Neuroloom. Needs torch and numpy only.

    python bert_in_small.py --data FOLDER

FOLDER holds stories.tsv; --data names another than the usual.
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
import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 32
    learning_rate: float = 0.002


CONFIG = Config()


def annotated_columns(made: Any, rows: list[dict[str, str]], length: int) -> dict[str, Tensor]:
    """Columns of pairs of texts [begin] first [end] second [end], cut at `length` and filled up."""
    numbers = {
        tag: number
        for number, tag in enumerate(
            ("ADJ", "ADP", "ADV", "AUX", "DET", "NOUN", "PRON", "PROPN", "PUNCT", "VERB"), 1
        )
    }
    pieces: dict[str, list[int]] = {}
    tokens, told = torch.zeros(2, len(rows), length, dtype=torch.int64)
    lengths, start, end = torch.zeros(3, len(rows), dtype=torch.int64)
    for at, row in enumerate(rows):
        ids, kinds = [2], [0]
        given = [numbers.get(tag, 0) for tag in row.get("tags", "").split()]
        texts = [re.findall('\\w+|[^\\w\\s]|\\n', row.get(name, "")) for name in ("first", "second")]
        for words in texts if texts[1] else texts[:1]:
            places = []
            for word in words:
                if word not in pieces:
                    pieces[word] = made.ids(word).tolist()
                places.append(len(ids))
                ids += pieces[word]
                kinds += [given.pop(0) if given else 0] + [0] * (len(pieces[word]) - 1)
            places.append(len(ids))
            ids.append(3)
            kinds.append(0)
        answer = re.findall('\\w+|[^\\w\\s]|\\n', row.get("answer", ""))
        fitting = range(len(words) - len(answer) + 1) if answer else []
        first = next((one for one in fitting if words[one : one + len(answer)] == answer), None)
        if first is not None and places[first + len(answer)] <= length:
            start[at], end[at] = places[first], places[first + len(answer)] - 1
        lengths[at] = min(len(ids), length)
        tokens[at, : lengths[at]], told[at, : lengths[at]] = (
            torch.tensor(one[:length]) for one in (ids, kinds)
        )
    return {"tokens": tokens, "length": lengths, "tags": told, "start": start, "end": end}


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


def scrambled(x: Tensor) -> Tensor:
    """Whole numbers from 0 to 2³² - 1 that look random, by their lower 32 bits (Wellons, 2018)."""
    x = x & 0xFFFFFFFF
    x = (x ^ (x >> 16)) * 0x7FEB352D & 0xFFFFFFFF
    x = (x ^ (x >> 15)) * 0x846CA68B & 0xFFFFFFFF
    return x ^ (x >> 16)


def fixed_draws(tokens: Tensor, seed: int) -> Tensor:
    """Three numbers in [0, 1) for each token (N, ..., T), as if drawn, from its row's tokens and the seed."""
    place = torch.arange(tokens.shape[-1], device=tokens.device)
    row = (scrambled(tokens + scrambled(place + seed)) * (tokens != 0)).sum(-1, keepdim=True)
    drawn = [scrambled(scrambled(row + number) + place) for number in (1, 2, 3)]
    return (torch.stack(drawn) >> 8).float() / 2**24


class MaskTokens(nn.Module):
    """Hides a fraction `rate` of the tokens (N, ..., T): gives (tokens, targets), both of that shape."""
    # Source: Devlin, Chang, Lee and Toutanova, 2018.

    def __init__(
        self, size: int, rate: float = 0.15, hidden: float = 0.8, swapped: float = 0.1, seed: int = 0
    ) -> None:
        super().__init__()
        self.size = size
        self.rate = rate
        self.hidden = hidden
        self.swapped = swapped
        self.seed = seed

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        if self.training:
            drawn, fate, other = torch.rand(3, *tokens.shape, device=tokens.device)
        else:
            drawn, fate, other = fixed_draws(tokens, self.seed)
        drawn = drawn.masked_fill(tokens < 5, 2.0)
        lowest = drawn.amin(-1, keepdim=True).clamp(max=1.0)
        picked = (drawn < self.rate) | (drawn == lowest)
        random = 5 + (other * (self.size - 5)).long()
        masked = torch.where(picked & (fate < self.hidden), 4, tokens)
        swaps = picked & (fate >= self.hidden) & (fate < self.hidden + self.swapped)
        return torch.where(swaps, random, masked), torch.where(picked, tokens, -100)


def places_there(lengths: Tensor, count: int) -> Tensor:
    """Which of `count` places each row has, (N, count), by how many it has (N,)."""
    return torch.arange(count, device=lengths.device) < lengths[:, None]


def filled_up(x: Tensor, lengths: Tensor) -> Tensor:
    """Which steps of rows (N, T, F) of these lengths (N,) fill them up, (N, T); never the first."""
    return ~places_there(lengths.clamp(min=1), x.shape[1])


class Pointer(nn.Module):
    """Scores (N, `steps`) of which step of a sequence (N, T, F) is meant; -10⁹ behind its end."""
    # Source: Vinyals, Fortunato and Jaitly, 2015.

    def __init__(self, features: int, steps: int) -> None:
        super().__init__()
        self.steps = steps
        self.score = nn.Linear(features, 1)

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        scores: Tensor = self.score(x).squeeze(2)
        if lengths is not None:
            scores = scores.masked_fill(filled_up(x, lengths), -1e9)
        return F.pad(scores, (0, self.steps - x.shape[1]), value=-1e9)


class Placed(nn.Module):
    """A table of positions, added to each sequence (N, T, F), or joined to it as more features."""

    positions: Tensor

    def __init__(self, joined: bool = False) -> None:
        super().__init__()
        self.joined = joined

    def forward(self, x: Tensor, first: int = 0) -> Tensor:
        """Step 0 is number `first`."""
        positions = self.positions[first : first + x.shape[1]].to(x.dtype)
        return torch.cat((x, positions.expand(len(x), -1, -1)), 2) if self.joined else x + positions


class Positions(Placed):
    """The place of each step of a sequence (N, T, F) as sines and cosines, added, or joined as `size`
    more."""
    # Source: Vaswani and others, 2017; wavelengths from 2π to 2π · 10000.

    def __init__(self, steps: int, size: int, joined: bool = False) -> None:
        super().__init__(joined)
        place = torch.arange(steps)[:, None]
        angle = place * 10000.0 ** (-torch.arange(0, size, 2) / size)
        table = torch.stack((torch.sin(angle), torch.cos(angle)), 2).flatten(1)[:, :size]
        self.register_buffer("positions", table, persistent=False)


def counted(target: Tensor, ignored: int | None = None) -> Tensor:
    """How much classes (N, ...) count: each 1, or the weight of its class; -100 and `ignored` nothing."""
    counts = target != -100 if ignored is None else (target != -100) & (target != ignored)
    return counts.sum()


def counted_cross_entropy(scores: Tensor, target: Tensor, ignored: int | None = None) -> Tensor:
    """Cross-entropy of scores (N, classes, ...) with classes (N, ...): the mean over what counts."""
    if ignored is not None:
        target = target.masked_fill(target == ignored, -100)
    total = F.cross_entropy(scores, target, None, reduction="sum", label_smoothing=0.0)
    return total / counted(target).clamp(min=1e-12)


def masked_accuracy(guessed: Tensor, target: Tensor, ignored: int | None = None) -> Tensor:
    """The fraction of places (N, ...) whose class is right, without those of class -100 or `ignored`."""
    there = target != -100 if ignored is None else (target != -100) & (target != ignored)
    return ((guessed == target) & there).sum() / there.sum().clamp(1)


def real_places(x: Tensor, lengths: Tensor) -> Tensor:
    """The places (M, ...) that rows (N, T, ...) have, one row after the other; lengths (N,) say how many."""
    there = torch.arange(x.shape[1], device=x.device) < lengths[:, None]
    there[0, 0] |= ~there.any()
    return x[there]


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(105, 64)
        self.texts = nn.Embedding(2, 64)
        self.positions = Positions(45, 64)
        self.layer_1 = nn.TransformerEncoderLayer(
            64, 4, 128, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.layer_2 = nn.TransformerEncoderLayer(
            64, 4, 128, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.norm = nn.LayerNorm(64)

    def forward(self, in_: Tensor, tokens_lengths: Tensor) -> Tensor:  # (N, tokens ≤ 45)
        words = self.words(in_)  # (N, tokens ≤ 45, 64)
        x = (in_.eq(3).long().cumsum(1) - in_.eq(3).long()).clamp(max=1)  # (N, tokens ≤ 45)
        x = self.texts(x)        # (N, tokens ≤ 45, 64)
        x = words + x            # (N, tokens ≤ 45, 64)
        x = self.positions(x)    # (N, tokens ≤ 45, 64)
        x = self.layer_1(x, src_key_padding_mask=filled_up(x, tokens_lengths))  # (N, tokens ≤ 45, 64)
        x = self.layer_2(x, src_key_padding_mask=filled_up(x, tokens_lengths))  # (N, tokens ≤ 45, 64)
        return self.norm(x)      # (N, tokens ≤ 45, 64)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hide = MaskTokens(105)
        self.encoder = Encoder()
        self.hidden_words = nn.Linear(64, 105)
        self.belongs = nn.Linear(64, 2)
        self.feeling = nn.Linear(64, 2)
        self.tags = nn.Linear(64, 11)
        self.begins = Pointer(64, 45)
        self.ends = Pointer(64, 45)

    def forward(self, tokens: Tensor, length: Tensor) -> tuple[
        Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor
    ]:  # (N, tokens ≤ 45), (N,)
        hide_tokens, hide_targets = self.hide(tokens)  # (N, tokens ≤ 45), (N, tokens ≤ 45)
        encoder = self.encoder(hide_tokens, length)    # (N, tokens ≤ 45, 64)
        hidden_words = self.hidden_words(encoder)      # (N, tokens ≤ 45, 105)
        x = encoder[:, 0]                              # (N, 64)
        belongs = self.belongs(x)                      # (N, 2)
        encoder_2 = self.encoder(tokens, length)       # (N, tokens ≤ 45, 64)
        x = encoder_2[:, 0]                            # (N, 64)
        feeling = self.feeling(x)                      # (N, 2)
        tags = self.tags(encoder_2)                    # (N, tokens ≤ 45, 11)
        begins = self.begins(encoder_2, length)        # (N, 45)
        ends = self.ends(encoder_2, length)            # (N, 45)
        return hide_targets, hidden_words, belongs, feeling, tags, begins, ends


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

    tokens (N, 45); length (N,); tags (N, 45); start (N,); end (N,); belongs (N,); feeling (N,).
    """
    try:
        text = (folder / "stories.tsv").read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise SystemExit(f"The text cannot be read: {error}") from error
    names, *cells = [line.split("\t") for line in text.split("\n") if line.strip()]
    if any(len(one) != len(names) for one in cells):
        raise SystemExit(f"There are not {len(names)} cells in each line.")
    found = [dict(zip(names, one, strict=True)) for one in cells]
    texts = [" ".join((one.get("first", ""), one.get("second", ""))) for one in found]
    rows = split_at_random(len(found), validation=0.1, test=0.1, seed=0)
    if not all(len(at) for at in rows.values()):
        raise SystemExit("There are too few rows for three splits: has the data changed?")
    made = learned_words([texts[row] for row in rows["train"].tolist()], 105)
    told = annotated_columns(made, found, 45)
    columns = {
        "tokens": told["tokens"],
        "length": told["length"],
        "tags": told["tags"],
        "start": told["start"],
        "end": told["end"],
        "belongs": torch.tensor([("no", "yes").index(one["belongs"]) for one in found]),
        "feeling": torch.tensor([("bad", "good").index(one["feeling"]) for one in found]),
    }
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in rows.items()}


# What says how long rows are, and the columns that are filled up.
FILLED = {"length": ("tokens", "tags")}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["tokens"])
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
    found = {name: value / (weights[name] or math.nan) for name, value in sums.items()}
    found["loss"] = found["word_loss"] + found["pair_loss"] + found[
        "feeling_loss"
    ] + found["tag_loss"] + found["begin_loss"] + found["end_loss"]
    return found


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def pre_training(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """Trains encoder, hidden_words, belongs."""
    tokens = batch["tokens"]                               # (N, tokens ≤ 45)
    belongs = batch["belongs"]                             # (N,)
    hide_tokens, hide_targets = model.hide(tokens)         # (N, tokens ≤ 45), (N, tokens ≤ 45)
    encoder = model.encoder(hide_tokens, batch["length"])  # (N, tokens ≤ 45, 64)
    hidden_words = model.hidden_words(encoder)             # (N, tokens ≤ 45, 105)
    x = encoder[:, 0]                                      # (N, 64)
    belongs_2 = model.belongs(x)                           # (N, 2)
    word_loss = counted_cross_entropy(
        real_places(hidden_words, batch["length"]), real_places(hide_targets, batch["length"]), ignored=0
    )
    pair_loss = F.cross_entropy(belongs_2, belongs)
    return {
        "loss": word_loss + pair_loss,
        "word_loss": word_loss,
        "pair_loss": pair_loss,
    }


def pre_training_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.AdamW(
        [*model.encoder.parameters(), *model.hidden_words.parameters(), *model.belongs.parameters()],
        lr=CONFIG.learning_rate,
    )


def fine_tuning(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """Trains everything."""
    tokens = batch["tokens"]                                # (N, tokens ≤ 45)
    tags = batch["tags"]                                    # (N, tokens ≤ 45)
    start = batch["start"]                                  # (N,)
    end = batch["end"]                                      # (N,)
    belongs = batch["belongs"]                              # (N,)
    feeling = batch["feeling"]                              # (N,)
    hide_tokens, hide_targets = model.hide(tokens)          # (N, tokens ≤ 45), (N, tokens ≤ 45)
    encoder = model.encoder(hide_tokens, batch["length"])   # (N, tokens ≤ 45, 64)
    hidden_words = model.hidden_words(encoder)              # (N, tokens ≤ 45, 105)
    x = encoder[:, 0]                                       # (N, 64)
    belongs_2 = model.belongs(x)                            # (N, 2)
    encoder_again = model.encoder(tokens, batch["length"])  # (N, tokens ≤ 45, 64)
    x = encoder_again[:, 0]                                 # (N, 64)
    feeling_2 = model.feeling(x)                            # (N, 2)
    tags_2 = model.tags(encoder_again)                      # (N, tokens ≤ 45, 11)
    begins = model.begins(encoder_again, batch["length"])   # (N, 45)
    ends = model.ends(encoder_again, batch["length"])       # (N, 45)
    word_loss = counted_cross_entropy(
        real_places(hidden_words, batch["length"]), real_places(hide_targets, batch["length"]), ignored=0
    )
    pair_loss = F.cross_entropy(belongs_2, belongs)
    feeling_loss = F.cross_entropy(feeling_2, feeling)
    tag_loss = counted_cross_entropy(
        real_places(tags_2, batch["length"]), real_places(tags, batch["length"]), ignored=0
    )
    begin_loss = F.cross_entropy(begins, start)
    end_loss = F.cross_entropy(ends, end)
    return {
        "loss": word_loss + pair_loss + feeling_loss + tag_loss + begin_loss + end_loss,
        "word_loss": word_loss,
        "pair_loss": pair_loss,
        "feeling_loss": feeling_loss,
        "tag_loss": tag_loss,
        "begin_loss": begin_loss,
        "end_loss": end_loss,
    }


def fine_tuning_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), lr=CONFIG.learning_rate)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, tuple[Tensor, Tensor | int]]:
    """The losses and metrics of a batch, each with how much the batch counts in the mean over several."""
    tokens = batch["tokens"]                                # (N, tokens ≤ 45)
    tags = batch["tags"]                                    # (N, tokens ≤ 45)
    start = batch["start"]                                  # (N,)
    end = batch["end"]                                      # (N,)
    belongs = batch["belongs"]                              # (N,)
    feeling = batch["feeling"]                              # (N,)
    hide_tokens, hide_targets = model.hide(tokens)          # (N, tokens ≤ 45), (N, tokens ≤ 45)
    encoder = model.encoder(hide_tokens, batch["length"])   # (N, tokens ≤ 45, 64)
    hidden_words = model.hidden_words(encoder)              # (N, tokens ≤ 45, 105)
    x = encoder[:, 0]                                       # (N, 64)
    belongs_2 = model.belongs(x)                            # (N, 2)
    encoder_again = model.encoder(tokens, batch["length"])  # (N, tokens ≤ 45, 64)
    x = encoder_again[:, 0]                                 # (N, 64)
    feeling_2 = model.feeling(x)                            # (N, 2)
    tags_2 = model.tags(encoder_again)                      # (N, tokens ≤ 45, 11)
    begins = model.begins(encoder_again, batch["length"])   # (N, 45)
    ends = model.ends(encoder_again, batch["length"])       # (N, 45)
    word_loss = counted_cross_entropy(
        real_places(hidden_words, batch["length"]), real_places(hide_targets, batch["length"]), ignored=0
    )
    pair_loss = F.cross_entropy(belongs_2, belongs)
    feeling_loss = F.cross_entropy(feeling_2, feeling)
    tag_loss = counted_cross_entropy(
        real_places(tags_2, batch["length"]), real_places(tags, batch["length"]), ignored=0
    )
    begin_loss = F.cross_entropy(begins, start)
    end_loss = F.cross_entropy(ends, end)
    return {
        "loss": (
            word_loss + pair_loss + feeling_loss + tag_loss + begin_loss + end_loss,
            counted(real_places(hide_targets, batch["length"]), ignored=0),
        ),
        "word_loss": (word_loss, counted(real_places(hide_targets, batch["length"]), ignored=0)),
        "pair_loss": (pair_loss, len(batch["tokens"])),
        "feeling_loss": (feeling_loss, len(batch["tokens"])),
        "tag_loss": (tag_loss, counted(real_places(tags, batch["length"]), ignored=0)),
        "begin_loss": (begin_loss, len(batch["tokens"])),
        "end_loss": (end_loss, len(batch["tokens"])),
        "word_accuracy": (
            masked_accuracy(
                real_places(hidden_words, batch["length"]).argmax(1),
                real_places(hide_targets, batch["length"]),
                ignored=0,
            ),
            counted(real_places(hide_targets, batch["length"]), ignored=0),
        ),
        "pair_accuracy": ((belongs_2.argmax(1) == belongs).float().mean(), len(batch["tokens"])),
        "feeling_accuracy": ((feeling_2.argmax(1) == feeling).float().mean(), len(batch["tokens"])),
        "tag_accuracy": (
            masked_accuracy(
                real_places(tags_2, batch["length"]).argmax(1), real_places(tags, batch["length"]), ignored=0
            ),
            counted(real_places(tags, batch["length"]), ignored=0),
        ),
        "begin_accuracy": ((begins.argmax(1) == start).float().mean(), len(batch["tokens"])),
        "end_accuracy": ((ends.argmax(1) == end).float().mean(), len(batch["tokens"])),
    }


def train(
    model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int | None, as_json: bool
) -> None:
    phases = [  # of each: epochs, layers that rest, the objective with its optimiser
        (6, [model.begins, model.ends], "pre_training", pre_training, pre_training_optimiser),
        (8, [], "fine_tuning", fine_tuning, fine_tuning_optimiser),
    ]
    shuffle = torch.Generator().manual_seed(seed)
    step = epoch = 0
    for number, (limit, still, name, compute, make) in enumerate(phases):
        optimiser = make(model)
        for _ in range(epochs or limit):
            for layer in still:
                layer.eval()
            for batch in batches(data["train"], shuffle):
                optimiser.zero_grad()
                loss = compute(model, batch)["loss"]
                values = {name: loss.item()}
                if not math.isfinite(values[name]):
                    raise SystemExit(f"{name} is {values[name]} after {step} steps: a lower rate may help.")
                loss.backward(inputs=optimiser.param_groups[0]["params"])
                optimiser.step()
                step += 1
                if as_json:
                    print(json.dumps({"step": step, "phase": number, "epoch": epoch, **values}))
            found = evaluate(model, data["validation"])
            values = {f"val_{name}": value for name, value in found.items()}
            report({"epoch": epoch, **values}, as_json)
            epoch += 1


def main() -> None:
    parser = argparse.ArgumentParser(description="BERT in small")
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).parent / "files", help="folder that holds stories.tsv"
    )
    parser.add_argument("--epochs", type=int, help="of each phase, in place of the plan's own")
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
