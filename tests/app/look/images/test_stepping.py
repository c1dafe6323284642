"""The window stands where it should, and its numbers are those of the model."""

import dataclasses

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.look.base import Subject
from app.look.images.stepping import WindowSteps
from app.look.images.sums import Stepped, size_words, sums_at
from app.look.images.window_steps import Stepping
from app.look.registry import proposed
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from engine.look.images.window_steps import Window
from tests.app.look.image_nets import add_branches
from tests.app.look.showing import painted, shown, snapshot
from tests.engine.look.image_nets import two_branches
from tests.engine.look.taking import take
from tests.engine.train.networks import run_of

X = np.arange(16.0).reshape(4, 4)
SIMPLE = Stepped("convolution", X, X[:2, :2], Window((3, 3)), np.eye(3), np.full((2, 2), 2.0), 0.5, "ReLU", 3)


def test_the_sum_is_written_out_as_it_is_computed() -> None:
    sums = sums_at(SIMPLE, 1, 0)
    assert sums.under.tolist() == [[4, 5, 6], [8, 9, 10], [12, 13, 14]]
    assert sums.own == 4 + 9 + 14 and sums.others == 2 and sums.total == 29.5 and sums.made == 4
    assert size_words(SIMPLE, 0) == "⌊(4 + 2·0 - 1·(3 - 1) - 1) / 1⌋ + 1 = 2"


def test_padding_counts_as_zeros_for_sums_and_not_at_all_for_pools() -> None:
    padded = dataclasses.replace(SIMPLE, window=Window((3, 3), before=(1, 1), behind=(1, 1)), made=X)
    assert sums_at(dataclasses.replace(padded, others=X), 0, 0).under.tolist()[0] == [0, 0, 0]
    pool = Stepped("mean", X[:3, :3], np.zeros((2, 2)), Window((2, 2), (2, 2), behind=(1, 1)))
    assert sums_at(pool, 1, 1).own == X[2, 2] and np.isnan(sums_at(pool, 1, 1).under[1, 1])


@pytest.mark.parametrize("node", ["n2", "n3", "n5", "n6"])
def test_every_number_on_screen_is_the_models(shaped: Workspace, node: str) -> None:
    add_branches(shaped)
    picture = WindowSteps(Subject(shaped, node))
    probe = Probe(node, "window", (0, 0))
    (found,) = take(run_of(two_branches()), probe)
    shown(picture, {probe: found})
    stepped = picture.stepping.found
    after = {"ReLU": lambda x: max(0.0, x), "tanh": np.tanh, "none": lambda x: x}[stepped.activation]
    for step in range(stepped.made.size):
        picture.stepping.go(step)
        sums = picture.stepping.sums()
        assert abs(after(sums.total) - found.extra["made"].ravel()[step]) < 1e-5
    assert stepped.image == (node in ("n2", "n3"))
    assert f"= {stepped.made.shape[1]}" in size_words(stepped, 1)


def test_a_press_on_a_map_puts_the_window_there(qapp: object) -> None:
    view = Stepping()
    view.show_found(SIMPLE)
    painted(view, 620, 260)
    given, made = view.maps
    cell = made.width() / 2
    QTest.mouseClick(
        view, Qt.MouseButton.LeftButton, pos=QPoint(round(made.left() + 1.5 * cell), round(made.top() + 5))
    )
    assert view.place == (0, 1)
    side = given.width() / 4
    QTest.mouseClick(
        view,
        Qt.MouseButton.LeftButton,
        pos=QPoint(round(given.left() + 1.5 * side), round(given.top() + 2.5 * side)),
    )
    assert view.place == (1, 0)
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.step == 3
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.step == 0


def test_the_map_fills_up_and_the_window_is_outlined(qapp: object) -> None:
    view = Stepping()
    view.show_found(SIMPLE)
    image = painted(view, 620, 260)
    given, made = view.maps
    orange = np.array([0xFF, 0xB0, 0x00])
    edge = image[
        round(given.top() + given.height() * 0.75) - 3 : round(given.top() + given.height() * 0.75) + 3
    ]
    inside = edge[:, round(given.left()) : round(given.left() + given.width() * 0.7)]
    assert (np.abs(inside.astype(int) - orange).sum(axis=2) < 30).any(axis=0).mean() > 0.9
    corner = (round(made.bottom() - made.height() / 4), round(made.right() - made.width() / 4))
    empty = image[corner].copy()
    view.go(3)
    full = painted(view, 620, 260)
    assert (full[made.toRect().center().y() + 12, made.toRect().center().x() + 12] != empty).any()


def test_it_plays_while_it_is_seen_and_stops(shaped: Workspace) -> None:
    add_branches(shaped)
    picture = WindowSteps(Subject(shaped, "n2"))
    facts = {"kind": "convolution", "kernel": np.eye(3), "others": np.zeros((2, 2)), "made": X[:2, :2]}
    facts |= {"window": ((3, 3), (1, 1), (0, 0), (0, 0), (1, 1)), "filters": 3, "channels": 1, "example": 0}
    shown(picture, {Probe("n2", "window", (0, 0)): snapshot(X, **facts)})
    painted(picture)
    picture.play.setChecked(True)
    assert picture._timer.isActive() and picture.play.text() == "Pause"
    picture._next()
    assert picture.stepping.step == 1 and picture.note.startswith("row 1, column 2")
    picture.hide()
    assert not picture._timer.isActive() and not picture.play.isChecked()
    picture.restore({"filter": 2})
    assert picture.probes() == {Probe("n2", "window", (2, 0))}
    assert picture.state() == {"filter": 2, "channel": 0, "slice": 0, "field": False, "step": 1}
    picture.restore({"step": 3})
    assert picture.stepping.place == (1, 1)
    picture.restore({"step": 99})
    assert picture.stepping.place == (1, 1)


def test_it_is_proposed_where_a_window_moves(shaped: Workspace) -> None:
    add_branches(shaped)
    has = {
        node: "window-steps" in {kind.id for kind in proposed(Subject(shaped, node))}
        for node in ("n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9")
    }
    assert {node for node, fits in has.items() if fits} == {"n2", "n3", "n5", "n6"}


def test_a_kernel_for_each_place_and_padding_that_is_no_zeros() -> None:
    kernels = np.arange(16.0).reshape(2, 2, 2, 2)
    window = Window((2, 2), (2, 2), (1, 1), (0, 0))
    framed = np.pad(X[:3, :3], ((1, 0), (1, 0)), mode="wrap")
    found = Stepped(
        "convolution", X[:3, :3], np.zeros((2, 2)), window, kernels, None, X[:2, :2], framed=framed
    )
    sums = sums_at(found, 1, 0)
    assert sums.under.tolist() == [[6, 4], [10, 8]]
    assert sums.own == 6 * 8 + 4 * 9 + 10 * 10 + 8 * 11 and sums.bias == 4


@pytest.mark.parametrize(("kind", "wanted"), [("max", 10), ("min", 5), ("mean", 7.5), ("Lp", 242**0.5)])
def test_each_kind_of_pool_by_hand(kind: str, wanted: float) -> None:
    pool = Stepped(kind, X, np.zeros((2, 2)), Window((2, 2), before=(0, 0)), power=2.0)
    assert sums_at(pool, 1, 1).own == pytest.approx(wanted)


def test_the_pixels_that_a_place_depends_on_are_outlined_beside_it(shaped: Workspace) -> None:
    add_branches(shaped)
    picture = WindowSteps(Subject(shaped, "n5"))
    picture.field.setChecked(True)
    window, fields = Probe("n5", "window", (0, 0)), Probe("n5", "fields")
    assert picture.probes() == {window, fields} and picture.essential() == {window}
    taken = take(run_of(two_branches()), window, fields)
    shown(picture, dict(zip((window, fields), taken, strict=True)))
    field = picture.stepping.field
    assert field is not None and field.box(2, 2) == (1, 1, 8, 8) and field.image.shape == (8, 8)
    with_field = painted(picture, 700, 260)
    picture.field.setChecked(False)
    assert picture.probes() == {window} and picture.stepping.field is None
    assert (painted(picture, 700, 260) != with_field).any()
    assert picture.state()["field"] is False
