"""The loop of a plan of one phase as a tutorial has it, which is what most scripts show.

What such a plan does not use is not in it: one objective is lowered in place, one rule is called in place,
several objectives stand in a list. The application takes the same steps one by one in the form that serves
all plans (`phase_texts`), and tests hold both equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from engine.catalogue.training.optimisers import make_optimiser
from engine.catalogue.training.schedules import make_schedule
from engine.catalogue.training.stopping import CleanPass
from engine.document.plan import ChangeModel, Choice, Follow, Minimise, Objective, Phase, Plan, Rollout, Rule
from engine.emit.batching import count_text
from engine.emit.optimise import path_of
from engine.emit.statements import Statement, nested, quoted, tree

OF_ONE_GROUP = 'optimiser.param_groups[0]["params"]'
OF_ALL_GROUPS = '[one for group in optimiser.param_groups for one in group["params"]]'


@dataclass(frozen=True, slots=True)
class Turn:
    """An objective of the phase: what it is called, and its functions and what it is told."""

    objective: Objective
    key: str = "loss"
    function: str = "objective"
    optimiser: str = "optimiser_for"
    schedule: str = "schedule_for"
    weights: str = ""  # those that it moves, as code; empty where they are all of the model's
    residuals: str = ""
    made: str = ""  # what takes the turn, as code, where that is an object

    @property
    def closure(self) -> str:
        """How its optimiser asks for losses, if it asks."""
        one = self.objective
        return make_optimiser(one.optimiser).closure if isinstance(one, Minimise) else ""

    @property
    def every(self) -> int:
        """At how many batches it has one turn."""
        return 1 if isinstance(self.objective, ChangeModel) else self.objective.every

    @property
    def scheduled(self) -> bool:
        return isinstance(self.objective, Minimise) and self.objective.schedule.name != "Constant"


@dataclass(frozen=True, slots=True)
class Stretch:
    """A phase of several: its turns, and the layers that rest in it."""

    phase: Phase
    turns: Sequence[Turn]
    still: Sequence[str] = ()

    @property
    def minimised(self) -> list[Turn]:
        return [one for one in self.turns if isinstance(one.objective, Minimise)]


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
    stretches: Sequence[Stretch] = ()  # the phases, where there are several

    @property
    def sized(self) -> bool:
        """Whether a phase has a batch size of its own."""
        return any(self.plan.batch_of(one) != self.plan.batch for one in self.plan.phases)

    def size_of(self, stretch: Stretch) -> str:
        """How many rows a batch of a phase has, as code."""
        return str(self.plan.batch_of(stretch.phase) or None)

    @property
    def clean(self) -> bool:
        """Whether an epoch without a mistake ends the training."""
        return bool(self.plan.stop.also)


def watches(phase: Phase) -> bool:
    """Whether a phase looks at what it monitors."""
    return phase.stop.patience is not None or phase.stop.restore_best


def is_short(plan: Plan, measured: Collection[str], phased: Callable[[Plan], bool]) -> bool:
    """Whether a plan's loop can be a short one; `measured` are the values that each epoch ends with.

    `phased` says it of a plan of several phases.
    """
    for phase in plan.phases:
        if watches(phase) and phase.stop.monitor.removeprefix("val_") not in measured:
            return False
        if not all(_clean(phase, one) for one in phase.stop.also):
            return False
    if len(plan.phases) > 1:
        return not any(phase.stop.also for phase in plan.phases) and phased(plan)
    objectives = plan.phases[0].objectives
    if len(objectives) > 1:
        whole = any(isinstance(one, Minimise) for one in objectives) or all(map(_each_batch, objectives))
        return whole and all(map(one_of_several, objectives))
    (one,) = objectives
    return _each_batch(one) and (_ruled(one) or (isinstance(one, Minimise) and _simple(one)))


def _clean(phase: Phase, also: Choice) -> bool:
    """Whether a stop rule looks for mistakes in an epoch, which rules alone count at each batch."""
    rules = all(_ruled(one) and _each_batch(one) for one in phase.objectives)
    return also.name == CleanPass.__name__ and rules


def _ruled(one: Objective) -> bool:
    """Whether an objective is a rule of layers, which is a function, and neither acts nor follows."""
    return isinstance(one, Rule) and not isinstance(one, Rollout | Follow)


def _each_batch(one: Objective) -> bool:
    return isinstance(one, Minimise | Rule) and one.every == 1


def _simple(one: Minimise) -> bool:
    """Whether an objective gathers no gradients, averages no weights and is scheduled beforehand."""
    planned = make_schedule(one.schedule)
    return one.accumulate == 1 and one.average is None and not one.noise and not planned.per_epoch


def one_of_several(one: Objective) -> bool:
    """Whether an objective can stand in a list with others."""
    if not isinstance(one, Minimise):
        return True
    scheduled, asks = one.schedule.name != "Constant", bool(make_optimiser(one.optimiser).closure)
    return _simple(one) and one.clip is None and not scheduled and not asks


def short_lines(short: Short) -> list[Statement]:
    """The function `train` of a short loop."""
    alone = short.streams == 1
    rows = f'len(data["train"][{quoted(short.first)}])' if alone else "None"
    own = short.plan.batch_of(short.plan.phases[0])
    size = "CONFIG.batch" if not short.sized else str(own or rows)
    stop, one = short.plan.stop, short.turns[0]
    several = len(short.turns) > 1
    scheduled = any(turn.scheduled for turn in short.turns)
    count = count_text(rows, size, joins=short.joins)
    if not alone:
        count = f'steps_of(data["train"], {size if short.plan.batch or short.sized else None})'
    return tree(
        TRAIN,
        takes=takes(short.kept),
        kept=short.kept,
        shown=shown(short.kept),
        scheduled=scheduled,
        count=count,
        stops=stop.patience is not None,
        keeps=stop.restore_best,
        compares=watches(short.plan.phases[0]),
        clean=short.clean,
        mistakes="sum(values.values())" if several else "value",
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


def takes(kept: bool, epochs: str = "int") -> str:
    """The parameters of `train`, whose values may be `kept` in a list; `epochs` is the type of how many."""
    told = f"model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: {epochs}"
    return f"{told}, history: list[dict[str, float]]" if kept else f"{told}, as_json: bool"


def _started(short: Short) -> list[str]:
    """What moves the weights, made before the first epoch."""
    if len(short.turns) == 1:
        one = short.turns[0]
        made = [f"optimiser = {one.optimiser}(model)"] if isinstance(one.objective, Minimise) else []
        return [*made, *([f"weights = {one.weights}"] if one.weights else [])]
    minimised = [isinstance(one.objective, Minimise) for one in short.turns]
    if not any(minimised):
        return [f"rules = [{', '.join(f'({quoted(one.key)}, {_taken(one)})' for one in short.turns)}]"]
    every = _every(short)
    about = f"by name, with their optimisers{'' if all(minimised) else ' (none for a rule)'}"
    about += ", and every how many batches" if every else ""
    lines = [f"objectives = [  # {about}"]
    if any(one.made for one in short.turns):  # objects and functions beside each other
        kind = f"list[tuple[str, Any, torch.optim.Optimizer | None{', int' if every else ''}]]"
        lines = [f"# {about}", f"objectives: {kind} = ["]
    for one, moves in zip(short.turns, minimised, strict=True):
        parts = [quoted(one.key), _taken(one), f"{one.optimiser}(model)" if moves else "None"]
        lines.append(f"    ({', '.join([*parts, *([str(one.every)] if every else [])])}),")
    return [*lines, "]"]


def _taken(one: Turn) -> str:
    return one.made or one.function


def _every(short: Short) -> bool:
    return any(one.every > 1 for one in short.turns)


def moved_by(turns: Iterable[Turn]) -> str:
    """Which weights the gradients are of, as an argument; "" where each objective moves all."""
    found = {one.weights for one in turns}
    if found == {""}:
        return ""
    return f"inputs={OF_ONE_GROUP if found <= {'', OF_ONE_GROUP} else OF_ALL_GROUPS}"


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
    clip = one.objective.clip if isinstance(one.objective, Minimise) else None
    clipped = f"{'weights' if one.weights else 'model.parameters()'}, {clip!r}"
    return tree(DESCENT, **facts, clips=clip is not None, clipped=clipped)


def _several(short: Short) -> list[Statement]:
    """What is done with a batch where there are several objectives."""
    minimised = [one for one in short.turns if isinstance(one.objective, Minimise)]
    if not minimised:
        return tree(RULES)
    every, mixed = _every(short), len(minimised) < len(short.turns)
    step = each_objective(moved_by(minimised), mixed=mixed)
    also = ", every" if every else ""
    return [Statement("values = {}"), *tree(OBJECTIVES, every=every, also=also, step=step)]


def each_objective(inputs: str, *, single: bool = False, mixed: bool = False) -> list[Statement]:
    """What an objective does with a batch, one of several or a `single` one; `mixed` with rules."""
    return tree(EACH, inputs=inputs, single=single, mixed=mixed)


# of `train`, beside those that no name of a script is given
VARIABLES = (
    *("objectives", "name", "compute", "weights", "every", "optimiser", "schedule", "closure"),
    *("rules", "update", "loss", "found", "value", "step", "best", "kept", "waited", "mistakes"),
)
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
        mistakes = 0.0  #? clean
        for batch in batches(data["train"], shuffle$size):
            <turn>
            mistakes += $mistakes  #? clean
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
            if waited == CONFIG.patience:
                break
        if mistakes == 0:  #? clean
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
    values = {name: update(model, batch)["loss"].item() for name, update in rules}
"""

OBJECTIVES = """
for name, compute, optimiser$also in objectives:
    if step % every != 0:  #? every
        continue
    <step>
"""

EACH = """
if optimiser is None:  #? mixed
    with torch.no_grad():
        values[name] = compute(model, batch)["loss"].item()
    continue
optimiser.zero_grad()  #: ZEROED
loss = compute(model, batch)["loss"]  #: LOSS
values = {name: loss.item()}  #: VALUE  #? single
values[name] = loss.item()  #: VALUE  #? not single
if not math.isfinite(values[name]):
    raise SystemExit(f"{name} is {values[name]} after {step} steps: a lower rate may help.")
loss.backward($inputs)  #: BACKWARD
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
