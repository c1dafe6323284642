"""What a node writes as patterns: its values with holes where wires end, its layers, what begins them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from engine.catalogue import Composite, NodeType, Source, Wire
from engine.catalogue.axes import Ragged
from engine.catalogue.emitter import NodeCode, build, drawn
from engine.catalogue.identifiers import NameBook
from engine.catalogue.symbols import Expr, evaluate, name
from engine.catalogue.traits import Squash
from engine.data.portable import portable_source
from engine.document.graph import BLOCK
from engine.emit.carried.specialise import specialised
from engine.emit.measuring import place_by_place
from engine.errors import NeuroloomError
from engine.importers.likeness import apart, lines_of
from engine.importers.matching import HOLE
from engine.importers.spelling import Spelling, dotted_name, signature_of, spelled
from engine.shapes.ragged import by_places
from engine.shapes.running import empty, values_of
from engine.shapes.signatures import Signature, wires_of

LAYER = "layer"  # the name of a pattern's own layer


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a node of some values writes; `ports` are the values that leave it, in one spelling."""

    ports: Mapping[str, ast.expr]
    layers: Mapping[str, ast.expr]
    begins: Sequence[ast.expr] = ()
    carries: frozenset[Any] = frozenset()


@dataclass(frozen=True, slots=True)
class Definitions:
    """Functions and classes that a file defines; `signatures` are how they are called."""

    trees: Mapping[str, ast.FunctionDef | ast.ClassDef] = field(default_factory=dict)
    signatures: Mapping[str, inspect.Signature] = field(default_factory=dict)

    def reached(self, tree: ast.AST) -> list[ast.AST]:
        """The definitions that an expression calls, and all that these call."""
        found: dict[str, ast.AST] = {}
        waiting = [tree]
        while waiting:
            for node in ast.walk(waiting.pop()):
                if isinstance(node, ast.Name) and node.id in self.trees and node.id not in found:
                    found[node.id] = self.trees[node.id]
                    waiting.append(self.trees[node.id])
        return list(found.values())

    def differing(self, carries: Iterable[Any], calls: str) -> int:
        """In how many words definitions that `calls` need are not as they would be carried for them."""
        named = [one for one in carries if one.__name__ in self.trees]
        if not named:
            return 0
        ordered = tuple(sorted(named, key=lambda one: str(one.__name__)))
        return sum(
            apart(shape, _shape(self.trees[name])) if name in self.trees else 0
            for name, shape in _carried_for(ordered, calls).items()
        )


def definitions_of(tree: ast.Module, known: Mapping[str, Any]) -> Definitions:
    """The definitions of a file; `known` are functions and classes of ours, whose defaults count."""
    trees = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef)}
    signatures = {name: _declared(one, known.get(name)) for name, one in trees.items()}
    return Definitions(trees, signatures)


def _declared(tree: ast.FunctionDef | ast.ClassDef, known: Any) -> inspect.Signature:
    defaults = {}
    if known is not None and (found := signature_of(known)) is not None:
        defaults = {key: one.default for key, one in found.parameters.items()}
    if isinstance(tree, ast.ClassDef):
        inits = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
        arguments = inits[0].args if inits else ast.arguments([], [], None, [], [], None, [])
        places = [*arguments.posonlyargs, *arguments.args][1:]
    else:
        arguments = tree.args
        places = [*arguments.posonlyargs, *arguments.args]
    kind = inspect.Parameter
    empty = kind.empty
    found_parameters = [
        kind(
            one.arg,
            kind.POSITIONAL_OR_KEYWORD,
            default=empty if known is None else defaults.get(one.arg, empty),
        )
        for one in places
    ]
    if arguments.vararg:
        found_parameters.append(kind(arguments.vararg.arg, kind.VAR_POSITIONAL))
    found_parameters += [
        kind(one.arg, kind.KEYWORD_ONLY, default=defaults.get(one.arg, empty)) for one in arguments.kwonlyargs
    ]
    if arguments.kwarg:
        found_parameters.append(kind(arguments.kwarg.arg, kind.VAR_KEYWORD))
    return _lenient(found_parameters)


def _lenient(parameters: Sequence[inspect.Parameter]) -> inspect.Signature:
    """A signature whose arguments may all be left out: which are given is the caller's business."""
    kind = inspect.Parameter
    fixed = (kind.VAR_POSITIONAL, kind.VAR_KEYWORD)
    missing = object()
    return inspect.Signature(
        [
            one if one.kind in fixed or one.default is not kind.empty else one.replace(default=missing)
            for one in parameters
        ],
        __validate_parameters__=False,
    )


def pattern_of(
    made: NodeType,
    wires: Mapping[str, Signature],
    defined: Definitions,
    squashes: Mapping[str, Squash | None] | None = None,
    lengths: Mapping[Ragged, Expr] | None = None,
) -> Pattern | None:
    """What a node writes for what arrives at its ports; None where it refuses these.

    `lengths` say how long rows are along axes where that differs.
    """
    known = lengths or {}
    given = {
        port: _hole(port, one, (squashes or {}).get(port), known.get(one.ragged))
        for port, one in wires.items()
    }
    try:
        if known and by_places(made, wires) != dict(wires):
            given = {port: place_by_place(one) for port, one in given.items()}
        if isinstance(made, Source):
            value = drawn(made, given["x"])
            code = NodeCode(ports={made.outputs()[0].name: value})
        else:
            code = build(made, LAYER, given, str, NameBook().give, _class_of)
    except NeuroloomError:
        return None
    return _spelled(code, defined)


def outputs_of(made: NodeType, arriving: Mapping[str, Signature]) -> dict[str, Signature]:
    """What the lines of a layer give by themselves, before its rule has all that it reads."""
    import torch

    try:
        code = build(made, LAYER, wires_of(arriving))
        with torch.device("meta"), torch.no_grad():
            layers = {attribute: evaluate(one, {}) for attribute, one in code.modules.items()}
            found = values_of(code, layers, empty(arriving))
    except Exception:  # torch raises many kinds, and so may a node type of a third party
        return {}
    return {port: Signature(tuple(one.shape[1:]), str(one.dtype)[6:]) for port, one in found.items()}


def _class_of(_: Composite) -> Expr:
    return name(BLOCK)()


def _hole(port: str, found: Signature, squash: Squash | None, lengths: Expr | None) -> Wire:
    ragged = found.ragged if lengths is not None else ()
    hole = name(HOLE + port)
    return Wire(hole, found.shape, found.dtype, found.rows, squash, ragged=ragged, lengths=lengths)


def _spelled(code: NodeCode, defined: Definitions) -> Pattern:
    carries = code.carries
    ours = {one.__name__: found for one in carries if (found := signature_of(one)) is not None}
    cut = {one: frozenset(defined.signatures[one].parameters) for one in ours if one in defined.signatures}
    variables: dict[str, ast.expr] = {}
    for unpack in code.unpacks:
        call = _cut(spelled(unpack.call.tree, Spelling(names=variables, ours=ours)), cut)
        variables.update(parts_of(unpack.pattern, call))
    spelling = Spelling(names=variables, ours=ours)
    ports = {port: _cut(spelled(one.tree, spelling), cut) for port, one in code.ports.items()}
    layers = {key: _cut(spelled(one.tree, spelling), cut) for key, one in code.modules.items()}
    begins = [spelled(one.tree, spelling) for one in code.begins]
    return Pattern(ports, layers, begins, carries)


def parts_of(pattern: Any, call: ast.expr) -> dict[str, ast.expr]:
    """The variables of a tuple that is taken apart, each as a part of the call."""
    found: dict[str, ast.expr] = {}
    for index, part in enumerate(pattern):
        item = ast.Subscript(call, ast.Constant(index), ast.Load())
        if isinstance(part, str):
            found[part] = item
        else:
            found.update(parts_of(part, item))
    return found


class _Cut(ast.NodeTransformer):
    """Leaves out of calls what a definition of the file does not take."""

    def __init__(self, taken: Mapping[str, frozenset[str]]) -> None:
        self.taken = taken

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        taken = self.taken.get(dotted_name(node.func) or "")
        if taken is None:
            return node
        return ast.Call(node.func, node.args, [one for one in node.keywords if one.arg in taken])


def _cut(tree: ast.expr, taken: Mapping[str, frozenset[str]]) -> ast.expr:
    if not taken:
        return tree
    made = _Cut(taken).visit(tree)
    assert isinstance(made, ast.expr)
    return made


@lru_cache(maxsize=4096)
def _carried_for(things: tuple[Any, ...], calls: str) -> dict[str, list[str]]:
    """What carried definitions look like in a script that makes these calls."""
    try:
        made = specialised(portable_source(things), ast.parse(calls))
    except NeuroloomError:
        return {}
    found = {}
    for text in made.texts:
        [tree] = ast.parse(text).body
        assert isinstance(tree, ast.FunctionDef | ast.ClassDef)
        found[tree.name] = _shape(tree)
    return found


def _shape(tree: ast.FunctionDef | ast.ClassDef) -> list[str]:
    return lines_of(tree.body)
