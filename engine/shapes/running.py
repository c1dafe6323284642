"""Runs the lines of one node on meta tensors, which have sizes and no numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import torch

from engine.catalogue.emitter import NodeCode, Pattern
from engine.catalogue.symbols import evaluate
from engine.shapes import meta_kernels  # noqa: F401 (registers sizes)
from engine.shapes.signatures import Signature

BATCH = 97  # a prime that no layer is likely to have as a size, so that the batch axis is recognised
COUNTS = {"": BATCH, "nodes": 193, "edges": 389}  # by what a row is one of; primes, too


def empty(arriving: Mapping[str, Signature]) -> dict[str, torch.Tensor]:
    """A batch of what arrives at each port, on the device that torch makes tensors on."""
    return {
        port: torch.empty(
            found.shape if found.per_batch else (COUNTS[found.rows], *found.shape),
            dtype=getattr(torch, found.dtype),
        )
        for port, found in arriving.items()
    }


def values_of(
    code: NodeCode, layers: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """What leaves each output port."""
    variables: dict[str, Any] = {"self": SimpleNamespace(**layers), **tensors}
    for unpack in code.unpacks:
        variables.update(bound(unpack.pattern, evaluate(unpack.call, variables)))
    return {port: evaluate(made, variables) for port, made in code.ports.items()}


def counted(
    code: NodeCode, layers: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]
) -> tuple[dict[str, torch.Tensor], int]:
    """What leaves each output port, and the multiply-adds of the batch."""
    from torch.utils.flop_counter import FlopCounterMode

    from engine.shapes.one_step import OneStep

    if not layers and not any("matmul" in str(made) for made in code.ports.values()):
        return values_of(code, layers, tensors), 0
    with FlopCounterMode(display=False) as counter, OneStep(counter) as steps:
        found = values_of(code, layers, tensors)
    return found, (counter.get_total_flops() + steps.skipped) // 2


def bound(pattern: Pattern, value: Any) -> Iterator[tuple[str, Any]]:
    """The names of a pattern, nested as the value is, each with its part."""
    for part, item in zip(pattern, value, strict=True):
        if isinstance(part, str):
            yield part, item
        else:
            yield from bound(part, item)
