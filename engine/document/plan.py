"""How a graph is trained: phases, each with objectives and a stop rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.document.fields import Fields
from engine.document.steps import (
    KINDS,
    LARGEST_COUNT,
    Chain,
    ChangeModel,
    Choice,
    Fit,
    Follow,
    Minimise,
    Objective,
    Rollout,
    Rule,
    at_least,
    choices_of,
    objective_of,
)
from engine.errors import GraphError, ProjectFileError
from engine.values import shown

__all__ = [
    "AS_CONNECTED",
    "KINDS",
    "LARGEST_COUNT",
    "LARGEST_SEED",
    "PAIRED",
    "PAIRINGS",
    "UNPAIRED",
    "WHOLE",
    "Chain",
    "ChangeModel",
    "Choice",
    "Fit",
    "Follow",
    "Minimise",
    "Objective",
    "Phase",
    "Plan",
    "Rollout",
    "Rule",
    "Stop",
]
LARGEST_SEED = 2**63 - 1  # what torch's generators take
WHOLE = 0  # as a batch size: the whole training split
AS_CONNECTED, PAIRED, UNPAIRED = "as connected", "paired", "unpaired"  # rows of several data nodes
PAIRINGS = (AS_CONNECTED, PAIRED, UNPAIRED)


@dataclass(frozen=True, slots=True)
class Stop:
    """When a phase ends: after `epochs`, or when `monitor` hasn't improved for `patience` epochs.

    `also` are rules that end it earlier: GradientNorm (below), Seconds (seconds), Reaches (monitor, value),
    FixedPoint (tolerance), CleanPass.
    """

    epochs: int = 10
    patience: int | None = None
    monitor: str = "val_loss"
    restore_best: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)
    also: tuple[Choice, ...] = ()

    def __post_init__(self) -> None:
        at_least(1, "number of epochs", self.epochs)
        if self.patience is not None:
            at_least(1, "patience", self.patience)

    def to_json(self) -> dict[str, Any]:
        return {
            "epochs": self.epochs,
            "patience": self.patience,
            "monitor": self.monitor,
            "restore_best": self.restore_best,
            **({"also": [one.to_json() for one in self.also]} if self.also else {}),
            **self.extra,
        }

    @classmethod
    def from_json(cls, data: object, where: str) -> Stop:
        fields = Fields(data, where)
        return cls(
            epochs=fields.whole("epochs", 10),
            patience=fields.whole_or_none("patience", None),
            monitor=fields.text("monitor", "val_loss"),
            restore_best=fields.flag("restore_best", True),
            also=choices_of(fields, "also", where),
            extra=fields.rest(),
        )


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of training: its objectives are stepped in turn until the stop rule holds.

    `batch` is the phase's own batch size, `WHOLE` for all rows at once; None is the plan's.
    """

    objectives: tuple[Objective, ...] = (Minimise(),)
    stop: Stop = Stop()
    extra: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    batch: int | None = None

    def __post_init__(self) -> None:
        if not self.objectives:
            raise GraphError("A phase has at least one objective.")
        if self.batch is not None:
            at_least(WHOLE, "batch size", self.batch)

    def to_json(self) -> dict[str, Any]:
        objectives = [objective.to_json() for objective in self.objectives]
        found: dict[str, Any] = {"objectives": objectives, "stop": self.stop.to_json()}
        if self.name:
            found["name"] = self.name
        if self.batch is not None:
            found["batch"] = self.batch
        return {**found, **self.extra}

    @classmethod
    def from_json(cls, data: object, where: str) -> Phase:
        fields = Fields(data, where)
        items = fields.items("objectives")
        objectives = tuple(
            objective_of(item, f"{where}, objective {i},") for i, item in enumerate(items, start=1)
        )
        stop = Stop.from_json(fields.raw("stop", {}), f"{where}, stop,")
        name, batch = fields.text("name", ""), fields.whole_or_none("batch", None)
        return cls(objectives, stop, fields.rest(), name, batch)


@dataclass(frozen=True, slots=True)
class Plan:
    """The phases in order, with the batch size and the seed; the default trains one supervised net.

    `fast` asks for whatever makes this machine train fastest, at the price of equality to the bit. `pairing`
    says whether rows of several data nodes belong together: as they are connected, always, or never.
    `with_` and the properties read and change the first gradient objective of the first phase, which is all
    there is in a supervised plan.
    """

    phases: tuple[Phase, ...] = (Phase(),)
    batch: int = 64
    seed: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)
    fast: bool = False
    pairing: str = AS_CONNECTED

    def __post_init__(self) -> None:
        if not self.phases:
            raise GraphError("A plan has at least one phase.")
        if self.pairing not in PAIRINGS:
            listed = ", ".join(PAIRINGS)
            raise GraphError(f"The pairing of rows is one of {listed}, not {shown(self.pairing)}.")
        at_least(WHOLE, "batch size", self.batch)
        at_least(0, "seed", self.seed, LARGEST_SEED)

    @property
    def supervised(self) -> bool:
        """Whether it trains one net by one loss, with no more than an optimiser, a schedule and patience."""
        phase = self.phases[0]
        first = phase.objectives[0]
        return (
            len(self.phases) == len(phase.objectives) == 1
            and isinstance(first, Minimise)
            and first.plain
            and not phase.stop.also
            and phase.batch is None
        )

    @property
    def objectives(self) -> list[Objective]:
        """Those of all phases, in order."""
        return [one for phase in self.phases for one in phase.objectives]

    @property
    def minimised(self) -> list[Minimise]:
        """What is trained by gradient steps, in all phases."""
        return [one for one in self.objectives if isinstance(one, Minimise)]

    def batch_of(self, phase: Phase) -> int:
        """The batch size of a phase, its own or the plan's; `WHOLE` where an estimator is fitted."""
        if any(isinstance(one, Fit) for one in phase.objectives):
            return WHOLE
        return self.batch if phase.batch is None else phase.batch

    @property
    def objective(self) -> Minimise:
        """The first gradient objective of the first phase; a default one where that has only rules."""
        found = (one for one in self.phases[0].objectives if isinstance(one, Minimise))
        return next(found, Minimise())

    @property
    def optimiser(self) -> Choice:
        return self.objective.optimiser

    @property
    def schedule(self) -> Choice:
        return self.objective.schedule

    @property
    def stop(self) -> Stop:
        return self.phases[0].stop

    @property
    def epochs(self) -> int:
        return self.stop.epochs

    @property
    def patience(self) -> int | None:
        return self.stop.patience

    def with_(self, **changes: Any) -> Plan:
        """Return the plan with fields changed wherever they live: optimiser, epochs, batch, loss ...

        Raises GraphError for a value out of range, TypeError for a field that no part has.
        """
        objective, phase = self.objective, self.phases[0]
        parts: dict[str, dict[str, Any]] = {"objective": {}, "stop": {}, "plan": {}}
        for name, value in changes.items():
            parts[_HOME.get(name, "plan")][name] = value
        changed = replace(objective, **parts["objective"])
        stop = replace(phase.stop, **parts["stop"])
        objectives = tuple(changed if one is objective else one for one in phase.objectives)
        phase = replace(phase, objectives=objectives, stop=stop)
        return replace(self, phases=(phase, *self.phases[1:]), **parts["plan"])

    def to_json(self) -> dict[str, Any]:
        phases = [phase.to_json() for phase in self.phases]
        fast = {"fast": True} if self.fast else {}
        pairing = {"pairing": self.pairing} if self.pairing != AS_CONNECTED else {}
        return {"batch": self.batch, "seed": self.seed, **fast, **pairing, "phases": phases, **self.extra}

    @classmethod
    def from_json(cls, data: object) -> Plan:
        """Read a plan; unknown fields are kept. Raises ProjectFileError."""
        fields = Fields(data, "the plan")
        batch, seed, fast = fields.whole("batch", 64), fields.whole("seed", 0), fields.flag("fast", False)
        pairing = fields.text("pairing", AS_CONNECTED)
        try:
            items = fields.items("phases")
            phases = tuple(Phase.from_json(item, f"phase {i} of the plan") for i, item in enumerate(items, 1))
            return cls(phases, batch, seed, fields.rest(), fast, pairing)
        except GraphError as error:
            raise ProjectFileError(f"the plan: {error.message}") from error


_HOME = {
    **dict.fromkeys(("loss", "optimiser", "schedule"), "objective"),
    **dict.fromkeys(("epochs", "patience", "monitor", "restore_best"), "stop"),
}
