"""The view of a beam search asks for what is chosen, and goes through the steps of its tree."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.registry import proposed
from app.look.sequences.beam import BeamSearch
from app.workspace.workspace import Workspace
from tests.app.look.showing import painted, shown
from tests.app.look.test_every_kind import project_of, run_at
from tests.engine.look.taking import take


def test_the_tree_of_a_real_network_is_gone_through(shaped: Workspace, qtbot: QtBot) -> None:
    shaped.document.replace(project_of("romeo-letters"), None)
    graph = shaped.document.project.graph
    subjects = [Subject(shaped, node) for node in graph.nodes]
    subject = next(one for one in subjects if any(kind.id == "beam-search" for kind in proposed(one)))
    view = BeamSearch(subject)
    qtbot.addWidget(view)
    view.restore({"width": 2, "length": 8})
    (probe,) = view.probes()
    assert probe.detail == ("generate", 0, "length", "8", "method", "beam", "width", "2")
    (found,) = take(run_at("romeo-letters"), probe)
    shown(view, {probe: found})
    painted(view, 560, 320)
    assert view.steps.slider.maximum() == 7 and len(view.tree.tree) == 8 and view.tree.step == 7
    assert "validation example 1" in view.note
    last = view.text.text()
    view.steps.slider.setValue(2)
    assert view.tree.step == 2 and last != view.text.text()
    shown(view, {probe: found})
    assert view.steps.slider.value() == 2  # a newer snapshot leaves the place
    header, rows = view.table() or ((), ())
    assert len(rows) == 8 * 4 and len(header) == 6 and sum(row[5] is True for row in rows) == 16
    with qtbot.waitSignal(view.needs_changed):
        view.beams.setCurrentIndex(view.beams.findData(8))
        view.beams.activated.emit(view.beams.currentIndex())
    other = BeamSearch(subject)
    qtbot.addWidget(other)
    other.restore(view.state())
    assert other.probes() == view.probes() != {probe}
