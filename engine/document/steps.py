"""The steps of a plan: what lowers a loss, applies a rule, fits, follows, acts, draws or changes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar

from engine.document.fields import Fields, kind_of
from engine.errors import GraphError, ProjectFileError
from engine.values import Value, frozen_mapping, is_number, shown

LARGEST_COUNT = 2**31 - 1  # of epochs, of batches, of examples in one


def at_least(low: int, name: str, value: int, most: int = LARGEST_COUNT) -> None:
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
        at_least(1, "number of batches between two steps", self.every)
        at_least(1, "number of batches whose gradients are added", self.accumulate)
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
            penalties=choices_of(fields, "penalties", where),
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
        at_least(1, "number of batches between two steps", self.every)
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
class Follow(Rule):
    """Let the weights of a node follow those of another, `leader`, by a fraction `rate` of the way.

    With a rate of 1 it is a copy, which may be taken every few batches: the target network of Q-learning.
    """

    leader: str = ""
    rate: float = 1.0
    key: ClassVar[str] = "follow"

    def __post_init__(self) -> None:
        Rule.__post_init__(self)
        _number(0, "rate at which weights follow", self.rate, above=True)
        if self.rate > 1:
            raise GraphError(f"The rate at which weights follow is at most 1, not {shown(self.rate)}.")

    def to_json(self) -> dict[str, Any]:
        found = {**Rule.to_json(self), "leader": self.leader}
        return found if self.rate == 1 else {**found, "rate": self.rate}

    @classmethod
    def from_json(cls, data: object, where: str) -> Follow:
        fields = Fields(data, where)
        return cls(
            node=fields.text(cls.key),
            name=fields.text("name", ""),
            every=fields.whole("every", 1),
            leader=fields.text("leader"),
            rate=fields.raw("rate", 1.0),
            extra=fields.rest(),
        )


@dataclass(frozen=True, slots=True)
class Rollout(Rule):
    """Let `agents` act in an environment, `node`, by the scores of actions that a node, `policy`, gives.

    Each batch they act `moves` times, at random with the probability that `exploration` gives. The last
    `memory` transitions are kept, and the steps after it in the phase learn from a batch drawn of these.
    """

    policy: str = ""
    exploration: Choice = Choice("LinearExploration")
    moves: int = 1
    agents: int = 16
    memory: int = 10_000
    key: ClassVar[str] = "rollout"

    def __post_init__(self) -> None:
        if self.every != 1:
            raise GraphError("A rollout acts on every batch: let the other steps be taken every few batches.")
        for key, name in (("moves", "moves"), ("agents", "agents"), ("memory", "transitions that are kept")):
            at_least(1, f"number of {name}", getattr(self, key))
        if self.memory < self.agents:
            raise GraphError("A memory holds a move of each agent at least.")

    def to_json(self) -> dict[str, Any]:
        found = {**Rule.to_json(self), "policy": self.policy, "exploration": self.exploration.to_json()}
        return {**found, "moves": self.moves, "agents": self.agents, "memory": self.memory}

    @classmethod
    def from_json(cls, data: object, where: str) -> Rollout:
        fields = Fields(data, where)
        explored = fields.raw("exploration", {"name": "LinearExploration"})
        return cls(
            node=fields.text(cls.key),
            name=fields.text("name", ""),
            policy=fields.text("policy"),
            exploration=Choice.from_json(explored, f"{where}, exploration,"),
            moves=fields.whole("moves", 1),
            agents=fields.whole("agents", 16),
            memory=fields.whole("memory", 10_000),
            extra=fields.rest(),
        )


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
    key: ClassVar[str] = "change"  # in files

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", tuple(self.of))

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {self.key: self.change.to_json()}
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
KINDS: Mapping[str, type[Objective]] = {
    one.key: one for one in (Rule, Fit, Follow, Rollout, Chain, ChangeModel)
}


def objective_of(data: object, where: str) -> Objective:
    keys = data if isinstance(data, dict) else {}
    kind = next((kind for key, kind in KINDS.items() if key in keys), Minimise)
    return kind.from_json(data, where)


def _ids(fields: Fields, name: str) -> tuple[str, ...]:
    found = fields.items(name, [])
    if not all(isinstance(one, str) for one in found):
        raise ProjectFileError(f'{fields.where}: "{name}" should be a list of node ids.')
    return tuple(found)


def choices_of(fields: Fields, name: str, where: str) -> tuple[Choice, ...]:
    return tuple(Choice.from_json(one, f"{where}, {name},") for one in fields.items(name, []))
