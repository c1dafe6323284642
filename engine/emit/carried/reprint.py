"""Definitions that were cut, as text: what did not change stays as it was written, with its comments."""

from __future__ import annotations

import ast
import copy
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from itertools import accumulate

from engine.emit.statements import INDENT, WIDTH
from engine.emit.wrap import wrapped

Block = ast.If | ast.For | ast.While | ast.With | ast.Try | ast.FunctionDef | ast.ClassDef
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.FunctionDef, ast.ClassDef)


def reprinted(text: str, tree: ast.FunctionDef | ast.ClassDef) -> str:
    """The text of a definition that was read from `text` and has been changed since."""
    return "\n".join(_Printing(text).statement(tree, 0))


class Doc(ast.Pass):
    """A docstring that has become shorter."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class _Printing:
    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._written = {_place(node): ast.dump(node) for node in _statements(ast.parse(text))}
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
            whole = f'{" " * pad}"""{one.text}"""'
            yield from [whole] if len(whole.split("\n")[-1]) <= WIDTH else [whole[:-3], f'{" " * pad}"""']
        else:
            *most, last = _fitting(wrapped(" " * pad + ast.unparse(one), WIDTH))
            comment = self._comments.get(getattr(one, "end_lineno", 0), "")
            fits = f"{last}  {comment}" if comment else last
            yield from (*most, fits if len(fits) <= WIDTH else last)

    def _as_written(self, one: ast.stmt, pad: int) -> Iterator[str]:
        first = one.lineno
        if isinstance(one, (ast.FunctionDef, ast.ClassDef)) and one.decorator_list:
            first = one.decorator_list[0].lineno
        moved = pad - one.col_offset
        for line in self._lines[first - 1 : one.end_lineno]:
            if moved >= 0:
                yield " " * moved + line if line.strip() else line
            else:
                yield line[-moved:] if not line[:-moved].strip() else line

    def _compound(self, one: Block, pad: int, word: str = "") -> Iterator[str]:
        yield from self._head(one, pad, word)
        if isinstance(one, (ast.FunctionDef, ast.ClassDef)):
            yield from self.block(_shorter_doc(one.body), pad + INDENT)
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
        bare = copy.copy(one)
        empty: dict[str, list[ast.stmt]] = {"body": [ast.Pass()], "orelse": [], "finalbody": []}
        for name, value in empty.items():
            if hasattr(bare, name):
                setattr(bare, name, value)
        if isinstance(bare, ast.Try):
            yield f"{' ' * pad}try:"
            return
        *heads, _ = ast.unparse(ast.fix_missing_locations(bare)).split("\n")
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


def _shorter_doc(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """A body whose docstring says what the function does, not what could be given to it."""
    match body[0]:
        case ast.Expr(value=ast.Constant(value=str() as doc)):
            paragraphs = doc.split("\n\n")
            if len(paragraphs) > 1:
                return [Doc(paragraphs[0].strip()), *body[1:]]
    return [*body]
