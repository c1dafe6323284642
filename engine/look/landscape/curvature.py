"""How sharply a loss bends: eigenvalues of its Hessian, and of what inputs do to outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from engine.look.landscape.loss_slices import nothing

Product = Callable[[Tensor], Tensor]
ROWS_AT_ONCE = 32


def hessian_product(loss: Tensor, weights: Sequence[Tensor]) -> Product:
    """The function that multiplies a vector (P,) by the Hessian of `loss`, which hangs on its graph.

    Weights that the loss does not depend on have no curvature. Source: Pearlmutter (1994).
    """
    slopes = _slopes(loss, weights)

    def multiply(vector: Tensor) -> Tensor:
        parts = torch.split(vector, [weight.numel() for weight in weights])
        terms = [
            (slope * part.reshape(slope.shape)).sum()
            for slope, part in zip(slopes, parts, strict=True)
            if slope.requires_grad
        ]
        if not terms:
            return torch.zeros_like(vector)
        found = torch.autograd.grad(
            torch.stack(terms).sum(), weights, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        return torch.cat([part.reshape(-1) for part in found]).detach()

    return multiply


def hessian(loss: Tensor, weights: Sequence[Tensor], check: Callable[[], None] = nothing) -> Tensor:
    """The whole Hessian (P, P) of `loss`, symmetrical; for small nets: one backward pass a weight."""
    slopes = torch.cat([slope.reshape(-1) for slope in _slopes(loss, weights)])
    rows = []
    for start in range(0, len(slopes), ROWS_AT_ONCE):
        check()
        for slope in slopes[start : start + ROWS_AT_ONCE]:
            if not slope.requires_grad:
                rows.append(torch.zeros_like(slopes))
                continue
            found = torch.autograd.grad(
                slope, weights, retain_graph=True, allow_unused=True, materialize_grads=True
            )
            rows.append(torch.cat([part.reshape(-1) for part in found]).detach())
    square = torch.stack(rows)
    return (square + square.T) / 2


def top_eigenvalue(
    multiply: Product,
    size: int,
    *,
    seed: int = 0,
    most: int = 60,
    tolerance: float = 1e-3,
    device: str = "cpu",
    start: Tensor | None = None,
    check: Callable[[], None] = nothing,
) -> tuple[float, Tensor]:
    """The most positive eigenvalue of a symmetrical matrix, by power iteration, and its direction (size,).

    It stops when the value changes by less than `tolerance` of itself. Where the largest in size is negative
    the matrix is shifted by it and the iteration begins again.
    """
    generator = torch.Generator().manual_seed(seed)
    first = torch.randn(size, generator=generator).to(device) if start is None else start
    value, vector = _power(multiply, first, most, tolerance, check)
    if value < 0:
        low = value
        fresh = torch.randn(size, generator=generator).to(device)
        above, vector = _power(lambda v: multiply(v) - low * v, fresh, most, tolerance, check)
        value = above + low
    return value, vector


def jacobian(outputs: Tensor, inputs: Tensor, check: Callable[[], None] = nothing) -> Tensor:
    """How each of `outputs` (flattened, M) changes with each of `inputs` (flattened, D): (M, D)."""
    rows = []
    for output in outputs.reshape(-1):
        check()
        (row,) = torch.autograd.grad(
            output, (inputs,), retain_graph=True, allow_unused=True, materialize_grads=True
        )
        rows.append(row.reshape(-1))
    return torch.stack(rows)


def _slopes(loss: Tensor, weights: Sequence[Tensor]) -> tuple[Tensor, ...]:
    return torch.autograd.grad(loss, weights, create_graph=True, allow_unused=True, materialize_grads=True)


def _power(
    multiply: Product, vector: Tensor, most: int, tolerance: float, check: Callable[[], None]
) -> tuple[float, Tensor]:
    vector = vector / vector.norm().clamp_min(1e-30)
    value = 0.0
    for _ in range(most):
        check()
        image = multiply(vector)
        before, value = value, torch.dot(vector, image).item()
        length = image.norm()
        if not torch.isfinite(length) or length <= 1e-30:
            return value, vector
        vector = image / length
        if abs(value - before) <= tolerance * abs(value):
            break
    return value, vector
