"""The whole plan editor: phases, their objectives, when they end, and what holds for all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.inspector.plan_agents import FollowEditor, RolloutEditor
from app.inspector.plan_fields import BatchSpec
from app.inspector.plan_focus import PlanFocus
from app.inspector.plan_objective import ChangeEditor, ObjectiveEditor, RuleEditor
from app.inspector.plan_rows import Row, RowList
from app.inspector.plan_stop import StopEditor
from app.widgets.fields import FieldRow
from app.widgets.labels import rule
from app.workspace.plan_parts import environments, learners, losses, named, named_in, policies, rule_nodes
from engine.catalogue.params import ParamSpec
from engine.catalogue.training.changes import CHANGES
from engine.catalogue.training.optimisers import OPTIMISERS, SAMPLERS
from engine.document.plan import (
    WHOLE,
    Chain,
    ChangeModel,
    Fit,
    Follow,
    Minimise,
    Objective,
    Phase,
    Rollout,
    Rule,
)

PHASE_NAME = ParamSpec("phase_name", "text", "", "Name", "what the phase is called")
PHASE_BATCH = BatchSpec(
    "phase_batch",
    "int",
    None,
    "Batch size",
    "examples a step of this phase learns from; empty takes the plan's, “all rows” takes all at once",
    minimum=1,
    optional=True,
)
KINDS = {
    "minimise": "Lower a loss",
    "rule": "Apply a node's own rule",
    "fit": "Fit an estimator",
    "rollout": "Act in an environment",
    "follow": "Let weights follow others",
    "chain": "Draw weights by a Markov chain",
    "change": "Change the model",
}
NONE_LEARNS = "No node of this network learns by a rule of its own; Perceptron and Hopfield do."
NONE_FITS = "No node of this network is fitted; those of the group “estimators” are."
NONE_ACTS = (
    "This network has no environment with a layer behind its state; Grid world and Cart-pole are some."
)
NONE_FOLLOWS = "This network has no two nodes with weights, of which one could follow the other."
LEGEND = (
    "On the canvas: what this objective trains, what it only runs (frozen), and, dimmed, what it leaves out."
)


class PlanEditor(QWidget):
    """Shows the phase and the objective that the focus is on; every change is a step of the document."""

    def __init__(self, focus: PlanFocus) -> None:
        super().__init__()
        self.setObjectName("planEditor")
        self._focus = focus
        self.phases = RowList("phases", "Phases", "phase")
        self.phases.picked.connect(self._pick_phase)
        self.phases.added.connect(self._add_phase)
        self.phases.duplicated.connect(focus.duplicate_phase)
        self.phases.removed.connect(focus.remove_phase)
        self.phases.moved.connect(focus.move_phase)
        self.objectives = RowList("objectives", "Objectives, in turn", "objective", KINDS)
        self.objectives.picked.connect(self._pick_objective)
        self.objectives.added.connect(self._add_objective)
        self.objectives.duplicated.connect(focus.duplicate_objective)
        self.objectives.removed.connect(focus.remove_objective)
        self.objectives.moved.connect(focus.move_objective)
        self._rows = {spec.name: FieldRow(spec) for spec in (PHASE_NAME, PHASE_BATCH)}
        for row in self._rows.values():
            row.edited.connect(self._edited)
            row.finished.connect(focus.workspace.seal)
        self.minimise, self.rule, self.change = ObjectiveEditor(focus), RuleEditor(focus), ChangeEditor(focus)
        self.rollout, self.follow = RolloutEditor(focus), FollowEditor(focus)
        self.stop = StopEditor(focus)
        self.fewer = QPushButton("Fewer settings")
        self.fewer.setObjectName("planFewer")
        self.fewer.setProperty("kind", "link")
        self.fewer.setToolTip("Back to the few settings that this plan needs")
        self.fewer.clicked.connect(self._close)
        self._lay_out()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        parts: tuple[QWidget | None, ...] = (
            *(self.fewer, self.phases, *self._rows.values(), None),
            *(self.objectives, self.minimise, self.rollout, self.follow, self.rule, self.change, None),
            self.stop,
        )
        for part in parts:
            if part is None:
                column.addSpacing(8)
                column.addWidget(rule())
                column.addSpacing(8)
            elif part is self.fewer:
                column.addWidget(part, 0, Qt.AlignmentFlag.AlignLeft)
            else:
                column.addWidget(part)

    @property
    def fields(self) -> dict[str, FieldRow]:
        return {**self._rows, **self._editor().fields, **self.stop.fields}

    def _editor(self) -> ObjectiveEditor | RolloutEditor | FollowEditor | RuleEditor | ChangeEditor:
        """The fields of what the focus is on."""
        match self._focus.objective:
            case Minimise():
                return self.minimise
            case Rollout():
                return self.rollout
            case Follow():
                return self.follow
            case ChangeModel():
                return self.change
            case _:
                return self.rule

    # -- showing ----------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Shows the plan as the document holds it."""
        focus = self._focus
        plan, (phase_at, objective_at) = focus.plan, focus.place
        phase, objective = focus.phase, focus.objective
        self.fewer.setVisible(plan.supervised)
        self.phases.show_rows([_phase_row(one, at) for at, one in enumerate(plan.phases)], phase_at)
        rows = [self._objective_row(one) for one in phase.objectives]
        self.objectives.show_rows(rows, objective_at)
        self._rows["phase_name"].show_value(phase.name)
        batch = self._rows["phase_batch"]
        batch.show_value(phase.batch)
        usual = plan.batch_of(replace(phase, batch=None))
        size = "all rows" if usual == WHOLE else str(usual)
        control = batch.control
        assert isinstance(control, QLineEdit)
        control.setPlaceholderText(f"{size}, {'as the plan' if usual == plan.batch else 'as it is fitted'}")
        shown = self._editor()
        for editor in (self.minimise, self.rollout, self.follow, self.rule, self.change):
            editor.setVisible(editor is shown)
        match objective:
            case Minimise():
                self.minimise.refresh(objective)
            case Rollout():
                self.rollout.refresh(objective)
            case Follow():
                self.follow.refresh(objective)
            case ChangeModel():
                self.change.refresh(objective)
            case _:
                self.rule.refresh(objective)
        self.stop.refresh()

    def _objective_row(self, objective: Objective) -> Row:
        workspace = self._focus.workspace
        graph = workspace.document.project.graph
        if isinstance(objective, Rollout):
            told = f"{objective.agents:,} agents"
            return objective.name or f"Act in {named(graph, objective.node)}", told
        if isinstance(objective, Follow):
            told = _often("copied" if objective.rate == 1 else f"rate {objective.rate:g}", objective.every)
            return objective.name or f"{named(graph, objective.node)} follows", told
        if isinstance(objective, Rule):
            what = "Fit" if isinstance(objective, Fit) else "Rule of"
            project = workspace.document.project
            name = f"{what} {named_in(project, objective.node)}" if objective.node else what.split()[0]
            name += f" and {len(objective.also)} more" if objective.also else ""
            told = "all rows" if isinstance(objective, Fit) else _often("own rule", objective.every)
            return objective.name or name, told
        if isinstance(objective, ChangeModel):
            kind = CHANGES.get(objective.change.name)
            title = kind.title if kind is not None else objective.change.name
            return objective.name or title, "when the phase begins"
        found = {**OPTIMISERS, **SAMPLERS}.get(objective.optimiser.name)
        told = _often(found.title if found is not None else objective.optimiser.name, objective.every)
        if objective.name:
            return objective.name, told
        does = "Draw by" if isinstance(objective, Chain) else "Lower"
        if objective.loss == "all":
            known = list(losses(workspace).values())
            return f"{does} {known[0] if len(known) == 1 else 'all losses'}", told
        if isinstance(objective.loss, str):
            return f"{does} {named(graph, objective.loss)}", told
        if len(objective.loss) == 1:
            return f"{does} {named(graph, next(iter(objective.loss)))}", told
        return f"{does} a sum of {len(objective.loss)} losses", told

    # -- editing ----------------------------------------------------------------------------------

    def _close(self) -> None:
        self._focus.want(False)

    def _pick_phase(self, row: int) -> None:
        self._focus.show(row)

    def _pick_objective(self, row: int) -> None:
        self._focus.show(self._focus.place[0], row)

    def _add_phase(self, _kind: str) -> None:
        self._focus.add_phase()

    def _add_objective(self, kind: str) -> None:
        if kind in ("rollout", "follow"):
            self._add_pair(kind)
            return
        if kind not in ("rule", "fit"):
            made = {"chain": Chain, "change": ChangeModel}.get(kind, Minimise)
            self._focus.add_objective(made())
            return
        fits = kind == "fit"
        known = rule_nodes(self._focus.workspace, fits=fits)
        if not known:
            self._focus.workspace.message.emit(NONE_FITS if fits else NONE_LEARNS, "info")
            return
        rules = [one for one in self._focus.phase.objectives if isinstance(one, Rule)]
        taken = {node for one in rules for node in one.nodes}
        node = next((one for one in known if one not in taken), next(iter(known)))
        self._focus.add_objective(Fit(node) if fits else Rule(node))

    def _add_pair(self, kind: str) -> None:
        """Add a step of two nodes, with the first that could be meant."""
        workspace = self._focus.workspace
        if kind == "rollout":
            pairs = [(one, each) for one in environments(workspace) for each in policies(workspace, one)]
            made: list[Objective] = [Rollout(one, policy=policy) for one, policy in pairs]
        else:
            nodes = [*learners(workspace)]
            made = [Follow(nodes[1], leader=nodes[0])] if len(nodes) > 1 else []
        if made:
            self._focus.add_objective(made[0])
        else:
            workspace.message.emit(NONE_ACTS if kind == "rollout" else NONE_FOLLOWS, "info")

    def _edited(self, name: str, value: Any) -> None:
        key = name.removeprefix("phase_")
        what = "Rename phase" if key == "name" else "Change batch size"
        self._focus.change_phase(what, key, **{key: value})


def _phase_row(phase: Phase, at: int) -> Row:
    epochs = phase.stop.epochs
    return phase.name or f"Phase {at + 1}", f"{epochs:,} epoch{'s' if epochs != 1 else ''}"


def _often(what: str, every: int) -> str:
    return what if every == 1 else f"{what}, every {every}"
