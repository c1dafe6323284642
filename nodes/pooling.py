"""Pooling: one number for each window."""

from __future__ import annotations

from typing import Any, ClassVar

from engine.catalogue import Emitted, Emitter, Layer, Wire, param
from engine.catalogue.axes import IMAGE, SEQUENCE, SIGNAL, Axes
from engine.catalogue.params import Pair
from engine.catalogue.symbols import F, torch, without_defaults
from engine.catalogue.traits import LayerTraits, Pool
from nodes.wires import need_axes, shown


class Pooling(Layer, abstract=True):
    """Base of the pools."""

    takes_axes: ClassVar[Axes] = IMAGE
    family = "convolution"
    aliases: ClassVar[tuple[str, ...]] = ("pooling", "subsample", "downsample")
    source = "Fukushima, 1980"


class MaxPool2d(Pooling):
    """Keeps the largest number of each window, which halves the image and ignores small shifts."""

    common = True
    title = "Max pool"
    formula = "y[c, i, j] = max of x[c, s·i + u, s·j + v] over u, v; s: stride"
    source = "Riesenhuber and Poggio, 1999"
    traits = LayerTraits(pools=Pool.MAX)
    size: Pair = param(2, minimum=1, doc="height × width of the window")
    stride: Pair | None = param(None, minimum=1, doc="steps the window moves; empty means its own size")
    ceil: bool = param(False, label="Keep the rest", doc="also pool a window that is cut off at the edge")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        return without_defaults(F.max_pool2d(x, self.size, **_options(self.stride, self.ceil)))

    def summary(self) -> str:
        return f"max {shown(self.size)}"


class AvgPool2d(Pooling):
    """Replaces each window by its mean."""

    title = "Average pool"
    formula = "y[c, i, j] = mean of x[c, s·i + u, s·j + v] over u, v; s: stride"
    source = "LeCun, Bottou, Bengio and Haffner, 1998"
    traits = LayerTraits(pools=Pool.MEAN)
    size: Pair = param(2, minimum=1, doc="height × width of the window")
    stride: Pair | None = param(None, minimum=1, doc="steps the window moves; empty means its own size")
    ceil: bool = param(False, label="Keep the rest", doc="also pool a window that is cut off at the edge")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        return without_defaults(F.avg_pool2d(x, self.size, **_options(self.stride, self.ceil)))

    def summary(self) -> str:
        return f"mean {shown(self.size)}"


class AdaptiveAvgPool2d(Pooling):
    """Averages an image of any size down to a fixed one."""

    title = "Adaptive average pool"
    aliases = (*Pooling.aliases, "global average pool", "gap")
    formula = "y[c, i, j] = mean of x[c] over the window of (i, j), as large as it must be"
    source = "Lin, Chen and Yan, 2013"
    size: Pair = param(1, minimum=1, label="Output size", doc="height × width that comes out")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        return F.adaptive_avg_pool2d(x, self.size)

    def summary(self) -> str:
        return f"mean to {shown(self.size)}"


class AdaptiveMaxPool2d(Pooling):
    """Reduces an image of any size to a fixed one by the largest numbers."""

    title = "Adaptive max pool"
    formula = "y[c, i, j] = max of x[c] over the window of (i, j), as large as it must be"
    source = "He, Zhang, Ren and Sun, 2014"
    size: Pair = param(1, minimum=1, label="Output size", doc="height × width that comes out")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        return F.adaptive_max_pool2d(x, self.size)

    def summary(self) -> str:
        return f"max to {shown(self.size)}"


class MaxPool1d(Pooling):
    """Keeps the largest number of each window along a sequence."""

    takes_axes = SIGNAL
    title = "Max pool 1-D"
    formula = "y[c, t] = max of x[c, s·t + u] over u; s: size"
    source = "Collobert and Weston, 2008"
    traits = LayerTraits(pools=Pool.MAX, channels_first=True)
    size: int = param(2, minimum=1, doc="length of the window")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        return F.max_pool1d(x, self.size)

    def summary(self) -> str:
        return f"max {self.size}"


class MeanOverTime(Pooling):
    """Averages a sequence over its steps, so that one vector remains."""

    takes_axes = SEQUENCE
    title = "Mean over time"
    formula = "y = (1/T) Σₜ xₜ"
    source = "Lin, Chen and Yan, 2013"

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        return torch.mean(x, 1)


def _options(stride: Pair | None, ceil: bool) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if stride is not None:
        options["stride"] = stride
    if ceil:
        options["ceil_mode"] = True
    return options
