"""A plan that names what its graph doesn't have is told of, with the step that mends it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.document.plan import Choice, Minimise, Objective, Phase, Plan, Rule
from engine.shapes.problems import Problem
from tests.engine.sketches import Sketch, mended


def flowers(*objectives: Objective) -> tuple[Sketch, list[Problem]]:
    """Iris through two layers into a loss, trained by these objectives."""
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    hidden = sketch.add("Linear", "hidden", {"units": 4, "activation": "tanh"}, x=f"{data}.features")
    scores = sketch.add("Linear", "scores", {"units": 3}, x=hidden)
    sketch.add("CrossEntropy", "loss", prediction=scores, target=f"{data}.species")
    assert [data, hidden, scores] == ["n1", "n2", "n3"]
    sketch.project = replace(sketch.project, plan=Plan((Phase(objectives),)))
    return sketch, [one for one in sketch.check().problems if one.code == "plan-nodes"]


@pytest.mark.parametrize(
    "objective",
    [
        Minimise(),
        Minimise("n4"),
        Minimise({"n4": 0.5}, of=("n3",)),
        Minimise("all", of=("n2", "n3"), rates={"n2": 0.1}),
    ],
)
def test_a_plan_that_fits_has_no_problem(objective: Objective) -> None:
    assert flowers(objective)[1] == []


@pytest.mark.parametrize(
    ("objective", "message", "wanted"),
    [
        (Minimise("n9"), "lowers a loss that is not in the graph", Minimise()),
        (Minimise("n2"), "lowers a loss that is not in the graph", Minimise()),
        (Minimise({"n4": 1.0, "n9": 2.0}), "lowers a loss that is not in the graph", Minimise()),
        (Minimise(of=("n2", "n9")), "trains a layer that is not in the graph", Minimise(of=("n2",))),
        (Minimise(of=("n9",)), "trains a layer that is not in the graph", Minimise()),
        (Minimise(of=("n1",)), "trains only nodes without weights", Minimise()),
    ],
)
def test_what_is_gone_is_told_and_mended(objective: Objective, message: str, wanted: Objective) -> None:
    sketch, problems = flowers(objective)
    [problem] = problems
    assert problem.message == f"The objective of the plan {message}."
    assert problem.severity == "error"
    assert mended(sketch, problem).problems == []
    assert sketch.project.plan.phases[0].objectives == (wanted,)


def test_a_rule_belongs_to_a_node_that_has_one() -> None:
    _, problems = flowers(Minimise(name="head"), Rule("n3"), Rule("n9"))
    assert [one.message for one in problems] == [
        "Objective 2 of the plan applies the rule of scores, which has none.",
        "Objective 3 of the plan applies the rule of a node that is not in the graph.",
    ]


def test_an_objective_is_found_by_phase_and_name() -> None:
    sketch, _ = flowers(Minimise())
    late = Phase((Minimise("n9", name="head", optimiser=Choice("SGD")),))
    sketch.project = replace(sketch.project, plan=Plan((Phase(), late)))
    [problem] = [one for one in sketch.check().problems if one.code == "plan-nodes"]
    assert problem.message.startswith("The objective head of phase 2 lowers")
