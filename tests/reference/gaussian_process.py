"""Gaussian process

Exported from Neuroloom. Needs torch, numpy and scikit-learn only.

    python gaussian_process.py
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 64
    epochs: int = 1


CONFIG = Config()


def stratified_holdout(labels: Tensor, fraction: float, shuffle: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows as (kept, held): a random `fraction` is held back, in every class alike."""
    n = len(labels)
    order = torch.randperm(n, generator=shuffle)
    by_class = labels[order].argsort(stable=True)
    held = torch.zeros(n, dtype=torch.bool)
    # so that each class gives its part
    held[by_class] = (torch.arange(n + 1) * round(fraction * n) // max(n, 1)).diff() > 0
    return order[~held], order[held]


def stratified_split(labels: Tensor, validation: float, test: float, seed: int) -> dict[str, Tensor]:
    """Rows of each split; the fractions are of all rows, in every class alike."""
    shuffle = torch.Generator().manual_seed(seed)
    rest, tested = stratified_holdout(labels, test, shuffle)
    kept, held = stratified_holdout(labels[rest], validation / (1 - test), shuffle)
    return {"train": rest[kept], "validation": rest[held], "test": tested}


class Fitted(nn.Module):
    """Keeps what it was fitted to in buffers, whose sizes come with the data and with a file of weights."""

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for name, value in self.named_buffers(recurse=False):
            stored = state_dict.get(prefix + name)
            if stored is not None and stored.shape != value.shape:
                setattr(self, name, value.new_empty(stored.shape))
        super()._load_from_state_dict(state_dict, prefix, *rest)


class GaussianProcess(Fitted):
    """What every smooth function through the rows would say of a new one: a mean, and how far to trust it."""
    # Source: Rasmussen and Williams 2006, algorithm 2.1 and §5.4.

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


def gaussian_likelihood(mean: Tensor, log_variance: Tensor, target: Tensor, least: float = 1e-3) -> Tensor:
    """Half of v + (target - mean)² exp(-v), averaged; v is the log variance, at least log(`least`)."""
    v = log_variance.clamp(min=math.log(least))
    return ((v + (target - mean) ** 2 * (-v).exp()) / 2).mean()


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.process = GaussianProcess(1, 1)

    def forward(self, x_: Tensor) -> tuple[Tensor, Tensor]:      # (N, 1)
        process_output, process_log_variance = self.process(x_)  # (N, 1), (N, 1)
        return process_output, process_log_variance


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: x (N, 1); y (N, 1)."""
    rows, seed = 60, 0
    draw = torch.Generator().manual_seed(seed)
    drawn = torch.randn(rows, 1, generator=draw)
    x = 2 * torch.rand(rows, 1, generator=draw) - 1
    gap_from, gap_to = -0.4, 0.3
    fraction = (x + 1) / 2
    at = fraction * (2 - (gap_to - gap_from)) - 1
    x = torch.where(at < gap_from, at, at + (gap_to - gap_from))
    clean = torch.sin(math.pi * x)
    strength = torch.ones_like(x)
    deviation = 0.15 * strength
    columns = {"x": x, "y": clean + deviation * drawn}
    parts = stratified_split(torch.zeros(rows), validation=0.2, test=0.2, seed=seed)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


def batches(
    split: dict[str, Tensor], shuffle: torch.Generator | None = None, size: int | None = CONFIG.batch
) -> Iterator[dict[str, Tensor]]:
    n = len(split["x"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(size or n):
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}


@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over a split, with dropout off."""
    model.eval()
    n = 0
    sums: dict[str, float] = {}
    for batch in batches(split):
        size = len(batch["x"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of process."""
    x_ = batch["x"]  # (N, 1)
    y = batch["y"]   # (N, 1)
    return model.process.fit(x_, y)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    x_ = batch["x"]                                           # (N, 1)
    y = batch["y"]                                            # (N, 1)
    process_output, process_log_variance = model.process(x_)  # (N, 1), (N, 1)
    return {"loss": gaussian_likelihood(process_output, process_log_variance, y, 0.001)}


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle, len(data["train"]["x"])):
            with torch.no_grad():
                value = objective(model, batch)["loss"].item()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(description="Gaussian process")
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.set_num_threads(1)  # faster than several for so small a network
    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
