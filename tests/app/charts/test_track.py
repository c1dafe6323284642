"""Curves in bounded memory lose no spike and never draw backwards."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.charts import pyramid
from app.charts.pyramid import FACTOR
from app.charts.smoothing import MovingAverage
from app.charts.track import FINE, Track
from engine.feed.series import POINT


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
    """C-16"""
    values = np.random.default_rng(0).uniform(1, 2, 1_000_000)
    values[123_456], values[765_432] = 9.0, -4.0
    track = Track()
    for start in range(0, len(values), 70_000):
        track.extend(points(values[start : start + 70_000], start + 1))
    assert len(track) == len(values)
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


def test_a_stretch_of_a_million_steps_is_as_fine_as_its_points() -> None:
    values = np.random.default_rng(1).uniform(1, 2, 1_000_000)
    track = Track()
    track.extend(points(values))
    x, y = track.outline("step", 400, 700_000, 700_100)
    assert x.tolist() == list(range(699_999, 700_102))
    assert y.tolist() == values[699_998:700_101].tolist()
    x, y = track.outline("step", 400, 200_001, 300_000)
    inside = values[200_000:300_000]
    assert len(x) <= 800
    assert y.min() == inside.min()
    assert y.max() == inside.max()


def test_columns_stay_in_place_while_the_view_moves() -> None:
    track = Track()
    track.extend(points(np.random.default_rng(2).normal(size=50_000)))
    pairs = [
        set(zip(*(part.tolist() for part in track.outline("step", 300, low, low + 20_000)), strict=True))
        for low in (10_000, 10_037)
    ]
    assert len(pairs[0] ^ pairs[1]) < 30


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 70)), min_size=1, max_size=12))
def test_what_a_long_run_keeps_agrees_with_its_points(turns: list[tuple[int, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pyramid, "MOST_POINTS", 64)
        patch.setattr(pyramid, "MOST_BUCKETS", 48)
        patch.setattr(pyramid, "_AT_ONCE", 32)
        patch.setattr(pyramid, "_FEW", 20)
        made, rng, values = pyramid.Pyramid(), np.random.default_rng(0), np.empty(0)
        for count, back in turns:
            # What lies further back than the single points that are kept may be cut by whole buckets.
            back = min(back, len(values) - made.kept()[0])
            values = values[: len(values) - back]
            made.cut(len(values) + 1)
            new = rng.normal(size=count)
            rows = np.zeros(count, pyramid.POINT)
            rows["place"] = (len(values) + np.arange(1, count + 1))[:, None]
            rows["value"] = new
            made.extend(rows)
            values = np.append(values, new)
            assert len(made) == len(values)
            whole = made.whole(10_000)
            assert whole["size"].sum() == len(values)
            assert whole["low"].min() == values.min()
            assert whole["high"].max() == values.max()
            assert np.isclose(whole["total"].sum(), values.sum())
            assert whole["last"][-1, 0] == len(values)
            for level in made._levels:
                assert level.base % FACTOR == 0
                assert level.size <= 64 + 32


def test_missing_steps_are_a_gap() -> None:
    track = Track()
    track.extend(points(np.ones(50)))
    track.extend(points(np.ones(50), first_step=301))
    x, y = track.outline("step", 400)
    assert (np.diff(x) > 0).all()
    assert x[np.isnan(y)].tolist() == [175.5]
    many = Track()
    many.extend(points(np.ones(3 * FINE + 5)))
    many.extend(points(np.ones(3 * FINE), first_step=900_000))
    x, y = many.outline("step", 200)
    gap = x[np.isnan(y)]
    assert len(gap) == 1
    assert 3 * FINE < gap[0] < 900_000


def test_points_that_come_farther_apart_are_no_gaps() -> None:
    rows = points(np.ones(200))
    rows["step"][100:] = 100 + 50 * np.arange(1, 101)
    track = Track()
    track.extend(rows)
    assert not np.isnan(track.outline("step", 400)[1]).any()


def test_the_place_where_a_run_went_on_is_known() -> None:
    track = Track()
    track.extend(points(np.arange(15.0)))
    assert track.seams("step") == []
    track.extend(points(np.arange(100.0, 110.0), first_step=11))
    assert track.seams("step") == [10.0]
    assert track.seams("epoch") == [1.0]
    track.extend(points([5.0], first_step=4))
    assert track.seams("step") == [3.0]


@pytest.mark.parametrize("weight", [0.6, 0.9, 0.99, 0.999])
def test_a_moving_average_is_what_its_definition_gives(weight: float) -> None:
    values = np.random.default_rng(3).normal(3, 1, 1500)
    values[[0, 5, 700]] = np.nan, np.inf, np.nan
    mean, kept, expected = 0.0, 1.0, []
    for value in values:
        if np.isfinite(value):
            mean, kept = weight * mean + (1 - weight) * value, kept * weight
        expected.append(mean / (1 - kept) if kept < 1 else np.nan)
    average = MovingAverage(weight)
    found = np.concatenate([average.extend(part) for part in np.split(values, [1, 2, 400, 1499])])
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    track = Track()
    track.extend(points(values[:1000]))
    assert np.isclose(track.averaged(weight, "step", 10_000)[1][-1], expected[999])
    track.extend(points(values[1000:], first_step=1001))
    x, y = track.averaged(weight, "step", 10_000)
    assert x.tolist() == list(range(1, 1501))
    np.testing.assert_allclose(y, expected, rtol=1e-10)


def test_an_average_begins_anew_where_the_run_went_on() -> None:
    track = Track()
    track.extend(points([1.0] * 20))
    track.averaged(0.9, "step", 100)
    track.extend(points([1.0, 3.0], first_step=11))
    fresh = Track()
    fresh.extend(points([1.0] * 11 + [3.0]))
    np.testing.assert_allclose(track.averaged(0.9, "step", 100), fresh.averaged(0.9, "step", 100))


def test_what_is_not_finite_is_found_with_its_value() -> None:
    values = np.ones(20_000)
    values[[10, 11, 500]] = np.nan, np.inf, -np.inf
    track = Track()
    track.extend(points(values))
    assert track.sick("step", 1, 400)[:2] == (2, 11.0)
    assert np.isnan(track.sick("step", 1, 400).value)
    assert track.sick("step", 490, 510) == (1, 501.0, -np.inf)
    assert track.sick("step", 600, 700) is None
    assert track.counts() == (3, 0)


def test_values_at_a_place_are_those_of_the_nearest_point() -> None:
    track = Track()
    track.extend(points(np.arange(100_000.0)))
    assert track.near("step", 50_000.4) == (50_000.0, 49_999.0)
    assert track.near("step", -5.0) == (1.0, 0.0)
    assert track.near("step", 1e9) == (100_000.0, 99_999.0)
    assert Track().near("step", 1.0) is None


def test_the_span_of_a_stretch() -> None:
    track = Track()
    track.extend(points([9.0, *np.linspace(2, 1, 99)]))
    low, high, least = track.span("step", 50.0, 100.0)
    assert low == least == 1.0
    assert 1.5 < high < 1.6
    track.extend(points([0.0, -3.0], first_step=101))
    assert track.span() == (-3.0, 9.0, 1.0)
    assert track.under("step").tolist() == [101.0, 102.0]
    assert track.counts() == (0, 2)
