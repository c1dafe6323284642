"""Definitions that were cut, as text: what did not change stays as it was written, with its comments."""

from __future__ import annotations

import ast
import copy
import io
import re
import textwrap
import tokenize
from collections.abc import Iterator, Sequence
from itertools import accumulate

from engine.emit.statements import INDENT, WIDTH
from engine.emit.wrap import wrapped

Block = ast.If | ast.For | ast.While | ast.With | ast.Try | ast.FunctionDef | ast.ClassDef
SOURCE = re.compile(
    r"Sources?: .*|Source of .*"
)  # the end of a docstring that says where something comes from
SPACED = "\0"  # where a default stands behind a type
HEADED = (ast.FunctionDef, ast.ClassDef)
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.FunctionDef, ast.ClassDef)


def reprinted(text: str, tree: ast.FunctionDef | ast.ClassDef) -> str:
    """The text of a definition that was read from `text` and has been changed since."""
    return "\n".join(_Printing(text).statement(tree, 0))


class Doc(ast.Pass):
    """A docstring that has become shorter: what something is, and where that comes from."""

    def __init__(self, text: str, source: str = "") -> None:
        super().__init__()
        self.text, self.source = text, source


def with_short_docs(tree: ast.FunctionDef | ast.ClassDef) -> bool:
    """Leave one sentence of each docstring in a definition, and its source; whether any became shorter."""
    found = False
    for node in ast.walk(tree):
        match node:
            case (
                ast.FunctionDef(body=[ast.Expr(value=ast.Constant(value=str() as doc)), *rest])
                | ast.ClassDef(body=[ast.Expr(value=ast.Constant(value=str() as doc)), *rest])
            ) if "\n\n" in doc:
                first, _, others = doc.partition("\n\n")
                said = SOURCE.search(" ".join(others.split()))
                node.body = [
                    Doc(" ".join(first.split()), said.group() if said else ""),
                    *(rest or [ast.Pass()]),
                ]
                found = True
    return found


class _Printing:
    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._nodes = {_place(node): node for node in _statements(ast.parse(text))}
        self._written = {place: ast.dump(node) for place, node in self._nodes.items()}
        self._comments: dict[int, str] = {}  # behind code, or on lines of their own
        self._own: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                self._comments[token.start[0]] = token.string
                if not self._lines[token.start[0] - 1][: token.start[1]].strip():
                    self._own.add(token.start[0])

    def block(self, body: Sequence[ast.stmt], pad: int) -> Iterator[str]:
        """Statements one behind the other, with the comments and empty lines that stood before them."""
        for at, one in enumerate(body):
            first = getattr(one, "lineno", 0)
            if isinstance(one, (ast.FunctionDef, ast.ClassDef)) and one.decorator_list:
                first = one.decorator_list[0].lineno
            before = first - 1
            while before in self._own:
                before -= 1
            if at and 0 < before <= len(self._lines) and not self._lines[before - 1].strip():
                yield ""
            for number in range(before + 1, first):
                yield " " * pad + self._lines[number - 1].strip()
            yield from self.statement(one, pad)

    def statement(self, one: ast.stmt, pad: int) -> Iterator[str]:
        """One statement, as it was written where it did not change."""
        if self._written.get(_place(one)) == ast.dump(one):
            yield from self._as_written(one, pad)
        elif isinstance(one, BLOCKS):
            yield from self._compound(one, pad)
        elif isinstance(one, Doc):
            yield from self._doc(one, " " * pad)
        else:
            *most, last = _fitting(wrapped(" " * pad + ast.unparse(one), WIDTH))
            comment = self._comments.get(getattr(one, "end_lineno", 0), "")
            fits = f"{last}  {comment}" if comment else last
            if len(fits) <= WIDTH:
                yield from (*most, fits)
            else:
                yield from (" " * pad + comment, *most, last)

    def _doc(self, one: Doc, pad: str) -> Iterator[str]:
        whole = f'{pad}"""{one.text} {one.source}"""' if one.source else f'{pad}"""{one.text}"""'
        if len(whole) <= WIDTH:
            yield whole
            return
        *lines, last = textwrap.wrap(f'"""{one.text}', WIDTH - 3, initial_indent=pad, subsequent_indent=pad)
        yield from (*lines, f'{last}"""')
        yield from textwrap.wrap(one.source, WIDTH, initial_indent=f"{pad}# ", subsequent_indent=f"{pad}# ")

    def _as_written(self, one: ast.stmt, pad: int) -> Iterator[str]:
        yield from self._moved(_first(one) - 1, one.end_lineno or one.lineno, pad - one.col_offset)

    def _moved(self, begin: int, end: int, moved: int) -> Iterator[str]:
        """Lines as they were written, moved to the right or left."""
        for line in self._lines[begin:end]:
            if moved >= 0:
                yield " " * moved + line if line.strip() else line
            else:
                yield line[-moved:] if not line[:-moved].strip() else line

    def _compound(self, one: Block, pad: int, word: str = "") -> Iterator[str]:
        yield from self._head(one, pad, word)
        if isinstance(one, (ast.FunctionDef, ast.ClassDef)):
            yield from self.block(one.body, pad + INDENT)
            return
        yield from self.block(one.body, pad + INDENT)
        if isinstance(one, ast.Try):
            for handler in one.handlers:
                name = f" as {handler.name}" if handler.name else ""
                kind = f" {ast.unparse(handler.type)}" if handler.type else ""
                yield f"{' ' * pad}except{kind}{name}:"
                yield from self.block(handler.body, pad + INDENT)
        rest = getattr(one, "orelse", [])
        if isinstance(one, ast.If) and len(rest) == 1 and isinstance(rest[0], ast.If):
            yield from self._compound(rest[0], pad, "el")
        elif rest:
            yield f"{' ' * pad}else:"
            yield from self.block(rest, pad + INDENT)
        if isinstance(one, ast.Try) and one.finalbody:
            yield f"{' ' * pad}finally:"
            yield from self.block(one.finalbody, pad + INDENT)

    def _head(self, one: ast.stmt, pad: int, word: str) -> Iterator[str]:
        before = self._nodes.get(_place(one))
        if isinstance(one, HEADED) and isinstance(before, HEADED) and _heading(one) == _heading(before):
            end = before.body[0].lineno - 1
            while end in self._own:
                end -= 1
            if end >= before.lineno:
                yield from self._moved(_first(one) - 1, end, pad - one.col_offset)
                return
        bare = copy.copy(one)
        empty: dict[str, list[ast.stmt]] = {"body": [ast.Pass()], "orelse": [], "finalbody": []}
        for name, value in empty.items():
            if hasattr(bare, name):
                setattr(bare, name, value)
        if isinstance(bare, ast.Try):
            yield f"{' ' * pad}try:"
            return
        if isinstance(bare, ast.FunctionDef):
            bare.args = _spaced(bare.args)
        *heads, _ = ast.unparse(ast.fix_missing_locations(bare)).replace(f"={SPACED}", " = ").split("\n")
        comment = self._comments.get(getattr(one, "lineno", 0), "") if len(heads) == 1 else ""
        for head in heads:
            lines = wrapped(" " * pad + word + head, WIDTH)
            if comment and len(lines) == 1 and len(lines[0]) + 2 + len(comment) <= WIDTH:
                lines = [f"{lines[0]}  {comment}"]
            yield from lines


def _fitting(lines: list[str]) -> list[str]:
    """Lines in which a text that is too long stands in parts, one behind the other."""
    return [part for line in lines for part in (_parted(line) if len(line) > WIDTH else [line])]


def _parted(line: str) -> list[str]:
    """A line with one text at its end, and perhaps a comma, as lines that fit; another as it is."""
    found = re.fullmatch(r"( *)(return |\w+ = |)(f?)(\'\'\'|\"\"\"|['\"])(.*)\4(,?)", line)
    if found is None:
        return [line]
    pad, head, kind, quote, text, comma = found.groups()
    inner = pad + " " * INDENT if head else pad
    room = WIDTH - len(inner) - len(kind) - 2 * len(quote) - 1
    parts: list[str] = []
    while len(text) > room:
        depths = accumulate((letter == "{") - (letter == "}") for letter in text[:room])
        ends = [at for at, depth in enumerate(depths) if text[at] == " " and (not kind or not depth)]
        if not ends:
            break
        parts.append(text[: ends[-1] + 1])
        text = text[ends[-1] + 1 :]
    lines = [f"{inner}{kind if '{' in part else ''}{quote}{part}{quote}" for part in (*parts, text)]
    if head:
        return [f"{pad}{head}(", *lines, f"{pad})"]
    return [*lines[:-1], lines[-1] + comma]


def _place(one: ast.stmt) -> tuple[int, int]:
    return getattr(one, "lineno", 0), getattr(one, "col_offset", 0)


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.stmt))


def _first(one: ast.stmt) -> int:
    """The line in which a statement begins, its decorators among it."""
    if isinstance(one, HEADED) and one.decorator_list:
        return one.decorator_list[0].lineno
    return one.lineno


def _spaced(arguments: ast.arguments) -> ast.arguments:
    """Parameters whose defaults stand behind a type, which `ast` would write without spaces."""
    made = copy.deepcopy(arguments)
    typed = made.args[len(made.args) - len(made.defaults) :]
    for places, defaults in ((typed, made.defaults), (made.kwonlyargs, made.kw_defaults)):
        for at, (one, value) in enumerate(zip(places, defaults, strict=True)):
            if one.annotation is not None and value is not None:
                defaults[at] = ast.Name(SPACED + ast.unparse(value), ast.Load())
    return made


def _heading(one: ast.FunctionDef | ast.ClassDef) -> str:
    """The head of a definition, as text."""
    bare = copy.copy(one)
    bare.body = [ast.Pass()]
    return ast.dump(bare)
