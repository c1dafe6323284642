"""Singular values are those of the weights."""

import numpy as np
import torch

from engine.feed.feed import Probe
from tests.engine.look.taking import take
from tests.engine.train.networks import iris, run_of


def test_the_values_and_the_rank_of_a_known_matrix() -> None:
    run = run_of(iris())
    node = next(
        node
        for node in run.program.modules
        if list(run.model.get_submodule(run.program.modules[node]).parameters())
    )
    weight = run.model.get_submodule(run.program.modules[node]).weight
    with torch.no_grad():
        weight.zero_()
        weight[0, 0], weight[1, 1] = 3.0, 3.0
    (snapshot,) = take(run, Probe(node, "singular_values"))
    np.testing.assert_allclose(snapshot.array[:2], [3, 3], rtol=1e-6)
    np.testing.assert_allclose(snapshot.array[2:], 0, atol=1e-6)
    assert abs(snapshot.extra["rank"] - 2) < 1e-3


def test_the_values_at_the_start_stay_those_of_the_first_weights() -> None:
    run = run_of(iris())
    weight = run.model.get_submodule(run.program.modules["n2"]).weight
    before = torch.linalg.svdvals(weight.detach()).numpy()
    (snapshot,) = take(run, Probe("n2", "singular_values"), steps=3)
    np.testing.assert_allclose(snapshot.extra["first"], before, rtol=1e-5)
    assert snapshot.extra["since"] == 0
    assert not np.allclose(snapshot.array, before, rtol=1e-5)
