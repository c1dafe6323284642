"""The weights a run began with: seen at the start, or made again from the seed."""

import torch

from engine.look.first_weights import first_of, first_weights
from engine.look.sight import Look
from tests.engine.train.networks import iris, run_of


def test_they_are_the_same_when_the_first_look_comes_late() -> None:
    early, late = run_of(iris()), run_of(iris())
    right = {name: weight.detach().clone() for name, weight in early.model.named_parameters()}
    first_weights(Look.of(early, 0))
    for run in (early, late):
        for _ in range(5):
            run.advance()
        random = torch.get_rng_state()
        found = first_weights(Look.of(run, 0))
        assert torch.equal(torch.get_rng_state(), random)
        for name, weight in run.model.named_parameters():
            assert torch.equal(found[name][0], right[name]) and found[name][1] == 0
            assert not torch.equal(weight, right[name])


def test_a_layer_that_was_edited_counts_from_then_on() -> None:
    run = run_of(iris())
    first_weights(Look.of(run, 0))
    run.advance()
    path = run.program.modules["n2"]
    run.model.set_submodule(path, torch.nn.Linear(4, 7))
    found = first_of(Look.of(run, 0), "n2")
    assert found["weight"][1] == 1
    assert torch.equal(found["weight"][0], run.model.get_submodule(path).weight)
    assert first_of(Look.of(run, 0), "n4")["weight"][1] == 0
    assert first_of(Look.of(run, 0), "n1") == {}
