"""Regression with a Gaussian process. Portable: exports carry this source."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.layers.estimators.fitted import Fitted


class GaussianProcess(Fitted):
    """What every smooth function through the rows would say of a new one: a mean, and how far to trust it.

    x (N, inputs) -> mean (N, outputs) and logarithm of the variance (N, outputs) of a new observation. The
    kernel is s² exp(-|x - x'|² / 2 l²) with noise of deviation n on each observation; targets are centred.
    With `tune`, s, l and n are those that make the rows most likely. Of more than `most` rows, as many are
    taken evenly.
    Source: Rasmussen and Williams 2006, algorithm 2.1 and §5.4.
    """

    rows: Tensor
    factor: Tensor
    answers: Tensor
    level: Tensor
    scales: Tensor

    def __init__(
        self,
        inputs: int,
        outputs: int,
        length: float = 1.0,
        signal: float = 1.0,
        noise: float = 0.1,
        tune: bool = True,
        most: int = 2000,
    ) -> None:
        super().__init__()
        self.register_buffer("rows", torch.zeros(0, inputs))
        self.register_buffer("factor", torch.zeros(0, 0))
        self.register_buffer("answers", torch.zeros(0, outputs))
        self.register_buffer("level", torch.zeros(outputs))
        self.register_buffer("scales", torch.tensor([length, signal, noise]))
        self.tune, self.most = tune, most

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        between = self.kernel(x, self.rows)
        mean = self.level + between @ self.answers
        known = torch.linalg.solve_triangular(self.factor, between.T, upper=False).square().sum(0)
        spread = self.scales[1] ** 2 + self.scales[2] ** 2 - known
        return mean, spread.clamp(min=1e-12).log()[:, None].expand_as(mean)

    def kernel(self, one: Tensor, other: Tensor) -> Tensor:
        far = (one[:, None, :] - other[None, :, :]).square().sum(-1)
        return self.scales[1] ** 2 * torch.exp(-far / (2 * self.scales[0] ** 2))

    def fit(self, x: Tensor, target: Tensor) -> dict[str, Tensor]:
        """Keep the rows. The loss: minus the log of their joint density, over their number."""
        step = -(-len(x) // self.most)
        x, wanted = x.reshape(len(x), -1)[::step], target.reshape(len(target), -1)[::step].to(x)
        n, outputs = wanted.shape
        self.rows, self.level = x.clone(), wanted.mean(0)
        rows, wanted = x.cpu().double(), (wanted - self.level).cpu().double()
        if self.tune:
            self.scales.copy_(self.likeliest(rows, wanted))
        length, signal, noise = self.scales.tolist()
        apart = torch.cdist(rows, rows).square()
        covariance = signal**2 * torch.exp(-apart / (2 * length**2))
        covariance += (noise**2 + 1e-8 * signal**2) * torch.eye(n)
        factor = torch.linalg.cholesky(covariance)
        answers = torch.cholesky_solve(wanted, factor)
        self.factor, self.answers = factor.to(x).contiguous(), answers.to(x).contiguous()
        surprise = 0.5 * (wanted * answers).sum() + outputs * factor.diagonal().log().sum()
        loss = surprise / n + 0.5 * outputs * torch.log(torch.tensor(2 * torch.pi))
        scales = dict(zip(("length", "signal", "noise"), self.scales.clone(), strict=True))
        return {"loss": loss.to(x), **scales}

    def likeliest(self, x: Tensor, wanted: Tensor) -> Tensor:
        """Length, signal and noise under which the rows are most likely, searched from several starts."""
        import warnings

        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

        length, signal, noise = self.scales.tolist()
        kernel = ConstantKernel(signal**2, (1e-4, 1e4)) * RBF(length, (1e-3, 1e3)) + WhiteKernel(
            noise**2, (1e-8, 1e2)
        )
        found = GaussianProcessRegressor(kernel, n_restarts_optimizer=4, random_state=0)
        with warnings.catch_warnings():  # a scale at a bound is as good as its value
            warnings.simplefilter("ignore")
            kernel = found.fit(x.cpu().numpy(), wanted.cpu().numpy()).kernel_
        signal, length, noise = kernel.k1.k1.constant_value, kernel.k1.k2.length_scale, kernel.k2.noise_level
        return torch.tensor([length, signal**0.5, noise**0.5])
