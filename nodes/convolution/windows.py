"""Convolutions whose kernels are one a channel, one a place, or typed by hand."""

from __future__ import annotations

from engine.catalogue import Emitted, Emitter, Layer, Wire, param
from engine.catalogue.axes import IMAGE, SIGNAL
from engine.catalogue.params import Pair
from engine.catalogue.symbols import carried, nn, without_defaults
from engine.catalogue.training.initialisers import init_param, init_scale_param, initialise
from engine.catalogue.traits import LayerTraits
from engine.errors import EmitError
from nodes.activation import CHOICES, NONE, activate
from nodes.convolution.sliding import BORDER_DOC, BORDERS, SAME_WORDS, Convolution, need_border
from nodes.images import two
from nodes.wires import need_axes, plural, shown, sizes, typed_rows

EXTENTS = ("valid", "same", "full")
EXTENT_DOC = "valid: none; same: the size stays; full: at every place where the two meet"


class DepthwiseConv2d(Layer):
    """Slides kernels over each channel by itself; a 1×1 convolution behind it makes it a separable one."""

    family = "convolution"
    takes_axes = IMAGE
    title = "Depthwise conv"
    aliases = ("convolution", "separable", "mobilenet", "grouped", "channelwise")
    formula = "y[c, i, j] = f(b_c + Σ W[c, u, v] · x[c, s·i + u, s·j + v]), stride s"
    source = "Howard and others, 2017"
    kernel: Pair = param(3, minimum=1, doc="height × width of the window")
    stride: Pair = param(1, minimum=1, doc="steps the window moves at a time")
    padding: Pair = param(
        0, minimum=0, words=SAME_WORDS, doc="cells added at each side, rows × columns; same keeps the size"
    )
    dilation: Pair = param(1, minimum=1, doc="distance between the inputs of a window")
    multiplier: int = param(1, minimum=1, doc="kernels a channel, and outputs of it")
    border: str = param("zeros", choices=BORDERS, label="Padding with", doc=BORDER_DOC)
    bias: bool = param(True, doc="add a learned offset to each output channel")
    activation: str = param(NONE, choices=CHOICES, doc="function applied to each output")
    init: str = init_param()
    init_scale: float = init_scale_param()

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        padding = 0 if self.padding == "valid" else self.padding
        if isinstance(padding, int | tuple):
            need_border(x, self.border, two(padding))
        made = nn.Conv2d(
            x.channels,
            x.channels * self.multiplier,
            kernel_size=self.kernel,
            stride=self.stride,
            padding=padding,
            dilation=self.dilation,
            groups=x.channels,
            bias=self.bias,
            padding_mode=self.border,
        )
        conv = e.module(without_defaults(made))
        e.begin(initialise(conv, self.init, self.init_scale, biases=("bias",) if self.bias else ()))
        return activate(self.activation, conv(x))

    def summary(self) -> str:
        text = f"{shown(self.kernel)} a channel"
        return text if self.activation == NONE else f"{text} · {self.activation}"


class LocallyConnected2d(Convolution):
    """A convolution whose kernels are not shared: each place of the image learns weights of its own."""

    takes_axes = IMAGE
    title = "Locally connected"
    aliases = ("unshared", "untied", "local")
    formula = "yₖ[i, j] = f(bₖ[i, j] + Σ W[i, j, k, c, u, v] · x[c, s·i + u, s·j + v]), stride s"
    source = "LeCun, 1989"
    filters: int | None = param(8, minimum=1, doc="output channels; empty: as many as come in")
    kernel: Pair = param(3, minimum=1, doc="height × width of the window")
    stride: Pair = param(1, minimum=1, doc="steps the window moves at a time")
    activation: str = param(NONE, choices=CHOICES, doc="function applied to each output")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.images import LocallyConnected2d as Local  # imports torch

        need_axes(x, self)
        kernel, stride = two(self.kernel), two(self.stride)
        if kernel[0] > x.shape[1] or kernel[1] > x.shape[2]:
            raise EmitError(f"The window of {self.title} is larger than what comes in, {sizes(x)}.")
        return activate(
            self.activation, e.module(carried(Local)(x.shape, self.channels(x), kernel, stride))(x)
        )

    def summary(self) -> str:
        return self._summary(shown(self.kernel), self.activation)


class Typed(Layer, abstract=True):
    """Base of the kernels that are typed."""

    family = "convolution"
    source = "Jain, 1989"
    kernel: str
    padding: str
    dilation: int
    stride: int
    border: str
    flip: bool

    def _emit(self, e: Emitter, x: Wire, size: tuple[int, ...]) -> Emitted:
        from engine.layers.images import TypedKernel  # imports torch

        need_axes(x, self)
        reach = tuple(self.dilation * (one - 1) for one in size)
        if self.padding == "same" and (self.stride > 1 or any(one % 2 for one in reach)):
            raise EmitError("Same padding keeps the size: it needs a kernel of odd size and a stride of 1.")
        share = {"valid": 0, "same": 2, "full": 1}[self.padding]
        around = tuple(one // share for one in reach) if share else ()
        if around:
            need_border(x, self.border, around)
        if any(
            one + 1 > there + 2 * (around or (0, 0))[0] for one, there in zip(reach, x.shape[1:], strict=True)
        ):
            raise EmitError(f"The kernel is larger than what comes in, {sizes(x)}.")
        border = "constant" if self.border == BORDERS[0] else self.border
        made = carried(TypedKernel)(
            self.kernel,
            stride=self.stride,
            padding=around,
            dilation=self.dilation,
            border=border,
            flip=self.flip,
        )
        return e.module(without_defaults(made))(x)


class TypedKernel2d(Typed):
    """Slides a kernel that you type over each channel of an image, to find edges or to blur."""

    takes_axes = IMAGE
    title = "Typed kernel"
    aliases = ("filter", "edge detection", "sobel", "blur", "hand-typed", "fixed convolution", "laplace")
    formula = "y[c, i, j] = Σ K[u, v] · x[c, s·i + d·u, s·j + d·v]; flipped: K[-u, -v]"
    kernel: str = param(
        "-1 0 1; -2 0 2; -1 0 1", doc="numbers of a row, then a semicolon before the next row"
    )
    padding: str = param(
        "valid", choices=EXTENTS, doc="valid: none; same keeps the size; full: wherever they meet"
    )
    stride: int = param(1, minimum=1, doc="steps the kernel moves at a time")
    dilation: int = param(1, minimum=1, doc="distance between the inputs under the kernel")
    border: str = param("zeros", choices=BORDERS, label="Padding with", doc=BORDER_DOC)
    flip: bool = param(False, doc="turn the kernel round first: true convolution, not cross-correlation")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        rows = typed_rows(self.kernel)
        return self._emit(e, x, (len(rows), len(rows[0])))

    def summary(self) -> str:
        try:
            rows = typed_rows(self.kernel)
        except EmitError:
            return ""
        return f"{len(rows)}×{len(rows[0])} · flipped" if self.flip else f"{len(rows)}×{len(rows[0])}"


class TypedKernel1d(Typed):
    """Slides a kernel that you type along each channel of a signal, to smooth it or take differences."""

    takes_axes = SIGNAL
    title = "Typed kernel 1-D"
    aliases = ("filter", "smoothing", "difference", "hand-typed", "fixed convolution")
    formula = "y[c, t] = Σ K[u] · x[c, s·t + d·u]; flipped: K[-u]"
    traits = LayerTraits(channels_first=True)
    kernel: str = param("0.25 0.5 0.25", doc="numbers, with a space between")
    padding: str = param(
        "valid", choices=EXTENTS, doc="valid: none; same keeps the length; full: wherever they meet"
    )
    stride: int = param(1, minimum=1, doc="steps the kernel moves at a time")
    dilation: int = param(1, minimum=1, doc="distance between the inputs under the kernel")
    border: str = param("zeros", choices=BORDERS, label="Padding with", doc=BORDER_DOC)
    flip: bool = param(False, doc="turn the kernel round first: true convolution, not cross-correlation")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        rows = typed_rows(self.kernel)
        if len(rows) > 1:
            raise EmitError("A kernel for a signal is one row of numbers.")
        return self._emit(e, x, (len(rows[0]),))

    def summary(self) -> str:
        return plural(len(self.kernel.split()), "number")
