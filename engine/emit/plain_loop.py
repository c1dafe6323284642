"""The loop of a plan of one phase as a tutorial has it, which is what most scripts show.

What such a plan does not use is not in it: one objective is lowered in place, one rule is called in place,
several objectives stand in a list. The application takes the same steps one by one in the form that serves
all plans (`phase_texts`), and tests hold both equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby

from engine.catalogue.training.optimisers import make_optimiser
from engine.catalogue.training.schedules import make_schedule
from engine.document.plan import Follow, Minimise, Objective, Plan, Rollout, Rule
from engine.emit.batching import count_text
from engine.emit.optimise import path_of
from engine.emit.statements import Statement, nested, quoted, tree


@dataclass(frozen=True, slots=True)
class Turn:
    """An objective of the phase: what it is called, and its functions and what it is told."""

    objective: Minimise | Rule
    key: str = "loss"
    function: str = "objective"
    optimiser: str = "optimiser_for"
    schedule: str = "schedule_for"
    weights: str = ""  # those that it moves; empty where they are all of the model's
    residuals: str = ""

    @property
    def closure(self) -> str:
        """How its optimiser asks for losses, if it asks."""
        return (
            make_optimiser(self.objective.optimiser).closure if isinstance(self.objective, Minimise) else ""
        )

    @property
    def scheduled(self) -> bool:
        return isinstance(self.objective, Minimise) and self.objective.schedule.name != "Constant"


@dataclass(frozen=True, slots=True)
class Short:
    """What a short loop is made of."""

    plan: Plan
    turns: Sequence[Turn] = ()
    first: str = ""  # the column by which rows are counted
    rows: str = ""  # how much a batch counts, as code
    joins: bool = False  # a row that is left over joins the batch before it
    measures: bool = True
    grows: bool = False  # the monitored value is better when it grows
    still: Sequence[str] = ()  # layers that rest: nothing trains them
    streams: int = 1  # how many data nodes, or groups of them, are drawn by themselves
    kept: bool = False  # values go into a list, as a notebook wants them, in place of lines of JSON

    @property
    def sized(self) -> bool:
        """Whether the phase has a batch size of its own."""
        return (self.plan.batch_of(self.plan.phases[0]) or None) != (self.plan.batch or None)

    @property
    def watches(self) -> bool:
        return self.plan.patience is not None or self.plan.stop.restore_best


def is_short(plan: Plan, measured: Collection[str]) -> bool:
    """Whether a plan's loop can be a short one; `measured` are the values that each epoch ends with."""
    phase = plan.phases[0]
    stop, objectives = phase.stop, phase.objectives
    if len(plan.phases) > 1 or stop.also or any(isinstance(one, Rollout | Follow) for one in objectives):
        return False
    if (stop.patience is not None or stop.restore_best) and stop.monitor.removeprefix("val_") not in measured:
        return False
    if len(objectives) > 1:
        kinds = [kind for kind, _ in groupby(isinstance(one, Rule) for one in objectives)]
        return all(map(_one_of_several, objectives)) and len(kinds) <= 2
    (one,) = objectives
    return one.every == 1 and (isinstance(one, Rule) or (isinstance(one, Minimise) and _simple(one)))


def _simple(one: Minimise) -> bool:
    """Whether an objective gathers no gradients, averages no weights and is scheduled beforehand."""
    planned = make_schedule(one.schedule)
    return one.accumulate == 1 and one.average is None and not one.noise and not planned.per_epoch


def _one_of_several(one: Objective) -> bool:
    if not isinstance(one, Minimise):
        return isinstance(one, Rule) and one.every == 1
    scheduled, asks = one.schedule.name != "Constant", bool(make_optimiser(one.optimiser).closure)
    return _simple(one) and one.clip is None and not scheduled and not asks


def short_lines(short: Short) -> list[Statement]:
    """The function `train` of a short loop."""
    alone = short.streams == 1
    rows = f'len(data["train"][{quoted(short.first)}])' if alone else "None"
    own = short.plan.batch_of(short.plan.phases[0])
    size = "BATCH" if not short.sized else str(own or rows)
    stop, one = short.plan.stop, short.turns[0]
    several = len(short.turns) > 1
    scheduled = any(turn.scheduled for turn in short.turns)
    count = count_text(rows, size, joins=short.joins)
    if not alone:
        count = f'steps_of(data["train"], {size if short.plan.batch or short.sized else None})'
    return tree(
        TRAIN,
        takes=KEEPS if short.kept else TAKES,
        kept=short.kept,
        shown=shown(short.kept),
        scheduled=scheduled,
        count=count,
        stops=stop.patience is not None,
        keeps=stop.restore_best,
        compares=short.watches,
        measures=short.measures,
        start=nested(_started(short)),
        schedule=one.schedule,
        still=[Statement(path_of(f"model.{path}").eval()) for path in short.still],
        size=f", {own or rows}" if short.sized else "",
        turn=_several(short) if several else _turn(short, one),
        values="**values" if several else '"loss": value',
        key=quoted(stop.monitor.removeprefix("val_")),
        worst='"-inf"' if short.grows else '"inf"',
        better=">" if short.grows else "<",
    )


def _started(short: Short) -> list[str]:
    """What moves the weights, made before the first epoch."""
    if len(short.turns) == 1:
        one = short.turns[0]
        made = [f"optimiser = {one.optimiser}(model)"] if isinstance(one.objective, Minimise) else []
        return [*made, *([f"weights = {one.weights}(model)"] if one.weights else [])]
    objectives, rules = [], []
    for one in short.turns:
        if isinstance(one.objective, Rule):
            rules.append(f"({quoted(one.key)}, {one.function})")
        else:
            every = [str(one.objective.every)] if _every(short) else []
            parts = [quoted(one.key), one.function, f"{one.weights}(model)", f"{one.optimiser}(model)"]
            objectives.append(f"    ({', '.join([*parts, *every])}),")
    named = "objectives = [  # by name, with the weights that each moves, and by what"
    lines = [named, *objectives, "]"] if objectives else []
    return [*lines, f"rules = [{', '.join(rules)}]"] if rules else lines


def _every(short: Short) -> bool:
    return any(one.objective.every > 1 for one in short.turns)


def _turn(short: Short, one: Turn) -> list[Statement]:
    """What is done with a batch where there is one objective."""
    if isinstance(one.objective, Rule):
        return tree(RULE, function=one.function)
    facts = {
        "function": one.function,
        "errors": one.residuals,
        "scheduled": one.scheduled,
        "inputs": "inputs=weights" if one.weights else "",
        "rows": short.rows,
    }
    if one.closure:
        kinds = {kind: kind == one.closure for kind in ("gradient", "potential", "residuals", "loss")}
        return tree(CLOSED, **facts, **kinds)
    clipped = f"{'weights' if one.weights else 'model.parameters()'}, {one.objective.clip!r}"
    return tree(DESCENT, **facts, clips=one.objective.clip is not None, clipped=clipped)


def _several(short: Short) -> list[Statement]:
    """What is done with a batch where there are several objectives, rules before or behind the others."""
    every = _every(short)
    found = [Statement("values = {}")]
    for ruled, _ in groupby(isinstance(one.objective, Rule) for one in short.turns):
        if ruled:
            found += tree(RULES)
        else:
            found += tree(OBJECTIVES, every=every, also=", every" if every else "", step=tree(EACH))
    return found


# of `train`, beside those that no name of a script is given
VARIABLES = (
    *("objectives", "name", "compute", "weights", "every", "optimiser", "schedule", "closure"),
    *("rules", "update", "loss", "found", "value", "step", "best", "kept", "waited"),
)
TOLD = "model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int"
TAKES, KEEPS = f"{TOLD}, as_json: bool", f"{TOLD}, history: list[dict[str, float]]"
TRAIN = """
def train($takes) -> None:  #: SIGNATURE
    <start>
    steps_per_epoch = $count  #? scheduled
    schedule = $schedule(optimiser, steps_per_epoch, epochs)  #? scheduled
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    best = float($worst)  #? compares
    kept = None  #? keeps
    waited = 0  #? stops
    for epoch in range(epochs):  #: EPOCHS
        <still>
        for batch in batches(data["train"], shuffle$size):
            <turn>
            step += 1
            if as_json:  #: JSON  #? not kept
                print(json.dumps({"step": step, "epoch": epoch, $values}))
            history.append({"step": step, "epoch": epoch, $values})  #? kept
        found = evaluate(model, data["validation"])  #: EVALUATED  #? measures
        values = {f"val_{name}": value for name, value in found.items()}  #? measures
        report({"epoch": epoch, **values}, $shown)  #? measures
        report({"epoch": epoch}, $shown)  #? not measures
        if found[$key] $better best:  #? compares
            best = found[$key]
            waited = 0  #? stops
            kept = {name: value.clone() for name, value in model.state_dict().items()}  #? keeps
        else:  #? stops
            waited += 1
            if waited == PATIENCE:
                break
    if kept is not None:  #? keeps
        model.load_state_dict(kept)
"""

DESCENT = """
optimiser.zero_grad()  #: ZEROED
loss = $function(model, batch)["loss"]  #: LOSS
value = loss.item()  #: VALUE
if not math.isfinite(value):
    raise SystemExit(f"The loss is {value} after {step} steps: a lower rate may help.")
loss.backward($inputs)  #: BACKWARD
nn.utils.clip_grad_norm_($clipped)  #? clips
optimiser.step()
schedule.step()  #? scheduled
"""

RULE = """
with torch.no_grad():
    value = $function(model, batch)["loss"].item()
"""

CLOSED = """
def closure() -> Any:
    optimiser.zero_grad()  #? gradient
    loss = $function(model, batch)["loss"]  #? gradient
    optimiser.zero_grad()  #? potential
    found = $function(model, batch)  #? potential
    loss = $rows * found["loss"]  # of all rows together  #? potential
    loss.backward($inputs)  #? gradient
    loss.backward($inputs)  #? potential
    return loss.detach()  #? gradient
    return loss.detach()  #? potential
    return $errors(model, batch)  #? residuals
    return $function(model, batch)["loss"]  #? loss

value = torch.as_tensor(optimiser.step(closure)).item()  #? not potential
value = torch.as_tensor(optimiser.step(closure) / $rows).item()  #? potential
if not math.isfinite(value):
    raise SystemExit(f"The loss is {value} after {step} steps: a lower rate may help.")
schedule.step()  #? scheduled
"""

RULES = """
with torch.no_grad():
    for name, update in rules:
        values[name] = update(model, batch)["loss"].item()
"""

OBJECTIVES = """
for name, compute, weights, optimiser$also in objectives:
    if step % every == 0:  #? every
        <step>
    <step>  #? not every
"""

EACH = """
optimiser.zero_grad()  #: ZEROED
loss = compute(model, batch)["loss"]  #: LOSS
values[name] = loss.item()  #: VALUE
if not math.isfinite(values[name]):
    raise SystemExit(f"{name} is {values[name]} after {step} steps: a lower rate may help.")
loss.backward(inputs=weights)  #: BACKWARD
optimiser.step()
"""

REPORT = '''
def report(values: dict[str, float], as_json: bool) -> None:  #? not kept
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)  #: SHOWN
def report(values: dict[str, float], history: list[dict[str, float]]) -> None:  #? kept
    """Print the values of an epoch, and keep them."""
    history.append(values)
    print("  ".join(f"{name} {value:.4g}" for name, value in values.items()))
'''


def shown(kept: bool) -> str:
    """Where the loop's values go: the argument that says whether they are lines of JSON, or their list."""
    return "history" if kept else "as_json"
