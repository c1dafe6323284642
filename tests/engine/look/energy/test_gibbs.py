"""Chains keep to the distribution they draw from, and to what is held."""

import itertools

import torch

from engine.layers.boltzmann import RBM
from engine.look.energy.gibbs import gibbs
from engine.procedures.boltzmann import emptied
from tests.engine.exact import free_energy


def small() -> RBM:
    torch.manual_seed(3)
    rbm = RBM(3, 2)
    with torch.no_grad():
        rbm.weight.copy_(torch.tensor([[1.5, -1.0, 0.5], [-0.5, 2.0, 1.0]]))
        rbm.visible_bias.copy_(torch.tensor([0.2, -0.4, 0.1]))
    return rbm


@torch.no_grad()
def test_many_chains_come_to_the_exact_distribution() -> None:
    rbm = small()
    every = torch.tensor(list(itertools.product((0.0, 1.0), repeat=3)))
    exact = torch.softmax(-free_energy(rbm, every), 0)
    start = torch.zeros(20_000, 3)
    chain = gibbs(rbm.hidden_of, rbm.visible_of, start, 30, torch.Generator().manual_seed(0))
    assert chain.visible.shape == (31, 20_000, 3) and chain.hidden.shape == (31, 20_000, 2)
    code = (chain.states[-1] @ torch.tensor([4.0, 2.0, 1.0])).long()
    share = torch.bincount(code, minlength=8) / len(code)
    torch.testing.assert_close(share, exact, atol=0.015, rtol=0)


@torch.no_grad()
def test_what_is_held_stays_and_the_rest_follows_the_conditional() -> None:
    rbm = small()
    held = torch.tensor([True, False, False])
    start = torch.tensor([1.0, 0.0, 0.0]).repeat(20_000, 1)
    chain = gibbs(rbm.hidden_of, rbm.visible_of, start, 30, torch.Generator().manual_seed(1), held)
    assert (chain.states[:, :, 0] == 1).all() and (chain.visible[:, :, 0] == 1).all()
    every = torch.tensor([[1.0, a, b] for a in (0.0, 1.0) for b in (0.0, 1.0)])
    exact = torch.softmax(-free_energy(rbm, every), 0)
    code = (chain.states[-1][:, 1:] @ torch.tensor([2.0, 1.0])).long()
    torch.testing.assert_close(torch.bincount(code, minlength=4) / len(code), exact, atol=0.015, rtol=0)


@torch.no_grad()
def test_what_is_filled_in_does_not_know_what_was_there() -> None:
    """Rows that agree where they are held have the same chain, and the hidden units the same start."""
    rbm, held = small(), torch.tensor([True, False, False])
    rows = [torch.tensor([[1.0, a, b]]).repeat(20_000, 1) for a, b in ((0.0, 1.0), (1.0, 0.0))]
    for drawn in (False, True):
        chains = []
        for row in rows:
            own = torch.Generator().manual_seed(2)
            start = emptied(row, held, own if drawn else None)
            chains.append(gibbs(rbm.hidden_of, rbm.visible_of, start, 3, own, held))
        assert all(map(torch.equal, *chains))
        first = chains[0].states[0]
        assert (first[:, 0] == 1).all()
        torch.testing.assert_close(first[:, 1:].mean(0), torch.full((2,), drawn / 2), atol=0.02, rtol=0)
    blank = emptied(rows[0], held)
    exact = rbm.hidden_of(torch.tensor([[1.0, 0.0, 0.0]]))[0]
    hidden = gibbs(rbm.hidden_of, rbm.visible_of, blank, 0, torch.Generator().manual_seed(3), held).hidden[0]
    torch.testing.assert_close(hidden.mean(0), exact, atol=0.015, rtol=0)


@torch.no_grad()
def test_the_same_generator_gives_the_same_chain_and_leaves_torchs_own_alone() -> None:
    rbm, start = small(), torch.rand(4, 3).round()
    before = torch.random.get_rng_state()
    first, second = (
        gibbs(rbm.hidden_of, rbm.visible_of, start, 5, torch.Generator().manual_seed(7)) for _ in range(2)
    )
    assert torch.equal(first.states, second.states) and torch.equal(first.hidden, second.hidden)
    assert torch.equal(torch.random.get_rng_state(), before)
