"""The restricted Boltzmann machine. Portable: exports carry this source."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class RBM(nn.Module):
    """Two layers of binary units with links between the layers only, p(v, h) ∝ exp(vᵀWᵀh + aᵀv + bᵀh).

    v (N, visible) in 0..1 -> (hidden probabilities (N, hidden), reconstruction (N, visible)).
    It learns by contrastive divergence: `k` Gibbs steps from the data, or from `chains` states of its own
    that go on from batch to batch (persistent). Source: Hinton 2002;
    Tieleman 2008.
    """

    chain: Tensor

    def __init__(self, visible: int, hidden: int, lr: float = 0.01, k: int = 1, chains: int = 0) -> None:
        super().__init__()
        self.weight = nn.Parameter(0.01 * torch.randn(hidden, visible))
        self.visible_bias = nn.Parameter(torch.zeros(visible))
        self.hidden_bias = nn.Parameter(torch.zeros(hidden))
        self.register_buffer("chain", torch.zeros(chains, hidden))
        self.lr, self.k = lr, k

    def forward(self, v: Tensor) -> tuple[Tensor, Tensor]:
        h = self.hidden_of(v)
        return h, self.visible_of(h)

    def hidden_of(self, v: Tensor) -> Tensor:
        return torch.sigmoid(v @ self.weight.T + self.hidden_bias)

    def visible_of(self, h: Tensor) -> Tensor:
        return torch.sigmoid(h @ self.weight + self.visible_bias)

    def free_energy(self, v: Tensor) -> Tensor:
        """F(v) = -aᵀv - Σ log(1 + exp(Wv + b)), (N,): p(v) ∝ exp(-F(v))."""
        return -(v @ self.visible_bias) - F.softplus(v @ self.weight.T + self.hidden_bias).sum(1)

    def update(self, v: Tensor) -> dict[str, Tensor]:
        """Lower the free energy of the data and raise it where the chain went. The loss: squared error."""
        h = self.hidden_of(v)
        state = self.chain if len(self.chain) else torch.bernoulli(h)
        guess = v
        for _ in range(self.k):
            guess = torch.bernoulli(self.visible_of(state))
            sampled = self.hidden_of(guess)
            state = torch.bernoulli(sampled)
        watched = {"loss": F.mse_loss(self.visible_of(h), v), "pseudo_likelihood": self.likelihood(v)}
        if len(self.chain):
            self.chain.copy_(state)
        self.weight.add_(h.T @ v / len(v) - sampled.T @ guess / len(guess), alpha=self.lr)
        self.visible_bias.add_(v.mean(0) - guess.mean(0), alpha=self.lr)
        self.hidden_bias.add_(h.mean(0) - sampled.mean(0), alpha=self.lr)
        return watched

    def likelihood(self, v: Tensor) -> Tensor:
        """Pseudo-likelihood, visible · log p(vᵢ | the rest), from one unit i drawn for each row."""
        rows = torch.arange(len(v), device=v.device)
        unit = torch.randint(v.shape[1], (len(v),), device=v.device)
        turn = (1 - 2 * v[rows, unit])[:, None]
        total = v @ self.weight.T + self.hidden_bias
        turned = total + turn * self.weight.T[unit]
        gain = turn[:, 0] * self.visible_bias[unit] + (F.softplus(turned) - F.softplus(total)).sum(1)
        return v.shape[1] * F.logsigmoid(-gain).mean()
