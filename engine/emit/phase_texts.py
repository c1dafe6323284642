"""The parts of a script that are the same for all plans of phases, and a plain plan in their form."""

from __future__ import annotations

from collections.abc import Sequence

from engine.document.plan import Plan
from engine.emit.alternating import Features
from engine.emit.statements import Statement, tree, under


def of_one_objective(plan: Plan, factory: str, measures: bool) -> list[list[Statement]]:
    """How a plan of one plain objective is stepped, in the form that all plans have.

    It stands behind a script whose own `train` says the same in a shorter way: what the application needs to
    rest between two batches.
    """
    facts = Features(plan, whole=True)
    stop = plan.stop
    words = [factory, "CONFIG.epochs", "batch=CONFIG.batch" if plan.batch else "batch=None"]
    words += [f"patience={stop.patience}"] if stop.patience is not None else []
    words += [] if stop.restore_best else ["restore_best=False"]
    scheduled = plan.schedule.name != "Constant"
    return [
        tree(IMPORTS),
        facts.player_class(whole=True),
        *facts.turn_lines(""),
        tree(MAKE_PLAYERS, factory=factory, scheduled=scheduled),
        phase_class(scheduled=True, stops=True),
        tree("PHASES = (Phase($words),)", words=", ".join(words)),
        tree(SET_MODES),
        tree(BATCHES_OF, size=""),
        *([] if measures else [tree("measure = objective")]),
    ]


def phase_class(scheduled: bool, stops: bool) -> list[Statement]:
    """The class of a phase, of a plan whose objectives may be `scheduled` and that may have rules to stop."""
    return tree(PHASE_CLASS, told="Model, int, int" if scheduled else "Model", stops=stops)


def factory_lines(
    function: str, title: str, calls: Sequence[Sequence[str]], scheduled: bool
) -> list[Statement]:
    """The function that makes the players of a phase; `calls` are the lines for each, the last in a list."""
    of = f' of "{title}"' if title else ""
    body = [
        Statement(f'"""The objectives{of}, with fresh optimisers."""'),
        *(Statement(line) for call in calls for line in call[:-1]),
        under("return [", [Statement(call[-1]) for call in calls]),
        Statement("]"),
    ]
    takes = "model: Model" + (", steps_per_epoch: int, epochs: int" if scheduled else "")
    return [under(f"def {function}({takes}) -> list[Player]:", body)]


def asked_for(facts: Features) -> list[list[Statement]]:
    """What the application asks of players and phases beside what their plan uses."""
    scheduled, minimises = facts.scheduled, bool(facts.minimised)
    found = tree(ASKED_FOR, minimises=minimises, scheduled=scheduled, stops=facts.stops)
    return [found] if found else []


IMPORTS = """
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
"""

MAKE_PLAYERS = """
def $factory(model: Model, steps_per_epoch: int, epochs: int) -> list[Player]:
    optimiser = optimiser_for(model)
    schedule = schedule_for(optimiser, steps_per_epoch, epochs)  #? scheduled
    return [Player("loss", objective, [*model.parameters()], optimiser, schedule)]  #? scheduled
    return [Player("loss", objective, [*model.parameters()], optimiser)]  #? not scheduled
"""

ASKED_FOR = """
Player.optimiser, Player.weights = None, ()  #? not minimises
Player.schedule = None  #? not scheduled
Phase.until = ()  #? not stops
def told(make: Any) -> Any:  #? not scheduled
    return lambda model, steps_per_epoch, epochs: make(model)
for phase in PHASES:  #? not scheduled
    phase.players = told(phase.players)
"""

BATCHES_OF = """
def batches_of(phase: Phase, split: Any, shuffle: Any = None) -> Any:
    return batches(split, shuffle$size)
"""

PHASE_CLASS = '''
@dataclass
class Phase:
    """A stretch of training: its players take turns until one of its stop rules holds."""

    players: Callable[[$told], list[Player]]
    epochs: int
    batch: int | None = None  # none: all rows at once
    frozen: tuple[str, ...] = ()  # layers that are not trained: dropout and batch statistics rest
    monitor: str = "val_loss"
    sign: int = 1  # -1: the monitored value is better when it grows
    patience: int | None = None  # epochs without a better value before the phase ends
    restore_best: bool = True
    until: tuple[tuple[str, str, float], ...] = ()  # ends as soon as one of these holds  #? stops
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
