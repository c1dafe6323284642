"""Ridges: the newest in front, over one axis, never more than sixty, and those of the run on show."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.layers.ridge import MOST, RidgeView
from app.look.registry import proposed
from app.look.through_time import ThroughTime
from app.theme import current_theme
from app.widgets.segments import Segments
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe, Snapshot
from engine.feed.history import History
from engine.look import reduce
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown

WEIGHTS = Probe("n2", "weights")


def spread(step: int, middle: float, width: float = 0.1) -> Snapshot:
    values = middle + width * torch.linspace(-1, 1, 2001)
    counts, facts = reduce.histogram([values])
    return Snapshot(1, step, counts, facts)


@pytest.fixture
def view(shaped: Workspace, qtbot: QtBot) -> RidgeView:
    add_iris(shaped)
    made = RidgeView(Subject(shaped, "n2"))
    qtbot.addWidget(made)
    return made


def test_ridges_stand_over_their_values_the_newest_in_front(view: RidgeView) -> None:
    for step, middle in ((1, -1.0), (50, 0.0), (100, 1.0)):
        shown(view, {WEIGHTS: spread(step, middle)})
    ridges = view.ridges
    assert [row.step for row in ridges.rows] == [1, 50, 100]
    image = painted(view, 400, 240)
    low, high = ridges.reach()
    assert low <= -0.9 and high == pytest.approx(1.1)
    for index, middle in enumerate((-0.95, 0.0, 1.0)):
        box = ridges.outline(index).boundingRect()
        area = ridges._area()
        x = area.left() + (middle - low) / (high - low) * area.width()
        assert box.left() <= x <= box.right()
        assert box.bottom() == pytest.approx(ridges.base(index))
    assert ridges.base(0) < ridges.base(1) < ridges.base(2)
    # The newest is painted in the strongest colour, along its upper edge.
    top = ridges.outline(2).boundingRect()
    good = current_theme().good
    strip = image[int(top.top()) - 1 : int(top.top()) + 4, int(top.center().x())].astype(int)
    assert (abs(strip - [good.red(), good.green(), good.blue()]).sum(1) < 60).any()


def test_at_most_sixty_moments_are_kept_and_the_newest_is_among_them(view: RidgeView) -> None:
    for step in range(1, 1001, 3):
        view.draw({WEIGHTS: spread(step, step / 1000)})
        assert len(view.ridges.rows) <= MOST
    steps = [row.step for row in view.ridges.rows]
    assert steps[0] == 1
    assert steps[-1] == 1000
    assert steps == sorted(steps)
    assert len(view._past._made) <= MOST


def test_a_recorded_run_is_read_up_to_the_moment_on_show(view: RidgeView) -> None:
    history = History()
    history.record_only(frozenset({WEIGHTS}))
    for step in range(10, 510, 10):
        history.record(WEIGHTS, spread(step, 0.0))
    view.history = history
    shown(view, {WEIGHTS: spread(300, 0.0)})
    assert [row.step for row in view.ridges.rows] == list(range(10, 301, 10))
    shown(view, {WEIGHTS: spread(40, 0.0)})
    assert [row.step for row in view.ridges.rows] == [10, 20, 30, 40]
    shown(view, {WEIGHTS: spread(500, 0.0)})
    assert [row.step for row in view.ridges.rows] == list(range(10, 501, 10))


def test_a_run_that_begins_anew_leaves_nothing_of_the_last(view: RidgeView) -> None:
    for step in (10, 20, 30, 5):
        view.draw({WEIGHTS: spread(step, 0.0)})
    assert [row.step for row in view.ridges.rows] == [5]


def test_moments_of_a_long_record_stay_the_same_while_it_grows() -> None:
    history, past = History(), ThroughTime(lambda snapshot: snapshot.step, 20)
    history.record_only(frozenset({WEIGHTS}))
    kept: list[int] = []
    for step in range(1, 200):
        one = spread(step, 0.0)
        history.record(WEIGHTS, one)
        found = [at for at, _ in past.until(WEIGHTS, one, history)]
        assert len(found) <= 20
        assert found[0] == 1 and found[-1] == step
        if step > 1 and len(found) > len(kept):
            assert set(kept[:-1]) <= set(found)
        kept = found


def test_the_control_asks_for_other_numbers(view: RidgeView, qtbot: QtBot) -> None:
    control = view.controls()
    assert isinstance(control, Segments)
    assert view.probes() == {WEIGHTS}
    with qtbot.waitSignal(view.needs_changed):
        control.choose("gradients")
    assert view.probes() == {Probe("n2", "gradients")}
    assert view.state() == {"of": "gradients"}
    view.restore({"of": "output_histogram"})
    assert view.probes() == {Probe("n2", "output_histogram")}


def test_the_numbers_are_those_of_all_moments(view: RidgeView) -> None:
    assert view.table() is None
    for step in (1, 2):
        view.draw({WEIGHTS: spread(step, 0.0)})
    header, rows = view.table()
    assert header == ("step", "from", "to", "count")
    assert len(rows) == 2 * reduce.BINS
    assert sum(row[3] for row in rows if row[0] == 1) == 2001


def test_it_suits_what_has_values(shaped: Workspace, view: RidgeView) -> None:
    names = {node: {kind.id for kind in proposed(Subject(shaped, node))} for node in ("n1", "n2", "n3")}
    assert "ridge" in names["n1"] & names["n2"]
    assert "ridge" not in names["n3"]
    assert RidgeView(Subject(shaped, "n1")).controls() is None
    assert np.isfinite(view.ridges.sizeHint().width())
