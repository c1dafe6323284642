"""The words of the house: names and texts use the field's terms, and sources are papers and books.

A banned word may stay where it is meant literally or where files hold it: all such uses are in a table below.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FLOORS = ("engine", "nodes", "app")
# {words: what to write instead}, in names split at their capitals and underscores and in texts.
BANNED = {
    r"foret(ell|ells|old|elling)": "predict",
    r"foresee|foreseen|foresees": "predict",
    r"deal|deals|dealt|dealing|dealer|dealers": "split",
    r"mend|mends|mended|mending": "fix",
    r"picture|pictures|pictured": "view, plot or image",
    r"dream|dreams|dreamt|dreamed|dreaming": "sample or generate",
    r"shall": "must or will",
    r"anew": "again",
}
# As names only: "layers share weights", "at chance level" and the stroke of a pen are good English.
BANNED_NAMES = {
    r"share|shares": "fraction, rate or probability",
    r"chance|chances": "probability",
}
# As texts only: the words of each may well stand in a name.
BANNED_TEXTS = {
    r"(a|the|this|what|each|its|our) share|shares? of": "a fraction or a rate",
    r"chances? (of|that|for)|the chance": "a probability",
    r"at (one|a) stroke": "in one step, or in closed form",
    r"told apart": "distinguished, or discriminator loss",
    r"pass(es|ed)? off": "generator loss",
    r"(a|the) person(?!s)": "the user",
    r"guessed right": "predicted right",
    r"seed 00\d|guidance G\d+": "a paper or a book, author and year",
}
NAMES = re.compile(rf"\b({'|'.join([*BANNED, *BANNED_NAMES])})\b", re.IGNORECASE)
TEXTS = re.compile(rf"\b({'|'.join([*BANNED, *BANNED_TEXTS])})\b", re.IGNORECASE)
NAME_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

# {name: why it stays}
ALLOWED_NAMES = {
    "share": "a parameter of nodes in project files",
    "chance": "a parameter of nodes in project files",
    "picture": "a parameter of the node of a photograph in project files",
    "shares": "the key in project files of the node whose weights another one shares",
    "SetShares": "the edit of that key",
    "share_one_heap": "threads share memory",
}
# Phrases in which the word is meant literally.
ALLOWED_TEXTS = re.compile(
    r"`pictures\.npz`|`pictures-share`|`memory-pictures`|share: |`noise_as` .share.|\"picture\":|\"Dream\""
    r"|To foresee",
    re.IGNORECASE,
)

PAGES = ("*.md", "docs/**/*.md", "resources/gallery/*.nloom")


def modules(floor: str) -> list[Path]:
    found = sorted((ROOT / floor).rglob("*.py"))
    return found


def names_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each name that a module gives, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.alias) and node.asname:
            yield node.lineno, node.asname


def texts_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each string that holds a space, and so may be read by somebody, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, " ".join(node.value.split())


def banned_in_name(name: str) -> str | None:
    """The banned word in a name, None where there is none or it may stay."""
    found = NAMES.search(" ".join(NAME_PARTS.findall(name)))
    return None if found is None or name in ALLOWED_NAMES else found[0]


def banned_in_text(text: str) -> str | None:
    """The banned words in a text with what stands around them, None where there are none."""
    found = TEXTS.search(ALLOWED_TEXTS.sub("", text))
    return None if found is None else found.string[max(0, found.start() - 30) : found.end() + 30]


@pytest.mark.parametrize("floor", FLOORS)
def test_names_are_the_fields(floor: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in modules(floor)
        for line, name in [(1, path.stem), *names_in(ast.parse(path.read_text(encoding="utf-8")))]
        if banned_in_name(name)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("floor", FLOORS)
def test_texts_use_the_fields_terms(floor: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {banned}"
        for path in modules(floor)
        for line, text in texts_in(ast.parse(path.read_text(encoding="utf-8")))
        if (banned := banned_in_text(text))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("pattern", PAGES)
def test_pages_use_the_fields_terms(pattern: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {banned}"
        for path in sorted(ROOT.glob(pattern))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (banned := banned_in_text(line))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It mends the file", True),
        ("The share of rows for test", True),
        ("Two nodes share weights", False),
        ("Source: seed 000 §4.2", True),
        ("Amend the sharing of memory", False),
    ],
)
def test_the_words_are_found_and_literal_uses_are_not(text: str, expected: bool) -> None:
    assert (banned_in_text(text) is not None) is expected


def test_names_are_read_part_by_part() -> None:
    assert [banned_in_name(name) for name in ("PICTURES_EVERY", "isDealtBy", "shared", "SetShares")] == [
        "PICTURES",
        "Dealt",
        None,
        None,
    ]
