"""How agents explore, what a rollout puts into a batch, and how weights follow others."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from engine.layers.agents.grid_world import GridWorld
from engine.layers.agents.replay import Replay
from engine.optim.follow import Follow
from engine.optim.rollout import ExponentialExploration, LinearExploration, Rollout


def test_exploration_falls_to_what_is_left() -> None:
    linear, halved = LinearExploration(1.0, 0.1, 10), ExponentialExploration(0.8, 0.1, 5)
    assert [linear(turn) for turn in (0, 5, 10, 99)] == pytest.approx([1.0, 0.55, 0.1, 0.1])
    assert [halved(turn) for turn in (0, 5, 10, 99)] == pytest.approx([0.8, 0.4, 0.2, 0.1])


def test_a_rollout_puts_what_was_seen_into_the_batch_and_tells_what_episodes_earned() -> None:
    def right(_: object, state: Tensor) -> Tensor:
        return torch.tensor([0.0, 1.0, 0.0, 0.0]).expand(len(state), 4)

    torch.manual_seed(0)
    replay = Replay(GridWorld, agents=2, memory=100, layout="SG", step=0.0)
    act = Rollout(replay, right, LinearExploration(0.0, 0.0, 1))
    batch = {"state": torch.full((8, 2), 9.0), "reward": torch.full((8, 1), 9.0)}
    act(None, batch)
    assert int(replay.seen) == 10  # random moves for a batch, then one of each agent
    assert batch["state"].shape == (8, 2) and not (batch["state"] == 9).any()
    found = act(None, batch)
    assert (float(found["loss"]), float(found["weight"]), float(found["exploration"])) == (1.0, 2.0, 0.0)


def test_random_actions_are_as_many_as_asked() -> None:
    torch.manual_seed(0)
    replay = Replay(GridWorld, agents=4000, memory=4000)
    replay.move(lambda state: torch.eye(4)[torch.full((len(state),), 2)], 0.4, replay.begin_turn())
    assert float((replay.action == 2).float().mean()) == pytest.approx(0.6 + 0.4 / 4, abs=0.02)


def test_weights_follow_by_a_fraction_of_the_way_or_are_copied() -> None:
    torch.manual_seed(0)
    layer, leader = nn.Linear(3, 2), nn.Linear(3, 2)
    before = layer.weight.detach().clone()
    with torch.no_grad():
        apart = Follow(layer, leader, 0.25)()["loss"]
        assert torch.allclose(layer.weight, 0.75 * before + 0.25 * leader.weight)
        mine = torch.cat([before.flatten(), layer.bias])[:6]
        assert float(apart) > 0 and mine.shape == (6,)
        Follow(layer, leader)()
    assert torch.equal(layer.weight, leader.weight) and torch.equal(layer.bias, leader.bias)
    with torch.no_grad():
        assert float(Follow(layer, leader)()["loss"]) == 0
