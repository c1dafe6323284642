"""The editor's field for what an objective lowers: all losses, one of them, or a weighted sum."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.inspector.plan_fields import Notice, PickField, column_of, empty
from app.inspector.plan_focus import PlanFocus
from app.widgets.fields import FieldRow
from app.workspace.plan_parts import losses, named
from engine.catalogue.params import ParamSpec
from engine.document.plan import Minimise

ALL, SUM = "all", "+"  # no node is called "+"
_LOSS = ParamSpec("loss", "choice", ALL, "Lowers", "the loss that gradient steps make smaller")


class LossField(QWidget):
    """A list of the losses and, for a weighted sum, a weight for each."""

    def __init__(self, focus: PlanFocus) -> None:
        super().__init__()
        self._focus = focus
        self._made_for: tuple[tuple[str, str], ...] = ()
        self.head = PickField(_LOSS, self._entries, "which is gone")
        self.head.edited.connect(self._picked)
        self._weights = column_of()
        self.notice = Notice("notice_loss")
        self.fields: dict[str, FieldRow] = {"loss": self.head}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.head)
        column.addLayout(self._weights)
        column.addWidget(self.notice)

    def refresh(self, objective: Minimise) -> None:
        loss = objective.loss
        self.head.show_value(loss if isinstance(loss, str) else SUM)
        graph = self._focus.workspace.document.project.graph
        weights = {} if isinstance(loss, str) else loss
        rows: dict[str, str] = {}
        if weights:
            known = losses(self._focus.workspace)
            rows = {**known, **{one: known.get(one, named(graph, one)) for one in weights}}
        if tuple(rows.items()) != self._made_for:
            self._made_for = tuple(rows.items())
            self._make(rows)
        for node_id in rows:
            self.fields[f"weight.{node_id}"].show_value(weights.get(node_id))
        self.notice.say(self._complaint(objective))

    def _make(self, rows: dict[str, str]) -> None:
        empty(self._weights)
        self.fields = {"loss": self.head}
        for node_id, name in rows.items():
            spec = ParamSpec(
                node_id,
                "float",
                None,
                name,
                f"weight of {name} in the sum; empty leaves it out",
                optional=True,
            )
            field = FieldRow(spec)
            field.edited.connect(self._weighed)
            field.finished.connect(self._finished)
            self.fields[f"weight.{node_id}"] = field
            self._weights.addWidget(field)

    def _entries(self) -> dict[str, str]:
        return {ALL: "all losses", **losses(self._focus.workspace), SUM: "a weighted sum"}

    def _complaint(self, objective: Minimise) -> str:
        loss, known = objective.loss, losses(self._focus.workspace)
        if not known:
            return "The network has no loss yet."
        named_ones = () if loss == ALL else (loss,) if isinstance(loss, str) else tuple(loss)
        gone = [one for one in named_ones if one not in known]
        return f"There is no loss {gone[0]} any more: choose another." if gone else ""

    def _picked(self, _name: str, value: Any) -> None:
        objective = self._focus.objective
        if not isinstance(objective, Minimise):
            return
        loss: Any = value
        if value == SUM:
            known = losses(self._focus.workspace)
            loss = {objective.loss: 1.0} if objective.loss in known else dict.fromkeys(known, 1.0)
        if loss:
            self._focus.change_objective("Change loss", "loss", loss=loss)
        self._show_again()

    def _weighed(self, node_id: str, weight: Any) -> None:
        objective = self._focus.objective
        if not isinstance(objective, Minimise) or isinstance(objective.loss, str):
            return
        weights = {**objective.loss, node_id: weight}
        weights = {one: found for one, found in weights.items() if found is not None}
        if weights:
            self._focus.change_objective("Change weight of a loss", f"weight.{node_id}", loss=weights)
        else:
            self.notice.say("The sum needs at least one loss.")

    def _finished(self) -> None:
        self._focus.workspace.document.seal()
        self._show_again()

    def _show_again(self) -> None:
        objective = self._focus.objective
        if isinstance(objective, Minimise):
            self.refresh(objective)
