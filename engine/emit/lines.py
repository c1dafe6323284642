"""Lines of emitted Python in two readings: plain, as the user gets it, and twin, with taps on, as it is run.

Both readings have the same lines, so a position in one is a position in the other.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from types import CodeType

from engine.catalogue.symbols import Expr, lift, name
from engine.emit.wrap import wrapped
from engine.errors import EmitError

WIDTH = 110
COMMENT_AT = 64


@dataclass(frozen=True, slots=True)
class Line:
    """One line; `node_id` is the node it came from, `comment` stands behind the code."""

    plain: str
    twin: str | None = None
    node_id: str | None = None
    comment: str = ""

    @property
    def run(self) -> str:
        return self.plain if self.twin is None else self.twin


def block(text: str, node_id: str | None = None) -> list[Line]:
    """Fixed text as lines."""
    return [Line(line, node_id=node_id) for line in text.strip("\n").split("\n")]


def indented(lines: Iterable[Line], by: int = 4) -> list[Line]:
    pad = " " * by
    return [
        Line(
            pad + line.plain if line.plain else "",
            pad + line.twin if line.twin else line.twin,
            line.node_id,
            line.comment,
        )
        for line in lines
    ]


def laid_out(lines: Sequence[Line]) -> list[Line]:
    """Lines with their comments at one column, and broken where they are too long.

    The twin of a broken line stands whole on the first of its lines.
    """
    column = max(
        (len(line.plain) for line in lines if line.comment and len(line.plain) < COMMENT_AT), default=0
    )
    found = []
    for line in lines:
        first, *rest = wrapped(line.plain, WIDTH)
        pieces = [first, *rest]
        if line.comment:
            fits = f"{pieces[-1]:<{0 if rest else column}}  # {line.comment}"
            pieces[-1] = fits if len(fits) <= WIDTH else pieces[-1]
        twins = [line.run, *[""] * len(rest)]
        found += [Line(piece, twin, line.node_id) for piece, twin in zip(pieces, twins, strict=True)]
    return found


def tapped(node_id: str, pattern: object, value: Expr, shown: Expr | None = None) -> Expr:
    """The value, shown on its way to whoever watches: `tap("n3", "output", F.relu(x))`.

    With `shown`, a function, what is seen is that of the value.
    """
    return name("tap")(lift(node_id), lift(pattern), value, *([shown] if shown is not None else []))


def statement(target: str, plain: Expr, twin: Expr, node_id: str | None, comment: str = "") -> Line:
    """`target = value`, or `return value` where the target says so."""
    joint = " " if target == "return" else " = "
    return Line(f"{target}{joint}{plain}", f"{target}{joint}{twin}", node_id, comment)


def returned_dict(items: Sequence[tuple[str, Expr, Expr, str | None]]) -> list[Line]:
    """`return {...}` of (key, plain value, twin value, node), one item a line where it is long."""
    whole = "return {" + ", ".join(f"{quoted(key)}: {plain}" for key, plain, _, _ in items) + "}"
    twin = "return {" + ", ".join(f"{quoted(key)}: {value}" for key, _, value, _ in items) + "}"
    if len(items) == 1 and len(whole) < WIDTH:
        return [Line(whole, twin, items[0][3])]
    lines = [Line("return {")]
    for key, plain, value, node_id in items:
        lines.append(Line(f"    {quoted(key)}: {plain},", f"    {quoted(key)}: {value},", node_id))
    lines.append(Line("}"))
    return lines


def check_met(wanted: Iterable[str], met: Container[str]) -> None:
    """Errors: `EmitError` for a line that was to be changed and has not been met in the script."""
    for line in wanted:
        if line not in met:
            raise EmitError(f"The script has no line {line!r} any more, which was to be changed in it.")


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
