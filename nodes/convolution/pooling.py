"""Pooling: one number for each window."""

from __future__ import annotations

from typing import Any, ClassVar

from engine.catalogue import Emitted, Emitter, Layer, Port, Wire, param
from engine.catalogue.axes import IMAGE, SEQUENCE, SIGNAL, VOLUME, Axes
from engine.catalogue.params import Ints, Pair
from engine.catalogue.symbols import F, torch, without_defaults
from engine.catalogue.traits import LayerTraits, Pool
from engine.errors import EmitError
from nodes.convolution.sliding import volume, volume_words
from nodes.images import two
from nodes.wires import need_axes, shown, sizes


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
    padding: Pair = param(0, minimum=0, doc="cells added at each side, rows × columns, which never win")
    ceil: bool = param(False, label="Keep the rest", doc="also pool a window that is cut off at the edge")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        return without_defaults(F.max_pool2d(x, self.size, **_options(self.stride, self.ceil, _room(self))))

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
    padding: Pair = param(0, minimum=0, doc="cells added at each side, rows × columns, which count as zeros")
    ceil: bool = param(False, label="Keep the rest", doc="also pool a window that is cut off at the edge")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        return without_defaults(F.avg_pool2d(x, self.size, **_options(self.stride, self.ceil, _room(self))))

    def summary(self) -> str:
        return f"mean {shown(self.size)}"


class MinPool2d(Pooling):
    """Keeps the smallest number of each window."""

    title = "Min pool"
    formula = "y[c, i, j] = min of x[c, s·i + u, s·j + v] over u, v; s: stride"
    source = "Serra, 1982"
    traits = LayerTraits(pools=Pool.MIN)
    size: Pair = param(2, minimum=1, doc="height × width of the window")
    stride: Pair | None = param(None, minimum=1, doc="steps the window moves; empty means its own size")
    ceil: bool = param(False, label="Keep the rest", doc="also pool a window that is cut off at the edge")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        return -without_defaults(F.max_pool2d(-x, self.size, **_options(self.stride, self.ceil)))

    def summary(self) -> str:
        return f"min {shown(self.size)}"


class LpPool2d(Pooling):
    """Replaces each window by a norm of its numbers: the sum at p = 1, near the largest for a large p."""

    title = "Lp pool"
    aliases = (*Pooling.aliases, "power", "l2 pool", "energy")
    formula = "y[c, i, j] = (Σ x[c, s·i + u, s·j + v]ᵖ)^(1/p) over u, v; s: stride"
    source = "Sermanet, Chintala and LeCun, 2012"
    traits = LayerTraits(pools=Pool.LP)
    p: float = param(2.0, minimum=1, label="Power", doc="1 gives the sum, 2 the root of the sum of squares")
    size: Pair = param(2, minimum=1, doc="height × width of the window")
    stride: Pair | None = param(None, minimum=1, doc="steps the window moves; empty means its own size")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        return F.lp_pool2d(x, self.p, self.size, **_options(self.stride, False))

    def summary(self) -> str:
        return f"L{self.p:g} {shown(self.size)}"


class MaxPoolWithPlaces(Pooling):
    """Max pooling that also says where each maximum stood, for a max unpool further on."""

    title = "Max pool with places"
    aliases = (*Pooling.aliases, "indices", "argmax", "switches")
    formula = "y = max of the window, place = W · row + column where it stood"
    source = "Zeiler and Fergus, 2013"
    traits = LayerTraits(pools=Pool.MAX)
    ports_out = (Port("output"), Port("places"))
    size: Pair = param(2, minimum=1, doc="height × width of the window")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        output, places = e.unpack(F.max_pool2d(x, self.size, return_indices=True), "pooled", "places")
        return {"output": output, "places": places}

    def summary(self) -> str:
        return f"max {shown(self.size)}"


class MaxUnpool2d(Pooling):
    """Puts each number back to where a max pool took it from, among zeros."""

    title = "Max unpool"
    aliases = ("unpooling", "upsample", "indices", "switches")
    formula = "y[c, place] = x[c, i, j], else 0"
    source = "Zeiler and Fergus, 2013"
    ports_in = (Port("x"), Port("places"))
    classes_at = ("places",)
    size: Pair = param(2, minimum=1, doc="height × width of the window that pooled")
    output_size: Pair | None = param(
        None, minimum=1, doc="height × width that comes out; empty means size times as many"
    )

    def emit(self, e: Emitter, x: Wire, places: Wire) -> Emitted:
        need_axes(x, self)
        if places.shape != x.shape or places.dtype != "int64":
            raise EmitError(f"Max unpool needs the place of each number: {sizes(x)}, whole numbers.")
        if self.output_size is None:
            return F.max_unpool2d(x, places, self.size)
        rows, columns = two(self.output_size)
        return F.max_unpool2d(x, places, self.size, output_size=(rows, columns))

    def summary(self) -> str:
        return f"unpool {shown(self.size)}"


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
    aliases = (*Pooling.aliases, "global max pool")
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


class AvgPool1d(Pooling):
    """Replaces each window along a sequence by its mean."""

    takes_axes = SIGNAL
    title = "Average pool 1-D"
    formula = "y[c, t] = mean of x[c, s·t + u] over u; s: size"
    source = "Waibel, Hanazawa, Hinton, Shikano and Lang, 1989"
    traits = LayerTraits(pools=Pool.MEAN, channels_first=True)
    size: int = param(2, minimum=1, doc="length of the window")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        return F.avg_pool1d(x, self.size)

    def summary(self) -> str:
        return f"mean {self.size}"


class MaxPool3d(Pooling):
    """Keeps the largest number of each window of a volume."""

    takes_axes = VOLUME
    title = "Max pool 3-D"
    formula = "y[c, d, i, j] = max of x[c, s·d + w, s·i + u, s·j + v] over w, u, v; s: size"
    source = "Ji, Xu, Yang and Yu, 2010"
    traits = LayerTraits(pools=Pool.MAX)
    size: Ints = param((2,), minimum=1, doc="depth × height × width of the window, or one number for all")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        return F.max_pool3d(x, volume(self.size, self))

    def summary(self) -> str:
        return f"max {volume_words(self.size)}"


class AvgPool3d(Pooling):
    """Replaces each window of a volume by its mean."""

    takes_axes = VOLUME
    title = "Average pool 3-D"
    formula = "y[c, d, i, j] = mean of x[c, s·d + w, s·i + u, s·j + v] over w, u, v; s: size"
    source = "Ji, Xu, Yang and Yu, 2010"
    traits = LayerTraits(pools=Pool.MEAN)
    size: Ints = param((2,), minimum=1, doc="depth × height × width of the window, or one number for all")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        return F.avg_pool3d(x, volume(self.size, self))

    def summary(self) -> str:
        return f"mean {volume_words(self.size)}"


class MeanOverTime(Pooling):
    """Averages a sequence over its steps, so that one vector remains."""

    takes_axes = SEQUENCE
    title = "Mean over time"
    formula = "y = (1/T) Σₜ xₜ"
    source = "Lin, Chen and Yan, 2013"

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        return torch.mean(x, 1)


def _room(pool: MaxPool2d | AvgPool2d) -> Pair:
    """The padding of a pool. Errors: `EmitError` where it is more than half a window, as torch has it."""
    if any(2 * more > size for more, size in zip(two(pool.padding), two(pool.size), strict=True)):
        raise EmitError(f"The padding of {pool.title} is half of its window at most.")
    return pool.padding


def _options(stride: Pair | None, ceil: bool, padding: Pair = 0) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if stride is not None:
        options["stride"] = stride
    if padding not in (0, (0, 0)):
        options["padding"] = padding
    if ceil:
        options["ceil_mode"] = True
    return options
