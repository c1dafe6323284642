"""What counting gives: the loss of n-gram models beside that of a network, over the same text."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.inputs import value_of
from engine.look.registry import Taken, probe_kind
from engine.look.sequences.writing import token_column
from engine.look.sight import Look
from engine.shapes.heads import Head

MOST = 5  # tokens of the longest
HELD, COUNTED = 128, 20_000  # rows that are predicted, and that are counted
AT_ONCE = 32
SAMPLE, PART = 200, 500  # rows that show how far they overlap, and that are read at a time
Tokens = NDArray[np.int64]


def ngram_losses(
    train: Tokens, held: Tokens, size: int, *, most: int = MOST, last: bool = False
) -> list[float]:
    """The mean surprise, in nats, at the tokens of rows (M, T) by n-grams of rows (N, S), n from 1 to `most`.

    Each is the counted frequency mixed with the next shorter one by the number of different tokens that
    follow its context: P = (c(h, w) + t(h) P') / (c(h) + t(h)); the shortest is mixed with 1 / `size`. The
    first of a row is not predicted, and with `last` only the last is. What overlapping rows have in common is
    counted once. Long n-grams of large vocabularies are left out. Source: Witten and Bell, 1991.
    """
    before = counted_before(train)[:, None]
    probability = np.full((len(held), held.shape[1]), 1 / size)
    losses = []
    for n in range(1, 1 + min(most, int(62 / math.log2(max(2, size))))):
        new = np.arange(n, 1 + train.shape[1]) > before
        grams, counts = np.unique(_keys(train, n, size)[new], return_counts=True)
        contexts, inverse = np.unique(grams // size, return_inverse=True)
        followed = np.bincount(inverse, counts, len(contexts))
        different = np.bincount(inverse, minlength=len(contexts))
        asked = _keys(held, n, size)
        seen = _found(contexts, followed, asked // size)
        mixed = _found(contexts, different, asked // size)
        exact = _found(grams, counts, asked)
        shorter = probability[:, n - 1 :]
        known = seen > 0
        shorter[known] = ((exact + mixed * shorter) / np.maximum(seen + mixed, 1))[known]
        told = probability[:, -1:] if last else probability[:, 1:]
        losses.append(float(-np.log(told).mean()))
    return losses


def shift_of(rows: Tokens) -> int:
    """By how many tokens most rows (N, S) begin later than the row before; S where they are apart."""
    some, size = rows[:SAMPLE], int(rows.shape[1])
    for shift in range(1, size if len(some) > 1 else 1):
        if np.mean((some[1:, : size - shift] == some[:-1, shift:]).all(1)) > 0.5:
            return shift
    return size


def counted_before(rows: Tokens) -> Tokens:
    """How many tokens at the begin of each row (N, S) stand at the end of the row before."""
    both = rows.shape[1] - shift_of(rows)
    same = (rows[1:, :both] == rows[:-1, rows.shape[1] - both :]).all(1)
    return np.concatenate([[0], both * same])


def _keys(rows: Tokens, n: int, size: int) -> Tokens:
    """A number for each n tokens beside each other, the last one in its lowest place: (N, T + 1 - n)."""
    found = np.zeros((len(rows), rows.shape[1] + 1 - n), np.int64)
    for place in range(n):
        found = found * size + rows[:, place : rows.shape[1] + 1 - n + place]
    return found


def _found(keys: Tokens, values: NDArray[Any], asked: Tokens) -> NDArray[np.float64]:
    """The values of keys, which are sorted; 0 for those that are not among them."""
    at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where(keys[at] == asked, values[at], 0).astype(np.float64)


@probe_kind("ngrams", every=2.0, apart=True)
def ngrams(look: Look, probe: Probe) -> Taken | None:
    """The losses `(n,)` of n-grams counted in the training split, over at most 128 rows of the held one.

    `network` is the loss of the network there, `size` that of the vocabulary, `tokens` how many are
    predicted.
    Errors: `NeuroloomError` for a network that does not predict what comes next.
    """
    head = look.head(probe.node_id)
    column = None if head is None else token_column(look, head)
    if head is None or column is None:
        raise NeuroloomError("N-grams are compared with a model that predicts what comes next.")
    held = look.batch(0, HELD)
    rows = _rows(held, head, column)
    counted = look.memory.setdefault("ngrams", {})
    if (column, look.split) not in counted:
        train = _counted_rows(look, head, column)
        counted[column, look.split] = ngram_losses(train, rows, head.size, last=not head.places)
    total, places = 0.0, 0
    for start in range(0, len(rows), AT_ONCE):
        look.check()
        batch = look.batch(start, min(AT_ONCE, len(rows) - start))
        with torch.no_grad():
            scores = head.by_class(value_of(look, head.prediction[0], batch, head.prediction[1]).float())
        right = batch[head.target[1]]
        total += F.cross_entropy(scores, right, reduction="sum").item()
        places += right.numel()
    facts = {"network": total / places, "size": head.size, "tokens": places, "split": look.split}
    return np.array(counted[column, look.split]), facts


def _counted_rows(look: Look, head: Head, column: str) -> Tokens:
    """The training text in at most 20,000 rows; those that only repeat what others hold are passed over."""
    split = "train" if look.rows("train") else look.split
    first = _rows(look.batch(0, SAMPLE, split), head, column)
    every = max(1, (first.shape[1] - 1) // shift_of(first))
    kept = []
    for start in range(0, min(look.rows(split), COUNTED * every), PART * every):
        look.check()
        kept.append(_rows(look.batch(start, PART * every, split), head, column)[::every])
    return np.concatenate(kept)[:COUNTED]


def _rows(batch: dict[str, Tensor], head: Head, column: str) -> Tokens:
    """The tokens that are read, and behind them the one that comes last."""
    right = batch[head.target[1]]
    end = right[:, -1:] if right.dim() == 2 else right[:, None]
    return torch.cat([batch[column], end], 1).cpu().numpy()
