"""The plan's optimiser and schedule as code."""

from __future__ import annotations

from engine.emit.lines import Line, indented, laid_out
from engine.errors import EmitError
from engine.optimisers import Optimiser, Schedule, make_optimiser, make_schedule
from engine.plan import Plan
from engine.symbols import Expr, name, torch, without_defaults

# torch's names for our parameters where they differ
RENAMED = {"epsilon": "eps"}


def check_plan(plan: Plan) -> None:
    """Errors: `EmitError` for a plan this version cannot carry out, `ParamError` for a bad value."""
    if len(plan.phases) > 1 or len(plan.phases[0].objectives) > 1:
        raise EmitError("This version trains plans of one phase with one objective.")
    if plan.objective.loss != "all":
        raise EmitError("This version minimises the weighted sum of all losses.")
    if plan.stop.monitor != "val_loss":
        raise EmitError("This version stops early on the validation loss only.")
    make_optimiser(plan.optimiser)
    make_schedule(plan.schedule)


def optimiser_lines(plan: Plan) -> list[Line]:
    """The function `optimiser_for(model)`."""
    chosen = make_optimiser(plan.optimiser)
    call = _constructor(chosen)
    head = Line("def optimiser_for(model: Model) -> torch.optim.Optimizer:")
    return laid_out([head, Line(f"    return {call}")])


def schedule_lines(plan: Plan) -> list[Line]:
    """The function `schedule_for(optimiser, steps_per_epoch, epochs)`; nothing for a constant rate."""
    chosen = make_schedule(plan.schedule)
    kind = type(chosen).__name__
    if kind == "Constant":
        return []
    if kind == "Step":
        doc, body = _step(chosen)
    else:
        doc, body = _cosine(chosen, warm=float(getattr(chosen, "epochs", 0.0)))
    head = (
        "def schedule_for(optimiser: torch.optim.Optimizer, steps_per_epoch: int, epochs: int)"
        " -> torch.optim.lr_scheduler.LRScheduler:"
    )
    return laid_out([Line(head), *indented([Line(f'"""{doc}"""'), *[Line(text) for text in body]])])


def _constructor(chosen: Optimiser) -> Expr:
    values = {spec.name: getattr(chosen, spec.name) for spec in chosen.params}
    if "beta1" in values:
        values["betas"] = (values.pop("beta1"), values.pop("beta2"))
    named = {RENAMED.get(key, key): value for key, value in values.items()}
    kind: Expr = getattr(torch.optim, type(chosen).__name__)
    rate = named.pop("lr")
    # The learning rate is always written: it is the number people look for first.
    made = without_defaults(kind(name("model").parameters(), **named))
    first, *_ = made.tree.args  # type: ignore[attr-defined]
    rest = {word.arg: Expr(word.value) for word in made.tree.keywords}  # type: ignore[attr-defined]
    return kind(Expr(first), lr=rate, **rest)


def _step(chosen: Schedule) -> tuple[str, list[str]]:
    every, factor = int(getattr(chosen, "every", 1)), float(getattr(chosen, "factor", 0.1))
    call = (
        f"torch.optim.lr_scheduler.StepLR(optimiser, step_size={every} * steps_per_epoch, gamma={factor!r})"
    )
    return f"Times {factor:g} every {every} epochs; stepped after each batch.", [f"return {call}"]


def _cosine(chosen: Schedule, warm: float) -> tuple[str, list[str]]:
    final = float(getattr(chosen, "final", 0.0))
    wave = "(1 + math.cos(math.pi * done)) / 2"
    share = wave if final == 0 else f"{final!r} + {1 - final!r} * {wave}"
    if not warm:
        doc = "Down along half a cosine wave; stepped after each batch."
        start = ["total = max(1, epochs * steps_per_epoch)"]
        factor = ["    done = min(1.0, step / total)"]
    else:
        doc = f"Up evenly for {warm:g} epochs, then down along half a cosine wave; stepped after each batch."
        start = [
            f"warm = math.ceil({warm!r} * steps_per_epoch)",
            "falling = max(1, epochs * steps_per_epoch - warm)",
        ]
        factor = [
            "    if step < warm:",
            "        return (step + 1) / warm",
            "    done = min(1.0, (step - warm) / falling)",
        ]
    lines = [
        *start,
        "",
        "def factor(step: int) -> float:",
        *factor,
        f"    return {share}",
        "",
        "return torch.optim.lr_scheduler.LambdaLR(optimiser, factor)",
    ]
    return doc, lines
