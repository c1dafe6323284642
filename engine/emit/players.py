"""Plans of several phases or players as code: what each objective computes and moves, and their turns."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.catalogue import Layer, Loss, Metric
from engine.emit.inline import (
    measuring_inline,
    needed_by,
    objective_lines,
    residual_lines,
    rule_lines,
    trained_nodes,
)
from engine.emit.lines import Line, block, indented, laid_out, quoted
from engine.emit.model import Assembly
from engine.emit.names import MODULE_NAMES, NameBook
from engine.emit.optimise import (
    carried_by,
    check_objective,
    optimiser_lines,
    penalty_terms,
    residual_vector,
    schedule_lines,
)
from engine.errors import EmitError
from engine.optimisers import make_optimiser
from engine.plan import Choice, Minimise, Objective, Phase, Plan, Rule
from engine.schedules import make_schedule
from engine.symbols import name

TESTS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
}
_OWN_NAMES = (
    *(
        "Player",
        "Phase",
        "PHASES",
        "take_turn",
        "set_modes",
        "over",
        "n",
        "players",
        "phase",
        "turn",
        "values",
    ),
    *("largest_move", "gradient_norm", "add_gradient_noise", "sums", "shuffle", "dataclass", "field"),
    *("Callable", "operator", "time", "Average", "averages", "average", "done"),
)


@dataclass(slots=True)
class Players:
    """A general plan as code: the functions, what they carry, and the names of the players phase by phase."""

    parts: list[list[Line]] = field(default_factory=list)
    carries: set[Any] = field(default_factory=set)
    names: list[list[str]] = field(default_factory=list)
    functions: list[list[str]] = field(default_factory=list)
    measures: bool = False


def players_of(made: Assembly, plan: Plan, first: str) -> Players:
    """The code of a plan that is not plainly supervised. Errors: `EmitError`, `ParamError`."""
    found = Players()
    book = NameBook(
        (*MODULE_NAMES, *_OWN_NAMES, *(one.name for one in made.classes.finished), *made.book.calls)
    )
    keys = NameBook(("step", "epoch", "phase"))
    order = made.graph.order()
    losses = [one for one in order if isinstance(made.book.types[one], Loss)]
    wanted = [*losses, *(one for one in order if isinstance(made.book.types[one], Metric))]
    several = sum(len(phase.objectives) for phase in plan.phases) > 1
    factories, static, facts = [], [], _Facts(plan)
    for number, phase in enumerate(plan.phases):
        calls, names, functions = [], [], []
        trained: set[str] = set()
        for index, objective in enumerate(phase.objectives):
            title = _title(made, plan, number, index) if several else "objective"
            key = keys.give(title) if several else "loss"
            function = book.give(title) if several else "objective"
            names.append(key)
            functions.append(function)
            calls.append(_player(made, found, book, objective, function, key, losses))
            trained |= _moved(made, objective, losses)
        found.names.append(names)
        found.functions.append(functions)
        factory = book.give(f"phase {number + 1}" if len(plan.phases) > 1 else "make players")
        factories.append(_factory(factory, phase, calls))
        static.append(_phase_line(made, phase, factory, trained))
    if wanted:
        found.parts.append(measuring_inline(made, wanted, losses))
        found.measures = True
    found.parts.append(block(facts.player_class()))
    found.parts.append(block(facts.take_turn()))
    found.parts += factories
    found.parts.append(block(PHASE_CLASS))
    found.parts.append(laid_out([Line("PHASES = ("), *indented(static), Line(")")]))
    found.parts.append(block(SET_MODES))
    if facts.stops:
        found.parts.append(block(OVER))
    found.carries |= facts.carries
    if facts.seen_functions:
        from engine.optim import progress

        found.carries |= {getattr(progress, wanted) for wanted in facts.seen_functions}
    return found


def train_text(plan: Plan, first: str, measures: bool) -> str:
    """The function `train`."""
    facts = _Facts(plan)
    several = len(plan.phases) > 1
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
        "        players = phase.players(model, math.ceil(n / (phase.batch or n)), limit)",
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
        "            sums: dict[str, list[float]] = {}",
        '            for batch in batches(data["train"], shuffle, phase.batch):',
        "                values = {}",
        "                for player in players:",
        "                    if turn % player.every == 0:",
        '                        values[player.name] = take_turn(player, model, batch, turn)["loss"].item()',
        "                        sums.setdefault(player.name, []).append(values[player.name])",
        "                step, turn = step + 1, turn + 1",
        "                if as_json:",
        f"                    print(json.dumps({{{where}, **values}}))",
    ]
    if facts.averages:
        lines += [
            "            averages = [player.average for player in players if player.average is not None]",
            "            for average in averages:",
            "                average.update(done)",
            "                average.swap()",
        ]
    if measures:
        lines += [
            '            found = evaluate(model, data["validation"])',
            '            record = {f"val_{name}": value for name, value in found.items()}',
        ]
    else:
        lines.append("            record: dict[str, float] = {}")
    lines += [
        '            report({"epoch": epoch, **record}, as_json)',
        "            epoch += 1",
        '            means = {f"train_{name}": sum(found) / len(found) for name, found in sums.items()}',
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
        *(
            ["            for average in averages:", "                average.swap()"]
            if facts.averages
            else []
        ),
        "            if waited == phase.patience" + (" or over(phase, seen):" if facts.stops else ":"),
        "                break",
        "        if kept is not None:",
        "            model.load_state_dict(kept)",
    ]
    if facts.averages:
        lines += ["        else:", "            for average in averages:", "                average.swap()"]
    return "\n".join(lines)


def stop_tests(also: Sequence[Choice], higher: Callable[[str], bool]) -> list[tuple[str, str, float]]:
    """The stop rules of a phase as (what is seen, test, value). Errors: `EmitError`."""
    found: list[tuple[str, str, float]] = []
    for rule in also:
        values = dict(rule.params)
        if rule.name == "GradientNorm":
            found.append(("gradient_norm", "<", _real(values, "below", 1e-5)))
        elif rule.name == "Seconds":
            found.append(("seconds", ">=", _real(values, "seconds", 60.0)))
        elif rule.name == "Reaches":
            monitor = str(values.get("monitor", "val_accuracy"))
            found.append((monitor, ">=" if higher(monitor) else "<=", _real(values, "value", 0.9)))
        elif rule.name == "FixedPoint":
            found.append(("moved", "<", _real(values, "tolerance", 1e-6)))
        elif rule.name == "CleanPass":
            found.append(("", "==", 0.0))
        else:
            raise EmitError(f"There is no stop rule called {rule.name[:40]!r}.")
    return found


def _real(values: Mapping[str, Any], key: str, usual: float) -> float:
    value = values.get(key, usual)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise EmitError(f"The {key} of a stop rule is a number, not {value!r}.")
    return float(value)


def higher_is_better(made: Assembly, monitor: str) -> bool:
    """Whether a recorded value is better when it grows: the metrics that say so."""
    wanted = monitor.removeprefix("val_")
    for one, given in made.metrics.items():
        if given == wanted:
            return not getattr(made.book.types[one], "lower_is_better", False)
    return False


@dataclass(slots=True)
class _Facts:
    """Which features a plan uses; only their lines are written."""

    plan: Plan
    carries: set[Any] = field(default_factory=set)

    @property
    def minimised(self) -> list[Minimise]:
        return [one for phase in self.plan.phases for one in phase.objectives if isinstance(one, Minimise)]

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
        if any(one.accumulate > 1 for one in self.minimised):
            lines.append("    accumulate: int = 1")
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

    def take_turn(self) -> str:
        kinds = self.closures
        rules = any(isinstance(one, Rule) for phase in self.plan.phases for one in phase.objectives)
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
            lines += self._closures(closures, "" in kinds)
        if "" in kinds:
            lines += self._plain()
        return "\n".join(lines)

    def _plain(self) -> list[str]:
        several = any(one.accumulate > 1 for one in self.minimised)
        scheduled = any(one.schedule.name != "Constant" for one in self.minimised)
        lines = ["    turn //= player.every"] if any(one.every > 1 for one in self.minimised) else []
        if several:
            lines += ["    if turn % player.accumulate == 0:", "        player.optimiser.zero_grad()"]
        else:
            lines.append("    player.optimiser.zero_grad()")
        lines += [
            "    found = player.objective(model, batch)",
            '    loss = found["loss"]',
            "    if not math.isfinite(loss.item()):",
            '        raise FloatingPointError(f"{player.name} is {loss.item()} after {turn} steps.")',
        ]
        if several:
            lines += [
                "    (loss / player.accumulate).backward(inputs=player.weights)",
                "    if (turn + 1) % player.accumulate:",
                "        return found",
            ]
        else:
            lines.append("    loss.backward(inputs=player.weights)")
        if any(one.noise for one in self.minimised):
            from engine.optim.noise import add_gradient_noise

            self.carries.add(add_gradient_noise)
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
        lines.append("    return found")
        return lines

    def _closures(self, kinds: set[str], mixed: bool) -> list[str]:
        lines = ["", "    def closure() -> Tensor:"]
        if "gradient" in kinds:
            lines += [
                "        player.optimiser.zero_grad()",
                '        loss = player.objective(model, batch)["loss"]',
                "        loss.backward(inputs=player.weights)",
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
        step.append('return {"loss": torch.as_tensor(found)}')
        if mixed:
            names = sorted({one.optimiser.name for one in self.minimised if self._closed(one)})
            listed = ", ".join(quoted(found) for found in names)
            lines += ["", f"    if type(player.optimiser).__name__ in ({listed},):"]
            return [*lines, *(f"        {line}" for line in step)]
        return [*lines, "", *(f"    {line}" for line in step)]

    def _closed(self, one: Minimise) -> bool:
        return bool(make_optimiser(one.optimiser).closure)


def check_general(plan: Plan) -> None:
    """What a general plan may ask; errors: `EmitError`, `ParamError`."""
    kinds = {
        make_optimiser(one.optimiser).closure
        for phase in plan.phases
        for one in phase.objectives
        if isinstance(one, Minimise)
    } - {""}
    if len(kinds) > 1:
        raise EmitError("One plan cannot mix optimisers that ask for losses in different ways.")
    for phase in plan.phases:
        stop_tests(phase.stop.also, lambda _: True)
        for one in phase.objectives:
            if isinstance(one, Rule):
                continue
            check_objective(one)
            chosen = make_optimiser(one.optimiser)
            if chosen.closure and (one.accumulate > 1 or one.clip is not None or one.noise):
                raise EmitError(
                    f"{chosen.title} looks at the loss several times a step: gradients cannot be added up, "
                    "clipped or made noisy."
                )
            if chosen.joint and len(phase.objectives) > 1:
                raise EmitError(f"{chosen.title} trains phases of one objective in this version.")
            if one.average is not None:
                average_arguments(one.average)


def average_arguments(choice: Choice) -> str:
    """How weights are averaged, as arguments: EMA with its decay, or SWA from an epoch on."""
    values = dict(choice.params)
    if choice.name == "EMA":
        decay = _real(values, "decay", 0.999)
        if not 0 <= decay < 1:
            raise EmitError(f"The decay of an average is from 0 to below 1, not {decay:g}.")
        return f", decay={decay!r}"
    if choice.name == "SWA":
        start = _real(values, "start", 0)
        if start < 0:
            raise EmitError("Averaging begins at an epoch from 0 on.")
        return f", start={int(start)}" if start else ""
    raise EmitError(f"There is no way of averaging called {choice.name[:40]!r}.")


def _title(made: Assembly, plan: Plan, number: int, index: int) -> str:
    phase = plan.phases[number]
    objective = phase.objectives[index]
    if objective.name:
        return objective.name
    if len(phase.objectives) == 1 and phase.name:
        return phase.name
    if isinstance(objective, Rule) and objective.node in made.graph.nodes:
        return f"{made.graph.node(objective.node).name or 'node'} rule"
    return f"objective {number + 1} {index + 1}" if len(plan.phases) > 1 else f"objective {index + 1}"


def shares_of(made: Assembly, objective: Minimise, losses: Sequence[str]) -> dict[str, float]:
    """The weight of each loss node in an objective. Errors: `EmitError` for a loss that is not there."""
    if isinstance(objective.loss, str):
        chosen = dict.fromkeys(losses if objective.loss == "all" else [objective.loss], 1.0)
    else:
        chosen = {one: float(share) for one, share in objective.loss.items()}
    for one in chosen:
        if one not in losses:
            raise EmitError("An objective of the plan minimises a loss that is not in the graph.")
    if not chosen:
        raise EmitError("An objective of the plan has no loss to minimise.", fix="Connect a loss.")
    return chosen


def _moved(made: Assembly, objective: Objective, losses: Sequence[str]) -> set[str]:
    """The layers that an objective trains."""
    if isinstance(objective, Rule):
        return {objective.node}
    needed = set(needed_by(made, list(shares_of(made, objective, losses))))
    return set(trained_nodes(made, objective.of) & needed)


def _paths(made: Assembly, nodes: Sequence[str]) -> dict[str, list[str]]:
    """The model's parts by node, each part once: nodes that share weights are one part."""
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for one in nodes:
        attributes = list(made.codes[one].modules) or [made.attributes[one]]
        fresh = [f"model.{part}" for part in attributes if part not in seen]
        seen.update(attributes)
        if fresh and made.book.parameters(one):
            found[one] = fresh
    return found


def _player(
    made: Assembly,
    found: Players,
    book: NameBook,
    objective: Objective,
    function: str,
    key: str,
    losses: Sequence[str],
) -> list[str]:
    """Write the functions of an objective; returns the lines that make its player."""
    if isinstance(objective, Rule):
        node_type = made.book.types.get(objective.node)
        if not isinstance(node_type, Layer) or not node_type.learns_by_rule:
            raise EmitError("A rule of the plan belongs to a node that has none.", node_id=objective.node)
        title = made.graph.node(objective.node).name or node_type.title
        found.parts.append(rule_lines(made, function, f"The rule of {_plain(title)}.", objective.node))
        every = f", every={objective.every}" if objective.every > 1 else ""
        return [f"Player({quoted(key)}, {function}{every}),"]
    shares = shares_of(made, objective, losses)
    trained = trained_nodes(made, objective.of)
    needed = needed_by(made, list(shares))
    paths = _paths(made, [one for one in needed if one in trained])
    if not paths:
        raise EmitError("An objective of the plan has no weights to train.")
    check_objective(objective, sum(made.book.parameters(one) for one in paths))
    flat = [path for parts in paths.values() for path in parts]
    everything = set(_paths(made, list(made.codes)))
    whole = set(paths) == everything
    layers = ["model"] if whole else flat
    rated = {one: parts for one, parts in paths.items() if one in objective.rates}
    rates = {path: objective.rates[one] for one, parts in rated.items() for path in parts}
    weights = book.give(f"{function} weights")
    penalties = penalty_terms(objective.penalties, name(weights)(name("model")))
    for penalty in penalties:
        found.carries |= penalty.carries
    doc = _doc(made, objective, [one for one in paths], whole)
    found.parts.append(objective_lines(made, function, doc, shares, trained, penalties))
    found.parts.append(_weights_lines(weights, layers))
    optimiser = book.give(f"{function} optimiser")
    found.parts.append(optimiser_lines(objective, optimiser, layers, rates))
    found.carries |= carried_by(objective)
    schedule = book.give(f"{function} schedule")
    schedule_part = schedule_lines(objective, schedule)
    if schedule_part:
        found.parts.append(schedule_part)
    chosen = make_optimiser(objective.optimiser)
    options = []
    if objective.every > 1:
        options.append(f"every={objective.every}")
    if objective.accumulate > 1:
        options.append(f"accumulate={objective.accumulate}")
    if objective.clip is not None:
        options.append(f"clip={objective.clip!r}")
    if objective.noise:
        options.append(f"noise={objective.noise!r}")
    if objective.average is not None:
        from engine.optim.average import Average

        found.carries.add(Average)
        options.append(f"average=Average({weights}(model){average_arguments(objective.average)})")
    planned = make_schedule(objective.schedule)
    if planned.per_epoch:
        options.append(f"watches={quoted(str(getattr(planned, 'monitor', 'val_loss')))}")
    if chosen.closure == "residuals":
        residual = book.give(f"{function} residuals")
        found.parts.append(residual_lines(made, residual, shares, trained, residual_vector))
        options.append(f"residuals={residual}")
    variable = f"{function}_by"
    made_schedule = f"{schedule}({variable}, steps_per_epoch, epochs)" if schedule_part else "None"
    arguments = [quoted(key), function, f"{weights}(model)", variable, made_schedule, *options]
    if not schedule_part and not options:
        arguments.pop()
    return [f"{variable} = {optimiser}(model)", f"Player({', '.join(arguments)}),"]


def _doc(made: Assembly, objective: Minimise, trained: Sequence[str], whole: bool) -> str:
    names = [made.attributes[one] for one in trained]
    said = "everything" if whole else ", ".join(names[:6]) + (" ..." if len(names) > 6 else "")
    title = _plain(objective.name)
    return f"{title + ': t' if title else 'T'}rains {said}."


def _plain(title: str) -> str:
    return "".join(letter if letter.isprintable() and letter not in '"\\' else " " for letter in title)[:60]


def _weights_lines(function: str, layers: Sequence[str]) -> list[Line]:
    listed = ", ".join(f"*{layer}.parameters()" for layer in layers)
    return laid_out(
        [Line(f"def {function}(model: Model) -> list[nn.Parameter]:"), Line(f"    return [{listed}]")]
    )


def _factory(function: str, phase: Phase, calls: Sequence[Sequence[str]]) -> list[Line]:
    title = f' of "{_plain(phase.name)}"' if phase.name else ""
    body = [Line(f'"""The objectives{title}, with fresh optimisers."""')]
    body += [Line(line) for call in calls for line in call[:-1]]
    body.append(Line("return ["))
    body += [Line(f"    {call[-1]}") for call in calls]
    body.append(Line("]"))
    head = Line(f"def {function}(model: Model, steps_per_epoch: int, epochs: int) -> list[Player]:")
    return laid_out([head, *indented(body)])


def _phase_line(made: Assembly, phase: Phase, factory: str, trained: set[str]) -> Line:
    stop = phase.stop
    moved = _flat(_paths(made, sorted(trained)))
    still = [path for path in _flat(_paths(made, list(made.codes))) if path not in moved]
    words = [factory, str(stop.epochs)]
    plan = made.project.plan
    batch = plan.batch if phase.batch is None else phase.batch
    words.append(f"batch={batch}" if batch else "batch=None")
    if still:
        words.append(f"frozen=({', '.join(quoted(path) for path in still)},)")
    words.append(f"monitor={quoted(stop.monitor)}")
    if higher_is_better(made, stop.monitor):
        words.append("sign=-1")
    if stop.patience is not None:
        words.append(f"patience={stop.patience}")
    if not stop.restore_best:
        words.append("restore_best=False")
    tests = stop_tests(stop.also, lambda monitor: higher_is_better(made, monitor))
    if tests:
        words.append(f"until=({', '.join(repr(test) for test in tests)},)".replace("'", '"'))
    comment = _plain(phase.name)
    return Line(f"Phase({', '.join(words)}),", comment=comment)


def _flat(paths: Mapping[str, Sequence[str]]) -> list[str]:
    return [path.removeprefix("model.") for parts in paths.values() for path in parts]


PHASE_CLASS = '''
@dataclass
class Phase:
    """A stretch of training: its players take turns until one of its stop rules holds."""

    players: Callable[[Model, int, int], list[Player]]
    epochs: int
    batch: int | None = None  # none: all rows at once
    frozen: tuple[str, ...] = ()  # layers that nobody trains: dropout and batch statistics rest
    monitor: str = "val_loss"
    sign: int = 1  # -1: the monitored value is better when it grows
    patience: int | None = None  # epochs without a better value before the phase ends
    restore_best: bool = True
    until: tuple[tuple[str, str, float], ...] = ()  # ends as soon as one of these holds
'''

SET_MODES = '''
def set_modes(model: Model, phase: Phase) -> None:
    """Training mode, but for the layers that the phase leaves alone."""
    model.train()
    for layer in phase.frozen:
        model.get_submodule(layer).eval()
'''

OVER = '''
def over(phase: Phase, seen: dict[str, float]) -> bool:
    """Whether one of the phase's stop rules holds; "" stands for every training loss."""
    tests = {"<": operator.lt, "<=": operator.le, ">=": operator.ge, "==": operator.eq}
    for key, test, value in phase.until:
        found = [seen[name] for name in seen if name == key or (not key and name.startswith("train_"))]
        if found and all(tests[test](one, value) for one in found):
            return True
    return False
'''
