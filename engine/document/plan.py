"""How a graph is trained: phases, each with objectives and a stop rule."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar

from engine.document.fields import Fields, kind_of
from engine.errors import GraphError, ProjectFileError
from engine.values import Value, frozen_mapping, is_number, shown

LARGEST_SEED = 2**63 - 1  # what torch's generators take
LARGEST_COUNT = 2**31 - 1  # of epochs, of batches, of examples in one
WHOLE = 0  # as a batch size: the whole training split


def _at_least(low: int, name: str, value: int, most: int = LARGEST_COUNT) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise GraphError(f"The {name} is a whole number, not {shown(value)}.")
    if value < low:
        raise GraphError(f"The {name} is at least {low}, not {shown(value)}.")
    if value > most:
        raise GraphError(f"The {name} is at most {most}, not {shown(value)}.")


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


def _number(low: float, name: str, value: object, *, above: bool = False) -> None:
    if not is_number(value):
        raise GraphError(f"The {name} is a number of ordinary size, not {shown(value)}.")
    if value < low or (above and value == low):
        raise GraphError(f"The {name} is {'above' if above else 'at least'} {low:g}, not {shown(value)}.")


@dataclass(frozen=True, slots=True)
class Minimise:
    """Lower a loss by gradient steps.

    `loss` is "all" (the weighted sum of every loss node), a loss node's id, or weights by loss node; `of` are
    the nodes that are trained, every layer where it is empty. `every` steps it once in so many batches,
    `accumulate` adds up the gradients of so many batches, `clip` bounds the gradient's norm, `noise` is the
    eta of gradient noise, `rates` are factors on the learning rate by node, `average` keeps averaged weights
    (EMA or SWA), an `adversary` moves each batch's inputs to where the loss is larger, and without
    `decay_biases` weight decay leaves biases and norms alone.
    """

    loss: str | Mapping[str, float] = "all"
    optimiser: Choice = Choice("Adam")
    schedule: Choice = Choice("Constant")
    extra: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    of: tuple[str, ...] = ()
    every: int = 1
    clip: float | None = None
    accumulate: int = 1
    noise: float = 0.0
    decay_biases: bool = True
    rates: Mapping[str, float] = field(default_factory=dict)
    penalties: tuple[Choice, ...] = ()
    average: Choice | None = None
    adversary: Choice | None = None
    key: ClassVar[str] = "minimise"  # in files

    def __post_init__(self) -> None:
        if not isinstance(self.loss, str):
            if not self.loss:
                raise GraphError("An objective has a loss.")
            for node_id, weight in self.loss.items():
                _number(-math.inf, f"weight of {node_id}", weight)
            object.__setattr__(self, "loss", MappingProxyType(dict(self.loss)))
        _at_least(1, "number of batches between two steps", self.every)
        _at_least(1, "number of batches whose gradients are added", self.accumulate)
        if self.clip is not None:
            _number(0, "largest gradient norm", self.clip, above=True)
        _number(0, "gradient noise", self.noise)
        for node_id, factor in self.rates.items():
            _number(-math.inf, f"factor of {node_id}", factor)
        object.__setattr__(self, "rates", MappingProxyType(dict(self.rates)))
        object.__setattr__(self, "of", tuple(self.of))

    @property
    def plain(self) -> bool:
        """Whether it asks for no more than an optimiser and a schedule."""
        return self == Minimise("all", self.optimiser, self.schedule, self.extra, self.name)

    def to_json(self) -> dict[str, Any]:
        loss = self.loss if isinstance(self.loss, str) else dict(self.loss)
        found: dict[str, Any] = {
            self.key: loss,
            "optimiser": self.optimiser.to_json(),
            "schedule": self.schedule.to_json(),
        }
        usual = Minimise()
        for key in ("name", "every", "clip", "accumulate", "noise", "decay_biases"):
            if getattr(self, key) != getattr(usual, key):
                found[key] = getattr(self, key)
        if self.of:
            found["of"] = list(self.of)
        if self.rates:
            found["rates"] = dict(self.rates)
        if self.penalties:
            found["penalties"] = [penalty.to_json() for penalty in self.penalties]
        for key in ("average", "adversary"):
            if (choice := getattr(self, key)) is not None:
                found[key] = choice.to_json()
        return {**found, **self.extra}

    @classmethod
    def from_json(cls, data: object, where: str) -> Minimise:
        fields = Fields(data, where)
        loss = fields.raw(cls.key)
        if not isinstance(loss, (str, dict)):
            raise ProjectFileError(f'{where}: "{cls.key}" should be text or an object, not {kind_of(loss)}.')
        one = {key: fields.raw(key, None) for key in ("average", "adversary")}
        return cls(
            loss=loss,
            optimiser=Choice.from_json(fields.raw("optimiser"), f"{where}, optimiser,"),
            schedule=Choice.from_json(fields.raw("schedule", {"name": "Constant"}), f"{where}, schedule,"),
            name=fields.text("name", ""),
            of=_ids(fields, "of"),
            every=fields.whole("every", 1),
            clip=fields.raw("clip", None),
            accumulate=fields.whole("accumulate", 1),
            noise=fields.raw("noise", 0.0),
            decay_biases=fields.flag("decay_biases", True),
            rates=fields.mapping("rates", {}),
            penalties=_choices(fields, "penalties", where),
            **{
                key: None if found is None else Choice.from_json(found, f"{where}, {key},")
                for key, found in one.items()
            },
            extra=fields.rest(),
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """Let a node change its own weights by its own rule (perceptron, Hebbian, contrastive divergence ...).

    `also` are further nodes that learn in the same step: all of them from what reached them before the first
    has moved. A node inside a block learns wherever the block stands.
    """

    node: str
    name: str = ""
    every: int = 1
    extra: Mapping[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    key: ClassVar[str] = "rule"  # in files

    def __post_init__(self) -> None:
        _at_least(1, "number of batches between two steps", self.every)
        object.__setattr__(self, "also", tuple(one for one in dict.fromkeys(self.also) if one != self.node))

    @property
    def nodes(self) -> tuple[str, ...]:
        """All that learn by it."""
        return (self.node, *self.also)

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {self.key: list(self.nodes) if self.also else self.node}
        if self.name:
            found["name"] = self.name
        if self.every != 1:
            found["every"] = self.every
        return {**found, **self.extra}

    @classmethod
    def from_json(cls, data: object, where: str) -> Rule:
        fields = Fields(data, where)
        named = fields.raw(cls.key)
        nodes = named if isinstance(named, list) else [named]
        if not nodes or not all(isinstance(one, str) for one in nodes):
            raise ProjectFileError(f'{where}: "{cls.key}" should be the id of a node, or a list of them.')
        name, every = fields.text("name", ""), fields.whole("every", 1)
        return cls(nodes[0], name, every, fields.rest(), tuple(nodes[1:]))


@dataclass(frozen=True, slots=True)
class Fit(Rule):
    """Fit an estimator to the whole training split: its phase has all rows in one batch."""

    key: ClassVar[str] = "fit"


@dataclass(frozen=True, slots=True)
class Chain(Minimise):
    """Draw weights as probable as the loss makes them, by a Markov chain: `optimiser` is the sampler.

    The chain keeps its samples, from which a prediction has a spread.
    """

    optimiser: Choice = Choice("HMC")
    key: ClassVar[str] = "chain"


@dataclass(frozen=True, slots=True)
class ChangeModel:
    """Change the model when its phase begins, such as cutting small weights; `of` as for `Minimise`."""

    change: Choice = Choice("Prune")
    name: str = ""
    of: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    every: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", tuple(self.of))

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"change": self.change.to_json()}
        if self.name:
            found["name"] = self.name
        if self.of:
            found["of"] = list(self.of)
        return {**found, **self.extra}

    @classmethod
    def from_json(cls, data: object, where: str) -> ChangeModel:
        fields = Fields(data, where)
        change = Choice.from_json(fields.raw("change"), f"{where}, change,")
        return cls(change, fields.text("name", ""), _ids(fields, "of"), fields.rest())


Objective = Minimise | Rule | ChangeModel
KINDS: Mapping[str, type[Objective]] = {"rule": Rule, "fit": Fit, "chain": Chain, "change": ChangeModel}


def _objective(data: object, where: str) -> Objective:
    keys = data if isinstance(data, dict) else {}
    kind = next((kind for key, kind in KINDS.items() if key in keys), Minimise)
    return kind.from_json(data, where)


def _ids(fields: Fields, name: str) -> tuple[str, ...]:
    found = fields.items(name, [])
    if not all(isinstance(one, str) for one in found):
        raise ProjectFileError(f'{fields.where}: "{name}" should be a list of node ids.')
    return tuple(found)


def _choices(fields: Fields, name: str, where: str) -> tuple[Choice, ...]:
    return tuple(Choice.from_json(one, f"{where}, {name},") for one in fields.items(name, []))


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
        _at_least(1, "number of epochs", self.epochs)
        if self.patience is not None:
            _at_least(1, "patience", self.patience)

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
            also=_choices(fields, "also", where),
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
            _at_least(WHOLE, "batch size", self.batch)

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
            _objective(item, f"{where}, objective {i},") for i, item in enumerate(items, start=1)
        )
        stop = Stop.from_json(fields.raw("stop", {}), f"{where}, stop,")
        name, batch = fields.text("name", ""), fields.whole_or_none("batch", None)
        return cls(objectives, stop, fields.rest(), name, batch)


@dataclass(frozen=True, slots=True)
class Plan:
    """The phases in order, with the batch size and the seed; the default trains one supervised net.

    `fast` asks for whatever makes this machine train fastest, at the price of equality to the bit.
    `with_` and the properties read and change the first gradient objective of the first phase, which is all
    there is in a supervised plan.
    """

    phases: tuple[Phase, ...] = (Phase(),)
    batch: int = 64
    seed: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)
    fast: bool = False

    def __post_init__(self) -> None:
        if not self.phases:
            raise GraphError("A plan has at least one phase.")
        _at_least(WHOLE, "batch size", self.batch)
        _at_least(0, "seed", self.seed, LARGEST_SEED)

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
        return {"batch": self.batch, "seed": self.seed, **fast, "phases": phases, **self.extra}

    @classmethod
    def from_json(cls, data: object) -> Plan:
        """Read a plan; unknown fields are kept. Raises ProjectFileError."""
        fields = Fields(data, "the plan")
        batch, seed, fast = fields.whole("batch", 64), fields.whole("seed", 0), fields.flag("fast", False)
        try:
            items = fields.items("phases")
            phases = tuple(Phase.from_json(item, f"phase {i} of the plan") for i, item in enumerate(items, 1))
            return cls(phases, batch, seed, fields.rest(), fast)
        except GraphError as error:
            raise ProjectFileError(f"the plan: {error.message}") from error


_HOME = {
    **dict.fromkeys(("loss", "optimiser", "schedule"), "objective"),
    **dict.fromkeys(("epochs", "patience", "monitor", "restore_best"), "stop"),
}
