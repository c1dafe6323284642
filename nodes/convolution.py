"""Convolutions (seed 000 §3.3; seed 001; seed 002 §4.2). Sizes follow from the wire that comes in."""

from __future__ import annotations

from typing import ClassVar

from engine.catalogue import Emitted, Emitter, Layer, Wire, param
from engine.errors import EmitError
from engine.params import Pair
from engine.symbols import nn, without_defaults
from nodes.activation import CHOICES, NONE, activate

SAME_WORDS = ("valid", "same")


def shown(pair: Pair) -> str:
    """A kernel as people write it: 3×3."""
    return "×".join(str(item) for item in pair) if isinstance(pair, tuple) else f"{pair}×{pair}"


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}" + ("" if count == 1 else "s")


def need_axes(x: Wire, axes: int, title: str, meaning: str) -> None:
    """Errors: `EmitError` where the wire does not carry `axes` axes beside the batch."""
    if len(x.shape) != axes:
        found = "×".join(str(size) for size in x.shape) or "one number"
        raise EmitError(f"{title} needs {meaning}, but {found} comes in.")


class Convolution(Layer, abstract=True):
    """What the convolutions share."""

    family = "convolution"
    source = "seed 000 §3.3"
    filters: int = param(32, minimum=1, doc="output channels")

    def _summary(self, kernel: str, activation: str) -> str:
        text = f"{plural(self.filters, 'filter')} {kernel}"
        return text if activation == NONE else f"{text} · {activation}"


class Conv1d(Convolution):
    """Slides learned kernels along a sequence; each filter answers to one local pattern."""

    title = "Conv 1-D"
    aliases: ClassVar[tuple[str, ...]] = ("convolution", "temporal")
    kernel: int = param(3, minimum=1, doc="length of the window")
    stride: int = param(1, minimum=1, doc="steps the window moves at a time")
    padding: int = param(0, minimum=0, doc="zeros added at each end")
    dilation: int = param(1, minimum=1, doc="distance between the inputs of a window")
    groups: int = param(1, minimum=1, doc="channels are split into this many independent groups")
    bias: bool = param(True, doc="add a learned offset to each filter")
    activation: str = param(NONE, choices=CHOICES, doc="function applied to each output")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, 2, self.title, "channels × length")
        made = nn.Conv1d(
            x.channels,
            self.filters,
            kernel_size=self.kernel,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            groups=self.groups,
            bias=self.bias,
        )
        return activate(self.activation, e.module(without_defaults(made))(x))

    def summary(self) -> str:
        return self._summary(str(self.kernel), self.activation)


class Conv2d(Convolution):
    """Slides learned kernels over an image; each filter answers to one pattern."""

    title = "Conv 2-D"
    aliases: ClassVar[tuple[str, ...]] = ("convolution", "cnn")
    kernel: Pair = param(3, minimum=1, doc="height × width of the window")
    stride: Pair = param(1, minimum=1, doc="steps the window moves at a time")
    padding: Pair = param(
        0, minimum=0, words=SAME_WORDS, doc="zeros added at each side, rows × columns; same keeps the size"
    )
    dilation: Pair = param(1, minimum=1, doc="distance between the inputs of a window")
    groups: int = param(1, minimum=1, doc="channels are split into this many independent groups")
    bias: bool = param(True, doc="add a learned offset to each filter")
    activation: str = param(NONE, choices=CHOICES, doc="function applied to each output")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, 3, self.title, "channels × height × width")
        made = nn.Conv2d(
            x.channels,
            self.filters,
            kernel_size=self.kernel,
            stride=self.stride,
            padding=0 if self.padding == "valid" else self.padding,
            dilation=self.dilation,
            groups=self.groups,
            bias=self.bias,
        )
        return activate(self.activation, e.module(without_defaults(made))(x))

    def summary(self) -> str:
        return self._summary(shown(self.kernel), self.activation)


class ConvTranspose2d(Convolution):
    """Spreads each input over a window of the output: a convolution run backwards, to enlarge an image."""

    title = "Transposed conv"
    aliases: ClassVar[tuple[str, ...]] = ("deconvolution", "upsample")
    kernel: Pair = param(2, minimum=1, doc="height × width of the window")
    stride: Pair = param(2, minimum=1, doc="how far apart the windows lie in the output")
    padding: Pair = param(0, minimum=0, doc="rows × columns cut off at each side")
    output_padding: Pair = param(0, minimum=0, doc="rows × columns added at one side")
    bias: bool = param(True, doc="add a learned offset to each filter")
    activation: str = param(NONE, choices=CHOICES, doc="function applied to each output")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        need_axes(x, 3, self.title, "channels × height × width")
        made = nn.ConvTranspose2d(
            x.channels,
            self.filters,
            kernel_size=self.kernel,
            stride=self.stride,
            padding=self.padding,
            output_padding=self.output_padding,
            bias=self.bias,
        )
        return activate(self.activation, e.module(without_defaults(made))(x))

    def summary(self) -> str:
        return self._summary(shown(self.kernel), self.activation)
