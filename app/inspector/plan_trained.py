"""The editor's fields for nodes: which ones an objective trains, and learning rates of single layers."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.inspector.plan_fields import AddButton, Notice, Removable, column_of, empty
from app.inspector.plan_focus import PlanFocus
from app.widgets.fields import LABEL_WIDTH, FieldRow
from app.widgets.labels import ElidedLabel, label
from app.workspace.plan_parts import learners, named, needs
from engine.catalogue.params import ParamSpec
from engine.document.plan import ChangeModel, Minimise

EVERY_LAYER = "every layer"
LEGEND = "The canvas marks what is trained and what only runs (frozen), and dims what takes no part."


class TrainedField(QWidget):
    """The names of what is trained, to be chosen on the canvas or from a list."""

    def __init__(self, focus: PlanFocus, does: str = "Trains", legend: str = LEGEND) -> None:
        super().__init__()
        self.setObjectName("trainedField")
        self._focus = focus
        self._made_for: tuple[tuple[str, str], ...] | None = None
        self.shown = ElidedLabel(EVERY_LAYER)
        self.shown.setObjectName("trainedText")
        self.choose = QPushButton("Choose on canvas")
        self.choose.setObjectName("chooseOnCanvas")
        self.choose.setProperty("kind", "small")
        self.choose.setToolTip("Click what to train on the canvas; everything else keeps its weights")
        self.choose.clicked.connect(focus.begin_choosing)
        title = label(does, "dim")
        title.setFixedWidth(LABEL_WIDTH)
        head = QGridLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.setHorizontalSpacing(4)
        head.addWidget(title, 0, 0)
        head.addWidget(self.shown, 0, 1)
        head.setColumnStretch(1, 1)
        self._rows = column_of(2)
        self.add = AddButton("Add layer", self._missing, "addTrained")
        self.add.picked.connect(self._add)
        self.every = QPushButton("Train every layer")
        self.every.setObjectName("trainEveryLayer")
        self.every.setProperty("kind", "link")
        self.every.clicked.connect(self._train_every)
        buttons = QHBoxLayout()
        buttons.setSpacing(12)
        for button in (self.choose, self.add):
            buttons.addWidget(button)
        buttons.addStretch(1)
        self.notice = Notice("notice_trained")
        self.choosing = self._choosing_box()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addLayout(self._rows)
        column.addLayout(buttons)
        column.addWidget(self.every, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.choosing)
        column.addWidget(self.notice)
        if legend:
            column.addWidget(label(legend, "small", wrap=True))
        focus.choosing_changed.connect(self._show_choosing)

    def _choosing_box(self) -> QFrame:
        box = QFrame()
        box.setObjectName("card")
        text = "Click nodes on the canvas; Shift or a frame takes several. A block is trained as a whole."
        self.take = QPushButton()
        self.take.setObjectName("takeChosen")
        self.take.setAccessibleName("Take what is selected")
        self.take.setProperty("kind", "main")
        self.take.clicked.connect(self._take)
        self.give_up = QPushButton("Cancel")
        self.give_up.setObjectName("cancelChoosing")
        self.give_up.clicked.connect(self._give_up)
        row = QHBoxLayout()
        row.addWidget(self.take)
        row.addWidget(self.give_up)
        row.addStretch(1)
        column = QVBoxLayout(box)
        column.setContentsMargins(10, 8, 10, 10)
        column.setSpacing(8)
        column.addWidget(label(text, "small", wrap=True))
        column.addLayout(row)
        box.hide()
        return box

    def refresh(self, objective: Minimise | ChangeModel) -> None:
        graph = self._focus.workspace.document.project.graph
        focus = self._focus
        of = focus.chosen if focus.choosing else objective.of
        rows = tuple((one, named(graph, one)) for one in of)
        if rows != self._made_for:
            had_focus = self.focusWidget() is not None and self.isAncestorOf(self.focusWidget())
            self._made_for = rows
            empty(self._rows)
            for node_id, name in rows:
                row = Removable(node_id, name)
                row.removed.connect(self._remove)
                self._rows.addWidget(row)
            if had_focus and not focus.choosing:
                self.add.setFocus()
        self._show_buttons(len(of), focus.choosing)
        self.notice.say("" if focus.choosing else self._complaint(objective))

    def _show_buttons(self, count: int, choosing: bool) -> None:
        self.shown.setText(f"{count} chosen" if count else "nothing yet" if choosing else EVERY_LAYER)
        self.every.setVisible(count > 0 and not choosing)
        self.choosing.setVisible(choosing)
        for button in (self.choose, self.add):
            button.setVisible(not choosing)
        these = "this one" if count == 1 else f"these {count}"
        self.take.setText(f"Train {these}" if count else "Train every layer")

    def _complaint(self, objective: Minimise | ChangeModel) -> str:
        workspace = self._focus.workspace
        graph = workspace.document.project.graph
        gone = [one for one in objective.of if one not in graph.nodes]
        if gone:
            return f"{gone[0]} is no longer in the network: remove it here."
        needed = needs(workspace, objective)
        idle = [named(graph, one) for one in objective.of if one not in needed]
        if idle:
            return (
                f"{', '.join(idle)} {'is' if len(idle) == 1 else 'are'} no part of what leads to this loss."
            )
        return ""

    # -- editing ----------------------------------------------------------------------------------

    def _missing(self) -> dict[str, str]:
        objective = self._focus.objective
        of = objective.of if isinstance(objective, Minimise | ChangeModel) else ()
        return {one: name for one, name in learners(self._focus.workspace).items() if one not in of}

    def _add(self, node_id: str) -> None:
        self._set((*self._of(), node_id))

    def _remove(self, node_id: str) -> None:
        if self._focus.choosing:
            kept = [one for one in self._focus.chosen if one != node_id]
            self._focus.workspace.select(kept)
        else:
            self._set(tuple(one for one in self._of() if one != node_id))

    def _train_every(self) -> None:
        self._set(())

    def _of(self) -> tuple[str, ...]:
        objective = self._focus.objective
        return objective.of if isinstance(objective, Minimise | ChangeModel) else ()

    def _set(self, of: tuple[str, ...]) -> None:
        self._focus.change_objective("Choose what is trained", "", of=of)

    # -- choosing on the canvas -------------------------------------------------------------------

    def _show_choosing(self) -> None:
        objective = self._focus.objective
        if not isinstance(objective, Minimise | ChangeModel):
            return
        ended = self.choosing.isVisible() and not self._focus.choosing
        self.refresh(objective)
        if ended:
            self.choose.setFocus(Qt.FocusReason.OtherFocusReason)

    def _take(self) -> None:
        self._focus.end_choosing(keep=True)

    def _give_up(self) -> None:
        self._focus.end_choosing()


class RatesField(QWidget):
    """Factors on the learning rate for single layers."""

    def __init__(self, focus: PlanFocus) -> None:
        super().__init__()
        self._focus = focus
        self._made_for: tuple[tuple[str, str], ...] = ()
        self.fields: dict[str, FieldRow] = {}
        self._rows = column_of()
        self.add = AddButton("Add rate of a layer", self._missing, "addRate")
        self.add.picked.connect(self._added)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(self._rows)
        column.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)

    def refresh(self, objective: Minimise) -> None:
        graph = self._focus.workspace.document.project.graph
        rows = tuple((one, named(graph, one)) for one in objective.rates)
        if rows != self._made_for:
            self._made_for = rows
            self._make(rows)
        for node_id, factor in objective.rates.items():
            self.fields[f"rate.{node_id}"].show_value(float(factor))

    def _make(self, rows: tuple[tuple[str, str], ...]) -> None:
        had_focus = self.focusWidget() is not None and self.isAncestorOf(self.focusWidget())
        empty(self._rows)
        self.fields = {}
        for node_id, name in rows:
            doc = f"the learning rate of {name} is the objective's times this"
            field = FieldRow(ParamSpec(node_id, "float", 1.0, name, doc, unit="×"))
            field.edited.connect(self._edited)
            field.finished.connect(self._focus.workspace.seal)
            self.fields[f"rate.{node_id}"] = field
            row = Removable(node_id, f"rate of {name}", field)
            row.removed.connect(self._removed)
            self._rows.addWidget(row)
        if had_focus:
            self.add.setFocus()

    def _rates(self) -> dict[str, float]:
        objective = self._focus.objective
        return dict(objective.rates) if isinstance(objective, Minimise) else {}

    def _missing(self) -> dict[str, str]:
        rates = self._rates()
        return {one: name for one, name in learners(self._focus.workspace).items() if one not in rates}

    def _added(self, node_id: str) -> None:
        self._focus.change_objective("Add rate of a layer", "", rates={**self._rates(), node_id: 1.0})

    def _removed(self, node_id: str) -> None:
        kept = {one: factor for one, factor in self._rates().items() if one != node_id}
        self._focus.change_objective("Remove rate of a layer", "", rates=kept)

    def _edited(self, node_id: str, factor: Any) -> None:
        rates = {**self._rates(), node_id: factor}
        self._focus.change_objective("Change rate of a layer", f"rate.{node_id}", rates=rates)
