"""An input that excites a unit most, found from noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.catalogue.identifiers import NameBook
from engine.catalogue.params import param
from engine.procedures.attribution import widest_input
from engine.procedures.declare import Bound, Function, LayerPaths, Model, Net, Part, Procedure, Value


def first_noise(shape: tuple[int, ...], mean: float, spread: float, draws: torch.Generator) -> Tensor:
    """Where to begin: faint noise about the data's mean, `(1, ...)`."""
    drawn = torch.randn(1, *shape, generator=draws, device=draws.device)
    return mean + 0.1 * spread * drawn


def climbed(
    score: Callable[[Tensor], Tensor],
    x: Tensor,
    draws: torch.Generator,
    *,
    mean: float = 0.0,
    spread: float = 1.0,
    bounds: tuple[float, float] = (-float("inf"), float("inf")),
    rate: float = 0.1,
    decay: float = 0.005,
    jitter: int = 1,
    blur: float = 0.04,
) -> Iterator[tuple[Tensor, float]]:
    """`x` `(1, ...)` after each step up the gradient of `score`, without end, and its score before the step.

    A step goes along the gradient divided by its root mean square, anywhere where there is none; the values
    stay between `bounds`. What keeps the input like a natural image: `rate` is the length of a step in
    standard deviations of the data, `decay` the fraction of the distance from the data's mean that is lost at
    each step, `jitter` pixels by which the image is shifted to and fro, `blur` the fraction of a 3 × 3 mean
    that is mixed in (Yosinski, Clune, Nguyen, Fuchs and Lipson, 2015).
    """
    image = x.dim() == 4
    while True:
        shift = (0, 0)
        if image and jitter:
            drawn = torch.randint(-jitter, jitter + 1, (2,), generator=draws, device=draws.device)
            shift = (int(drawn[0]), int(drawn[1]))
        with torch.enable_grad():
            here = x.roll(shift, (2, 3)) if image else x
            here = here.detach().requires_grad_(True)
            value = score(here).sum()
            (gradient,) = torch.autograd.grad(value, here)
        size = gradient.square().mean().sqrt()
        if not torch.isfinite(size) or size == 0:
            # A unit behind a ReLU may be silent: look for a place where it is not, half a deviation away.
            gradient = torch.randn(x.shape, generator=draws, device=draws.device).to(x.device)
            size = size.new_tensor(rate / 0.5)
        moved = here.detach() + rate * spread * gradient / size
        moved = mean + (1 - decay) * (moved - mean)
        if image:
            moved = moved.roll((-shift[0], -shift[1]), (2, 3))
            if min(moved.shape[2:]) > 2 and blur:
                padded = F.pad(moved, (1, 1, 1, 1), mode="replicate")
                moved = (1 - blur) * moved + blur * F.avg_pool2d(padded, 3, 1)
        x = moved.clamp(*bounds)
        yield x, value.item()


def excited(
    model: nn.Module,
    layers: dict[str, str],
    answer: Callable[[Tensor], Tensor],
    natural: Tensor,
    *,
    draws: torch.Generator,
    layer: str,
    unit: int,
    steps: int,
    rate: float,
) -> Iterator[dict[str, Any]]:
    """An input on its way from noise to what excites a unit of a layer most, with the unit's mean value.

    Mean, deviation and range of the values are those of the rows `natural` (N, ...). Errors: `ValueError`
    where the layer has no such unit, or `answer` does not pass it.
    """
    seen: list[Tensor] = []

    def keep(_module: nn.Module, _given: Any, found: Any) -> None:
        seen.append(found[0] if isinstance(found, tuple) else found)

    def value(x: Tensor) -> Tensor:
        seen.clear()
        answer(x)
        if not seen:
            raise ValueError(f"The answer does not pass {layer}.")
        if unit >= seen[0].shape[1]:
            raise ValueError(f"{layer} has {seen[0].shape[1]} units, from 0 to {seen[0].shape[1] - 1}.")
        return seen[0][:, unit].flatten(1).mean(1) if seen[0].dim() > 2 else seen[0][:, unit]

    rows = natural.float()
    mean, spread = rows.mean().item(), rows.std().item() or 1.0
    bounds = (rows.min().item(), rows.max().item())
    x = first_noise(tuple(natural.shape[1:]), mean, spread, draws).to(natural)
    handle = model.get_submodule(layers[layer]).register_forward_hook(keep)
    try:
        way = climbed(value, x, draws, mean=mean, spread=spread, bounds=bounds, rate=rate)
        for step in range(1, steps + 1):
            x, score = next(way)
            yield {"step": step, "score": score, "input": x[0]}
    finally:
        handle.remove()


class Excite(Procedure):
    """Finds an input that excites a unit most, by steps up its gradient from noise."""

    title = "Excitation"
    loop = staticmethod(excited)
    shows = ("input",)
    main = False
    layer: str = param("", doc="the layer, by its name in the model")
    unit: int = param(0, minimum=0, doc="number of the unit or channel, from 0")
    steps: int = param(64, minimum=1, maximum=100_000, doc="steps up the gradient")
    rate: float = param(0.1, above=0, doc="length of a step, in standard deviations of the data")

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        for head in net.distinct_heads[:1]:
            widest, names = widest_input(net, head.prediction), _layers_before(net, head.prediction[0])
            if widest is None or not names:
                continue
            choices = tuple(names)
            layer = next(one for one in cls.params if one.name == "layer")
            parts: dict[str, Part] = {"model": Model(), "layers": LayerPaths(names)}
            parts |= {"answer": Function(head.prediction, widest[0]), "natural": Value(widest[0])}
            chosen = replace(layer, kind="choice", default=choices[-1], choices=choices)
            yield Bound(head.prediction[0], parts, {"layer": chosen})


def _layers_before(net: Net, node_id: str) -> dict[str, str]:
    """The layers with weights that an answer passes and that have units or channels, by name, in order."""
    graph, names = net.project.graph, NameBook()
    found = {}
    for one in graph.order():
        if (one == node_id or one in graph.ancestors(node_id)) and net.book.parameters(one):
            signatures = [net.signature((one, port.name)) for port in net.type_of(one).outputs()[:1]]
            if signatures[0] is not None and len(signatures[0].shape) in (1, 3):
                found[names.give(graph.node(one).name or net.type_of(one).title)] = one
    return found
