"""Automatic layout: nothing overlaps, wires have room, small edits move little, and it always ends."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest

from engine.layout import STEP, LayoutCancelled, Wire, fold_width, layout
from engine.layout.clusters import Cluster, clustered

Sizes = dict[str, tuple[float, float]]
Places = dict[str, tuple[float, float]]
Box = tuple[float, float, float, float]
SMALL, TALL = (128.0, 56.0), (128.0, 88.0)


def chain(count: int) -> tuple[Sizes, list[Wire]]:
    names = [f"n{index}" for index in range(count)]
    return dict.fromkeys(names, SMALL), [Wire(*pair) for pair in pairwise(names)]


def random_graph(seed: int, count: int = 40) -> tuple[Sizes, list[Wire], Places]:
    """A connected graph with short and long wires, its nodes anywhere."""
    chance = random.Random(seed)
    sizes = {f"n{index}": chance.choice((SMALL, SMALL, TALL)) for index in range(count)}
    wires = []
    for index in range(1, count):
        wires.append(Wire(f"n{max(0, index - chance.randint(1, 5))}", f"n{index}"))
        if chance.random() < 0.5:
            wires.append(Wire(f"n{max(0, index - chance.randint(2, 15))}", f"n{index}", 28.0, 48.0))
    here = {name: (chance.random() * 4000, chance.random() * 2000) for name in sizes}
    return sizes, [wire for wire in wires if wire.source != wire.target], here


def boxes_of(sizes: Sizes, places: Places) -> dict[str, Box]:
    assert places.keys() == sizes.keys()
    assert all(math.isfinite(x) and math.isfinite(y) for x, y in places.values())
    return {name: (x, y, x + sizes[name][0], y + sizes[name][1]) for name, (x, y) in places.items()}


def meets(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def assert_apart(sizes: Sizes, places: Places, room: float = 20.0) -> None:
    boxes = list(boxes_of(sizes, places).values())
    for index, (left, top, right, bottom) in enumerate(boxes):
        wide = (left - room, top - room, right + room, bottom + room)
        assert not any(meets(wide, other) for other in boxes[index + 1 :])


# -- what must not happen


@pytest.mark.parametrize("seed", range(8))
def test_nodes_stand_apart_and_every_wire_leads_to_the_right(seed: int) -> None:
    sizes, wires, here = random_graph(seed)
    places = layout(sizes, wires, here)
    assert_apart(sizes, places)
    for wire in wires:
        assert places[wire.source][0] + sizes[wire.source][0] < places[wire.target][0]


@pytest.mark.parametrize("seed", range(8))
def test_no_wire_between_neighbouring_columns_runs_under_a_node(seed: int) -> None:
    sizes, wires, here = random_graph(seed)
    places = layout(sizes, wires, here)
    boxes = boxes_of(sizes, places)
    columns = sorted({x for x, _ in places.values()})
    seen = 0
    for wire in wires:
        left, right = places[wire.source][0], places[wire.target][0]
        if columns.index(right) - columns.index(left) != 1:
            continue
        seen += 1
        ends = (places[wire.source][1] + wire.leaves, places[wire.target][1] + wire.enters)
        span = (left + sizes[wire.source][0], min(ends) - 5, right, max(ends) + 5)
        assert not [name for name, box in boxes.items() if meets(span, box)]
    assert seen > 10


@pytest.mark.parametrize("seed", range(8))
def test_a_long_wire_finds_a_level_lane_past_every_column_between(seed: int) -> None:
    sizes, wires, here = random_graph(seed)
    places = layout(sizes, wires, here)
    boxes = boxes_of(sizes, places)
    long = [wire for wire in wires if places[wire.target][0] - places[wire.source][0] > 300]
    lost = 0
    for wire in long:
        left = places[wire.source][0] + sizes[wire.source][0] + 20
        right = places[wire.target][0] - 20
        spans = sorted((box[1], box[3]) for box in boxes.values() if box[0] < right and left < box[2])
        bottom, gaps = -math.inf, 0
        for top, below in spans:
            gaps += top - bottom >= 20
            bottom = max(bottom, below)
        # Outside of all columns there is always a lane; one nearer must not be rare.
        lost += gaps <= 1 and len(spans) > 1
    assert len(long) > 5
    assert lost <= len(long) / 2


def test_a_wire_that_skips_a_chain_has_a_lane_of_its_own() -> None:
    sizes, wires = chain(6)
    places = layout(sizes, [*wires, Wire("n0", "n5", 28.0, 48.0)])
    boxes = boxes_of(sizes, places)
    inner = [boxes[f"n{index}"] for index in range(1, 5)]
    # The chain is level, and so there is room above and below it.
    assert len({box[1] for box in inner}) == 1


# -- right values


def test_a_chain_is_a_level_line_of_evenly_spaced_nodes() -> None:
    sizes, wires = chain(5)
    assert layout(sizes, wires) == {f"n{index}": (200.0 * index, 0.0) for index in range(5)}


def test_branches_stand_about_their_source_and_keep_their_order() -> None:
    sizes = dict.fromkeys(("a", "up", "down", "end"), SMALL)
    wires = [Wire("a", "up"), Wire("a", "down"), Wire("up", "end"), Wire("down", "end", 28.0, 48.0)]
    here = {"a": (0.0, 0.0), "up": (200.0, -50.0), "down": (200.0, 50.0), "end": (400.0, 0.0)}
    places = layout(sizes, wires, here)
    assert [places[name][0] - places["a"][0] for name in ("up", "down", "end")] == [200, 200, 400]
    assert places["down"][1] - places["up"][1] >= 56 + 40
    swapped = layout(sizes, [Wire("a", "up"), Wire("a", "down")], {**here, "up": (200.0, 90.0)})
    assert swapped["up"][1] > swapped["down"][1]


def test_crossed_wires_are_uncrossed() -> None:
    sizes = dict.fromkeys(("a", "b", "c", "d"), SMALL)
    sizes["root"] = SMALL
    wires = [Wire("root", "a"), Wire("root", "b"), Wire("a", "d"), Wire("b", "c")]
    here = {"root": (0.0, 0.0), "a": (1.0, 0.0), "b": (1.0, 99.0), "c": (2.0, 0.0), "d": (2.0, 99.0)}
    places = layout(sizes, wires, here)
    assert (places["a"][1] < places["b"][1]) == (places["d"][1] < places["c"][1])


def test_a_source_stands_right_before_what_it_feeds() -> None:
    sizes, wires = chain(5)
    sizes["target"] = SMALL
    places = layout(sizes, [*wires, Wire("target", "n4", 28.0, 48.0)])
    assert places["target"][0] == places["n3"][0]


def test_a_graph_wider_than_asked_goes_on_in_further_rows() -> None:
    sizes, wires = chain(20)
    places = layout(sizes, wires, width=1500.0)
    assert max(x for x, _ in places.values()) + 128 <= 1500
    rows = sorted({y for _, y in places.values()})
    assert len(rows) == 3
    assert all(below - above > 56 + 60 for above, below in pairwise(rows))
    order = [places[f"n{index}"] for index in range(20)]
    assert order == sorted(order, key=lambda place: (place[1], place[0]))
    assert fold_width(10) > 20 * 200
    assert fold_width(2000) > fold_width(500)


def test_every_place_is_on_the_grid() -> None:
    sizes, wires, here = random_graph(3)
    assert all(x % STEP == 0 and y % STEP == 0 for x, y in layout(sizes, wires, here).values())


# -- it moves little


@pytest.mark.parametrize("seed", range(8))
def test_laying_out_again_moves_nothing_and_gives_the_same_every_time(seed: int) -> None:
    sizes, wires, here = random_graph(seed, 25)
    places = layout(sizes, wires, here)
    assert layout(sizes, wires, here) == places
    assert layout(dict(sizes), list(reversed(wires)), here) == places
    again = layout(sizes, wires, places)
    moved = [math.dist(places[name], again[name]) for name in places]
    assert sorted(moved)[len(moved) // 2] <= 60


def test_where_the_whole_stands_is_kept() -> None:
    sizes, wires = chain(5)
    here = {f"n{index}": (1000 + 200.0 * index, -640.0) for index in range(5)}
    assert layout(sizes, wires, here) == here


def test_a_node_added_beside_a_chain_leaves_the_chain_alone() -> None:
    sizes, wires = chain(8)
    before = layout(sizes, wires)
    sizes["extra"] = SMALL
    after = layout(sizes, [*wires, Wire("n2", "extra")], {**before, "extra": (600.0, 300.0)})
    assert {name: after[name] for name in before} == before
    assert after["extra"][0] == before["n3"][0]
    assert after["extra"][1] > before["n3"][1]


# -- it always ends


@pytest.mark.parametrize(
    "wires",
    [
        [],
        [Wire("a", "a")],
        [Wire("a", "b"), Wire("b", "a")],
        [Wire("a", "b"), Wire("b", "c"), Wire("c", "a"), Wire("c", "d")],
        [Wire("a", "b"), Wire("a", "b"), Wire("a", "b", 28.0, 48.0)],
        [Wire("a", "elsewhere"), Wire("nowhere", "b")],
    ],
)
def test_cycles_self_links_islands_and_doubled_wires_are_laid_out(wires: list[Wire]) -> None:
    sizes = dict.fromkeys("abcd", SMALL)
    places = layout(sizes, wires, dict.fromkeys("abcd", (5.0, 5.0)))
    assert_apart(sizes, places)


def test_nothing_and_one_node_are_laid_out() -> None:
    assert layout({}, []) == {}
    assert layout({"a": SMALL}, []) == {"a": (0.0, 0.0)}
    assert layout({"a": SMALL}, [Wire("a", "a")], {"a": (64.0, -8.0)}) == {"a": (64.0, -8.0)}


def test_islands_stand_apart_in_the_order_they_had() -> None:
    sizes = {f"n{index}": (TALL if index % 3 else SMALL) for index in range(30)}
    here = {name: (0.0, 10.0 * index) for index, name in enumerate(sizes)}
    places = layout(sizes, [Wire("n0", "n1"), Wire("n4", "n5")], here)
    assert_apart(sizes, places)
    assert places["n0"][1] <= places["n10"][1] <= places["n29"][1]
    assert max(x for x, _ in places.values()) - min(x for x, _ in places.values()) < 2000


def test_many_long_wires_do_not_make_stairs() -> None:
    sizes, wires, here = random_graph(1, 200)
    boxes = boxes_of(sizes, layout(sizes, wires, here))
    assert_apart(sizes, layout(sizes, wires, here))
    assert max(box[3] for box in boxes.values()) - min(box[1] for box in boxes.values()) < 1600


def test_two_thousand_dense_nodes_end_and_can_be_given_up() -> None:
    sizes, wires, here = random_graph(1, 2000)
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 40

    with pytest.raises(LayoutCancelled):
        layout(sizes, wires, here, cancelled=cancelled)
    assert asked == 41
    boxes = boxes_of(sizes, layout(sizes, wires, here))
    assert len(set(boxes.values())) == 2000


def outline(sizes: Sizes, places: Places, cluster: Cluster) -> Box:
    boxes = [box for name, box in boxes_of(sizes, places).items() if name in cluster.members]
    beside, above = cluster.beside, cluster.above
    return (
        min(box[0] for box in boxes) - beside,
        min(box[1] for box in boxes) - above,
        max(box[2] for box in boxes) + beside,
        max(box[3] for box in boxes) + beside,
    )


@pytest.mark.parametrize("seed", range(12))
def test_clusters_hold_together_and_meet_nothing_else(seed: int) -> None:
    sizes, wires, here = random_graph(seed)
    chance = random.Random(seed)
    names = chance.sample(list(sizes), 18)
    clusters = [
        Cluster(frozenset(names[:8]), 48, 68),
        Cluster(frozenset(names[2:5]), 14, 34),
        Cluster(frozenset(names[8:18]), 14, 34),
        Cluster(frozenset(names[6:10]), 14, 34),  # crosses two others, and so is none
    ]
    places = clustered(sizes, wires, clusters, here)
    assert_apart(sizes, places)
    boxes = boxes_of(sizes, places)
    for cluster in clusters[:3]:
        around = outline(sizes, places, cluster)
        assert all(not meets(around, boxes[name]) for name in sizes if name not in cluster.members)
    outer, inner, other = (outline(sizes, places, cluster) for cluster in clusters[:3])
    assert not meets(outer, other)
    assert outer[0] < inner[0] and outer[1] < inner[1] and outer[2] > inner[2] and outer[3] > inner[3]
    assert clustered(sizes, wires, clusters, here) == places


def test_a_wire_out_of_a_cluster_is_level_with_its_port() -> None:
    sizes, wires = chain(4)
    places = clustered(sizes, wires, [Cluster(frozenset({"n1", "n2"}), 14, 34)])
    assert len({y for _, y in places.values()}) == 1
    assert [places[f"n{index}"][0] < places[f"n{index + 1}"][0] for index in range(3)] == [True] * 3


def test_without_clusters_it_is_the_plain_layout() -> None:
    sizes, wires, here = random_graph(1)
    assert clustered(sizes, wires, [], here) == layout(sizes, wires, here)
