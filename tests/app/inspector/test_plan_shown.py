"""What the canvas shows of a plan of several steps: nothing, the one chosen, or the phase that trains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.inspector.inspector import InspectorPanel
from app.inspector.plan_focus import PlanFocus
from app.workspace.plan_parts import merged
from app.workspace.workspace import Workspace
from engine.document.edits import SetPlan
from engine.document.plan import Minimise, Phase
from tests.app.fake_run import RestingTrainer
from tests.app.inspector.plan_hands import page_of


def two_steps(net: Workspace, phases: int = 1) -> None:
    """A plan that trains n2 in one step and n3 in the other, in one phase or in two."""
    one, other = Minimise(of=("n2",)), Minimise(of=("n3",))
    both = (Phase((one, other)),) if phases == 1 else (Phase((one,)), Phase((other,)))
    net.apply("Plan", SetPlan(replace(net.document.project.plan, phases=both)))


def focus_of(inspector: InspectorPanel) -> PlanFocus:
    return page_of(inspector).focus


def test_what_one_step_trains_is_not_frozen_by_another() -> None:
    trained, frozen = {"a": "trained", "b": "frozen"}, {"a": "frozen", "b": "frozen", "c": "untouched"}
    assert merged([trained, frozen]) == {"a": "trained", "b": "frozen"}  # "c" runs in the first
    assert merged([{"c": "untouched"}, {"c": "untouched"}]) == {"c": "untouched"} and merged([]) == {}


def test_nothing_is_dimmed_before_a_step_is_chosen(net: Workspace, inspector: InspectorPanel) -> None:
    two_steps(net)
    focus = focus_of(inspector)
    assert focus.whole and net.parts == {}
    focus.show(0, 0)  # the one on show already
    assert (net.parts["n2"], net.parts["n3"]) == ("trained", "frozen")
    focus.show(0, 1)
    assert (net.parts["n2"], net.parts["n3"]) == ("frozen", "trained")


@pytest.mark.parametrize("phases", [1, 2])
def test_a_run_shows_the_phase_that_trains(net: Workspace, inspector: InspectorPanel, phases: int) -> None:
    two_steps(net, phases)
    focus = focus_of(inspector)
    focus.show(0, 0)
    trainer = RestingTrainer()
    net.trainer = trainer
    trainer.state = "loading"
    net.state_changed.emit("loading")
    trainer.state = "running"
    trainer.progress = replace(trainer.progress, phase=phases)
    net.state_changed.emit("running")
    n2 = "frozen" if phases == 2 else "trained"
    assert (net.parts["n2"], net.parts["n3"]) == (n2, "trained")
    focus.show(0, 0)  # a choice counts more than the run
    assert (net.parts["n2"], net.parts["n3"]) == ("trained", "frozen")
