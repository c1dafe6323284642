"""Encodings: numbers written as other numbers that a network reads more easily, with nothing fitted."""

from __future__ import annotations

from math import comb

from engine.catalogue import Emitted, Emitter, Layer, Wire, param
from engine.catalogue.axes import SEQUENCE, Axes, looked_up
from engine.catalogue.symbols import carried, without_defaults
from engine.catalogue.traits import ClassCount, LayerTraits
from engine.errors import EmitError
from nodes.wires import need_axes, plural

MOST_PRODUCTS = 20_000


class Encoding(Layer, abstract=True):
    """Base of the encodings."""

    family = "encoding"

    def _need_features(self, x: Wire) -> None:
        if not x.shape:
            raise EmitError(f"{self.title} needs features, but one number an example comes in.")


class OfClasses(Encoding, abstract=True):
    """An encoding of class numbers."""

    places_from = 1
    takes_whole = True
    traits = LayerTraits(class_count=ClassCount("x", "classes", "classes"))
    classes: int = param(10, minimum=2, maximum=100_000, doc="how many there are")

    def axes_after(self, axes: Axes, rank: int) -> Axes:
        return looked_up(axes, rank)

    def _need_classes(self, x: Wire) -> None:
        if x.dtype != "int64":
            raise EmitError(f"{self.title} needs class numbers, but measurements come in.")

    def summary(self) -> str:
        return plural(self.classes, "class").replace("classs", "classes")


class OneHot(OfClasses):
    """Writes a class as a row with 1 at its place and 0 elsewhere; numbers outside give zeros only."""

    title = "One-hot"
    aliases = ("dummy variables", "categorical", "indicator")
    formula = "y[k] = 1 where x = k, else 0"

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.encodings import one_hot

        self._need_classes(x)
        return carried(one_hot)(x, self.classes)


class Thermometer(OfClasses):
    """Writes ordered classes as steps: as many ones as the class is high."""

    aliases = ("ordinal", "cumulative", "ordered classes", "rank")
    formula = "y[k] = 1 where x > k, else 0; k = 0 … K - 2"
    source = "Cheng, Wang and Pollastri, 2008"

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.encodings import thermometer

        self._need_classes(x)
        return carried(thermometer)(x, self.classes)


class PolynomialFeatures(Encoding):
    """Adds powers and products of the features, so that a linear layer can fit curves."""

    places_from = 2
    title = "Polynomial"
    aliases = ("powers", "products", "interactions", "basis")
    formula = "x₁, x₂, …, x₁², x₁x₂, …; no constant, which is the bias of the layer behind"
    source = "Gergonne, 1815"
    degree: int = param(2, minimum=1, maximum=30, doc="how many factors at most")
    interactions: bool = param(True, doc="products of different features too, not only powers of one")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.encodings import Polynomial

        self._need_features(x)
        count = comb(x.features + self.degree, self.degree) - 1 if self.interactions else 0
        if count > MOST_PRODUCTS:
            raise EmitError(
                f"{x.features} features have {count:,} products of {self.degree} factors and fewer.",
                fix="Lower the degree, or take powers without interactions.",
            )
        made = carried(Polynomial)(x.features, self.degree, interactions=self.interactions)
        return e.module(without_defaults(made))(x)

    def summary(self) -> str:
        return f"degree {self.degree}" + ("" if self.interactions else " · powers only")


class Waves(Encoding):
    """Writes each number as sines and cosines: for angles, hours, and functions with fine detail."""

    places_from = 2
    title = "Sine features"
    aliases = ("fourier", "sinusoidal", "cyclic", "periodic", "nerf", "basis")
    formula = "sin(2π k x / T), cos(2π k x / T), k = 1 … K, or 1, 2, 4, …"
    source = "Fourier, 1822; Mildenhall and others, 2020"
    count: int = param(4, minimum=1, maximum=64, label="Waves", doc="how many sines, and as many cosines")
    period: float = param(1.0, above=0, doc="after which the first wave repeats: 24 for hours")
    octaves: bool = param(False, doc="each wave twice as fast as the one before")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.encodings import waves

        self._need_features(x)
        return without_defaults(carried(waves)(x, self.count, self.period, octaves=self.octaves))

    def summary(self) -> str:
        return f"{plural(self.count, 'wave')} · period {self.period:g}"


class RandomFourierFeatures(Encoding):
    """Cosines along random directions: a linear layer behind them is nearly a Gaussian kernel machine."""

    places_from = 2
    title = "Random Fourier features"
    aliases = ("kernel", "rff", "gaussian process", "random kitchen sinks")
    formula = "√(2/D) cos(W x + b), W ~ N(0, 1/s²), b ~ U(0, 2π), never learned"
    source = "Rahimi and Recht, 2007"
    count: int = param(128, minimum=1, maximum=100_000, label="Features", doc="how many come out")
    width: float = param(1.0, above=0, doc="distance over which examples count as alike")
    seed: int = param(0, minimum=0, doc="from which the directions are drawn")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.encodings import RandomFourier

        self._need_features(x)
        made = carried(RandomFourier)(x.features, self.count, width=self.width, seed=self.seed)
        return e.module(without_defaults(made))(x)

    def summary(self) -> str:
        return f"{plural(self.count, 'feature')} · width {self.width:g}"


class RadialBasis(Encoding):
    """Writes each number as how near it is to each of a row of centres."""

    places_from = 2
    title = "Radial basis"
    aliases = ("rbf", "gaussian bumps", "soft binning", "basis")
    formula = "y[k] = exp(-(x - cₖ)² / 2w²), c evenly from low to high"
    source = "Broomhead and Lowe, 1988"
    count: int = param(8, minimum=2, maximum=10_000, label="Centres", doc="for each feature")
    low: float = param(-1.0, doc="the first centre")
    high: float = param(1.0, doc="the last centre")
    width: float = param(1.0, above=0, doc="w as a multiple of the distance between centres")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.encodings import bumps

        self._need_features(x)
        need_range(self.low, self.high)
        made = carried(bumps)(x, self.count, self.low, self.high, width=self.width)
        return without_defaults(made)

    def summary(self) -> str:
        return f"{self.count} from {self.low:g} to {self.high:g}"


class SplineBasis(Encoding):
    """Writes each number as B-splines: smooth bumps, of which a few touch and all sum to 1."""

    places_from = 2
    title = "Spline basis"
    aliases = ("b-spline", "cubic spline", "basis", "gam", "kan")
    formula = "y[k] = Bₖ(x), by the recursion of Cox and de Boor over even knots"
    source = "Cox, 1972; de Boor, 1972"
    intervals: int = param(5, minimum=1, maximum=10_000, doc="into how many the range is divided")
    degree: int = param(3, minimum=1, maximum=8, doc="of the pieces: 1 lines, 3 cubic")
    low: float = param(-1.0, doc="where the range begins")
    high: float = param(1.0, doc="where it ends; beyond, the splines run out to 0")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.encodings import splines

        self._need_features(x)
        need_range(self.low, self.high)
        return carried(splines)(x, self.intervals, self.degree, self.low, self.high)

    def summary(self) -> str:
        return f"degree {self.degree} · {self.intervals} from {self.low:g} to {self.high:g}"


def need_range(low: float, high: float) -> None:
    """Errors: `EmitError` for a range that is empty."""
    if low >= high:
        raise EmitError(f"The range from {low:g} to {high:g} is empty.", fix="Let low be below high.")


class PositionalEncoding(Encoding):
    """Tells each step of a sequence where it stands, for layers that see no order, such as attention."""

    takes_axes = SEQUENCE
    places_from = 2
    title = "Positions"
    traits = LayerTraits(part="embedding")
    aliases = ("positional encoding", "position embedding", "sinusoidal", "order")
    shows = ("positions",)
    formula = "y[t] = x[t] + p[t], p[t, 2i] = sin(t / 10000^(2i/d)), p[t, 2i + 1] = cos of it; or p learned"
    source = "Vaswani and others, 2017; learned: Gehring and others, 2017"
    learned: bool = param(False, doc="a vector learned for each step instead of fixed ones")
    fixed: str = param(
        "waves",
        choices=("waves", "number", "fraction", "binary"),
        doc="what stands for a place, where nothing is learned; all but waves are there to see how they fail",
    )
    joined: bool = param(False, doc="stand beside the features instead of being added to them")
    size: int = param(16, minimum=1, maximum=65_536, doc="numbers a step, where they are joined")

    def reads_on(self) -> bool:
        return True

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.encodings import LearnedPositions
        from engine.layers.encodings import Positions as Fixed

        need_axes(x, self)
        size = self.size if self.joined else x.features
        if not self.learned and self.fixed != "waves":
            from engine.layers.sequences.positions import PlainPositions

            made = carried(PlainPositions)(x.shape[0], size, self.fixed, joined=self.joined)
            return e.module(without_defaults(made))(x)
        table = LearnedPositions if self.learned else Fixed
        return e.module(without_defaults(carried(table)(x.shape[0], size, joined=self.joined)))(x)

    def summary(self) -> str:
        text = "learned" if self.learned else self.fixed
        return f"{text} · {f'{self.size} joined' if self.joined else 'added'}"
