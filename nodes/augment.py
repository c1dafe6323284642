"""Augmentation: layers that change examples at random while training, and nothing after.

They work on batches, on any device, from torch's own random numbers: a seed fixes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from engine.catalogue import Emitted, Emitter, Layer, Port, Wire, param
from engine.catalogue.axes import IMAGE
from engine.catalogue.params import Pair
from engine.catalogue.symbols import Expr, carried, without_defaults
from engine.catalogue.traits import ClassCount, LayerTraits
from engine.errors import EmitError
from nodes.images import AN_IMAGE, BORDERS, need_room, need_window, two
from nodes.wires import need_axes, plural, shown, sizes

OUTSIDE = {"value": "zeros", "edge": "border", "reflection": "reflection"}


def smooth_param() -> Any:
    """Declare how pixels are read that lie between others: `smooth: bool = smooth_param()`."""
    return param(True, doc="mix neighbouring pixels; off copies the nearest one")


def outside_param() -> Any:
    """Declare what comes in from outside: `border: str = outside_param()`."""
    return param("value", choices=tuple(OUTSIDE), doc="what comes in from outside the image")


def value_param() -> Any:
    """Declare the value of a border of one value: `value: float = value_param()`."""
    return param(0.0, doc="for a border of one value")


class Augmentation(Layer, abstract=True):
    """Base of the augmentations; `shows` proposes the view of what they do."""

    takes_axes = IMAGE
    family = "augmentation"
    shows: ClassVar[tuple[str, ...]] = ("augmented",)

    def _check(self, x: Wire) -> None:
        need_axes(x, self, AN_IMAGE)

    def _kept(self, e: Emitter, made: Any, *values: Any, **options: Any) -> Expr:
        return e.module(without_defaults(carried(made)(*values, **options)))


class RandomFlip(Augmentation):
    """While training, mirrors images at random, left to right or top to bottom."""

    title = "Random flip"
    aliases = ("mirror", "horizontal flip", "augment")
    formula = "y[c, i, j] = x[c, i, W - 1 - j] with probability p; y = x after training"
    source = "Krizhevsky, Sutskever and Hinton, 2012"
    horizontal: float = param(0.5, minimum=0, maximum=1, doc="probability of being mirrored left to right")
    vertical: float = param(0.0, minimum=0, maximum=1, doc="probability of being turned upside down")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.random_images import RandomFlip as Made

        self._check(x)
        return self._kept(e, Made, horizontal=self.horizontal, vertical=self.vertical)(x)

    def summary(self) -> str:
        parts = [(self.horizontal, "left-right"), (self.vertical, "up-down")]
        return " · ".join(f"{100 * p:g} % {way}" for p, way in parts if p) or "never"


class RandomQuarterTurn(Augmentation):
    """While training, turns square images by 0, 90, 180 or 270 degrees; for images that have no upright."""

    title = "Random quarter turn"
    aliases = ("rotate", "rot90", "augment")
    formula = "y = x turned by k · 90°, k = 0 … 3 as often; y = x after training"
    source = "Dieleman, De Fauw and Kavukcuoglu, 2016"

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.random_images import RandomQuarterTurn as Made

        self._check(x)
        if x.shape[1] != x.shape[2]:
            raise EmitError(f"A quarter turn needs square images, but {sizes(x)} comes in.")
        return e.module(carried(Made)())(x)


class RandomShift(Augmentation):
    """While training, moves images by whole pixels at random."""

    title = "Random shift"
    aliases = ("translate", "translation", "jitter", "augment")
    formula = "y[c, i, j] = x[c, i - a, j - b], a = -p … p, b = -q … q; y = x after training"
    source = "LeCun, Bottou, Bengio and Haffner, 1998"
    pixels: Pair = param(2, minimum=0, label="At most", doc="pixels in each direction, rows × columns")
    border: str = param(
        "value", choices=tuple(BORDERS), doc="what comes in: one value, the edge, its reflection, what left"
    )
    value: float = value_param()

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.random_images import RandomShift as Made

        self._check(x)
        rows, columns = two(self.pixels)
        need_room(x, rows, columns, self.border)
        return self._kept(e, Made, rows, columns, mode=BORDERS[self.border], value=self.value)(x)

    def summary(self) -> str:
        if isinstance(self.pixels, int):
            return f"up to {plural(self.pixels, 'pixel')}"
        return f"up to {shown(self.pixels)} pixels"


class RandomCrop(Augmentation):
    """While training, cuts a window from a random place of the padded image; after, from the middle."""

    title = "Random crop"
    aliases = ("cut", "window", "augment")
    formula = "y[c, i, j] = x[c, i + a, j + b], a and b at random; after training the middle"
    source = "Krizhevsky, Sutskever and Hinton, 2012"
    size: Pair = param(24, minimum=1, doc="height × width that is kept")
    pixels: int = param(0, minimum=0, label="Padding", doc="pixels added at each side while training")
    border: str = param("value", choices=tuple(BORDERS), doc="what is added: one value, the edge, a repeat")
    value: float = value_param()

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.random_images import RandomCrop as Made

        self._check(x)
        need_window(x, self.size)
        need_room(x, self.pixels, self.pixels, self.border)
        options = {"border": self.pixels, "mode": BORDERS[self.border], "value": self.value}
        return self._kept(e, Made, *two(self.size), **options)(x)

    def summary(self) -> str:
        text = f"to {shown(self.size)}"
        return f"{text} · padded by {self.pixels}" if self.pixels else text


class Warp(Augmentation, abstract=True):
    """Base of those that resample images; each declares `smooth`, `border` and `value` after its own."""

    smooth: bool
    border: str
    value: float

    def _emit(self, e: Emitter, x: Wire, **options: float) -> Emitted:
        from engine.layers.random_images import RandomAffine as Made

        self._check(x)
        smallest, largest = options.get("smallest", 1.0), options.get("largest", 1.0)
        if smallest > largest:
            raise EmitError(f"The smallest size, {smallest:g}, is above the largest, {largest:g}.")
        mode, outside = "bilinear" if self.smooth else "nearest", OUTSIDE[self.border]
        return self._kept(e, Made, **options, mode=mode, outside=outside, value=self.value)(x)


class RandomRotate(Warp):
    """While training, turns images by a random angle about their middle."""

    title = "Random rotate"
    aliases = ("rotation", "turn", "augment")
    formula = "y = x turned by a, a ~ U(-A, A); y = x after training"
    source = "Simard, Steinkraus and Platt, 2003"
    degrees: float = param(15.0, minimum=0, maximum=180, unit="°", label="At most", doc="to either side")
    smooth: bool = smooth_param()
    border: str = outside_param()
    value: float = value_param()

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        return self._emit(e, x, degrees=self.degrees)

    def summary(self) -> str:
        return f"up to {self.degrees:g}°"


class RandomScale(Warp):
    """While training, makes images larger or smaller about their middle; their size in pixels stays."""

    title = "Random scale"
    aliases = ("zoom", "resize", "augment")
    formula = "y = x enlarged s times, log s ~ U(log a, log b); y = x after training"
    source = "Simard, Steinkraus and Platt, 2003"
    smallest: float = param(0.8, above=0, maximum=100, doc="0.5 is half as large")
    largest: float = param(1.25, above=0, maximum=100, doc="2 is twice as large")
    smooth: bool = smooth_param()
    border: str = outside_param()
    value: float = value_param()

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        return self._emit(e, x, smallest=self.smallest, largest=self.largest)

    def summary(self) -> str:
        return f"{self.smallest:g} to {self.largest:g} times"


class RandomAffine(Warp):
    """While training, turns, resizes, moves and shears images at once: sharper than one after the other."""

    title = "Random affine"
    aliases = ("rotate", "scale", "translate", "shear", "warp", "augment")
    formula = "y(p) = x(A⁻¹ (p - t)), A and t at random; y = x after training"
    source = "Simard, Steinkraus and Platt, 2003"
    degrees: float = param(10.0, minimum=0, maximum=180, unit="°", label="Turn", doc="to either side at most")
    smallest: float = param(0.9, above=0, maximum=100, doc="0.5 is half as large")
    largest: float = param(1.1, above=0, maximum=100, doc="2 is twice as large")
    shift: float = param(
        0.1, minimum=0, maximum=1, doc="at most, as a fraction of the height and of the width"
    )
    shear: float = param(0.0, minimum=0, maximum=80, unit="°", doc="how far it leans to either side at most")
    smooth: bool = smooth_param()
    border: str = outside_param()
    value: float = value_param()

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        names = ("degrees", "smallest", "largest", "shift", "shear")
        return self._emit(e, x, **{name: getattr(self, name) for name in names})

    def summary(self) -> str:
        return f"{self.degrees:g}° · {self.smallest:g} to {self.largest:g} times"


class RandomColour(Augmentation):
    """While training, changes brightness, contrast and colours at random; for numbers from 0 to 1."""

    title = "Random colour"
    aliases = ("color jitter", "brightness", "contrast", "saturation", "hue")
    formula = "x · b, then m + (x - m) · c, then g + (x - g) · s, then turned in hue; y = x after training"
    source = "Krizhevsky, Sutskever and Hinton, 2012; Howard, 2013"
    brightness: float = param(0.2, minimum=0, maximum=1, doc="0.2 multiplies by 0.8 to 1.2")
    contrast: float = param(0.2, minimum=0, maximum=1, doc="as much, of the distance from the mean")
    saturation: float = param(0.0, minimum=0, maximum=1, doc="as much, of the distance from grey")
    hue: float = param(
        0.0, minimum=0, maximum=0.5, doc="at most, as a fraction of the colour circle, to either side"
    )
    clip: bool = param(True, label="Keep in 0 to 1", doc="cut off what leaves the range of colours")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.random_images import RandomColour as Made

        self._check(x)
        if x.channels != 3 and (self.saturation or self.hue):
            raise EmitError(
                f"Saturation and hue need red, green and blue, but {sizes(x)} comes in.",
                fix="Set both to 0 for grey images.",
            )
        names = ("brightness", "contrast", "saturation", "hue", "clip")
        return self._kept(e, Made, **{name: getattr(self, name) for name in names})(x)

    def summary(self) -> str:
        names = ("brightness", "contrast", "saturation", "hue")
        chosen = [f"{name} {getattr(self, name):g}" for name in names if getattr(self, name)]
        return " · ".join(chosen[:2]) + (" …" if len(chosen) > 2 else "")


class RandomErase(Augmentation):
    """While training, covers a random rectangle, so that the network looks at all of an image."""

    title = "Random erase"
    aliases = ("cutout", "random erasing", "occlusion", "augment")
    formula = "y = v inside a rectangle of area a · H · W, else x; y = x after training"
    source = "DeVries and Taylor, 2017; Zhong, Zheng, Kang, Li and Yang, 2017"
    chance: float = param(
        0.5, minimum=0, maximum=1, label="Probability", doc="how often an image is covered at all"
    )
    smallest: float = param(0.02, minimum=0, maximum=1, doc="area as a fraction of the image")
    largest: float = param(0.2, minimum=0, maximum=1, doc="area as a fraction of the image")
    stretch: float = param(2.0, minimum=1, maximum=100, doc="longer side over shorter at most; 1 for squares")
    value: float | None = param(0.0, doc="what is put there; empty for noise")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.random_images import RandomErase as Made

        self._check(x)
        if self.smallest > self.largest:
            raise EmitError(f"The smallest area, {self.smallest:g}, is above the largest, {self.largest:g}.")
        options = {"stretch": self.stretch, "value": self.value}
        return self._kept(e, Made, self.chance, self.smallest, self.largest, **options)(x)

    def summary(self) -> str:
        text = f"{100 * self.smallest:g} to {100 * self.largest:g} %"
        return text if self.chance == 1 else f"{text} of {100 * self.chance:g} %"


class SaltAndPepper(Augmentation):
    """While training, sets random numbers to the lowest or the highest value."""

    title = "Salt and pepper"
    aliases = ("impulse noise", "corrupt", "denoising", "augment")
    formula = "y = a or b with probability p/2 each, else x; y = x after training"
    source = "Vincent, Larochelle, Lajoie, Bengio and Manzagol, 2010"
    share: float = param(0.1, minimum=0, maximum=1, label="Fraction changed", doc="of all numbers")
    low: float = param(0.0, doc="pepper")
    high: float = param(1.0, doc="salt")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.noisy import SaltAndPepper as Made

        return self._kept(e, Made, self.share, low=self.low, high=self.high)(x)

    def summary(self) -> str:
        return f"{100 * self.share:g} %"


class MaskingNoise(Augmentation):
    """While training, hides a random fraction of the inputs: a denoising autoencoder learns to fill them in.

    Unlike dropout it does not enlarge what is left.
    """

    title = "Masking noise"
    aliases = ("corrupt", "denoising autoencoder", "masked autoencoder", "hide")
    formula = "y = v with probability p, else x; y = x after training"
    source = "Vincent, Larochelle, Bengio and Manzagol, 2008; He and others, 2022"
    share: float = param(0.3, minimum=0, maximum=1, label="Fraction hidden", doc="of all numbers or blocks")
    value: float = param(0.0, doc="what is put there")
    block: int = param(1, minimum=1, doc="images: hide squares of so many pixels a side, in all channels")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.noisy import MaskingNoise as Made

        if self.block > 1:
            self._check(x)
        return self._kept(e, Made, self.share, value=self.value, block=self.block)(x)

    def summary(self) -> str:
        text = f"{100 * self.share:g} %"
        return text if self.block == 1 else f"{text} in blocks of {self.block}"


class LabelNoise(Augmentation):
    """While training, replaces class numbers by wrong ones at random, others in each epoch.

    As other labels are wrong in each batch, none is memorised: it acts like label smoothing. It stands
    between the data and the loss; what is measured is compared with the right classes.
    """

    title = "Label noise"
    aliases = ("wrong labels", "disturblabel", "corrupt targets")
    takes_whole = True
    shows = ()
    hands_on: ClassVar[Mapping[str, str]] = {"output": "x"}
    traits = LayerTraits(class_count=ClassCount("x", "classes", "classes"))
    formula = "y = another class with probability p, else x; y = x after training"
    source = "Xie, Wang, Wei, Wang and Tian, 2016"
    share: float = param(0.1, minimum=0, maximum=1, label="Fraction wrong", doc="of the labels of each batch")
    classes: int = param(10, minimum=2, doc="how many classes there are")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.noisy import LabelNoise as Made

        if x.dtype != "int64":
            raise EmitError("Label noise needs class numbers, but measurements come in.")
        return e.module(carried(Made)(self.share, self.classes))(x)

    def summary(self) -> str:
        return f"{100 * self.share:g} % of {self.classes} classes"


class Mixing(Augmentation, abstract=True):
    """Base of those that mix examples and their targets."""

    takes_whole = True
    hands_on: ClassVar[Mapping[str, str]] = {"output": "x", "target": "target"}
    traits = LayerTraits(class_count=ClassCount("target", "classes", "classes"))
    ports_in = (
        Port("x", doc="what is mixed"),
        Port("target", doc="class numbers, or numbers that can be mixed"),
    )
    ports_out = (
        Port("output", doc="mixed examples"),
        Port("target", doc="for a cross-entropy: the probability of each class, or mixed numbers"),
    )
    alpha: float = param(
        0.4, above=0, maximum=100, doc="near 0 one of the two prevails; 1 mixes evenly; more mixes halves"
    )
    classes: int = param(10, minimum=2, doc="how many, where the target is class numbers")

    def _mixed(self, e: Emitter, made: Any, x: Wire, target: Wire) -> Emitted:
        if x.dtype != "float32":
            raise EmitError(f"{self.title} needs measurements, but whole numbers come in.")
        whole = target.dtype == "int64"
        if whole and target.shape:
            raise EmitError(f"{self.title} needs one class number an example, but {sizes(target)} come in.")
        layer = self._kept(e, made, self.alpha, classes=self.classes if whole else 0)
        output, mixed = e.unpack(layer(x, target), "mixed", "target")
        return {"output": output, "target": mixed}

    def summary(self) -> str:
        return f"α {self.alpha:g} · {self.classes} classes"


class MixUp(Mixing):
    """While training, blends each example with another, and their targets as much."""

    title = "Mixup"
    aliases = ("mix", "blend", "vicinal risk", "soft labels", "augment")
    formula = "y = λ x + (1 - λ) x2, t = λ t + (1 - λ) t2, λ ~ Beta(α, α); y = x after training"
    source = "Zhang, Cisse, Dauphin and Lopez-Paz, 2018"

    def emit(self, e: Emitter, x: Wire, target: Wire) -> Emitted:
        from engine.layers.mixing import MixUp as Made

        return self._mixed(e, Made, x, target)


class CutMix(Mixing):
    """While training, pastes a rectangle of another image into each; the target is mixed by area."""

    title = "CutMix"
    aliases = ("mix", "paste", "soft labels", "augment")
    formula = "y = x2 inside a rectangle of area 1 - λ, else x; t = λ t + (1 - λ) t2; y = x after training"
    source = "Yun, Han, Oh, Chun, Choe and Yoo, 2019"

    def emit(self, e: Emitter, x: Wire, target: Wire) -> Emitted:
        from engine.layers.mixing import CutMix as Made

        self._check(x)
        return self._mixed(e, Made, x, target)
