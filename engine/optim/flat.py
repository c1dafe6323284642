"""All weights of a network as one vector, for optimisers that see them as one."""

from __future__ import annotations

import torch
from torch import Tensor


def flat(tensors: list[Tensor]) -> Tensor:
    """The numbers of all tensors in one vector of its own, in order."""
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors])


def flat_gradient(weights: list[Tensor]) -> Tensor:
    """The gradients in one vector; 0 for a weight that has none."""
    return flat([torch.zeros_like(weight) if weight.grad is None else weight.grad for weight in weights])


def put(tensors: list[Tensor], vector: Tensor) -> None:
    """Write a vector back into tensors, in order."""
    with torch.no_grad():
        for tensor, part in zip(
            tensors, torch.split(vector, [tensor.numel() for tensor in tensors]), strict=True
        ):
            tensor.copy_(part.view_as(tensor))


def put_gradient(weights: list[Tensor], vector: Tensor) -> None:
    """Leave a vector as the weights' gradients, for whoever looks at them after the step."""
    for weight, part in zip(
        weights, torch.split(vector, [weight.numel() for weight in weights]), strict=True
    ):
        weight.grad = part.view_as(weight).clone()
