"""Makes `numbers.tsv` of the example `numbers-in-words`: python -m tests.gallery.numbers_made

A quarter of the numbers below 10,000, in words and as four digits, shuffled from seed 0.
"""

from __future__ import annotations

import random

from engine.document.shipped import datasets_folder

FOLDER = datasets_folder() / "files"
NAME = "numbers.tsv"
COUNT, BELOW = 2500, 10_000
SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def spoken(number: int) -> str:
    """A number below 10,000 in English words."""
    if number < 20:
        return SMALL[number]
    if number < 100:
        return TENS[number // 10] + (f" {spoken(number % 10)}" if number % 10 else "")
    if number < 1000:
        return f"{SMALL[number // 100]} hundred" + (f" and {spoken(number % 100)}" if number % 100 else "")
    rest = number % 1000
    joined = "" if not rest else f" and {spoken(rest)}" if rest < 100 else f" {spoken(rest)}"
    return f"{SMALL[number // 1000]} thousand{joined}"


def made() -> str:
    """The file's text."""
    dice = random.Random(0)
    numbers = dice.sample(range(BELOW), COUNT)
    return "words\tdigits\n" + "".join(f"{spoken(one)}\t{' '.join(f'{one:04d}')}\n" for one in numbers)


if __name__ == "__main__":
    (FOLDER / NAME).write_text(made(), encoding="utf-8")
