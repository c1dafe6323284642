"""What is written for a project that was read, beside the file it was read from.

The project is exported once more in the form that the file has, and each statement of the file that this
export lacks is named, unless it was read as part of the network, which may be written in many ways.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from engine.catalogue import Catalogue
from engine.document.graph import Project
from engine.emit.script import write_script
from engine.errors import NeuroloomError
from engine.importers.comparing.form import Exported, plain
from engine.importers.constants import plainly, put_in
from engine.importers.findings import Findings, quoted_code
from engine.importers.likeness import Masked, is_doc, lines_of, masked, stored_in
from engine.importers.measures import WEIGHT
from engine.importers.roles import constants_of
from engine.procedures.registry import offers
from engine.shapes.shapes import check

Function = ast.FunctionDef
Statements = Sequence[ast.stmt]
DATA = "--data"  # the option whose default is where the data lie, which is read by itself


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file was read: its functions that were read line by line, and its classes that are layers."""

    functions: Collection[str] = ()
    networks: Collection[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)  # what parts of it are called where it is written


def compare(
    project: Project, catalogue: Catalogue, text: str, form: Exported, read: Reading, findings: Findings
) -> None:
    """Name the statements of a file that the project does not write."""
    tree = plainly(ast.parse(text))
    try:
        written = _written(project, catalogue, form)
    except NeuroloomError:
        why = "the project can't be written as it is, so what else the file has was not compared with it."
        findings.add(tree.body[-1], f"Not read back: {why}")
        return
    loaded = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    there, here = (_prepared(one) for one in (tree, plainly(ast.parse(written))))
    _Comparison(there, here, read, findings, loaded).run()


def _written(project: Project, catalogue: Catalogue, form: Exported) -> str:
    book = check(project, catalogue)
    known = {one.name for one in offers(project, book)}
    script = write_script(
        project,
        catalogue,
        book,
        weights=form.weights,
        fast=form.fast,
        distributed=form.distributed,
        procedures="all" if form.notebook else [one for one in form.procedures if one in known],
        notebook=form.notebook,
    )
    return script.plain.text


def _prepared(tree: ast.Module) -> ast.Module:
    """A tree whose numbers stand where they are used, without where the data lie."""
    made = _Homeless().visit(plain(put_in(tree, constants_of(tree), but=())))
    assert isinstance(made, ast.Module)
    return made


class _Homeless(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == DATA:
            node.keywords = [one for one in node.keywords if one.arg != "default"]
        return node


class _Comparison:
    """Two trees, the file's and the one written for its project."""

    def __init__(
        self,
        there: ast.Module,
        here: ast.Module,
        read: Reading,
        findings: Findings,
        loaded: Collection[str],
    ) -> None:
        self.there, self.here, self.read, self.findings, self.loaded = there, here, read, findings, loaded
        self.known = findings.lines()

    def run(self) -> None:
        written = _functions(self.here)
        mine = _functions(self.there)
        classes, others = _classes(self.there), _classes(self.here)
        roles = {key: one for key, one in self.read.names.items() if key not in written}
        names = {**_renamed(mine, written), **roles}
        for name, one in mine.items():
            other = written.get(names.get(name, name))
            if name in self.read.functions:
                self._read_by_lines(one, other, names)
            elif other is None:
                self._alone(one, "a function of its own")
            else:
                self._same(one, other, names)
        for name, kind in classes.items():
            found = others.get(names.get(name, name))
            if found is None and name not in self.read.networks:
                self._alone(kind, "a class of its own")
            else:
                self._class(kind, found, names, name in self.read.networks)
        self._module(names)

    def _alone(self, one: Function | ast.ClassDef, what: str) -> None:
        self._name(one, f"Not read back: `{one.name}` is {what}, which the project does not hold.")

    def _name(self, at: ast.stmt, message: str = "") -> None:
        if not self.known & set(range(at.lineno, _end(at) + 1)):
            self.findings.add(at, message or f"Not read back: {quoted_code(_head(at))}")

    def _same(self, one: Function, other: Function, names: Mapping[str, str]) -> None:
        """Name what a function does that the written one does not, and what it lacks."""
        for kind, missing, lacking in _apart([one], [other], names):
            for statement in missing:
                self._name(statement)
            if kind == "insert" and lacking:
                self.findings.add(
                    one, f"`{one.name}` lacks {quoted_code(_head(lacking[0]))}, which the project does."
                )

    def _read_by_lines(self, one: Function, other: Function | None, names: Mapping[str, str]) -> None:
        """Name what a function has beside the values that were read of it."""
        body = one.body
        written = [] if other is None else other.body
        used = [
            node.id for node in ast.walk(one) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        ]
        for _, missing, _ in _apart(body, written, names):
            for statement in missing:
                if isinstance(statement, ast.Return):
                    self._counts(statement, body, written)
                elif not _is_read(statement, used):
                    self._name(statement)

    def _counts(self, statement: ast.Return, body: Statements, written: Statements) -> None:
        """Name what a function says that a batch counts, where that is not what the project says."""
        mine = _counted(statement)
        theirs = next((found for one in written if (found := _counted(one)) is not None), None)
        own = Masked({*stored_in(body)} - {*stored_in(written)})
        other = Masked({*stored_in(written)} - {*stored_in(body)})
        if mine is not None and (theirs is None or _text(mine, own) != _text(theirs, other)):
            self._name(mine)

    def _class(
        self, one: ast.ClassDef, other: ast.ClassDef | None, names: Mapping[str, str], network: bool
    ) -> None:
        written = (
            {} if other is None else {part.name: part for part in other.body if isinstance(part, Function)}
        )
        for part in one.body:
            if not isinstance(part, Function):
                continue
            found = written.get(part.name)
            if network and part.name == "__init__":
                self._constructor(one, part, found, names)
            elif network and part.name == "forward":
                self._read_by_lines(part, found, names)
            elif found is None:
                self._alone(part, "a method of its own")
            else:
                self._same(part, found, names)
        rest, others = (
            [part for part in body if not isinstance(part, Function)]
            for body in (one.body, [] if other is None else other.body)
        )
        for _, missing, _ in _apart(rest, others, names):
            for statement in missing:
                self._name(statement)

    def _constructor(
        self, kind: ast.ClassDef, one: Function, other: Function | None, names: Mapping[str, str]
    ) -> None:
        """Name what a constructor does beside layers that are called, and values that are read."""
        used = {
            node.attr
            for node in ast.walk(kind)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
        }
        for _, missing, _ in _apart(one.body, [] if other is None else other.body, names):
            for statement in missing:
                targets = statement.targets if isinstance(statement, ast.Assign) else []
                if not (
                    targets and all(isinstance(part, ast.Attribute) and part.attr in used for part in targets)
                ):
                    self._name(statement)

    def _module(self, names: Mapping[str, str]) -> None:
        """Name what stands outside of functions and classes."""
        for _, missing, _ in _apart(_loose(self.there), _loose(self.here), names):
            for statement in missing:
                targets = statement.targets if isinstance(statement, ast.Assign) else []
                held = [node.id for one in targets for node in ast.walk(one) if isinstance(node, ast.Name)]
                if not held or not set(held) & set(self.loaded):
                    self._name(statement)


def _functions(tree: ast.Module) -> dict[str, Function]:
    return {one.name: one for one in tree.body if isinstance(one, Function)}


def _classes(tree: ast.Module) -> dict[str, ast.ClassDef]:
    return {one.name: one for one in tree.body if isinstance(one, ast.ClassDef)}


def _loose(tree: ast.Module) -> list[ast.stmt]:
    taken = (Function, ast.ClassDef, ast.Import, ast.ImportFrom)
    return [one for one in tree.body if not isinstance(one, taken)]


def _renamed(there: Mapping[str, Function], written: Mapping[str, Function]) -> dict[str, str]:
    """What functions that have other names in the file are called where they are written."""
    found: dict[str, str] = {}
    left = {name: one for name, one in written.items() if name not in there}
    for name, one in there.items():
        if name in written:
            continue
        mine = _shape(one, {*there, *written})
        same = next((other for other, two in left.items() if _shape(two, {*there, *written}) == mine), None)
        if same is not None:
            found[name] = same
            del left[same]
    return found


def _shape(one: Function, names: Collection[str]) -> list[str]:
    return lines_of([one], dict.fromkeys(names, "function"))


Apart = tuple[str, list[ast.stmt], list[ast.stmt]]


def _apart(mine: Statements, theirs: Statements, names: Mapping[str, str]) -> Iterator[Apart]:
    """Where two runs of statements differ: how, the statements of the first, and those of the second."""
    own = {*stored_in(mine)} - {*stored_in(theirs)} - names.keys()
    other = {*stored_in(theirs)} - {*stored_in(mine)} - {*names.values()}
    first, second = [*_flat(mine)], [*_flat(theirs)]
    texts = [_text(one, Masked(own, names)) for one in first]
    others = [_text(one, Masked(other)) for one in second]
    for kind, start, end, begin, last in SequenceMatcher(None, texts, others, autojunk=False).get_opcodes():
        if kind != "equal":
            yield kind, first[start:end], second[begin:last]


def _flat(body: Statements) -> Iterator[ast.stmt]:
    """Each statement, those inside it after it; docstrings say nothing."""
    for one in body:
        if is_doc(one):
            continue
        yield one
        for name in ("body", "handlers", "orelse", "finalbody"):
            for part in getattr(one, name, []):
                yield from _flat(part.body if isinstance(part, ast.ExceptHandler) else [part])


def _text(one: ast.stmt, names: Masked) -> str:
    """A statement as one line that is equal where what it does is."""
    return ast.unparse(masked(_head(one), names))


def _head(statement: ast.stmt) -> ast.stmt:
    """A statement without those in it."""
    if not hasattr(statement, "body"):
        return statement
    fields = dict(ast.iter_fields(statement))
    lists = ("orelse", "finalbody", "handlers", "decorator_list")
    fields |= {key: [] for key in lists if key in fields}
    fields["body"] = [ast.Expr(ast.Constant(...))]
    if isinstance(statement, ast.Try):
        fields["handlers"] = [ast.ExceptHandler(one.type, None, [ast.Pass()]) for one in statement.handlers]
    return ast.copy_location(ast.fix_missing_locations(type(statement)(**fields)), statement)


def _counted(statement: ast.stmt) -> ast.Expr | None:
    """What a batch counts, as a function of a batch returns it beside its values."""
    value = statement.value if isinstance(statement, ast.Return) else None
    for key, one in zip(value.keys, value.values, strict=True) if isinstance(value, ast.Dict) else ():
        if isinstance(key, ast.Constant) and key.value == WEIGHT:
            return ast.copy_location(ast.Expr(one), one)
    return None


def _is_read(statement: ast.stmt, used: Collection[str]) -> bool:
    """Whether a line of a network sets a variable that a later one reads."""
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    else:
        return False
    return any(isinstance(node, ast.Name) and node.id in used for one in targets for node in ast.walk(one))


def _end(one: ast.stmt) -> int:
    """The last line of a statement, or of its head where others stand in it."""
    body = getattr(one, "body", None)
    if isinstance(body, list) and body:
        return max(one.lineno, int(body[0].lineno) - 1)
    return one.end_lineno or one.lineno
