"""What a view sees of a grid world is what the network says of each cell."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.agents.grid import grid_values
from engine.look.sight import Look
from tests.engine.kinds.test_agents import ACT, LEARN, SLOW, line
from tests.engine.train.networks import run_of


def test_the_values_are_those_of_the_network_in_each_cell() -> None:
    run = run_of(line((ACT, LEARN, SLOW)))
    for _ in range(5):
        run.advance()
    random = torch.get_rng_state()
    values, facts = grid_values(Look.of(run, 0), Probe("n1", "grid_values"))
    assert torch.equal(random, torch.get_rng_state())
    table = run.model.get_parameter("table.weight").detach().T.numpy()
    assert values.shape == (1, 3, 4) and np.allclose(values[0], table)
    assert facts["layout"] == ["S.G"] and facts["actions"] == ("up", "right", "down", "left")
    assert facts["agents"].sum() == 4 and facts["agents"][0, 2] == 0


def test_without_a_rollout_there_is_nothing_to_see() -> None:
    with pytest.raises(NeuroloomError, match="No agent acts here"):
        grid_values(Look.of(run_of(line((LEARN, SLOW))), 0), Probe("n1", "grid_values"))
