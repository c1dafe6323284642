"""The delta rule, by hand and without autograd. Portable: exports carry this source."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class DeltaRule(nn.Module):
    """A net with one layer or two that learns by the delta rule, every product written out.

    x (N, inputs) -> (N, outputs). Hidden units are sigmoids, outputs are linear or sigmoids. Without hidden
    units this is Widrow and Hoff's Adaline. Row i of a weight matrix holds the bias of unit i, then a weight
    for each input; `start` are the first weights in that order, layer after layer.
    `slope` says which slope the output's delta takes: its own, or the sigmoid's (which for
    a linear output is no longer the gradient of the loss).
    Source: Widrow and Hoff 1960; Rumelhart, Hinton and Williams 1986.
    """

    def __init__(
        self,
        inputs: int,
        hidden: int,
        outputs: int,
        lr: float = 0.1,
        output: str = "linear",
        slope: str = "its own",
        online: bool = False,
        start: tuple[float, ...] = (),
    ) -> None:
        super().__init__()
        sizes = (inputs, hidden, outputs) if hidden else (inputs, outputs)
        shapes = [(sizes[n + 1], sizes[n] + 1) for n in range(len(sizes) - 1)]
        if start:
            numbers = torch.split(torch.tensor(start), [rows * columns for rows, columns in shapes])
            drawn = [part.reshape(shape) for part, shape in zip(numbers, shapes, strict=True)]
        else:
            drawn = [torch.empty(shape).uniform_(-1, 1) / shape[1] ** 0.5 for shape in shapes]
        self.weights = nn.ParameterList([nn.Parameter(weight) for weight in drawn])
        self.lr, self.online = lr, online
        self.bends = output == "sigmoid"  # whether the output is a sigmoid
        self.bent_slope = self.bends or slope == "sigmoid's"

    def forward(self, x: Tensor) -> Tensor:
        return self.signals(x)[1][-1]

    def signals(self, x: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """The input of each layer with a one in front, and the output of each."""
        given, made = [], []
        for number, weight in enumerate(self.weights, start=1):
            given.append(torch.cat([torch.ones_like(x[:, :1]), x], 1))
            x = given[-1] @ weight.T
            if number < len(self.weights) or self.bends:
                x = torch.sigmoid(x)
            made.append(x)
        return given, made

    def deltas(self, x: Tensor, target: Tensor) -> list[Tensor]:
        """The delta of each layer, (N, units): how the loss ½ Σ (y - target)² of a row grows with sums."""
        _, made = self.signals(x)
        bent = made[-1] if self.bends else torch.sigmoid(made[-1])
        delta = (made[-1] - target) * (bent * (1 - bent) if self.bent_slope else 1)
        found = [delta]
        for number in range(len(self.weights) - 1, 0, -1):
            hidden = made[number - 1]
            found.insert(0, (found[0] @ self.weights[number][:, 1:]) * hidden * (1 - hidden))
        return found

    def update(self, x: Tensor, target: Tensor) -> dict[str, Tensor]:
        """Change the weights by -lr times the mean of delta · input, over the batch or a row at a time."""
        target = target.reshape(len(x), -1).to(x)
        rows = 1 if self.online else len(x)
        losses = []
        for part, wanted in zip(torch.split(x, rows), torch.split(target, rows), strict=True):
            given, made = self.signals(part)
            losses.append((made[-1] - wanted).square().sum(1) / 2)
            for weight, delta, before in zip(self.weights, self.deltas(part, wanted), given, strict=True):
                weight -= self.lr / len(part) * delta.T @ before
        return {"loss": torch.cat(losses).mean()}
