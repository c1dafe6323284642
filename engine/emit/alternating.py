"""The loop of a plan with several phases or players as text: how players take turns and phases end.

Only what a plan uses is written: a plan that clips no gradients has no line about clipping.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.catalogue.symbols import name
from engine.catalogue.training.averages import EMA, SWA, make_average
from engine.catalogue.training.changes import make_change
from engine.catalogue.training.explorations import make_exploration
from engine.catalogue.training.optimisers import make_optimiser
from engine.catalogue.training.schedules import make_schedule
from engine.catalogue.training.stopping import stop_tests
from engine.data.batch import COUNTS, PARTS, WEIGHT
from engine.document.plan import ChangeModel, Choice, Follow, Minimise, Plan, Rollout, Rule
from engine.emit.batching import count_text
from engine.emit.optimise import carried_by, ours, penalty_terms
from engine.emit.statements import BLANK, Statement, quoted, tree


def weight_text(first: str, counted: bool) -> str:
    """How much a batch counts: the rows of the column `first`, or what an objective `found`, if it counts."""
    rows = f"len(batch[{quoted(first)}])"
    return f'float(found.get("{WEIGHT}", {rows}))' if counted else rows


def train_lines(facts: Features, first: str, kept: bool = False) -> list[Statement]:
    """The function `train`; `first` is the column by which rows are counted.

    Where values are `kept` they go into a list, as a notebook wants them.
    """
    several = len(facts.plan.phases) > 1
    count = count_text("n", "(phase.batch or n)", joins=facts.joins)
    phase = tree(
        PHASE,
        count='steps_of(data["train"], phase.batch)' if facts.streams > 1 else count,
        seconds="seconds" in facts.seen,
        moved="moved" in facts.seen,
        gradient_norm="gradient_norm" in facts.seen,
        scheduled=facts.scheduled,
        counter="done" if facts.averages else "_",
        where='"step": step, "phase": number, "epoch": epoch' if several else '"step": step, "epoch": epoch',
        weight=weight_text(first, facts.counted),
        gathers=facts.gathers,
        averages=facts.averages,
        refreshes=facts.refreshes,
        measures=facts.measures and facts.validated,
        counted=facts.counted,
        plateau=facts.plateau,
        ended=" or over(phase, seen)" if facts.stops else "",
        kept=kept,
        shown="history" if kept else "as_json",
    )
    counts = facts.scheduled and facts.streams == 1
    return tree(TRAIN, first=quoted(first), several=several, phase=phase, counts=counts, kept=kept)


TRAIN = """
def train(
    model: Model,
    data: dict[str, dict[str, Tensor]],
    seed: int,
    epochs: int | None,
    as_json: bool,  #: SIGNATURE  #? not kept
    history: list[dict[str, float]],  #? kept
) -> None:
    shuffle = torch.Generator().manual_seed(seed)
    n = len(data["train"][$first])  #? counts
    step = epoch = 0  #: BEGUN
    for number, phase in enumerate(PHASES):  #: PHASES  #? several
        <phase>
    for phase in PHASES:  #? not several
        <phase>
"""

PHASE = """
limit = epochs or phase.epochs
players = phase.players(model, $count, limit)  #? scheduled
players = phase.players(model)  #? not scheduled
best, kept, waited, turn = math.inf, None, 0, 0
began = time.monotonic()  #? seconds
for $counter in range(limit):  #: EPOCHS
    set_modes(model, phase)
    before = {name: value.clone() for name, value in model.state_dict().items()}  #? moved
    sums: dict[str, tuple[float, float]] = {}  # (sum, weight) by objective
    for batch in batches(data["train"], shuffle, phase.batch):
        values = {}
        for player in players:
            if turn % player.every == 0:
                found = take_turn(player, model, batch, turn)
                values[player.name] = value = found["loss"].item()
                weight = $weight
                total, count = sums.get(player.name, (0.0, 0.0))
                sums[player.name] = total + weight * value, count + weight
        step, turn = step + 1, turn + 1
        if as_json:  #: JSON  #? not kept
            print(json.dumps({$where, **values}))
        history.append({$where, **values})  #? kept
    for player in players:  #? gathers
        if player.gathered:  # fewer batches than it gathers were left
            update(player, turn)
    averages = [player.average for player in players if player.average is not None]  #? averages
    for average in averages:  #? averages
        average.update(done)
        average.swap()
    averaged = any(average.count for average in averages)  #? refreshes
    unaveraged = statistics(model) if averaged else {}  #? refreshes
    if unaveraged:  #? refreshes
        refresh_statistics(model, measure, batches(data["train"], None, phase.batch))
    found = evaluate(model, data["validation"])  #? measures
    record = {f"val_{name}": value for name, value in found.items()}  #? measures
    record: dict[str, float] = {}  #? not measures
    report({"epoch": epoch, **record}, $shown)
    epoch += 1
    means = {f"train_{name}": total / count for name, (total, count) in sums.items() if count}  #? counted
    means = {f"train_{name}": total / count for name, (total, count) in sums.items()}  #? not counted
    seen = {**record, **means}  #: SEEN
    seen["gradient_norm"] = gradient_norm([w for p in players for w in p.weights])  #? gradient_norm
    seen["seconds"] = time.monotonic() - began  #: SEEN  #? seconds
    seen["moved"] = largest_move(model, before)  #? moved
    for player in players:  #? plateau
        if player.watches and player.watches in seen:
            player.schedule.step(seen[player.watches])
    value = phase.sign * seen.get(phase.monitor, math.nan)
    if value < best:
        best, waited = value, 0
        if phase.restore_best:
            kept = {name: value.clone() for name, value in model.state_dict().items()}
    else:
        waited += 1
    for average in averages:  #? averages
        average.swap()
    model.load_state_dict(unaveraged, strict=False)  #? refreshes
    if waited == phase.patience$ended:
        break
if kept is not None:
    model.load_state_dict(kept)
else:  #? averages
    for average in averages:
        average.swap()
    if unaveraged:  #? refreshes
        set_modes(model, phase)
        refresh_statistics(model, measure, batches(data["train"], None, phase.batch))
"""


@dataclass(frozen=True, slots=True)
class Features:
    """Which features a plan uses, and what its graph asks of the loop; only their lines are written."""

    plan: Plan
    measures: bool = False  # there is a loss or a metric
    validated: bool = True  # the data have a validation split
    counted: bool = False  # an objective may say how much a batch counts
    apart: bool = False  # losses whose gradients are gathered count a batch in several ways
    statistics: bool = False  # layers keep the statistics of batches
    joins: bool = False  # a row that is left over joins the batch before it
    whole: bool = False  # every objective moves all that it computes with
    rows: str = ""  # how many rows a batch has, as code
    streams: int = 1  # how many data nodes, or groups of them, are drawn by themselves

    @property
    def carries(self) -> frozenset[Any]:
        """The functions and classes of ours that the plan's code uses, beside those of the nodes."""
        from engine.layers.agents.replay import Replay
        from engine.optim import adversary, average, follow, noise, progress, residuals, rollout, updates

        used = frozenset(getattr(progress, wanted) for wanted in self.seen_functions)
        for one in self.minimised:
            terms = penalty_terms(one.penalties, name("weights"))
            used = used.union(carried_by(one), *(term.carries for term in terms))
        if any(one.noise for one in self.minimised):
            used |= {noise.add_gradient_noise}
        if any(one.adversary is not None for one in self.minimised):
            used |= {adversary.worst_near}
        for change in self.changes:
            used |= {ours(make_change(change.change).makes)}
        for step in self.plan.objectives:
            if isinstance(step, Rollout):
                used |= {Replay, rollout.Rollout, ours(make_exploration(step.exploration).makes)}
            elif isinstance(step, Follow):
                used |= {follow.Follow}
        if self.averages:
            used |= {average.Average}
        if self.refreshes:
            used |= {average.statistics, average.refresh_statistics}
        if not all(moves_each_turn(one) for one in self.minimised):
            used |= {updates.updates_per_epoch}
        if "residuals" in self.closures:
            used |= {residuals.residuals}
        return used

    @property
    def minimised(self) -> list[Minimise]:
        return self.plan.minimised

    @property
    def changes(self) -> list[ChangeModel]:
        return [one for one in self.plan.objectives if isinstance(one, ChangeModel)]

    @property
    def alike(self) -> bool:
        """Whether all of several processes must draw the same numbers: for what each does by itself."""
        own = self.closures - {"", "gradient"}
        ruled = any(isinstance(one, Rule) for one in self.plan.objectives)
        return bool(own) or ruled or any(one.noise for one in self.minimised)

    @property
    def stops(self) -> bool:
        return any(phase.stop.also for phase in self.plan.phases)

    @property
    def seen(self) -> set[str]:
        return {
            key for phase in self.plan.phases for key, _, _ in stop_tests(phase.stop.also, lambda _: True)
        }

    @property
    def seen_functions(self) -> set[str]:
        known = {"gradient_norm": "gradient_norm", "moved": "largest_move"}
        return {known[key] for key in self.seen if key in known}

    @property
    def plateau(self) -> bool:
        return any(make_schedule(one.schedule).per_epoch for one in self.minimised)

    @property
    def averages(self) -> bool:
        return any(one.average is not None for one in self.minimised)

    @property
    def refreshes(self) -> bool:
        return self.averages and self.statistics

    @property
    def gathers(self) -> bool:
        return any(one.accumulate > 1 for one in self.minimised)

    @property
    def closures(self) -> set[str]:
        return {make_optimiser(one.optimiser).closure for one in self.minimised}

    def player_class(self, whole: bool = False) -> list[Statement]:
        """The class of an objective at work, where it is `whole` with the fields that every plan may have."""
        return tree(
            PLAYER,
            minimises=whole or bool(self.minimised),
            scheduled=whole or self.scheduled,
            gathers=self.gathers,
            apart=self.gathers and self.apart,
            clips=self.clips,
            noise=self.noisy,
            plateau=self.plateau,
            residuals="residuals" in self.closures,
            averages=self.averages,
        )

    @property
    def clips(self) -> bool:
        return any(one.clip is not None for one in self.minimised)

    @property
    def noisy(self) -> bool:
        return any(one.noise for one in self.minimised)

    def turn_lines(self, weight: str) -> list[list[Statement]]:
        """The function `take_turn`, with those it calls; `weight` is how much a batch counts, as code."""
        kinds = self.closures
        rules = any(isinstance(one, Rule | ChangeModel) for one in self.plan.objectives)
        update = self._update()
        closed = sorted({one.optimiser.name for one in self.minimised if self._closed(one)})
        facts = {
            "ruled": rules and bool(self.minimised),
            "rules_alone": not self.minimised,
            "closure": bool(kinds - {""}),
            "gradient": "gradient" in kinds,
            "potential": "potential" in kinds and "gradient" not in kinds,
            "residuals": "residuals" in kinds and not kinds & {"gradient", "potential"},
            "values": not kinds & {"gradient", "potential", "residuals"},
            "mixed": len(kinds) > 1 and "" in kinds,
            "named": ", ".join(quoted(found) for found in closed),
            "drawn": "potential" in kinds,
            "gathers": "" in kinds and self.gathers,
            "adds": "" in kinds and self.gathers and not self.apart,
            "apart": "" in kinds and self.gathers and self.apart,
            "parts": PARTS,
            "counts": COUNTS,
            "each": "" in kinds and not self.gathers,
            "later": "" in kinds and not self.gathers and any(one.every > 1 for one in self.minimised),
            "descends": "" in kinds,
            "inputs": "" if self.whole else "inputs=player.weights",
            "scheduled": self.scheduled,
            "moving": self._moving,
            "weight": weight,
            "rows": self.rows,
            "update": update,
            "blank": [BLANK],
        }
        step = tree(CLOSED_STEP, **facts) if facts["closure"] else []
        turn = tree(TAKE_TURN, **facts, step=step)
        gather = [tree(GATHER)] if facts["apart"] else []
        return [*gather, turn, tree(UPDATE, **facts)] if facts["gathers"] else [turn]

    @property
    def scheduled(self) -> bool:
        """Whether an objective changes its rate."""
        return any(one.schedule.name != "Constant" for one in self.minimised)

    @property
    def _moving(self) -> bool:
        """Whether weights are averaged step by step."""
        return any(one.average is not None and one.average.name == "EMA" for one in self.minimised)

    def _update(self) -> list[Statement]:
        """What moves weights by the gradients they have."""
        return tree(
            MOVED,
            noise=self.noisy,
            clips=self.clips,
            moving=self._moving,
            scheduled=self.scheduled,
            watched=" and not player.watches" if self.plateau else "",
        )

    def _closed(self, one: Minimise) -> bool:
        return bool(make_optimiser(one.optimiser).closure)


PLAYER = '''
@dataclass
class Player:
    """An objective at work: what it computes, the weights it moves, and what moves them."""

    name: str
    objective: Callable[[Model, dict[str, Tensor]], dict[str, Tensor]]
    weights: list[nn.Parameter] = field(default_factory=list)  #? minimises
    optimiser: Any = None  # none: a rule, which moves them itself  #? minimises
    schedule: Any = None  #? scheduled
    every: int = 1
    accumulate: int = 1  #? gathers
    gathered: int = 0  # batches whose gradients are added up, and how much they count  #? gathers
    weight: float = 0.0  #? gathers
    counts: list[float] = field(default_factory=list)  # how much the parts of its loss count  #? apart
    sums: list[list[Tensor | None]] = field(default_factory=list)  # their gradients, one a weight  #? apart
    clip: float | None = None  #? clips
    noise: float = 0.0  #? noise
    watches: str = ""  # what its schedule looks at after each epoch  #? plateau
    residuals: Any = None  #? residuals
    average: Average | None = None  # evaluated, and kept, in place of its weights  #? averages
'''

TAKE_TURN = '''
def take_turn(player: Player, model: Model, batch: dict[str, Tensor], turn: int) -> dict[str, Tensor]:
    """One step of an objective; returns what it computed before the step."""
    with torch.no_grad():  #? rules_alone
        return player.objective(model, batch)
    if player.optimiser is None:  #? ruled
        with torch.no_grad():
            return player.objective(model, batch)
    <blank>  #? closure
    def closure() -> Tensor:  #? closure
        player.optimiser.zero_grad()  #? gradient
        loss = player.objective(model, batch)["loss"]  #: LOSS  #? gradient
        player.optimiser.zero_grad()  #? potential
        found = player.objective(model, batch)  #: CLOSED  #? potential
        loss = $weight * found["loss"]  # of all rows together  #? potential
        return player.residuals(model, batch)  #? residuals
        return player.objective(model, batch)["loss"]  #? values
        loss.backward(inputs=player.weights)  #: GRADIENTS  #? gradient
        loss.backward(inputs=player.weights)  #: GRADIENTS  #? potential
        return loss.detach()  #? gradient
        return loss.detach()  #? potential
    <blank>  #? closure
    if type(player.optimiser).__name__ in ($named,):  #? mixed
        <step>
    <step>  #? not mixed
    if not player.gathered:  #? gathers
        player.optimiser.zero_grad()
    turn //= player.every  #? later
    player.optimiser.zero_grad()  #? each
    found = player.objective(model, batch)  #: FOUND  #? descends
    loss = found["loss"]  #? descends
    if not math.isfinite(loss.item()):  #? descends
        raise FloatingPointError(f"{player.name} is {loss.item()} after {turn} steps.")
    loss.backward($inputs)  #: GRADIENTS  #? each
    weight = $weight  #? gathers
    (weight * loss).backward(inputs=player.weights)  #? adds
    gather(player, found.pop("$parts", loss[None]), found.pop("$counts", torch.tensor([weight])))  #? apart
    player.gathered += 1  #? gathers
    player.weight += weight  #? gathers
    if player.gathered == player.accumulate:  #? gathers
        update(player, turn)
    <update>  #? each
    return found  #? descends
'''

CLOSED_STEP = """
found = player.optimiser.step(closure)
if not math.isfinite(found):
    raise FloatingPointError(f"{player.name} is {found} after {turn} steps.")
if player.schedule is not None:  #? scheduled
    player.schedule.step()
if player.average is not None:  #? moving
    player.average.update()
loss, accepted = found / $rows, player.optimiser.accepted  #? drawn
return {"loss": torch.as_tensor(loss), "accepted": torch.as_tensor(accepted)}  #? drawn
return {"loss": torch.as_tensor(found)}  #? not drawn
"""

GATHER = '''
def gather(player: Player, parts: Tensor, counts: Tensor) -> None:
    """Add up the gradients of a loss part by part, each times how much the batch counts for it."""
    if not player.counts:
        player.counts = [0.0] * len(parts)
        player.sums = [[None] * len(player.weights) for _ in parts]
    for at, (part, count) in enumerate(zip(parts, counts.tolist(), strict=True)):
        player.counts[at] += count
        found = torch.autograd.grad(part, player.weights, retain_graph=True, allow_unused=True)
        for number, gradient in enumerate(found):
            if gradient is not None:
                before = player.sums[at][number]
                player.sums[at][number] = count * gradient + (0 if before is None else before)
'''

UPDATE = '''
def update(player: Player, turn: int) -> None:
    """Move the weights along the mean of the gradients that were gathered."""
    for sums, count in zip(player.sums, player.counts, strict=True):  #? apart
        for weights, total in zip(player.weights, sums, strict=True):
            if total is not None:
                mean = total / (count or 1.0)
                weights.grad = mean if weights.grad is None else weights.grad + mean
    player.counts, player.sums = [], []  #? apart
    for weights in player.weights:  #: GRADIENTS  #? adds
        if weights.grad is not None:
            weights.grad /= player.weight or 1.0
    player.gathered, player.weight = 0, 0.0
    <update>
'''

MOVED = """
if player.noise:  #? noise
    add_gradient_noise(player.weights, player.noise, turn)
if player.clip is not None:  #? clips
    nn.utils.clip_grad_norm_(player.weights, player.clip)
player.optimiser.step()
if player.average is not None:  #? moving
    player.average.update()
if player.schedule is not None$watched:  #? scheduled
    player.schedule.step()
"""


def moves_each_turn(one: Minimise) -> bool:
    """Whether an objective moves its weights at each batch."""
    return one.every == one.accumulate == 1


def average_arguments(choice: Choice) -> str:
    """How weights are averaged, as arguments: EMA with its decay, or SWA from an epoch on.

    Errors: `ParamError`.
    """
    chosen = make_average(choice)
    if isinstance(chosen, EMA):
        return f", decay={float(chosen.decay)!r}"
    assert isinstance(chosen, SWA)
    return f", start={chosen.start}" if chosen.start else ""
