"""Agents that learn in a grid world, against its best values, and what of their plans is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Choice, Follow, Minimise, Objective, Phase, Plan, Rollout, Stop
from engine.emit.program import compile_program
from engine.emit.script import export_script
from engine.errors import EmitError, GraphError
from engine.feed.feed import Feed
from engine.layers.agents.grid_world import GridWorld
from engine.runs.settings import Settings, Stage
from engine.shapes.shapes import check
from engine.train.begin import begin_run
from tests.engine.kinds.steps import KINDS, of_kind
from tests.engine.layers.agents.test_environments import best_values
from tests.engine.sketches import catalogue, gallery
from tests.engine.train.networks import DATASETS


def trained(project: Project) -> tuple[Any, dict[str, Any]]:
    program = compile_program(project, catalogue())
    settings = Settings.of(project.plan, device="cpu")
    run = begin_run(program, catalogue(), lambda: program.load(DATASETS), settings, Feed())
    while run.stage is not Stage.DONE:
        run.advance()
    return run.model, run.results


def test_the_example_finds_the_best_ways() -> None:
    model, results = trained(gallery("dqn-grid"))
    assert results["test_episode_return"] > 0.7
    layout = str(gallery("dqn-grid").graph.node("n1").params["layout"])
    world = GridWorld(1, layout, slip=0.1)
    inside = torch.tensor([letter == "." for letter in layout.replace("/", "")])
    best = best_values(world, 0.95)[inside].float()
    with torch.no_grad():
        found = model.q_network(world.states[inside])
    assert (found.max(1).values - best.max(1).values).abs().mean() < 0.05
    chosen = best.gather(1, found.argmax(1, keepdim=True))[:, 0]
    assert (best.max(1).values - chosen).max() < 0.1


def line(steps: tuple[Objective, ...], double: bool = False) -> Project:
    """Three cells in a row with the goal at the end, a table of values (n2) and another that follows (n3)."""
    nodes = [
        Node("n1", "GridWorld", "row", {"layout": "S.G", "step": -0.1, "rows": 200, "limit": 8}),
        Node("n2", "Linear", "table", {"units": 4, "bias": False}),
        Node("n3", "Linear", "slow table", {"units": 4, "bias": False}),
        Node("n4", "ActionValue", "value"),
        Node("n5", "TDTarget", "target", {"discount": 0.5}),
        Node("n6", "MSE", "error"),
    ]
    links = [
        Link("n1", "state", "n2", "x"),
        Link("n1", "next_state", "n3", "x"),
        Link("n2", "output", "n4", "x"),
        Link("n1", "action", "n4", "action"),
        Link("n3", "output", "n5", "x"),
        Link("n1", "reward", "n5", "reward"),
        Link("n1", "end", "n5", "end"),
        Link("n4", "output", "n6", "prediction"),
        Link("n5", "output", "n6", "target"),
    ]
    if double:
        nodes.append(Node("n7", "Linear", "table too", {"units": 4, "bias": False}, shares="n2"))
        links += [Link("n1", "next_state", "n7", "x"), Link("n7", "output", "n5", "choose")]
    plan = Plan((Phase(steps, Stop(30, restore_best=False)),), batch=16)
    return Project("Row", graph=Graph(nodes, links), plan=plan, next_id=10)


ACT = Rollout("n1", policy="n2", agents=4, memory=400, exploration=Choice("LinearExploration", {"last": 0.5}))
LEARN = Minimise("n6", Choice("SGD", {"lr": 0.5}), name="learn", of=("n2",))
SLOW = Follow("n3", leader="n2", rate=0.2)


@pytest.mark.parametrize("double", [False, True], ids=["DQN", "double DQN"])
def test_a_table_learns_the_values_of_each_action(double: bool) -> None:
    project = line((ACT, LEARN, SLOW), double)
    assert check(project, catalogue()).errors == []
    model, results = trained(project)
    assert results["test_episode_return"] == pytest.approx(0.8)
    found = model.table.weight.T[:2]
    best = best_values(GridWorld(1, "S.G", step=-0.1), 0.5)[:2].float()
    assert torch.allclose(found, best, atol=0.02)


def test_without_a_rollout_the_random_transitions_are_learned_from() -> None:
    model, results = trained(line((LEARN, SLOW)))
    best = best_values(GridWorld(1, "S.G", step=-0.1), 0.5)[:2].float()
    assert torch.allclose(model.table.weight.T[:2], best, atol=0.02)
    assert "test_episode_return" not in results and not hasattr(model, "row")


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (replace(ACT, policy="n4"), "does not score the 4 actions of row"),
        (replace(ACT, policy="n3"), "by the state alone"),
        (replace(SLOW, leader="n3"), "no weights of their own that are alike"),
        (replace(SLOW, leader="n4"), "no weights of their own that are alike"),
    ],
)
def test_a_step_that_does_not_fit_is_refused_with_its_node(step: Objective, said: str) -> None:
    with pytest.raises(EmitError, match=said) as found:
        export_script(line((step, LEARN)), catalogue())
    assert (found.value.node_id is not None and found.value.fix) or "state alone" in said


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (replace(ACT, node="n2"), "acts in table, which is no environment"),
        (replace(ACT, node="n99"), "names a node that is not in the graph"),
        (replace(ACT, policy="n6"), "acts by error, which is no layer"),
        (replace(SLOW, node="n1"), "lets row follow, which has no weights"),
    ],
)
def test_what_names_the_wrong_nodes_is_a_problem(step: Objective, said: str) -> None:
    problems = check(line((step, LEARN)), catalogue()).problems
    assert any(said in one.message for one in problems)


def test_a_step_before_the_rollout_is_a_warning() -> None:
    problems = check(line((LEARN, ACT)), catalogue()).problems
    assert any("learns from random moves" in one.message and one.severity == "warning" for one in problems)
    assert not check(line((ACT, LEARN)), catalogue()).problems


def test_two_rollouts_in_one_environment_agree_on_its_agents() -> None:
    phases = tuple(Phase((replace(ACT, agents=count), LEARN), Stop(1)) for count in (4, 5))
    project = replace(line((LEARN,)), plan=Plan(phases, batch=16))
    with pytest.raises(EmitError, match="other agents"):
        export_script(project, catalogue())


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(GraphError, match="every batch"):
        replace(ACT, every=2)
    with pytest.raises(GraphError, match="move of each agent"):
        replace(ACT, memory=3)
    with pytest.raises(GraphError, match="at most 1"):
        replace(SLOW, rate=1.5)


@pytest.mark.parametrize("kind", ["Rollout", "Follow"])
def test_a_file_keeps_the_step(kind: str) -> None:
    plan = of_kind(kind).plan
    assert Plan.from_json(plan.to_json()) == plan
    step = next(one for one in KINDS[kind] if isinstance(one, Rollout | Follow))
    assert type(step).from_json({**step.to_json(), "new": 1}, "it").extra == {"new": 1}


def test_the_script_has_the_functions_it_calls() -> None:
    text = export_script(line((ACT, LEARN, SLOW)), catalogue()).text
    assert "class Replay(nn.Module)" in text and "class Follow" in text and "neuroloom" not in text
