"""Synthetic data: logic gates, points, lines, curves, patterns. Small enough to follow by hand."""

from __future__ import annotations

from dataclasses import replace

from engine.catalogue import Column
from nodes.data.loaded import Loaded, argument
from nodes.data.sets import Shuffled

CURVES = (
    "sine",
    "two waves",
    "bump",
    "three bumps",
    "sinc",
    "cubic",
    "quintic",
    "hinges",
    "step",
    "staircase",
)
SIGNS = (-1.0, 1.0)
UNITS = {"2-D": 2, "3-D": 3, "digits": 64}


class LogicGates(Loaded):
    """The four rows of AND, OR and XOR; train, validation and test all hold the same four.

    Nothing is held back, as the four rows are all that there is to a gate.
    """

    family = "synthetic data"
    title = "Logic gates"
    aliases = ("and", "or", "xor", "boolean", "truth table")
    source = "McCulloch and Pitts, 1943; XOR: Minsky and Papert, 1969"
    loader = "engine.data.sets.points:load_gates"
    fixed_columns = (
        Column("inputs", (2,), doc="the two inputs"),
        Column("both", (1,), doc="AND: whether both are on"),
        Column("either", (1,), doc="OR: whether one of them is on, or both"),
        Column("differ", (1,), doc="XOR: whether one is on and the other is not"),
    )
    fixed_summary = "AND, OR, XOR · 4 rows"
    signs: bool = argument(label="As -1 and 1", doc="otherwise as 0 and 1")

    def columns(self) -> tuple[Column, ...]:
        ends = SIGNS if self.signs else (0.0, 1.0)
        return tuple(replace(column, ends=ends) for column in super().columns())


class WorkedExample(Loaded):
    """Three rows of two features and a target, small enough to follow by hand; all splits hold the same rows.

    One step of backpropagation with them can be followed on paper.
    """

    family = "synthetic data"
    title = "Three points"
    aliases = ("worked example", "by hand", "delta rule")
    source = "made up, to be worked by hand"
    loader = "engine.data.sets.points:load_worked_example"
    fixed_columns = (
        Column("inputs", (2,), doc="x2 and x3; the bias belongs to the layer"),
        Column("target", (1,), doc="-1, 1, 1", ends=SIGNS),
    )
    fixed_summary = "3 rows"


class Made(Shuffled, abstract=True):
    """Base of the sets that a formula draws."""

    family = "synthetic data"
    seed: int = argument(
        minimum=0,
        maximum=2**31 - 1,
        label="Seed",
        doc="another number draws other rows and splits them differently",
    )


class Points(Made):
    """Two classes of points in the plane: apart, overlapping, in corners, rings, moons or spirals."""

    title = "Points in the plane"
    aliases = ("2d", "moons", "circles", "spirals", "blobs", "xor", "toy")
    source = "formulas; the spirals after Lang and Witbrock, 1988"
    loader = "engine.data.sets.points:load_points"
    fixed_columns = (
        Column("point", (2,), doc="x and y"),
        Column("label", (), "int64", ("first", "second"), doc="which class, for cross-entropy"),
        Column("side", (1,), doc="the same as a number: -1 for the first, 1 for the second", ends=SIGNS),
    )
    form: str = argument(
        choices=("two halves", "blobs", "overlapping", "XOR", "circles", "disc in ring", "moons", "spirals"),
        doc="two halves leave a gap, so that a straight line divides them for sure",
    )
    rows: int = argument(minimum=100, maximum=100_000, label="Points", doc="how many points in all")
    noise: float = argument(minimum=0, maximum=2, doc="deviation of what is added to each point")
    margin: float = argument(
        minimum=0,
        maximum=1,
        doc="two halves: width of the gap between them; disc in ring: how far they are apart without noise",
    )
    spread: float = argument(
        above=0, maximum=3, doc="blobs: deviation of a class about its centre; overlapping: half of it"
    )
    turns: float = argument(minimum=0.25, maximum=5, doc="spirals: how often each arm turns")

    def summary(self) -> str:
        return f"{self.form} · {self.rows:,} points"


class Line(Made):
    """Points along a line with noise around it: the simplest thing to fit."""

    title = "Noisy line"
    aliases = ("linear regression", "toy", "1d")
    source = "a formula: slope · x + intercept + noise"
    loader = "engine.data.sets.curves:load_line"
    fixed_columns = (Column("x", (1,), doc="evenly in -1..1"), Column("y", (1,), doc="the line plus noise"))
    slope: float = argument(minimum=-100, maximum=100, doc="how steep the line is")
    intercept: float = argument(minimum=-100, maximum=100, doc="its value at x = 0")
    noise: float = argument(minimum=0, maximum=100, doc="deviation around the line")
    rows: int = argument(minimum=20, maximum=100_000, label="Points", doc="how many points in all")

    def summary(self) -> str:
        return f"{self.slope:g}x + {self.intercept:g} · {self.rows:,} points"


class Curve(Made):
    """Points along a curve, from no noise to noise alone: a test bed for optimisers."""

    title = "Noisy curve"
    aliases = ("regression", "sine", "function", "toy", "1d")
    source = "formulas; bump: Runge, 1901"
    loader = "engine.data.sets.curves:load_curve"
    first = ("form", "rows")
    fixed_columns = (
        Column("x", (1,), doc="in -1..1"),
        Column("y", (1,), doc="the curve and the noise"),
        Column("clean", (1,), doc="the part of it that the curve is"),
        Column("deviation", (1,), doc="the deviation of the noise at this x"),
    )
    form: str = argument(choices=CURVES, doc="which curve is to be found")
    noise: float = argument(
        minimum=0, maximum=1, label="Noise", doc="as a fraction: 0 is the curve alone, 1 is noise alone"
    )
    noise_as: str = argument(
        choices=("share", "deviation"),
        label="Noise is a",
        doc="share: part of the whole, the curve scaled to deviation 1; deviation: of what is added to it",
    )
    spread: str = argument(
        choices=("even", "growing", "in the middle", "at the ends"),
        label="Noise lies",
        doc="even: alike everywhere; else it depends on x, and its deviation is a column",
    )
    placing: str = argument(choices=("evenly", "at random"), label="x lies", doc="how x is placed in -1..1")
    gap_from: float = argument(
        minimum=-1, maximum=1, label="Gap from", doc="nothing is known from here on ..."
    )
    gap_to: float = argument(
        minimum=-1, maximum=1, label="Gap to", doc="... to here; no gap where it is no more"
    )
    rows: int = argument(minimum=20, maximum=100_000, label="Points", doc="how many points in all")

    def summary(self) -> str:
        noise = f"{100 * self.noise:g} % noise" if self.noise_as == "share" else f"noise {self.noise:g}"
        lies = "" if self.spread == "even" else f" {self.spread}"
        gap = f" · gap {self.gap_from:g} to {self.gap_to:g}" if self.gap_from < self.gap_to else ""
        return f"{self.form} · {noise}{lies}{gap}"


class Patterns(Loaded):
    """Patterns of -1 and 1 for a memory to store; to validate and test, disturbed ones for it to restore."""

    family = "synthetic data"
    aliases = ("hopfield", "memory", "associative")
    source = "corners: Hopfield, 1982; digits: Alpaydin and Kaynak, UCI Machine Learning Repository, 1998"
    loader = "engine.data.sets.patterns:load_patterns"
    form: str = argument(
        choices=tuple(UNITS),
        doc="three corners of a square, three of a cube, or ten digits of 8 × 8",
    )
    noise: float = argument(minimum=0, maximum=4, doc="deviation of what disturbs each number")
    copies: int = argument(minimum=1, maximum=1000, doc="disturbed starts for each pattern")
    seed: int = argument(
        minimum=0, maximum=2**31 - 1, label="Noise seed", doc="another number disturbs differently"
    )

    def columns(self) -> tuple[Column, ...]:
        units = (UNITS[self.form],)
        return (
            Column("start", units, doc="the pattern, disturbed unless it is to be stored"),
            Column("stored", units, doc="the pattern as it was stored"),
        )

    def summary(self) -> str:
        return f"{self.form} · noise {self.noise:g}"
