"""What is computed in closed form, for tests to compare with."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from engine.layers.boltzmann import RBM


def free_energy(rbm: RBM, v: Tensor) -> Tensor:
    """F(v) = -aᵀv - Σ log(1 + exp(Wv + b)), (N,): p(v) ∝ exp(-F(v)), of binary units (Hinton 2012)."""
    return -(v @ rbm.visible_bias) - functional.softplus(v @ rbm.weight.T + rbm.hidden_bias).sum(1)
