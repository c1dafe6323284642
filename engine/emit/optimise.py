"""An objective's optimiser, schedule and penalties as code, and what a plan may ask of them."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from engine.catalogue.identifiers import slug
from engine.catalogue.symbols import Expr, carried, lift, math, name, torch, without_defaults
from engine.catalogue.training.checks import check_objective
from engine.catalogue.training.optimisers import Optimiser, make_optimiser, make_schedule
from engine.catalogue.training.penalties import L1, make_penalty
from engine.catalogue.training.schedules import Plateau, Schedule, Step
from engine.document.plan import Choice, Minimise
from engine.emit.statements import Mark, Statement, nested, under
from engine.errors import EmitError

WITH_ZEROS = "engine.optim.zeros.with_zeros"
SETTINGS = "CONFIG"
FUSED = ("SGD", "Adam", "AdamW", "Adagrad")  # of torch.optim, with kernels for all weights at once
# the names of the constructors' arguments where they differ from our parameters'
RENAMED = {"epsilon": "eps", "iterations": "max_iter", "memory": "history_size"}


def optimiser_lines(
    objective: Minimise,
    function: str = "optimiser_for",
    layers: Sequence[str] = ("model",),
    rates: Mapping[str, float] | None = None,
    rate: str = "",
) -> list[Statement]:
    """The function `optimiser_for(model)`; its learning rate is the field `rate` of the settings, if any.

    `layers` are the trained parts of the model as paths, no weight in two of them: "model.generator",
    "model.blocks.0". `rates` are the objective's own by path in place of node id. Without `decay_biases`,
    biases and norms (fewer than two axes) keep their size. An L1 penalty has exact zeros where the optimiser
    steps by one gradient. Raises ParamError.
    """
    check_objective(objective)
    factors = {path: float(factor) for path, factor in (rates or {}).items() if factor != 1}
    chosen = make_optimiser(objective.optimiser)
    lr = getattr(name(SETTINGS), rate) if rate else lift(chosen.lr)
    apart = not objective.decay_biases and getattr(chosen, "weight_decay", 0.0) > 0
    weights = _weights(layers)
    if factors:
        body, weights = _rated(chosen, weights, factors, apart, str(lr))
    elif apart:
        body, weights = _decayed_apart(weights)
    else:
        body = []
    made = _constructor(chosen, weights, lr)
    strength = _zeroing(objective, chosen)
    if strength:
        made = carried(ours(WITH_ZEROS))(made, strength)
    mark = Mark.FUSABLE if type(chosen).__name__ in FUSED else None
    returned = Statement(made, target="return", mark=mark)
    return [under(f"def {function}(model: Model) -> torch.optim.Optimizer:", [*nested(body), returned])]


def rate_of(objective: Minimise, function: str = "") -> tuple[str, float]:
    """A learning rate as a field of a script's settings, named by its `function` where several differ."""
    made = make_optimiser(objective.optimiser)
    label = next(spec.label for spec in made.params if spec.name == "lr")
    return f"{function}_lr" if function else slug(label), float(made.lr)


def schedule_lines(objective: Minimise, function: str = "schedule_for") -> list[Statement]:
    """The function `schedule_for(optimiser, steps_per_epoch, epochs)`; nothing for a constant rate."""
    chosen = make_schedule(objective.schedule)
    whole = objective.every == objective.accumulate == 1
    doc, body = _plateau(chosen) if isinstance(chosen, Plateau) else _factor(chosen, whole)
    if not body:
        return []
    steps = "int" if whole else "float"  # a mean over the epochs, where some have more turns than others
    head = (
        f"def {function}(optimiser: torch.optim.Optimizer, steps_per_epoch: {steps}, epochs: int)"
        " -> torch.optim.lr_scheduler.LRScheduler:"
    )
    return [under(head, [Statement(f'"""{doc}"""'), *nested(body)])]


def penalty_terms(penalties: Sequence[Choice], weights: Expr) -> list[Expr]:
    """What each penalty adds to the loss, over a list of weights: `l1(weights, 0.001)`. Raises ParamError."""
    made = [make_penalty(choice) for choice in penalties]
    return [
        carried(type(one).function)(weights, *(getattr(one, spec.name) for spec in one.params))
        for one in made
    ]


def residual_vector(losses: Sequence[tuple[float, Expr]]) -> Expr:
    """The vector whose sum of squares is the weighted sum of mean squared errors, for Levenberg-Marquardt.

    `losses` are the weights and the expressions of the loss nodes. Raises EmitError for any other loss.
    """
    parts = []
    for weight, loss in losses:
        call = loss.tree
        if not (isinstance(call, ast.Call) and ast.unparse(call.func) == "F.mse_loss" and not call.keywords):
            raise EmitError(
                "Levenberg-Marquardt trains mean squared errors only: it needs the single errors.",
                fix="Choose L-BFGS or Newton.",
            )
        sides = [Expr(side, loss.carries) for side in call.args]
        part = carried(ours("engine.optim.residuals.residuals"))(*sides)
        parts.append(part if weight == 1 else math.sqrt(weight) * part)
    if not parts:
        raise EmitError("Levenberg-Marquardt needs a mean squared error to train.")
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def carried_by(objective: Minimise) -> frozenset[Any]:
    """Classes and functions of ours that `optimiser_lines` names, whose source an export must hold."""
    chosen = make_optimiser(objective.optimiser)
    named = [] if chosen.makes.startswith("torch.") else [chosen.makes]
    named += [WITH_ZEROS] if _zeroing(objective, chosen) else []
    return frozenset(ours(one) for one in named)


def _zeroing(objective: Minimise, chosen: Optimiser) -> float:
    """The strength of L1 penalties; 0 beside an optimiser that looks at several points in a step."""
    if chosen.closure:
        return 0.0
    made = [make_penalty(choice) for choice in objective.penalties]
    return float(sum(one.strength for one in made if isinstance(one, L1)))


# -- the optimiser


def _weights(layers: Sequence[str]) -> Expr:
    if len(layers) == 1:
        return path_of(layers[0]).parameters()
    return lift([Expr(ast.Starred(path_of(layer).parameters().tree, ast.Load())) for layer in layers])


def path_of(dotted: str) -> Expr:
    """A layer by its path: `model.blocks.0.linear` as `model.blocks[0].linear`."""
    first, *rest = dotted.split(".")
    found = name(first)
    for part in rest:
        found = found[int(part)] if part.isdigit() else getattr(found, part)
    return found


def _constructor(chosen: Optimiser, weights: Expr, rate: Expr) -> Expr:
    values = {spec.name: getattr(chosen, spec.name) for spec in chosen.params}
    if "beta1" in values:
        values["betas"] = (values.pop("beta1"), values.pop("beta2"))
    named = {RENAMED.get(key, key): value for key, value in values.items()}
    del named["lr"]  # it stands among the settings: it is the number people look for first
    if not chosen.makes.startswith("torch."):
        made = ours(chosen.makes)
        defaults = inspect.signature(made).parameters
        return carried(made)(
            weights, lr=rate, **{key: value for key, value in named.items() if defaults[key].default != value}
        )
    if type(chosen).__name__ == "LBFGS":
        named["line_search_fn"] = "strong_wolfe"
        named["max_eval"] = 25 * named["max_iter"]  # torch's own limit leaves a line search none at all
    kind: Expr = getattr(torch.optim, chosen.makes.rpartition(".")[2])
    short = without_defaults(kind(weights, **named))
    assert isinstance(short.tree, ast.Call)
    rest = {word.arg: Expr(word.value) for word in short.tree.keywords if word.arg is not None}
    return kind(Expr(short.tree.args[0]), lr=rate, **rest)


def ours(dotted: str) -> Any:
    """A function or class of ours; imported here, because the window stands before torch is loaded."""
    module, _, found = dotted.rpartition(".")
    return getattr(importlib.import_module(module), found)


def _decayed_apart(weights: Expr) -> tuple[list[str], Expr]:
    lines = [
        f"weights = {weights if isinstance(weights.tree, ast.List) else f'[*{weights}]'}",
        "matrices = [weight for weight in weights if weight.ndim >= 2]",
        "rest = [weight for weight in weights if weight.ndim < 2]  # biases and norms: no decay",
        'groups = [{"params": matrices}, {"params": rest, "weight_decay": 0.0}]',
    ]
    return lines, name("groups")


def _rated(
    chosen: Optimiser, weights: Expr, factors: Mapping[str, float], apart: bool, rate: str
) -> tuple[list[str], Expr]:
    """Groups of weights with the same learning rate, and with or without decay."""
    lines = ["factors: dict[nn.Parameter, float] = {}  # on the learning rate"]
    for path, factor in factors.items():
        lines.append(f"factors |= dict.fromkeys({path_of(path).parameters()}, {factor!r})")
    kind, key, found = "float", "factors.get(weight, 1.0)", "factor"
    decay = getattr(chosen, "weight_decay", 0.0)
    extra = ""
    if apart:
        kind, key = "tuple[float, bool]", f"({key}, weight.ndim >= 2)"
        found, extra = "(factor, decays)", f', "weight_decay": {decay!r} if decays else 0.0'
    made = f'{{"params": weights, "lr": factor * {rate}, "factor": factor{extra}}}'
    each = f"for {found}, weights in alike.items()"
    lines += [
        f"alike: dict[{kind}, list[nn.Parameter]] = {{}}"
        + ("  # biases and norms: no decay" if apart else ""),
        f"for weight in {weights}:",
        f"    alike.setdefault({key}, []).append(weight)",
        *(["groups = [", f"    {made}", f"    {each}", "]"] if apart else [f"groups = [{made} {each}]"]),
    ]
    return lines, name("groups")


# -- the schedule


def _factor(chosen: Schedule, whole: bool) -> tuple[str, list[str]]:
    """The doc and the lines of a schedule set beforehand; `whole` where all epochs have as many steps."""
    code = chosen.code()
    if code is None:
        return "", []
    if isinstance(chosen, Step) and whole:
        call = f"step_size={chosen.every} * steps_per_epoch, gamma={chosen.factor!r}"
        return code.doc, [f"return torch.optim.lr_scheduler.StepLR(optimiser, {call})"]
    lines = [
        *code.before,
        "",
        "def factor(step: int) -> float:",
        *(f"    {line}" for line in code.body),
        "",
        "return torch.optim.lr_scheduler.LambdaLR(optimiser, factor)",
    ]
    return code.doc, lines


def _plateau(chosen: Plateau) -> tuple[str, list[str]]:
    mode = "min" if chosen.better == "lower" else "max"
    call = f'mode="{mode}", factor={chosen.factor!r}, patience={chosen.patience}, threshold=0.0'
    doc = f"Times {chosen.factor:g} when the watched value has not got better for {chosen.patience} epochs;"
    lines = [f"return torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, {call})"]
    return f"{doc} stepped with it after each epoch.", lines
