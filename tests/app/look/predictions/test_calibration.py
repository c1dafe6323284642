"""Bins stand at how sure and how right the answers are; a model that is sure of all is told so."""

import numpy as np
import pytest

from app.charts.chart import Columns, Marks
from app.look.base import Subject
from app.look.predictions.calibration import Calibration
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.look.planes import add_points
from tests.app.look.showing import painted, shown, snapshot

SURE = np.r_[np.full(10, 0.65), np.full(10, 0.95)]
CORRECT = np.r_[np.arange(10) < 6, np.arange(10) < 5]


def drawn(workspace: Workspace) -> Calibration:
    add_points(workspace)
    view = Calibration(Subject(workspace, "n3"))
    facts = {"right": CORRECT.astype(int), "classes": ("no", "yes"), "rows": CORRECT, "total": 20}
    shown(view, {Probe("n3", "answers"): snapshot(np.stack([1 - SURE, SURE], 1), kind="classes", **facts)})
    return view


def test_two_bins(shaped: Workspace) -> None:
    view = drawn(shaped)
    (marks,) = [layer for layer in view.diagram.layers if isinstance(layer, Marks)]
    np.testing.assert_allclose(marks.x, [0.65, 0.95])
    np.testing.assert_allclose(marks.y, [0.6, 0.5])
    assert (view.diagram.frame_shown.x_name, view.diagram.frame_shown.y_name) == ("confidence", "accuracy")
    (bars,) = [layer for layer in view.histogram.layers if isinstance(layer, Columns)]
    assert bars.heights.tolist() == [0, 0, 0, 0, 0, 0, 10, 0, 0, 10]
    assert view.result.error == pytest.approx((0.05 + 0.45) / 2)
    assert view.note == "ECE 0.250 · sure 80.0 %, right 55.0 % · 20 held out examples"


def test_fifteen_bins_are_kept(shaped: Workspace) -> None:
    view = drawn(shaped)
    view.restore({"bins": "15"})
    assert len(view.result.counts) == 15 and view.state() == {"bins": "15"}
    assert len(view.table()[1]) == 15


def test_two_classes_begin_at_a_guess(shaped: Workspace) -> None:
    view = drawn(shaped)
    painted(view, 320, 280)
    assert view.diagram.frame_shown.x[0] == 0.5 and view.histogram.isVisible()
    painted(view, 300, 170)
    assert not view.histogram.isVisible()
