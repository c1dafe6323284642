"""Ways to train beside plain descent, without a window, against the same steps written by hand.

As in the rows of speed the loop has a process of its own, and short rounds of the two take turns.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.catalogue import load_catalogue
from engine.document.graph import Project
from engine.document.shipped import datasets_folder
from tests.bench.fast import ROUNDS, steps_of
from tests.bench.rows import row
from tests.bench.setting import gallery_project
from tests.bench.speed import ROUND_SECONDS, apart

Splits = dict[str, dict[str, Tensor]]


class GanByHand:
    """The example gan-digits: discriminator, then generator, on each batch; what an epoch ends with, too."""

    def __init__(self) -> None:
        data = data_of(gallery_project("gan-digits"))
        self.images, self.held = data["train"]["image"], data["validation"]["image"]
        torch.manual_seed(0)
        self.generator = nn.Sequential(
            nn.Linear(64, 256), nn.LeakyReLU(0.01), nn.Linear(256, 784), nn.Sigmoid()
        )
        self.discriminator = nn.Sequential(nn.Linear(784, 256), nn.LeakyReLU(0.01), nn.Linear(256, 1))
        self._steps = self._train()

    def apart(self, images: Tensor, generated: Tensor) -> Tensor:
        real, made = self.discriminator(images.flatten(1)), self.discriminator(generated)
        return F.binary_cross_entropy_with_logits(
            real, torch.ones_like(real)
        ) + F.binary_cross_entropy_with_logits(made, torch.zeros_like(made))

    def _train(self) -> Iterator[None]:
        sides = (self.discriminator, self.generator)
        first, second = (torch.optim.Adam(side.parameters(), lr=2e-4, betas=(0.5, 0.999)) for side in sides)
        own, others = (list(side.parameters()) for side in sides)
        while True:
            for rows in torch.randperm(len(self.images)).split(128):
                images = self.images[rows]
                first.zero_grad()
                with torch.no_grad():
                    generated = self.generator(torch.randn(len(images), 64))
                loss = self.apart(images, generated)
                loss.item()
                loss.backward(inputs=own)
                first.step()
                second.zero_grad()
                score = self.discriminator(self.generator(torch.randn(len(images), 64)))
                loss = F.softplus(-score).mean()
                loss.item()
                loss.backward(inputs=others)
                second.step()
                yield
            with torch.no_grad():
                for held in self.held.split(128):
                    self.apart(held, self.generator(torch.randn(len(held), 64))).item()

    def steps_in(self, seconds: float) -> tuple[int, float]:
        """Take steps for about `seconds`; returns how many and the seconds passed."""
        began, steps = time.perf_counter(), 0
        while (passed := time.perf_counter() - began) < seconds:
            next(self._steps)
            steps += 1
        return steps, passed


class HmcByHand:
    """The example sampled-weights: a trajectory of 30 leaps of the same network, with a fixed length."""

    LEAPS, LENGTH, PRIOR, WEIGHT = 30, 0.01, 2.0, 22.2

    def __init__(self) -> None:
        data = data_of(gallery_project("sampled-weights"))
        self.data = data["train"]
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
        self.weights = list(self.net.parameters())

    def slopes(self) -> tuple[float, list[Tensor]]:
        """The loss of all rows and the slopes of the whole energy."""
        found = F.mse_loss(self.net(self.data["x"]), self.data["y"])
        loss = self.WEIGHT * len(self.data["x"]) * found
        slopes = torch.autograd.grad(loss, self.weights)
        return loss.item(), [
            s + w.detach() / self.PRIOR**2 for s, w in zip(slopes, self.weights, strict=True)
        ]

    def energy(self, loss: float, momentum: list[Tensor]) -> float:
        far = sum(float(weight.detach().square().sum()) for weight in self.weights)
        return loss + far / (2 * self.PRIOR**2) + sum(float(speed.square().sum()) for speed in momentum) / 2

    def step(self) -> None:
        start = [weight.detach().clone() for weight in self.weights]
        momentum = [torch.randn_like(weight) for weight in start]
        loss, slopes = self.slopes()
        before = self.energy(loss, momentum)
        for _ in range(self.LEAPS):
            with torch.no_grad():
                for weight, speed, slope in zip(self.weights, momentum, slopes, strict=True):
                    speed.sub_(slope, alpha=self.LENGTH / 2)
                    weight.add_(speed, alpha=self.LENGTH)
            loss, slopes = self.slopes()
            for speed, slope in zip(momentum, slopes, strict=True):
                speed.sub_(slope, alpha=self.LENGTH / 2)
        if math.log(float(torch.rand(()))) > before - self.energy(loss, momentum):
            with torch.no_grad():
                for weight, old in zip(self.weights, start, strict=True):
                    weight.copy_(old)

    def steps_in(self, seconds: float) -> tuple[int, float]:
        """Take steps for about `seconds`; returns how many and the seconds passed."""
        torch.set_num_threads(1)
        began, steps = time.perf_counter(), 0
        while (passed := time.perf_counter() - began) < seconds:
            self.step()
            steps += 1
        return steps, passed


def data_of(project: Project) -> Splits:
    """What a project learns from."""
    from engine.emit.program import compile_program

    return compile_program(project, load_catalogue()).load(datasets_folder())


def ratio(project: Project, by_hand: type[GanByHand] | type[HmcByHand]) -> tuple[float, str]:
    """Steps a second of a run divided by those of the loop written by hand."""
    steps_in, chosen = steps_of(project)
    with apart(by_hand) as alone:  # type: ignore[arg-type]  # it has the same `steps_in`
        threads = torch.get_num_threads()
        steps_in(0.5)
        rounds = [(steps_in(ROUND_SECONDS), alone(ROUND_SECONDS, threads)) for _ in range(ROUNDS)]
    ours, theirs = (sum(n for n, _ in side) / sum(s for _, s in side) for side in zip(*rounds, strict=True))
    remark = f"{ours:,.1f} steps/s, {theirs:,.1f} by hand on {threads} thread(s)"
    return ours / theirs, f"{remark}. {chosen}" if project.plan.fast else remark


@row(
    "speed-gan", "steps per second of gan-digits without a window against the same by hand", "ratio", ">= 0.9"
)
def gan() -> tuple[float, str]:
    return ratio(gallery_project("gan-digits"), GanByHand)


@row("fast-gan", "steps per second of gan-digits on the fast path against the same by hand", "ratio")
def fast_gan() -> tuple[float, str]:
    project = gallery_project("gan-digits")
    project.plan = project.plan.with_(fast=True)
    return ratio(project, GanByHand)


@row(
    "speed-hmc",
    "trajectories per second of sampled-weights without a window against the same by hand",
    "ratio",
    ">= 0.9",
)
def hmc() -> tuple[float, str]:
    return ratio(gallery_project("sampled-weights"), HmcByHand)
