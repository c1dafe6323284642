"""What a check says of data, and what a click would do about it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

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

    `change` mends it; `also` are other ways to.
    """

    code: str
    message: str
    change: Change | None = None
    serious: bool = False
    also: tuple[Change, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        """All ways to mend it, the first one first."""
        return ((self.change,) if self.change is not None else ()) + self.also


@dataclass(frozen=True)
class Compared:
    """The loss that a column is the target of: node, type, scores, the dense layer that gives them.

    `weighed`: the loss has weights for classes.
    """

    node_id: str
    type_id: str
    scores: int = 0
    layer_id: str = ""
    layer_name: str = ""
    weighed: bool = False


@dataclass(frozen=True)
class Asked:
    """What is known of a data node and of the network around it.

    `params` with the defaults filled in, and the `choices` of those that have any; names of the classes of
    columns; which columns are targets; by what a target is compared; the wire each column leaves by, where it
    is used; types of the transforms behind it.
    """

    params: Mapping[str, Value] = field(default_factory=dict)
    classes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    targets: Collection[str] = ()
    compared: Mapping[str, Compared] = field(default_factory=dict)
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    wires: Mapping[str, Wire] = field(default_factory=dict)
    behind: Mapping[str, Collection[str]] = field(default_factory=dict)

    def can(self, name: str, value: str) -> bool:
        """Whether the node has a parameter that may have that value, and has another."""
        allowed = self.choices.get(name, (value,))
        return name in self.params and self.params[name] != value and value in allowed

    def has_behind(self, column: str, *types: str) -> bool:
        """Whether a transform of one of these types stands behind a column."""
        return not set(types).isdisjoint(self.behind.get(column, ()))

    def insert(self, column: str, label: str, type_id: str, name: str, **params: Value) -> Change | None:
        """The change that puts a node behind a column; None where the column feeds nothing."""
        wire = self.wires.get(column)
        return None if wire is None else Change(label, inserts=(Insert(*wire, type_id, name, params),))
