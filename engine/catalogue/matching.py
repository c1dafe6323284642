"""Names that match what the user typed, abbreviations included."""

from __future__ import annotations

import re
from collections.abc import Iterable

# How far a word is from a name. A title counts more than another name, which costs OTHER.
EQUAL, BEGINS, WORD, INSIDE, FAMILY, ABOUT, SCATTERED = 0, 40, 80, 240, 320, 400, 1000
OTHER = 60
COMMON = 25  # how much nearer a common thing is
MOST_LETTERS = 9  # that are not typed yet, which cost one each


def score_of(title: str, others: Iterable[str], family: str, about: str, words: list[str]) -> int | None:
    """How far `words` are from a thing called `title` or one of `others`: lower is nearer, None no match.

    `family` and `about` are read word by word for what neither name tells.
    """
    texts = [(title.casefold(), 0), *((other.casefold(), OTHER) for other in others)]
    if " ".join(words) == family:
        return WORD
    if " ".join(words) == title.casefold():
        return -COMMON
    total = 0
    for word in words:
        found = [score + cost for text, cost in texts if (score := _match(word, text)) is not None]
        for text, score in ((family, FAMILY), (about, ABOUT)):
            if len(word) > 2 and any(part.startswith(word) for part in re.findall(r"\w+", text.casefold())):
                found.append(score)
        if not found:
            return None
        total += min(found)
    return total


def _match(word: str, text: str) -> int | None:
    """How far a word is from one name; None for no match."""
    left = min(MOST_LETTERS, max(0, len(text) - len(word)))
    squeezed = text.replace(" ", "").replace("-", "")
    if text == word:
        return EQUAL
    if text.startswith(word) or squeezed.startswith(word):
        return BEGINS + left
    if any(part.startswith(word) for part in text.split()):
        return WORD + left
    if word in squeezed:
        return INSIDE + left
    position = -1
    for letter in word:
        position = squeezed.find(letter, position + 1)
        if position < 0:
            return None
    return SCATTERED + position
