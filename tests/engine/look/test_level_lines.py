"""Lines of equal value run where a formula says."""

import numpy as np

from engine.look.level_lines import level_lines


def test_a_straight_slope_is_cut_by_a_straight_line() -> None:
    y, x = np.mgrid[0:5, 0:8].astype(float)
    pieces = level_lines(x + 0 * y, 2.25)
    assert len(pieces) == 4
    np.testing.assert_allclose(pieces[..., 0], 2.25)
    assert sorted(pieces[..., 1].ravel().tolist()) == [0, 1, 1, 2, 2, 3, 3, 4]


def test_a_circle() -> None:
    y, x = np.mgrid[-20:21, -20:21].astype(float)
    pieces = level_lines(np.hypot(x, y), 15.0)
    np.testing.assert_allclose(np.hypot(*(pieces - 20).reshape(-1, 2).T), 15, atol=0.05)
    length = np.hypot(*(pieces[:, 1] - pieces[:, 0]).T).sum()
    assert abs(length - 2 * np.pi * 15) < 0.3


def test_a_saddle_joins_what_its_middle_says() -> None:
    pieces = level_lines(np.array([[1.0, -1.0], [-1.0, 1.2]]), 0.0)
    assert len(pieces) == 2  # the high corners are joined: each piece cuts off a low one
    middles = pieces.mean(axis=1)
    assert all((x > 0.5) != (y > 0.5) for x, y in middles)
    apart = level_lines(np.array([[1.0, -1.2], [-1.2, 1.0]]), 0.0).mean(axis=1)
    assert all((x > 0.5) == (y > 0.5) for x, y in apart)


def test_what_is_not_finite_is_left_out() -> None:
    values = np.array([[0.0, 1.0, np.nan], [0.0, 1.0, 2.0]])
    assert len(level_lines(values, 0.5)) == 1
    assert len(level_lines(values, 9.0)) == 0
