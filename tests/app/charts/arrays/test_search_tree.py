"""The tree of a beam search: paths, what came to nothing, and places that do not overlap."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from pytestqt.qtbot import QtBot

from app.charts.arrays.search_tree import Hypothesis, SearchTree, path_to, shown_token, standing
from tests.app.look.showing import painted

# Step 2 goes on with the second of step 1 only, step 3 with the second of step 2.
TREE = (
    (Hypothesis(0, "a", -1.0), Hypothesis(0, "b", -1.5), Hypothesis(0, "c", -3.0, kept=False)),
    (Hypothesis(1, "d", -2.0), Hypothesis(1, " ", -2.2), Hypothesis(0, "f", -4.0, kept=False)),
    (Hypothesis(1, "g", -2.5), Hypothesis(1, "h", -2.9), Hypothesis(0, "i", -5.0, kept=False)),
)


def test_the_path_of_the_best_goes_back_by_parents() -> None:
    assert path_to(TREE, 2) == [1, 1, 0] and path_to(TREE, 0) == [0] and path_to(TREE, 2, 2) == [1, 0, 2]


def test_how_a_hypothesis_stands_depends_on_the_step() -> None:
    assert standing(TREE, 0) == [{0: "best", 1: "alive", 2: "dropped"}]
    after = standing(TREE, 2)
    assert after[0] == {0: "ended", 1: "best", 2: "dropped"}
    assert after[1] == {0: "ended", 1: "best", 2: "dropped"}
    assert after[2] == {0: "best", 1: "alive", 2: "dropped"}


def test_what_is_blank_can_be_seen() -> None:
    assert shown_token(" ") == "␣" and shown_token("\n") == "↵" and shown_token("") == "∅"


def test_boxes_stand_apart_and_siblings_in_the_order_of_their_parents(qtbot: QtBot) -> None:
    tree = SearchTree()
    qtbot.addWidget(tree)
    tree.show_tree(TREE, 2)
    wide = painted(tree, 520, 160)
    places = tree.places()
    assert len(places) == 9 and {one.step for one in places} == {0, 1, 2}
    for one, other in combinations(places, 2):
        assert not one.box.intersects(other.box)
    lines = {(one.step, one.number): one.box.center().y() for one in places}
    assert lines[1, 2] < lines[1, 0] < lines[1, 1]  # "f" goes on "a", which stands above "b"
    best = next(one for one in places if one.how == "best" and one.step == 1)
    words = tree.describe(best.box.center().toPoint())
    assert words.startswith("b \nlog-probability -2.2000 · number 2 of step 2") and "likeliest" in words
    assert tree.describe(tree.rect().topLeft()) == ""
    tree.show_tree(TREE, 0)
    assert {one.step for one in tree.places()} == {0} and not np.array_equal(wide, painted(tree, 520, 160))


def test_where_there_is_no_room_for_all_steps_the_last_are_shown(qtbot: QtBot) -> None:
    tree = SearchTree()
    qtbot.addWidget(tree)
    tree.show_tree(TREE, 2)
    painted(tree, 280, 160)
    assert {one.step for one in tree.places()} == {1, 2}
    assert all(one.box.left() >= 0 and one.box.right() <= 280 for one in tree.places())
