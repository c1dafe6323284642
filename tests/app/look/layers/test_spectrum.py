"""One bar a singular value, the numbers for a file, the rank beside the title."""

import numpy as np

from app.look.base import Subject
from app.look.layers.spectrum import Spectrum
from app.look.registry import proposed
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot

FOUND = Probe("n2", "singular_values")


def test_bars_fall_with_the_values(shaped: Workspace) -> None:
    add_iris(shaped)
    view = Spectrum(Subject(shaped, "n2"))
    empty = painted(view)
    shown(view, {FOUND: snapshot([4.0, 2.0, 1.0], rank=2.6, largest=4.0)})
    assert view.note == "largest 4 · effective rank 2.6"
    header, rows = view.table()
    assert header == ("direction", "singular value")
    assert rows == [(1, 4.0), (2, 2.0), (3, 1.0)]
    drawn = (painted(view) != empty).any(axis=2)
    heights = [view.bars.bar(index).height() for index in range(3)]
    np.testing.assert_allclose(np.array(heights) / heights[0], [1, 0.5, 0.25], atol=1e-6)
    for index in range(3):
        middle = view.bars.bar(index).center()
        assert drawn[round(middle.y()), round(middle.x())]


def test_values_at_the_start_lie_behind_as_a_line(shaped: Workspace) -> None:
    add_iris(shaped)
    view = Spectrum(Subject(shaped, "n2"))
    shown(view, {FOUND: snapshot([4.0, 2.0], rank=2.6, largest=4.0, first=np.array([3.0, 1.0]), since=0)})
    assert view.note.endswith("dashed: step 0")
    header, rows = view.table()
    assert header[-1] == "at the start" and rows == [(1, 4.0, 3.0), (2, 2.0, 1.0)]
    image = painted(view).astype(int)
    row = round(view.bars.places(np.array([1.0]), np.array([3.0]))[0, 1])
    area = view.bars.area()
    line = image[row - 1 : row + 2, int(area.left()) : int(area.center().x())].reshape(-1, 3)
    assert (line[:, 0] > line[:, 2] + 60).sum() > 10


def test_a_logarithmic_axis_shows_small_values(shaped: Workspace) -> None:
    add_iris(shaped)
    view = Spectrum(Subject(shaped, "n2"))
    shown(view, {FOUND: snapshot([100.0, 10.0, 1.0, 0.0], rank=2.6, largest=4.0)})
    view.restore({"axis": "log"})
    painted(view)
    tops = [view.bars.bar(index).top() for index in range(4)]
    assert abs((tops[1] - tops[0]) - (tops[2] - tops[1])) < 0.01
    assert view.bars.bar(3).height() == 0
    assert view.state() == {"axis": "log"}


def test_it_is_proposed_for_layers_with_weights_alone(shaped: Workspace) -> None:
    add_iris(shaped)
    names = {node: {kind.id for kind in proposed(Subject(shaped, node))} for node in ("n1", "n2", "n3")}
    assert "spectrum" in names["n2"]
    assert "spectrum" not in names["n1"] | names["n3"]
