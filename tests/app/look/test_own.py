"""Answers and features are drawn as they stand in the data; losses stay as the network sees them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.charts.chart import Marks
from app.look.base import LiveView, Subject
from app.look.own import answer_units, scaled_words, still_scaled
from app.look.predictions.extremes import WorstAndBest
from app.look.predictions.fit import Fit
from app.look.predictions.predicted import Predicted
from app.look.predictions.prediction import Prediction
from app.look.predictions.regions import Regions
from app.look.sequences.forecast import Forecast
from app.runs.run_status import MetricText
from app.runs.training_answers import TrainingAnswers
from app.workspace.workspace import Workspace
from engine.data.sets.laser import read_laser
from engine.document.edits import AddNodes
from engine.document.graph import Link, Node
from engine.document.shipped import datasets_folder
from engine.feed.feed import Probe
from tests.app.look.own_data import add_table, fed
from tests.app.look.showing import painted, shown, snapshot


@pytest.fixture
def people(shaped: Workspace, tmp_path: Path, qtbot: QtBot) -> Workspace:
    """A table whose grams are standardised, its data as in a run, and its units known."""
    add_table(shaped, tmp_path / "people.csv")
    fed(shaped)
    qtbot.waitUntil(lambda: answer_units(Subject(shaped)) is not None)
    return shaped


def pairs(workspace: Workspace) -> np.ndarray:
    """Scaled grams `(n, 2)`: predicted for each row what is right for the next."""
    right = workspace.trainer.data["validation"]["grams"][:, 0].numpy()
    return np.stack([np.roll(right, -1), right], 1)


def grams(workspace: Workspace) -> np.ndarray:
    """What stands in the file for the same rows."""
    scaled = workspace.trainer.data["train"]["grams"][:, 0].numpy()
    known = answer_units(Subject(workspace))
    found = known.undo(pairs(workspace)[:, 1])
    assert scaled.std() == pytest.approx(1, abs=0.01)  # the run itself sees deviations
    return found


def test_grams_are_those_of_the_file(people: Workspace) -> None:
    found = grams(people)
    assert set(np.round(found, 2)) <= {100.0 + 50 * n for n in range(40)}
    known = answer_units(Subject(people))
    assert known.name == "grams" and known.factor > 100
    assert not still_scaled(Subject(people))


def test_predicted_against_right_says_grams(people: Workspace) -> None:
    view = Predicted(Subject(people, "n3"))
    facts = {"rows": np.arange(len(pairs(people))), "total": len(pairs(people)), "kind": "values"}
    shown(view, {Probe("n3", "answers"): snapshot(pairs(people), **facts)})
    painted(view, 440, 260)
    (marks,) = [layer for layer in view.scatter.layers if isinstance(layer, Marks)]
    np.testing.assert_allclose(marks.x, grams(people), rtol=1e-4)
    _, rows = view.table()
    np.testing.assert_allclose(np.array(rows)[:, 0], np.roll(grams(people), -1), rtol=1e-4)
    assert view.scatter.frame_shown.y_name == "predicted, grams"


@pytest.mark.parametrize("kind", [Prediction, TrainingAnswers])
def test_the_answers_of_the_first_examples_too(people: Workspace, kind: type) -> None:
    made = snapshot(pairs(people).astype(np.float32), kind="values")
    if kind is TrainingAnswers:
        panel = TrainingAnswers(people)
        people.trainer.feed.put(Probe("n3", "predictions"), made)
        painted(panel, 400, 200)
        panel.refresh()
        lines, said = panel.forecast.lines, panel._title.text()
    else:
        view = Prediction(Subject(people, "n3"))
        shown(view, {Probe("n3", "predictions"): made})
        lines, said = view.forecast.lines, view.note
    np.testing.assert_allclose(lines[0].values, grams(people), rtol=1e-4)
    assert "grams" in said


def test_a_fit_stands_over_years_and_in_grams(people: Workspace) -> None:
    view = Fit(Subject(people, "n3"))
    data = people.trainer.data["train"]
    years = data["features"][:, 0].numpy()
    span = np.linspace(years.min(), years.max(), 200)
    curve = snapshot(
        np.stack([span, span, 0.1 + 0 * span], 1),
        kind="values",
        residuals=np.zeros((3, 3)),
        name="age",
        classes=(),
        target="grams",
        fixed=4,
        example=0,
        deviation=True,
    )
    points = snapshot(
        np.stack([years, data["grams"][:, 0].numpy()], 1), training=len(years), kind="values", classes=()
    )
    shown(view, {Probe("n3", "fit", (0,)): curve, Probe("n3", "points", (0,)): points})
    painted(view, 340, 280)
    (marks,) = [layer for layer in view.chart.layers if isinstance(layer, Marks)]
    np.testing.assert_allclose(marks.y, 100 + 50 * (marks.x - 20), rtol=1e-3)  # as the file was written
    _, rows = view.table()
    ages = np.array(rows)[:, 0]
    assert ages.min() > 19.9 and ages.max() < 59.1
    assert rows[0][2] == pytest.approx(0.1 * answer_units(Subject(people)).factor)


def test_regions_and_examples_stand_in_their_own_units(people: Workspace) -> None:
    data = people.trainer.data["validation"]
    view = Regions(Subject(people, "n3"))
    facts = {"kind": "values", "x": (-1.0, 1.0), "y": (0.0, 1.0), "names": ("age", "hue"), "classes": ()}
    facts |= {"target": "grams", "fixed": 3, "example": 0, "steps": False}
    grid = snapshot(np.linspace(-1, 1, 900, dtype=np.float32).reshape(30, 30), **facts)
    shown(view, {Probe("n3", "regions", (0, 1)): grid})
    painted(view, 340, 300)
    (left, right), deviation = view._found.extra["x"], answer_units(Subject(people)).factor
    assert right - left == pytest.approx(2 * deviation / 50, rel=0.01)  # 50 grams for a year
    worst = WorstAndBest(Subject(people, "n3"))
    rows = data["features"][:4].numpy()
    facts = {"kind": "values", "classes": (), "loss": np.arange(4.0), "mean_loss": 1.5, "looked_at": 8}
    facts |= {"predicted": pairs(people)[:4, 0], "right": pairs(people)[:4, 1], "rows": (0, 1, 2, 3)}
    names = ("age", "hue: blue", "hue: green", "hue: red", "day")
    probe = Probe("n3", "worst_and_best", (6,))
    shown(worst, {probe: snapshot(rows, names=names, split="validation", **facts)})
    right = round(grams(people)[0])
    assert f"right {right:,}" in worst.sheet.examples[0].lines[0]
    assert "squared error, scaled" in worst.note
    assert worst.sheet._array[0, 0] == pytest.approx(20 + (right - 100) / 50, rel=1e-4)


def test_views_are_drawn_anew_as_soon_as_units_are_known(
    shaped: Workspace, tmp_path: Path, qtbot: QtBot
) -> None:
    add_table(shaped, tmp_path / "people.csv")
    fed(shaped)
    view: LiveView = Predicted(Subject(shaped, "n3"))
    with qtbot.waitSignal(view.needs_changed):
        assert answer_units(view.subject) is None
    assert answer_units(view.subject) is not None


def test_a_forecast_of_a_series_is_in_the_readings_units(shaped: Workspace, qtbot: QtBot) -> None:
    nodes = (
        Node("n1", "SantaFe", "", {"lag": 20}),
        Node("n2", "LSTM", "", {"hidden": 4}, (200, 0)),
        Node("n4", "Linear", "", {"units": 1}, (400, 0)),
        Node("n3", "MSE", "", {}, (600, 0)),
    )
    links = (
        Link("n1", "window", "n2", "x"),
        Link("n2", "h", "n4", "x"),
        Link("n4", "output", "n3", "prediction"),
        Link("n1", "next", "n3", "target"),
    )
    assert shaped.apply("Add", AddNodes(nodes, links))
    trainer = fed(shaped)
    view = Forecast(Subject(shaped, "n3"))
    truth = trainer.data["validation"]["next"][:50].numpy()
    facts = {"split": "validation", "splits": (), "start": 0, "of": 50, "name": "next", "lag": 20}
    found = {Probe("n3", "forecast", ("validation", 0)): snapshot(np.repeat(truth, 3, 1), **facts)}
    qtbot.waitUntil(lambda: answer_units(Subject(shaped)) is not None)
    shown(view, found)
    assert view.chart.frame_shown.y_name == "intensity"
    _, rows = view.table()
    laser = read_laser(datasets_folder()).numpy()
    np.testing.assert_allclose([row[1] for row in rows], laser[900:950], atol=1e-3)


def test_losses_say_that_they_are_scaled_and_what_one_of_them_is(people: Workspace) -> None:
    words = scaled_words(Subject(people))
    factor = answer_units(Subject(people)).factor
    assert words.endswith(f"1 is {factor:.4g} of grams.") and "scaled" in words
    text = MetricText()
    text.units = lambda: words
    text.show_metric("validation loss", 0.25)
    assert text.told() == f"validation loss: 0.25, the newest value of this run\n{words}"
