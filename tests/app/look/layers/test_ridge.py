"""Ridges: the newest in front, over one axis, never more than sixty, and those of the run on show."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pytestqt.qtbot import QtBot

from app.charts.segments import Segments
from app.look.base import Subject
from app.look.layers.ridge import MOST, RidgePicture
from app.look.registry import proposed
from app.look.through_time import ThroughTime
from app.theme import current_theme
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
def picture(shaped: Workspace, qtbot: QtBot) -> RidgePicture:
    add_iris(shaped)
    made = RidgePicture(Subject(shaped, "n2"))
    qtbot.addWidget(made)
    return made


def test_ridges_stand_over_their_values_the_newest_in_front(picture: RidgePicture) -> None:
    for step, middle in ((1, -1.0), (50, 0.0), (100, 1.0)):
        shown(picture, {WEIGHTS: spread(step, middle)})
    ridges = picture.ridges
    assert [row.step for row in ridges.rows] == [1, 50, 100]
    image = painted(picture, 400, 240)
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


def test_at_most_sixty_moments_are_kept_and_the_newest_is_among_them(picture: RidgePicture) -> None:
    for step in range(1, 1001, 3):
        picture.draw({WEIGHTS: spread(step, step / 1000)})
        assert len(picture.ridges.rows) <= MOST
    steps = [row.step for row in picture.ridges.rows]
    assert steps[0] == 1
    assert steps[-1] == 1000
    assert steps == sorted(steps)
    assert len(picture._past._made) <= MOST


def test_a_recorded_run_is_read_up_to_the_moment_on_show(picture: RidgePicture) -> None:
    history = History()
    history.record_only(frozenset({WEIGHTS}))
    for step in range(10, 510, 10):
        history.record(WEIGHTS, spread(step, 0.0))
    picture.history = history
    shown(picture, {WEIGHTS: spread(300, 0.0)})
    assert [row.step for row in picture.ridges.rows] == list(range(10, 301, 10))
    shown(picture, {WEIGHTS: spread(40, 0.0)})
    assert [row.step for row in picture.ridges.rows] == [10, 20, 30, 40]
    shown(picture, {WEIGHTS: spread(500, 0.0)})
    assert [row.step for row in picture.ridges.rows] == list(range(10, 501, 10))


def test_a_run_that_begins_anew_leaves_nothing_of_the_last(picture: RidgePicture) -> None:
    for step in (10, 20, 30, 5):
        picture.draw({WEIGHTS: spread(step, 0.0)})
    assert [row.step for row in picture.ridges.rows] == [5]


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


def test_the_control_asks_for_other_numbers(picture: RidgePicture, qtbot: QtBot) -> None:
    control = picture.controls()
    assert isinstance(control, Segments)
    assert picture.probes() == {WEIGHTS}
    with qtbot.waitSignal(picture.needs_changed):
        control.choose("gradients")
    assert picture.probes() == {Probe("n2", "gradients")}
    assert picture.state() == {"of": "gradients"}
    picture.restore({"of": "output_histogram"})
    assert picture.probes() == {Probe("n2", "output_histogram")}


def test_the_numbers_are_those_of_all_moments(picture: RidgePicture) -> None:
    assert picture.table() is None
    for step in (1, 2):
        picture.draw({WEIGHTS: spread(step, 0.0)})
    header, rows = picture.table()
    assert header == ("step", "from", "to", "count")
    assert len(rows) == 2 * reduce.BINS
    assert sum(row[3] for row in rows if row[0] == 1) == 2001


def test_it_suits_what_has_values(shaped: Workspace, picture: RidgePicture) -> None:
    names = {node: {kind.id for kind in proposed(Subject(shaped, node))} for node in ("n1", "n2", "n3")}
    assert "ridge" in names["n1"] & names["n2"]
    assert "ridge" not in names["n3"]
    assert RidgePicture(Subject(shaped, "n1")).controls() is None
    assert np.isfinite(picture.ridges.sizeHint().width())
