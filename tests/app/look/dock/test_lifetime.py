"""Opening and closing leaves nothing behind: no probe watched, no timer, no widget, no hook in the model."""

from __future__ import annotations

import gc

import pytest
from PySide6.QtCore import QEvent, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.dock.dock import ViewsDock
from app.look.registry import proposed, view_kinds
from app.theme import set_theme
from app.workspace.watching import watching
from app.workspace.workspace import Workspace
from engine.document.edits import SetPlan
from tests.app.conftest import add_iris
from tests.app.look.dock.conftest import Shown
from tests.sampling import every

FEW, MANY = 3, 100  # cycles of opening and closing
LONG = 60_000


def end_of_event() -> None:
    """Lets what was told to go, go."""
    QApplication.processEvents()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def can_be_made(kind_id: str, subject: Subject) -> bool:
    """Whether a view stands at a node, even if it is of no use there."""
    try:
        view = view_kinds()[kind_id].make(subject)
        view.probes()
    except Exception:  # it may count on what only other networks have
        return False
    view.deleteLater()
    return True


@pytest.mark.parametrize("cycles", [FEW, pytest.param(MANY, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("kind_id", every(3, sorted(view_kinds())))
def test_cycles_of_every_kind_leave_nothing(shown: Shown, kind_id: str, cycles: int) -> None:
    workspace, dock = shown.workspace, shown.dock
    subjects = [Subject(workspace), *(Subject(workspace, node) for node in workspace.graph.nodes)]
    fitting = [one for one in subjects if kind_id in {kind.id for kind in proposed(one)}]
    node_id = next((one.node_id for one in fitting or subjects if can_be_made(kind_id, one)), None)
    if node_id is None:
        pytest.skip("it can be made for no node of this network")
    shown.pin(kind_id, node_id)
    shown.snapshots(100)
    dock._dock_menu.close_pinned()
    end_of_event()
    gc.collect()
    widgets, timers = len(dock.findChildren(QWidget)), len(dock.findChildren(QTimer))
    watched = watching(workspace).union  # by what is shown while nothing is selected or pinned
    for _ in range(cycles):
        shown.pin(kind_id, node_id)
        shown.tick()
        dock._dock_menu.close_pinned()
        end_of_event()
    assert len(dock.findChildren(QWidget)) == widgets
    assert len(dock.findChildren(QTimer)) == timers
    assert watching(workspace).union == watched
    dock.hide()
    assert watching(workspace).union == frozenset()
    set_theme("light")  # reaches nobody who is gone
    set_theme("dark")


def test_no_hook_stays_in_a_model_whose_views_are_closed(qtbot: QtBot, workspace: Workspace) -> None:
    from app.workspace.engine_parts import EngineParts
    from engine.emit.script import export_script
    from engine.shapes.shapes import ShapeBook
    from engine.train.trainer import Trainer

    add_iris(workspace)
    workspace.apply("Plan", SetPlan(workspace.document.project.plan.with_(epochs=2)))
    workspace.adopt_engine(EngineParts(ShapeBook, Trainer, export_script))
    dock = ViewsDock(workspace)
    qtbot.addWidget(dock)
    dock.resize(1100, 500)
    dock.show()
    for kind in ("activations", "filters", "histograms", "spectrum"):
        dock.pin(kind, "n2")
    card = dock.card("activations")
    assert card is not None
    qtbot.waitUntil(lambda: card.state.kind == "drawn", timeout=LONG)
    workspace.train()
    qtbot.waitUntil(lambda: workspace.state == "finished", timeout=LONG)
    dock._dock_menu.close_pinned()
    dock.hide()
    qtbot.waitUntil(lambda: watching(workspace).union == frozenset())
    assert workspace.trainer.wait()
    run = workspace.trainer._worker.run
    hooks = [
        hook
        for module in run.model.modules()
        for hook in (*module._forward_hooks, *module._forward_pre_hooks, *module._backward_hooks)
    ]
    assert hooks == []
    assert not any(weight._backward_hooks for weight in run.model.parameters())
