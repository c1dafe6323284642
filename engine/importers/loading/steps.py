"""Reads the transforms behind a data node: functions that add columns to its splits."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.catalogue import Column, Data, Transform
from engine.data.pairs import check_pairs
from engine.emit.loading import _call
from engine.errors import NeuroloomError
from engine.importers.findings import quoted_code
from engine.importers.fitting import Cost, fitted
from engine.importers.reader import Reader, Shared
from engine.importers.spelling import constants_in
from engine.values import Value


@dataclass
class Sources:
    """The data nodes of a file, and the column that each key of a batch is."""

    columns: dict[str, tuple[str, str]] = field(default_factory=dict)
    nodes: list[str] = field(default_factory=list)


def read_steps(reader: Reader, steps: Sequence[ast.Call], found: Sources, wanted: Sequence[str]) -> None:
    """The transforms behind a data node, which add columns."""
    shared = reader.shared
    for call in steps:
        if isinstance(call.func, ast.Name) and call.func.id == check_pairs.__name__:
            continue
        step = _transform(shared, found, call, wanted)
        if step is None:
            shared.findings.add(call, f"{quoted_code(call)} has no node here.")
            continue
        node_id = reader.add(step.type.type_id, step.into.replace("_", " "), step.params, {"x": step.column})
        found.columns[step.into] = (node_id, "output")


@dataclass(frozen=True, slots=True)
class Step:
    """A transform of a column, and the name of the column that it adds."""

    type: type[Transform]
    params: Mapping[str, Value]
    column: tuple[str, str]
    into: str
    cost: int


def _transform(shared: Shared, found: Sources, call: ast.Call, wanted: Sequence[str]) -> Step | None:
    """The transform that a call is; what it is told may have been put into the definition."""
    texts = [one.value for one in call.args[1:3] if isinstance(one, ast.Constant)]
    froms = [str(texts[0])] if texts else list(found.columns)
    intos = [str(texts[1])] if len(texts) > 1 else [one for one in wanted if one not in found.columns]
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    literals = constants_in([call, *shared.defined.reached(call)])
    texts_in = {str(one) for one in literals}
    best: Step | None = None
    for column in froms:
        before = shared.book.types.get(found.columns[column][0]) if column in found.columns else None
        known = before.column(found.columns[column][1]) if isinstance(before, Data) else None
        for kind in shared.catalogue if known is not None else ():
            for into in intos if issubclass(kind, Transform) else ():
                if not texts and not {column, into} <= texts_in:
                    continue
                assert known is not None and issubclass(kind, Transform)
                cost = _cost_of_step(shared, kind, known, call, name, column, into)
                if cost({}) is None:
                    continue
                values, least = fitted(kind.params, cost, literals)
                if least is not None and (best is None or least < best.cost):
                    best = Step(kind, values, found.columns[column], into, least)
    return best


def _cost_of_step(
    shared: Shared, kind: type[Transform], known: Column, call: ast.Call, name: str, column: str, into: str
) -> Cost:
    given = {str(one.arg): ast.dump(one.value) for one in call.keywords}

    def cost(values: Mapping[str, Value]) -> int | None:
        try:
            made = kind(values)
            made.bind(known)
            function, options = made.fit()
        except NeuroloomError:
            return None
        if function.__name__ != name:
            return None
        text = _call(function, f"splits, {column!r}, {into!r}", options)
        written = ast.parse(text, mode="eval").body
        assert isinstance(written, ast.Call)
        words = {str(one.arg): ast.dump(one.value) for one in written.keywords}
        wrong = sum(words.get(key) != one for key, one in given.items())
        return 50 * wrong + shared.defined.differing([function], text)

    return cost
