"""What node packages know of their own types: what is wrong with a node, how to fix it, what to begin with.

Each is a function under one of the decorators below, registered as its module is imported, like the types
themselves. Rules that hold for every type, or follow from traits, are the engine's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.catalogue import Data
from engine.catalogue.traits import Preparation
from engine.document.edits import Edit
from engine.document.graph import Graph, Node, Project
from engine.shapes.problems import Fix, Problem
from engine.values import Value

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook

NodeRule = Callable[[Project, Node, "ShapeBook"], Iterator[Problem]]
Remedy = Callable[[Graph, Node, "ShapeBook"], Fix | None]
Draw = Callable[[Project], tuple[Edit, ...]]
FirstNetwork = Callable[[str, Data], Draw | None]


@dataclass(frozen=True, slots=True)
class Way:
    """A node that prepares data: its type, what it is called, its parameters.

    `parameter` is the one that gets what a check has found, such as which numbers never change.
    """

    type_id: str
    name: str
    params: Mapping[str, Value] = field(default_factory=dict)
    parameter: str = ""


LINT_RULES: list[NodeRule] = []
ADVICE_RULES: list[NodeRule] = []
REMEDIES: list[Remedy] = []
WAYS: dict[Preparation, Way] = {}  # the node that is put behind data which lack a preparation
_FIRST_NETWORKS: list[FirstNetwork] = []


def lint_rule(rule: NodeRule) -> NodeRule:
    """Register what is wrong with a node whose shapes fit."""
    LINT_RULES.append(rule)
    return rule


def advice_rule(rule: NodeRule) -> NodeRule:
    """Register what could be better about a layer of a graph in which nothing is wrong."""
    ADVICE_RULES.append(rule)
    return rule


def remedy_for_shapes(remedy: Remedy) -> Remedy:
    """Register a step after which a layer fits its inputs; those registered first are tried first."""
    REMEDIES.append(remedy)
    return remedy


def first_network(find: FirstNetwork) -> FirstNetwork:
    """Register a function that finds, by its id and its columns, what to draw behind a data node."""
    _FIRST_NETWORKS.append(find)
    return find


def network_for(data_id: str, data: Data) -> Draw | None:
    """The edits of a first network for a data node; None where nobody knows one."""
    return next((draw for find in _FIRST_NETWORKS if (draw := find(data_id, data)) is not None), None)
