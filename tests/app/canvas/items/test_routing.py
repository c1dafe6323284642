"""Wires run around nodes."""

from __future__ import annotations

import random

from app.canvas.items.geometry import Box, grown, meet
from app.canvas.items.lanes import set_apart
from app.canvas.items.routing import Boxes, Route, _only_under, find_route, path_of


def _boxes(*boxes: Box) -> Boxes:
    made = Boxes()
    for index, box in enumerate(boxes):
        made.put(f"n{index}", box)
    return made


def _stretches(route: Route) -> list[Box]:
    pairs = zip(route.points, route.points[1:], strict=False)
    return [(min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])) for a, b in pairs]


def test_free_space_is_crossed_directly() -> None:
    route = find_route((128, 28), (200, 28), _boxes((0, 0, 128, 56), (200, 0, 328, 56)), "n0", "n1")
    assert route.curved and route.points == ((128, 28), (200, 28))


def test_a_skip_connection_goes_around_the_node_in_between() -> None:
    middle = (200.0, 0.0, 328.0, 56.0)
    boxes = _boxes((0, 0, 128, 56), (400, 0, 528, 56), middle)
    route = find_route((128, 28), (400, 48), boxes, "n0", "n1")
    assert not route.curved
    assert not any(meet(grown(stretch, 2), middle) for stretch in _stretches(route))


def test_a_backward_wire_leaves_right_runs_between_the_rows_and_enters_left() -> None:
    boxes = _boxes((800, 0, 928, 88), (0, 208, 128, 264), (400, 0, 528, 88), (400, 208, 528, 264))
    route = find_route((928, 28), (0, 236), boxes, "n0", "n1")
    xs = [x for x, _ in route.points]
    assert route.points[1][0] > 928 and route.points[-2][0] < 0
    assert 88 < route.points[2][1] < 208
    assert max(xs) > 928 and min(xs) < 0
    assert path_of(route).elementCount() > len(route.points)


def test_the_route_depends_only_on_boxes_within_its_reach() -> None:
    near = [(0.0, 0.0, 128.0, 56.0), (400.0, 0.0, 528.0, 56.0), (200.0, 0.0, 328.0, 56.0)]
    first = find_route((128, 28), (400, 48), _boxes(*near), "n0", "n1")
    far = _boxes(*near, (5000.0, 5000.0, 5100.0, 5100.0))
    assert not meet(first.reach, (5000.0, 5000.0, 5100.0, 5100.0))
    assert find_route((128, 28), (400, 48), far, "n0", "n1") == first


def test_many_random_routes_avoid_every_node_where_there_is_a_way() -> None:
    chance = random.Random(5)
    crossed = 0
    for _ in range(60):
        boxes = Boxes()
        for row in range(4):
            for column in range(5):
                x, y = column * 200.0, row * 150.0
                boxes.put(f"n{row * 5 + column}", (x, y, x + 128, y + 56))
        source, target = chance.sample(range(20), 2)
        start, end = boxes.all()[f"n{source}"], boxes.all()[f"n{target}"]
        route = find_route(
            (start[2], start[1] + 28), (end[0], end[1] + 28), boxes, f"n{source}", f"n{target}"
        )
        inner = [box for key, box in boxes.items() if key not in (f"n{source}", f"n{target}")]
        if not route.curved:
            crossed += any(meet(stretch, box) for stretch in _stretches(route) for box in inner)
    assert crossed == 0


def test_wires_of_different_ports_do_not_share_a_lane() -> None:
    lane = ((0.0, 0.0), (26.0, 0.0), (26.0, 100.0), (374.0, 100.0), (374.0, 200.0), (400.0, 200.0))
    route = Route(lane, False, (0, 0, 1, 1), 40.0)
    one, other, branch = set_apart([("a", route), ("b", route), ("a", route)])
    assert one.points == lane and branch.points == lane
    assert (
        abs(other.points[2][1] - 100.0) >= 10 and other.points[0] == lane[0] and other.points[-1] == lane[-1]
    )


def test_a_label_stands_under_a_lane_that_runs_close_below_a_node() -> None:
    lane = Route(((128, 70), (350, 70), (350, 200), (400, 200)), False, (0, 0, 400, 200))
    node = (200.0, 0.0, 328.0, 56.0)
    assert _only_under(lane, _boxes(node))
    assert not _only_under(lane, _boxes(node, (200, 80, 328, 140)))  # no better there
    assert not _only_under(lane, _boxes((200, 0, 328, 40)))
    row = _boxes((0, 0, 128, 56), (400, 0, 528, 56), (200, 0, 328, 56))
    route = find_route((128, 28), (400, 48), row, "n0", "n1")
    assert route.under == _only_under(route, row) and route.shifted((5, 5)).under == route.under
