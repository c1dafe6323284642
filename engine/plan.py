"""How a graph is trained: phases, each with objectives and a stop rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.errors import GraphError, ProjectFileError
from engine.fields import Fields
from engine.values import Value, frozen_mapping

LARGEST_SEED = 2**63 - 1  # what torch's generators take


def _at_least(low: int, name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise GraphError(f"The {name} is a whole number, not {value!r}.")
    if value < low:
        raise GraphError(f"The {name} is at least {low}, not {value}.")


@dataclass(frozen=True, slots=True)
class Choice:
    """A thing chosen by name from a list (an optimiser, a schedule) with the values the user set."""

    name: str
    params: Mapping[str, Value] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise GraphError("A choice has a name.")
        object.__setattr__(self, "params", frozen_mapping(self.params))

    def with_param(self, name: str, value: Value) -> Choice:
        """Return the same choice with one value set."""
        return replace(self, params={**self.params, name: value})

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "params": dict(self.params), **self.extra}

    @classmethod
    def from_json(cls, data: object, where: str) -> Choice:
        fields = Fields(data, where)
        name, params = fields.text("name"), fields.mapping("params", {})
        return cls(name, params, fields.rest())


@dataclass(frozen=True, slots=True)
class Minimise:
    """Lower a loss by gradient steps; loss "all" is the sum of every loss node."""

    loss: str = "all"
    optimiser: Choice = Choice("Adam")
    schedule: Choice = Choice("Constant")
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "minimise": self.loss,
            "optimiser": self.optimiser.to_json(),
            "schedule": self.schedule.to_json(),
            **self.extra,
        }

    @classmethod
    def from_json(cls, data: object, where: str) -> Minimise:
        fields = Fields(data, where)
        loss = fields.text("minimise")
        optimiser = Choice.from_json(fields.raw("optimiser"), f"{where}, optimiser,")
        schedule = Choice.from_json(fields.raw("schedule", {"name": "Constant"}), f"{where}, schedule,")
        return cls(loss, optimiser, schedule, fields.rest())


@dataclass(frozen=True, slots=True)
class Stop:
    """When a phase ends: after `epochs`, or when `monitor` hasn't improved for `patience` epochs."""

    epochs: int = 10
    patience: int | None = None
    monitor: str = "val_loss"
    restore_best: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _at_least(1, "number of epochs", self.epochs)
        if self.patience is not None:
            _at_least(1, "patience", self.patience)

    def to_json(self) -> dict[str, Any]:
        return {
            "epochs": self.epochs,
            "patience": self.patience,
            "monitor": self.monitor,
            "restore_best": self.restore_best,
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
            extra=fields.rest(),
        )


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of training: its objectives are stepped in turn until the stop rule holds."""

    objectives: tuple[Minimise, ...] = (Minimise(),)
    stop: Stop = Stop()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.objectives:
            raise GraphError("A phase has at least one objective.")

    def to_json(self) -> dict[str, Any]:
        objectives = [objective.to_json() for objective in self.objectives]
        return {"objectives": objectives, "stop": self.stop.to_json(), **self.extra}

    @classmethod
    def from_json(cls, data: object, where: str) -> Phase:
        fields = Fields(data, where)
        items = fields.items("objectives")
        objectives = tuple(
            Minimise.from_json(item, f"{where}, objective {i},") for i, item in enumerate(items, start=1)
        )
        stop = Stop.from_json(fields.raw("stop", {}), f"{where}, stop,")
        return cls(objectives, stop, fields.rest())


@dataclass(frozen=True, slots=True)
class Plan:
    """The phases in order, with the batch size and the seed; the default trains one supervised net.

    `with_` and the properties read and change the first objective of the first phase, which is all
    there is in a supervised plan.
    """

    phases: tuple[Phase, ...] = (Phase(),)
    batch: int = 64
    seed: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.phases:
            raise GraphError("A plan has at least one phase.")
        _at_least(1, "batch size", self.batch)
        _at_least(0, "seed", self.seed)
        if self.seed > LARGEST_SEED:
            raise GraphError(f"The seed is at most {LARGEST_SEED}.")

    @property
    def objective(self) -> Minimise:
        return self.phases[0].objectives[0]

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
        objective = replace(objective, **parts["objective"])
        stop = replace(phase.stop, **parts["stop"])
        phase = replace(phase, objectives=(objective, *phase.objectives[1:]), stop=stop)
        return replace(self, phases=(phase, *self.phases[1:]), **parts["plan"])

    def to_json(self) -> dict[str, Any]:
        phases = [phase.to_json() for phase in self.phases]
        return {"batch": self.batch, "seed": self.seed, "phases": phases, **self.extra}

    @classmethod
    def from_json(cls, data: object) -> Plan:
        """Read a plan; unknown fields are kept. Raises ProjectFileError."""
        fields = Fields(data, "the plan")
        batch, seed = fields.whole("batch", 64), fields.whole("seed", 0)
        try:
            items = fields.items("phases")
            phases = tuple(Phase.from_json(item, f"phase {i} of the plan") for i, item in enumerate(items, 1))
            return cls(phases, batch, seed, fields.rest())
        except GraphError as error:
            raise ProjectFileError(f"the plan: {error.message}") from error


_HOME = {
    **dict.fromkeys(("loss", "optimiser", "schedule"), "objective"),
    **dict.fromkeys(("epochs", "patience", "monitor", "restore_best"), "stop"),
}
