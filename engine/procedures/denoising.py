"""Examples out of noise, by a network that says which noise is in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from engine.catalogue.params import param
from engine.procedures.declare import Bound, FirstWeight, Function, Layer, Net, Procedure


def denoised(
    noise_in: Callable[[Tensor, Tensor], Tensor],
    schedule: Any,
    weight: Tensor,
    shape: tuple[int, ...],
    time_shape: tuple[int, ...],
    *,
    draws: torch.Generator,
    count: int,
    steps: int,
    noise: float,
) -> Iterator[dict[str, Any]]:
    """`count` examples (count, *shape) from time 1 to time 0.

    `noise_in(x, time)` says which noise is in x, `schedule.kept(time)` how much of the variance is the
    example's. With `noise` 1 each step adds as much new noise as the way there had (Ho, Jain and Abbeel
    2020), with 0 none, and the first draw decides the way (Song, Meng and Ermon 2021).
    """
    x = torch.randn((count, *shape), generator=draws).to(weight)
    yield {"step": 0, "time": 1.0, "samples": x}
    for step in range(1, steps + 1):
        now, after = 1 - (step - 1) / steps, 1 - step / steps
        kept, then = (
            schedule.kept(torch.full((), time, dtype=x.dtype, device=x.device)) for time in (now, after)
        )
        found = noise_in(x, x.new_full((count, *time_shape), now))
        example = (x - (1 - kept).sqrt() * found) / kept.sqrt()
        fresh = noise * ((1 - then) / (1 - kept) * (1 - kept / then)).clamp(min=0).sqrt()
        x = then.sqrt() * example + (1 - then - fresh.square()).clamp(min=0).sqrt() * found
        if noise and step < steps:
            x = x + fresh * torch.randn((count, *shape), generator=draws).to(weight)
        yield {"step": step, "time": after, "samples": x}


class Denoise(Procedure):
    """Begins with noise and takes away, step by step, what the network says is noise in it."""

    name = "sample"
    title = "Sample"
    loop = staticmethod(denoised)
    shows = ("samples",)
    examples = False
    count: int = param(200, minimum=1, maximum=100_000, doc="how many examples")
    steps: int = param(50, minimum=1, maximum=10_000, doc="from noise to examples")
    noise: float = param(
        1.0, minimum=0, maximum=1, label="New noise", doc="of each step: 1 as on the way there, 0 none at all"
    )

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        for node in net.showing("denoising"):
            feeding = {port: net.project.graph.feeding(node, port) for port in ("x", "noise", "time")}
            mixed = (node, net.type_of(node).outputs()[0].name)
            link, time = feeding["noise"], feeding["time"]
            if link is None or time is None:
                continue
            noise, clock = (link.source, link.source_port), (time.source, time.source_port)
            answer = next((one.prediction for one in net.heads if one.target == noise), None)
            shape, when = net.signature(noise), net.signature(clock)
            if answer is not None and shape is not None and when is not None:
                yield Bound(
                    node,
                    {
                        "noise_in": Function(answer, mixed, also=(clock,)),
                        "schedule": Layer(node),
                        "weight": FirstWeight(),
                        "shape": tuple(shape.shape),
                        "time_shape": tuple(when.shape),
                    },
                )
