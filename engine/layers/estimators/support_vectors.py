"""Support vector machines. Portable: exports carry this source."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.layers.estimators.fitted import Fitted


class SupportVectors(Fitted):
    """The boundary with the widest margin, held by the few rows that touch it or lie beyond.

    x (N, inputs) -> (N, 1), above 0 for the class 1; for more than two classes (N, classes), each against the
    rest. Solves the dual, max Σ a - ½ Σ a a' y y' k(x, x') with 0 <= a <= C and Σ a y = 0, where k is
    exp(-γ |x - x'|²) or x·x'. `support` marks the training rows that hold the boundary.
    Source: Cortes and Vapnik 1995.
    """

    rows: Tensor
    weights: Tensor
    bias: Tensor

    def __init__(
        self, inputs: int, classes: int = 2, kernel: str = "Gaussian", c: float = 1.0, gamma: float = 1.0
    ) -> None:
        super().__init__()
        outputs = 1 if classes == 2 else classes
        self.register_buffer("rows", torch.zeros(0, inputs))
        self.register_buffer("weights", torch.zeros(0, outputs))
        self.register_buffer("bias", torch.zeros(outputs))
        self.kernel, self.c, self.gamma = kernel, c, gamma

    def forward(self, x: Tensor) -> Tensor:
        between = x @ self.rows.T
        if self.kernel == "Gaussian":
            far = x.square().sum(1, keepdim=True) - 2 * between + self.rows.square().sum(1)
            between = torch.exp(-self.gamma * far)
        return between @ self.weights + self.bias

    def fit(self, x: Tensor, target: Tensor) -> dict[str, Tensor]:
        """Find the boundary of the rows. The loss: the mean hinge, max(0, 1 - y f(x)) with y of -1 and 1."""
        from sklearn.svm import SVC

        label = target.reshape(len(x), -1)[:, 0].long()
        outputs = len(self.bias)
        sides = label[:, None] == (
            torch.arange(outputs).to(label) if outputs > 1 else torch.ones(1).to(label)
        )
        kernel = "rbf" if self.kernel == "Gaussian" else "linear"
        rows = x.reshape(len(x), -1)
        weights, bias = torch.zeros(len(x), outputs, dtype=torch.double), torch.zeros(outputs)
        for one in range(outputs):
            found = SVC(C=self.c, kernel=kernel, gamma=self.gamma)
            found.fit(rows.cpu().double().numpy(), sides[:, one].cpu().numpy())
            weights[torch.from_numpy(found.support_).long(), one] = torch.from_numpy(found.dual_coef_[0])
            bias[one] = float(found.intercept_[0])
        held = weights.ne(0).any(1)
        self.rows, self.weights, self.bias = rows[held.to(x.device)].clone(), weights[held].to(x), bias.to(x)
        hinge = (1 - (2.0 * sides - 1) * self(rows)).clamp(min=0)
        return {"loss": hinge.mean(), "support_vectors": held.sum().to(x)}
