"""The loop of a plan with several phases or players as text: how players take turns and phases end.

Only what a plan uses is written: a plan that clips no gradients has no line about clipping.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.catalogue.symbols import name
from engine.catalogue.training.averages import EMA, SWA, make_average
from engine.catalogue.training.changes import make_change
from engine.catalogue.training.optimisers import make_optimiser
from engine.catalogue.training.schedules import make_schedule
from engine.catalogue.training.stopping import stop_tests
from engine.data.batch import WEIGHT
from engine.document.plan import ChangeModel, Choice, Minimise, Plan, Rule
from engine.emit.lines import quoted
from engine.emit.optimise import carried_by, ours, penalty_terms


def weight_text(first: str, counted: bool) -> str:
    """How much a batch counts: the rows of the column `first`, or what an objective `found`, if it counts."""
    rows = f"len(batch[{quoted(first)}])"
    return f'float(found.get("{WEIGHT}", {rows}))' if counted else rows


def train_text(facts: Features, first: str) -> str:
    """The function `train`; `first` is the column by which rows are counted."""
    several = len(facts.plan.phases) > 1
    count = f"max(1, math.ceil((n - 1) / {_SIZE}))" if facts.joins else f"math.ceil(n / {_SIZE})"
    lines = [
        "def train(",
        "    model: Model,",
        "    data: dict[str, dict[str, Tensor]],",
        "    seed: int,",
        "    epochs: int | None,",
        "    as_json: bool,",
        ") -> None:",
        "    shuffle = torch.Generator().manual_seed(seed)",
        f'    n = len(data["train"][{quoted(first)}])',
        "    step = epoch = 0",
        "    for number, phase in enumerate(PHASES):" if several else "    for phase in PHASES:",
        "        limit = epochs or phase.epochs",
        f"        players = phase.players(model, {count}, limit)",
        "        best, kept, waited, turn = math.inf, None, 0, 0",
    ]
    if "seconds" in facts.seen:
        lines.append("        began = time.monotonic()")
    counter = "done" if facts.averages else "_"
    lines += [f"        for {counter} in range(limit):", "            set_modes(model, phase)"]
    if "moved" in facts.seen:
        lines.append(
            "            before = {name: value.clone() for name, value in model.state_dict().items()}"
        )
    where = '"step": step, "phase": number, "epoch": epoch' if several else '"step": step, "epoch": epoch'
    lines += [
        "            sums: dict[str, tuple[float, float]] = {}  # (sum, weight) by objective",
        '            for batch in batches(data["train"], shuffle, phase.batch):',
        "                values = {}",
        "                for player in players:",
        "                    if turn % player.every == 0:",
        "                        found = take_turn(player, model, batch, turn)",
        '                        values[player.name] = value = found["loss"].item()',
        f"                        weight = {weight_text(first, facts.counted)}",
        "                        total, count = sums.get(player.name, (0.0, 0.0))",
        "                        sums[player.name] = total + weight * value, count + weight",
        "                step, turn = step + 1, turn + 1",
        "                if as_json:",
        f"                    print(json.dumps({{{where}, **values}}))",
    ]
    if facts.gathers:
        lines += [
            "            for player in players:",
            "                if player.gathered:  # fewer batches than it gathers were left",
            "                    update(player, turn)",
        ]
    if facts.averages:
        lines += [
            "            averages = [player.average for player in players if player.average is not None]",
            "            for average in averages:",
            "                average.update(done)",
            "                average.swap()",
        ]
    if facts.refreshes:
        lines += [
            "            averaged = any(average.count for average in averages)",
            "            unaveraged = statistics(model) if averaged else {}",
            "            if unaveraged:",
            f"                {_REFRESH}",
        ]
    if facts.measures:
        lines += [
            '            found = evaluate(model, data["validation"])',
            '            record = {f"val_{name}": value for name, value in found.items()}',
        ]
    else:
        lines.append("            record: dict[str, float] = {}")
    lines += [
        '            report({"epoch": epoch, **record}, as_json)',
        "            epoch += 1",
        '            means = {f"train_{name}": total / count for name, (total, count) in sums.items()'
        + (" if count}" if facts.counted else "}"),
        "            seen = {**record, **means}",
    ]
    if "gradient_norm" in facts.seen:
        lines.append(
            '            seen["gradient_norm"] = gradient_norm([w for p in players for w in p.weights])'
        )
    if "seconds" in facts.seen:
        lines.append('            seen["seconds"] = time.monotonic() - began')
    if "moved" in facts.seen:
        lines.append('            seen["moved"] = largest_move(model, before)')
    if facts.plateau:
        lines += [
            "            for player in players:",
            "                if player.watches and player.watches in seen:",
            "                    player.schedule.step(seen[player.watches])",
        ]
    lines += [
        "            value = phase.sign * seen.get(phase.monitor, math.nan)",
        "            if value < best:",
        "                best, waited = value, 0",
        "                if phase.restore_best:",
        "                    kept = {name: value.clone() for name, value in model.state_dict().items()}",
        "            else:",
        "                waited += 1",
        *(_SWAPPED if facts.averages else ()),
        *(["            model.load_state_dict(unaveraged, strict=False)"] if facts.refreshes else []),
        "            if waited == phase.patience" + (" or over(phase, seen):" if facts.stops else ":"),
        "                break",
        "        if kept is not None:",
        "            model.load_state_dict(kept)",
    ]
    if facts.averages:
        lines += ["        else:", *_SWAPPED]
    if facts.refreshes:
        lines += ["            if unaveraged:", "                set_modes(model, phase)"]
        lines.append(f"                {_REFRESH}")
    return "\n".join(lines)


_SWAPPED = ("            for average in averages:", "                average.swap()")
_REFRESH = 'refresh_statistics(model, measure, batches(data["train"], None, phase.batch))'
_SIZE = "(phase.batch or n)"


@dataclass(frozen=True, slots=True)
class Features:
    """Which features a plan uses, and what its graph asks of the loop; only their lines are written."""

    plan: Plan
    measures: bool = False  # there is a loss or a metric
    counted: bool = False  # an objective may say how much a batch counts
    statistics: bool = False  # layers keep the statistics of batches
    joins: bool = False  # a row that is left over joins the batch before it
    whole: bool = False  # every objective moves all that it computes with
    rows: str = ""  # how many rows a batch has, as code
    distributed: bool = False  # several processes compute a part of each batch
    autocast: str = ""  # the kind of device on which losses are computed in bfloat16

    @property
    def carries(self) -> frozenset[Any]:
        """The functions and classes of ours that the plan's code uses, beside those of the nodes."""
        from engine.optim import adversary, average, noise, progress, residuals, updates

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

    def player_class(self) -> str:
        lines = [
            "@dataclass",
            "class Player:",
            '    """An objective at work: what it computes, the weights it moves, and what moves them."""',
            "",
            "    name: str",
            "    objective: Callable[[Model, dict[str, Tensor]], dict[str, Tensor]]",
            "    weights: list[nn.Parameter] = field(default_factory=list)",
            "    optimiser: Any = None  # none: a rule, which moves them itself",
            "    schedule: Any = None",
            "    every: int = 1",
        ]
        if self.gathers:
            lines += [
                "    accumulate: int = 1",
                "    gathered: int = 0  # batches whose gradients are added up, and how much they count",
                "    weight: float = 0.0",
            ]
        if any(one.clip is not None for one in self.minimised):
            lines.append("    clip: float | None = None")
        if any(one.noise for one in self.minimised):
            lines.append("    noise: float = 0.0")
        if self.plateau:
            lines.append('    watches: str = ""  # what its schedule looks at after each epoch')
        if "residuals" in self.closures:
            lines.append("    residuals: Any = None")
        if self.averages:
            lines.append("    average: Average | None = None  # evaluated, and kept, in place of its weights")
        return "\n".join(lines)

    def take_turn(self, weight: str) -> str:
        """The function `take_turn`, with those it calls; `weight` is how much a batch counts, as code."""
        kinds = self.closures
        rules = any(isinstance(one, Rule | ChangeModel) for one in self.plan.objectives)
        lines = [
            "def take_turn(player: Player, model: Model, batch: dict[str, Tensor], turn: int)"
            " -> dict[str, Tensor]:",
            '    """One step of an objective; returns what it computed before the step."""',
        ]
        if rules:
            lines += [
                "    if player.optimiser is None:",
                "        with torch.no_grad():",
                "            return player.objective(model, batch)",
            ]
        if not self.minimised:
            lines[-3:] = ["    with torch.no_grad():", "        return player.objective(model, batch)"]
            return "\n".join(lines)
        closures = kinds - {""}
        if closures:
            lines += self._closures(closures, "" in kinds, weight)
        if "" in kinds:
            lines += self._gathering(weight) if self.gathers else self._plain()
        return "\n".join(lines)

    def _plain(self) -> list[str]:
        lines = ["    turn //= player.every"] if any(one.every > 1 for one in self.minimised) else []
        return [
            *lines,
            "    player.optimiser.zero_grad()",
            *self._loss(),
            "    loss.backward()" if self.whole else "    loss.backward(inputs=player.weights)",
            *self._added_up(),
            *self._update(),
            "    return found",
        ]

    @property
    def _objective(self) -> str:
        return "together(player, model, batch)" if self.distributed else "player.objective(model, batch)"

    def _added_up(self) -> list[str]:
        return ["    add_up(player.weights)"] if self.distributed else []

    def _loss(self) -> list[str]:
        lines = [f"    found = {self._objective}"]
        if self.autocast:
            lines = [f"    with torch.autocast({quoted(self.autocast)}, torch.bfloat16):", f"    {lines[0]}"]
        return [
            *lines,
            '    loss = found["loss"]',
            "    if not math.isfinite(loss.item()):",
            '        raise FloatingPointError(f"{player.name} is {loss.item()} after {turn} steps.")',
        ]

    def _gathering(self, weight: str) -> list[str]:
        return [
            "    if not player.gathered:",
            "        player.optimiser.zero_grad()",
            *self._loss(),
            f"    weight = {weight}",
            "    (weight * loss).backward(inputs=player.weights)",
            "    player.gathered += 1",
            "    player.weight += weight",
            "    if player.gathered == player.accumulate:",
            "        update(player, turn)",
            "    return found",
            "",
            "",
            "def update(player: Player, turn: int) -> None:",
            '    """Move the weights along the mean of the gradients that were gathered."""',
            "    for weights in player.weights:",
            "        if weights.grad is not None:",
            "            weights.grad /= player.weight or 1.0",
            *self._added_up(),
            "    player.gathered, player.weight = 0, 0.0",
            *self._update(),
        ]

    def _update(self) -> list[str]:
        """The lines that move weights by the gradients they have."""
        lines = []
        scheduled = any(one.schedule.name != "Constant" for one in self.minimised)
        if any(one.noise for one in self.minimised):
            lines += [
                "    if player.noise:",
                "        add_gradient_noise(player.weights, player.noise, turn)",
            ]
        if any(one.clip is not None for one in self.minimised):
            lines += [
                "    if player.clip is not None:",
                "        nn.utils.clip_grad_norm_(player.weights, player.clip)",
            ]
        lines.append("    player.optimiser.step()")
        if any(one.average is not None and one.average.name == "EMA" for one in self.minimised):
            lines += ["    if player.average is not None:", "        player.average.update()"]
        if scheduled:
            watched = " and not player.watches" if self.plateau else ""
            lines += [f"    if player.schedule is not None{watched}:", "        player.schedule.step()"]
        return lines

    def _closures(self, kinds: set[str], mixed: bool, weight: str) -> list[str]:
        lines = ["", "    def closure() -> Tensor:"]
        if "gradient" in kinds:
            lines += [
                "        player.optimiser.zero_grad()",
                f'        loss = {self._objective}["loss"]',
                "        loss.backward(inputs=player.weights)",
                *(f"    {line}" for line in self._added_up()),
                "        return loss.detach()",
            ]
        elif "potential" in kinds:
            lines += [
                "        player.optimiser.zero_grad()",
                f"        found = {self._objective}",
                f'        loss = {weight} * found["loss"]  # of all rows together',
                "        loss.backward(inputs=player.weights)",
                *(f"    {line}" for line in self._added_up()),
                "        return loss.detach()",
            ]
        elif "residuals" in kinds:
            lines.append("        return player.residuals(model, batch)")
        else:
            lines.append('        return player.objective(model, batch)["loss"]')
        step = [
            "found = player.optimiser.step(closure)",
            "if not math.isfinite(found):",
            '    raise FloatingPointError(f"{player.name} is {found} after {turn} steps.")',
        ]
        if any(one.schedule.name != "Constant" for one in self.minimised):
            step += ["if player.schedule is not None:", "    player.schedule.step()"]
        if any(one.average is not None and one.average.name == "EMA" for one in self.minimised):
            step += ["if player.average is not None:", "    player.average.update()"]
        if "potential" in kinds:
            step.append(f"loss, accepted = found / {self.rows}, player.optimiser.accepted")
            step.append('return {"loss": torch.as_tensor(loss), "accepted": torch.as_tensor(accepted)}')
        else:
            step.append('return {"loss": torch.as_tensor(found)}')
        if mixed:
            names = sorted({one.optimiser.name for one in self.minimised if self._closed(one)})
            listed = ", ".join(quoted(found) for found in names)
            lines += ["", f"    if type(player.optimiser).__name__ in ({listed},):"]
            return [*lines, *(f"        {line}" for line in step)]
        return [*lines, "", *(f"    {line}" for line in step)]

    def _closed(self, one: Minimise) -> bool:
        return bool(make_optimiser(one.optimiser).closure)


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
