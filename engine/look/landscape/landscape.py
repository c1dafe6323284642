"""The loss around the weights: slices, the way training came, and how sharply it bends."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.errors import NeuroloomError, reason_of
from engine.feed.feed import Probe
from engine.look.first_weights import first_weights
from engine.look.landscape.curvature import hessian, hessian_product, jacobian, top_eigenvalue
from engine.look.landscape.loss_slices import (
    Path,
    flat,
    path_directions,
    projected,
    random_direction,
    room_for,
    surface,
)
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look, evaluating

ROWS = 256
SHARPNESS_ROWS = 128
MOST_WEIGHTS = 2000  # of a net whose whole Hessian is taken
MOST_OUTPUTS = 128
HISTORY = 400
SPLIT = "train"

_PATH, _PLANE, _SHARPNESS, _VECTOR = "weight path", "loss plane", "sharpness", "sharpest direction"


@probe_kind("weight_path", every=0.1)
def weight_path(look: Look, probe: Probe) -> Taken | None:
    """Where training has been, `(T, 2)` in the plane of the last loss surface; `steps` are its points'.

    `plane` is that surface's `detail`, empty without a surface yet: then the places are zero.
    """
    path = _path(look)
    weights = _trained(look)
    path.add(look.step, weights)
    known = look.memory.get(_PLANE)
    if known is None:
        return np.zeros((len(path.steps), 2), np.float32), {"steps": tuple(path.steps), "plane": ()}
    detail, plane = known
    steps, points = path.stacked()
    return projected(points, *plane).astype(np.float32), {"steps": tuple(steps), "plane": detail}


@probe_kind("loss_surface", apart=True, once=True)
def loss_surface(look: Look, probe: Probe) -> Taken | None:
    """The loss on 256 training examples around the weights, `(ny, nx)` at `ys` and `xs`.

    `detail` is (way, points a side, number of the try). The way "random": two filter-normalised directions
    (Li et al., 2018); "path": the two directions in which training moved most, with their `shares` of the
    movement; "line": from the first weights, at 0, to those of now, at 1, `(1, nx)`. `path` `(T, 2)` is the
    way that training came so far; `weight_path` goes on with it.
    """
    way = str(probe.detail[0]) if probe.detail else "random"
    side = int(probe.detail[1]) if len(probe.detail) > 1 else 21
    tries = int(probe.detail[2]) if len(probe.detail) > 2 else 0
    weights = _trained(look)
    here = flat(weights)
    facts: dict[str, Any] = {"way": way, "split": SPLIT, "rows": min(ROWS, look.rows(SPLIT))}
    xs = ys = np.linspace(-1, 1, side)
    if way == "line":
        one, other, ys = here - _begin(look), torch.zeros_like(here), np.zeros(1)
        xs = np.linspace(-1.25, 0.5, 2 * side)
    elif way == "path":
        room_for(weights)
        path = look.memory.get(_PATH)
        if path is None or len(path.steps) < 3:
            raise NeuroloomError("There is no path yet: train a little with this view open, then draw again.")
        _, points = path.stacked()
        one, other, explained = path_directions(points, here)
        places = projected(points, here, one, other)
        xs, ys = (_around(places[:, axis], side) for axis in (0, 1))
        facts["shares"] = tuple(explained)
    else:
        one, other = (random_direction(weights, 2 * tries + part) for part in (0, 1))
    batch = look.batch(0, ROWS, SPLIT)
    with evaluating(look.model), torch.no_grad():
        found = surface(
            lambda: _loss(look, batch).item(), weights, one, other, xs.tolist(), ys.tolist(), look.check
        )
        facts["here"] = _loss(look, batch).item()
    facts["path"] = np.zeros((0, 2), np.float32)
    if way != "line":
        look.memory[_PLANE] = (probe.detail, (here, one, other))
        path = look.memory.get(_PATH)
        if path is not None and path.steps:
            facts["path"] = projected(path.stacked()[1], here, one, other).astype(np.float32)
    facts |= {"xs": tuple((xs + 1 if way == "line" else xs).tolist()), "ys": tuple(ys.tolist())}
    return found.astype(np.float32), facts


@probe_kind("sharpness", every=5.0, apart=True)
def sharpness(look: Look, probe: Probe) -> Taken | None:
    """The largest eigenvalue of the loss's Hessian on 128 training examples over time, `(T, 2)` step, value.

    By power iteration from the direction found before.
    """
    weights = _trained(look)
    size = sum(weight.numel() for weight in weights)
    start: Tensor | None = look.memory.get(_VECTOR)
    with evaluating(look.model), torch.enable_grad():
        loss = _loss(look, look.batch(0, SHARPNESS_ROWS, SPLIT))
        value, vector = top_eigenvalue(
            _bent(loss, weights),
            size,
            device=look.device,
            start=start if start is not None and len(start) == size else None,
            most=30,
            tolerance=1e-2,
            check=look.check,
        )
    look.memory[_VECTOR] = vector
    history: list[tuple[int, float]] = look.memory.get(_SHARPNESS, [])
    history = [*(point for point in history[-HISTORY:] if point[0] < look.step), (look.step, value)]
    look.memory[_SHARPNESS] = history
    return np.array(history, np.float64), {"rows": min(SHARPNESS_ROWS, look.rows(SPLIT)), "split": SPLIT}


@probe_kind("hessian_spectrum", apart=True, once=True)
def hessian_spectrum(look: Look, probe: Probe) -> Taken | None:
    """All eigenvalues (P,) of the Hessian of the loss on 256 training examples, falling; for small nets."""
    weights = _trained(look)
    size = sum(weight.numel() for weight in weights)
    if size > MOST_WEIGHTS:
        raise NeuroloomError(
            f"This net has {size:,} weights; all eigenvalues are computed for up to {MOST_WEIGHTS:,}.",
            fix="The largest one over time works for nets of any size.",
        )
    with evaluating(look.model), torch.enable_grad():
        loss = _loss(look, look.batch(0, ROWS, SPLIT))
        square = _second(lambda: hessian(loss, weights, look.check))
    look.check()
    values = torch.linalg.eigvalsh(square.cpu().double()).flip(0)
    return values.numpy(), {"rows": min(ROWS, look.rows(SPLIT)), "split": SPLIT}


@probe_kind("jacobian_spectrum", every=1.0)
def jacobian_spectrum(look: Look, probe: Probe) -> Taken | None:
    """The singular values, falling, of how the answer to the pinned example changes with its input."""
    head = look.head(probe.node_id) or look.head()
    if head is None:
        raise NeuroloomError("There is no prediction whose derivatives could be taken.")
    batch = look.batch(look.example, 1)
    names = [name for name in look.input_columns(head.prediction[0]) if batch[name].is_floating_point()]
    if not names:
        raise NeuroloomError("The inputs of this model are whole numbers, which have no derivative.")
    inputs = batch[names[0]].detach().clone().requires_grad_()
    outputs = look.value(head.prediction[0], {**batch, names[0]: inputs}, head.prediction[1], gradients=True)
    if outputs is None or not outputs.requires_grad:
        raise NeuroloomError("The prediction does not change smoothly with the input.")
    if outputs.numel() > MOST_OUTPUTS:
        raise NeuroloomError(
            f"The prediction has {outputs.numel():,} values; up to {MOST_OUTPUTS} are shown."
        )
    values = torch.linalg.svdvals(jacobian(outputs, inputs, look.check))
    facts = {"column": names[0], "example": look.example, "split": look.split}
    return values.cpu().numpy(), {**facts, "shape": (outputs.numel(), inputs.numel())}


def _trained(look: Look) -> list[Tensor]:
    """What training moves."""
    weights: list[Tensor] = [weight for weight in look.model.parameters() if weight.requires_grad]
    if not weights:
        raise NeuroloomError("This model has no weights.")
    return weights


def _loss(look: Look, batch: dict[str, Tensor]) -> Tensor:
    found = look.program.measure(look.model, batch)
    loss = found.get("loss")
    if loss is None:
        raise NeuroloomError("This model has no single loss.")
    return loss


def _path(look: Look) -> Path:
    """The path so far, which begins at the first weights."""
    known: Path | None = look.memory.get(_PATH)
    size = sum(weight.numel() for weight in _trained(look))
    if known is not None and known.points and known.points[0].numel() == size:
        return known
    path = look.memory[_PATH] = Path()
    look.memory.pop(_PLANE, None)
    if look.step:
        first = first_weights(look)
        trained = [name for name, weight in look.model.named_parameters() if weight.requires_grad]
        path.add(0, [first[name][0] for name in trained])
    return path


def _begin(look: Look) -> Tensor:
    """The first weights, which the path knows: a thread apart can't draw them again."""
    path: Path | None = look.memory.get(_PATH)
    if path is None or not path.points:
        raise NeuroloomError("The first weights are not known yet; draw again in a moment.")
    return path.points[0]


def _around(places: np.ndarray[Any, Any], side: int) -> np.ndarray[Any, Any]:
    low, high = min(0.0, float(places.min())), max(0.0, float(places.max()))
    room = 0.25 * (high - low) or 1.0
    return np.linspace(low - room, high + room, side)


def _bent(loss: Tensor, weights: list[Tensor]) -> Any:
    multiply = _second(lambda: hessian_product(loss, weights))
    return lambda vector: _second(lambda: multiply(vector))


def _second(compute: Any) -> Any:
    """Second derivatives, or the sentence that there are none."""
    try:
        return compute()
    except RuntimeError as error:
        if "not implemented" in reason_of(error) or "double backward" in reason_of(error):
            raise NeuroloomError("A layer of this net has no second derivatives on this device.") from error
        raise
