"""Images made to fit: resized, cut, padded, in other colours, normalised, in patches."""

from __future__ import annotations

from math import isqrt

from engine.catalogue import Emitted, Emitter, Layer, Wire, param
from engine.catalogue.axes import IMAGE, PATCHES, Axes
from engine.catalogue.params import Floats, Pair
from engine.catalogue.symbols import Expr, F, carried, without_defaults
from engine.catalogue.traits import LayerTraits, Preparation
from engine.errors import EmitError
from nodes.wires import need_axes, shown, sizes

AN_IMAGE = "an image, channels × height × width"
BORDERS = {"value": "constant", "edge": "replicate", "reflection": "reflect", "wrap": "circular"}


def two(pair: Pair) -> tuple[int, int]:
    """Rows and columns, where one number may stand for both."""
    return pair if isinstance(pair, tuple) else (int(pair), int(pair))


def need_room(x: Wire, rows: int, columns: int, border: str) -> None:
    """Errors: `EmitError` where an image has fewer pixels than its border repeats."""
    room = {"reflection": 1, "wrap": 0}.get(border)
    if room is not None and (rows > x.shape[1] - room or columns > x.shape[2] - room):
        raise EmitError(f"A border of {rows}×{columns} pixels cannot repeat an image of {sizes(x)}.")


class ImageLayer(Layer, abstract=True):
    """A layer that takes images and gives images, with nothing learned."""

    takes_axes = IMAGE
    family = "images"

    def _check(self, x: Wire) -> None:
        need_axes(x, self, AN_IMAGE)


class Resize(ImageLayer):
    """Gives images another size, larger or smaller."""

    aliases = ("interpolate", "scale", "upsample", "downsample", "zoom")
    formula = "y[c, i, j] = x[c] at ((i + ½) H/h - ½, (j + ½) W/w - ½)"
    source = "torch.nn.functional.interpolate"
    size: Pair = param(28, minimum=1, maximum=16384, doc="height × width that comes out")
    mode: str = param(
        "bilinear",
        choices=("bilinear", "bicubic", "nearest", "area"),
        label="Method",
        doc="bilinear and bicubic draw smooth curves, nearest copies pixels, area takes means",
    )
    antialias: bool = param(
        True, label="Smooth first", doc="bilinear and bicubic only: no jagged edges where images get smaller"
    )

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        self._check(x)
        smooth = self.mode in ("bilinear", "bicubic")
        mode = "nearest-exact" if self.mode == "nearest" else self.mode  # torch's "nearest" is off by a half
        resized = F.interpolate(x, two(self.size), mode=mode, antialias=self.antialias and smooth)
        return without_defaults(resized)

    def summary(self) -> str:
        return f"to {shown(self.size)}" if self.mode == "bilinear" else f"to {shown(self.size)} · {self.mode}"


class Crop(ImageLayer):
    """Keeps the middle of images and cuts the rest off."""

    title = "Centre crop"
    aliases = ("cut", "center crop", "trim")
    formula = "y[c, i, j] = x[c, i + ⌊(H - h)/2⌋, j + ⌊(W - w)/2⌋]"
    size: Pair = param(24, minimum=1, doc="height × width that is kept")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.images import cropped

        self._check(x)
        need_window(x, self.size)
        return carried(cropped)(x, *two(self.size))

    def summary(self) -> str:
        return f"to {shown(self.size)}"


def need_window(x: Wire, size: Pair) -> None:
    """Errors: `EmitError` where a window is larger than the image."""
    height, width = two(size)
    if height > x.shape[1] or width > x.shape[2]:
        raise EmitError(f"A window of {height}×{width} does not fit into an image of {sizes(x)}.")


class Pad(ImageLayer):
    """Adds pixels around images."""

    title = "Pad"
    aliases = ("border", "frame", "zero padding", "margin")
    formula = "y[c, i, j] = x[c, i - p, j - q]; outside: a value, the edge or the image once more"
    source = "torch.nn.functional.pad"
    pixels: Pair = param(2, minimum=0, doc="how many at each side, rows × columns")
    border: str = param(
        "value", choices=tuple(BORDERS), doc="what is put there: one value, the edge, its reflection, a tile"
    )
    value: float = param(0.0, doc="for a border of one value")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        self._check(x)
        rows, columns = two(self.pixels)
        need_room(x, rows, columns, self.border)
        around = (columns, columns, rows, rows)
        if self.border != "value":
            return F.pad(x, around, mode=BORDERS[self.border])
        return F.pad(x, around, value=self.value) if self.value else F.pad(x, around)

    def summary(self) -> str:
        text = f"{shown(self.pixels)} at each side"
        return text if self.border == "value" else f"{text} · {self.border}"


class Grey(ImageLayer):
    """Turns colours into brightness: one channel for three, weighed as the eye sees them."""

    title = "Greyscale"
    aliases = ("gray", "grey", "luma", "black and white", "grayscale")
    formula = "y = 0.299 red + 0.587 green + 0.114 blue; other numbers of channels: their mean"
    source = "ITU-R BT.601"

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.random_images import grey

        self._check(x)
        return carried(grey)(x)


class RGB(ImageLayer):
    """Gives grey images three channels, all alike, for a network that expects colours."""

    title = "Grey to RGB"
    aliases = ("colour", "color", "three channels")
    formula = "red = green = blue = x"

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        self._check(x)
        if x.channels != 1:
            raise EmitError(f"Grey to RGB needs one channel, but {x.channels} come in.")
        return x.expand(-1, 3, -1, -1)


class Normalise(ImageLayer):
    """Subtracts a given mean from each channel and divides by a given deviation.

    To find them from the training data, use Standardise.
    """

    preparation = Preparation.SCALED
    title = "Normalise"
    aliases = ("normalize", "mean and deviation", "imagenet")
    formula = "y[c] = (x[c] - mean[c]) / deviation[c]"
    source = "torchvision.transforms.Normalize"
    means: Floats = param((0.5,), doc="one for each channel, or one for all")
    deviations: Floats = param((0.5,), above=0, doc="one for each channel, or one for all")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.images import Normalise as Made

        for name, values in (("mean", self.means), ("deviation", self.deviations)):
            if len(values) not in (1, x.channels):
                raise EmitError(
                    f"Normalise has {len(values)} {name}s, but {x.channels} channels come in.",
                    fix=f"Give one {name} for each channel, or one for all.",
                )
        return e.module(carried(Made)(self.means, self.deviations, len(x.shape)))(x)

    def summary(self) -> str:
        if max(len(self.means), len(self.deviations)) > 1:
            return f"{max(len(self.means), len(self.deviations))} channels"
        return f"(x - {self.means[0]:g}) / {self.deviations[0]:g}"


class Patches(ImageLayer):
    """Cuts images into a sequence of patches, row by row, each with its numbers in a row."""

    aliases = ("patchify", "vision transformer", "tiles", "unfold")
    formula = "C × H × W → (H/h · W/w) × (C · h · w)"
    source = "Dosovitskiy and others, 2021"
    traits = LayerTraits(patch="size")
    size: Pair = param(4, minimum=1, doc="height × width of a patch; the image is a multiple of it")

    def axes_after(self, axes: Axes, rank: int) -> Axes:
        return PATCHES

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.images import patches

        self._check(x)
        height, width = two(self.size)
        if x.shape[1] % height or x.shape[2] % width:
            raise EmitError(
                f"Patches of {height}×{width} do not fill an image of {sizes(x)}.",
                fix="Choose a size that divides it, or pad or crop the image first.",
            )
        return carried(patches)(x, height, width)

    def summary(self) -> str:
        return f"{shown(self.size)} each"


class JoinPatches(Layer):
    """Lays a sequence of patches out as the image that Patches cut."""

    takes_axes = PATCHES
    family = "images"
    title = "Join patches"
    aliases = ("unpatchify", "fold", "image from patches")
    formula = "(H/h · W/w) × (C · h · w) → C × H × W"
    source = "Dosovitskiy and others, 2021"
    size: Pair = param(4, minimum=1, doc="height × width of a patch")
    image: Pair | None = param(
        None, minimum=1, label="Image size", doc="height × width; empty for as many patches high as wide"
    )

    def axes_after(self, axes: Axes, rank: int) -> Axes:
        return IMAGE

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.images import joined_patches

        need_axes(x, self)
        height, width = two(self.size)
        count, numbers = x.shape
        side = isqrt(count)
        image = (side * height, side * width) if self.image is None else two(self.image)
        if image[0] % height or image[1] % width or image[0] // height * (image[1] // width) != count:
            raise EmitError(f"{count:,} patches of {height}×{width} do not make {_wanted(self.image)}.")
        if numbers % (height * width):
            raise EmitError(f"A patch of {height}×{width} has a multiple of {height * width:,} numbers.")
        joined: Expr = carried(joined_patches)(x, image, height, width)
        return joined

    def summary(self) -> str:
        return f"{shown(self.size)} each"


def _wanted(image: Pair | None) -> str:
    return "a square of patches" if image is None else f"an image of {shown(image)}"


class Coordinates(ImageLayer):
    """Adds channels that say where each pixel lies, so that a convolution can tell places apart."""

    title = "Add coordinates"
    aliases = ("coordconv", "position", "place")
    formula = "two channels more: row and column from -1 to 1"
    source = "Liu, Lehman, Molino, Such, Frank, Sergeev and Yosinski, 2018"
    radius: bool = param(False, doc="a third channel: how far from the middle")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.encodings import with_coordinates

        self._check(x)
        return without_defaults(carried(with_coordinates)(x, radius=self.radius))
