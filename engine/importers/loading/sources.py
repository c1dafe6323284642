"""The data node that lines of a script read: its type by the loader they call, or by what they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from inspect import Signature
from pathlib import Path
from typing import Any

from engine.catalogue import Data, Transform
from engine.catalogue.emitter import build
from engine.catalogue.identifiers import NameBook
from engine.catalogue.params import ParamSpec
from engine.data.open.opening import open_data, open_for, readers
from engine.data.text.token_names import TOKENISERS
from engine.emit.loading import _call
from engine.emit.sources.straight import Reading
from engine.emit.sources.writers import is_written, straight
from engine.emit.statements import lines_of as statement_lines
from engine.emit.statements import text_of
from engine.errors import NeuroloomError
from engine.importers.fitting import Cost, candidates, fitted
from engine.importers.likeness import apart, lines_of
from engine.importers.patterns import Definitions
from engine.importers.reader import Shared
from engine.importers.spelling import constants_in, named_call, signature_of
from engine.values import Value

MOST_APART = 400  # words in which the lines of a source may differ from what its type writes


@dataclass(frozen=True, slots=True)
class Part:
    """The lines that read one source, and the expression of its splits."""

    body: Sequence[ast.stmt]
    value: ast.expr
    name: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """Lines that read a source, and the functions and classes of ours that they call."""

    lines: list[str]
    carries: frozenset[Any]


class Lines:
    """The lines of a file that read a source, whose calls of some functions have arguments by name."""

    def __init__(self, body: Sequence[ast.stmt], defined: Definitions) -> None:
        self.body, self.defined = body, defined
        self._known: dict[frozenset[Any], list[str]] = {}

    def naming(self, carries: frozenset[Any]) -> list[str]:
        if carries not in self._known:
            taken = self.defined.signatures
            ours = {key: _as_ours(taken[key], one) for one in carries if (key := one.__name__) in taken}
            self._known[carries] = lines_of(_with_names(self.body, ours, Definitions()))
        return self._known[carries]


def _as_ours(taken: Signature, function: Any) -> Signature:
    """How a function of a file is called, with the defaults that it has here."""
    known = signature_of(function)
    defaults = {} if known is None else {name: one.default for name, one in known.parameters.items()}
    each = [one.replace(default=defaults.get(name, one.default)) for name, one in taken.parameters.items()]
    try:
        return taken.replace(parameters=each)
    except ValueError:  # one without a default behind one that has it
        return taken


@dataclass(frozen=True, slots=True)
class Source:
    """A type of data node with values, and how far its lines are from those of the file."""

    type: type[Data]
    params: Mapping[str, Value]
    cost: int


def source_of(shared: Shared, part: Part, wanted: Sequence[str], folders: Sequence[Path]) -> Source | None:
    """The type and values that write these lines, or come nearest."""
    best: Source | None = None
    called = [
        node
        for node in ast.walk(part.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    for call in called:
        assert isinstance(call.func, ast.Name)
        for kind in loaded_by(shared, call.func.id):
            found = _by_call(shared, kind, call)
            if best is None or found.cost < best.cost:
                best = found
        if best is not None:
            return best
    body = [one for one in part.body if not _keeps_tokens(one)]
    source = Lines((*body, ast.Expr(part.value)), shared.defined)
    literals = constants_in([*part.body, part.value])
    tried: list[tuple[int, int, type[Data], dict[str, Value]]] = []
    for kind, start in _straight_kinds(shared, part, folders, literals):
        first = _cost_of_lines(shared.defined, kind, source, wanted)(start)
        if first is not None:
            tried.append((first, len(tried), kind, start))
        if first == 0:
            break
    for _, _, kind, start in sorted(tried, key=lambda one: one[:2])[:2]:
        near = _by_lines(shared.defined, kind, start, source, wanted, literals)
        if best is None or near.cost < best.cost:
            best = near
        if best.cost == 0:
            break
    return best if best is not None and best.cost <= MOST_APART else None


def _keeps_tokens(one: ast.stmt) -> bool:
    """Whether a line keeps tokenisers for the procedures of a script."""
    match one:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]):
            return name == TOKENISERS
    return False


def data_types(shared: Shared) -> Iterator[type[Data]]:
    for kind in shared.catalogue:
        if issubclass(kind, Data) and not issubclass(kind, Transform):
            yield kind


def loaded_by(shared: Shared, name: str) -> list[type[Data]]:
    """The types whose loader is called so."""
    found = []
    for kind in data_types(shared):
        loader = _loader(kind, {})
        if loader is not None and loader[0].__name__ == name:
            found.append(kind)
    return found


def _loader(kind: type[Data], values: Mapping[str, Value]) -> tuple[Any, dict[str, Any]] | None:
    try:
        return build(kind(values), "data", {}).loader
    except NeuroloomError:
        return None


def _by_call(shared: Shared, kind: type[Data], call: ast.Call) -> Source:
    """The values by which a type's loader is called like this, cut or whole."""
    literals = constants_in([call, *shared.defined.reached(call)])
    given = {str(one.arg): one.value for one in call.keywords}
    start: dict[str, Value] = {}
    for spec in kind.params:
        if spec.name in given:
            try:
                value = spec.check(ast.literal_eval(given[spec.name]))
            except (ValueError, NeuroloomError):
                continue
            if value != spec.default:
                start[spec.name] = value
    signature = shared.defined.signatures.get(call.func.id if isinstance(call.func, ast.Name) else "")
    taken = None if signature is None else set(signature.parameters)

    def cost(values: Mapping[str, Value]) -> int | None:
        loader = _loader(kind, values)
        if loader is None:
            return None
        function, options = loader
        carried = [one for one in options.values() if callable(one)]
        text = _call(function, "folder, device", options)
        made = ast.parse(text, mode="eval").body
        assert isinstance(made, ast.Call)
        words = {
            str(one.arg): ast.dump(one.value) for one in made.keywords if taken is None or one.arg in taken
        }
        there = {key: ast.dump(one) for key, one in given.items()}
        wrong = sum(words.get(key) != there.get(key) for key in words.keys() | there.keys())
        return 50 * wrong + shared.defined.differing([function, *carried], text)

    left = [spec for spec in kind.params if spec.name not in given]  # those that were put into the definition
    values, least = fitted(left, cost, literals, start)
    return Source(kind, values, least or 0)


def _straight_kinds(
    shared: Shared, part: Part, folders: Sequence[Path], literals: Sequence[Any]
) -> Iterator[tuple[type[Data], dict[str, Value]]]:
    """Types whose reading is written in lines, with what is known of a file of the user's own."""
    words = {one for one in literals if isinstance(one, str)}
    for kind in data_types(shared):
        loader = _loader(kind, {})
        if loader is not None and is_written(loader[0]):
            yield kind, {}
            yield from ((kind, start) for start in _written_out(kind, literals))
    for folder in folders:
        own = [folder] if folder is folders[0] and len(folders) > 2 else []
        for path in [*own, *(folder / one for one in sorted(words) if one and _is_name(one))]:
            if not path.exists():
                continue
            yield from _opened(shared, path)


def _written_out(kind: type[Data], literals: Sequence[Any]) -> Iterator[dict[str, Value]]:
    """Rows that stand in the lines themselves."""
    for spec in kind.params:
        for value in candidates(spec, literals) if spec.kind == "rows" else ():
            if value and _loader(kind, {spec.name: value}) is not None:
                yield {spec.name: value}


def _is_name(text: str) -> bool:
    return "\0" not in text and len(text) < 200 and not Path(text).is_absolute() and ".." not in text


def _opened(shared: Shared, path: Path) -> Iterator[tuple[type[Data], dict[str, Value]]]:
    """What a file may be read as, what it is taken for first."""
    seen: set[str] = set()
    for ask in (None, *readers()):
        try:
            found = open_data(path) if ask is None else open_for(path, ask)
        except (NeuroloomError, ValueError, LookupError):
            continue
        kind = shared.catalogue.get(found.type)
        if kind is not None and found.type not in seen and issubclass(kind, Data):
            seen.add(found.type)
            yield kind, dict(found.params)


def _cost_of_lines(defined: Definitions, kind: type[Data], source: Lines, wanted: Sequence[str]) -> Cost:
    """How far the lines that a type writes are from those of the file."""

    def cost(values: Mapping[str, Value]) -> int | None:
        written = written_lines(defined, kind, values, wanted)
        return None if written is None else apart(written.lines, source.naming(written.carries))

    return cost


def written_lines(
    defined: Definitions, kind: type[Data], values: Mapping[str, Value], wanted: Sequence[str]
) -> Written | None:
    """The lines that read a source, as a script has them; None where its loader is carried."""
    try:
        made = kind(values)
        names = tuple(one.name for one in made.columns() if one.name in wanted)
        loader = build(made, "data", {}).loader
        if loader is None:
            return None
        book = NameBook(("folder", "device", "split", "splits", "used"))
        found = straight(loader[0], Reading(made, loader[1], names, book, NameBook()))
    except (NeuroloomError, ValueError, TypeError, LookupError, SyntaxError):
        return None
    if found is None:
        return None
    try:
        text = text_of(line.plain for line in statement_lines([[*found.lines]]))
        body = [*ast.parse(text).body, ast.parse(found.value.strip()).body[0]]
    except SyntaxError:  # values that no data would have
        return None
    ours = {one.__name__: signature_of(one) for one in found.carries}
    return Written(lines_of(_with_names(body, ours, defined)), frozenset(found.carries))


def _with_names(
    body: Sequence[ast.stmt], ours: Mapping[str, Signature | None], defined: Definitions
) -> list[ast.stmt]:
    """Statements whose calls of carried functions name their arguments: those that the file's take."""
    calls = _Named({key: one for key, one in ours.items() if one is not None}, defined.signatures)
    return [calls.visit(one) for one in deepcopy([*body])]


class _Named(ast.NodeTransformer):
    def __init__(self, ours: Mapping[str, Signature], taken: Mapping[str, Signature]) -> None:
        self.ours, self.taken = ours, taken

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in self.ours:
            return node
        made = named_call(node.func, node.args, node.keywords, self.ours[name])
        if name in self.taken and isinstance(made, ast.Call):
            made.keywords = [one for one in made.keywords if one.arg in self.taken[name].parameters]
        return made


def _by_lines(
    defined: Definitions,
    kind: type[Data],
    start: Mapping[str, Value],
    source: Lines,
    wanted: Sequence[str],
    literals: Sequence[Any],
) -> Source:
    """The values of a type whose lines are nearest to those of the file."""
    cost = _cost_of_lines(defined, kind, source, wanted)
    written = written_lines(defined, kind, start, wanted) or Written([], frozenset())
    other = "\n".join(one for one in source.naming(written.carries) if one not in written.lines)
    literals = [one for one in literals if _said(one, other)]
    from_file = any(spec.kind == "path" for spec in kind.params)
    listed = ("rows", "path", "names") if from_file else ()
    specs = [spec for spec in kind.params if spec.kind not in listed and not (from_file and spec.hidden)]
    return Source(kind, *_nearest(specs, cost, start, literals, source))


def _nearest(
    specs: Sequence[ParamSpec],
    cost: Cost,
    start: Mapping[str, Value],
    literals: Sequence[Any],
    source: Lines,
) -> tuple[dict[str, Value], int]:
    values, least = fitted(specs, cost, literals, start)
    return {**start, **values}, MOST_APART * 40 if least is None else least


def _said(value: Any, text: str) -> bool:
    """Whether lines may have a literal in them."""
    if isinstance(value, str):
        return repr(value) in text
    return isinstance(value, bool | tuple) or value is None or str(value).strip("-") in text
