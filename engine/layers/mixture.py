"""A mixture of Gaussians in parts, which learn together by EM. Portable: exports carry this source."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class Means(nn.Module):
    """The means of K Gaussian components: how far a point lies from each, x (N, D) -> (N, K, D).

    Source of the update: Dempster, Laird and Rubin 1977.
    """

    def __init__(self, features: int, components: int = 3, spread: float = 1.0) -> None:
        super().__init__()
        self.mean = nn.Parameter(spread * torch.randn(components, features))

    def forward(self, x: Tensor) -> Tensor:
        return x[:, None] - self.mean

    def update(self, x: Tensor, responsibilities: Tensor) -> dict[str, Tensor]:
        """Each mean is that of the points (N, D), weighed by the responsibilities (N, K)."""
        self.mean.copy_(shares(responsibilities).T @ x)
        return {}


class Covariances(nn.Module):
    """The covariances of K Gaussian components: deviations (N, K, D) -> log-densities (N, K).

    They begin as the identity; `ridge` is added to every variance that is learned.
    """

    def __init__(self, components: int, features: int, ridge: float = 1e-6) -> None:
        super().__init__()
        self.covariance = nn.Parameter(torch.eye(features).repeat(components, 1, 1))
        self.ridge = ridge

    def forward(self, deviations: Tensor) -> Tensor:
        lower: Tensor = torch.linalg.cholesky(self.covariance)
        whitened = torch.linalg.solve_triangular(lower.mT, deviations.transpose(0, 1), upper=True, left=False)
        volume = lower.diagonal(dim1=1, dim2=2).log().sum(1)
        distance: Tensor = whitened.square().sum(2).T
        return -(distance + deviations.shape[2] * math.log(2 * math.pi)) / 2 - volume

    def update(self, deviations: Tensor, responsibilities: Tensor) -> dict[str, Tensor]:
        """Each covariance is that of the points about their new mean, weighed by the responsibilities."""
        share = shares(responsibilities)
        centred = deviations - torch.einsum("nk,nkd->kd", share, deviations)
        self.covariance.copy_(torch.einsum("nk,nkd,nke->kde", share, centred, centred))
        self.covariance.diagonal(dim1=1, dim2=2).add_(self.ridge)
        return {}


class MixingWeights(nn.Module):
    """How common each of K components is: log-densities (N, K) -> these with log-weights added, (N, K)."""

    def __init__(self, components: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((components,), 1 / components))

    def forward(self, densities: Tensor) -> Tensor:
        return densities + self.weight.log()

    def update(self, densities: Tensor, responsibilities: Tensor) -> dict[str, Tensor]:
        """Each weight is the mean responsibility of its component."""
        self.weight.copy_(responsibilities.mean(0))
        return {}


class Responsibilities(nn.Module):
    """From joint log-densities (N, K): the probability of each component (N, K), log-likelihoods (N, 1)."""

    def forward(self, joint: Tensor) -> tuple[Tensor, Tensor]:
        total = joint.logsumexp(1, keepdim=True)
        return (joint - total).exp(), total

    def update(self, joint: Tensor) -> dict[str, Tensor]:
        """Nothing changes here. The loss is minus the mean log-likelihood."""
        return {"loss": -joint.logsumexp(1).mean()}


def shares(responsibilities: Tensor) -> Tensor:
    """The part of each point in each component, so that those of a component add up to 1."""
    return responsibilities / responsibilities.sum(0).clamp(min=1e-12)
