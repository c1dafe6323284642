"""Samples of a chain: ways of single weights, and effective sizes held to what they are by theory."""

import numpy as np
import pytest

from engine.feed.feed import Probe
from engine.look.landscape.chain import SHOWN, chain, effective_size
from engine.look.sight import Look
from tests.engine.sketches import gallery
from tests.engine.train.networks import run_of


def correlated(count: int, with_last: float, seed: int) -> np.ndarray:
    """A series whose neighbours correlate by so much, whose lag k correlates by its k-th power."""
    draws = np.random.default_rng(seed)
    found = [draws.standard_normal()]
    for step in draws.standard_normal(count - 1) * np.sqrt(1 - with_last**2):
        found.append(with_last * found[-1] + step)
    return np.array(found)


@pytest.mark.parametrize("with_last", [0.0, 0.5, 0.9])
def test_an_effective_size_is_that_of_theory(with_last: float) -> None:
    count = 20_000
    sizes = [effective_size(correlated(count, with_last, seed)) for seed in range(8)]
    assert np.mean(sizes) == pytest.approx(count * (1 - with_last) / (1 + with_last), rel=0.08)


def test_what_never_moves_counts_what_it_is() -> None:
    assert effective_size(np.ones(9)) == 9
    assert effective_size(np.array([1.0, 2.0])) == 2


def test_the_ways_are_those_of_the_samples() -> None:
    run = run_of(gallery("sampled-weights"))
    assert chain(Look.of(run, 0), Probe("", "chain")) is None  # in the warm-up nothing is kept
    while run.step < 130:
        run.advance()
    taken = chain(Look.of(run, 0), Probe("", "chain"))
    assert taken is not None
    ways, facts = taken
    sampler = run.phases.players[0].optimiser
    flat = np.concatenate([one.flatten(1).numpy() for one in sampler.samples()], axis=1)
    assert ways.shape == (len(flat), SHOWN) and len(flat) > 20
    assert (ways[:, 0] == flat[:, 0]).all() and (ways[:, -1] == flat[:, -1]).all()
    assert facts["names"][0] == f"{next(name for name, _ in run.model.named_parameters())}[0, 0]"
    assert all(0 < size <= len(ways) for size in facts["effective"])
