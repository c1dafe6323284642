"""torch's sentences about sizes in a student's words."""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.errors import reason_of

SENTENCES = (
    (r"Kernel size can't be greater than actual input size", "its window is larger than what comes in."),
    (r"[Oo]utput size is too small|Invalid computed output size", "nothing would be left of what comes in."),
    (
        r"in_channels must be divisible by groups",
        "the channels that come in cannot be split into its groups.",
    ),
    (r"out_channels must be divisible by groups", "its filters cannot be split evenly into its groups."),
    (r"padding='same' is not supported for strided", "same padding keeps the size, so the stride must be 1."),
    (r"(?i)overflow|too large|invalid memory size", "the numbers are too large for this computer."),
    (r"Expected .*(Long|Int).* but got", "it needs whole numbers."),
)


def plainly(error: Exception, counts: Mapping[str, int]) -> str:
    """What a torch error says, in one sentence; `counts` are the sizes that stand for any number of rows."""
    text = reason_of(error)
    if isinstance(error, (OverflowError, MemoryError)):
        return "the numbers are too large for this computer."
    for pattern, sentence in SENTENCES:
        if re.search(pattern, text):
            return sentence
    first = text.split("\n")[0]
    for rows, count in counts.items():
        first = re.sub(rf"\b{count}\b", rows or "N", first)
    return first if first.endswith(".") else first + "."
