"""A plan that names what its graph doesn't have is told of, with the step that mends it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.document.blocks import group
from engine.document.document import Document
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


def mixture(*nodes: str, batch: int = 0) -> tuple[Sketch, list[Problem]]:
    """Iris into a mixture in parts, which learns by a rule of these nodes."""
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    means = sketch.add("Means", "means", x=f"{data}.features")
    spread = sketch.add("Covariances", "covariances", x=means)
    sketch.add("Responsibilities", "responsibilities", x=spread)
    first, *others = nodes
    plan = Plan((Phase((Rule(first, also=tuple(others)),)),), batch=batch)
    sketch.project = replace(sketch.project, plan=plan)
    return sketch, [one for one in sketch.check().problems if one.code.startswith("plan-")]


def test_a_rule_of_several_nodes_has_what_they_learn_from() -> None:
    assert mixture("n2", "n3", "n4")[1] == []
    sketch, [problem] = mixture("n2", "n3")
    assert problem.message == (
        "The objective of the plan has no node that gives responsibilities, from which means learns."
    )
    assert mended(sketch, problem).problems == []
    assert sketch.project.plan.phases[0].objectives == (Rule("n2", also=("n3", "n4")),)
    sketch, [problem] = mixture("n2", "n9", "n4")
    assert mended(sketch, problem).problems == []
    assert sketch.project.plan.phases[0].objectives == (Rule("n2", also=("n4",)),)


def test_one_node_of_a_rule_teaches_the_others() -> None:
    sketch, _ = mixture("n2", "n4", "n5")
    sketch.add("Responsibilities", "again", x="n3")
    messages = [one.message for one in sketch.check().problems if one.code == "plan-nodes"]
    assert messages == [
        "The objective of the plan has two nodes that give responsibilities: make a rule of each."
    ]


def test_a_rule_that_needs_all_rows_has_them() -> None:
    sketch, [problem] = mixture("n2", "n3", "n4", batch=32)
    assert problem.message == (
        "The objective of the plan applies the rule of Means, which needs all rows in one batch."
    )
    assert mended(sketch, problem).problems == []
    assert sketch.project.plan.phases[0].batch == 0


def test_a_target_does_not_reach_into_a_block() -> None:
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    sketch.add("Perceptron", "unit", {"units": 4}, x=f"{data}.features", target=f"{data}.features")
    sketch.add("Output", "answer", x="n2")
    document = Document(sketch.project)
    with document.step("Group"):
        for edit in group(document.project, ["n2"], "inner"):
            document.apply(edit)
    sketch.project = replace(document.project, plan=Plan((Phase((Rule("n2"),)),)))
    [problem] = [one for one in sketch.check().problems if one.code == "plan-nodes"]
    assert problem.message == (
        "The objective of the plan applies the rule of unit, whose target does not reach into its block."
    )


def test_an_objective_is_found_by_phase_and_name() -> None:
    sketch, _ = flowers(Minimise())
    late = Phase((Minimise("n9", name="head", optimiser=Choice("SGD")),))
    sketch.project = replace(sketch.project, plan=Plan((Phase(), late)))
    [problem] = [one for one in sketch.check().problems if one.code == "plan-nodes"]
    assert problem.message.startswith("The objective head of phase 2 lowers")
