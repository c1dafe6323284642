"""Reads functions that make optimisers and schedules: the one that writes the same lines, and its values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.catalogue.training.choosable import Choosable
from engine.catalogue.training.optimisers import OPTIMISERS, SAMPLERS, SCHEDULES
from engine.document.plan import (
    Choice,
    Minimise,
)
from engine.emit.optimise import RENAMED, WITH_ZEROS, optimiser_lines, schedule_lines
from engine.emit.statements import lines_of as statement_lines
from engine.emit.statements import text_of
from engine.errors import NeuroloomError
from engine.importers.fitting import fitted
from engine.importers.likeness import apart, lines_of

if TYPE_CHECKING:
    from engine.importers.objectives import Training
from engine.importers.spelling import constants_in, dotted_name
from engine.values import Value


def optimiser_of(
    training: Training, function: ast.FunctionDef
) -> tuple[Choice, tuple[str, ...], dict[str, float], bool]:
    """The optimiser that a function makes, the nodes it trains, their rates, and whether biases decay."""
    paths = _paths(function)
    nodes = [found for path in paths if (found := training.node_of(path))]
    whole = paths == ["model"] or not nodes
    factors = _factors(function)
    body = _without_zeros(function)
    source = lines_of(body, {function.args.args[0].arg: "model"})
    literals = constants_in(body)
    best: tuple[int, Choice, bool] | None = None
    layers = ["model"] if whole else paths
    text = ast.unparse(function)
    for decays in (False, True) if "weight_decay" in text and "ndim" in text else (True,):
        for name, kind in {**OPTIMISERS, **SAMPLERS}.items():
            if kind.makes.rpartition(".")[2] not in text:
                continue

            def cost(values: Mapping[str, Value], name: str = name, decays: bool = decays) -> int | None:
                made = Minimise(optimiser=Choice(name, values), decay_biases=decays)
                try:
                    lines = optimiser_lines(made, "f", layers, factors)
                except NeuroloomError:
                    return None
                return apart(_written_as(lines), source)

            values, least = fitted(kind.params, cost, literals, _named_values(kind, body))
            if least is not None and (best is None or least < best[0]):
                best = (least, Choice(name, values), decays)
    if best is None:
        training.add(function, f"`{function.name}` makes no optimiser that is known here; Adam is taken.")
        return Choice("Adam"), () if whole else tuple(nodes), {}, True
    if best[0]:
        training.add(function, f"`{function.name}` makes more than {best[1].name} as it can be said here.")
    rates = {node: factor for path, factor in factors.items() if (node := training.node_of(path))}
    everything = {one for one in training.reader.owners.values() if training.reader.book.parameters(one)}
    of = () if whole or set(nodes) >= everything else tuple(dict.fromkeys(nodes))
    return best[1], of, rates, best[2]


def _named_values(kind: type[Choosable], body: Sequence[ast.stmt]) -> dict[str, Value]:
    """What the call of an optimiser gives by the names of parameters."""
    given: dict[str, Any] = {}
    for one in body:
        for node in ast.walk(one):
            for word in node.keywords if isinstance(node, ast.Call) else ():
                try:
                    given[str(word.arg)] = ast.literal_eval(word.value)
                except ValueError:
                    continue
    if isinstance(pair := given.get("betas"), tuple) and len(pair) == 2:
        given["beta1"], given["beta2"] = pair
    found: dict[str, Value] = {}
    for spec in kind.params:
        value = given.get(RENAMED.get(spec.name, spec.name))
        try:
            if value is not None and spec.check(value) != spec.default:
                found[spec.name] = spec.check(value)
        except NeuroloomError:
            continue
    return found


def _without_zeros(function: ast.FunctionDef) -> list[ast.stmt]:
    """The lines of an optimiser without the zeros of an L1 penalty, which the objective says."""
    body = list(function.body)
    last = body[-1]
    value = last.value if isinstance(last, ast.Return) else None
    if (
        isinstance(value, ast.Call)
        and dotted_name(value.func) == WITH_ZEROS.rpartition(".")[2]
        and value.args
    ):
        body[-1] = ast.copy_location(ast.Return(value.args[0]), last)
    return body


def _written_as(lines: Any) -> list[str]:
    text = text_of(line.plain for line in statement_lines([lines]))
    [made] = ast.parse(text).body
    assert isinstance(made, ast.FunctionDef)
    return lines_of(made.body, {"model": "model"})


def _paths(function: ast.FunctionDef) -> list[str]:
    """The parts of the model whose weights a function takes, in order."""
    model = function.args.args[0].arg
    found: list[str] = []
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "parameters"
        ):
            path = ast.unparse(node.func.value)
            if path == model or path.startswith(f"{model}."):
                found.append("model" + path[len(model) :])
    plain = [one.replace("[", ".").replace("]", "") for one in dict.fromkeys(found)]
    return plain


def _factors(function: ast.FunctionDef) -> dict[str, float]:
    """Factors on the learning rate by path."""
    found: dict[str, float] = {}
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Call)
            and (dotted_name(node.func) or "") == "dict.fromkeys"
            and len(node.args) == 2
        ):
            inner, factor = node.args
            if (
                isinstance(inner, ast.Call)
                and isinstance(inner.func, ast.Attribute)
                and isinstance(factor, ast.Constant)
                and isinstance(factor.value, float | int)
            ):
                found[ast.unparse(inner.func.value)] = float(factor.value)
    return found


def schedule_of(training: Training, function: ast.FunctionDef) -> Choice:
    """The schedule that a function makes."""
    source = lines_of(function.body, {one.arg: f"a{at}" for at, one in enumerate(function.args.args)})
    literals = constants_in(function.body)
    found: list[tuple[int, str]] = []

    def cost_of(name: str) -> Callable[[Mapping[str, Value]], int | None]:
        def cost(values: Mapping[str, Value]) -> int | None:
            try:
                lines = schedule_lines(Minimise(schedule=Choice(name, values)))
            except NeuroloomError:
                return None
            if not lines:
                return None
            text = text_of(line.plain for line in statement_lines([lines]))
            [made] = ast.parse(text).body
            assert isinstance(made, ast.FunctionDef)
            known = {one.arg: f"a{at}" for at, one in enumerate(made.args.args)}
            return apart(lines_of(made.body, known), source)

        return cost

    for name in SCHEDULES:
        first = cost_of(name)({})
        if first is not None:
            found.append((first, name))
    best: tuple[int, Choice] | None = None
    for _, name in sorted(found)[:4]:
        values, least = fitted(SCHEDULES[name].params, cost_of(name), literals)
        if least is not None and (best is None or least < best[0]):
            best = (least, Choice(name, values))
        if best is not None and best[0] == 0:
            break
    if best is None or best[0] > 0:
        training.add(function, f"`{function.name}` is no schedule that is known here.")
    return Choice("Constant") if best is None else best[1]
