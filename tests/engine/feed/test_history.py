"""Recorded pictures: exactly what was shown, evenly spread, within the budget, and back from a file."""

from __future__ import annotations

import itertools
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from engine.errors import TrainingError
from engine.feed.feed import Feed, Probe, Snapshot
from engine.feed.history import FILE, LONGEST, History

ONE, TWO = Probe("n1", "activations"), Probe("", "norms", ("conv", 3, 0.5))


def shown(step: int, size: int = 16, **facts: object) -> Snapshot:
    return Snapshot(1, step, np.full(size, step, np.float32), facts)


def recording(*probes: Probe, budget: int = 2**20) -> History:
    made = History(budget)
    made.record_only(frozenset(probes))
    return made


def same(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray):
        assert isinstance(other, np.ndarray)
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        assert isinstance(other, dict)
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        assert type(one) is type(other)
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def every_sort() -> Snapshot:
    array = np.array([[np.nan, np.inf, -np.inf], [1e-300, -0.0, 1.5]])
    facts = {
        "ports": {"image": array, "digit": np.array([5.0], np.float32)},
        "edges": np.linspace(0, 1, 3, dtype=np.float16),
        "none": np.empty((0, 4), np.int64),
        "scalar": np.array(True),
        "names": np.array(["a", "bé"]),
        "classes": ("cat", "dog"),
        "by_index": {1: "one", 2: ["x", 2.5, None, False]},
        "share": 0.125,
    }
    return Snapshot(3, 7, array, facts)


@pytest.mark.parametrize("through_a_file", [False, True])
def test_what_comes_back_is_exactly_what_was_recorded(tmp_path: Path, through_a_file: bool) -> None:
    history, first = recording(ONE), every_sort()
    history.record(ONE, first)
    history.record(ONE, shown(9))  # packs the first
    if through_a_file:
        history.save(tmp_path)
        history = History()
        assert history.load(tmp_path)
    found = history.at(ONE, 8)
    assert found is not None
    assert (found.revision, found.step) == (3, 7)
    assert same(first.array, found.array)
    assert same(dict(first.extra), dict(found.extra))
    assert not found.array.flags.writeable


def test_a_step_shows_the_last_picture_until_then() -> None:
    history = recording(ONE)
    for step in (10, 20, 30):
        history.record(ONE, shown(step))
    found = {step: history.at(ONE, step) for step in (9, 10, 19, 30, 99)}
    assert {step: one and one.step for step, one in found.items()} == {
        9: None,
        10: 10,
        19: 10,
        30: 30,
        99: 30,
    }
    assert history.steps() == history.steps(ONE) == [10, 20, 30]
    assert history.at(TWO, 99) is None


def test_the_newest_of_one_step_counts() -> None:
    history = recording(ONE)
    for example in range(3):
        history.record(ONE, shown(5, example=example))
    assert history.steps() == [5]
    assert history.at(ONE, 5).extra["example"] == 2  # type: ignore[union-attr]


def test_only_what_is_asked_for_and_what_is_a_picture_is_recorded() -> None:
    history = recording(ONE)
    history.record(TWO, shown(1))
    history.record(ONE, Snapshot(1, 1, np.empty(0), {}))
    history.record(ONE, shown(1, failed="There are no classes here."))
    assert history.probes() == ()
    history.record(ONE, shown(1, odd=object()))
    history.record(ONE, shown(2))
    assert history.steps() == [2]  # the odd one could not be packed


def test_memory_stays_within_the_budget_over_ten_thousand_steps() -> None:
    rng, budget = np.random.default_rng(0), 300_000
    history = recording(ONE, TWO, budget=budget)
    tracemalloc.start()
    largest = 0
    for step in range(1, 10_001):
        history.record(ONE, Snapshot(1, step, rng.random(500, np.float32), {"step": step}))
        if step % 3 == 0:
            history.record(TWO, Snapshot(1, step, rng.random(50), {}))
        largest = max(largest, history.size)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert largest <= budget
    assert peak < 3 * budget
    for probe, newest in ((ONE, 10_000), (TWO, 9_999)):
        steps = history.steps(probe)
        assert steps[-1] == newest
        assert steps[0] <= 3
        assert len(steps) > 30
        gaps = [b - a for a, b in itertools.pairwise(steps)][:-1]
        assert max(gaps) <= 3 * min(gaps), "evenly spread"
    found = history.at(ONE, 5_000)
    assert found is not None and found.extra["step"] == found.step


def test_one_picture_has_no_more_moments_than_a_slider_has_pixels() -> None:
    history = recording(ONE)
    for step in range(5000):
        history.record(ONE, shown(step, size=1))
        assert len(history.steps(ONE)) <= LONGEST + 2
    assert history.steps(ONE)[0] == 0
    assert history.steps(ONE)[-1] == 4999


def test_what_nobody_wants_any_more_goes_first() -> None:
    history = recording(ONE, TWO, budget=20_000)
    rng = np.random.default_rng(1)
    for step in range(10):
        history.record(TWO, Snapshot(1, step, rng.random(50), {}))
    history.record_only(frozenset({ONE}))
    for step in range(100):
        history.record(ONE, Snapshot(1, step, rng.random(50), {}))
    assert history.probes() == (ONE,)


def test_a_picture_larger_than_the_budget_is_not_kept() -> None:
    history = recording(ONE, budget=1000)
    history.record(ONE, Snapshot(1, 1, np.zeros(5000), {}))
    assert history.size == 0


def test_a_run_that_goes_back_forgets_what_comes_after() -> None:
    history = recording(ONE)
    for step in range(0, 50, 10):
        history.record(ONE, shown(step))
    history.cut(25)
    assert history.steps() == [0, 10, 20]
    history.record(ONE, shown(22))
    assert history.steps() == [0, 10, 20, 22]


def test_a_feed_records_what_is_put_and_forgets_with_its_run() -> None:
    feed = Feed()
    feed.history.record_only(frozenset({ONE}))
    for step in (1, 2, 3):
        feed.put(ONE, shown(step))
        feed.put(TWO, shown(step))
    assert feed.history.steps() == [1, 2, 3]
    feed.cut(2)
    assert feed.history.steps() == [1, 2]
    feed.clear()
    assert feed.history.steps() == []
    feed.put(ONE, shown(1))
    assert feed.history.steps() == [1]


def test_a_file_that_is_no_history_says_so(tmp_path: Path) -> None:
    history = recording(ONE)
    assert not history.load(tmp_path)
    (tmp_path / FILE).write_bytes(b"not a file of arrays")
    with pytest.raises(TrainingError, match="cannot be read"):
        history.load(tmp_path)


def test_details_of_pictures_survive_the_file(tmp_path: Path) -> None:
    history = recording(TWO)
    history.record(TWO, shown(4))
    history.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    found = History()
    found.load(tmp_path)
    assert found.probes() == (TWO,)
    assert found.steps(TWO) == [4]
