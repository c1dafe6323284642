"""Gibbs sampling as a procedure: the stationary distribution, what is held, and the same in three ways."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch

from engine.document.graph import Project
from engine.document.plan import Phase, Plan, Rule
from engine.layers.boltzmann import RBM
from engine.procedures.boltzmann import gibbs_chain
from tests.engine.exact import free_energy
from tests.engine.procedures.running import in_three_ways, loaded, names_of, states_of
from tests.engine.sketches import Sketch


def machine() -> Project:
    """Three corners of a square, stored by an RBM of two visible and three hidden units."""
    sketch = Sketch("Corners")
    data = sketch.add("Patterns", "corners", {"form": "2-D"})
    rbm = sketch.add("RBM", "machine", {"hidden": 3}, x=f"{data}.start")
    sketch.add("MeanSquaredError", "loss", prediction=f"{rbm}.reconstruction", target=f"{data}.stored")
    sketch.project.plan = Plan((Phase((Rule(rbm),)),))
    return sketch.project


@torch.no_grad()
def test_the_chain_comes_to_the_distribution_that_enumeration_gives() -> None:
    torch.manual_seed(1)
    rbm = RBM(3, 2)
    rbm.weight.copy_(torch.tensor([[1.5, -1.0, 0.5], [-0.5, 2.0, 1.0]]))
    every = torch.tensor(list(itertools.product((0.0, 1.0), repeat=3)))
    exact = torch.softmax(-free_energy(rbm, every), 0)
    draws = torch.Generator().manual_seed(0)
    *_, last = gibbs_chain(rbm, torch.zeros(20_000, 3), draws=draws, rounds=30, held=0, rest="blank")
    code = (last["state"] @ torch.tensor([4.0, 2.0, 1.0])).long()
    torch.testing.assert_close(torch.bincount(code, minlength=8) / 20_000, exact, atol=0.015, rtol=0)
    draws = torch.Generator().manual_seed(0)
    start = torch.tensor([[1.0, 0.0, 0.0]]).repeat(20_000, 1)
    *_, last = gibbs_chain(rbm, start, draws=draws, rounds=30, held=1, rest="random")
    assert (last["state"][:, 0] == 1).all()
    given = exact[4:] / exact[4:].sum()
    code = (last["state"][:, 1:] @ torch.tensor([2.0, 1.0])).long()
    torch.testing.assert_close(torch.bincount(code, minlength=4) / 20_000, given, atol=0.015, rtol=0)


def test_application_command_line_and_script_give_the_same_bits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = in_three_ways(machine(), tmp_path, capsys, "gibbs", rounds=6, rows=(0, 4), rest="random", held=1)
    assert len(found[0]) == 7 and found[0] == found[1] == found[2]
    assert found[0][1]["hidden"] != found[0][2]["hidden"]


def test_states_come_one_by_one_and_the_model_is_left_as_it_was() -> None:
    program, model, data = loaded(machine())
    before = {name: value.clone() for name, value in model.state_dict().items()}
    batch = {name: column[:2] for name, column in data["train"].items()}
    first = states_of(program, model, batch, "gibbs", 5, rounds=2)
    assert [one["step"] for one in first] == [0, 1, 2] and model.training
    again = states_of(program, model, batch, "gibbs", 5, rounds=2)
    assert all(torch.equal(a["state"], b["state"]) for a, b in zip(first, again, strict=True))
    assert all(torch.equal(value, model.state_dict()[name]) for name, value in before.items())
    assert "gibbs" in names_of(machine())
