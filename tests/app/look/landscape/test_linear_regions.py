"""Linear regions on a line and in the plane, and a hidden layer in four steps."""

import numpy as np
import pytest

from app.charts.chart import Areas, Curve, Ground, Marks, Pieces
from app.look.base import Subject
from app.look.landscape.linear_regions import LinearRegions, of_straight_pieces
from app.look.landscape.unit_steps import UnitSteps, is_taken_apart
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.look.showing import painted, shown, snapshot
from tests.engine.sketches import gallery

HINGE = {
    "inputs": 1,
    "names": ("x",),
    "target": "y",
    "classes": (),
    "sizes": np.array([2, 2]),
    "active": np.array([1, 0]),
    "cuts": np.array([[[0.0]]]),
    "cut_layers": np.array([0]),
    "layers": ("n2",),
    "widths": (3,),
    "at_most": 4,
    "parameters": 10,
}
PLANE = {
    **HINGE,
    "inputs": 2,
    "names": ("x", "y"),
    "sizes": np.array([4, 4]),
    "cuts": np.array([[[0.0, 0.0], [0.0, 1.0]]]),
    "at_most": 7,
}


@pytest.fixture
def workspace(shaped: Workspace) -> Workspace:
    shaped.document.replace(gallery("shallow-relu"), None)
    return shaped


def test_the_joints_of_a_line(workspace: Workspace) -> None:
    subject = Subject(workspace, "n4")
    assert of_straight_pieces(subject) and not of_straight_pieces(Subject(workspace, "n2"))
    view, probe = LinearRegions(subject), Probe("n4", "linear_regions")
    right_first = [(0, 0), (1, 1), (-1, 0), (0, 0)]
    shown(view, {probe: snapshot(right_first, **HINGE)})
    ground, curve, joints = view.chart.layers
    assert isinstance(ground, Ground) and isinstance(curve, Curve) and isinstance(joints, Marks)
    assert curve.x.tolist() == [-1, 0, 0, 1] and curve.y.tolist() == [0, 0, 0, 1]
    assert (joints.x.tolist(), joints.y.tolist()) == ([0], [0])
    told = dict(zip(view.words.text().split("\n"), view.values.text().split("\n"), strict=True))
    assert told == {"linear regions": "2", "at most": "4", "units with joints": "3", "parameters": "10"}
    image = painted(view, 460, 290)
    left, right = image[150, 100], image[150, 220]
    assert (left != right).any()
    rows = view.table()
    assert rows is not None and rows[1][0] == (1, 1, 0, 0) and rows[1][-1] == (2, 0, 0, 0)


def test_regions_of_the_plane(workspace: Workspace) -> None:
    view, probe = LinearRegions(Subject(workspace, "n4")), Probe("n4", "linear_regions")
    left = [(-1, 0, 0), (0, 0, 0), (0, 1, 0), (-1, 1, 0)]
    right = [(0, 0, 0), (1, 0, 2), (1, 1, 2), (0, 1, 0)]
    shown(view, {probe: snapshot([*left, *right], **PLANE)})
    areas, lines = view.chart.layers
    assert isinstance(areas, Areas) and isinstance(lines, Pieces)
    assert [len(corners) for corners in areas.corners] == [4, 4] and lines.ends.shape == (1, 2, 2)
    assert "7" in view.values.text() and len(np.unique(painted(view, 460, 290))) > 5


def test_a_hidden_layer_in_four_steps(workspace: Workspace) -> None:
    nodes = workspace.document.project.graph.nodes
    apart = [one for one in nodes if is_taken_apart(Subject(workspace, one))]
    assert apart == ["n2", "n5", "n6", "n9", "n12"]
    view, probe = UnitSteps(Subject(workspace, "n2")), Probe("n2", "unit_steps", (0,))
    facts = {
        "units": 1,
        "outputs": 2,
        "output": 0,
        "reads": "n3",
        "offset": 0.5,
        "name": "x",
        "straight": True,
        "joints": np.array([[0, 0.0, 0.5]]),
        "earlier": np.array([-0.5]),
    }
    rows = [(-1, 0.5, -1, 0, 0), (-0.5, 0.5, -0.5, 0, 0), (0, 0.5, 0, 0, 0), (1, 2.5, 1, 1, 2)]
    shown(view, {probe: snapshot(rows, **facts)})
    assert view.note == "1 unit · 1 joint of this layer · 3 linear regions"
    curves = [next(layer for layer in chart.layers if isinstance(layer, Curve)) for chart in view.charts]
    assert [curve.y.tolist()[-1] for curve in curves] == [1, 1, 2, 2.5]
    assert "sum of three" in view.headings[2].text() and "0.5" in view.headings[3].text()
    assert len(np.unique(painted(view, 560, 380))) > 5
    view.restore({"output": 1})
    assert view.probes() == {Probe("n2", "unit_steps", (1,))} and view.state() == {"output": 1}
    curved = {**facts, "straight": False, "joints": np.empty((0, 3)), "earlier": np.empty(0)}
    shown(view, {Probe("n2", "unit_steps", (1,)): snapshot(rows, **curved)})
    assert "bent everywhere" in view.note
    assert not any(isinstance(one, Ground) for one in view.charts[0].layers)
