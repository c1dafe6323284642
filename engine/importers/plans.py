"""Reads how a script trains: its objectives with their optimisers, and the phases they are in."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from engine.catalogue.training.stopping import CleanPass
from engine.document.plan import (
    WHOLE,
    Choice,
    Fit,
    Minimise,
    Objective,
    Phase,
    Plan,
    Rule,
    Stop,
)
from engine.importers.findings import quoted_code
from engine.importers.objectives import Training, minimise, object_of, ruled, words
from engine.importers.roles import Roles
from engine.importers.spelling import dotted_name


def read_plan(training: Training) -> Plan:
    """The plan of a script. What its loop does beyond that is told by the comparison in the end."""
    roles, train = training.roles, training.roles.train
    seed = _number(roles, "SEED", training) or 0
    if train is None:
        return Plan(seed=seed)
    batch = _batch(training)
    listed = _lists(train)
    if "phases" in listed:
        phases = tuple(_phases(training, listed["phases"], train, batch))
        return Plan(phases or (Phase(),), batch, seed)
    if "PHASES" in roles.constants:
        training.add(
            train,
            "Its plan stands as a list of phases and players, which is not read: plain training is taken.",
        )
        return Plan((Phase(stop=_stop(training, train)),), batch, seed)
    sized, size = _size(train, batch)
    if "objectives" in listed:
        objectives = [
            _listed(training, one) for one in listed["objectives"].elts if isinstance(one, ast.Tuple)
        ]
    elif "rules" in listed:
        objectives = [
            ruled(training, training.function(one.elts[1]), _text(one.elts[0]), sized)
            for one in listed["rules"].elts
            if isinstance(one, ast.Tuple)
        ]
    else:
        objectives = [_single(training, train, sized)]
    kept = tuple(one for one in objectives if one is not None) or (Minimise(),)
    if any(isinstance(one, Fit) for one in kept):
        size = None
    phase = Phase(kept, _stop(training, train), batch=size)
    return Plan((phase,), batch, seed)


# -- numbers


def _number(roles: Roles, name: str, training: Training) -> int | None:
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


def _batch(training: Training) -> int:
    """The batch size of the plan; `WHOLE` where batches are a whole split."""
    found = _number(training.roles, "BATCH", training)
    return WHOLE if found is None else found


def _lists(train: ast.FunctionDef) -> dict[str, ast.List]:
    found: dict[str, ast.List] = {}
    for one in train.body:
        target = (
            one.targets[0]
            if isinstance(one, ast.Assign)
            else one.target
            if isinstance(one, ast.AnnAssign)
            else None
        )
        value = one.value if isinstance(one, ast.Assign | ast.AnnAssign) else None
        if isinstance(target, ast.Name) and isinstance(value, ast.List):
            rows = [row for row in value.elts if isinstance(row, ast.Tuple)]
            widths = [len(row.elts) for row in rows]
            if not widths or len(widths) != len(value.elts):
                continue
            first = rows[0].elts[0]
            texts = isinstance(first, ast.Constant) and isinstance(first.value, str)
            found["phases" if not texts else "rules" if max(widths) == 2 else "objectives"] = value
    return found


def _size(train: ast.FunctionDef, batch: int) -> tuple[bool, int | None]:
    """Whether the loop asks for whole splits, and the batch size of its only phase where it is its own."""
    for node in ast.walk(train):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and len(node.iter.args) == 3:
            size = node.iter.args[2]
            if isinstance(size, ast.Constant) and isinstance(size.value, int):
                return False, size.value
            return True, WHOLE
    return False, None


def _text(node: ast.AST) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)


# -- one phase


def _stop(training: Training, train: ast.FunctionDef, epochs: int | None = None) -> Stop:
    """When the only phase ends."""
    text = ast.unparse(train)
    patience = (
        _number(training.roles, "PATIENCE", training) if "waited" in text or "PATIENCE" in text else None
    )
    monitor = "val_loss"
    for node in ast.walk(train):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Compare):
            left = node.test.left
            if isinstance(left, ast.Subscript) and isinstance(left.slice, ast.Constant):
                monitor = f"val_{_text(left.slice)}"
    clean = "mistakes" in text
    return Stop(
        epochs or _number(training.roles, "EPOCHS", training) or Stop().epochs,
        patience,
        monitor,
        "load_state_dict" in text,
        also=(Choice(CleanPass.__name__),) if clean else (),
    )


def _single(training: Training, train: ast.FunctionDef, sized: bool) -> Objective | None:
    """The only objective of a loop."""
    functions = training.roles.functions
    taken = [
        node.func.id
        for node in ast.walk(train)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and len(node.args) == 2
        and node.func.id in functions
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id == train.args.args[0].arg
        and _is_batch_function(functions[node.func.id])
    ]
    function = functions[taken[0]] if taken else None
    optimiser, schedule = (_called(training, train, count) for count in (1, 3))
    if optimiser is None:
        return ruled(training, function, "", sized)
    made = minimise(training, function, optimiser, schedule, "")
    clips = [
        node.args[1]
        for node in ast.walk(train)
        if isinstance(node, ast.Call)
        and (dotted_name(node.func) or "").endswith("clip_grad_norm_")
        and len(node.args) == 2
    ]
    if clips:
        made = replace(made, clip=float(ast.literal_eval(clips[0])))
    return made


def _called(training: Training, train: ast.FunctionDef, arguments: int) -> ast.FunctionDef | None:
    """The first function of the file whose value of so many arguments the loop keeps in a variable."""
    calls = (one.value for one in train.body if isinstance(one, ast.Assign))
    made = (
        training.function(one) for one in calls if isinstance(one, ast.Call) and len(one.args) == arguments
    )
    return next((one for one in made if one is not None), None)


def _is_batch_function(one: ast.FunctionDef) -> bool:
    return len(one.args.args) == 2 and "evaluate" not in one.name and not one.decorator_list


def _listed(training: Training, row: ast.Tuple) -> Objective | None:
    """An objective of a list: its name, what it computes, its optimiser, and every how many batches."""
    name, taken, *rest = row.elts
    every = next(
        (one.value for one in rest if isinstance(one, ast.Constant) and isinstance(one.value, int)), 1
    )
    optimiser = training.function(rest[0]) if rest else None
    made: Objective | None
    if isinstance(taken, ast.Call):
        made = object_of(training, taken, _text(name))
    elif optimiser is None:
        made = ruled(training, training.function(taken), _text(name), False)
    else:
        made = minimise(training, training.function(taken), optimiser, None, _text(name))
    if made is None or every == 1:
        return made
    return replace(made, every=every) if isinstance(made, Minimise | Rule) else made


# -- several phases


def _phases(training: Training, listed: ast.List, train: ast.FunctionDef, batch: int) -> Iterator[Phase]:
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
                names = [_text(one) for one in target.elts]
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
        if isinstance(call, ast.Call) and (made := object_of(training, call, _text(one.elts[0]))) is not None:
            objectives.append(made)
    if "name" in cells and "make" in cells:
        rows = [[cells["name"], cells["compute"], cells["make"]]]
    else:
        rows = [one.elts for one in _tuples(cells.get("planned"))]
    for name, compute, make in rows:
        optimiser = training.function(make)
        if optimiser is not None:
            objectives.append(minimise(training, training.function(compute), optimiser, None, _text(name)))
    if not objectives:
        objectives = [Minimise()]
    watched = (
        literal("monitor") if "monitor" in cells else _stop(training, train).monitor.removeprefix("val_")
    )
    patience = literal("patience")
    watches = watched is not None and (patience is not None or keeps)
    monitor = f"val_{watched}" if watched is not None else "val_loss"
    size = literal("size") if "size" in cells else None
    own = None if "size" not in cells or (size or WHOLE) == batch else size or WHOLE
    stop = Stop(int(literal("limit") or 1), patience, monitor, keeps and watches)
    alone = objectives[0] if len(objectives) == 1 else None
    title = words(_text(rows[0][0])) if alone is not None and not alone.name and rows else ""
    return Phase(tuple(objectives), stop, batch=own, name=title)


def _tuples(value: ast.expr | None) -> list[ast.Tuple]:
    return [one for one in value.elts if isinstance(one, ast.Tuple)] if isinstance(value, ast.List) else []
