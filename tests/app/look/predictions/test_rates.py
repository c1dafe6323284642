"""ROC and precision-recall curves are those of the answers, one a class and one for all."""

import numpy as np
import pytest
from PySide6.QtWidgets import QComboBox
from sklearn import metrics

from app.charts.chart import Curve
from app.look.base import Subject
from app.look.predictions.rates import PrecisionRecall, Rates, Roc
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe, Snapshot
from tests.app.conftest import add_iris
from tests.app.look.planes import add_points
from tests.app.look.showing import painted, shown, snapshot

PROBE = Probe("n3", "answers")


def some_answers(classes: int) -> Snapshot:
    draw = np.random.default_rng(5)
    right = draw.integers(0, classes, 120)
    scores = draw.normal(size=(120, classes)) + 1.5 * np.eye(classes)[right]
    probabilities = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    names = tuple(f"class {index}" for index in range(classes))
    return snapshot(probabilities, right=right, classes=names, kind="classes", rows=np.arange(120), total=500)


@pytest.mark.parametrize(
    ("kind", "measured"), [(Roc, metrics.roc_auc_score), (PrecisionRecall, metrics.average_precision_score)]
)
def test_areas_of_each_class_and_of_all(shaped: Workspace, kind: type[Rates], measured: object) -> None:
    add_iris(shaped)
    view, found = kind(Subject(shaped, "n3")), some_answers(3)
    shown(view, {PROBE: found})
    right = np.eye(3)[found.extra["right"]]
    for index in range(3):
        wanted = measured(right[:, index], found.array[:, index])  # type: ignore[operator]
        assert view.curves[f"class {index}"].area == pytest.approx(wanted)
        assert f"class {index} {wanted:.3f}" in [entry.name for entry in view.chart.frame_shown.legend]
    together = measured(right, found.array, average="micro")  # type: ignore[operator]
    assert view.curves["micro"].area == pytest.approx(together)
    assert "120 of 500" in view.note


def test_two_classes_have_one_curve(shaped: Workspace) -> None:
    add_points(shaped)
    view = Roc(Subject(shaped, "n3"))
    shown(view, {PROBE: some_answers(2)})
    assert list(view.curves) == ["class 1"]


def test_a_perfect_model_hugs_the_corner(shaped: Workspace) -> None:
    add_points(shaped)
    view = Roc(Subject(shaped, "n3"))
    right = np.array([0, 0, 1, 1])
    shown(
        view,
        {
            PROBE: snapshot(
                np.eye(2)[right], right=right, classes=("no", "yes"), rows=right, total=4, kind="classes"
            )
        },
    )
    painted(view)
    curve = [layer for layer in view.chart.layers if isinstance(layer, Curve)][-1]
    assert (0.0, 1.0) in set(zip(curve.x.tolist(), curve.y.tolist(), strict=True))
    assert view.curves["yes"].area == 1.0


def test_one_class_is_chosen_and_kept(shaped: Workspace) -> None:
    add_iris(shaped)
    view = PrecisionRecall(Subject(shaped, "n3"))
    view.restore({"class": 2})
    shown(view, {PROBE: some_answers(3)})
    assert list(view.curves) == ["class 1"] and view.state() == {"class": 2}
    box = view.controls().findChild(QComboBox)
    assert box.currentText() == "class 1"
    header, rows = view.table()
    assert header == ("class", "recall", "precision", "threshold") and {row[0] for row in rows} == {"class 1"}


def test_a_choice_beyond_the_classes_is_passed_over(shaped: Workspace) -> None:
    add_iris(shaped)
    view = Roc(Subject(shaped, "n3"))
    view.restore({"class": 9})
    shown(view, {PROBE: some_answers(3)})
    assert "micro" in view.curves
