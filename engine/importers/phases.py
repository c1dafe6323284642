"""Reads the phases of a plan: how long each lasts, what ends it, and the lists in which several stand."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from engine.catalogue.params import ParamSpec
from engine.catalogue.training.averages import EMA, SWA
from engine.catalogue.training.schedules import make_schedule
from engine.catalogue.training.stopping import STOP_RULES, CleanPass, make_stop_rule
from engine.document.plan import WHOLE, Choice, Minimise, Objective, Phase, Rule, Stop
from engine.errors import NeuroloomError
from engine.importers.findings import quoted_code
from engine.importers.objectives import Training, minimise, object_of, ruled, words
from engine.importers.roles import Roles
from engine.importers.spelling import dotted_name

PHASES = "PHASES"  # the phases of a plan that needs the long form of the loop, each with its players


def number_of(roles: Roles, name: str, training: Training) -> int | None:
    """A constant of the script, by its name or by where it is used."""
    value = roles.constants.get(name)
    if value is None:
        value = _used(roles, name)
    if isinstance(value, ast.Name):
        value = roles.constants.get(value.id)
    if value is None:
        return None
    try:
        found = ast.literal_eval(value)
    except ValueError:
        training.add(value, f"{quoted_code(value)} is no plain number.")
        return None
    return found if isinstance(found, int) else None


def _used(roles: Roles, name: str) -> ast.expr | None:
    """What stands where a script of ours has a constant of this name."""
    option = {"SEED": "--seed", "EPOCHS": "--epochs"}.get(name)
    where: list[ast.AST] = [one for one in (roles.main, roles.train, roles.batches) if one is not None]
    for tree in where:
        for node in ast.walk(tree):
            if option and isinstance(node, ast.Call) and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and first.value == option:
                    return next((one.value for one in node.keywords if one.arg == "default"), None)
            if name == "PATIENCE" and isinstance(node, ast.Compare) and ast.unparse(node.left) == "waited":
                return node.comparators[0]
            if name == "BATCH" and (split := _split_by(node)) is not None:
                return split
    return None


def _split_by(node: ast.AST) -> ast.expr | None:
    """What rows are split by, where that is not all of them."""
    func = node.func if isinstance(node, ast.Call) else None
    if not (isinstance(node, ast.Call) and isinstance(func, ast.Attribute) and func.attr == "split"):
        return None
    return node.args[0] if node.args and ast.unparse(node.args[0]) != "n" else None


def text_in(node: ast.AST) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)


def stop_of(training: Training, train: ast.FunctionDef, epochs: int | None = None) -> Stop:
    """When the only phase ends."""
    text = ast.unparse(train)
    patience = (
        number_of(training.roles, "PATIENCE", training) if "waited" in text or "PATIENCE" in text else None
    )
    monitor = "val_loss"
    for node in ast.walk(train):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Compare):
            left = node.test.left
            if isinstance(left, ast.Subscript) and isinstance(left.slice, ast.Constant):
                monitor = f"val_{text_in(left.slice)}"
    clean = "mistakes" in text
    return Stop(
        epochs or number_of(training.roles, "EPOCHS", training) or Stop().epochs,
        patience,
        monitor,
        "load_state_dict" in text,
        also=(Choice(CleanPass.__name__),) if clean else (),
    )


# -- several phases


def phases_of(training: Training, listed: ast.List, train: ast.FunctionDef, batch: int) -> Iterator[Phase]:
    """The phases of a loop over a list of them; its columns are the variables of that loop."""
    names: list[str] = []
    for node in ast.walk(train):
        if (
            isinstance(node, ast.For)
            and isinstance(node.iter, ast.Call)
            and dotted_name(node.iter.func) == "enumerate"
        ):
            target = node.target.elts[1] if isinstance(node.target, ast.Tuple) else None
            if isinstance(target, ast.Tuple):
                names = [text_in(one) for one in target.elts]
                break
    keeps = "load_state_dict" in ast.unparse(train)
    for row in listed.elts:
        assert isinstance(row, ast.Tuple)
        cells = dict(zip(names, row.elts, strict=False))
        yield _phase(training, cells, keeps, train, batch)


def _phase(
    training: Training, cells: Mapping[str, ast.expr], keeps: bool, train: ast.FunctionDef, batch: int
) -> Phase:
    def literal(name: str) -> Any:
        return ast.literal_eval(cells[name]) if name in cells else None

    objectives: list[Objective] = []
    for one in _tuples(cells.get("changed")):
        value = one.elts[1]
        call = value.body if isinstance(value, ast.Lambda) else value
        if (
            isinstance(call, ast.Call)
            and (made := object_of(training, call, text_in(one.elts[0]))) is not None
        ):
            objectives.append(made)
    if "name" in cells and "make" in cells:
        rows = [[cells["name"], cells["compute"], cells["make"]]]
    else:
        rows = [one.elts for one in _tuples(cells.get("planned"))]
    for name, compute, make in rows:
        optimiser = training.function(make)
        if optimiser is not None:
            objectives.append(minimise(training, training.function(compute), optimiser, None, text_in(name)))
    if not objectives:
        objectives = [Minimise()]
    watched = (
        literal("monitor") if "monitor" in cells else stop_of(training, train).monitor.removeprefix("val_")
    )
    patience = literal("patience")
    watches = watched is not None and (patience is not None or keeps)
    monitor = f"val_{watched}" if watched is not None else "val_loss"
    size = literal("size") if "size" in cells else None
    own = None if "size" not in cells or (size or WHOLE) == batch else size or WHOLE
    stop = Stop(int(literal("limit") or 1), patience, monitor, keeps and watches)
    alone = objectives[0] if len(objectives) == 1 else None
    title = words(text_in(rows[0][0])) if alone is not None and not alone.name and rows else ""
    return Phase(tuple(objectives), stop, batch=own, name=title)


def _tuples(value: ast.expr | None) -> list[ast.Tuple]:
    return [one for one in value.elts if isinstance(one, ast.Tuple)] if isinstance(value, ast.List) else []


# -- the long form: phases and players


def players_of(training: Training, listed: ast.Tuple, batch: int) -> Iterator[Phase]:
    """The phases of a plan in its long form: a call each, of a function that makes the players."""
    for row in listed.elts:
        function = training.function(row.args[0]) if isinstance(row, ast.Call) and row.args else None
        if not isinstance(row, ast.Call) or function is None:
            training.add(row, f"{quoted_code(row)} is no phase that is known here.")
            continue
        made = {
            one.targets[0].id: one.value
            for one in function.body
            if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)
        }
        last = function.body[-1]
        players = last.value if isinstance(last, ast.Return) else None
        found = [
            _player(training, one, made)
            for one in (players.elts if isinstance(players, ast.List) else ())
            if isinstance(one, ast.Call)
        ]
        kept = tuple(one for one in found if one is not None)
        if not kept:
            training.add(row, f"{quoted_code(row)} has no objective that is known here.")
            continue
        title = (ast.get_docstring(function) or "").partition('of "')[2].partition('"')[0]
        options = _values_of(row.keywords)
        own = options.get("batch", batch) or WHOLE
        stop = Stop(
            epochs=_whole(row.args[1]),
            patience=options.get("patience"),
            monitor=options.get("monitor", "val_loss"),
            restore_best=options.get("restore_best", True),
            also=tuple(_rules(training, row, options.get("until", ()))),
        )
        yield Phase(kept, stop, batch=None if own == batch else own, name=title)


def _player(training: Training, call: ast.Call, made: Mapping[str, ast.expr]) -> Objective | None:
    """An objective at work: what it computes, and what moves its weights. `made` are variables."""
    key, taken, *rest = call.args
    options = {str(one.arg): one.value for one in call.keywords}
    every = _whole(options.get("every"))
    found: Objective | None
    if isinstance(taken, ast.Call):
        found = object_of(training, taken, text_in(key))
    elif len(rest) < 2:
        found = ruled(training, training.function(taken), text_in(key), False)
    else:
        optimiser = training.function(made.get(ast.unparse(rest[1])))
        if optimiser is None:
            training.add(call, f"{quoted_code(rest[1])} is no optimiser that is known here.")
            return None
        schedule = training.function(rest[2]) if len(rest) > 2 else None
        found = _minimised(
            minimise(training, training.function(taken), optimiser, schedule, text_in(key)), options
        )
    if every == 1 or not isinstance(found, Minimise | Rule):
        return found
    return replace(found, every=every)


def _minimised(one: Minimise, options: Mapping[str, ast.expr]) -> Minimise:
    """An objective with what its player is told beside its optimiser."""
    known = _values_of(ast.keyword(key, value) for key, value in options.items())
    changes: dict[str, Any] = {key: known[key] for key in ("accumulate", "clip", "noise") if key in known}
    average = options.get("average")
    if isinstance(average, ast.Call):
        given = _values_of(average.keywords)
        kind = EMA if "decay" in given else SWA
        usual = {spec.name: spec.default for spec in kind.params}
        changes["average"] = Choice(
            kind.__name__, {key: value for key, value in given.items() if value != usual.get(key)}
        )
    if "watches" in known and make_schedule(one.schedule).per_epoch:
        monitor = str(known["watches"])
        schedule = Choice(one.schedule.name, {**one.schedule.params, "monitor": monitor})
        usual = {spec.name: spec.default for spec in type(make_schedule(one.schedule)).params}
        if "monitor" in usual and usual["monitor"] != monitor:
            changes["schedule"] = schedule
    return replace(one, **changes)


def _rules(training: Training, at: ast.AST, tests: Iterable[tuple[str, str, float]]) -> Iterator[Choice]:
    """The stop rules that make these tests."""
    exact_first = sorted(STOP_RULES, key=lambda name: any(_is_text(one) for one in STOP_RULES[name].params))
    for test in tests:
        found = next((one for one in map(_of_test(test), exact_first) if one is not None), None)
        if found is None:
            training.add(at, f"`{test}` is no rule to stop that is known here.")
        else:
            yield found


def _of_test(test: tuple[str, str, float]) -> Callable[[str], Choice | None]:
    """How a rule of some name makes a test; None where it cannot."""
    key, sign, value = test

    def made(name: str) -> Choice | None:
        given = {spec.name: key if _is_text(spec) else value for spec in STOP_RULES[name].params}
        try:
            rule = make_stop_rule(Choice(name, given))
            fits = rule.test(lambda _: sign == ">=") == test
        except NeuroloomError:
            return None
        return Choice(name, {k: v for k, v in given.items() if v != _usual(name, k)}) if fits else None

    return made


def _is_text(spec: ParamSpec) -> bool:
    return isinstance(spec.default, str)


def _usual(name: str, parameter: str) -> Any:
    return next(spec.default for spec in STOP_RULES[name].params if spec.name == parameter)


def _values_of(words: Iterable[ast.keyword]) -> dict[str, Any]:
    """The plain values among arguments by name."""
    found: dict[str, Any] = {}
    for one in words:
        try:
            found[str(one.arg)] = ast.literal_eval(one.value)
        except ValueError:
            continue
    return found


def _whole(value: ast.expr | None) -> int:
    """A count; 1 where none stands."""
    found = value.value if isinstance(value, ast.Constant) else None
    return found if isinstance(found, int) else 1
