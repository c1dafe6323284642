"""Points stand at (right, predicted), the histogram counts what is left, the note says how far off it is."""

import numpy as np
import pytest

from app.charts.chart import Columns, Marks
from app.look.base import Subject
from app.look.predictions.predicted import Predicted
from app.look.registry import proposed
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.look.planes import add_line, add_points
from tests.app.look.showing import painted, shown, snapshot


def test_scatter_and_residuals(shaped: Workspace) -> None:
    add_line(shaped)
    view = Predicted(Subject(shaped, "n3"))
    right = np.linspace(0, 4, 101)
    pairs = np.stack([right + np.where(np.arange(101) % 2, 0.5, -0.5), right], 1)
    shown(view, {Probe("n3", "answers"): snapshot(pairs, rows=np.arange(101), total=202, kind="values")})
    painted(view, 440, 260)
    (marks,) = [layer for layer in view.scatter.layers if isinstance(layer, Marks)]
    np.testing.assert_allclose(marks.x, right)
    np.testing.assert_allclose(marks.y - marks.x, pairs[:, 0] - right)
    (bars,) = [layer for layer in view.histogram.layers if isinstance(layer, Columns)]
    assert bars.heights.sum() == 101 and (bars.heights > 0).sum() == 2
    assert view.note == "R² 0.816 · MAE 0.5 · RMSE 0.5 · 101 of 202 held out examples"
    area = view.scatter.area()
    assert area.width() == pytest.approx(area.height())
    assert view.histogram.isVisible()
    painted(view, 300, 200)
    assert not view.histogram.isVisible()


def test_it_suits_numbers_alone(shaped: Workspace) -> None:
    add_points(shaped)
    assert "predicted-against-right" not in {kind.id for kind in proposed(Subject(shaped, "n3"))}
