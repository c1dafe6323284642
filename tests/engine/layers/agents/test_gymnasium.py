"""Environments of the package Gymnasium, where it is installed."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
import torch

from engine.document.graph import Graph, Link, Node, Project
from engine.errors import ParamError
from engine.layers.agents.cart_pole import CartPole
from engine.layers.agents.gymnasium_worlds import GymnasiumWorlds
from engine.shapes.shapes import check
from nodes.agents.environments import Gymnasium
from tests.engine.sketches import catalogue

INSTALLED = find_spec("gymnasium") is not None
needs = pytest.mark.skipif(not INSTALLED, reason="the package gymnasium is an extra")


@needs
def test_our_pole_moves_as_its() -> None:
    theirs, ours = GymnasiumWorlds(3, "CartPole-v1", 4, 2), CartPole(3)
    ours.state = theirs.reset(seed=1)[0].clone()
    for turn in range(8):
        action = torch.tensor([turn % 2, 1 - turn % 2, 1])
        (state, reward, ended, *_), (mine, *_) = theirs.step(action), ours.step(action)
        assert torch.allclose(state, mine, atol=1e-5)
        assert reward.tolist() == [1, 1, 1] and not ended.any()


@needs
def test_an_episode_is_taken_up_where_the_weights_say() -> None:
    one, other = (GymnasiumWorlds(2, "CartPole-v1", 4, 2, limit=20) for _ in range(2))
    one.reset(seed=3)
    for _ in range(5):
        one.step(torch.tensor([0, 1]))
    other.load_state_dict(one.state_dict())
    wanted = [one.step(torch.tensor([1, 0]))[0] for _ in range(3)]
    assert all(torch.equal(state, other.step(torch.tensor([1, 0]))[0]) for state in wanted)


@needs
def test_other_sizes_than_its_own_are_refused() -> None:
    with pytest.raises(ValueError, match="has 4 numbers as a state and 2 actions"):
        GymnasiumWorlds(1, "CartPole-v1", 5, 2).reset(seed=0)


def test_a_package_that_is_not_there_is_a_problem_at_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodes.advice.packages.find_spec", lambda _: None)
    nodes = (Node("n1", "Gymnasium", "pole"), Node("n2", "Linear"))
    project = Project("Pole", graph=Graph(nodes, (Link("n1", "state", "n2", "x"),)), next_id=5)
    problems = check(project, catalogue()).problems
    assert any(one.node_id == "n1" and "gymnasium is not installed" in one.message for one in problems)


@pytest.mark.parametrize("id", ["", "os:system", "a b"])
def test_an_id_that_would_import_a_module_is_refused(id: str) -> None:
    with pytest.raises(ParamError, match="letters, digits"):
        Gymnasium({"id": id}).world()
