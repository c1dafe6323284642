"""Markov chains in the place of optimisers: they draw weights where those look for the best ones."""

from __future__ import annotations

from engine.catalogue.params import param
from engine.catalogue.training.optimiser_base import Optimiser


class HMC(Optimiser):
    """Hamiltonian Monte Carlo: throws the weights along the loss like a ball without friction.

    Where they land is kept: samples of the posterior of the weights, where the loss is a mean of −log p and
    the prior is normal. Duane et al. 1987; Neal 2011; the step is tuned as by Hoffman and Gelman 2014.
    """

    makes = "engine.optim.hmc.HMC"
    formula = "H = U + |p|²/2; leapfrog; taken with probability min(1, exp(H − H*))"
    closure = "potential"
    whole_batch = True
    one_vector = True
    lr: float = param(0.01, above=0, label="Step", doc="length of one leap before it is tuned")
    leaps: int = param(
        20, minimum=1, maximum=10_000, label="Leaps", doc="leapfrog steps from one state to the next"
    )
    prior: float = param(1.0, above=0, label="Prior", doc="deviation of the weights before any data")
    warm_up: int = param(100, minimum=0, label="Warm-up", doc="steps that tune the length and are not kept")
    accept: float = param(
        0.8, above=0, below=1, label="Accepted", doc="fraction of steps the length is tuned to"
    )
    keep: int = param(1, minimum=1, label="Keep every", doc="so many steps one sample is kept")
    most: int = param(1000, minimum=1, maximum=100_000, label="Samples", doc="the newest that are held")


SAMPLERS: dict[str, type[Optimiser]] = {found.__name__: found for found in (HMC,)}
