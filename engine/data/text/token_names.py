"""What the tokens of a text are called: the application keeps what loaders of text learn from it.

A tokeniser is learned from the training part while the data are read, by a function that scripts carry along.
Here that function is watched, so that panels and views name tokens, however they are learned.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.data.text.tokenisers import Characters, Pieces, Tokeniser, Words, shown, special_tokens

if TYPE_CHECKING:
    from engine.catalogue import Data
    from engine.data.text.piece_steps import PieceSteps

OPTION = "learn"  # the option of a loader that says how tokens are learned
TOKENISERS = "TOKENISERS"  # what a script keeps of them
MOST_NAMED = 20_000  # tokens of a vocabulary
MOST_KEPT = 16  # data sets
MOST_COUNTED = 4_000_000  # tokens of a column


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of one tokeniser in order, and for BPE the pairs that were joined."""

    tokens: tuple[str, ...]
    merges: tuple[tuple[str, str], ...] = ()
    made: Tokeniser | None = field(default=None, compare=False)
    _named: dict[int, tuple[str, ...]] = field(default_factory=dict, compare=False)
    _made: dict[tuple[str, bool], Tokeniser] = field(default_factory=dict, compare=False)

    def names(self, size: int) -> tuple[str, ...]:
        """A name for each of `size` numbers, none twice; () where that is too many or too few."""
        if size not in self._named:
            self._named[size] = named_tokens(self.tokens, size)
        return self._named[size]

    def numbers(self, text: str, way: str, lower: bool) -> np.ndarray[Any, Any]:
        """The numbers (n,) of the tokens of a text, by the way in which they were learned."""
        if (way, lower) not in self._made:
            tokens = list(self.tokens)
            plain = {"characters": Characters, "words": Words}.get(way)
            made = plain(tokens, lower) if plain else Pieces(way, tokens, lower, list(self.merges))
            self._made[way, lower] = made
        return self._made[way, lower].ids(text)


_KEPT: OrderedDict[Hashable, tuple[Vocabulary, ...]] = OrderedDict()
_LOCK = threading.Lock()


def vocabularies(key: Hashable) -> tuple[Vocabulary, ...]:
    """What was learned when the data of this key were last read, in that order; () before."""
    with _LOCK:
        return _KEPT.get(key, ())


def named_tokens(tokens: tuple[str, ...] | list[str], size: int, most: int = MOST_NAMED) -> tuple[str, ...]:
    """A name for each token of a vocabulary of `size`, the same for none; () where there are too many."""
    if size > most or len(tokens) > size:
        return ()
    special = special_tokens()
    names = [one if one in special else shown(one) for one in tokens]
    return (*names, *(f"[unused {number + 1}]" for number in range(size - len(names))))


def watched(options: Mapping[str, Any], key: Hashable | None) -> dict[str, Any]:
    """The options of a loader, whose tokeniser is kept under `key` when it has been learned."""
    learn = options.get(OPTION)
    return {**options, OPTION: _watching(learn, key)} if callable(learn) and key is not None else {**options}


@contextmanager
def watching(names: MutableMapping[str, Any], learner: str, key: Hashable | None) -> Iterator[None]:
    """Inside, the function called `learner` among a script's `names` is watched as in `watched`."""
    learn = names.get(learner)
    if not callable(learn) or key is None:
        yield
        return
    names[learner] = _watching(learn, key)
    try:
        yield
    finally:
        names[learner] = learn


def _watching(learn: Callable[..., Any], key: Hashable) -> Callable[..., Any]:
    found: list[Vocabulary] = []

    def learned(*args: Any, **options: Any) -> Any:
        made = learn(*args, **options)
        found.append(Vocabulary(tuple(made.tokens), tuple(made.merges), made))
        with _LOCK:
            _KEPT[key] = tuple(found)
            _KEPT.move_to_end(key)
            while len(_KEPT) > MOST_KEPT:
                _KEPT.popitem(last=False)
        return made

    return learned


def token_rows(vocabulary: Vocabulary, counts: np.ndarray[Any, Any]) -> list[tuple[int, str, str, int]]:
    """Rows (number, what it says, what it was joined from, how often it was counted) of all tokens.

    Only tokens of BPE are joined from two others; they are in the order in which that was done.
    """
    parts = {left + right: f"{shown(left)} + {shown(right)}" for left, right in vocabulary.merges}
    times = np.zeros(len(vocabulary.tokens), np.int64)
    known = min(len(times), len(counts))
    times[:known] = counts[:known]
    names = named_tokens(vocabulary.tokens, len(vocabulary.tokens), most=1_000_000)
    joined = [parts.get(token, "") for token in vocabulary.tokens]
    return list(zip(range(len(names)), names, joined, times.tolist(), strict=True))


@dataclass(frozen=True)
class TokenTable:
    """A vocabulary as rows (number, what it says, what it was joined from, how often), of column `column`.

    It is counted in `counted` of the `total` training rows, none where the column was not read; `joined` says
    whether tokens are joined from two. `steps` are the joins by which pieces were learned, with the
    beginning of the training text.
    """

    column: str
    rows: tuple[tuple[int, str, str, int], ...]
    joined: bool
    counted: int
    total: int
    steps: PieceSteps | None = field(default=None, compare=False)


def token_tables(made: Data, splits: Mapping[str, Mapping[str, Any]]) -> tuple[TokenTable, ...]:
    """The vocabularies that reading a data node's data learned, one a column of `token_columns`."""
    from engine.data.preview import spread_rows  # with torch, which names alone do not need
    from engine.data.text.piece_steps import piece_steps

    key = made.learned_key()
    found = vocabularies(key) if key is not None else ()
    tables = []
    for column, vocabulary in zip(made.token_columns, found, strict=False):
        values = splits.get("train", {}).get(column)
        if values is None or not len(values):  # a run reads what its network needs
            rows = token_rows(vocabulary, np.zeros(0, np.int64))
            steps = piece_steps(vocabulary)
            tables.append(TokenTable(column, tuple(rows), bool(vocabulary.merges), 0, 0, steps))
            continue
        part = spread_rows(values, max(1, min(len(values), MOST_COUNTED // max(1, values.shape[1]))))
        counts = np.bincount(part.cpu().numpy().ravel(), minlength=len(vocabulary.tokens))
        rows = token_rows(vocabulary, counts)
        first = [one for one in values[0].tolist() if one >= len(special_tokens())]
        steps = piece_steps(vocabulary, vocabulary.made.text(first) if vocabulary.made else "")
        joined = bool(vocabulary.merges)
        tables.append(TokenTable(column, tuple(rows), joined, len(part), len(values), steps))
    return tuple(tables)
