"""Reads how a script trains: its objectives with their optimisers, and the phases they are in."""

from __future__ import annotations

import ast
from dataclasses import replace

from engine.document.plan import (
    WHOLE,
    Fit,
    Minimise,
    Objective,
    Phase,
    Plan,
    Rule,
)
from engine.importers.objectives import Training, minimise, object_of, ruled
from engine.importers.phases import PHASES, number_of, phases_of, players_of, stop_of, text_in
from engine.importers.spelling import dotted_name


def read_plan(training: Training) -> Plan:
    """The plan of a script. What its loop does beyond that is told by the comparison in the end."""
    roles, train = training.roles, training.roles.train
    seed = number_of(roles, "SEED", training) or 0
    if train is None:
        return Plan(seed=seed)
    batch = _batch(training)
    listed = _lists(train)
    if "phases" in listed:
        phases = tuple(phases_of(training, listed["phases"], train, batch))
        return Plan(phases or (Phase(),), batch, seed)
    if isinstance(whole := roles.constants.get(PHASES), ast.Tuple):
        phases = tuple(players_of(training, whole, batch))
        return Plan(phases or (Phase(),), batch, seed)
    sized, size = _size(train, batch)
    if "objectives" in listed:
        objectives = [
            _listed(training, one) for one in listed["objectives"].elts if isinstance(one, ast.Tuple)
        ]
    elif "rules" in listed:
        objectives = [
            ruled(training, training.function(one.elts[1]), text_in(one.elts[0]), sized)
            for one in listed["rules"].elts
            if isinstance(one, ast.Tuple)
        ]
    else:
        objectives = [_single(training, train, sized)]
    kept = tuple(one for one in objectives if one is not None) or (Minimise(),)
    if any(isinstance(one, Fit) for one in kept):
        size = None
    phase = Phase(kept, stop_of(training, train), batch=size)
    return Plan((phase,), batch, seed)


def _batch(training: Training) -> int:
    """The batch size of the plan; `WHOLE` where batches are a whole split."""
    found = number_of(training.roles, "BATCH", training)
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


# -- one phase


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
    answers = any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(one))
    return len(one.args.args) == 2 and answers and "evaluate" not in one.name and not one.decorator_list


def _listed(training: Training, row: ast.Tuple) -> Objective | None:
    """An objective of a list: its name, what it computes, its optimiser, and every how many batches."""
    name, taken, *rest = row.elts
    every = next(
        (one.value for one in rest if isinstance(one, ast.Constant) and isinstance(one.value, int)), 1
    )
    optimiser = training.function(rest[0]) if rest else None
    made: Objective | None
    if isinstance(taken, ast.Call):
        made = object_of(training, taken, text_in(name))
    elif optimiser is None:
        made = ruled(training, training.function(taken), text_in(name), False)
    else:
        made = minimise(training, training.function(taken), optimiser, None, text_in(name))
    if made is None or every == 1:
        return made
    return replace(made, every=every) if isinstance(made, Minimise | Rule) else made
