"""Rows of token numbers as the words that the user reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

FILLING = 0
READABLE = {"␣": " "}  # of a sign that stands for a space


def token_words(numbers: Iterable[float], names: Sequence[str]) -> list[str]:
    """What tokens are called, without the filling at their end; where one has no name, its number."""
    ids = [int(one) for one in numbers]
    while len(ids) > 1 and ids[-1] == FILLING:
        ids.pop()
    return [names[one] if 0 <= one < len(names) else str(one) for one in ids]


def read_as_letters(names: Sequence[str]) -> bool:
    """Whether most tokens are single letters, which are read without gaps."""
    return sum(len(one) == 1 for one in names) > 0.8 * len(names) > 0


def are_tokens(shape: Sequence[int], names: Sequence[str] | None) -> bool:
    """Whether a row of this shape is one of tokens with names, not one class alone."""
    return bool(names) and len(shape) == 1 and shape[0] > 1


def running_text(numbers: Iterable[float], names: Sequence[str]) -> str:
    """Tokens as one text: letters and pieces that keep their spaces side by side, words apart."""
    words = token_words(numbers, names)
    joined = read_as_letters(names) or any(one.startswith("␣") for one in names)
    text = "".join(words) if joined else " ".join(words)
    return text.replace("␣", " ").replace(" ##", "")
