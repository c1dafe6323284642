"""Which phase and objective of the plan are on show, and the steps that change them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.workspace.open_document import TrainableDocument
from app.workspace.plan_parts import can_learn, merged, parts_of
from engine.document.document import Change
from engine.document.edits import SetPlan
from engine.document.names import numbered
from engine.document.plan import ChangeModel, Minimise, Objective, Phase, Plan
from engine.errors import NeuroloomError


class PlanFocus(QObject):
    """Outlives the inspector's pages, so that the editor comes back as it was left.

    While the editor is seen, the canvas shows what the objective that the user chose does with each node;
    while a run trains, what its phase does. `choosing` is the time in which what is selected on the canvas
    becomes what the objective trains.
    """

    moved = Signal()  # another phase or objective is on show, or the editor itself is wanted or not
    choosing_changed = Signal()

    def __init__(self, workspace: TrainableDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.workspace = workspace
        self.wanted = False  # whether the whole editor was asked for, though the plan needs none of it
        self.more = False  # whether the rarer settings of objectives are unfolded
        self.choosing = False
        self.chosen: tuple[str, ...] = ()  # while choosing
        self._phase = self._objective = 0
        self._seen = False
        self._picked = False  # whether the user chose the objective on show
        self._training: int | None = None  # the phase of a run under way, from 0
        workspace.changed.connect(self._changed)
        workspace.inferred.connect(self.show_parts)
        workspace.selected.connect(self._selected)
        workspace.state_changed.connect(self._follow_run)
        workspace.ticked.connect(self._follow_run)

    # -- what is on show --------------------------------------------------------------------------

    @property
    def plan(self) -> Plan:
        return self.workspace.document.project.plan

    @property
    def whole(self) -> bool:
        """Whether the whole editor is needed, or was asked for."""
        return self.wanted or not self.plan.supervised

    @property
    def place(self) -> tuple[int, int]:
        """The phase and the objective on show, counted from 0; an undo may have taken later ones away."""
        phases = self.plan.phases
        phase = min(self._phase, len(phases) - 1)
        return phase, min(self._objective, len(phases[phase].objectives) - 1)

    @property
    def phase(self) -> Phase:
        return self.plan.phases[self.place[0]]

    @property
    def objective(self) -> Objective:
        return self.phase.objectives[self.place[1]]

    def show(self, phase: int, objective: int = 0) -> None:
        """Shows another phase or objective."""
        moved, self._picked = (phase, objective) != self.place, True
        if moved:
            self.end_choosing()
            self._phase, self._objective = phase, objective
            self.workspace.document.seal()
            self.moved.emit()
        self.show_parts()

    def want(self, whole: bool) -> None:
        """Opens the whole editor, or closes it where the plan doesn't need it."""
        if whole != self.wanted:
            self.end_choosing()
            self.wanted = whole
            self.moved.emit()
            self.show_parts()

    def _changed(self, change: Change) -> None:
        if change.kind == "load":
            self.end_choosing()
            self.wanted = self.more = self._picked = False
            self._phase = self._objective = 0
        self.show_parts()

    # -- editing ----------------------------------------------------------------------------------

    def change(self, label: str, key: str, make: Callable[[], Plan]) -> bool:
        """Makes the plan that `make` returns in one undoable step; False, with a message, where it can't be.

        Steps with the same key that follow each other are one; an empty key stands alone.
        """
        try:
            plan = make()
        except NeuroloomError as error:
            self.workspace.message.emit(error.message, "error")
            return False
        if plan == self.plan:
            return True
        if not key:
            self.workspace.document.seal()
        return self.workspace.apply(label, SetPlan(plan), merge=f"plan:{key}" if key else None)

    def change_phase(self, label: str, key: str, **changes: Any) -> bool:
        phase, _ = self.place
        return self.change(
            label, key and f"{phase}.{key}", lambda: self._with_phase(replace(self.phase, **changes))
        )

    def change_stop(self, label: str, key: str, **changes: Any) -> bool:
        return self.change_phase(label, key and f"stop.{key}", stop=replace(self.phase.stop, **changes))

    def change_objective(self, label: str, key: str, **changes: Any) -> bool:
        phase, objective = self.place
        self._picked = True
        return self.change(
            label,
            key and f"{phase}.{objective}.{key}",
            lambda: self._with_objective(replace(self.objective, **changes)),
        )

    def _with_phase(self, phase: Phase) -> Plan:
        place, phases = self.place[0], list(self.plan.phases)
        phases[place] = phase
        return replace(self.plan, phases=tuple(phases))

    def _with_objective(self, objective: Objective) -> Plan:
        place, objectives = self.place[1], list(self.phase.objectives)
        objectives[place] = objective
        return self._with_phase(replace(self.phase, objectives=tuple(objectives)))

    # -- phases and objectives --------------------------------------------------------------------

    def add_phase(self) -> None:
        """A phase as a new plan has, after the one on show."""
        self._insert_phase("Add phase", Phase())

    def duplicate_phase(self) -> None:
        names = {phase.name for phase in self.plan.phases}
        name = self.phase.name and numbered(f"{self.phase.name} ", names)
        self._insert_phase("Duplicate phase", replace(self.phase, name=name))

    def _insert_phase(self, label: str, phase: Phase) -> None:
        at, phases = self.place[0] + 1, list(self.plan.phases)
        phases.insert(at, phase)
        self._go_with(label, replace(self.plan, phases=tuple(phases)), at, 0)

    def remove_phase(self) -> None:
        """Takes the phase on show away; a plan keeps one."""
        at, phases = self.place[0], list(self.plan.phases)
        if len(phases) > 1:
            del phases[at]
            self._go_with("Remove phase", replace(self.plan, phases=tuple(phases)), max(0, at - 1), 0)

    def move_phase(self, by: int) -> None:
        at, phases = self.place[0], list(self.plan.phases)
        if 0 <= at + by < len(phases):
            phases.insert(at + by, phases.pop(at))
            self._go_with("Move phase", replace(self.plan, phases=tuple(phases)), at + by, self.place[1])

    def add_objective(self, objective: Objective) -> None:
        """Puts an objective after the one on show."""
        at, found = self.place[1] + 1, list(self.phase.objectives)
        found.insert(at, objective)
        self._go_with("Add objective", self._with_objectives(found), self.place[0], at)

    def duplicate_objective(self) -> None:
        names = {one.name for one in self.phase.objectives}
        name = self.objective.name and numbered(f"{self.objective.name} ", names)
        at, found = self.place[1] + 1, list(self.phase.objectives)
        found.insert(at, replace(self.objective, name=name))
        self._go_with("Duplicate objective", self._with_objectives(found), self.place[0], at)

    def remove_objective(self) -> None:
        """Takes the objective on show away; a phase keeps one."""
        at, found = self.place[1], list(self.phase.objectives)
        if len(found) > 1:
            del found[at]
            self._go_with("Remove objective", self._with_objectives(found), self.place[0], max(0, at - 1))

    def move_objective(self, by: int) -> None:
        at, found = self.place[1], list(self.phase.objectives)
        if 0 <= at + by < len(found):
            found.insert(at + by, found.pop(at))
            self._go_with("Move objective", self._with_objectives(found), self.place[0], at + by)

    def _with_objectives(self, objectives: list[Objective]) -> Plan:
        return self._with_phase(replace(self.phase, objectives=tuple(objectives)))

    def _go_with(self, label: str, plan: Plan, phase: int, objective: int) -> None:
        self.end_choosing()
        # First where to look: the change itself brings the page up to date.
        before, self._phase, self._objective = (self._phase, self._objective), phase, objective
        self.wanted = self._picked = True
        if not self.change(label, "", lambda: plan):
            self._phase, self._objective = before
        self.moved.emit()
        self.show_parts()

    # -- choosing on the canvas -------------------------------------------------------------------

    def begin_choosing(self) -> None:
        """What is selected on the canvas is what the objective will train, until `end_choosing`."""
        objective = self.objective
        if self.choosing or not isinstance(objective, Minimise | ChangeModel):
            return
        workspace = self.workspace
        workspace.enter("")  # a block is trained as a whole
        self.choosing = True
        self.chosen = tuple(one for one in objective.of if one in workspace.graph.nodes)
        workspace.select(self.chosen)
        self._selected(workspace.selection)
        self.choosing_changed.emit()

    def end_choosing(self, *, keep: bool = False) -> None:
        """Goes back to editing; with `keep` the objective trains what was chosen."""
        if not self.choosing:
            return
        self.choosing, chosen = False, self.chosen
        if keep:
            self.change_objective("Choose what is trained", "", of=chosen)
        self.workspace.select(())
        self.choosing_changed.emit()
        self.show_parts()

    def _selected(self, ids: tuple[str, ...]) -> None:
        if self.choosing and not self.workspace.scope:
            self.chosen = tuple(one for one in ids if can_learn(self.workspace, one))
            self.choosing_changed.emit()
            self.show_parts()

    # -- the canvas -------------------------------------------------------------------------------

    def set_seen(self, seen: bool) -> None:
        """Whether the page that shows the plan is on the screen."""
        if seen != self._seen:
            self._seen = seen
            self.show_parts()

    def show_parts(self) -> None:
        """Shows on the canvas what is trained, frozen and left out: by the objective chosen, or by a run."""
        shown = self._on_canvas() if self._seen and self.whole else ()
        self.workspace.show_parts(merged([parts_of(self.workspace, one) for one in shown]))

    def _on_canvas(self) -> tuple[Objective, ...]:
        """Nothing where nobody has chosen: of several steps the first would dim what a later one trains."""
        objective = self.objective
        if self.choosing and isinstance(objective, Minimise | ChangeModel):
            return (replace(objective, of=self.chosen),)
        if self._picked:
            return (objective,)
        if self._training is not None and self._training < len(self.plan.phases):
            return self.plan.phases[self._training].objectives
        return (objective,) if len(self.plan.objectives) == 1 else ()

    def _follow_run(self, _state: str = "") -> None:
        """Show the phase that trains, when another one does; a choice is over when a run begins."""
        trainer, state = self.workspace.trainer, self.workspace.state
        if state == "loading":
            self._picked = False
        trains = trainer is not None and state in ("running", "paused")
        phase = trainer.progress.phase - 1 if trains and trainer is not None else None
        if phase != self._training:
            self._training = phase
            self.show_parts()
