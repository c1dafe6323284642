"""Which types of nodes may have written a line: those that call all that it calls, whatever their values."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any
from weakref import WeakKeyDictionary

from engine.catalogue import Catalogue, Composite, Layer, Measure, NodeType, Source
from engine.catalogue.params import ParamSpec
from engine.catalogue.symbols import name
from engine.errors import NeuroloomError
from engine.importers.matching import SELF
from engine.importers.patterns import Definitions, Pattern, pattern_of
from engine.importers.spelling import dotted_name
from engine.shapes.signatures import Signature

SHAPES = ((8,), (6, 8), (4, 8, 8), (1,), ())
KINDS = ("float32", "int64")
PLACES = ("places", "n0")  # an axis along which rows differ in length
PER_ROW = ("", "nodes", "edges")


@dataclass
class Likely:
    """What each type calls, and the functions and classes of ours that exports may carry, by name."""

    calls: dict[type[NodeType], frozenset[str]] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=dict)

    def types(self, calls: Iterable[str], *kinds: type[NodeType]) -> list[type[NodeType]]:
        """The types of these kinds that call all of these, those that call little else first."""
        wanted = frozenset(calls)
        fitting = [
            one
            for one, known in self.calls.items()
            if issubclass(one, kinds) and not issubclass(one, Composite) and (wanted <= known or not known)
        ]
        return sorted(fitting, key=lambda one: (not self.calls[one], not one.common, len(self.calls[one])))

    def calls_it(self, call: str) -> bool:
        """Whether some type calls this."""
        return any(call in known for known in self.calls.values())


_known: WeakKeyDictionary[Catalogue, Likely] = WeakKeyDictionary()


def likely(catalogue: Catalogue, kinds: Sequence[type[NodeType]] = (Layer, Measure, Source)) -> Likely:
    """What the types of a catalogue call; it is found out once."""
    found = _known.get(catalogue)
    if found is None:
        found = _known[catalogue] = Likely()
        for one in catalogue:
            if issubclass(one, tuple(kinds)) and not issubclass(one, Composite):
                calls: set[str] = set()
                for pattern in _patterns(one):
                    calls |= calls_in([*pattern.ports.values(), *pattern.layers.values()])
                    found.ours.update((str(thing.__name__), thing) for thing in pattern.carries)
                found.calls[one] = frozenset(calls)
    return found


def calls_in(trees: Iterable[ast.AST]) -> set[str]:
    """What is called in trees: functions by their names, methods with a point before, operators by theirs."""
    found: set[str] = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                dotted = dotted_name(node.func)
                if dotted is None or dotted.split(".")[0].startswith(("hole_", "place_")):
                    if isinstance(node.func, ast.Attribute):
                        found.add(f".{node.func.attr}")
                elif not dotted.startswith(f"{SELF}."):
                    found.add(dotted)
                elif dotted.count(".") > 1:
                    found.add(f".{dotted.rpartition('.')[2]}")
            elif isinstance(node, ast.BinOp):
                found.add(type(node.op).__name__)
            elif isinstance(node, ast.Compare):
                found |= {type(one).__name__ for one in node.ops}
    return found


def _patterns(kind: type[NodeType]) -> Iterator[Pattern]:
    """What a type writes, with one parameter after the other at something else than its default."""
    arriving: list[Mapping[str, Signature]] = []
    for values in _variants(kind.params):
        try:
            made = kind(values)
        except NeuroloomError:
            continue
        for given in arriving[:2] if values and arriving else _inputs(made):
            found = pattern_of(made, given, Definitions())
            if found is not None:
                arriving += [] if values else [given]
                yield found
            if getattr(made, "reads_lengths", False) or isinstance(made, Measure):
                uneven = {port: _uneven(one) for port, one in given.items()}
                found = pattern_of(made, uneven, Definitions(), None, {PLACES: name("lengths")})
                if found is not None:
                    yield found


def _uneven(one: Signature) -> Signature:
    """The same with rows that differ in length along its first axis."""
    return replace(one, ragged=PLACES) if one.shape and not one.rows else one


def _variants(params: Sequence[ParamSpec]) -> Iterator[dict[str, Any]]:
    yield {}
    for spec in params:
        if spec.kind == "bool":
            yield {spec.name: not spec.default}
        elif spec.kind == "choice":
            yield from ({spec.name: one} for one in spec.choices if one != spec.default)
        elif spec.optional and spec.kind in ("int", "float", "pair"):
            yield {spec.name: 2 if spec.default is None else None}
        elif spec.kind in ("int", "float", "pair"):
            yield from ({spec.name: one} for one in (*spec.words, 2, 0.5, 0) if one != spec.default)


def _inputs(made: NodeType) -> Iterator[Mapping[str, Signature]]:
    """Inputs of many sizes and kinds."""
    if isinstance(made, Source):
        yield {"x": Signature((8,))}
        return
    required = [port for port in made.inputs() if not port.optional]
    optional = [port for port in made.inputs() if port.optional]
    for ports in (required, [*required, *optional]) if optional else (required,):
        names = [
            name
            for port in ports
            for name in ((f"{port.name}1", f"{port.name}2") if port.many else (port.name,))
        ]
        yield from _arriving(names)


def _arriving(names: Sequence[str]) -> Iterator[Mapping[str, Signature]]:
    for shape in SHAPES:
        yield {name: Signature(shape) for name in names}
        yield {name: Signature(shape, "int64") for name in names}
        if len(names) > 1:
            for rest in ((), (1,), shape, shape[:1]):
                yield {
                    name: Signature(shape) if at == 0 else Signature(rest, "int64")
                    for at, name in enumerate(names)
                }
            for rest in ((), (1,), shape[:1]):
                yield {
                    name: Signature(shape) if at == 0 else Signature(rest) for at, name in enumerate(names)
                }
    if len(names) > 1:
        yield {
            name: Signature((8,), rows="nodes") if at == 0 else Signature((), "int64")
            for at, name in enumerate(names)
        }
    rows = product(*[PER_ROW] * min(len(names), 3))
    for given in rows:
        if any(given):
            yield {
                name: Signature(
                    (2,) if row == "edges" else (8,), "int64" if row == "edges" else "float32", rows=row
                )
                for name, row in zip(names, (*given, *[""] * len(names)), strict=False)
            }
