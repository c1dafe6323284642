"""Scores agree with scikit-learn, and with what can be counted by hand."""

import numpy as np
import pytest
from sklearn import metrics

from engine.look.predictions import scores


def some_answers(rows: int = 200, ties: bool = True) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(3)
    positive = draw.random(rows) < 0.3
    found = 0.4 * positive + draw.random(rows)
    return positive, np.round(found, 1) if ties else found


@pytest.mark.parametrize("ties", [False, True])
def test_roc(ties: bool) -> None:
    positive, found = some_answers(ties=ties)
    curve = scores.roc(positive, found)
    x, y, thresholds = metrics.roc_curve(positive, found, drop_intermediate=False)
    np.testing.assert_allclose(curve.x, x)
    np.testing.assert_allclose(curve.y, y)
    np.testing.assert_allclose(curve.thresholds, thresholds)
    assert curve.area == pytest.approx(metrics.roc_auc_score(positive, found))


@pytest.mark.parametrize("ties", [False, True])
def test_precision_and_recall(ties: bool) -> None:
    positive, found = some_answers(ties=ties)
    curve = scores.precision_recall(positive, found)
    precision, recall, thresholds = metrics.precision_recall_curve(positive, found)
    np.testing.assert_allclose(curve.x[1:], recall[:-1][::-1])
    np.testing.assert_allclose(curve.y[1:], precision[:-1][::-1])
    np.testing.assert_allclose(curve.thresholds[1:], thresholds[::-1])
    assert curve.area == pytest.approx(metrics.average_precision_score(positive, found))


def test_a_class_that_never_occurs_has_no_curve() -> None:
    assert np.isnan(scores.precision_recall(np.zeros(4, bool), np.arange(4.0)).area)
    assert np.isnan(scores.roc(np.zeros(4, bool), np.arange(4.0)).area)


def test_thinning_keeps_the_ends_and_the_area() -> None:
    curve = scores.roc(*some_answers(5000, ties=False))
    thin = scores.thinned(curve, 100)
    assert len(thin.x) <= 102
    assert (thin.x[0], thin.y[0], thin.x[-1], thin.y[-1]) == (0, 0, 1, 1)
    assert thin.area == curve.area
    assert np.trapezoid(thin.y, thin.x) == pytest.approx(curve.area, abs=0.01)


def test_the_matrix_and_what_it_says_of_each_class() -> None:
    draw = np.random.default_rng(0)
    right, answered = draw.integers(0, 4, 100), draw.integers(0, 4, 100)
    matrix = scores.confusion(right, answered, 5)
    np.testing.assert_array_equal(matrix, metrics.confusion_matrix(right, answered, labels=range(5)))
    found = scores.by_class(matrix)
    wanted = metrics.precision_recall_fscore_support(right, answered, labels=range(4))
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours[:4], theirs)
    assert np.isnan(found.recall[4]) and found.support[4] == 0


def test_one_threshold() -> None:
    positive, found = some_answers()
    counts = scores.at_threshold(positive, found, 0.7)
    said = found >= 0.7
    assert list(counts) == metrics.confusion_matrix(positive, said).ravel()[[3, 1, 0, 2]].tolist()
    assert counts.precision == pytest.approx(metrics.precision_score(positive, said))
    assert counts.recall == pytest.approx(metrics.recall_score(positive, said))
    assert counts.f1 == pytest.approx(metrics.f1_score(positive, said))
    assert counts.accuracy == pytest.approx(metrics.accuracy_score(positive, said))


def test_calibration_by_hand() -> None:
    confidence = np.array([0.55, 0.6, 0.95, 1.0, 0.0])
    correct = np.array([True, False, True, True, False])
    found = scores.calibration(confidence, correct, 10)
    assert found.counts.tolist() == [1, 0, 0, 0, 0, 2, 0, 0, 0, 2]
    np.testing.assert_allclose(found.confidence[[0, 5, 9]], [0.0, 0.575, 0.975])
    np.testing.assert_allclose(found.accuracy[[0, 5, 9]], [0.0, 0.5, 1.0])
    assert found.error == pytest.approx((0.0 + 2 * 0.075 + 2 * 0.025) / 5)


def test_errors_of_numbers() -> None:
    draw = np.random.default_rng(1)
    right = draw.normal(size=50)
    predicted = right + 0.3 * draw.normal(size=50)
    found = scores.fit(right, predicted)
    assert found.r_squared == pytest.approx(metrics.r2_score(right, predicted))
    assert found.mean_absolute == pytest.approx(metrics.mean_absolute_error(right, predicted))
    assert found.root_mean_square == pytest.approx(metrics.root_mean_squared_error(right, predicted))


def test_the_loss_of_each_example() -> None:
    chances = np.array([[0.9, 0.1], [0.25, 0.75], [1.0, 0.0]])
    right = np.array([0, 0, 0])
    losses = scores.class_losses(chances, right)
    assert losses.mean() == pytest.approx(metrics.log_loss(right, chances, labels=[0, 1]))
