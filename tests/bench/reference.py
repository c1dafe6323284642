"""The loops somebody would write by hand, which the window's training is compared with."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Columns = dict[str, Tensor]


class Cnn(nn.Module):
    """The network of the example mnist-cnn."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.dropout = nn.Dropout(0.5)
        self.classes = nn.Linear(1600, 10)

    def features(self, image: Tensor) -> Tensor:
        x = F.max_pool2d(F.relu(self.conv1(image)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.dropout(x.flatten(1))

    def forward(self, image: Tensor) -> Tensor:
        return self.classes(self.features(image))


class Mlp(nn.Module):
    """2-16-16-1 with tanh."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden1 = nn.Linear(2, 16)
        self.hidden2 = nn.Linear(16, 16)
        self.answer = nn.Linear(16, 1)

    def forward(self, point: Tensor) -> Tensor:
        return self.answer(torch.tanh(self.hidden2(torch.tanh(self.hidden1(point)))))


class GptLayer(nn.Module):
    """Causal attention and two dense layers, each behind a norm and beside a skip connection.

    Queries and keys are turned by their places in the text.
    """

    cos: Tensor
    sin: Tensor

    def __init__(self, steps: int, size: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        pairs = torch.arange(0, size // heads, 2)
        angles = torch.arange(steps)[:, None] * 10000.0 ** (-pairs * heads / size)
        self.register_buffer("cos", angles.cos().repeat(1, 2))
        self.register_buffer("sin", angles.sin().repeat(1, 2))
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.projection, self.output = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.wide, self.narrow = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, x: Tensor) -> Tensor:
        rows, steps, size = x.shape
        parts = self.projection(self.norm1(x)).split(size, 2)
        q, k, v = (one.view(rows, steps, self.heads, size // self.heads).transpose(1, 2) for one in parts)
        dropped = self.dropout if self.training else 0.0
        read = F.scaled_dot_product_attention(
            self.turned(q), self.turned(k), v, None, dropped, is_causal=True
        )
        x = x + self.output(read.transpose(1, 2).reshape(rows, steps, size))
        return x + self.narrow(F.gelu(self.wide(self.norm2(x))))

    def turned(self, x: Tensor) -> Tensor:
        first, second = x.chunk(2, 3)
        return x * self.cos + torch.cat((-second, first), 3) * self.sin


class Gpt(nn.Module):
    """The network of the example char-decoder, as one writes it in PyTorch."""

    def __init__(self, tokens: int = 72, steps: int = 64, size: int = 96, heads: int = 4, layers: int = 2):
        super().__init__()
        self.letters = nn.Embedding(tokens, size)
        self.layers = nn.Sequential(*[GptLayer(steps, size, heads, 0.1) for _ in range(layers)])
        self.norm, self.scores = nn.LayerNorm(size), nn.Linear(size, tokens)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.scores(self.norm(self.layers(self.letters(tokens))))


class OfEachToken(nn.Module):
    """Cross-entropy of scores (N, T, V) with the tokens (N, T) that come next."""

    def forward(self, scores: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(scores.flatten(0, 1), target.flatten())


class HandWritten:
    """Trains epoch after epoch, with the validation loss after each, for as long as it is told."""

    def __init__(
        self,
        model: nn.Module,
        loss: nn.Module,
        data: dict[str, Columns],
        columns: tuple[str, str],
        batch: int,
    ):
        self.model, self.loss, self.batch = model, loss, batch
        self.inputs, self.targets = (data["train"][name] for name in columns)
        self.held = tuple(data["validation"][name] for name in columns)
        self.optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
        self._steps = self._train()

    def _train(self) -> Iterator[None]:
        for rows in self._rows():
            self.optimiser.zero_grad()
            loss = self.loss(self.model(self.inputs[rows]), self.targets[rows])
            loss.backward()
            self.optimiser.step()
            yield

    def _rows(self) -> Iterator[Tensor]:
        shuffle = torch.Generator().manual_seed(0)
        while True:
            yield from torch.randperm(len(self.inputs), generator=shuffle).split(self.batch)
            self._validate()

    @torch.no_grad()
    def _validate(self) -> float:
        self.model.eval()
        total = 0.0
        for inputs, targets in zip(*(column.split(self.batch) for column in self.held), strict=True):
            total += self.loss(self.model(inputs), targets).item() * len(inputs)
        self.model.train()
        return total / len(self.held[0])

    def steps_in(self, seconds: float) -> tuple[int, float]:
        """Train for about `seconds`; returns the steps taken and the seconds passed."""
        began, steps = time.perf_counter(), 0
        while (passed := time.perf_counter() - began) < seconds:
            next(self._steps)
            steps += 1
        return steps, passed


class InTurns(HandWritten):
    """The same, but filters and classes have an optimiser each and take turns with every batch."""

    def _train(self) -> Iterator[None]:
        model = self.model
        assert isinstance(model, Cnn)
        filters = [*model.conv1.parameters(), *model.conv2.parameters()]
        classes = list(model.classes.parameters())
        first, second = (torch.optim.Adam(weights, lr=1e-3) for weights in (filters, classes))
        for rows in self._rows():
            image, digit = self.inputs[rows], self.targets[rows]
            first.zero_grad()
            self.loss(model(image), digit).backward(inputs=filters)
            first.step()
            second.zero_grad()
            with torch.no_grad():
                features = model.features(image)
            self.loss(model.classes(features), digit).backward(inputs=classes)
            second.step()
            yield


class EmByHand:
    """EM for a Gaussian mixture of points in the plane, with the held log-likelihood after each step."""

    def __init__(self, data: dict[str, Columns], components: int = 3) -> None:
        torch.manual_seed(0)
        self.x, self.held = data["train"]["point"], data["validation"]["point"]
        self.mean = torch.randn(components, 2)
        self.covariance = torch.eye(2).repeat(components, 1, 1)
        self.weight = torch.full((components,), 1 / components)

    def joint(self, x: Tensor) -> Tensor:
        lower = torch.linalg.cholesky(self.covariance)
        off = (x[:, None] - self.mean).transpose(0, 1)
        white = torch.linalg.solve_triangular(lower.mT, off, upper=True, left=False)
        distance = white.square().sum(2).T
        volume = lower.diagonal(dim1=1, dim2=2).log().sum(1)
        return -(distance + 2 * math.log(2 * math.pi)) / 2 - volume + self.weight.log()

    def step(self) -> float:
        joint = self.joint(self.x)
        likelihood = joint.logsumexp(1)
        r = (joint - likelihood[:, None]).exp()
        share = r / r.sum(0)
        self.mean = share.T @ self.x
        off = self.x[:, None] - self.mean
        self.covariance = torch.einsum("nk,nkd,nke->kde", share, off, off) + 1e-6 * torch.eye(2)
        self.weight = r.mean(0)
        return -likelihood.mean().item()

    @torch.no_grad()
    def steps_in(self, seconds: float) -> tuple[int, float]:
        """Take steps for about `seconds`; returns how many and the seconds passed."""
        began, steps = time.perf_counter(), 0
        while (passed := time.perf_counter() - began) < seconds:
            self.step()
            self.joint(self.held).logsumexp(1).mean().item()
            steps += 1
        return steps, passed
