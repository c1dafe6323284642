"""Layers that join several wires; the order of the inputs is the order of their ports."""

from __future__ import annotations

from typing import Any, ClassVar

from engine.catalogue import Emitted, Emitter, Layer, Port, Wire, param
from engine.errors import EmitError
from engine.symbols import torch


class Merge(Layer, abstract=True):
    """Takes any number of inputs, at least two."""

    family = "merge"
    ports_in = (Port("x", many=True),)

    def _wires(self, wires: dict[str, Wire]) -> list[Wire]:
        if len(wires) < 2:
            raise EmitError(f"{self.title} needs at least two inputs.")
        return [wires[key] for key in sorted(wires, key=lambda port: int(port[1:]))]


class Add(Merge):
    """Adds its inputs number by number: the join of a skip connection."""

    aliases: ClassVar[tuple[str, ...]] = ("sum", "residual", "skip", "plus")

    def emit(self, e: Emitter, **wires: Wire) -> Emitted:
        first, *rest = self._wires(wires)
        total: Any = first
        for wire in rest:
            total = total + wire
        return total  # type: ignore[no-any-return]


class Multiply(Merge):
    """Multiplies its inputs number by number: a gate."""

    aliases: ClassVar[tuple[str, ...]] = ("product", "gate", "times")

    def emit(self, e: Emitter, **wires: Wire) -> Emitted:
        first, *rest = self._wires(wires)
        total: Any = first
        for wire in rest:
            total = total * wire
        return total  # type: ignore[no-any-return]


class Concatenate(Merge):
    """Lays its inputs side by side along one axis."""

    aliases: ClassVar[tuple[str, ...]] = ("concat", "cat", "join", "dense connection")
    axis: int = param(
        1, label="Along axis", minimum=-8, maximum=8, doc="1 is the channel or feature axis; -1 the last"
    )

    def emit(self, e: Emitter, **wires: Wire) -> Emitted:
        if self.axis == 0:
            raise EmitError("Axis 0 is the batch: examples cannot be laid side by side.")
        return torch.cat(tuple(self._wires(wires)), self.axis)
