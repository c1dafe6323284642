"""The inspector's page for the project: title, notes and how the network is trained."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from app.inspector.plan_fields import BatchSpec, ChoiceField
from app.inspector.plan_focus import PlanFocus
from app.inspector.plan_objective import OPTIMISER, SCHEDULE, show_optimiser, show_schedule
from app.inspector.plan_phases import PlanEditor
from app.inspector.plan_stop import EPOCHS, PATIENCE, RESTORE
from app.inspector.schedule_plot import SchedulePlot
from app.widgets.fields import FieldRow
from app.widgets.labels import label, rule, title_field
from app.widgets.notes_field import NotesField
from app.workspace.open_document import TrainableDocument
from app.workspace.plan_parts import recorded
from app.workspace.workspace import DEVICES
from engine.catalogue.params import ParamSpec
from engine.catalogue.training.optimisers import OPTIMISERS, SCHEDULES
from engine.document.edits import SetNotes, SetTitle
from engine.document.plan import AS_CONNECTED, LARGEST_SEED, PAIRINGS, Plan

_BATCH = BatchSpec(
    "batch",
    "int",
    64,
    "Batch size",
    "examples a step learns from; “all rows” takes the whole training split at once",
    minimum=1,
)
_SEED = ParamSpec("seed", "int", 0, "Seed", "start of every random number", minimum=0, maximum=LARGEST_SEED)
_PAIRING = ParamSpec(
    "pairing",
    "choice",
    AS_CONNECTED,
    "Rows of data",
    "“paired”: row 1 of one data node belongs to row 1 of the others; “unpaired”: each has its own order; "
    "“as connected”: paired where they meet in a layer or a loss",
    choices=PAIRINGS,
)
_DEVICE = ParamSpec(
    "device", "choice", "automatic", "Device", "what the network is trained on", choices=tuple(DEVICES)
)
_FAST = ParamSpec("fast", "bool", False, "As fast as it can", "trains as fast as this machine can")
_FAST_SAYS = (
    "As fast as this machine can: lower precision, compiled code and the like are tried in the first "
    "seconds, and what wins is kept; results then differ in their last digits."
)


class PlanPage(QWidget):
    """Title, notes and a few settings; where the plan needs it or the user asks for it, the whole plan."""

    grown = Signal()  # other fields are on show

    def __init__(
        self, workspace: TrainableDocument, focus: PlanFocus | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self.focus = focus or PlanFocus(workspace, self)
        self._rows: dict[str, FieldRow] = {}
        self.editor: PlanEditor | None = None
        self.simple = QWidget()
        self.simple.setObjectName("planSimple")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 0, 0)
        column.setSpacing(4)
        self._add_project(column)
        _add_rule(column)
        self._fill_simple()
        column.addWidget(self.simple)
        self._editor_place = QVBoxLayout()
        column.addLayout(self._editor_place)
        _add_rule(column)
        self._add_length(column)
        _add_rule(column)
        self._add_machine(column)
        self.focus.moved.connect(self._moved)
        workspace.state_changed.connect(self._say_fast)
        self.refresh()

    # -- building ---------------------------------------------------------------------------------

    def _add_project(self, column: QVBoxLayout) -> None:
        self.title_field = title_field()
        self.title_field.setObjectName("projectTitle")
        self.title_field.setAccessibleName("Project title")
        self.title_field.setToolTip("The project's title; click to change it")
        self.title_field.textEdited.connect(self._set_title)
        self.title_field.editingFinished.connect(self._workspace.seal)
        column.addWidget(self.title_field)
        self.notes_field = NotesField()
        self.notes_field.setObjectName("projectNotes")
        self.notes_field.setAccessibleName("Project notes")
        self.notes_field.setPlaceholderText("Notes about this project")
        self.notes_field.setFixedHeight(82)  # four whole lines
        self.notes_field.setTabChangesFocus(True)
        self.notes_field.textChanged.connect(self._set_notes)
        column.addWidget(self.notes_field)

    def _fill_simple(self) -> None:
        column = QVBoxLayout(self.simple)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        _add_heading(column, "Training")
        self.optimiser = ChoiceField(OPTIMISER, OPTIMISERS, self._names)
        self.schedule = ChoiceField(SCHEDULE, SCHEDULES, self._names)
        self.plot = SchedulePlot()
        for field in (self.optimiser, self.schedule):
            field.setProperty("part", field.name)
            field.changed.connect(self._chosen)
            field.finished.connect(self._workspace.seal)
        column.addWidget(self.optimiser)
        _add_rule(column)
        column.addWidget(self.schedule)
        column.addWidget(self.plot)

    def _add_length(self, column: QVBoxLayout) -> None:
        self.all_phases = label("All phases", "heading")
        column.addWidget(self.all_phases)
        for spec in (EPOCHS, _BATCH, _SEED, _PAIRING):
            column.addWidget(self._row(spec))
        self.stopping = QWidget()
        inner = QVBoxLayout(self.stopping)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(4)
        _add_rule(inner)
        _add_heading(inner, "Early stopping")
        inner.addWidget(self._row(PATIENCE))
        inner.addWidget(self._row(RESTORE))
        column.addWidget(self.stopping)

    def _add_machine(self, column: QVBoxLayout) -> None:
        for spec in (_DEVICE, _FAST):
            column.addWidget(self._row(spec))
        self.fast_says = label("", "small", wrap=True)
        self.fast_says.setObjectName("fastSays")
        column.addWidget(self.fast_says)
        self.memory_says = label("", "small", wrap=True)
        self.memory_says.setObjectName("memorySays")
        self.memory_says.setToolTip("What training adds to the program, estimated from shapes")
        column.addWidget(self.memory_says)
        self.more = QPushButton("Phases, objectives, frozen layers …")
        self.more.setObjectName("planMore")
        self.more.setProperty("kind", "link")
        self.more.setToolTip("Everything that a plan can say: several phases and objectives, what they train")
        self.more.clicked.connect(self._open)
        column.addSpacing(4)
        column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)

    def _row(self, spec: ParamSpec) -> FieldRow:
        row = FieldRow(spec)
        row.edited.connect(self._edited)
        row.finished.connect(self._workspace.seal)
        self._rows[spec.name] = row
        return row

    # -- showing ----------------------------------------------------------------------------------

    @property
    def fields(self) -> dict[str, FieldRow]:
        """The fields that are on show, in their order."""
        if self.editor is not None and self.focus.whole:
            ours = {name: self._rows[name] for name in ("batch", "seed", "pairing", "device", "fast")}
            found = {**self.editor.fields, **ours}
        else:
            found = {**self.optimiser.fields, **self.schedule.fields, **self._rows}
        if not self._pairs(self.focus.plan):
            del found["pairing"]
        return found

    @property
    def choosing(self) -> bool:
        """Whether what is selected on the canvas is for this page."""
        return self.focus.choosing

    def notice(self, name: str) -> QLabel:
        """The sentence under the optimiser or the schedule."""
        whole = self.editor is not None and self.focus.whole
        parts: Any = self.editor.minimise if whole and self.editor is not None else self
        field: ChoiceField = getattr(parts, name)
        return field.notice

    def refresh(self) -> None:
        """Shows the project as the document holds it."""
        project = self._workspace.document.project
        plan = project.plan
        if self.title_field.text() != project.title:
            self.title_field.setText(project.title)
            self.title_field.setCursorPosition(0)  # a long title shows its beginning
        if self.notes_field.toPlainText() != project.notes:
            with QSignalBlocker(self.notes_field):
                self.notes_field.setPlainText(project.notes)
        whole = self.focus.whole
        for part in (self.simple, self._rows["epochs"], self.stopping, self.more):
            part.setVisible(not whole)
        self.all_phases.setVisible(whole)
        if whole and self.editor is None:
            self.editor = PlanEditor(self.focus)
            self._editor_place.addWidget(self.editor)
        if self.editor is not None:
            self.editor.setVisible(whole)
        if whole and self.editor is not None:
            self.editor.refresh()
        else:
            show_optimiser(self.optimiser, plan.objective, plan.batch_of(plan.phases[0]))
            show_schedule(self.schedule, self.plot, plan.objective, plan.epochs)
        self._rows["pairing"].setVisible(self._pairs(plan))
        values = {
            "epochs": plan.epochs,
            "patience": plan.patience,
            "restore_best": plan.stop.restore_best,
            "batch": plan.batch,
            "seed": plan.seed,
            "pairing": plan.pairing,
            "device": self._workspace.device,
            "fast": plan.fast,
        }
        for name, value in values.items():
            self._rows[name].show_value(value)
        self._say_fast(self._workspace.state)
        self._say_memory()

    def _pairs(self, plan: Plan) -> bool:
        """Whether there are several data nodes, whose rows may belong together."""
        kinds = (
            self._workspace.type_of(node) for node in self._workspace.document.project.graph.nodes.values()
        )
        data = sum(kind is not None and kind.kind == "data" for kind in kinds)
        return data > 1 or plan.pairing != AS_CONNECTED

    def _say_fast(self, _state: str) -> None:
        """What the switch does or, in a run that has measured it, what was chosen and what it brings."""
        plan, trainer = self.focus.plan, self._workspace.trainer
        chosen = trainer.fast if trainer is not None and plan.fast and self._workspace.training else None
        text = _FAST_SAYS
        if chosen is not None:
            text = chosen.sentence()
        if text != self.fast_says.text():
            self.fast_says.setText(text)

    def _say_memory(self) -> None:
        """What a run takes, as far as shapes tell."""
        shapes = self._workspace.shapes
        memory = shapes.memory(self._workspace.document.project) if shapes is not None else None
        text = str(memory) if memory is not None else ""
        self.memory_says.setVisible(bool(text))
        if text != self.memory_says.text():
            self.memory_says.setText(text)

    def _moved(self) -> None:
        self.refresh()
        self.grown.emit()

    def refresh_facts(self) -> None:
        """Which layers have weights, what a run records and what it takes is known only now."""
        self._say_memory()
        if self.editor is not None and self.focus.whole:
            self.editor.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.focus.set_seen(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.focus.set_seen(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc takes back what was being chosen on the canvas."""
        if event.key() == Qt.Key.Key_Escape and self.focus.choosing:
            self.focus.end_choosing()
        else:
            super().keyPressEvent(event)

    # -- editing ----------------------------------------------------------------------------------

    def _names(self) -> tuple[str, ...]:
        return recorded(self._workspace)

    def _open(self) -> None:
        self.focus.want(True)

    def _set_title(self, text: str) -> None:
        self._workspace.apply("Change title", SetTitle(text), merge="title")

    def _set_notes(self) -> None:
        self._workspace.apply("Change notes", SetNotes(self.notes_field.toPlainText()), merge="notes")

    def _edited(self, name: str, value: Any) -> None:
        if name == "device":
            self._workspace.set_device(str(value))
            return
        what = self._rows[name].spec.title.lower()
        self._set(f"Change {what}", name, **{name: value})

    def _chosen(self, choice: Any, what: str, key: str) -> None:
        self._set(what, key, **{str(self.sender().property("part")): choice})

    def _set(self, what: str, key: str, **changes: Any) -> None:
        self.focus.change(what, key, lambda: self.focus.plan.with_(**changes))


def _add_heading(column: QVBoxLayout, text: str) -> None:
    column.addWidget(label(text, "heading"))
    column.addSpacing(2)


def _add_rule(column: QVBoxLayout) -> None:
    column.addSpacing(8)
    column.addWidget(rule())
    column.addSpacing(8)
