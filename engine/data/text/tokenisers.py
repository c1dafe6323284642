"""Tokenisers that are learned from the training text. Portable: exports carry this source.

Tokens 0 to 4 are special: filling, unknown, begin, end and mask. All others are characters, words or pieces
of words; a vocabulary of size V has tokens 0 to V - 1 and never more.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np


def special_tokens() -> list[str]:
    """What tokens 0 to 4 are called: they fill up, stand for the unknown, begin, end, and hide."""
    return ["[pad]", "[unknown]", "[begin]", "[end]", "[mask]"]


def portions(text: str, most: int = 100_000) -> list[str]:
    """A long text in portions of at most `most` characters, cut before a space where there is one."""
    found, begin = [], 0
    while len(text) - begin > most:
        cut = max(text.rfind(" ", begin + 1, begin + most), text.rfind("\n", begin + 1, begin + most))
        end = cut if cut > begin else begin + most
        found.append(text[begin:end])
        begin = end
    return [*found, text[begin:]]


def words_of(text: str) -> list[str]:
    """Words, marks and line ends, each a token; spaces only part them."""
    return re.findall(r"\w+|[^\w\s]|\n", text)


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


def most_used(counts: dict[str, int], most: int) -> list[str]:
    """The commonest, at most `most`; of those that are as common, the first in the order of their codes."""
    return sorted(counts, key=lambda one: (-counts[one], one))[: max(0, most)]


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


class Words(Tokeniser):
    """Each word, mark and line end is a token."""

    def numbered(self, text: str) -> np.ndarray[Any, Any]:
        return np.array([self.numbers.get(word, 1) for word in words_of(text)], np.int32)

    def joined(self, tokens: list[str]) -> str:
        return " ".join(tokens)


class Pieces(Tokeniser):
    """Pieces of words are tokens, of BPE or of WordPiece."""

    def __init__(self, way: str, tokens: list[str], lower: bool, merges: list[tuple[str, str]]) -> None:
        super().__init__(tokens, lower)
        self.way, self.merges = way, merges
        self.pieces = piece_tokeniser(way, self.numbers, merges)

    def numbered(self, text: str) -> np.ndarray[Any, Any]:
        made = self.pieces.encode_batch_fast(portions(text))
        return np.concatenate([np.array(one.ids, np.int32) for one in made])

    def joined(self, tokens: list[str]) -> str:
        return " ".join(tokens).replace(" ##", "") if self.way == "WordPiece" else "".join(tokens)


def piece_tokeniser(way: str, numbers: dict[str, int], merges: list[tuple[str, str]]) -> Any:
    """The tokeniser of the package `tokenizers` for these pieces; nothing in a text reads as a special token.

    BPE keeps every space and line end, at the beginning of the word that follows; WordPiece marks pieces
    that go on with a word by ##.
    """
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    if way == "WordPiece":
        found = Tokenizer(models.WordPiece(numbers, unk_token="[unknown]"))
        found.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        return found
    found = Tokenizer(models.BPE(numbers, merges, unk_token="[unknown]"))
    words = Regex(r" ?\p{L}[\p{L}\p{M}]*| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s")
    found.pre_tokenizer = pre_tokenizers.Split(words, "isolated")
    return found


def room_for(size: int) -> int:
    """How many tokens a vocabulary has beside the special ones. Errors: `ValueError` where it has none."""
    room = size - len(special_tokens())
    if room < 1:
        raise ValueError(f"A vocabulary of {size} holds no more than the {size - room} special tokens.")
    return room


def learned_characters(texts: list[str], size: int, lower: bool) -> Tokeniser:
    """A tokeniser of the commonest characters, numbered in the order of their codes."""
    texts = [text.lower() for text in texts] if lower else texts
    kept = sorted(most_used(character_counts(texts), room_for(size)))
    return Characters(special_tokens() + (kept or ["\n"]), lower)


def learned_words(texts: list[str], size: int, lower: bool) -> Tokeniser:
    """A tokeniser of the commonest words, the commonest first."""
    counts: dict[str, int] = {}
    for text in texts:
        for portion in portions(text, 1_000_000):
            for word in words_of(portion.lower() if lower else portion):
                counts[word] = counts.get(word, 0) + 1
    return Words(special_tokens() + most_used(counts, room_for(size)), lower)


def learned_bpe(texts: list[str], size: int, lower: bool) -> Tokeniser:
    """A tokeniser of pieces by byte pair encoding over characters (Sennrich, Haddow and Birch, 2016)."""
    return learned_pieces([text.lower() for text in texts] if lower else texts, "BPE", size, lower)


def learned_word_pieces(texts: list[str], size: int, lower: bool) -> Tokeniser:
    """A tokeniser of pieces as BERT reads them, the longest first (Schuster and Nakajima, 2012)."""
    return learned_pieces([text.lower() for text in texts] if lower else texts, "WordPiece", size, lower)


def learned_pieces(texts: list[str], way: str, size: int, lower: bool) -> Tokeniser:
    """Pieces of words that pairs of pieces were joined to, the commonest first; the same texts give the same.

    At most half of the vocabulary are single characters; rarer ones are unknown.
    """
    from tokenizers import trainers

    counts = character_counts(texts)
    if way == "WordPiece":
        counts = {one: count for one, count in counts.items() if not one.isspace()}
    special, room = special_tokens(), room_for(size)
    letters = sorted(most_used(counts, room // 2 if way == "BPE" else room // 4))
    # Pieces that go on are given in order: left to itself, the trainer numbers them differently each time.
    goes_on = [f"##{letter}" for letter in letters] if way == "WordPiece" else []
    trainer = trainers.WordPieceTrainer if way == "WordPiece" else trainers.BpeTrainer
    made = piece_tokeniser(way, {"[unknown]": 0}, [])
    made.train_from_iterator(
        (portion for text in texts for portion in portions(text)),
        trainer(
            vocab_size=size,
            special_tokens=special + goes_on,
            initial_alphabet=letters,
            limit_alphabet=max(1, len(letters)),
            show_progress=False,
        ),
    )
    numbers = made.get_vocab()
    joined = json.loads(made.to_str())["model"].get("merges", [])
    tokens = sorted(numbers, key=numbers.__getitem__)
    return Pieces(way, tokens, lower, [(left, right) for left, right in joined])


def shown(token: str) -> str:
    """A token as the user can see it: spaces and line ends have signs, what isn't printed its code."""
    signs = {" ": "␣", "\n": "⏎", "\t": "⇥"}
    return "".join(signs.get(one) or (one if one.isprintable() else f"\\u{ord(one):04x}") for one in token)


def learned_tokeniser(texts: list[str], *, way: str, size: int, lower: bool = False) -> Tokeniser:
    """A tokeniser of at most `size` tokens by the name of its way."""
    found: Tokeniser = tokeniser_called(way)(texts, size, lower)
    return found


def tokeniser_called(way: str) -> Any:
    """The function that learns "characters", "words", "BPE" or "WordPiece"."""
    ways = {"characters": learned_characters, "words": learned_words}
    return {**ways, "BPE": learned_bpe, "WordPiece": learned_word_pieces}[way]


def keeping(learn: Any, kept: list[Any]) -> Any:
    """A function that learns a tokeniser as `learn` does, and adds it to `kept`."""

    def learned(*texts: Any, **options: Any) -> Any:
        found = learn(*texts, **options)
        kept.append(found)
        return found

    return learned
