"""Layers that rearrange numbers without computing."""

from __future__ import annotations

import math

from engine.catalogue import Emitted, Emitter, Layer, Wire, param
from engine.catalogue.axes import SEQUENCE, Axes, swapped
from engine.catalogue.params import Ints
from engine.catalogue.symbols import carried
from engine.catalogue.traits import LayerTraits
from engine.errors import EmitError


class Flatten(Layer):
    """Flattens an example to one row of numbers."""

    common = True
    family = "shape"
    takes_whole = True
    formula = "C × H × W → C·H·W"
    source = "torch.flatten"
    traits = LayerTraits(keeps_values=True)

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        if not x.shape:
            raise EmitError("Flatten needs numbers to lay in a row, but one number an example comes in.")
        return x.flatten(1)


class Reshape(Layer):
    """Arranges the numbers of an example in another shape; their count stays the same."""

    family = "shape"
    takes_whole = True
    aliases = ("view", "unflatten")
    formula = "n₁ × n₂ × … → m₁ × m₂ × …, ∏ n = ∏ m"
    source = "torch.reshape"
    traits = LayerTraits(keeps_values=True)
    shape: Ints = param(
        (1, 28, 28), minimum=-1, doc="sizes without the batch; one of them may be -1 for the rest"
    )

    def axes_after(self, axes: Axes, rank: int) -> Axes:
        return ()

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        there = math.prod(x.shape)
        known = math.prod(size for size in self.shape if size != -1)
        unknown = self.shape.count(-1)
        fits = known == there if unknown == 0 else unknown == 1 and known > 0 and there % known == 0
        if not fits:
            wanted = "×".join(str(size) for size in self.shape)
            raise EmitError(f"{there:,} numbers come in, which cannot be arranged as {wanted}.")
        return x.reshape(-1, *self._sizes(there, known))

    def _sizes(self, there: int, known: int) -> tuple[int, ...]:
        return tuple(there // known if size == -1 else size for size in self.shape)

    def summary(self) -> str:
        return "to " + "×".join(str(size) for size in self.shape)


class Transpose(Layer):
    """Swaps two axes, such as channels and steps of a sequence."""

    family = "shape"
    takes_whole = True
    aliases = ("permute", "swap axes")
    formula = "y[…, j, …, i, …] = x[…, i, …, j, …]"
    source = "torch.transpose"
    first: int = param(1, minimum=1, maximum=8, label="Axis", doc="1 is the first axis after the batch")
    second: int = param(2, minimum=1, maximum=8, label="With axis", doc="the axis it is swapped with")

    def axes_after(self, axes: Axes, rank: int) -> Axes:
        known = len(axes) == rank and max(self.first, self.second) <= rank
        return swapped(axes, self.first - 1, self.second - 1) if known else ()

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        if max(self.first, self.second) > len(x.shape):
            raise EmitError(f"There is no axis {max(self.first, self.second)}: the input has {len(x.shape)}.")
        return x.transpose(self.first, self.second)

    def summary(self) -> str:
        return f"axes {self.first} and {self.second}"


class FirstStep(Layer):
    """Takes the first step of a sequence, such as a class token in which the others were gathered."""

    takes_axes = SEQUENCE
    reads_lengths = True  # the first is always there
    family = "shape"
    takes_whole = True
    title = "First step"
    aliases = ("class token", "cls", "pool", "head")
    formula = "y = x[1]"
    source = "Devlin, Chang, Lee and Toutanova, 2018"

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        if len(x.shape) < 2:
            raise EmitError("First step needs a sequence, steps × features.")
        return x[:, 0]


class LastStep(Layer):
    """Takes the last step of a sequence; of rows that differ in length, the last that each has."""

    takes_axes = SEQUENCE
    reads_lengths = True
    family = "shape"
    takes_whole = True
    title = "Last step"
    formula = "y = x[T]"
    source = "Sutskever, Vinyals and Le, 2014"

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        if len(x.shape) < 2:
            raise EmitError("Last step needs a sequence, steps × features.")
        if x.lengths is None:
            return x[:, -1]
        from engine.layers.ragged import last_places

        return carried(last_places)(x, x.lengths)
