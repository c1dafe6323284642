"""The editor's part for one objective: what it lowers, what it trains, and how."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.inspector.plan_fields import (
    AddButton,
    ChoiceField,
    ChoiceList,
    Notice,
    PickField,
    Removable,
    column_of,
    complaint_of,
    empty,
)
from app.inspector.plan_focus import PlanFocus
from app.inspector.plan_loss import LossField
from app.inspector.plan_trained import RatesField, TrainedField
from app.inspector.schedule_plot import SchedulePlot
from app.widgets.fields import FieldRow
from app.widgets.labels import rule
from app.workspace.plan_parts import named_in, recorded, rule_nodes
from engine.catalogue.params import ParamSpec
from engine.catalogue.training.adversaries import ADVERSARIES, make_adversary
from engine.catalogue.training.averages import AVERAGES, make_average
from engine.catalogue.training.changes import CHANGES, make_change
from engine.catalogue.training.checks import check_objective
from engine.catalogue.training.optimisers import (
    OPTIMISERS,
    SAMPLERS,
    SCHEDULES,
    make_optimiser,
    make_schedule,
)
from engine.catalogue.training.penalties import PENALTIES, make_penalty
from engine.document.plan import WHOLE, Chain, ChangeModel, Fit, Minimise, Rule
from engine.errors import NeuroloomError

OPTIMISER = ParamSpec("optimiser", "choice", "", "Optimiser", "how a step changes the weights")
SCHEDULE = ParamSpec("schedule", "choice", "", "Schedule", "how the learning rate changes on the way")
NAME = ParamSpec("name", "text", "", "Name", "what its curve is called")
EVERY = ParamSpec(
    "every", "int", 1, "Every", "batches from one step of it to the next", minimum=1, unit="batches"
)
NODE = ParamSpec("node", "choice", "", "Node", "the node that learns by itself")
MORE = (
    ParamSpec(
        "clip",
        "float",
        None,
        "Clip gradients",
        "largest norm of the gradient of all trained weights; empty: no clipping",
        above=0,
        optional=True,
    ),
    ParamSpec(
        "accumulate",
        "int",
        1,
        "Add up over",
        "batches whose gradients are added up for one step",
        minimum=1,
        unit="batches",
    ),
    ParamSpec(
        "noise", "float", 0.0, "Gradient noise", "η of a noise that fades as η / (1 + t)^0.55", minimum=0
    ),
    ParamSpec("decay_biases", "bool", True, "Decay biases", "weight decay also pulls biases and norms"),
)
AVERAGE = ParamSpec(
    "average",
    "choice",
    None,
    "Average weights",
    "an average of the weights, kept beside them",
    optional=True,
)

ADVERSARY = ParamSpec(
    "adversary",
    "choice",
    None,
    "Adversary",
    "moves the inputs of each batch to where the loss is larger, before the weights are moved",
    optional=True,
)
SAMPLER = ParamSpec("sampler", "choice", "", "Sampler", "how weights are drawn")
CHANGE = ParamSpec("change", "choice", "", "Change", "what is done to the layers when the phase begins")


class ObjectiveEditor(QWidget):
    """The fields of a loss that is lowered; made once, shown for whichever is on show."""

    def __init__(self, focus: PlanFocus) -> None:
        super().__init__()
        self._focus = focus
        self._rows = {spec.name: _row(spec, self._edited, focus) for spec in (NAME, EVERY, *MORE)}
        self.loss, self.trained = LossField(focus), TrainedField(focus)
        self.optimiser = ChoiceField(OPTIMISER, OPTIMISERS, self._names)
        self.sampler = ChoiceField(SAMPLER, SAMPLERS, self._names)
        self.schedule = ChoiceField(SCHEDULE, SCHEDULES, self._names)
        self.average = ChoiceField(AVERAGE, AVERAGES, self._names)
        self.adversary = ChoiceField(ADVERSARY, ADVERSARIES, self._names)
        for field in (self.optimiser, self.sampler, self.schedule, self.average, self.adversary):
            field.setProperty("part", OPTIMISER.name if field is self.sampler else field.name)
            field.changed.connect(self._chosen)
            field.finished.connect(focus.workspace.seal)
        self.penalties = ChoiceList("penalties", "penalty", PENALTIES)
        self.penalties.changed.connect(self._penalties_changed)
        self.penalties.finished.connect(focus.workspace.seal)
        self.penalty_notice = Notice("notice_penalties")
        self.rates = RatesField(focus)
        self.plot = SchedulePlot()
        self.more_button = QPushButton()
        self.more_button.setObjectName("moreOfObjective")
        self.more_button.setProperty("kind", "link")
        self.more_button.clicked.connect(self._fold)
        self._more = QWidget()
        self._lay_out()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        parts = (
            *(self._rows["name"], self.loss, self.trained, self._rows["every"], None),
            *(self.optimiser, self.sampler, None),
            *(self.schedule, self.plot, self.more_button, self._more),
        )
        for part in parts:
            if part is None:
                column.addSpacing(6)
                column.addWidget(rule())
                column.addSpacing(6)
            else:
                column.addWidget(part)
        inner = QVBoxLayout(self._more)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(4)
        for spec in MORE:
            inner.addWidget(self._rows[spec.name])
        for one in (self.average, self.adversary, self.penalties, self.penalty_notice, self.rates):
            inner.addWidget(one)

    @property
    def fields(self) -> dict[str, FieldRow]:
        found = {**self._rows, **self.loss.fields, **self.rates.fields, **self.penalties.fields}
        for part in (self._stepper, self.schedule, self.average, self.adversary):
            found.update(part.fields)
        return found

    @property
    def _stepper(self) -> ChoiceField:
        return self.sampler if isinstance(self._focus.objective, Chain) else self.optimiser

    def refresh(self, objective: Minimise) -> None:
        chain = isinstance(objective, Chain)
        for part in (self.optimiser, self.schedule, self.plot, self.more_button):
            part.setVisible(not chain)
        self.sampler.setVisible(chain)
        for name, field in self._rows.items():
            field.show_value(getattr(objective, name))
        self.loss.refresh(objective)
        self.trained.refresh(objective)
        show_optimiser(self._stepper, objective, self._batch())
        show_schedule(self.schedule, self.plot, objective, self._focus.phase.stop.epochs)
        average = objective.average
        self.average.show_choice(average, complaint_of(make_average, average) if average is not None else "")
        adversary = objective.adversary
        wrong = complaint_of(make_adversary, adversary) if adversary is not None else ""
        self.adversary.show_choice(adversary, wrong)
        self.penalties.show_choices(objective.penalties)
        complaints = (complaint_of(make_penalty, choice) for choice in objective.penalties)
        self.penalty_notice.say(next(filter(None, complaints), ""))
        self.rates.refresh(objective)
        self._show_more(objective)

    def _show_more(self, objective: Minimise) -> None:
        used = replace(objective, loss="all", of=(), every=1) != replace(
            Minimise("all", objective.optimiser, objective.schedule, objective.extra, objective.name)
        )
        chain = isinstance(objective, Chain)
        shown = (self._focus.more or used) and not chain
        self._more.setVisible(shown)
        self.more_button.setVisible(not used and not chain)
        self.more_button.setText("Fewer settings" if shown else "Clipping, averaging, adversary, penalties …")

    def _fold(self) -> None:
        self._focus.more = not self._focus.more
        if isinstance(self._focus.objective, Minimise):
            self._show_more(self._focus.objective)

    def _batch(self) -> int:
        return self._focus.plan.batch_of(self._focus.phase)

    def _names(self) -> tuple[str, ...]:
        return recorded(self._focus.workspace)

    # -- editing ----------------------------------------------------------------------------------

    def _edited(self, name: str, value: Any) -> None:
        title = self._rows[name].spec.title.lower()
        self._focus.change_objective(f"Change {title}", name, **{name: value})

    def _chosen(self, choice: Any, what: str, key: str) -> None:
        part = str(self.sender().property("part"))
        self._focus.change_objective(what, key, **{part: choice})

    def _penalties_changed(self, penalties: Any, what: str, key: str) -> None:
        self._focus.change_objective(what, key, penalties=penalties)


class ChangeEditor(QWidget):
    """The fields of a change of the model."""

    def __init__(self, focus: PlanFocus) -> None:
        super().__init__()
        self._focus = focus
        self.title = _row(NAME, self._edited, focus)
        self.trained = TrainedField(focus, "Changes", "")
        self.change = ChoiceField(CHANGE, CHANGES, lambda: ())
        self.change.changed.connect(self._chosen)
        self.change.finished.connect(focus.workspace.seal)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for part in (self.title, self.trained, self.change):
            column.addWidget(part)

    @property
    def fields(self) -> dict[str, FieldRow]:
        return {"name": self.title, **self.change.fields}

    def refresh(self, objective: ChangeModel) -> None:
        self.title.show_value(objective.name)
        self.trained.refresh(objective)
        self.change.show_choice(objective.change, complaint_of(make_change, objective.change))

    def _edited(self, name: str, value: Any) -> None:
        self._focus.change_objective("Change name", name, **{name: value})

    def _chosen(self, choice: Any, what: str, key: str) -> None:
        self._focus.change_objective(what, key, change=choice)


class RuleEditor(QWidget):
    """The fields of a rule of one or several nodes, or of the fit of an estimator."""

    changed = Signal()

    def __init__(self, focus: PlanFocus) -> None:
        super().__init__()
        self._focus = focus
        self._rows: dict[str, FieldRow] = {
            "name": _row(NAME, self._edited, focus),
            "node": PickField(NODE, self._nodes, "which has no rule"),
            "every": _row(EVERY, self._edited, focus),
        }
        self._rows["node"].edited.connect(self._edited)
        self.notice = Notice("notice_rule")
        self.also = column_of(2)
        self._shown: tuple[tuple[str, str], ...] = ()
        self.add = AddButton("Add node to this rule", self._missing, "addToRule")
        self.add.setToolTip("One more node that learns in the same step, before any of them has moved")
        self.add.picked.connect(self._add)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self._rows["name"])
        column.addWidget(self._rows["node"])
        column.addLayout(self.also)
        column.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._rows["every"])
        column.addWidget(self.notice)

    @property
    def fields(self) -> dict[str, FieldRow]:
        return self._rows

    def refresh(self, objective: Rule) -> None:
        for name, field in self._rows.items():
            field.show_value(getattr(objective, name))
        known = self._nodes()
        gone = objective.node not in known
        fits = isinstance(objective, Fit)
        self._rows["every"].setVisible(not fits)
        self.add.setVisible(not fits)
        self._show_also(objective)
        wanted = "Choose an estimator." if fits else "Choose a node that learns by a rule of its own."
        self.notice.say(wanted if gone else "")

    def _show_also(self, objective: Rule) -> None:
        project = self._focus.workspace.document.project
        rows = tuple((one, named_in(project, one)) for one in objective.also)
        if rows == self._shown:
            return
        self._shown = rows
        empty(self.also)
        for node_id, name in rows:
            row = Removable(node_id, name)
            row.removed.connect(self._remove)
            self.also.addWidget(row)

    def _of(self) -> tuple[str, ...]:
        objective = self._focus.objective
        return objective.nodes if isinstance(objective, Rule) else ()

    def _missing(self) -> dict[str, str]:
        taken = self._of()
        return {one: name for one, name in self._nodes().items() if one not in taken}

    def _add(self, node_id: str) -> None:
        self._focus.change_objective("Add node to rule", "", also=(*self._of()[1:], node_id))

    def _remove(self, node_id: str) -> None:
        kept = tuple(one for one in self._of()[1:] if one != node_id)
        self._focus.change_objective("Remove node from rule", "", also=kept)

    def _nodes(self) -> dict[str, str]:
        return rule_nodes(self._focus.workspace, fits=isinstance(self._focus.objective, Fit))

    def _edited(self, name: str, value: Any) -> None:
        title = self._rows[name].spec.title.lower()
        self._focus.change_objective(f"Change {title}", name, **{name: value})


def show_optimiser(field: ChoiceField, objective: Minimise, batch: int) -> None:
    """Shows an objective's optimiser, and what doesn't go with it."""
    field.show_choice(objective.optimiser, _misfit(objective, batch))


def show_schedule(field: ChoiceField, plot: SchedulePlot, objective: Minimise, epochs: int) -> None:
    """Shows an objective's schedule, and draws the learning rate that comes of it."""
    field.show_choice(objective.schedule, complaint_of(make_schedule, objective.schedule))
    found = OPTIMISERS.get(objective.optimiser.name)
    rate = found.param_spec("lr") if found is not None else None
    usual = rate.default if rate is not None else 1.0
    plot.show_schedule(objective.schedule, objective.optimiser.params.get("lr", usual), epochs)


def _misfit(objective: Minimise, batch: int) -> str:
    try:
        chosen = make_optimiser(objective.optimiser)
        check_objective(replace(objective, schedule=Minimise().schedule, penalties=()))
    except NeuroloomError as error:
        return str(error)
    if chosen.closure and (objective.accumulate > 1 or objective.clip is not None or objective.noise):
        return (
            f"{chosen.title} looks at the loss several times a step: clipping, adding up over batches and "
            "noise don't go with it."
        )
    if chosen.whole_batch and batch != WHOLE:
        return f"{chosen.title} is made for all rows at once: write “all rows” as the batch size."
    return ""


def _row(spec: ParamSpec, edited: Any, focus: PlanFocus) -> FieldRow:
    made = FieldRow(spec)
    made.edited.connect(edited)
    made.finished.connect(focus.workspace.seal)
    if isinstance(made.control, QLineEdit) and spec.kind == "text":
        made.control.setMaxLength(100)
    return made
