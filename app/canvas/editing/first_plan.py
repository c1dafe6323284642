"""A project's first data size its plan, as long as nobody has touched that."""

from __future__ import annotations

from collections.abc import Iterable

from app.workspace.open_document import OpenDocument
from engine.catalogue import Data
from engine.catalogue.training.sizing import sized
from engine.document.edits import Edit, SetPlan
from engine.document.graph import Node
from engine.document.plan import Plan


def first_plan(workspace: OpenDocument, nodes: Iterable[Node]) -> tuple[Edit, ...]:
    """What else the step does that adds these nodes: where they bring the first data, it sizes the plan."""
    project, catalogue = workspace.document.project, workspace.catalogue
    there = [catalogue.get(node.type) for node in project.graph.nodes.values()]
    if project.plan != Plan() or any(kind is not None and issubclass(kind, Data) for kind in there):
        return ()
    for node in nodes:
        kind = catalogue.get(node.type)
        if kind is not None and issubclass(kind, Data) and (plan := sized(kind(node.params))) != Plan():
            return (SetPlan(plan),)
    return ()
