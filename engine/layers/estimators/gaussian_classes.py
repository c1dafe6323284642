"""Classifiers that know the distribution of each class. Portable: exports carry this source."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class GaussianClasses(nn.Module):
    """Fits a Gaussian to each class; Bayes' rule then says which class is most probable.

    x (N, inputs) -> (N, classes), log p(x, class), whose softmax is the probability of each class. Means and
    covariances S are those of most likelihood: one "shared" S, each class's "own", or its "diagonal" alone;
    `shrinkage` r makes each (1 - r) S + r I. Source: Hastie, Tibshirani and Friedman 2009, §4.3.
    """

    means: Tensor
    whitening: Tensor
    offsets: Tensor

    def __init__(
        self, inputs: int, classes: int = 2, covariance: str = "shared", shrinkage: float = 0.0
    ) -> None:
        super().__init__()
        self.register_buffer("means", torch.zeros(classes, inputs))
        self.register_buffer("whitening", torch.eye(inputs).repeat(classes, 1, 1))  # inverse roots of the S
        self.register_buffer("offsets", torch.zeros(classes))
        self.covariance, self.shrinkage = covariance, shrinkage

    def forward(self, x: Tensor) -> Tensor:
        whitened = torch.einsum("ked,nkd->nke", self.whitening, x[:, None] - self.means)
        return self.offsets - whitened.square().sum(-1) / 2

    def fit(self, x: Tensor, target: Tensor) -> dict[str, Tensor]:
        """Count the classes, and take the moments of each. The loss is the cross-entropy after."""
        rows, label = x.reshape(len(x), -1).cpu().double(), target.reshape(len(x)).cpu().long()
        classes, inputs = self.means.shape
        counts = label.bincount(minlength=classes).double()
        means = rows.new_zeros(classes, inputs).index_add(0, label, rows) / counts.clamp(1)[:, None]
        apart = [rows[label == one] - means[one] for one in range(classes)]
        scatter = torch.stack([one.T @ one for one in apart])
        if self.covariance == "shared":
            spread = (scatter.sum(0) / len(rows)).expand_as(scatter)
        else:
            spread = scatter / counts.clamp(1)[:, None, None]
        if self.covariance == "diagonal":
            spread = torch.diag_embed(spread.diagonal(0, 1, 2))
        least = max(self.shrinkage, 1e-9 * float(rows.var(0, correction=0).max()))
        spread = (1 - self.shrinkage) * spread + least * torch.eye(inputs).to(spread)
        root = torch.linalg.cholesky(spread)
        half = root.diagonal(0, 1, 2).log().sum(1) + inputs / 2 * math.log(2 * math.pi)
        self.means.copy_(means)
        self.whitening.copy_(torch.linalg.solve_triangular(root, torch.eye(inputs).to(root), upper=False))
        self.offsets.copy_((counts / len(rows)).log() - half)
        return {"loss": F.cross_entropy(self(x.reshape(len(x), -1)), target.reshape(len(x)).long())}
