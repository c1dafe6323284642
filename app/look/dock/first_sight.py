"""The view of the whole network that says best what it does, by its task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter

from app.look.base import Subject, ViewKind
from app.look.registry import view_kinds
from app.workspace.open_document import TrainableDocument
from engine.catalogue import Environment


def first_sight(workspace: TrainableDocument) -> tuple[ViewKind, Subject] | None:
    """The kind that shows the task, and the first layer or world that it suits; None while there is none.

    Of a network without data it is where its parameters are.
    """
    kinds = view_kinds()
    subjects, whole = list(_answering(workspace)), Subject(workspace, "")
    leading = [(kind.leads, kind) for kind in kinds.values() if kind.leads is not None]
    for _, kind in sorted(leading, key=itemgetter(0)):
        for subject in [whole] if kind.whole else subjects:
            if kind.leads_at(subject):
                return kind, subject
    budget = kinds["parameter-budget"]
    return (budget, whole) if _is_to_look_at(workspace) and budget.suits(whole) else None


def _is_to_look_at(workspace: TrainableDocument) -> bool:
    """Whether there are nodes but no data: what a network is made of is all that there is to see."""
    nodes = workspace.document.project.graph.nodes
    return bool(nodes) and all(Subject(workspace, one).kind != "data" for one in nodes)


def beside_lead(kinds: Sequence[ViewKind], lead: ViewKind | None) -> list[ViewKind]:
    """Those of the whole model that stand beside the view of its task, without another of the same answer.

    Such a one has the same title: both are of the first answer that they suit.
    """
    return [kind for kind in kinds if lead is None or kind.title != lead.title]


def _answering(workspace: TrainableDocument) -> Iterator[Subject]:
    graph = workspace.document.project.graph
    for node_id in graph.order():
        subject = Subject(workspace, node_id)
        acts = subject.type is not None and issubclass(subject.type, Environment)
        if acts or subject.kind in ("layer", "block"):
            yield subject
