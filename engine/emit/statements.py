"""Emitted Python as a tree of statements, and the printer that writes it.

A statement has two readings: plain, as the user gets it, and twin, with taps on, as it is run. Both are
printed as the same lines, so a position in one is a position in the other.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache
from string import Template
from types import CodeType
from typing import Any

from engine.catalogue.symbols import Expr, lift, name
from engine.emit.wrap import wrapped
from engine.errors import EmitError

WIDTH = 110
COMMENT_AT = 64
INDENT = 4


class Mark(Enum):
    """What a statement does, for the passes over a script that change it."""

    SIGNATURE = auto()  # of `train`
    BEGUN = auto()  # steps and epochs are counted from here
    PHASES = auto()  # the loop over them
    EPOCHS = auto()  # the loop over them
    ZEROED = auto()  # gradients are set to zero
    FOUND = auto()  # what an objective finds on a batch
    LOSS = auto()  # its loss alone
    CLOSED = auto()  # what an objective finds as often as its optimiser asks
    VALUE = auto()  # the loss as a number
    BACKWARD = auto()  # the gradients of a batch
    GRADIENTS = auto()  # an objective has all gradients of its step
    JSON = auto()  # a line of JSON for each batch
    SHOWN = auto()  # what is measured is printed
    EVALUATED = auto()  # the validation split is measured
    SEEN = auto()  # what decides about the rest of a phase is known
    FUSABLE = auto()  # makes an optimiser that torch can run in one kernel
    ARGUMENTS = auto()  # the command line is read
    SEEDED = auto()  # random numbers begin
    THREADS = auto()  # how many threads torch uses
    MODEL = auto()  # the model is made
    TRAINED = auto()  # `train` is called
    SAVED = auto()  # weights are written
    STARTED = auto()  # `main` is called


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, or the head of several that stand in it.

    `code` is a whole statement or, with a `target`, the value that goes there: to a variable or, as "return",
    back. `node_id` is the node it came from, `comment` stands behind the code.
    """

    code: str | Expr
    twin: str | Expr | None = None
    node_id: str | None = None
    comment: str = ""
    target: str = ""
    mark: Mark | None = None
    body: tuple[Statement, ...] = ()

    @property
    def plain(self) -> str:
        return self._joined(self.code)

    @property
    def run(self) -> str:
        return self._joined(self.code if self.twin is None else self.twin)

    def _joined(self, code: str | Expr) -> str:
        if not self.target:
            return str(code)
        return f"{self.target}{' ' if self.target == 'return' else ' = '}{code}"

    def of(self, node_id: str | None) -> Statement:
        """The same as a node's, with all that stands in it and is no other's."""
        body = tuple(one.of(node_id) for one in self.body)
        return replace(self, node_id=self.node_id or node_id, body=body)


@dataclass(frozen=True, slots=True)
class Line:
    """A printed line in both readings, and the node it came from."""

    plain: str
    run: str
    node_id: str | None = None


EMPTY = Line("", "")
BLANK = Statement("")


def under(head: str, body: Iterable[Statement], comment: str = "") -> Statement:
    """A statement with others in it: a function, a loop, a branch."""
    return Statement(head, comment=comment, body=tuple(body))


def verbatim(text: str) -> list[Statement]:
    """Functions and classes of ours, whose lines are printed as they are."""
    return [Statement(text.strip("\n"))]


def statement(target: str, plain: Expr, twin: Expr, node_id: str | None, comment: str = "") -> Statement:
    """`target = value`, or `return value` where the target says so."""
    return Statement(plain, twin, node_id, comment, target)


def returned_dict(items: Sequence[tuple[str, Expr, Expr, str | None]]) -> list[Statement]:
    """`return {...}` of (key, plain value, twin value, node), one item a line where it is long."""
    whole = "{" + ", ".join(f"{quoted(key)}: {plain}" for key, plain, _, _ in items) + "}"
    twin = "{" + ", ".join(f"{quoted(key)}: {value}" for key, _, value, _ in items) + "}"
    if len(items) == 1 and len(whole) + len("return ") < WIDTH:
        return [Statement(whole, twin, items[0][3], target="return")]
    lines = [
        Statement(f"{quoted(key)}: {plain},", f"{quoted(key)}: {value},", node_id)
        for key, plain, value, node_id in items
    ]
    return [under("return {", lines), Statement("}")]


def tapped(node_id: str, pattern: object, value: Expr, shown: Expr | None = None) -> Expr:
    """The value, shown on its way to whoever watches: `tap("n3", "output", F.relu(x))`.

    With `shown`, a function, what is seen is that of the value.
    """
    return name("tap")(lift(node_id), lift(pattern), value, *([shown] if shown is not None else []))


def walked(part: Iterable[Statement]) -> Iterator[Statement]:
    """All statements of a part, each before those that stand in it."""
    for one in part:
        yield one
        yield from walked(one.body)


# -- templates


def tree(text: str, /, **given: Any) -> list[Statement]:
    """The statements of a template of ours.

    `$name` stands for a text that is given, a line `<name>` for statements. A line that ends in `#? name` is
    there, with all that stands in it, only where what is given is true (`#? not name`: where it is not); one
    that ends in `#: MARK` has a mark. Errors: `KeyError` for a name that is not given.
    """
    return [found for one in _parsed(text) if text for found in _filled(one, given)]


def nested(lines: Iterable[str]) -> list[Statement]:
    """Lines of code as statements, by how far each is indented."""
    return tree("\n".join(lines).replace("$", "$$"))


@dataclass(frozen=True, slots=True)
class _Templated:
    text: Template
    condition: str
    mark: Mark | None
    body: tuple[_Templated, ...]


_LINE = re.compile(r"(?P<pad> *)(?P<code>.*?)(?:  #: (?P<mark>\w+))?(?:  #\? (?P<condition>[\w ]+))?")


@lru_cache(maxsize=256)
def _parsed(text: str) -> tuple[_Templated, ...]:
    lines = [_LINE.fullmatch(line) for line in text.strip("\n").split("\n")]
    return _nested([line for line in lines if line is not None], 0)


def _nested(lines: Sequence[re.Match[str]], indent: int) -> tuple[_Templated, ...]:
    found: list[_Templated] = []
    at = 0
    while at < len(lines):
        head = lines[at]
        end = at + 1
        while end < len(lines) and _deeper(lines, end, indent):
            end += 1
        while not lines[end - 1]["code"] and end - 1 > at:
            end -= 1  # blank lines behind a body stand outside it
        code = head["code"] if len(head["pad"]) == indent or not head["code"] else head[0][indent:]
        mark = Mark[head["mark"]] if head["mark"] else None
        body = _nested(lines[at + 1 : end], indent + INDENT)
        found.append(_Templated(Template(code), head["condition"] or "", mark, body))
        at = end
    return tuple(found)


def _deeper(lines: Sequence[re.Match[str]], at: int, indent: int) -> bool:
    following = next((line for line in lines[at:] if line["code"]), None)
    return following is not None and len(following["pad"]) > indent


def _filled(one: _Templated, given: dict[str, Any]) -> Iterator[Statement]:
    _, negated, wanted = one.condition.rpartition("not ")
    if wanted and bool(given[wanted]) == bool(negated):
        return
    code = one.text.template
    if code.startswith("<") and code.endswith(">"):
        yield from given[code[1:-1]]
        return
    body = tuple(found for part in one.body for found in _filled(part, given))
    yield Statement(one.text.substitute(given), mark=one.mark, body=body)


# -- the printer


def printed(part: Sequence[Statement]) -> list[Line]:
    """Statements as lines, with their comments at one column, and broken where they are too long.

    The twin of a broken line stands whole on the first of its lines.
    """
    flat = list(_flat(part, 0))
    widths = [pad + len(one.plain) for pad, one in flat if one.comment]
    column = max((width for width in widths if width < COMMENT_AT), default=0)
    found: list[Line] = []
    for pad, one in flat:
        if "\n" in one.plain:
            found += [Line(line, line, one.node_id) for line in one.plain.split("\n")]
            continue
        indent = " " * pad
        first, *rest = wrapped(indent + one.plain if one.plain else "", WIDTH)
        pieces = [first, *rest]
        if one.comment:
            fits = f"{pieces[-1]:<{0 if rest else column}}  # {one.comment}"
            pieces[-1] = fits if len(fits) <= WIDTH else pieces[-1]
        twins = [indent + one.run, *[""] * len(rest)] if one.twin is not None else pieces
        found += [Line(piece, twin, one.node_id) for piece, twin in zip(pieces, twins, strict=True)]
    return found


def lines_of(parts: Iterable[Sequence[Statement]]) -> list[Line]:
    """Parts of a file as lines, with two empty ones between each two."""
    return [line for part in parts for line in (*printed(part), EMPTY, EMPTY)][:-2]


def text_of(lines: Iterable[str]) -> str:
    """Lines as the text of a file."""
    return "\n".join(lines) + "\n"


def _flat(part: Iterable[Statement], pad: int) -> Iterator[tuple[int, Statement]]:
    for one in part:
        yield pad, one
        yield from _flat(one.body, pad + INDENT)


def compiled(text: str, file: str) -> CodeType:
    """A script as code, as if it stood in that file. Errors: `EmitError` for what is no Python."""
    try:
        return compile(text, file, "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise EmitError(f"The graph became Python that does not compile: {error}.") from error


def quoted(text: str) -> str:
    """A text literal in double quotes, as formatters write it."""
    literal = repr(text)
    if literal.startswith("'") and '"' not in literal and "\\" not in literal:
        return f'"{literal[1:-1]}"'
    return literal


def tidy(code: str, tree: ast.AST) -> str:
    """Code, and its tree, with its text literals in double quotes where that is the same text.

    Those inside f-strings stay: until Python 3.12 a double quote there would end the whole.
    """
    lines = code.split("\n")
    inside = {part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    texts = [
        (node.lineno, node.col_offset, node.end_col_offset, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.lineno == node.end_lineno
        and node not in inside
    ]
    for number, start, end, text in sorted(texts, reverse=True):
        line = lines[number - 1].encode()  # ast counts columns in bytes
        literal = line[start:end]
        if literal.startswith(b"'") and not literal.startswith(b"'''"):
            lines[number - 1] = (line[:start] + quoted(text).encode() + line[end:]).decode()
    return "\n".join(lines)
