"""Finding things in a project: nodes by name, type, id or parameter, frames and notes by their text.

Every word of a query must match. `filters=64` asks for a parameter's value (also != < > <= >=), anything
else is looked for in names, types and values. All scopes are searched; the best match comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from engine.catalogue import Catalogue, NodeType
from engine.catalogue.params import ParamSpec
from engine.document.graph import Node, Project
from engine.errors import NeuroloomError
from engine.values import Value, natural

Kind = Literal["node", "frame", "note", "block"]

_COMPARED = re.compile(r"([A-Za-z_][\w.]*)(==|!=|<=|>=|=|<|>)(.*)")
_SIGNS = {"=": "==", "==": "==", "!=": "!=", "<": "<", ">": ">", "<=": "<=", ">=": ">="}
# The lower, the better the match; each part of a node counts for more than the next.
_ID, _NAME, _TYPE, _ALIAS, _VALUE, _TEXT, _LETTERS = 0, 1, 10, 20, 30, 40, 60
_PREFIX, _INSIDE = 2, 5


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that matches: its scope ("" or a block's id), what it is, its id, and why it matches."""

    scope: str
    kind: Kind
    id: str
    title: str
    why: str


def find(project: Project, query: str, catalogue: Catalogue) -> list[Found]:
    """Return everything in a project that matches all words of a query, best first; none for no words."""
    words = query.casefold().split()
    if not words:
        return []
    scored = list(_everything(project, words, catalogue, loose=False))
    if not scored:
        scored = list(_everything(project, words, catalogue, loose=True))
    scored.sort(key=lambda pair: (pair[0], natural(pair[1].scope), natural(pair[1].id)))
    return [found for _, found in scored]


def _everything(
    project: Project, words: list[str], catalogue: Catalogue, *, loose: bool
) -> Iterator[tuple[int, Found]]:
    """All that matches; `loose` lets letters be left out."""
    for scope, graph in project.graphs():
        for id, node in graph.nodes.items():
            kind = catalogue.get(node.type)
            parts = list(_parts(project, node, kind))
            why, total = "", 0
            for word in words:
                score, reason = _best(word, parts, node, kind, loose=loose)
                if score < 0:
                    break
                total, why = total + score, why or reason
            else:
                yield total, Found(scope, "node", id, _title(project, node, kind), why)
    others: list[tuple[Kind, str, str, str]] = [
        *(("frame", frame.id, frame.scope, frame.title) for frame in project.frames.values()),
        *(("note", note.id, note.scope, note.text) for note in project.notes_on_canvas.values()),
        *(("block", block.id, "", block.name) for block in project.blocks.values()),
    ]
    for kind_of, id, scope, text in others:
        scores = [_match(word, text.casefold(), _TEXT, loose=False) for word in words]
        if text and all(score >= 0 for score in scores):
            yield sum(scores), Found(scope, kind_of, id, text.strip().splitlines()[0][:80], text)


def _title(project: Project, node: Node, kind: type[NodeType] | None) -> str:
    block = project.blocks.get(node.block)
    return node.name or (block.name if block else "") or (kind.title if kind else node.type)


def _parts(project: Project, node: Node, kind: type[NodeType] | None) -> Iterator[tuple[int, str]]:
    """The texts of a node, each with what a match of it is worth."""
    yield _NAME, node.name
    yield _TYPE, node.type
    if kind is not None:
        yield _TYPE, kind.title
        for alias in kind.aliases:
            yield _ALIAS, alias
    block = project.blocks.get(node.block)
    if block is not None:
        yield _TYPE, block.name
    for spec, value in _values(node, kind):
        if isinstance(value, str) and value:
            yield _VALUE, value
        elif value is True:
            yield _VALUE, spec.title


def _values(node: Node, kind: type[NodeType] | None) -> Iterator[tuple[ParamSpec, Value]]:
    """Every parameter with its value, the type's default where the user set none."""
    known = {spec.name: spec for spec in kind.params} if kind is not None else {}
    for spec in known.values():
        yield spec, node.params.get(spec.name, spec.default)
    for name, value in node.params.items():
        if name not in known:
            yield ParamSpec(name, "text", value), value


def _best(
    word: str, parts: list[tuple[int, str]], node: Node, kind: type[NodeType] | None, *, loose: bool
) -> tuple[int, str]:
    """How well a word matches a node (the lower the better, -1 not at all), and what of it."""
    if word == node.id:
        return _ID, node.id
    asked = _COMPARED.fullmatch(word)
    if asked is not None:
        name, sign, wanted = asked.groups()
        for spec, value in _values(node, kind):
            called = spec.name.casefold().startswith(name) or spec.title.casefold().replace(" ", "_") == name
            if called and _holds(spec, value, _SIGNS[sign], wanted):
                return _VALUE, f"{spec.title} {spec.format(value)}"
        return -1, ""
    scored = ((_match(word, text.casefold(), worth, loose=loose), text) for worth, text in parts)
    matches = [(score, text) for score, text in scored if score >= 0]
    return min(matches, default=(-1, ""))


def _holds(spec: ParamSpec, value: Value, sign: str, wanted: str) -> bool:
    """Whether a value compares with the text of another as asked."""
    same = wanted in (spec.format(value).casefold(), str(value).casefold())
    if not same:
        try:
            same = bool(spec.parse(wanted) == spec.check(value))
        except NeuroloomError:
            same = False
    if sign in ("==", "!="):
        return same == (sign == "==")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            number = float(wanted)
        except ValueError:
            return False
        return {"<": value < number, ">": value > number, "<=": value <= number, ">=": value >= number}[sign]
    return False


def _match(word: str, text: str, worth: int, *, loose: bool) -> int:
    """What a match of a word in a text is worth: whole, at the start, inside; -1 for none.

    With `loose` the word's letters in order will do.
    """
    if not text:
        return -1
    if word == text:
        return worth
    if text.startswith(word) or any(part.startswith(word) for part in re.split(r"[\s_.-]+", text)):
        return worth + _PREFIX
    if word in text:
        return worth + _INSIDE
    if loose and len(word) > 2 and len(text) < 40:
        letters = iter(text)
        if all(letter in letters for letter in word):
            return worth + _LETTERS
    return -1
