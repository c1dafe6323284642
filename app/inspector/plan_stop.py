"""The editor's part for when a phase ends: epochs, patience, and rules that end it earlier."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.inspector.plan_fields import ChoiceList, Notice, complaint_of, heading, monitor_field
from app.inspector.plan_focus import PlanFocus
from app.widgets.fields import FieldRow
from app.workspace.plan_parts import recorded
from engine.catalogue.params import ParamSpec
from engine.catalogue.training.stopping import STOP_RULES, make_stop_rule

EPOCHS = ParamSpec("epochs", "int", 10, "Epochs", "passes over the training split", minimum=1)
PATIENCE = ParamSpec(
    "patience",
    "int",
    None,
    "Stop after",
    "epochs without a better value; empty trains all epochs",
    minimum=1,
    optional=True,
)
MONITOR = ParamSpec("monitor", "choice", "val_loss", "Watch", "the value that must improve")
RESTORE = ParamSpec("restore_best", "bool", True, "Restore best", "end with the weights of the best epoch")


class StopEditor(QWidget):
    """Epochs, patience on a recorded value, and the rules that end the phase before."""

    def __init__(self, focus: PlanFocus) -> None:
        super().__init__()
        self._focus = focus
        names = self._names
        rows = (FieldRow(EPOCHS), FieldRow(PATIENCE), monitor_field(MONITOR, names), FieldRow(RESTORE))
        self._fields: dict[str, FieldRow] = {row.spec.name: row for row in rows}
        self.also = ChoiceList("also", "rule that ends it earlier", STOP_RULES, names)
        self.also.changed.connect(self._also_changed)
        self.also.finished.connect(focus.workspace.seal)
        self.notice = Notice("notice_also")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(heading("Ends"))
        for row in rows:
            row.edited.connect(self._edited)
            row.finished.connect(focus.workspace.seal)
            column.addWidget(row)
        column.addWidget(self.also)
        column.addWidget(self.notice)

    @property
    def fields(self) -> dict[str, FieldRow]:
        return {**self._fields, **self.also.fields}

    def refresh(self) -> None:
        stop = self._focus.phase.stop
        for name, field in self._fields.items():
            field.show_value(getattr(stop, name))
        self.also.show_choices(stop.also)
        complaints = (complaint_of(make_stop_rule, choice) for choice in stop.also)
        self.notice.say(next(filter(None, complaints), "") or self._unrecorded())

    def _unrecorded(self) -> str:
        """Says what is watched though nothing records it: it would never get better."""
        stop, names = self._focus.phase.stop, self._names()
        watched = [stop.monitor] if stop.patience is not None else []
        rules = [choice for choice in stop.also if choice.name == "Reaches"]
        watched += [str(rule.params.get("monitor", "val_accuracy")) for rule in rules]
        gone = [name for name in watched if name not in names]
        return f"Nothing records {gone[0]}: choose another value to watch." if gone else ""

    def _names(self) -> tuple[str, ...]:
        return recorded(self._focus.workspace)

    def _edited(self, name: str, value: Any) -> None:
        title = self._fields[name].spec.title.lower()
        self._focus.change_stop(f"Change {title}", name, **{name: value})

    def _also_changed(self, also: Any, what: str, key: str) -> None:
        self._focus.change_stop(what, key, also=also)
