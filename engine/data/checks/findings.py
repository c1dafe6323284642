"""What a check says of data, and what a click would do about it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from engine.catalogue.traits import Answer, Preparation
from engine.shapes.node_rules import WAYS
from engine.values import Value

Wire = tuple[str, str]  # node id, port


@dataclass(frozen=True)
class Insert:
    """A node to be put between a port and all that it feeds."""

    node_id: str
    port: str
    type_id: str
    name: str
    params: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """What one click would do: set parameters of the data node, roles of its columns, parameters of other
    nodes by their id, put nodes behind ports.
    """

    label: str
    params: Mapping[str, Value] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    inserts: Sequence[Insert] = ()


@dataclass(frozen=True)
class Finding:
    """`serious` ones make a result worthless, or training fail, and are sure. `code` names the check.

    `change` fixes it; `also` are other ways to.
    """

    code: str
    message: str
    change: Change | None = None
    serious: bool = False
    also: tuple[Change, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        """All ways to fix it, the first one first."""
        return ((self.change,) if self.change is not None else ()) + self.also


@dataclass(frozen=True)
class Compared:
    """The loss that a column is the target of: node, what it takes scores for, how many classes they are of.

    `layer_id` is the layer that gives them, `units` its parameter for how many; `weights` is the parameter of
    the loss for weights of classes, and `weighed` says that it has some.
    """

    node_id: str
    answers: Answer
    scores: int = 0
    layer_id: str = ""
    layer_name: str = ""
    weighed: bool = False
    units: str = ""
    weights: str = ""


@dataclass(frozen=True)
class Asked:
    """What is known of a data node and of the network around it.

    `params` with the defaults filled in, and the `choices` of those that have any; names of the classes of
    columns; which columns are targets; by what a target is compared; the wire each column leaves by, where it
    is used; the preparations behind it.
    """

    params: Mapping[str, Value] = field(default_factory=dict)
    classes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    targets: Collection[str] = ()
    compared: Mapping[str, Compared] = field(default_factory=dict)
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    wires: Mapping[str, Wire] = field(default_factory=dict)
    behind: Mapping[str, Collection[Preparation]] = field(default_factory=dict)

    def can(self, name: str, value: str) -> bool:
        """Whether the node has a parameter that may have that value, and has another."""
        allowed = self.choices.get(name, (value,))
        return name in self.params and self.params[name] != value and value in allowed

    def has_behind(self, column: str, *preparations: Preparation) -> bool:
        """Whether one of these preparations stands behind a column."""
        return not set(preparations).isdisjoint(self.behind.get(column, ()))

    def insert(self, column: str, label: str, what: Preparation, given: Value = None) -> Change | None:
        """The change that prepares a column by a node; None where it feeds nothing, or none does."""
        wire, way = self.wires.get(column), WAYS.get(what)
        if wire is None or way is None:
            return None
        params = {**way.params, way.parameter: given} if way.parameter else way.params
        return Change(label, inserts=(Insert(*wire, way.type_id, way.name, params),))
