"""Sources of random numbers, drawn for each batch inside an objective."""

from __future__ import annotations

from engine.catalogue import Column, Emitted, Emitter, Source, param
from engine.catalogue.params import Ints
from engine.catalogue.symbols import Expr, torch


class Drawn(Source, abstract=True):
    """Base of the sources of noise."""

    size: Ints = param((64,), minimum=1, doc="sizes of what is drawn for each example")

    def column(self) -> Column:
        return Column("output", self.size, doc="drawn for each batch")


class GaussianNoise(Drawn):
    """Draws numbers from a normal distribution, such as the latent code of a generator."""

    title = "Gaussian noise"
    aliases = ("prior", "latent", "normal", "random", "code", "z")
    formula = "z ~ N(0, s²)"
    deviation: float = param(1.0, above=0, label="Standard deviation", doc="how far the numbers spread")

    def emit(self, e: Emitter, size: Expr, device: Expr) -> Emitted:
        drawn = torch.randn(size, *self.size, device=device)
        return drawn if self.deviation == 1 else self.deviation * drawn

    def summary(self) -> str:
        return f"{'×'.join(map(str, self.size))} · N(0, {self.deviation**2:g})"


class UniformNoise(Drawn):
    """Draws numbers from a uniform distribution."""

    title = "Uniform noise"
    aliases = ("prior", "latent", "random", "even", "z")
    formula = "z ~ U(-r, r)"
    reach: float = param(1.0, above=0, label="Range", doc="the numbers lie between minus and plus this")
    positive: bool = param(False, label="From 0", doc="between 0 and the range, such as a time")

    def emit(self, e: Emitter, size: Expr, device: Expr) -> Emitted:
        low = 0.0 if self.positive else -self.reach
        return torch.empty(size, *self.size, device=device).uniform_(low, self.reach)

    def summary(self) -> str:
        low = "0" if self.positive else f"-{self.reach:g}"
        return f"{'×'.join(map(str, self.size))} · {low} to {self.reach:g}"
