"""Layers that join several wires; the order of the inputs is the order of their ports."""

from __future__ import annotations

from typing import Any

from engine.catalogue import Emitted, Emitter, Layer, Port, Wire, param
from engine.catalogue.symbols import torch
from engine.errors import EmitError
from nodes.wires import listed, need_axis

MANY = 16  # beyond this a chain of + is no longer readable


class Merge(Layer, abstract=True):
    """Takes any number of inputs, at least two."""

    family = "merge"
    takes_whole = True
    places_from = 1
    ports_in = (Port("x", many=True),)

    def _wires(self, wires: dict[str, Wire]) -> list[Wire]:
        if len(wires) < 2:
            raise EmitError(f"{self.title} needs at least two inputs.")
        return [wires[key] for key in sorted(wires, key=lambda port: int(port[1:]))]

    def _alike(self, wires: dict[str, Wire]) -> list[Wire]:
        joined = self._wires(wires)
        if any(wire.shape != joined[0].shape for wire in joined):
            raise EmitError(f"{self.title} needs inputs of one shape, but {listed(joined)} come in.")
        return joined


class Add(Merge):
    """Adds its inputs number by number: the join of a skip connection."""

    common = True
    aliases = ("sum", "residual", "skip", "plus")
    formula = "y = x₁ + x₂ + …"
    source = "He, Zhang, Ren and Sun, 2015"

    def emit(self, e: Emitter, **wires: Wire) -> Emitted:
        joined = self._alike(wires)
        if len(joined) > MANY:
            return torch.stack(tuple(joined)).sum(0)
        total: Any = joined[0]
        for wire in joined[1:]:
            total = total + wire
        return total  # type: ignore[no-any-return]


class Mean(Merge):
    """Averages its inputs number by number: the answer of a committee of networks.

    The mean squared error of the mean is never above the mean of the errors; what lies between is how far
    the members differ.
    """

    takes_whole = False
    aliases = ("average", "committee", "ensemble")
    formula = "y = (x₁ + x₂ + … + xₖ) / k"
    source = "Perrone and Cooper, 1993"

    def emit(self, e: Emitter, **wires: Wire) -> Emitted:
        return torch.stack(tuple(self._alike(wires))).mean(0)


class Multiply(Merge):
    """Multiplies its inputs number by number: a gate. A size of 1 stretches to the size beside it."""

    aliases = ("product", "gate", "times")
    formula = "y = x₁ · x₂ · …, number by number"
    source = "Hochreiter and Schmidhuber, 1997"

    def emit(self, e: Emitter, **wires: Wire) -> Emitted:
        joined = self._wires(wires)
        alike = len({len(wire.shape) for wire in joined}) == 1
        if not alike or any(
            len(set(axis) - {1}) > 1 for axis in zip(*(w.shape for w in joined), strict=True)
        ):
            raise EmitError(f"Multiply needs inputs of one shape, but {listed(joined)} come in.")
        if len(joined) > MANY and len({wire.shape for wire in joined}) == 1:
            return torch.stack(tuple(joined)).prod(0)
        total: Any = joined[0]
        for wire in joined[1:]:
            total = total * wire
        return total  # type: ignore[no-any-return]


class Concatenate(Merge):
    """Lays its inputs side by side along one axis."""

    common = True
    aliases = ("concat", "cat", "join", "dense connection")
    formula = "y = [x₁, x₂, …]"
    source = "Huang, Liu, van der Maaten and Weinberger, 2016"
    axis: int = param(
        1, label="Along axis", minimum=-8, maximum=8, doc="1 is the channel or feature axis; -1 the last"
    )

    def treats_each_place(self, shape: tuple[int, ...]) -> bool:
        return self.axis % (len(shape) + 1) > 1

    def emit(self, e: Emitter, **wires: Wire) -> Emitted:
        joined = self._wires(wires)
        need_axis(joined[0], self.axis, self.title)
        along = self.axis - 1 if self.axis > 0 else len(joined[0].shape) + self.axis
        others = {wire.shape[:along] + wire.shape[along + 1 :] for wire in joined}
        if len(others) > 1 or len({len(wire.shape) for wire in joined}) > 1:
            raise EmitError(
                f"Concatenate needs inputs that differ along axis {self.axis} only, "
                f"but {listed(joined)} come in."
            )
        return torch.cat(tuple(joined), self.axis)
