"""Romeo and Juliet, letter by letter

Exported from Neuroloom. Needs torch and numpy only.

    python romeo_and_juliet_letter_by_letter.py --data FOLDER --epochs 8

FOLDER holds romeo_and_juliet.txt; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 32, 8


class Tokeniser:
    """Text to token numbers and back; `tokens` are the tokens in order. Small letters only, if `lower`."""

    def __init__(self, tokens: list[str], lower: bool) -> None:
        self.tokens, self.lower = tokens, lower
        self.numbers = {token: number for number, token in enumerate(tokens)}
        self.merges: list[tuple[str, str]] = []  # the pairs that were joined, in order

    def ids(self, text: str) -> np.ndarray[Any, Any]:
        """The numbers (n,) int32 of the tokens of a text."""
        return self.numbered(text.lower() if self.lower else text)

    def numbered(self, text: str) -> np.ndarray[Any, Any]:
        raise NotImplementedError

    def text(self, ids: list[int]) -> str:
        """What token numbers say; special tokens by their names."""
        return self.joined([self.tokens[one] if one < len(self.tokens) else self.tokens[1] for one in ids])

    def joined(self, tokens: list[str]) -> str:
        return "".join(tokens)


def portions(text: str, most: int = 100_000) -> list[str]:
    """A long text in portions of at most `most` characters, cut before a space where there is one."""
    found, begin = [], 0
    while len(text) - begin > most:
        cut = max(text.rfind(" ", begin + 1, begin + most), text.rfind("\n", begin + 1, begin + most))
        end = cut if cut > begin else begin + most
        found.append(text[begin:end])
        begin = end
    return [*found, text[begin:]]


def documents_of(text: str, documents: str) -> list[str]:
    """The documents of a text, which "blank lines" part, or "lines" are; none is empty."""
    found = text.split("\n") if documents == "lines" else re.split(r"\n[^\S\n]*\n\s*", text)
    return [one for one in found if one.strip()]


def corpus_parts(
    text: str, documents: str, deal: Callable[..., dict[str, Tensor]], dealing: dict[str, Any]
) -> dict[str, list[str]]:
    """{split: its documents}; of one text the parts in a row, each cut to a thousandth at a space.

    Errors: `ValueError` where a split gets nothing.
    """
    one = documents == "one text"
    units = portions(text, len(text) // 1000 + 1) if one else documents_of(text, documents)
    found = {}
    for split, rows in deal(len(units), None, **dealing).items():
        part = [units[row] for row in rows.tolist()]
        if not part:
            raise ValueError(f"Nothing of the text is left for {split}: give it a larger share.")
        found[split] = ["".join(part)] if one else part
    return found


def read_text(path: Path, encoding: str) -> str:
    """The text of a file. Errors: `ValueError` with the line where the bytes are no text of the encoding."""
    raw = path.read_bytes()
    name = "utf-8-sig" if encoding == "utf-8" else encoding
    try:
        text = raw.decode(name).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f'"{path.name}" is not {encoding}: byte {error.start + 1:,} (line {line:,}) is '
            f"{raw[error.start]:#04x}. Choose another encoding, or save the file as UTF-8."
        ) from error
    if "\0" in text:
        at = text.index("\0")
        raise ValueError(
            f'"{path.name}" has a zero byte in line {text.count(chr(10), 0, at) + 1:,}, which no text has: '
            "choose another encoding (UTF-16?), or another file."
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")


class Lazy:
    """Rows of a file as (N, *size) of `dtype`; `picked` are their numbers in the file, all by default.

    A subclass overrides `read`. Rows arrive on `device`, whatever device their numbers are on.
    """

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
            return self[torch.tensor([range(len(self))[rows]])][0]
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


class Windows(Lazy):
    """Windows (N, length, *size) of readings (n, *size), cut when they are asked for.

    With `length` 0 a window is one reading, without an axis of time.
    """

    def __init__(self, readings: Tensor, starts: Tensor, length: int, device: str) -> None:
        size = (length, *readings.shape[1:]) if length else tuple(readings.shape[1:])
        dtype = readings.dtype if readings.is_floating_point() else torch.int64
        super().__init__(len(starts), size, dtype, device)
        self.readings, self.starts, self.length = readings, starts, length

    def read(self, rows: Tensor) -> Tensor:
        first = self.starts[rows]
        at = first[:, None] + torch.arange(self.length) if self.length else first
        return self.readings[at].to(self.dtype)


def cut_windows(readings: Tensor, starts: Tensor, length: int, device: str) -> Any:
    """The windows of readings (n, *size) as one tensor (N, length, *size) if small, else as `Windows`.

    With `length` 0 a window is one reading: (N, *size).
    """
    found = Windows(readings, starts, length, device)
    return found[:] if found.numel() <= 20_000_000 else found


def corpus_windows(
    made: Tokeniser,
    texts: list[str],
    split: str,
    device: str,
    length: int,
    stride: int,
    run_on: bool,
    parted: bool,
) -> dict[str, Any]:
    """Windows of tokens and of what follows each. Documents that don't run on into the next are filled up."""
    pad, begin, end = 0, 2, 3
    rows: list[np.ndarray[Any, Any]] = []
    starts: list[np.ndarray[Any, Any]] = []
    at = 0
    for text in texts:
        ids = made.ids(text)
        if parted:
            ids = np.concatenate([ids, [end]] if run_on else [[begin], ids, [end]]).astype(np.int32)
        if parted and not run_on:
            first = np.arange(0, len(ids) - 1, stride)
            fill = max(0, int(first[-1]) + length + 1 - len(ids))
            ids = np.concatenate([ids, np.full(fill, pad, np.int32)])
            starts.append(at + first)
        rows.append(ids)
        at += len(ids)
    if not (parted and not run_on):
        starts = [np.arange(0, at - length, stride)]
    if not sum(map(len, starts)):
        raise ValueError(
            f"The part for {split} has {at:,} tokens, but a window of {length:,} and the token after it need "
            f"{length + 1:,}: give it a larger share, or shorten the window."
        )
    read, at_first = torch.from_numpy(np.concatenate(rows)), torch.from_numpy(np.concatenate(starts))
    return {
        "tokens": cut_windows(read, at_first, length, device),
        "next": cut_windows(read, at_first + 1, length, device),
    }


def load_corpus(
    folder: Path,
    device: str,
    *,
    file: str,
    encoding: str = "utf-8",
    documents: str = "one text",
    learn: Callable[..., Tokeniser],
    size: int = 256,
    lower: bool = False,
    length: int = 64,
    stride: int | None = None,
    run_on: bool = True,
    deal: Callable[..., dict[str, Tensor]],
    **dealing: Any,
) -> dict[str, dict[str, Any]]:
    """A text as {split: {"tokens" (N, length), "next" (N, length)}}: tokens, and what follows each.

    Errors: `ValueError` where a split is too short for a window.
    """
    texts = corpus_parts(read_text(folder / file, encoding), documents, deal, dealing)
    made = learn(texts["train"], size, lower)
    parted = documents != "one text"
    return {
        split: corpus_windows(made, part, split, device, length, stride or length, run_on, parted)
        for split, part in texts.items()
    }


def most_used(counts: dict[str, int], most: int) -> list[str]:
    """The commonest, at most `most`; of those that are as common, the first in the order of their codes."""
    return sorted(counts, key=lambda one: (-counts[one], one))[: max(0, most)]


def character_counts(texts: list[str]) -> dict[str, int]:
    """How often each character occurs."""
    found: dict[str, int] = {}
    for text in texts:
        for portion in portions(text, 1_000_000):
            codes, counts = np.unique(
                np.frombuffer(portion.encode("utf-32-le"), np.uint32), return_counts=True
            )
            for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
                found[chr(code)] = found.get(chr(code), 0) + count
    return found


def special_tokens() -> list[str]:
    """What tokens 0 to 4 are called: they fill up, stand for the unknown, begin, end, and hide."""
    return ["[pad]", "[unknown]", "[begin]", "[end]", "[mask]"]


def room_for(size: int) -> int:
    """How many tokens a vocabulary has beside the special ones. Errors: `ValueError` where it has none."""
    room = size - len(special_tokens())
    if room < 1:
        raise ValueError(f"A vocabulary of {size} holds no more than the {size - room} special tokens.")
    return room


class Characters(Tokeniser):
    """Each character is a token."""

    def numbered(self, text: str) -> np.ndarray[Any, Any]:
        known = np.array([ord(token) for token in self.tokens[5:]], np.uint32)
        order = known.argsort()
        found = []
        for portion in portions(text, 1_000_000):
            codes = np.frombuffer(portion.encode("utf-32-le"), np.uint32)
            at = np.searchsorted(known, codes, sorter=order).clip(max=len(known) - 1)
            found.append(np.where(known[order[at]] == codes, order[at] + 5, 1).astype(np.int32))
        return np.concatenate(found)


def learned_characters(texts: list[str], size: int, lower: bool) -> Tokeniser:
    """A tokeniser of the commonest characters, numbered in the order of their codes."""
    texts = [text.lower() for text in texts] if lower else texts
    kept = sorted(most_used(character_counts(texts), room_for(size)))
    return Characters(special_tokens() + (kept or ["\n"]), lower)


def dealt_in_time(n: int, keys: Tensor | None, *, validation: float, test: float) -> dict[str, Tensor]:
    """The first rows to train, later ones for validation, the last for test; `keys` are times, if any."""
    order = torch.arange(n) if keys is None else keys.argsort(stable=True)
    trained = n - round(validation * n) - round(test * n)
    return {
        "train": order[:trained],
        "validation": order[trained : n - round(test * n)],
        "test": order[n - round(test * n) :],
    }


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
    """The losses of a batch; training minimises "loss"."""
    scores = model(batch["tokens"])
    return {"loss": F.cross_entropy(scores.flatten(0, -2), batch["next"].flatten())}


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    scores = model(batch["tokens"])
    return {
        "loss": F.cross_entropy(scores.flatten(0, -2), batch["next"].flatten()),
        "accuracy": (scores.argmax(-1) == batch["next"]).float().mean(),
    }


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: tokens (N, 64); next (N, 64)."""
    return load_corpus(
        folder,
        device,
        file="romeo_and_juliet.txt",
        encoding="utf-8",
        learn=learned_characters,
        size=72,
        lower=False,
        length=64,
        documents="one text",
        stride=None,
        run_on=True,
        deal=dealt_in_time,
        validation=0.1,
        test=0.1,
    )


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["tokens"])
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
        size = len(batch["tokens"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


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


if __name__ == "__main__":
    main()
