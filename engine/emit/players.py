"""Plans of several phases or players as code: what each objective computes and moves, and their turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter

from engine.catalogue import Data, Environment, Layer, Loss, Metric
from engine.catalogue.identifiers import NameBook, slug
from engine.catalogue.symbols import Expr, name
from engine.catalogue.training.adversaries import make_adversary
from engine.catalogue.training.changes import make_change
from engine.catalogue.training.checks import check_objective
from engine.catalogue.training.choosable import Choosable
from engine.catalogue.training.explorations import make_exploration
from engine.catalogue.training.optimisers import make_optimiser
from engine.catalogue.training.schedules import make_schedule
from engine.catalogue.training.stopping import stop_tests
from engine.document.plan import ChangeModel, Follow, Minimise, Phase, Plan, Rollout, Rule
from engine.emit.alternating import Features, average_arguments, moves_each_turn, weight_text
from engine.emit.inline import (
    measuring_inline,
    needed_by,
    objective_lines,
    policy_lines,
    residual_lines,
    root_of,
    rule_lines,
    trained_nodes,
)
from engine.emit.loops import phased
from engine.emit.loops.phased import can_be_phased
from engine.emit.loops.resting import with_modes
from engine.emit.measuring import RETURN, counts_of, higher_is_better, uneven
from engine.emit.model import Assembly, in_blocks
from engine.emit.optimise import optimiser_lines, penalty_terms, rate_of, residual_vector, schedule_lines
from engine.emit.phase_texts import OVER, SET_MODES, factory_lines, phase_class
from engine.emit.plain_loop import (
    OF_ALL_GROUPS,
    OF_ONE_GROUP,
    VARIABLES,
    Short,
    Stretch,
    Turn,
    is_short,
    watches,
)
from engine.emit.statements import Statement, quoted, tree, under
from engine.errors import EmitError
from engine.shapes.inside import batch_statistics, joins_rows

PARTS = ("weights", "optimiser", "schedule", "residuals", "by")
CLEAN = "clean"  # the part that an objective with an adversary has beside


@dataclass(slots=True)
class Players:
    """A general plan as code: the functions, and those of the objectives by phase."""

    facts: Features
    parts: list[list[Statement]] = field(default_factory=list)
    functions: list[list[str]] = field(default_factory=list)
    turns: list[list[Turn]] = field(default_factory=list)  # by phase
    loop: list[list[Statement]] = field(default_factory=list)  # takes steps in the form of all plans
    still: list[list[str]] = field(default_factory=list)  # layers that each phase leaves alone
    short: Short | None = None  # where a shorter loop says the same
    rates: dict[str, float] = field(default_factory=dict)  # learning rates by their fields of the settings
    played: dict[str, Expr] = field(default_factory=dict)  # what episodes earn, by key


@dataclass(frozen=True, slots=True)
class Named:
    """What an objective's value is called, its function, and those that make its player."""

    key: str
    function: str
    weights: str = ""
    optimiser: str = ""
    schedule: str = ""
    residuals: str = ""
    by: str = ""  # the variable that holds the optimiser
    rate: str = ""  # the field of the settings that holds the learning rate
    clean: str = ""  # the loss of examples as they are, where an adversary moves them


def players_of(made: Assembly, plan: Plan, distributed: bool) -> Players:
    """The code of a plan that is not plainly supervised. Errors: `EmitError`, `ParamError`.

    Several processes, where it is `distributed`, take the steps in the form of all plans.
    """
    order = made.graph.order()
    losses = [one for one in order if isinstance(made.book.types[one], Loss)]
    metrics = [one for one in order if isinstance(made.book.types[one], Metric)]
    facts = Features(
        plan,
        counted=uneven(made) or bool(made.replays),
        apart=not distributed and len(counts_of(made, losses)) > 1,
        statistics=batch_statistics(made.book),
        joins=joins_rows(made.book),
        rows=weight_text(made.counting().name, False),
        streams=len(made.streams),
    )
    found = Players(facts)
    factories, static = [], []
    for phase, (factory, named) in zip(plan.phases, _named(made, plan), strict=True):
        calls: list[list[str]] = []
        trained: set[str] = set()
        found.turns.append([])
        for objective, names in zip(phase.objectives, named, strict=True):
            if isinstance(objective, Rollout):
                calls.append(_rollout(made, found, objective, names))
            elif isinstance(objective, Follow):
                calls.append(_follow(made, found, objective, names))
            elif isinstance(objective, Rule):
                calls.append(_rule(made, found, objective, names))
                inside = (at.instance for one in objective.nodes for at in in_blocks(made, one))
                trained |= {*inside, *(one for one in objective.nodes if one in made.graph.nodes)}
            elif isinstance(objective, ChangeModel):
                calls.append(_change(made, found, objective, names))
            else:
                call, moved = _player(made, found, objective, names, losses)
                calls.append(call)
                trained |= moved
        # What holds a change comes after the steps of the others.
        held = [isinstance(one, ChangeModel) for one in phase.objectives]
        calls = [call for _, call in sorted(zip(held, calls, strict=True), key=itemgetter(0))]
        found.turns[-1].sort(key=lambda one: isinstance(one.objective, ChangeModel))
        pairs = zip(phase.objectives, named, strict=True)
        found.functions.append(
            [one.function for step, one in pairs if one.function and not isinstance(step, Rollout)]
        )
        factories.append(factory_lines(factory, _plain(phase.name), calls, facts.scheduled))
        found.still.append(_still(made, trained))
        static.append(_phase_line(made, phase, factory, found.still[-1]))
    rules = [one for one in plan.objectives if isinstance(one, Rule)]
    ruled = [one for rule in rules for one in rule.nodes if one in made.graph.nodes]
    measure = measuring_inline(made, losses, metrics, ruled, found.played)
    if measure:
        found.parts.append(measure)
        found.facts = replace(facts, measures=True, validated="validation" in made.splits)
    weight = weight_text(made.counting().name, facts.counted)
    found.loop = [*found.loop, facts.player_class(), *facts.turn_lines(weight), *factories]
    found.loop += [
        phase_class(facts.scheduled, facts.stops),
        [under("PHASES = (", static), Statement(")")],
        tree(SET_MODES),
    ]
    if facts.stops:
        found.loop.append(tree(OVER))
    several = made.losses.values() if len(losses) > 1 else ()  # a single loss is measured as "loss"
    scores = [*several, *made.metrics.values(), *(["loss"] if losses else []), *found.played]
    higher = partial(higher_is_better, made)
    if not distributed and is_short(plan, scores, lambda one: can_be_phased(one, higher)):
        found.short = _short(made, found, weight, bool(measure))
    return found


def _short(made: Assembly, found: Players, weight: str, measures: bool) -> Short:
    """The short loop of a plan."""
    plan = made.project.plan
    still = [with_modes(made, paths) for paths in found.still]
    monitors = [phase.stop.monitor for phase in plan.phases if watches(phase)]
    stretches = map(Stretch, plan.phases, found.turns, still)
    return Short(
        plan,
        found.turns[0],
        made.counting().name,
        weight,
        found.facts.joins,
        measures and found.facts.validated,
        any(higher_is_better(made, one) for one in monitors),
        still[0],
        len(made.streams),
        stretches=list(stretches) if len(plan.phases) > 1 else [],
    )


def _named(made: Assembly, plan: Plan) -> list[tuple[str, list[Named]]]:
    """The names of each phase's function and of its objectives' parts; no variable takes them afterwards."""
    book = made.names
    keys = NameBook(("step", "epoch", "phase"))
    several = sum(len(phase.objectives) for phase in plan.phases) > 1
    minimised = [one for one in plan.objectives if isinstance(one, Minimise)]
    alike = len({rate_of(one) for one in minimised}) == 1
    found: list[tuple[str, list[Named]]] = []
    for number, phase in enumerate(plan.phases):
        named: list[Named] = []
        for index, objective in enumerate(phase.objectives):
            title = _title(made, plan, number, index) if several else "objective"
            key = keys.give(title) if several else "loss"
            if isinstance(objective, Rollout):
                function = book.give("action scores")
            elif isinstance(objective, ChangeModel | Follow):
                function = ""
            else:
                named_as = f"{title} objective" if slug(title) in (*VARIABLES, *phased.VARIABLES) else title
                function = book.give(named_as) if several else title
            parts = PARTS if isinstance(objective, Minimise) else ()
            if isinstance(objective, Minimise) and objective.adversary is not None:
                parts = (*parts, CLEAN)
            given = {part: book.give(f"{function} {part}") for part in parts}
            if isinstance(objective, Minimise):
                given["rate"] = rate_of(objective, "" if alike else function)[0]
            named.append(Named(key, function, **given))
        found.append((book.give(f"phase {number + 1}" if len(plan.phases) > 1 else "make players"), named))
    return found


def _title(made: Assembly, plan: Plan, number: int, index: int) -> str:
    phase = plan.phases[number]
    objective = phase.objectives[index]
    if objective.name:
        return objective.name
    if len(phase.objectives) == 1 and phase.name:
        return phase.name
    if isinstance(objective, ChangeModel):
        return make_change(objective.change).title
    if isinstance(objective, Rollout):
        return RETURN.replace("_", " ")
    if isinstance(objective, Follow) and objective.node in made.graph.nodes:
        return f"{made.graph.node(objective.node).name or 'weights'} apart"
    if isinstance(objective, Rule) and (node := made.project.find(objective.node)) is not None:
        return f"{node.name or 'node'} rule"
    return f"objective {number + 1} {index + 1}" if len(plan.phases) > 1 else f"objective {index + 1}"


def loss_weights_of(made: Assembly, objective: Minimise, losses: Sequence[str]) -> dict[str, float]:
    """The weight of each loss node in an objective. Errors: `EmitError` for a loss that is not there."""
    if isinstance(objective.loss, str):
        chosen = dict.fromkeys(losses if objective.loss == "all" else [objective.loss], 1.0)
    else:
        chosen = {one: float(weight) for one, weight in objective.loss.items()}
    for one in chosen:
        if one not in losses:
            raise EmitError("An objective of the plan minimises a loss that is not in the graph.")
    if not chosen:
        raise EmitError("An objective of the plan has no loss to minimise.", fix="Connect a loss.")
    return chosen


def _paths(made: Assembly, nodes: Sequence[str]) -> dict[str, list[str]]:
    """The model's parts by node, each part once: nodes that share weights are one part."""
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for one in nodes:
        attributes = list(made.codes[one].modules) or [made.attributes[one]]
        fresh = [f"model.{part}" for part in attributes if part not in seen]
        seen.update(attributes)
        if fresh and made.book.parameters(root_of(made, one)):
            found[one] = fresh
    return found


def _rule(made: Assembly, found: Players, rule: Rule, names: Named) -> list[str]:
    """Write the function of a rule; returns the line that makes its player."""
    *titles, last = (_plain(_called(made, one)) for one in rule.nodes)
    whose = f"{', '.join(titles)} and {last}" if titles else last
    found.parts.append(rule_lines(made, names.function, f"The rule of {whose}.", rule.nodes))
    found.turns[-1].append(Turn(rule, names.key, names.function))
    every = f", every={rule.every}" if rule.every > 1 else ""
    return [f"Player({quoted(names.key)}, {names.function}{every}),"]


def _called(made: Assembly, node_id: str) -> str:
    kind, node = made.book.types.get(node_id), made.project.find(node_id)
    return (node.name if node is not None else "") or (kind.title if kind is not None else "a node")


def _change(made: Assembly, found: Players, change: ChangeModel, names: Named) -> list[str]:
    """The line that makes a change of the model, and what holds it."""
    chosen = make_change(change.change)
    weighed = _paths(made, [one for one in made.codes if one in trained_nodes(made, change.of)])
    if not weighed:
        raise EmitError("A change of the plan has no weights to change.")
    layers = ", ".join(path for parts in weighed.values() for path in parts)
    made_by = f"{chosen.makes.rpartition('.')[2]}([{layers}], {_values(chosen)})"
    found.turns[-1].append(Turn(change, names.key, made=made_by))
    return [f"Player({quoted(names.key)}, {made_by}),"]


def _follow(made: Assembly, found: Players, step: Follow, names: Named) -> list[str]:
    """The line that makes what lets weights follow others. Errors: `EmitError` where they are not alike."""
    paths = [_paths(made, [one]).get(one, []) for one in (step.node, step.leader) if one in made.codes]
    sizes = {made.book.parameters(one) for one in (step.node, step.leader) if one in made.codes}
    if len(paths) < 2 or not all(paths) or paths[0] == paths[1] or len(sizes) > 1:
        raise EmitError(
            "A step of the plan lets weights follow those of another node, but the two have no weights of "
            "their own that are alike.",
            node_id=step.node if step.node in made.graph.nodes else None,
            fix="Choose two layers or blocks of the same sizes that share no weights.",
        )
    rate = f", rate={step.rate!r}" if step.rate != 1 else ""
    every = f", every={step.every}" if step.every > 1 else ""
    follows = f"Follow({paths[0][0]}, {paths[1][0]}{rate})"
    found.turns[-1].append(Turn(step, names.key, made=follows))
    return [f"Player({quoted(names.key)}, {follows}{every}),"]


def _rollout(made: Assembly, found: Players, step: Rollout, names: Named) -> list[str]:
    """Write the function of a policy; returns the line that makes what acts by it."""
    environment, policy = made.book.types[step.node], made.book.types.get(step.policy)
    assert isinstance(environment, Environment)
    actions, title = len(environment.actions()), made.graph.node(step.node).name or environment.title
    wire = (step.policy, policy.outputs()[0].name) if isinstance(policy, Layer) else None
    scores = made.book.signature(*wire) if wire else None
    if policy is None or wire is None or scores is None or tuple(scores.shape) != (actions,):
        raise EmitError(
            f"A rollout of the plan acts by a node that does not score the {actions} actions of {title}.",
            node_id=step.policy if step.policy in made.graph.nodes else step.node,
            fix=f"Choose a layer of {actions} units as its policy.",
        )
    by = _plain(made.graph.node(step.policy).name or policy.title)
    doc = f"The scores of actions by which agents act: those of {by}."
    state = (step.node, environment.outputs()[0].name)
    found.parts.append(policy_lines(made, names.function, doc, wire, state))
    replay, chosen = made.attributes[step.node], make_exploration(step.exploration)
    episodes = name("len")(name("batch")[made.columns()[0].name])
    scored = getattr(name("model"), replay).mean_return(name(names.function), name("model"), episodes)
    found.played.setdefault(RETURN, scored)
    explore = f"{chosen.makes.rpartition('.')[2]}({_values(chosen)})"
    moves = f", moves={step.moves}" if step.moves > 1 else ""
    acts = f"Rollout(model.{replay}, {names.function}, {explore}{moves})"
    found.turns[-1].append(Turn(step, names.key, made=acts))
    return [f"Player({quoted(names.key)}, {acts}),"]


def _values(chosen: Choosable) -> str:
    """The values of what a plan chooses, as keyword arguments."""
    return ", ".join(f"{spec.name}={getattr(chosen, spec.name)!r}" for spec in chosen.params)


def _adversary(
    made: Assembly, objective: Minimise, names: Named, needed: Sequence[str], doc: str
) -> list[Statement]:
    """The function of an objective whose examples an adversary moves first."""
    assert objective.adversary is not None
    chosen = make_adversary(objective.adversary)
    column = _moved_column(made, needed)
    values = f"model, batch, {names.clean}, {quoted(column)}, {_values(chosen)}"
    return tree(ADVERSARY, function=names.function, doc=doc, values=values, clean=names.clean)


ADVERSARY = '''
def $function(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """$doc, on the worst examples near those of the batch."""
    batch = worst_near($values)
    return $clean(model, batch)
'''


def _moved_column(made: Assembly, needed: Sequence[str]) -> str:
    """The column of measurements that the layers of an objective read. Errors: `EmitError` without one."""
    graph, types = made.graph, made.book.types
    for one in needed:
        for link in graph.outgoing(one) if isinstance(types[one], Data) else ():
            found = made.book.signature(link.source, link.source_port)
            if link.target in needed and found is not None and found.dtype == "float32":
                return link.source_port
    raise EmitError("An adversary moves numbers that layers read; this objective reads none.")


def _player(
    made: Assembly, found: Players, objective: Minimise, names: Named, losses: Sequence[str]
) -> tuple[list[str], set[str]]:
    """Write the functions of an objective; returns the lines that make its player, and what it trains."""
    weights = loss_weights_of(made, objective, losses)
    trained = trained_nodes(made, objective.of)
    needed = needed_by(made, list(weights))
    paths = _paths(made, [one for one in needed if one in trained])
    if not paths:
        raise EmitError("An objective of the plan has no weights to train.")
    check_objective(objective, sum(made.book.parameters(one) for one in paths))
    whole = set(paths) == set(_paths(made, list(made.codes)))
    layers = ["model"] if whole else [path for parts in paths.values() for path in parts]
    rated = {one: parts for one, parts in paths.items() if one in objective.rates}
    rates = {path: objective.rates[one] for one, parts in rated.items() for path in parts}
    penalties = penalty_terms(objective.penalties, name(names.weights)(name("model")))
    doc = _doc(made, objective, [one for one in paths], whole)
    function = names.clean or names.function
    gathers = objective.accumulate > 1 and found.facts.apart
    found.parts.append(objective_lines(made, function, doc, weights, trained, penalties, gathers))
    if names.clean:
        found.parts.append(_adversary(made, objective, names, needed, doc.rstrip(".")))
    moves = "" if whole else _moved(objective, names, rates)
    read = penalties or moves.startswith(names.weights)  # by more than its player
    (found.parts if read else found.loop).append(_weights_lines(names.weights, layers))
    found.parts.append(optimiser_lines(objective, names.optimiser, layers, rates, names.rate))
    found.rates[names.rate] = rate_of(objective)[1]
    schedule_part = schedule_lines(objective, names.schedule)
    if schedule_part:
        found.parts.append(schedule_part)
    options = _options(objective, names)
    if make_optimiser(objective.optimiser).closure == "residuals":
        found.parts.append(residual_lines(made, names.residuals, weights, trained, residual_vector))
        options.append(f"residuals={names.residuals}")
    steps = _steps_per_epoch(objective)
    schedule = [f"{names.schedule}({names.by}, {steps}, epochs)"] if schedule_part else []
    arguments = [quoted(names.key), names.function, f"{names.weights}(model)", names.by, *schedule, *options]
    lines = [f"{names.by} = {names.optimiser}(model)", f"Player({', '.join(arguments)}),"]
    found.turns[-1].append(
        Turn(objective, names.key, names.function, names.optimiser, names.schedule, moves, names.residuals)
    )
    return lines, set(trained.intersection(needed))


def _moved(objective: Minimise, names: Named, rates: Mapping[str, float]) -> str:
    """The weights that an objective moves, as code: those of its optimiser, in the order of its player's."""
    decay = getattr(make_optimiser(objective.optimiser), "weight_decay", 0.0)
    if not rates and (objective.decay_biases or not decay):
        return OF_ONE_GROUP
    return OF_ALL_GROUPS if objective.clip is None else f"{names.weights}(model)"


def _steps_per_epoch(objective: Minimise) -> str:
    """How often an objective moves its weights in an epoch, which is how often its schedule is stepped."""
    if moves_each_turn(objective) or make_schedule(objective.schedule).code() is None:
        return "steps_per_epoch"
    options = [f"{key}={n}" for key in ("every", "accumulate") if (n := getattr(objective, key)) > 1]
    return f"updates_per_epoch(steps_per_epoch, epochs, {', '.join(options)})"


def _options(objective: Minimise, names: Named) -> list[str]:
    """What a player is told beside its optimiser and its schedule."""
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
        options.append(f"average=Average({names.weights}(model){average_arguments(objective.average)})")
    planned = make_schedule(objective.schedule)
    if planned.per_epoch:
        options.append(f"watches={quoted(str(getattr(planned, 'monitor', 'val_loss')))}")
    return options


def _doc(made: Assembly, objective: Minimise, trained: Sequence[str], whole: bool) -> str:
    names = [made.attributes[one] for one in trained]
    said = "everything" if whole else ", ".join(names[:6]) + (" ..." if len(names) > 6 else "")
    title = _plain(objective.name)
    return f"{title + ': t' if title else 'T'}rains {said}."


def _plain(title: str) -> str:
    return "".join(letter if letter.isprintable() and letter not in '"\\' else " " for letter in title)[:60]


def _weights_lines(function: str, layers: Sequence[str]) -> list[Statement]:
    listed = ", ".join(f"*{layer}.parameters()" for layer in layers)
    body = [Statement(f"[{listed}]", target="return")]
    return [under(f"def {function}(model: Model) -> list[nn.Parameter]:", body)]


def _still(made: Assembly, trained: set[str]) -> list[str]:
    """The layers that have weights of which none are `trained`, by their paths."""
    moved = _flat(_paths(made, sorted(trained)))
    return [path for path in _flat(_paths(made, list(made.codes))) if path not in moved]


def _phase_line(made: Assembly, phase: Phase, factory: str, still: Sequence[str]) -> Statement:
    stop = phase.stop
    words = [factory, str(stop.epochs)]
    words.append(f"batch={made.project.plan.batch_of(phase) or None}")
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
        until = [f"({quoted(key)}, {quoted(test)}, {value!r})" for key, test, value in tests]
        words.append(f"until=({', '.join(until)},)")
    comment = _plain(phase.name)
    return Statement(f"Phase({', '.join(words)}),", comment=comment)


def _flat(paths: Mapping[str, Sequence[str]]) -> list[str]:
    return [path.removeprefix("model.") for parts in paths.values() for path in parts]
