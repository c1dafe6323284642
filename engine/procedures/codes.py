"""Examples that a network generates from a few numbers: drawn ones, and the way between two codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import torch
from torch import Tensor

from engine.catalogue.params import Ints, param
from engine.procedures.declare import Bound, FirstWeight, Function, Net, Procedure, Value
from engine.procedures.latents import Latent, latent_of


def between(start: Tensor, end: Tensor, count: int, *, round_: bool = False) -> Tensor:
    """`count` codes (count, D) from one code (D,) to another, both included.

    Along the line, or `round_` the arc of a great circle, on which normal draws keep their usual length
    (White, 2016).
    """
    fraction = torch.linspace(0, 1, count, device=start.device)[:, None]
    cosine = (start @ end / (start.norm() * end.norm()).clamp_min(1e-12)).clamp(-1, 1)
    angle = torch.arccos(cosine)
    if not round_ or angle.sin() < 1e-4:
        return (1 - fraction) * start + fraction * end
    way: Tensor = (
        torch.sin((1 - fraction) * angle) * start + torch.sin(fraction * angle) * end
    ) / angle.sin()
    return way


def decoded(
    decode: Callable[[Tensor], Tensor], codes: Tensor, shape: tuple[int, ...]
) -> Iterator[dict[str, Any]]:
    """What the network generates from codes (n, size), one by one; a code enters it as `shape`."""
    for step, code in enumerate(codes):
        yield {"step": step, "code": code, "sample": decode(code.reshape(1, *shape))[0]}


def sampled(
    decode: Callable[[Tensor], Tensor],
    weight: Tensor,
    shape: tuple[int, ...],
    kind: str,
    spread: float,
    *,
    draws: torch.Generator,
    count: int,
    way: str,
) -> Iterator[dict[str, Any]]:
    """Samples from draws of the source, or on the way between two of them; `weight` says the device."""
    size = (count if way == "draws" else 2, torch.Size(shape).numel())
    if kind == "even":
        codes = (2 * torch.rand(size, generator=draws) - 1) * spread
    else:
        codes = torch.randn(size, generator=draws) * spread
    if way == "line":
        codes = between(codes[0], codes[1], count, round_=kind == "normal")
    yield from decoded(decode, codes.to(weight), shape)


def walked(
    decode: Callable[[Tensor], Tensor],
    codes: Tensor,
    shape: tuple[int, ...],
    *,
    draws: torch.Generator,
    count: int,
) -> Iterator[dict[str, Any]]:
    """Samples on the line from the code of the first example to that of the second.

    Errors: `ValueError` for less than two examples.
    """
    if len(codes) < 2:
        raise ValueError("The way goes from one example to another: name two rows.")
    codes = codes.flatten(1)
    yield from decoded(decode, between(codes[0], codes[1], count), shape)


class Sample(Procedure):
    """Generates examples from draws of the source of noise, or on the way between two draws."""

    title = "Sample"
    loop = staticmethod(sampled)
    shows = ("sample",)
    examples = False
    count: int = param(16, minimum=1, maximum=100_000, doc="how many examples")
    way: str = param("draws", choices=("draws", "line"), doc="independent draws, or from one draw to another")

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        for latent in latents(net) if not net.showing("denoising") else ():
            if latent.spread is not None:
                kind, spread = latent.spread
                yield Bound(
                    latent.code[0],
                    {
                        "decode": Function(latent.made, latent.code),
                        "weight": FirstWeight(),
                        "shape": shape_of(net, latent),
                        "kind": kind,
                        "spread": spread,
                    },
                )


class Interpolate(Procedure):
    """Generates what lies between two examples: on the line from one code to the other."""

    title = "Interpolate"
    loop = staticmethod(walked)
    shows = ("sample",)
    rows: Ints = param((0, 1), minimum=0, doc="numbers of the two examples, from 0")
    count: int = param(9, minimum=2, maximum=100_000, doc="how many steps, the two ends included")

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        for latent in latents(net):
            if latent.spread is None:
                decode = Function(latent.made, latent.code)
                yield Bound(
                    latent.code[0],
                    {"decode": decode, "codes": Value(latent.code), "shape": shape_of(net, latent)},
                )


def latents(net: Net) -> list[Latent]:
    """The codes of a network: those of each source, and the narrowest of examples before the widest answer.

    A stacked network has others, of codes of codes.
    """
    nodes = net.project.graph.order()
    known = [latent for one in nodes if (latent := latent_of(net.project, net.book, one)) is not None]
    known = [one for one in known if one.code[0] in nodes]
    found = {one.code: one for one in known if one.spread is not None}
    of_examples = [one for one in known if one.spread is None]
    if of_examples:
        best = min(of_examples, key=lambda one: (-prod(one.shape), one.size))
        found[best.code] = best
    return list(found.values())


def shape_of(net: Net, latent: Latent) -> tuple[int, ...]:
    """How a code enters the network."""
    signature = net.signature(latent.code)
    return (latent.size,) if signature is None else tuple(signature.shape)
