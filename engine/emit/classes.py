"""Blocks as classes: one Python class a definition, however often and with whatever sizes it is used.

Each use of a block with sizes of its own is assembled by itself. Uses whose code is the same but for some
numbers become one class, which takes these numbers: `Encoder(in_channels=64)`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.catalogue.identifiers import NameBook, class_name, slug
from engine.catalogue.symbols import Expr, resolved
from engine.document.graph import BLOCK
from engine.emit.statements import Statement, walked
from engine.errors import EmitError
from engine.shapes.shapes import ShapeBook

if TYPE_CHECKING:
    from engine.emit.model import Assembly

Render = Callable[["Assembly", str, dict[str, str]], list[Statement]]


@dataclass(slots=True, eq=False)
class Version:
    """A definition with the sizes of some of its uses; `calls` are the expressions that construct it."""

    block_id: str
    book: ShapeBook
    made: Assembly
    calls: list[ast.Call] = field(default_factory=list)


@dataclass(slots=True)
class Class:
    """A class to print: the version it is printed from, and its parameters with their types."""

    name: str
    version: Version
    parameters: dict[str, str]


class Classes:
    """The classes of a script, inner ones first; `names` are those of the script's own scope."""

    def __init__(self, names: NameBook) -> None:
        self.names = names
        self.versions: list[Version] = []
        self.finished: list[Class] = []

    def constructor(self, block_id: str, book: ShapeBook, assemble: Callable[[], Assembly]) -> Expr:
        """The expression that constructs a block whose inside has the shapes of `book`."""
        found = next((one for one in self.versions if one.block_id == block_id and one.book is book), None)
        if found is None:
            found = Version(block_id, book, assemble())
            self.versions.append(found)
        call = ast.Call(ast.Name(BLOCK, ast.Load()), [], [])
        found.calls.append(call)
        return Expr(call)

    def version(self, block_id: str, book: ShapeBook) -> Version:
        return next(one for one in self.versions if one.block_id == block_id and one.book is book)

    @property
    def carries(self) -> frozenset[Any]:
        """Functions and classes of ours that the insides of blocks call by name."""
        found: frozenset[Any] = frozenset()
        for one in self.versions:
            found |= one.made.carries
        return found

    def finish(self, render: Render) -> None:
        """Decide which versions are one class, and name the classes and what they take."""
        left = list(self.versions)
        while left:
            first = left[0]  # inner ones come first, so what it constructs has its name and numbers by now
            form = _form(first, render)
            alike = [one for one in left if one.block_id == first.block_id and _form(one, render) == form]
            left = [one for one in left if one not in alike]
            self._finish(alike)

    def _finish(self, alike: list[Version]) -> None:
        first = alike[0]
        title = self.names.give(first.made.project.title, BLOCK, class_name)
        values = _differing(alike, NameBook(outer=self.names))
        parameters = {one: type(found[0]).__name__ for one, found in values.items()}
        self.finished.append(Class(title, first, parameters))
        for number, version in enumerate(alike):
            for call in version.calls:
                call.func = ast.Name(title, ast.Load())
                call.keywords = [
                    ast.keyword(arg=one, value=ast.Constant(found[number])) for one, found in values.items()
                ]


def _form(version: Version, render: Render) -> str:
    """The code of a version with the numbers of its constructors left out."""
    made = version.made
    kept = [(attribute, tree) for code in made.codes.values() for attribute, tree in code.modules.items()]
    layers = [(attribute, _without_constants(made.tree)) for attribute, made in kept]
    (whole,) = render(made, BLOCK, {})
    forward = [one.plain for one in walked(whole.body[-1:])]
    begins = [str(statement) for code in made.codes.values() for statement in code.begins]
    return repr((layers, begins, forward))


def _without_constants(part: Any) -> Any:
    """A tree as nested tuples, in which all literals are alike."""
    if isinstance(part, ast.Constant):
        return None
    if isinstance(part, ast.AST):
        fields = (_without_constants(value) for _, value in ast.iter_fields(part))
        return type(part).__name__, *fields
    return [_without_constants(one) for one in part] if isinstance(part, list) else part


def _differing(alike: list[Version], names: NameBook) -> dict[str, list[Any]]:
    """What the versions' constructors differ in, by name; the first version's now reads the names."""
    values: dict[str, list[Any]] = {}
    expressions = [
        [made for code in one.made.codes.values() for made in code.modules.values()] for one in alike
    ]
    for same in zip(*expressions, strict=True):
        constants = [list(_constants(made.tree)) for made in same]
        swapped: dict[int, ast.Name] = {}
        for places in zip(*constants, strict=True):
            found = [constant.value for _, constant in places]
            if all(one == found[0] and type(one) is type(found[0]) for one in found):
                continue
            known = next((one for one, other in values.items() if other == found), None)
            if known is None:
                known = names.give(places[0][0], "size")
                values[known] = found
            swapped[id(places[0][1])] = ast.Name(known, ast.Load())
        if swapped:
            same[0].tree = _Swap(swapped).visit(same[0].tree)
    return values


class _Swap(ast.NodeTransformer):
    def __init__(self, swapped: dict[int, ast.Name]) -> None:
        self.swapped = swapped

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return self.swapped.get(id(node), node)


def _constants(tree: ast.AST, role: str = "size") -> Iterator[tuple[str, ast.Constant]]:
    """Every literal of a constructor with the name of the argument it is part of."""
    if isinstance(tree, ast.Constant):
        yield role, tree
    elif isinstance(tree, ast.Call):
        roles = _roles(tree.func)
        for index, argument in enumerate(tree.args):
            yield from _constants(argument, roles[index] if index < len(roles) else role)
        for word in tree.keywords:
            yield from _constants(word.value, word.arg or role)
    else:
        for child in ast.iter_child_nodes(tree):
            yield from _constants(child, role)


def _roles(function: ast.expr) -> list[str]:
    try:
        return [slug(one) for one in inspect.signature(resolved(ast.unparse(function))).parameters]
    except (EmitError, AttributeError, ValueError, TypeError):
        return []
