"""The fields of steps that join two nodes: agents that act in an environment, weights that follow others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.inspector.plan_fields import ChoiceField, Notice, PickField, complaint_of
from app.inspector.plan_focus import PlanFocus
from app.widgets.fields import FieldRow
from app.workspace.plan_parts import environments, learners, policies
from engine.catalogue.params import ParamSpec
from engine.catalogue.training.explorations import EXPLORATIONS, make_exploration
from engine.document.plan import Follow, Rollout

NAME = ParamSpec("name", "text", "", "Name", "what its curve is called")
ENVIRONMENT = ParamSpec("node", "choice", "", "Environment", "the node that agents act in")
POLICY = ParamSpec("policy", "choice", "", "Policy", "the node that gives each action a score")
EXPLORATION = ParamSpec("exploration", "choice", "", "Exploration", "how often agents act at random")
COUNTS = (
    ParamSpec("moves", "int", 1, "Moves", "of each agent, a batch", minimum=1),
    ParamSpec("agents", "int", 16, "Agents", "that act side by side", minimum=1),
    ParamSpec("memory", "int", 10_000, "Memory", "transitions that are kept, the newest", minimum=1),
)
FOLLOWER = ParamSpec("node", "choice", "", "Node", "whose weights follow")
LEADER = ParamSpec("leader", "choice", "", "Follows", "the node whose weights they follow")
RATES = (
    ParamSpec("rate", "float", 1.0, "Rate", "fraction of the way a step; 1 copies", above=0, maximum=1),
    ParamSpec(
        "every", "int", 1, "Every", "batches from one step of it to the next", minimum=1, unit="batches"
    ),
)


class RolloutEditor(QWidget):
    """The fields of agents that act in an environment."""

    def __init__(self, focus: PlanFocus) -> None:
        super().__init__()
        self._focus = focus
        self._rows: dict[str, FieldRow] = {
            "name": FieldRow(NAME),
            "node": PickField(ENVIRONMENT, self._environments, "which is no environment"),
            "policy": PickField(POLICY, self._policies, "which sees no state of it"),
            **{spec.name: FieldRow(spec) for spec in COUNTS},
        }
        self.exploration = ChoiceField(EXPLORATION, EXPLORATIONS, lambda: ())
        self.exploration.changed.connect(self._chosen)
        self.exploration.finished.connect(focus.workspace.seal)
        self.notice = Notice("notice_rollout")
        _stack(self, self._rows, self._edited, focus, self.exploration, self.notice)

    @property
    def fields(self) -> dict[str, FieldRow]:
        return {**self._rows, **self.exploration.fields}

    def refresh(self, objective: Rollout) -> None:
        for name, field in self._rows.items():
            field.show_value(getattr(objective, name))
        self.exploration.show_choice(
            objective.exploration, complaint_of(make_exploration, objective.exploration)
        )
        fits = objective.node in self._environments() and objective.policy in self._policies()
        self.notice.say("" if fits else "Choose an environment, and a layer behind its state.")

    def _environments(self) -> dict[str, str]:
        return environments(self._focus.workspace)

    def _policies(self) -> dict[str, str]:
        objective = self._focus.objective
        return policies(self._focus.workspace, objective.node if isinstance(objective, Rollout) else "")

    def _edited(self, name: str, value: Any) -> None:
        title = self._rows[name].spec.title.lower()
        self._focus.change_objective(f"Change {title}", name, **{name: value})

    def _chosen(self, choice: Any, what: str, key: str) -> None:
        self._focus.change_objective(what, key, exploration=choice)


class FollowEditor(QWidget):
    """The fields of weights that follow others."""

    def __init__(self, focus: PlanFocus) -> None:
        super().__init__()
        self._focus = focus
        self._rows: dict[str, FieldRow] = {
            "name": FieldRow(NAME),
            "node": PickField(FOLLOWER, self._nodes, "which has no weights"),
            "leader": PickField(LEADER, self._nodes, "which has no weights"),
            **{spec.name: FieldRow(spec) for spec in RATES},
        }
        self.notice = Notice("notice_follow")
        _stack(self, self._rows, self._edited, focus, self.notice)

    @property
    def fields(self) -> dict[str, FieldRow]:
        return self._rows

    def refresh(self, objective: Follow) -> None:
        for name, field in self._rows.items():
            field.show_value(getattr(objective, name))
        fits = {objective.node, objective.leader} <= self._nodes().keys()
        apart = objective.node != objective.leader
        self.notice.say("" if fits and apart else "Choose two nodes of the same sizes that have weights.")

    def _nodes(self) -> dict[str, str]:
        return learners(self._focus.workspace)

    def _edited(self, name: str, value: Any) -> None:
        title = self._rows[name].spec.title.lower()
        self._focus.change_objective(f"Change {title}", name, **{name: value})


def _stack(
    editor: QWidget,
    rows: dict[str, FieldRow],
    edited: Callable[[str, Any], None],
    focus: PlanFocus,
    *others: QWidget,
) -> None:
    column = QVBoxLayout(editor)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(4)
    for row in rows.values():
        row.edited.connect(edited)
        row.finished.connect(focus.workspace.seal)
        column.addWidget(row)
    for one in others:
        column.addWidget(one)
