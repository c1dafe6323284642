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

    def update(self, v: Tensor) -> dict[str, Tensor]:
        """Lower the free energy of the data and raise it where the chain went. The loss: squared error."""
        h = self.hidden_of(v)
        state = self.chain if len(self.chain) else torch.bernoulli(h)
        guess = v
        for _ in range(self.k):
            guess = torch.bernoulli(self.visible_of(state))
            sampled = self.hidden_of(guess)
            state = torch.bernoulli(sampled)
        watched = {"loss": F.mse_loss(self.visible_of(h), v)}
        if len(self.chain):
            self.chain.copy_(state)
        self.weight.add_(h.T @ v / len(v) - sampled.T @ guess / len(guess), alpha=self.lr)
        self.visible_bias.add_(v.mean(0) - guess.mean(0), alpha=self.lr)
        self.hidden_bias.add_(h.mean(0) - sampled.mean(0), alpha=self.lr)
        return watched

    def pseudo_likelihood(self, v: Tensor, units: int = 16) -> Tensor:
        """Σᵢ log p(vᵢ | the rest), the mean over the rows, from some units i that are drawn for each row.

        A unit is turned with the others kept: log p(vᵢ | the rest) = log σ(F(turned) - F(v)). Of thousands
        of images of 784 pixels the mean has a deviation of about 1, of 32 images ten times as much.
        """
        total = v @ self.weight.T + self.hidden_bias
        own, found = F.softplus(total).sum(1), torch.zeros_like(v[:, 0])
        for _ in range(units):
            unit = torch.randint(v.shape[1], (len(v),), device=v.device)
            turn = 1 - 2 * v.gather(1, unit[:, None])
            after = F.softplus(total + turn * self.weight.T[unit]).sum(1)
            found += F.logsigmoid(own - after - turn[:, 0] * self.visible_bias[unit])
        return v.shape[1] * found.mean() / units
