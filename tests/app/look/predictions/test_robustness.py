"""The curve of accuracy under attack: asked for, growing, cancelled, and several beside each other."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.charts.chart import Curve, Marks
from app.look.base import Subject
from app.look.predictions.robustness import Robustness, can_be_attacked
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.look.showing import painted, shown, snapshot
from tests.app.look.test_every_kind import project_of

FACTS = {"total": 3, "trained": 0.1, "rows": 64, "split": "validation", "steps": 20}
WHOLE = np.array([[0.0, 0.95], [0.1, 0.8], [0.2, 0.3]])


def view_of(workspace: Workspace, qtbot: QtBot) -> Robustness:
    workspace.document.replace(project_of("robust-digits"), None)
    assert can_be_attacked(Subject(workspace, "n4")) and can_be_attacked(Subject(workspace, "n5"))
    assert not can_be_attacked(Subject(workspace, "n1"))
    view = Robustness(Subject(workspace, "n4"))
    qtbot.addWidget(view)
    return view


def asked(view: Robustness) -> Probe:
    view.start.click()
    (probe,) = view.probes()
    return probe


def test_it_is_measured_when_asked_for_and_grows(shaped: Workspace, qtbot: QtBot) -> None:
    view = view_of(shaped, qtbot)
    assert not view.probes() and view.chart.message
    probe = asked(view)
    assert probe == Probe("", "robustness", ("attack", 256, 30, 20, 1)) and not view.rows.isEnabled()
    shown(view, {probe: snapshot(WHOLE[:1], **FACTS)})
    assert view.bar.value() == 1 and view.note == "1 of 3 values of ε" and view.probes() == {probe}
    shown(view, {probe: snapshot(WHOLE, **FACTS)})
    assert not view.probes() and view.rows.isEnabled() and "PGD, 20 steps" in view.note
    frame, layers = view.chart.frame_shown, view.chart.layers
    assert (frame.x_name, frame.y_name) == ("perturbation ε", "accuracy")
    (marks,) = [layer for layer in layers if isinstance(layer, Marks)]
    assert marks.x.tolist() == [0, 0.1, 0.2] and marks.y.tolist() == [0.95, 0.8, 0.3]
    clean, trained = (
        next(one for one in layers if isinstance(one, Curve) and one.style == style)
        for style in (Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)
    )
    assert clean.y.tolist() == [0.95, 0.95] and trained.x.tolist() == [0.1, 0.1]
    assert view.chart.read is not None and "about 87.5 %" in view.chart.read(0.05, 0.5)
    painted(view, 420, 300)


def test_it_is_cancelled_and_keeps_what_it_has(shaped: Workspace, qtbot: QtBot) -> None:
    view = view_of(shaped, qtbot)
    asked(view)
    view.stop.click()
    assert not view.probes() and view.table() is None and view.chart.message
    probe = asked(view)
    assert probe.detail[-1] == 2
    shown(view, {probe: snapshot(WHOLE[:2], **FACTS)})
    view.stop.click()
    assert not view.probes()
    assert (view.table() or ((), ()))[1] == [("", 1, 0.0, 0.95), ("", 1, 0.1, 0.8)]


def test_several_measurements_stand_in_one_chart_and_are_kept(shaped: Workspace, qtbot: QtBot) -> None:
    view = view_of(shaped, qtbot)
    view.restore({"measured": [["without", 100, [[0.0, 0.97], [0.3, 0.0]]], "nonsense"]})
    assert view.table() is None  # what cannot be read is left out
    view.restore({"rows": 64, "measured": [["without", 100, [[0.0, 0.97], [0.3, 0.0]]]]})
    probe = asked(view)
    shown(view, {probe: snapshot(WHOLE, **FACTS)})
    assert [entry.name for entry in view.chart.frame_shown.legend[1:]] == ["without · step 100", "step 1"]
    assert view.chart.frame_shown.x[1] > 0.3
    assert len([layer for layer in view.chart.layers if isinstance(layer, Marks)]) == 2
    probe = asked(view)  # at the same step again: in place of the one before
    shown(view, {probe: snapshot(WHOLE, **FACTS)})
    assert len({row[:2] for row in (view.table() or ((), ()))[1]}) == 2
    other = view_of(shaped, qtbot)
    other.restore(view.state())
    assert other.table() == view.table() and not other.clear.isHidden()
    other.clear.click()
    assert {row[:2] for row in (other.table() or ((), ()))[1]} == {("", 1)} and other.clear.isHidden()
