"""Gibbs chains of a Boltzmann machine, and the images of a denoising model step by step.

`gibbs` needs a layer with `hidden_of(visible)` and `visible_of(hidden)`, the probabilities of binary units.
`denoising` needs one at which a denoising procedure begins, or that has `denoise_steps(shape, generator)`: an
iterator over the images `(N, ...)` from pure noise to the last one, drawing from that generator only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isqrt, prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.emit.procedures import Compiled
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.asking import rows_of
from engine.look.energy.gibbs import gibbs as chain_of
from engine.look.generation.generation import as_images
from engine.look.inputs import arriving_at
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look, evaluating
from engine.procedures.boltzmann import emptied
from engine.procedures.denoising import Denoise as Sample
from engine.procedures.registry import offers

CHAINS = 8
MOST_BYTES = 120_000
FRAMES = 12

Function = Callable[[Tensor], Tensor]
Denoise = Callable[[tuple[int, ...], torch.Generator], Iterator[Tensor]]


@probe_kind("gibbs", every=1.0)
def gibbs(look: Look, probe: Probe) -> Taken | None:
    """Gibbs chains from validation examples: probabilities `(steps + 1, rows, visible)` as uint8 of 255.

    `detail` is (steps, lines held, "blank" or "random", number of the try): how many lines of the image, from
    the top, keep the example's values, and how all others begin; where no line is held, chains begin at the
    examples. Data that are no image have lines of one unit. `examples` `(rows, visible)` are whole, as uint8
    of 255; `hidden` are states `(steps + 1, rows, hidden)`, `held` the units that are held, `shape` `(h, w)`.
    """
    module = look.module(probe.node_id)
    if module is None or not (hasattr(module, "hidden_of") and hasattr(module, "visible_of")):
        raise NeuroloomError("This layer has no visible and hidden states.", node_id=probe.node_id)
    hidden_of: Function = module.hidden_of  # type: ignore[assignment]
    visible_of: Function = module.visible_of  # type: ignore[assignment]
    steps, lines, begins, tries = probe.detail
    steps, own = int(steps), torch.Generator().manual_seed(int(tries))
    examples = arriving(look, probe.node_id, _rows(look)).clamp(0, 1)
    visible = examples.shape[1]
    examples = examples[: max(1, MOST_BYTES // ((steps + 1) * visible))].cpu()
    shape = shape_before(look, probe.node_id, visible)
    held = torch.arange(visible) < int(lines) * (shape[1] if shape[0] > 1 else 1)
    some = bool(held.any())
    with torch.no_grad(), evaluating(module):
        chain = chain_of(
            lambda v: hidden_of(v.to(look.device)).cpu(),
            lambda h: visible_of(h.to(look.device)).cpu(),
            emptied(examples, held, own if begins == "random" else None) if some else examples,
            steps,
            own,
            held if some else None,
        )
    facts: dict[str, Any] = {
        "hidden": chain.hidden.to(torch.uint8).numpy(),
        "held": held.numpy(),
        "examples": _bytes(examples),
        "shape": shape,
        "example": look.example,
        "split": look.split,
    }
    return _bytes(chain.visible), facts


@probe_kind("denoising", every=5.0, apart=True)
def denoising(look: Look, probe: Probe) -> Taken | None:
    """Images on their way from noise: `(frames, n, h, w)` or `(frames, n, h, w, 3)`, the last one done.

    `detail` is (images, number of the try). `steps` are the numbers of the frames, counted down to 0.
    """
    count, number = int(probe.detail[0]), int(probe.detail[1])
    shape = next(iter(look.program.book.inputs(probe.node_id).values())).shape
    states: list[Tensor] = []
    with torch.no_grad(), evaluating(look.model):
        for state in _denoised(look, probe.node_id, (count, *shape), number):
            look.check()
            states.append(state.detach().cpu())
    if not states:
        return None
    last = len(states) - 1
    kept = [round(at) for at in np.linspace(0, last, min(FRAMES, len(states)))]
    frames = np.stack([as_images(states[at], shape) for at in kept])
    return frames, {"steps": tuple(last - at for at in kept), "total": last}


def _denoised(look: Look, node_id: str, shape: tuple[int, ...], number: int) -> Iterator[Tensor]:
    """Images `shape` on their way: as the layer itself says, else by the procedure that begins at it."""
    module = look.module(node_id)
    denoise: Denoise | None = getattr(module, "denoise_steps", None)
    if denoise is not None:
        yield from denoise(shape, torch.Generator(look.device).manual_seed(number))
        return
    known = offers(look.program.project, look.program.book)
    offer = next((one for one in known if one.procedure is Sample and one.bound.node_id == node_id), None)
    if offer is None:
        raise NeuroloomError("This layer does not denoise.", node_id=node_id)
    values, batch = offer.checked({"count": shape[0]}), rows_of(look, [look.example])
    for state in Compiled(look.program, offer).states(look.model, batch, values, number):
        yield state["samples"]


def _bytes(probabilities: Tensor) -> NDArray[np.uint8]:
    found: NDArray[np.uint8] = (probabilities * 255).round().to(torch.uint8).numpy()
    return found


def arriving(look: Look, node_id: str, batch: dict[str, Tensor]) -> Tensor:
    """What arrives at a node's first input, as rows `(N, numbers)`."""
    found = arriving_at(look, node_id, batch)
    return found.detach().reshape(len(found), -1).float()


def shape_before(look: Look, node_id: str, size: int) -> tuple[int, ...]:
    """The shape `(h, w)` of the images that were laid out in a row for a layer; one row for other data."""
    book, graph = look.program.book, look.program.project.graph
    for one in (node_id, *graph.ancestors(node_id)):
        for found in book.inputs(one).values():
            if len(found.shape) == 3 and found.shape[0] == 1 and prod(found.shape) == size:
                return tuple(found.shape[1:])
    side = isqrt(size)
    return (side, side) if side * side == size and side > 3 else (1, size)


def _rows(look: Look) -> dict[str, Tensor]:
    """The pinned example, and the first others."""
    at = list(dict.fromkeys([look.example, *range(look.rows())][: CHAINS + 1]))[:CHAINS]
    return rows_of(look, at)
