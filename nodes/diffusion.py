"""Layers of diffusion models."""

from __future__ import annotations

from math import prod

from engine.catalogue import Emitted, Emitter, Layer, Port, Wire, param
from engine.catalogue.symbols import carried, without_defaults
from engine.errors import EmitError
from nodes.wires import same_shapes, sizes


class Diffusion(Layer):
    """Dissolves examples in noise: all example at time 0, almost all noise at time 1.

    A network behind it that is told the time learns to say which noise was added; step by step it then takes
    noise away, until an example is left.
    """

    family = "noise"
    shows = ("denoising",)
    aliases = ("ddpm", "denoising", "forward process", "noise schedule", "score")
    formula = "xₜ = √a x + √(1 - a) ε, a from 1 at t = 0 to 0 at t = 1"
    source = "Sohl-Dickstein et al., 2015; Ho, Jain and Abbeel, 2020; Nichol and Dhariwal, 2021"
    ports_in = (
        Port("x", doc="examples"),
        Port("noise", doc="normal noise of the same shape"),
        Port("time", doc="one number from 0 to 1 for each example"),
    )
    schedule: str = param("cosine", choices=("cosine", "linear"), doc="how examples fade with time")

    def emit(self, e: Emitter, x: Wire, noise: Wire, time: Wire) -> Emitted:
        from engine.layers.diffusion import Diffusion as Made

        same_shapes(x, noise)
        if prod(time.shape) != 1:
            raise EmitError(f"Diffusion takes one time for each example, but {sizes(time)} come in.")
        return e.module(without_defaults(carried(Made)(schedule=self.schedule)))(x, noise, time)

    def summary(self) -> str:
        return f"{self.schedule} schedule"
