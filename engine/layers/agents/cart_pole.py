"""A pole on a cart: many side by side. Portable: exports carry this source."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn


class CartPole(nn.Module):
    """`agents` carts side by side, each pushed to the left (0) or to the right (1) so that its pole stands.

    States are (agents, 4): place in metres, speed, angle in radians, speed of the angle. A moment of 0.02
    seconds is worth 1; an episode ends 2.4 metres from the middle or at 12 degrees, and is cut off after
    `limit` moments. Without friction, by Euler's method, as in Gymnasium's CartPole-v1, whose interface of
    vector environments that are reset by a mask it speaks. Source: Barto, Sutton and Anderson, 1983.
    """

    state: Tensor
    time: Tensor
    actions = ("left", "right")
    gravity, cart, pole, half_length, force, seconds = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
    far, tilted = 2.4, 12 * math.pi / 180

    def __init__(self, agents: int, limit: int = 500) -> None:
        super().__init__()
        self.limit = limit
        self.draws: torch.Generator | None = None  # none: torch's own
        self.register_buffer("state", torch.zeros(agents, 4))
        self.register_buffer("time", torch.zeros(agents, dtype=torch.int64))

    def reset(
        self, seed: int | None = None, options: dict[str, Tensor] | None = None
    ) -> tuple[Tensor, dict[str, Any]]:
        """Begin again near the middle: all agents, or those of `options["reset_mask"]` (agents,)."""
        if seed is not None:
            self.draws = torch.Generator().manual_seed(seed)
        mask = torch.ones_like(self.time, dtype=torch.bool) if options is None else options["reset_mask"]
        drawn = (torch.rand(self.state.shape, generator=self.draws) - 0.5) / 10
        self.state = torch.where(mask[:, None], drawn.to(self.state.device), self.state)
        self.time = torch.where(mask, 0, self.time)
        return self.state, {}

    def step(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, dict[str, Any]]:
        """Push each cart by `action` (agents,): states, rewards, whether ended, whether cut off, facts."""
        place, speed, angle, turning = self.state.unbind(1)
        push, total = self.force * (2 * action - 1), self.cart + self.pole
        sine, cosine = angle.sin(), angle.cos()
        drive = (push + self.pole * self.half_length * turning.square() * sine) / total
        swing = (self.gravity * sine - cosine * drive) / (
            self.half_length * (4 / 3 - self.pole * cosine.square() / total)
        )
        gain = drive - self.pole * self.half_length * swing * cosine / total
        moved = (speed, gain, turning, swing)
        self.state = self.state + self.seconds * torch.stack(moved, 1)
        self.time = self.time + 1
        ended = (self.state[:, 0].abs() > self.far) | (self.state[:, 2].abs() > self.tilted)
        return self.state, torch.ones_like(place), ended, (self.time >= self.limit) & ~ended, {}
