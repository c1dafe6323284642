"""Convolutions, whose input sizes follow from the wire that comes in (LeCun et al. 1998)."""

from __future__ import annotations

import math
from typing import Any

from engine.catalogue import Emitted, Emitter, Layer, Wire, param
from engine.catalogue.axes import IMAGE, SIGNAL, VOLUME
from engine.catalogue.params import Ints, Pair
from engine.catalogue.symbols import Expr, F, nn, without_defaults
from engine.catalogue.training.initialisers import init_param, init_scale_param, initialise
from engine.catalogue.traits import LayerTraits
from engine.errors import EmitError
from nodes.activation import CHOICES, NONE, activate
from nodes.images import two
from nodes.wires import need_axes, plural, shown, sizes

SAME_WORDS = ("valid", "same")
BORDERS = ("zeros", "reflect", "replicate", "circular")
BORDER_DOC = "what padding holds: zeros, the image mirrored, its edge once more, or its other side"
BOTH_MARGINS = {"reflect": 1, "circular": 0}  # cells that a border cannot use of a side


def padded_same(x: Expr, kernel: Pair, dilation: Pair) -> tuple[Expr, Any]:
    """What to convolve, and the padding, so that the size stays: an even kernel needs one zero more behind.

    torch has `padding="same"` too, but for even kernels it warns that it copies.
    """
    totals = [step * (size - 1) for size, step in zip(two(kernel), two(dilation), strict=True)]
    if all(total % 2 == 0 for total in totals):
        return x, "same"
    rows, columns = totals
    return F.pad(x, (0, columns % 2, 0, rows % 2)), (rows // 2, columns // 2)


def need_border(x: Wire, border: str, padding: tuple[int, ...]) -> None:
    """Errors: `EmitError` where an image has fewer cells than its border repeats."""
    room = BOTH_MARGINS.get(border)
    if room is not None and any(wide > size - room for wide, size in zip(padding, x.shape[1:], strict=True)):
        around = "×".join(str(one) for one in padding)
        raise EmitError(f"A border of {around} cells cannot repeat what comes in, {sizes(x)}.")


class Convolution(Layer, abstract=True):
    """Base of the convolutions."""

    family = "convolution"
    source = "LeCun, Bottou, Bengio and Haffner, 1998"
    filters: int | None = param(32, minimum=1, doc="output channels; empty: as many as come in")

    def channels(self, x: Wire) -> int:
        """How many channels leave it where `x` arrives."""
        return x.channels if self.filters is None else self.filters

    def _summary(self, kernel: str, activation: str) -> str:
        count = "as many" if self.filters is None else plural(self.filters, "filter")
        text = f"{count} {kernel}"
        return text if activation == NONE else f"{text} · {activation}"


class Conv2d(Convolution):
    """Slides learned kernels over an image; each filter answers to one pattern."""

    takes_axes = IMAGE
    common = True
    title = "Conv 2-D"
    aliases = ("convolution", "cnn", "1x1", "pointwise", "grouped", "dilated", "atrous")
    formula = "yₖ[i, j] = f(bₖ + Σ W[k, c, u, v] · x[c, s·i + u, s·j + v]), stride s"
    source = "LeCun, Bottou, Bengio and Haffner, 1998"
    kernel: Pair = param(3, minimum=1, doc="height × width of the window")
    stride: Pair = param(1, minimum=1, doc="steps the window moves at a time")
    padding: Pair = param(
        0, minimum=0, words=SAME_WORDS, doc="zeros added at each side, rows × columns; same keeps the size"
    )
    dilation: Pair = param(1, minimum=1, doc="distance between the inputs of a window")
    groups: int = param(1, minimum=1, doc="channels are split into this many independent groups")
    border: str = param("zeros", choices=BORDERS, label="Padding with", doc=BORDER_DOC)
    bias: bool = param(True, doc="add a learned offset to each filter")
    activation: str = param(NONE, choices=CHOICES, doc="function applied to each output")
    init: str = init_param()
    init_scale: float = init_scale_param()

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        image: Expr = x
        padding: Any = 0 if self.padding == "valid" else self.padding
        if padding == "same":
            reach = zip(two(self.kernel), two(self.dilation), strict=True)
            need_border(x, self.border, tuple((step * (size - 1) + 1) // 2 for size, step in reach))
            if self.stride == 1 and self.border == BORDERS[0]:
                image, padding = padded_same(x, self.kernel, self.dilation)
        else:
            need_border(x, self.border, two(padding))
        made = nn.Conv2d(
            x.channels,
            self.channels(x),
            kernel_size=self.kernel,
            stride=self.stride,
            padding=padding,
            dilation=self.dilation,
            groups=self.groups,
            bias=self.bias,
            padding_mode=self.border,
        )
        conv = e.module(without_defaults(made))
        e.begin(initialise(conv, self.init, self.init_scale, biases=("bias",) if self.bias else ()))
        return activate(self.activation, conv(image))

    def summary(self) -> str:
        return self._summary(shown(self.kernel), self.activation)


class Conv1d(Convolution):
    """Slides learned kernels along a sequence; each filter answers to one local pattern."""

    takes_axes = SIGNAL
    title = "Conv 1-D"
    aliases = ("convolution", "temporal")
    formula = "yₖ[t] = f(bₖ + Σ W[k, c, u] · x[c, s·t + u]), stride s"
    source = "Waibel, Hanazawa, Hinton, Shikano and Lang, 1989"
    traits = LayerTraits(channels_first=True)
    kernel: int = param(3, minimum=1, doc="length of the window")
    stride: int = param(1, minimum=1, doc="steps the window moves at a time")
    padding: int = param(0, minimum=0, doc="zeros added at each end")
    dilation: int = param(1, minimum=1, doc="distance between the inputs of a window")
    groups: int = param(1, minimum=1, doc="channels are split into this many independent groups")
    border: str = param("zeros", choices=BORDERS, label="Padding with", doc=BORDER_DOC)
    bias: bool = param(True, doc="add a learned offset to each filter")
    activation: str = param(NONE, choices=CHOICES, doc="function applied to each output")
    init: str = init_param()
    init_scale: float = init_scale_param()

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        need_border(x, self.border, (self.padding,))
        made = nn.Conv1d(
            x.channels,
            self.channels(x),
            kernel_size=self.kernel,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            groups=self.groups,
            bias=self.bias,
            padding_mode=self.border,
        )
        conv = e.module(without_defaults(made))
        e.begin(initialise(conv, self.init, self.init_scale, biases=("bias",) if self.bias else ()))
        return activate(self.activation, conv(x))

    def summary(self) -> str:
        return self._summary(str(self.kernel), self.activation)


class Conv3d(Convolution):
    """Slides learned kernels through a volume, such as a scan or the frames of a film."""

    takes_axes = VOLUME
    title = "Conv 3-D"
    aliases = ("convolution", "volume", "video", "voxels")
    formula = "yₖ[d, i, j] = f(bₖ + Σ W[k, c, w, u, v] · x[c, s·d + w, s·i + u, s·j + v]), stride s"
    source = "Ji, Xu, Yang and Yu, 2010"
    kernel: Ints = param((3,), minimum=1, doc="depth × height × width of the window, or one number for all")
    stride: int = param(1, minimum=1, doc="steps the window moves at a time")
    padding: int = param(0, minimum=0, doc="cells added at each side")
    dilation: int = param(1, minimum=1, doc="distance between the inputs of a window")
    groups: int = param(1, minimum=1, doc="channels are split into this many independent groups")
    border: str = param("zeros", choices=BORDERS, label="Padding with", doc=BORDER_DOC)
    bias: bool = param(True, doc="add a learned offset to each filter")
    activation: str = param(NONE, choices=CHOICES, doc="function applied to each output")
    init: str = init_param()
    init_scale: float = init_scale_param()

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        need_border(x, self.border, (self.padding,) * 3)
        made = nn.Conv3d(
            x.channels,
            self.channels(x),
            kernel_size=volume(self.kernel, self),
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            groups=self.groups,
            bias=self.bias,
            padding_mode=self.border,
        )
        conv = e.module(without_defaults(made))
        e.begin(initialise(conv, self.init, self.init_scale, biases=("bias",) if self.bias else ()))
        return activate(self.activation, conv(x))

    def summary(self) -> str:
        return self._summary(volume_words(self.kernel), self.activation)


def volume(numbers: Ints, layer: Layer) -> int | Ints:
    """One number for all three axes, or three. Errors: `EmitError` for two, or more than three."""
    if len(numbers) not in (1, 3):
        raise EmitError(f"The window of {layer.title} has one size or three, depth, height and width.")
    return numbers[0] if len(numbers) == 1 else numbers


def volume_words(numbers: Ints) -> str:
    """A window in space as people write it: 3×3×3."""
    return "×".join(str(one) for one in (numbers * 3 if len(numbers) == 1 else numbers))


class ConvTranspose2d(Convolution):
    """Spreads each input over a window of the output: a convolution run backwards, to enlarge an image.

    For first weights, an output has channels · kernel / stride inputs on average, and an input feeds
    filters · kernel outputs; torch's own default takes the latter number for the former.
    """

    takes_axes = IMAGE
    title = "Transposed conv"
    aliases = ("deconvolution", "upsample")
    formula = "x[c, i, j] · W[c, k, u, v] is added to yₖ[s·i + u, s·j + v]; then bₖ and f"
    source = "Zeiler, Krishnan, Taylor and Fergus, 2010"
    kernel: Pair = param(2, minimum=1, doc="height × width of the window")
    stride: Pair = param(2, minimum=1, doc="how far apart the windows lie in the output")
    padding: Pair = param(0, minimum=0, doc="rows × columns cut off at each side")
    output_padding: Pair = param(0, minimum=0, doc="rows × columns added at one side")
    bias: bool = param(True, doc="add a learned offset to each filter")
    activation: str = param(NONE, choices=CHOICES, doc="function applied to each output")
    init: str = init_param()
    init_scale: float = init_scale_param()

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, self)
        kernel, stride = math.prod(two(self.kernel)), math.prod(two(self.stride))
        if any(more >= step for more, step in zip(two(self.output_padding), two(self.stride), strict=True)):
            raise EmitError("The output padding must be smaller than the stride: it fills what a step skips.")
        made = nn.ConvTranspose2d(
            x.channels,
            self.channels(x),
            kernel_size=self.kernel,
            stride=self.stride,
            padding=self.padding,
            output_padding=self.output_padding,
            bias=self.bias,
        )
        conv = e.module(without_defaults(made))
        e.begin(
            initialise(
                conv,
                self.init,
                self.init_scale,
                biases=("bias",) if self.bias else (),
                fans=(x.channels * kernel / stride, self.channels(x) * kernel),
            )
        )
        return activate(self.activation, conv(x))

    def summary(self) -> str:
        return self._summary(shown(self.kernel), self.activation)
