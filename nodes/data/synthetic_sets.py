"""More synthetic data: classes, mixtures, sheets, bars, shifted digits, copying, chaos and graphs."""

from __future__ import annotations

from engine.catalogue import Column, Emitted, Emitter
from engine.catalogue.axes import IMAGE, OF_NODES, SEQUENCE, SIGNAL
from engine.catalogue.params import Floats
from engine.errors import ParamError
from nodes.data.loaded import Loaded, argument
from nodes.data.sets import DIGITS, Mnist
from nodes.data.synthetic import Made

ROWS = argument(minimum=50, maximum=100_000, label="Rows", doc="how many in all")


class Blobs(Made):
    """Points of several classes about a centre each, in as many dimensions as wanted."""

    title = "Classes of points"
    aliases = ("blobs", "clusters", "several classes", "multi-class", "gaussian", "toy")
    source = "a formula: centre of the class + noise"
    loader = "engine.data.sets.synthetic_clouds:load_blobs"
    classes: int = argument(minimum=2, maximum=20, doc="how many classes, each with as many rows")
    dimensions: int = argument(minimum=1, maximum=1000, doc="how many numbers a point has")
    placing: str = argument(
        choices=("on a circle", "at random"),
        label="Centres",
        doc="on the unit circle of the first two numbers, or drawn in -1..1 of all of them",
    )
    noise: float = argument(minimum=0, maximum=5, doc="deviation from the centre in every direction")
    rows: int = ROWS

    def columns(self) -> tuple[Column, ...]:
        names = tuple(f"class {number}" for number in range(1, self.classes + 1))
        return (
            Column("point", (self.dimensions,), doc="its numbers"),
            Column("label", (), "int64", names, doc="which class, for cross-entropy"),
        )

    def summary(self) -> str:
        return f"{self.classes} classes · {self.rows:,} points"


class GaussianMixture(Made):
    """Numbers or points of a few bell curves, each with a weight: a density to find, or clusters."""

    title = "Gaussian mixture"
    aliases = ("density", "clusters", "gmm", "em", "bell curves", "toy")
    source = "Pearson, 1894"
    loader = "engine.data.sets.synthetic_clouds:load_mixture"
    formula = "p(x) = Σ wₖ N(x; mₖ, sₖ²)"
    dimensions: str = argument(choices=("1-D", "2-D"), doc="numbers, or points of the plane")
    weights: Floats = argument(above=0, doc="of each component, in proportion")
    x: Floats = argument(label="Means", doc="of each component; in 2-D their x")
    y: Floats = argument(label="Means, y", doc="of each component, in 2-D only")
    deviations: Floats = argument(above=0, doc="of each component, in every direction")
    rows: int = ROWS

    def columns(self) -> tuple[Column, ...]:
        names = tuple(f"component {number}" for number in range(1, len(self.weights) + 1))
        return (
            Column("point", (int(self.dimensions[0]),), doc="x, and y in 2-D"),
            Column("component", (), "int64", names, doc="which component it was drawn from"),
            Column("density", (1,), doc="the mixture's own density there"),
        )

    def emit(self, e: Emitter) -> Emitted:
        count = len(self.weights)
        lists = {"Means": self.x, "Deviations": self.deviations}
        if self.dimensions == "2-D":
            lists["Means, y"] = self.y
        for title, found in lists.items():
            if len(found) != count:
                raise ParamError(
                    f"{title} needs {count} numbers, one for each weight; there are {len(found)}."
                )
        return super().emit(e)

    def summary(self) -> str:
        return f"{self.dimensions} · {len(self.weights)} components · {self.rows:,} rows"


class Sheets(Made):
    """Points in space that lie on a sheet, so that two numbers tell where each is: to unroll or to encode."""

    title = "Points in space"
    aliases = ("swiss roll", "s curve", "manifold", "3d", "sheet", "toy")
    source = "Swiss roll: Tenenbaum, de Silva and Langford, 2000"
    loader = "engine.data.sets.synthetic_clouds:load_sheet"
    fixed_columns = (Column("point", (3,), doc="x, y and z"), Column("place", (2,), doc="where on the sheet"))
    form: str = argument(
        choices=("Swiss roll", "S curve", "plane in a ball", "normal numbers"),
        doc="a plane in a ball is (a, a, b); normal numbers have mean (1, 1, -1), and x2 is x1 with noise",
    )
    noise: float = argument(minimum=0, maximum=5, doc="deviation of what moves points off the sheet")
    rows: int = ROWS

    def summary(self) -> str:
        return f"{self.form} · {self.rows:,} points"


class BarImages(Made):
    """Small images of bars: rows and columns that are on, to be found again one by one."""

    title = "Images of bars"
    aliases = ("bars", "stripes", "binary images", "rbm", "toy")
    source = "Földiák, 1990; stripes: MacKay, 2003"
    loader = "engine.data.sets.synthetic_images:load_bars"
    form: str = argument(
        choices=("one bar", "several bars", "stripes"),
        doc="one bar alone; each bar on with the probability below; or half of the rows or of the columns",
    )
    size: int = argument(minimum=3, maximum=64, doc="pixels along each side")
    chance: float = argument(above=0, below=1, doc="several bars: how likely each is on")
    noise: float = argument(minimum=0, maximum=0.5, doc="fraction of pixels that are inverted")
    rows: int = ROWS

    def columns(self) -> tuple[Column, ...]:
        return (
            Column("image", (1, self.size, self.size), axes=IMAGE, doc="1 where a bar is, else 0"),
            Column("bars", (2 * self.size,), doc="which are on: the rows from above, then the columns"),
            Column(
                "direction", (), "int64", ("rows", "columns"), doc="of which there are more; columns if alike"
            ),
        )

    def summary(self) -> str:
        return f"{self.form} · {self.rows:,} images {self.size}×{self.size}"


class ShiftedDigits(Made):
    """Ten digits as curves of 40 numbers, moved to anywhere: easy for convolutions, hard for dense layers."""

    title = "Shifted 1-D digits"
    aliases = ("mnist-1d", "translation", "signal", "sequence", "toy")
    source = "Greydanus, 2020 (MNIST-1D)"
    loader = "engine.data.sets.synthetic_images:load_shifted_digits"
    fixed_columns = (
        Column("signal", (1, 40), axes=SIGNAL, doc="one channel of 40 numbers"),
        Column("digit", (), "int64", DIGITS, doc="the digit that was meant"),
    )
    shift: int = argument(minimum=1, maximum=60, doc="a digit is moved by less than this, of 72 places")
    stretch: float = argument(
        minimum=0, maximum=1.9, doc="heights differ by up to half of this, to both sides"
    )
    noise: float = argument(minimum=0, maximum=5, doc="deviation of the smooth noise about the digit")
    shear: float = argument(minimum=0, maximum=10, doc="how far a curve may be tilted")
    rows: int = ROWS

    def summary(self) -> str:
        return f"{self.rows:,} signals · 10 classes"


class Copying(Made):
    """Symbols to recall after a delay of blanks: a test of how long a network remembers.

    A network that has forgotten them is right in one of n cases, and its cross-entropy is no less than ln n
    at each symbol that is to be recalled; over all places, where blanks are easy, length · ln n / places.
    """

    title = "Copying memory"
    aliases = ("long lag", "recall", "copy task", "memory", "delay", "sequence", "toy")
    source = "Hochreiter and Schmidhuber, 1997; Arjovsky, Shah and Bengio, 2016"
    loader = "engine.data.sets.copying:load_copying"
    symbols: int = argument(minimum=2, maximum=26, doc="different symbols, each as likely: n")
    length: int = argument(minimum=1, maximum=100, label="To recall", unit="symbols", doc="in their order")
    delay: int = argument(
        minimum=0, maximum=2000, unit="steps", doc="blanks between the last symbol and the marker"
    )
    rows: int = ROWS

    def columns(self) -> tuple[Column, ...]:
        names = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: self.symbols])
        places = (2 * self.length + self.delay,)
        return (
            Column(
                "tokens",
                places,
                "int64",
                (*names, "·", "recall"),
                doc="symbols, blanks, the marker that asks for them, blanks",
            ),
            Column("answer", places, "int64", (*names, "·"), doc="blanks up to the marker, then the symbols"),
            Column("recall", places, "int64", names, doc="the symbols from the marker on; -100 before it"),
        )

    def summary(self) -> str:
        return f"{self.rows:,} rows · {self.length} of {self.symbols} symbols over {self.delay:,} steps"


class ChaoticSeries(Loaded):
    """A series of chaotic equations, predictable for a short time: windows and the value that follows."""

    family = "synthetic data"
    title = "Chaotic series"
    aliases = ("mackey-glass", "lorenz", "henon", "logistic map", "time series", "forecast")
    source = "Lorenz, 1963; May, 1976; Hénon, 1976; Mackey and Glass, 1977"
    loader = "engine.data.sets.chaos:load_chaos"
    form: str = argument(
        choices=("Mackey-Glass", "Lorenz", "Henon", "logistic map"),
        doc="a flow with a delay of 17; the x of a flow in space; two maps that jump",
    )
    lag: int = argument(minimum=1, maximum=400, doc="how many past readings the network sees")
    horizon: int = argument(
        minimum=1, maximum=100, unit="steps", doc="how far ahead the reading to predict is"
    )
    noise: float = argument(
        minimum=0, maximum=2, doc="deviation of the noise on readings, in the series' own"
    )
    standardise: bool = argument(doc="in deviations from the mean, both of the training readings")
    rows: int = argument(minimum=50, maximum=20_000, label="Windows", doc="how many in all")
    validation: float = argument(
        minimum=0,
        maximum=0.4,
        label="Validation fraction",
        doc="windows after those to train on; they decide when to stop",
    )
    test: float = argument(
        minimum=0, maximum=0.4, label="Test fraction", doc="the last windows, only evaluated in the end"
    )
    seed: int = argument(
        minimum=0,
        maximum=2**31 - 1,
        label="Seed",
        doc="another number begins elsewhere and draws other noise",
    )

    def columns(self) -> tuple[Column, ...]:
        return (
            Column("window", (self.lag, 1), axes=SEQUENCE, doc="the last readings, oldest first"),
            Column("next", (1,), doc="the reading that follows"),
        )

    def summary(self) -> str:
        ahead = "" if self.horizon == 1 else f" · {self.horizon} ahead"
        return f"{self.form} · {self.rows:,} windows of {self.lag}{ahead}"


class DigitScenes(Loaded):
    """One or several handwritten digits on an image of 48 × 48, of several sizes, with a box around each.

    The digits are those of MNIST (LeCun, Cortes and Burges; CC BY-SA 3.0), and validation and test have a
    sixth as many scenes, of digits that training does not see.
    """

    family = "synthetic data"
    title = "Scenes of digits"
    aliases = ("object detection", "boxes", "bounding boxes", "several digits", "mnist")
    source = "digits: LeCun, Cortes and Burges, 1998"
    loader = "engine.data.sets.digit_scenes:load_digit_scenes"
    files = Mnist.files
    scenes: int = argument(minimum=50, maximum=50_000, doc="to train on")
    most: int = argument(minimum=1, maximum=6, label="Most digits", doc="in a scene, where they find room")
    smallest: int = argument(minimum=10, maximum=48, unit="px", doc="side of the smallest digit's image")
    largest: int = argument(minimum=10, maximum=48, unit="px", doc="side of the largest digit's image")
    seed: int = argument(minimum=0, maximum=2**31 - 1, label="Seed", doc="another number draws other scenes")

    def columns(self) -> tuple[Column, ...]:
        return (
            Column("image", (1, 48, 48), axes=IMAGE, doc="grey levels in 0..1, ink is 1"),
            Column("count", (1,), doc="how many digits there are"),
            Column(
                "boxes",
                (self.most, 5),
                doc="a row a digit: which it is, then left, top, right and bottom in 0..1; -1 for no digit",
            ),
        )

    def emit(self, e: Emitter) -> Emitted:
        if self.smallest > self.largest:
            raise ParamError(f"Smallest is at most {self.largest}, the largest; not {self.smallest}.")
        return super().emit(e)

    def summary(self) -> str:
        return f"{self.scenes:,} scenes · up to {self.most} digits"


class RandomGraphs(Made):
    """Small graphs: half of them random, half of blocks with more edges inside, for a network to classify."""

    title = "Random graphs"
    aliases = ("erdos-renyi", "stochastic block model", "communities", "gnn", "toy")
    source = "Erdős and Rényi, 1959; blocks: Holland, Laskey and Leinhardt, 1983"
    loader = "engine.data.sets.synthetic_graphs:load_random_graphs"
    blocks: int = argument(minimum=2, maximum=8, doc="into how many blocks the nodes fall")
    inside: float = argument(minimum=0, maximum=1, doc="probability of an edge within a block")
    between: float = argument(minimum=0, maximum=1, doc="probability of an edge between two blocks")
    fewest: int = argument(minimum=3, maximum=200, label="Fewest nodes", doc="of a graph")
    most: int = argument(
        minimum=3, maximum=200, label="Most nodes", doc="of a graph; smaller ones are padded"
    )
    rows: int = argument(minimum=50, maximum=20_000, label="Graphs", doc="how many in all")

    def columns(self) -> tuple[Column, ...]:
        return (
            Column(
                "nodes",
                (self.most, 2),
                axes=OF_NODES,
                doc="of each node 1, and the fraction of others it is joined to",
            ),
            Column("adjacency", (self.most, self.most), doc="1 for a tie, else 0; the same both ways"),
            Column("mask", (self.most,), doc="1 for a node, 0 for padding"),
            Column("label", (), "int64", ("random", "blocks"), doc="how the graph was made"),
            Column("block", (self.most,), "int64", doc="of each node; -100 for padding, 0 in a random graph"),
        )

    def emit(self, e: Emitter) -> Emitted:
        if self.fewest > self.most:
            raise ParamError(f"Fewest nodes is at most {self.most}, the most nodes; not {self.fewest}.")
        return super().emit(e)

    def summary(self) -> str:
        return f"{self.rows:,} graphs · {self.fewest} to {self.most} nodes"


class DigitRows(Made):
    """Handwritten digits side by side as columns of ink from left to right: a number to read."""

    title = "Rows of digits"
    aliases = ("ctc", "handwriting", "ocr", "transcribe", "digits", "toy")
    source = "Alpaydin and Kaynak, 1998, put side by side"
    loader = "engine.data.sets.digit_rows:load_digit_rows"
    fewest: int = argument(minimum=1, maximum=20, label="Fewest digits", doc="of a row")
    most: int = argument(minimum=1, maximum=20, label="Most digits", doc="of a row; shorter ones are padded")
    gap: int = argument(minimum=0, maximum=20, label="Widest gap", doc="empty columns before a digit at most")
    rows: int = ROWS

    def columns(self) -> tuple[Column, ...]:
        wide, names = self.most * (8 + self.gap), ("nothing", *DIGITS)
        return (
            Column("columns", (wide, 8), axes=SEQUENCE, doc="of ink, from left to right", ragged="columns"),
            Column("width", (), "int64", doc="how many columns the row has", lengths_of="columns"),
            Column("labels", (self.most,), "int64", names, doc="1 more than each digit", ragged="labels"),
            Column("count", (), "int64", doc="how many digits the row has", lengths_of="labels"),
        )

    def emit(self, e: Emitter) -> Emitted:
        if self.fewest > self.most:
            raise ParamError(f"Fewest digits is at most {self.most}, the most digits; not {self.fewest}.")
        return super().emit(e)

    def summary(self) -> str:
        return f"{self.rows:,} rows · {self.fewest} to {self.most} digits"
