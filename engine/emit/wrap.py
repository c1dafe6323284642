"""Breaks statements that are too long as formatters do: inside brackets, one item a line where needed."""

from __future__ import annotations

import io
import tokenize
from itertools import pairwise

OPENING, CLOSING = "([{", ")]}"


def wrapped(statement: str, width: int) -> list[str]:
    """One statement on as many lines as it takes to stay within `width` where brackets allow it."""
    indent = len(statement) - len(statement.lstrip())
    if len(statement) <= width or not statement.strip() or statement.lstrip().startswith("#"):
        return [statement]
    pad = " " * indent
    return [pad + line if line else line for line in _broken(statement[indent:], width - indent)]


def _broken(text: str, width: int) -> list[str]:
    if len(text) <= width:
        return [text]
    target, equals, value = text.partition(" = ")
    if equals and len(target) > width - 24 and ", " in target and not set("()[]") & set(target):
        return ["(", *(f"    {one}," for one in target.split(", ")), *_broken(f") = {value}", width)]
    found = _widest_bracket(text[1:] if text.startswith(")") else text)
    if found is None:
        return _unbracketed(text)
    if text.startswith(")"):
        found = found[0] + 1, found[1] + 1, [comma + 1 for comma in found[2]]
    start, end, commas = found
    head, inner, tail = text[: start + 1], text[start + 1 : end], text[end:]
    if len(inner) <= width - 4:
        return [head, "    " + inner, tail]
    edges = [start, *commas, end]
    clauses = _clauses(inner)
    if clauses:
        return [head, *("    " + line for part in clauses for line in _broken(part, width - 4)), tail]
    items = [text[left + 1 : right].strip() for left, right in pairwise(edges)]
    items = [item for item in items if item]
    if len(items) == 1 and not commas:
        lines = _in_parts(items[0], width - 4) or _broken(items[0], width - 4)
        return [head, *("    " + line for line in lines), tail]
    lines = [head]
    for item in items:
        *most, last = _broken(item, width - 5)
        lines += ["    " + line for line in (*most, last + ",")]
    return [*lines, tail]


def _in_parts(text: str, width: int) -> list[str]:
    """A long text in quotes as texts that Python joins, broken behind spaces; [] for anything else."""
    quote, inner = text[:1], text[1:-1]
    if quote not in ("'", '"') or text[-1:] != quote or set("\\'\"") & set(inner) or " " not in inner:
        return []
    parts = [""]
    for word in inner.split(" "):
        if parts[-1] and len(parts[-1]) + len(word) + 3 > width:
            parts.append("")
        parts[-1] += f"{word} "
    parts[-1] = parts[-1].removesuffix(" ")
    return [f'"{part}"' for part in parts if part]


def _unbracketed(text: str) -> list[str]:
    """`x = a + b`, `return a, b` or `"key": a + b,` in brackets of its own, a part a line."""
    for joint, behind in ((" = ", ""), ("return ", ""), (": ", ",")):
        target, found, value = text.partition(joint)
        if found and value.endswith(behind) and (joint != "return " or not target):
            value = value.removesuffix(behind)
            break
    else:
        return [text]
    sign = next((sign for sign in (", ", " + ", " * ") if sign in value), None)
    if sign is None or any(letter in value for letter in "\"'"):
        return [text]
    first, *rest = value.split(sign)
    head, tail = f"{target}{joint}(", f"){behind}"
    if sign == ", ":
        return [head, *(f"    {part}," for part in (first, *rest)), tail]
    return [head, "    " + first, *(f"    {sign.strip()} {part}" for part in rest), tail]


def _widest_bracket(text: str) -> tuple[int, int, list[int]] | None:
    """Where the longest outermost bracket opens and closes, and the commas directly inside it."""
    found: list[tuple[int, int, list[int]]] = []
    depth, start, commas = 0, 0, list[int]()
    for token in _tokens(text):
        column = token.start[1]
        if token.type != tokenize.OP:
            continue
        if token.string in OPENING:
            depth += 1
            if depth == 1:
                start, commas = column, []
        elif token.string in CLOSING:
            depth -= 1
            if depth == 0:
                found.append((start, column, commas))
        elif token.string == "," and depth == 1:
            commas.append(column)
    return max(found, key=lambda one: one[1] - one[0], default=None)


def _clauses(inner: str) -> list[str]:
    """A comprehension as what it gives, its loops and its conditions; [] for anything else."""
    depth, starts = 0, [0]
    tokens = _tokens(f"({inner})")
    for token in tokens:
        if token.type == tokenize.OP:
            depth += (token.string in OPENING) - (token.string in CLOSING)
        elif depth == 1 and (token.string == "for" or (token.string == "if" and len(starts) > 1)):
            starts.append(token.start[1] - 1)
    if len(starts) == 1:
        return []
    return [inner[left:right].strip() for left, right in pairwise([*starts, len(inner)])]


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, IndentationError):  # a line that is no whole statement stays as it is
        return []
