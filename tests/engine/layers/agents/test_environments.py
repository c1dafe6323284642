"""Environments by their published numbers and equations, and what is kept of agents in them."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from engine.layers.agents.cart_pole import CartPole
from engine.layers.agents.grid_world import GridWorld
from engine.layers.agents.replay import Replay

# The utilities of Russell and Norvig (1995), figure 17.3: rewards of -0.04, slips of 0.1 to each side.
PUBLISHED = {0: 0.812, 1: 0.868, 2: 0.918, 4: 0.762, 6: 0.660, 8: 0.705, 9: 0.655, 10: 0.611, 11: 0.388}


def best_values(world: GridWorld, discount: float) -> Tensor:
    """The values of the actions in each cell (cells, 4) by value iteration over the tables of a world."""
    values = torch.zeros(len(world.ways), 4, dtype=torch.float64)
    for _ in range(1000):
        worth = world.worth.double() + discount * torch.where(world.ends, 0.0, values.max(1).values)
        by_way = worth[world.ways]
        sides = [by_way.roll(turn, 1) for turn in (1, -1)]
        values = (1 - world.slip) * by_way + world.slip / 2 * sum(sides)
    return values


def test_the_values_of_the_first_layout_are_those_published() -> None:
    best = best_values(GridWorld(1, slip=0.2), 1.0).max(1).values
    for cell, value in PUBLISHED.items():
        assert float(best[cell]) == pytest.approx(value, abs=6e-4)


def test_moves_stop_at_walls_and_end_at_the_goal() -> None:
    world = GridWorld(1)
    state, _ = world.reset(seed=0)
    assert state.argmax() == 8  # S
    path = []
    for action in (1, 0, 0, 3, 1, 1, 1):
        state, reward, ended, cut_off, _ = world.step(torch.tensor([action]))
        path.append((int(state.argmax()), round(float(reward), 2), bool(ended), bool(cut_off)))
    moves = [(9, -0.04), (9, -0.04), (9, -0.04), (8, -0.04), (9, -0.04), (10, -0.04), (11, -0.04)]
    assert path == [(cell, reward, False, False) for cell, reward in moves]
    _, reward, ended, _, _ = world.step(torch.tensor([0]))
    assert float(reward) == pytest.approx(-1.04) and bool(ended)


def test_moves_slip_to_both_sides_as_often_as_they_are_to() -> None:
    world = GridWorld(30_000, "...../...../..S../...../.....", slip=0.3)
    world.reset(seed=1)
    state, *_ = world.step(torch.zeros(30_000, dtype=torch.int64))
    counts = state.mean(0)
    assert float(counts[7]) == pytest.approx(0.7, abs=0.01)
    assert [float(counts[cell]) for cell in (11, 13)] == pytest.approx([0.15, 0.15], abs=0.01)


def test_an_episode_is_cut_off_and_only_masked_agents_begin_again() -> None:
    world = GridWorld(2, "S.", limit=2)
    world.reset(seed=0)
    world.step(torch.tensor([1, 1]))
    state, _, ended, cut_off, _ = world.step(torch.tensor([1, 1]))
    assert not ended.any() and cut_off.all()
    state, _ = world.reset(options={"reset_mask": torch.tensor([True, False])})
    assert state.argmax(1).tolist() == [0, 1] and world.time.tolist() == [0, 2]


def test_the_pole_moves_by_its_equations() -> None:
    world = CartPole(3)
    state, _ = world.reset(seed=4)
    wanted = [row.tolist() for row in state.double()]
    for action in (1, 1, 0, 1):
        state, reward, _, _, _ = world.step(torch.tensor([action, 0, 1]))
        for row, push in zip(wanted, (action, 0, 1), strict=True):
            _, speed, angle, turning = row
            force, sine, cosine = 10.0 if push else -10.0, math.sin(angle), math.cos(angle)
            both = (-force - 0.1 * 0.5 * turning**2 * sine) / 1.1
            swing = (9.8 * sine + cosine * both) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
            gain = (force + 0.1 * 0.5 * (turning**2 * sine - swing * cosine)) / 1.1
            row[:] = [one + 0.02 * rate for one, rate in zip(row, (speed, gain, turning, swing), strict=True)]
        assert torch.allclose(state.double(), torch.tensor(wanted).double(), atol=1e-6)
        assert reward.tolist() == [1, 1, 1]


def test_a_pole_that_is_left_alone_falls() -> None:
    world = CartPole(50)
    world.reset(seed=0)
    for _ in range(15):  # pushed to one side it falls within ten moments or so
        state, _, ended, _, _ = world.step(torch.zeros(50, dtype=torch.int64))
    assert ended.all() and (state[:, 2].abs() > 12 * math.pi / 180).all()


def to_the_right(state: Tensor) -> Tensor:
    return torch.tensor([0.0, 1.0, 0.0, 0.0]).expand(len(state), 4)


def test_a_replay_keeps_the_last_transitions_and_begins_again_at_an_end() -> None:
    torch.manual_seed(0)
    replay = Replay(GridWorld, agents=1, memory=3, layout="S.G", step=-0.1)
    for _ in range(4):
        ended = replay.move(to_the_right, 0.0, replay.begin_turn())
        assert ended.tolist() == pytest.approx([0.8] if replay.now.argmax() == 0 else [])
    assert int(replay.seen) == 4 and int(replay.turn) == 4
    assert replay.state.argmax(1).tolist() == [1, 1, 0]  # the fourth stands in the place of the first
    assert replay.next_state.argmax(1).tolist() == [2, 2, 1]
    assert replay.end.flatten().tolist() == [1, 1, 0]
    assert replay.reward.flatten().tolist() == pytest.approx([0.9, 0.9, -0.1])
    drawn = replay.drawn(50, torch.Generator().manual_seed(0))
    assert drawn["state"].shape == (50, 3) and set(drawn["action"].tolist()) == {1}


def test_what_is_drawn_hangs_on_the_turn_alone() -> None:
    torch.manual_seed(0)
    one = Replay(GridWorld, agents=4, memory=20)
    other = Replay(GridWorld, agents=4, memory=20)
    other.load_state_dict(one.state_dict())
    for _ in range(6):
        one.move(to_the_right, 0.5, one.begin_turn())
        torch.rand(3)  # whatever others draw
        other.move(to_the_right, 0.5, other.begin_turn())
    assert all(torch.equal(value, other.state_dict()[name]) for name, value in one.state_dict().items())


def test_the_mean_return_is_that_of_the_best_actions() -> None:
    replay = Replay(GridWorld, agents=1, memory=1, layout="...G", step=-0.1, limit=9)
    found = replay.mean_return(lambda _, state: to_the_right(state), None, 200)
    starts = GridWorld(200, "...G").reset(seed=0)[0].argmax(1)
    assert float(found) == pytest.approx(1 - 0.1 * float((3 - starts).float().mean()))
