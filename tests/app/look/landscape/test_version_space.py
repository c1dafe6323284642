"""The path of a perceptron's weights into the version space, and the numbers beside it."""

import math

import numpy as np
import pytest

from app.charts.chart import Ground, Marks
from app.look.base import Subject
from app.look.landscape.version_space import VersionSpace
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.look.showing import painted, shown, snapshot
from tests.engine.sketches import gallery

FACTS = {
    "mistakes": 1,
    "margin": -0.2,
    "widest": 3**-0.5,
    "bound": 9.0,
    "rows": 4,
    "different": 4,
    "separable": 14,
    "labellings": 16,
}


def test_the_path_of_the_weights(shaped: Workspace) -> None:
    shaped.document.replace(gallery("perceptron-gates"), None)
    subject = Subject(shaped, "n2")
    view, probe = VersionSpace(subject), Probe("n2", "version_space")
    wrong = np.minimum(np.arange(61 * 121).reshape(61, 121) // 1476, 4).astype(np.float32)
    for updates, weights in enumerate(((0.0, 0.0, 0.0), (1.0, 1.0, 0.0), (0.0, 2.0, -2.0))):
        shown(view, {probe: snapshot(wrong, **FACTS, updates=updates, weights=np.array(weights))})
    ground, _, before, now = view.map.layers
    assert isinstance(ground, Ground) and isinstance(before, Marks) and isinstance(now, Marks)
    assert (before.x.tolist(), before.y.tolist()) == (pytest.approx([45]), [0])
    assert (now.x.tolist(), now.y.tolist()) == (pytest.approx([90]), pytest.approx([-math.sqrt(0.5)]))
    told = dict(zip(view.words.text().split("\n"), view.values.text().split("\n"), strict=True))
    assert told["updates"] == "2" and told["at most R² / γ²"] == "9.0"
    assert told["separable labellings"] == "14 of 16" and told["version space"] == "20.0 %"
    assert len(np.unique(painted(view, 460, 280))) > 5
    endless = {**FACTS, "bound": math.inf, "widest": 0.0}
    shown(view, {probe: snapshot(wrong, **endless, updates=0, weights=np.array((0.0, -1.0, 0.0)))})
    assert len(view.path) == 1 and "no bound" in view.values.text()
