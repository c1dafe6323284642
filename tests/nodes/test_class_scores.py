"""Metrics of a whole split are those of scikit-learn, whatever the batches are."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from sklearn import metrics
from sklearn.linear_model import LinearRegression, Ridge
from torch import Tensor

from engine.document.plan import Plan
from engine.document.shipped import datasets_folder
from tests.engine.sketches import Sketch, program_of
from tests.nodes.values import measured

NAMES = {
    "PrecisionScore": "precision",
    "RecallScore": "recall",
    "F1Score": "f1",
    "IntersectionOverUnion": "jaccard",
}


def answers(n: int = 200, classes: int = 5) -> tuple[Tensor, Tensor]:
    """Scores that are often right; the last class never is and is never answered."""
    draw = torch.Generator().manual_seed(4)
    right = torch.randint(classes - 1, (n,), generator=draw)
    scores = torch.randn(n, classes, generator=draw)
    scores[torch.arange(n), right] += 1
    scores[:, -1] = -20
    return scores, right


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
@pytest.mark.parametrize("type_id", NAMES)
def test_averages_over_classes(type_id: str, average: str) -> None:
    scores, right = answers()
    wanted = getattr(metrics, f"{NAMES[type_id]}_score")(right, scores.argmax(1), average=average)
    assert measured(type_id, {"average": average}, scores, right) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("type_id", NAMES)
def test_one_class_and_one_yes_or_no_score(type_id: str) -> None:
    scores, right = answers()
    found = getattr(metrics, f"{NAMES[type_id]}_score")
    [wanted] = found(right, scores.argmax(1), average=None, labels=[2])
    assert measured(type_id, {"only": 2}, scores, right) == pytest.approx(wanted, abs=1e-6)
    yes, no = scores[:, :1], (right == 0).float()[:, None]
    wanted = found(no.flatten(), yes.flatten() > 0.5, average="binary")
    assert measured(type_id, {"only": 1}, yes, no) == pytest.approx(wanted, abs=1e-6)


def test_places_that_do_not_count_are_left_out() -> None:
    scores, right = answers()
    kept = right != 3
    goal = right.masked_fill(torch.arange(200) % 3 == 0, -100)
    kept &= goal != -100
    wanted = metrics.f1_score(right[kept], scores[kept].argmax(1), average="macro")
    by_place = measured("F1Score", {"ignored": 3}, scores.view(20, 10, 5), goal.view(20, 10))
    assert by_place == pytest.approx(wanted, abs=1e-6)
    pixels = measured(
        "F1Score", {"ignored": 3}, scores.view(20, 10, 5).movedim(-1, 1)[..., None], goal.view(20, 10, 1)
    )
    assert pixels == by_place


@pytest.mark.parametrize("k", [1, 2, 9])
def test_top_k(k: int) -> None:
    scores, right = answers()
    wanted = 1.0 if k > 5 else metrics.top_k_accuracy_score(right, scores, k=k, labels=range(5))
    assert measured("TopKAccuracy", {"k": k}, scores, right) == pytest.approx(wanted)


def test_perplexity_is_the_exponential_of_the_cross_entropy() -> None:
    scores, right = answers()
    wanted = math.exp(metrics.log_loss(right, scores.double().softmax(1), labels=range(5)))
    assert measured("Perplexity", None, scores, right) == pytest.approx(wanted, rel=1e-5)
    assert measured(
        "Perplexity", None, torch.zeros(7, 4), torch.zeros(7, dtype=torch.int64)
    ) == pytest.approx(4)


def test_calibration_error_bin_by_bin() -> None:
    scores, right = answers()
    confidence, guessed = (2 * scores).softmax(1).max(1)
    wanted = 0.0
    for low in range(10):
        inside = (confidence > low / 10) & (confidence <= (low + 1) / 10)
        if inside.any():
            hit = (guessed == right)[inside].float().mean()
            wanted += float(inside.float().mean() * (hit - confidence[inside].mean()).abs())
    assert wanted > 0.05
    assert measured("CalibrationError", {"bins": 10}, 2 * scores, right) == pytest.approx(wanted, abs=1e-6)


def test_errors_of_numbers() -> None:
    draw = torch.Generator().manual_seed(1)
    goal = 2000 + torch.randn(60, 2, generator=draw)  # far from 0, where squares lose their digits
    guess = goal + 0.3 * torch.randn(60, 2, generator=draw)
    assert measured("RSquared", None, guess, goal) == pytest.approx(metrics.r2_score(goal, guess), abs=1e-5)
    assert measured("RSquared", None, guess * 0, goal * 0 + 3) == 0
    wanted = metrics.root_mean_squared_error(goal.flatten(), guess.flatten())
    assert measured("RootMeanSquaredError", None, guess, goal) == pytest.approx(wanted, rel=1e-5)
    wanted = metrics.mean_absolute_percentage_error(goal, guess)
    assert measured("MeanAbsolutePercentageError", None, guess, goal) == pytest.approx(wanted, rel=1e-5)


def test_a_split_has_the_value_of_its_rows_whatever_its_batches_are() -> None:
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    scores = sketch.add("Linear", "scores", {"units": 3}, x=f"{data}.features")
    sketch.add("CrossEntropy", "cost", prediction=scores, target=f"{data}.species")
    for type_id in (*NAMES, "CalibrationError", "Perplexity", "AreaUnderRoc", "AveragePrecision"):
        sketch.add(type_id, type_id.lower(), prediction=scores, target=f"{data}.species")
    number = sketch.add("Linear", "number", {"units": 4}, x=f"{data}.features")
    for type_id in ("RSquared", "RootMeanSquaredError"):
        sketch.add(type_id, type_id.lower(), prediction=number, target=f"{data}.features")
    found = []
    for batch in (7, 1000):
        sketch.project.plan = Plan(batch=batch)
        program = program_of(sketch)
        torch.manual_seed(3)
        model = program.make_model("cpu")
        train = program.load(datasets_folder())["train"]
        found.append(program.evaluate(model, train))
    assert found[0] == pytest.approx(found[1], rel=1e-5)
    answer = model.scores(train["features"]).argmax(1)
    wanted = metrics.f1_score(train["species"], answer, average="macro")
    assert found[0]["f1score"] == pytest.approx(wanted)
    probabilities = model.scores(train["features"]).softmax(1).detach()
    wanted = metrics.roc_auc_score(train["species"], probabilities, multi_class="ovr")
    assert found[0]["areaunderroc"] == pytest.approx(wanted, abs=1e-7)
    wanted = metrics.average_precision_score(train["species"], probabilities)
    assert found[0]["averageprecision"] == pytest.approx(wanted, abs=1e-7)
    guess = model.number(train["features"]).detach()
    assert found[0]["rsquared"] == pytest.approx(metrics.r2_score(train["features"], guess), rel=1e-4)


RANKED = {"AreaUnderRoc": metrics.roc_auc_score, "AveragePrecision": metrics.average_precision_score}


@pytest.mark.parametrize("type_id", RANKED)
def test_ranks_of_a_score(type_id: str) -> None:
    scores, right = answers()
    one, yes = scores[:, :1].round(decimals=1), right[:, None] == 0  # some are equal
    wanted = RANKED[type_id](yes.flatten(), one.flatten())
    assert measured(type_id, None, one, yes.float()) == pytest.approx(wanted, abs=1e-12)
    assert measured(type_id, None, one, 2 * yes.float() - 1) == pytest.approx(wanted, abs=1e-12)
    two = torch.cat((torch.zeros_like(one), one), 1)
    assert measured(type_id, None, two, yes.flatten().long()) == pytest.approx(wanted, abs=1e-12)
    labels = torch.nn.functional.one_hot(right, 4)
    for average in ("macro", "micro", "weighted"):
        wanted = RANKED[type_id](labels, scores[:, :4], average=average)
        found = measured(type_id, {"average": average}, scores[:, :4], labels.float())
        assert found == pytest.approx(wanted, abs=1e-12)
    assert math.isnan(measured(type_id, None, one, torch.zeros_like(one)))


@pytest.mark.parametrize("type_id", RANKED)
def test_ranks_of_each_class_against_the_rest(type_id: str) -> None:
    scores, right = answers(classes=5)  # the last class never occurs
    probabilities = scores.softmax(1)
    labels = torch.nn.functional.one_hot(right, 5)
    for average in ("macro", "micro", "weighted"):
        last = 5 if average == "micro" else 4
        wanted = RANKED[type_id](labels[:, :last], probabilities[:, :last], average=average)
        assert measured(type_id, {"average": average}, scores, right) == pytest.approx(wanted, abs=1e-12)
    wanted = RANKED[type_id](right == 2, probabilities[:, 2])
    assert measured(type_id, {"only": 2}, scores, right) == pytest.approx(wanted, abs=1e-12)
    there = right != 3
    goal = right.masked_fill(right == 3, -100).view(20, 10, 1)
    pixels = scores.view(20, 10, 5).movedim(-1, 1)[..., None]
    wanted = RANKED[type_id](right[there] == 2, probabilities[there, 2])
    assert measured(type_id, {"only": 2}, pixels, goal) == pytest.approx(wanted, abs=1e-12)


def test_three_forms_of_r_squared_agree_for_least_squares_on_its_own_rows_alone() -> None:
    draw = torch.Generator().manual_seed(3)
    x = torch.randn(90, 2, generator=draw, dtype=torch.double)
    y = 5 + x @ torch.tensor([[1.0], [-2.0]], dtype=torch.double) + torch.randn(90, 1, generator=draw)
    seen, new = slice(0, 60), slice(60, 90)
    line = LinearRegression().fit(x[seen], y[seen])
    shrunk = Ridge(alpha=40.0).fit(x[seen], y[seen])
    for model, rows, agree in ((line, seen, True), (line, new, False), (shrunk, seen, False)):
        guess, right = torch.from_numpy(model.predict(x[rows])).view(-1, 1), y[rows]
        forms = [
            measured("RSquared", {"form": form}, guess, right)
            for form in ("residual", "regression", "correlation")
        ]
        wanted = [
            metrics.r2_score(right, guess),
            float((guess - right.mean()).square().sum() / (right - right.mean()).square().sum()),
            np.corrcoef(guess.flatten(), right.flatten())[0, 1] ** 2,
        ]
        assert forms == pytest.approx(wanted, abs=1e-7)
        assert (max(forms) - min(forms) < 1e-6) == agree
