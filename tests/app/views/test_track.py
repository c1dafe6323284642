"""Curves in bounded memory lose no spike and never draw backwards."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.views.track import CAPACITY, Track
from engine.run.feed import POINT


def points(
    values: list[float] | NDArray[np.float64], first_step: int = 1, seconds: float = 0.0
) -> NDArray[np.void]:
    rows = np.empty(len(values), POINT)
    rows["step"] = np.arange(first_step, first_step + len(values))
    rows["epoch"] = rows["step"] / 10
    rows["seconds"] = seconds + np.arange(len(values)) * 0.5
    rows["value"] = values
    return rows


def test_a_short_curve_is_drawn_point_by_point() -> None:
    track = Track()
    track.extend(points([3.0, 2.0, 5.0]))
    x, y = track.outline("step", 100)
    assert x.tolist() == [1, 2, 3]
    assert y.tolist() == [3.0, 2.0, 5.0]
    assert track.outline("epoch", 100)[0].tolist() == [0.1, 0.2, 0.3]


def test_a_million_steps_keep_their_spikes_and_their_last_point() -> None:
    values = np.random.default_rng(0).uniform(1, 2, 1_000_000)
    values[123_456], values[765_432] = 9.0, -4.0
    track = Track()
    for start in range(0, len(values), 70_000):
        track.extend(points(values[start : start + 70_000], start + 1))
    assert len(track) <= CAPACITY
    assert track.points == len(values)
    x, y = track.outline("step", 300)
    assert len(x) <= 600
    assert y.max() == 9.0
    assert y.min() == -4.0
    assert x[-1] == len(values)
    assert (np.diff(x) > 0).all()


@given(
    st.lists(st.floats(-1e6, 1e6) | st.just(float("nan")) | st.just(float("inf")), min_size=1, max_size=400),
    st.integers(1, 50),
    st.integers(1, 97),
)
def test_outlines_hold_the_extremes(values: list[float], columns: int, chunk: int) -> None:
    track = Track()
    for start in range(0, len(values), chunk):
        track.extend(points(values[start : start + chunk], start + 1))
    x, y = track.outline("step", columns)
    finite = [value for value in values if np.isfinite(value)]
    drawn = y[np.isfinite(y)]
    assert (np.diff(x) > 0).all()
    assert x[-1] == len(values)
    if finite:
        assert drawn.max() == max(finite)
        assert drawn.min() == min(finite)
        assert track.span()[:2] == (min(finite), max(finite))
    assert len(track.bad("step")) == len(values) - len(finite)


def test_values_that_are_not_finite_are_gaps_and_leave_the_mean_alone() -> None:
    track = Track()
    track.extend(points([1.0, float("nan"), float("inf"), 1.0]))
    assert np.isnan(track.outline("step", 10)[1]).tolist() == [False, True, True, False]
    assert track.smoothed("step", 10)[1].tolist() == [1.0, 1.0, 1.0, 1.0]
    assert track.bad("step").tolist() == [2.0, 3.0]


def test_the_mean_is_centred_and_ends_where_the_curve_ends() -> None:
    track = Track()
    track.extend(points(np.linspace(2.0, 1.0, 320)))
    x, smooth = track.smoothed("step", 1000)
    assert x[-1] == 320
    # A straight line is its own centred mean; a mean that lags would lie above it.
    assert np.allclose(smooth[20:-20], np.linspace(2.0, 1.0, 320)[20:-20])
    assert len(track.smoothed("step", 50)[0]) <= 60


def test_a_resumed_run_replaces_what_it_does_again() -> None:
    track = Track()
    track.extend(points(np.arange(15.0)))
    track.extend(points(np.arange(100.0, 105.0), first_step=11))
    x, y = track.outline("step", 100)
    assert x.tolist() == list(range(1, 16))
    assert y.tolist() == [*range(10), 100, 101, 102, 103, 104]
    seconds = track.outline("seconds", 100)[0]
    assert (np.diff(seconds) > 0).all()


def test_a_branch_inside_one_read_is_drawn_forwards_too() -> None:
    track = Track()
    track.extend(np.concatenate([points([1.0, 2.0, 3.0]), points([7.0, 8.0], first_step=2)]))
    assert track.outline("step", 10)[1].tolist() == [1.0, 7.0, 8.0]


def test_an_empty_track_has_nothing() -> None:
    track = Track()
    track.extend(points([]))
    assert len(track) == 0
    assert track.outline("step", 10)[0].size == 0
    assert track.smoothed("epoch", 10)[0].size == 0
    assert np.isnan(track.span()).all()
    assert track.end("seconds") == 0.0


def test_the_smallest_value_above_zero_is_known_for_the_logarithmic_scale() -> None:
    track = Track()
    track.extend(points([0.0, 0.5, -2.0, 0.25]))
    assert track.span() == (-2.0, 0.5, 0.25)
