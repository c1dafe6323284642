"""How well a few typed letters fit a name; the words of a query may stand in any order."""

from __future__ import annotations

_START, _WORD, _INSIDE, _ALSO, _SCATTERED = 0, 2, 6, 8, 12
_LATEST = 3  # what a word that stands late costs beyond the second


def score(query: str, name: str, also: str = "") -> int | None:
    """How far a name is from what was typed: 0 the best, None when it does not fit. No words fit all.

    Words of `also` are found by their beginnings, and count for less.
    """
    text = name.casefold()
    others = also.casefold().split()
    total = 0
    for word in query.casefold().split():
        found = _word(word, text)
        if (found is None or found > _ALSO) and any(other.startswith(word) for other in others):
            found = _ALSO
        if found is None:
            return None
        total += found
    return total


def _word(word: str, text: str) -> int | None:
    at = text.find(word)
    if at == 0:
        return _START
    if at > 0:
        starts = not text[at - 1].isalnum() or f" {word}" in text
        return _WORD + min(_LATEST, max(0, text[:at].count(" ") - 1)) if starts else _INSIDE
    return _scattered(word, text)


def _scattered(word: str, text: str) -> int | None:
    """The letters in their order, each gap between them counting one, gaps to the start of a word none."""
    gaps, at = 0, -1
    for letter in word:
        starts = [
            place
            for place in range(at + 1, len(text))
            if text[place] == letter and (place == 0 or not text[place - 1].isalnum())
        ]
        after = text.find(letter, at + 1)
        if after < 0:
            return None
        if starts and after != at + 1 and starts[0] <= after + 12:
            after = starts[0]
        elif after != at + 1:
            gaps += 1
        at = after
    return _SCATTERED + gaps if gaps <= len(word) // 2 else None
