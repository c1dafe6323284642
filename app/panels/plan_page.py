"""The inspector's page for the project: title, notes and how the network is trained."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from app.widgets.fields import FieldRow
from app.widgets.labels import label, restyle, rule, title_field
from app.workspace import DEVICES, Workspace
from engine.edits import SetNotes, SetPlan, SetTitle
from engine.errors import NeuroloomError, ParamError
from engine.optimisers import OPTIMISERS, SCHEDULES, Choosable, make_optimiser, make_schedule
from engine.params import ParamSpec
from engine.plan import LARGEST_SEED, Choice, Plan

_OPTIMISER = ParamSpec(
    "optimiser",
    "choice",
    "Adam",
    "Optimiser",
    "how the weights follow the loss down",
    choices=tuple(OPTIMISERS),
)
_SCHEDULE = ParamSpec(
    "schedule",
    "choice",
    "Constant",
    "Schedule",
    "how the learning rate changes on the way",
    choices=tuple(SCHEDULES),
)
_LENGTH = (
    ParamSpec("epochs", "int", 10, "Epochs", "passes over the training split", minimum=1),
    ParamSpec("batch", "int", 64, "Batch size", "examples a step learns from", minimum=1),
    ParamSpec("seed", "int", 0, "Seed", "start of every random number", minimum=0, maximum=LARGEST_SEED),
)
_STOPPING = (
    ParamSpec(
        "patience",
        "int",
        None,
        "Stop after",
        "epochs without a better validation loss; empty trains all epochs",
        minimum=1,
        optional=True,
    ),
    ParamSpec("restore_best", "bool", True, "Restore best", "end with the weights of the best epoch"),
)
_DEVICE = ParamSpec(
    "device", "choice", "automatic", "Device", "what the network is trained on", choices=tuple(DEVICES)
)


class PlanPage(QWidget):
    """Title, notes, optimiser, schedule, length, early stopping and device."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self.fields: dict[str, FieldRow] = {}
        self._chosen: dict[str, str] = {}
        self._columns: dict[str, QVBoxLayout] = {}
        self._notices: dict[str, QLabel] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 0, 0)
        column.setSpacing(4)
        self._add_project(column)
        self._add_rule(column)
        self._add_heading(column, "Training")
        self._add_choice(column, "optimiser", _OPTIMISER)
        self._add_rule(column)
        self._add_choice(column, "schedule", _SCHEDULE)
        self._add_rule(column)
        for spec in _LENGTH:
            column.addWidget(self._field(spec))
        self._add_rule(column)
        self._add_heading(column, "Early stopping")
        for spec in _STOPPING:
            column.addWidget(self._field(spec))
        self._add_rule(column)
        column.addWidget(self._field(_DEVICE))

        self.refresh()

    # -- building ---------------------------------------------------------------------------------

    def _add_project(self, column: QVBoxLayout) -> None:
        self.title_field = title_field()
        self.title_field.setObjectName("projectTitle")
        self.title_field.setAccessibleName("Project title")
        self.title_field.setToolTip("The project's title; click to change it")
        self.title_field.textEdited.connect(self._set_title)
        self.title_field.editingFinished.connect(self._workspace.document.seal)
        column.addWidget(self.title_field)
        self.notes_field = QPlainTextEdit()
        self.notes_field.setObjectName("projectNotes")
        self.notes_field.setAccessibleName("Project notes")
        self.notes_field.setPlaceholderText("Notes about this project")
        self.notes_field.setFixedHeight(72)
        self.notes_field.setTabChangesFocus(True)
        self.notes_field.textChanged.connect(self._set_notes)
        column.addWidget(self.notes_field)

    def _add_heading(self, column: QVBoxLayout, text: str) -> None:
        column.addWidget(label(text, "heading"))
        column.addSpacing(2)

    def _add_rule(self, column: QVBoxLayout) -> None:
        column.addSpacing(8)
        column.addWidget(rule())
        column.addSpacing(8)

    def _add_choice(self, column: QVBoxLayout, name: str, spec: ParamSpec) -> None:
        column.addWidget(self._field(spec))
        inner = QVBoxLayout()
        inner.setSpacing(4)
        column.addLayout(inner)
        notice = label("", "warning", wrap=True)
        notice.setObjectName(f"notice_{name}")
        notice.hide()
        column.addWidget(notice)
        self._columns[name] = inner
        self._notices[name] = notice

    def _field(self, spec: ParamSpec, key: str = "") -> FieldRow:
        field = FieldRow(spec)
        field.edited.connect(self._edited_choice if key else self._edited)
        field.finished.connect(self._workspace.document.seal)
        field.setProperty("owner", key)
        self.fields[f"{key}.{spec.name}" if key else spec.name] = field
        return field

    # -- showing ----------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Shows the project as the document holds it."""
        project = self._workspace.document.project
        plan = project.plan
        if self.title_field.text() != project.title:
            self.title_field.setText(project.title)
        if self.notes_field.toPlainText() != project.notes:
            with QSignalBlocker(self.notes_field):
                self.notes_field.setPlainText(project.notes)
        self._show_choice("optimiser", plan.optimiser, OPTIMISERS)
        self._show_choice("schedule", plan.schedule, SCHEDULES)
        stop = plan.stop
        values = {
            "epochs": stop.epochs,
            "batch": plan.batch,
            "seed": plan.seed,
            "patience": stop.patience,
            "restore_best": stop.restore_best,
            "device": self._workspace.device,
        }
        for name, value in values.items():
            self.fields[name].show_value(value)

    def refresh_facts(self) -> None:
        """Nothing here depends on shapes."""

    def _show_choice(self, name: str, choice: Choice, known: Any) -> None:
        self.fields[name].show_value(choice.name)
        found: type[Choosable] | None = known.get(choice.name)
        if self._chosen.get(name) != choice.name:
            self._chosen[name] = choice.name
            self._make_choice_fields(name, found)
        for spec in found.params if found is not None else ():
            self.fields[f"{name}.{spec.name}"].show_value(choice.params.get(spec.name, spec.default))
        self._show_notice(name, _complaint(name, choice))

    def _make_choice_fields(self, name: str, found: type[Choosable] | None) -> None:
        inner = self._columns[name]
        while (item := inner.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for key in [key for key in self.fields if key.startswith(f"{name}.")]:
            del self.fields[key]
        if found is None:
            return
        # Declared order puts what every optimiser has first, the learning rate at the top.
        for spec in found.params:
            inner.addWidget(self._field(spec, name))
        self.fields[name].control.setToolTip(found.doc())

    def _show_notice(self, name: str, text: str) -> None:
        notice = self._notices[name]
        if notice.text() != text:
            notice.setText(text)
            notice.setVisible(bool(text))
            restyle(notice)

    # -- editing ----------------------------------------------------------------------------------

    def _set_title(self, text: str) -> None:
        self._workspace.apply("Change title", SetTitle(text), merge="title")

    def _set_notes(self) -> None:
        self._workspace.apply("Change notes", SetNotes(self.notes_field.toPlainText()), merge="notes")

    def _edited(self, name: str, value: Any) -> None:
        if name == "device":
            self._workspace.set_device(str(value))
            return
        change: Any = Choice(str(value)) if name in ("optimiser", "schedule") else value
        self._set_plan(f"Change {name.replace('_', ' ')}", f"plan:{name}", **{name: change})

    def _edited_choice(self, name: str, value: Any) -> None:
        field = self.sender()
        owner = str(field.property("owner"))
        choice: Choice = getattr(self._plan, owner)
        title = field.spec.title.lower() if isinstance(field, FieldRow) else name
        self._set_plan(f"Change {title}", f"plan:{owner}.{name}", **{owner: choice.with_param(name, value)})

    def _set_plan(self, what: str, merge: str, **changes: Any) -> None:
        try:
            plan = self._plan.with_(**changes)
        except NeuroloomError as error:
            self._workspace.message.emit(error.message, "error")
            return
        self._workspace.apply(what, SetPlan(plan), merge=merge)

    @property
    def _plan(self) -> Plan:
        return self._workspace.document.project.plan


def _complaint(name: str, choice: Choice) -> str:
    make = make_optimiser if name == "optimiser" else make_schedule
    try:
        make(choice)
    except ParamError as error:
        return str(error)
    return ""
