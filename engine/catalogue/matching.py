"""Names that match what the user typed, abbreviations included."""

from __future__ import annotations

import re
from collections.abc import Iterable


def score_of(title: str, others: Iterable[str], about: str, words: list[str]) -> int | None:
    """How far `words` are from a thing called `title` or one of `others`: lower is nearer, None no match.

    `about` is read word by word for what neither name tells.
    """
    texts = [title, *others]
    if " ".join(words) == title.casefold():
        return -1
    total = 0
    for word in words:
        best = min(
            (score for text in texts if (score := _match(word, text.casefold())) is not None), default=None
        )
        if best is None:
            if len(word) > 2 and any(part.startswith(word) for part in re.findall(r"\w+", about.casefold())):
                best = 60
            else:
                return None
        total += best
    return total


def _match(word: str, text: str) -> int | None:
    """0 for equal, small for a prefix or a part, more for letters in order, None for no match."""
    if text == word:
        return 0
    squeezed = text.replace(" ", "").replace("-", "")
    if text.startswith(word) or squeezed.startswith(word):
        return 1 + len(text) - len(word)
    if any(part.startswith(word) for part in text.split()):
        return 20 + len(text) - len(word)
    if word in squeezed:
        return 30 + len(text) - len(word)
    position = -1
    for letter in word:
        position = squeezed.find(letter, position + 1)
        if position < 0:
            return None
    return 40 + position
