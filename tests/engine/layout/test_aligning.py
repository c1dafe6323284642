"""Align, distribute, snap and make room: the right places, and nothing else moved."""

from __future__ import annotations

import pytest

from engine.layout.aligning import Edge, Rect, align, distribute, make_room, snap

RECTS: dict[str, Rect] = {"a": (0, 0, 100, 50), "b": (200, 30, 60, 90), "c": (500, 100, 100, 50)}


@pytest.mark.parametrize(
    ("edge", "expected"),
    [
        ("left", {"b": (0, 30), "c": (0, 100)}),
        ("right", {"a": (500, 0), "b": (540, 30)}),
        ("centre", {"a": (250, 0), "b": (270, 30), "c": (250, 100)}),
        ("top", {"b": (200, 0), "c": (500, 0)}),
        ("bottom", {"a": (0, 100), "b": (200, 60)}),
        ("middle", {"a": (0, 50), "c": (500, 50)}),
    ],
)
def test_align(edge: Edge, expected: dict[str, tuple[float, float]]) -> None:
    assert align(RECTS, edge) == expected


def test_aligned_rects_stay_when_aligned_again() -> None:
    moved = {name: (*place, *RECTS[name][2:]) for name, place in align(RECTS, "centre").items()}
    assert align(moved, "centre") == {}


def test_distributed_gaps_are_equal_and_the_ends_stay() -> None:
    # 600 across, 260 of it rects: two gaps of 170
    assert distribute(RECTS, "horizontally") == {"b": (270, 30)}
    assert distribute({**RECTS, "b": (270, 30, 60, 90)}, "horizontally") == {}


def test_distribute_goes_by_middles_not_by_names() -> None:
    found = distribute({"z": (0, 0, 10, 10), "y": (0, 90, 10, 10), "x": (0, 20, 10, 10)}, "vertically")
    assert found == {"x": (0, 45)}


def test_without_room_the_others_follow_the_first() -> None:
    crowd: dict[str, Rect] = {"a": (0, 0, 100, 50), "b": (10, 0, 100, 50), "c": (20, 0, 100, 50)}
    assert distribute(crowd, "horizontally") == {"b": (124, 0), "c": (248, 0)}


@pytest.mark.parametrize("few", [{}, {"a": RECTS["a"]}])
def test_nothing_to_line_up_with(few: dict[str, Rect]) -> None:
    assert align(few, "left") == {}
    assert distribute(few, "vertically") == {}
    assert make_room(few, (1000, 1000, 10, 10)) == {}


def test_snap_moves_to_the_nearest_point_of_the_grid() -> None:
    rects: dict[str, Rect] = {"on": (8, -16, 1, 1), "off": (11, -13, 1, 1), "half": (12.5, 3, 1, 1)}
    assert snap(rects, 8) == {"off": (8, -16), "half": (16, 0)}
    with pytest.raises(ValueError, match="above 0"):
        snap(rects, 0)


def test_room_is_made_on_both_sides_and_rows_keep_their_distances() -> None:
    row: dict[str, Rect] = {
        "first": (0, 0, 100, 50),
        "second": (200, 0, 100, 50),
        "third": (400, 0, 100, 50),
        "below": (200, 400, 100, 50),
    }
    found = make_room(row, (240, 0, 100, 50), gap=50)
    # The second stands more to the left and goes left, with all before it; the third has 60 already.
    assert found == {"first": (-110, 0), "second": (90, 0), "below": (90, 400)}
    found = make_room(row, (150, 0, 100, 50), gap=50)
    assert found["second"] == (300, 0)
    assert found["third"] == (500, 0)
    assert found["below"] == (300, 400)


def test_no_room_is_made_where_there_is_room() -> None:
    assert make_room(RECTS, (0, 1000, 100, 50)) == {}
