"""Data that a formula makes: logic gates, points, lines, curves, patterns. Small enough to follow by hand."""

from __future__ import annotations

from typing import Any, ClassVar

from engine.catalogue import Column, Data, Emitted, Emitter, param
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
UNITS = {"2-D": 2, "3-D": 3, "digits": 64}


class LogicGates(Data):
    """The four rows of AND, OR and XOR; train, validation and test all hold the same four.

    There is nothing to hold back: whoever knows four rows knows a gate.
    """

    family = "made data"
    title = "Logic gates"
    aliases: ClassVar[tuple[str, ...]] = ("and", "or", "xor", "boolean", "truth table")
    source = "McCulloch and Pitts, 1943; XOR: Minsky and Papert, 1969"
    signs: bool = param(True, label="As -1 and 1", doc="otherwise as 0 and 1")

    def columns(self) -> tuple[Column, ...]:
        return (
            Column("inputs", (2,), doc="the two inputs"),
            Column("both", (1,), doc="AND: whether both are on"),
            Column("either", (1,), doc="OR: whether one of them is on, or both"),
            Column("differ", (1,), doc="XOR: whether one is on and the other is not"),
        )

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.sets.points import load_gates

        return e.load(load_gates, signs=self.signs)

    def summary(self) -> str:
        return "AND, OR, XOR · 4 rows"


class WorkedExample(Data):
    """Three rows of two features and a target, small enough to follow by hand; all splits hold the same rows.

    One step of backpropagation with them can be followed on paper.
    """

    family = "made data"
    title = "Three points"
    aliases: ClassVar[tuple[str, ...]] = ("worked example", "by hand", "delta rule")
    source = "made up, to be worked by hand"

    def columns(self) -> tuple[Column, ...]:
        return (
            Column("inputs", (2,), doc="x2 and x3; the bias is the layer's own"),
            Column("target", (1,), doc="-1, 1, 1"),
        )

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.sets.points import load_worked_example

        return e.load(load_worked_example)

    def summary(self) -> str:
        return "3 rows"


class Made(Shuffled, abstract=True):
    """What the sets that a formula draws share."""

    family = "made data"
    seed: int = param(
        0,
        minimum=0,
        maximum=2**31 - 1,
        label="Seed",
        doc="another number draws other rows, dealt differently",
    )


class Points(Made):
    """Two classes of points in the plane: apart, overlapping, in corners, rings, moons or spirals."""

    title = "Points in the plane"
    aliases: ClassVar[tuple[str, ...]] = ("2d", "moons", "circles", "spirals", "blobs", "xor", "toy")
    source = "made by formulas; the spirals after Lang and Witbrock, 1988"
    form: str = param(
        "moons",
        choices=("two halves", "blobs", "overlapping", "XOR", "circles", "disc in ring", "moons", "spirals"),
        doc="two halves leave a gap, so that a straight line divides them for sure",
    )
    rows: int = param(400, minimum=100, maximum=100_000, label="Points", doc="how many points in all")
    noise: float = param(0.1, minimum=0, maximum=2, doc="deviation of what is added to each point")
    margin: float = param(
        0.2,
        minimum=0,
        maximum=1,
        doc="two halves: how wide the gap between them is; disc in ring: how far they are apart",
    )
    spread: float = param(
        0.35, above=0, maximum=3, doc="blobs: deviation of a class about its centre; overlapping: half of it"
    )
    turns: float = param(1.5, minimum=0.25, maximum=5, doc="spirals: how often each arm turns")

    def columns(self) -> tuple[Column, ...]:
        return (
            Column("point", (2,), doc="x and y"),
            Column("label", (), "int64", ("first", "second"), doc="which class, for cross-entropy"),
            Column("side", (1,), doc="the same as a number: -1 for the first, 1 for the second"),
        )

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.sets.points import load_points

        return e.load(
            load_points, form=self.form, rows=self.rows, noise=self.noise, **self._form(), **self._splits()
        )

    def _form(self) -> dict[str, Any]:
        return {"margin": self.margin, "spread": self.spread, "turns": self.turns}

    def summary(self) -> str:
        return f"{self.form} · {self.rows:,} points"


class Line(Made):
    """Points along a line with noise around it: the simplest thing to fit."""

    title = "Noisy line"
    aliases: ClassVar[tuple[str, ...]] = ("linear regression", "toy", "1d")
    source = "a formula: slope · x + intercept + noise"
    slope: float = param(2.0, minimum=-100, maximum=100, doc="how steep the line is")
    intercept: float = param(1.0, minimum=-100, maximum=100, doc="its value at x = 0")
    noise: float = param(0.3, minimum=0, maximum=100, doc="deviation around the line")
    rows: int = param(100, minimum=20, maximum=100_000, label="Points", doc="how many points in all")

    def columns(self) -> tuple[Column, ...]:
        return Column("x", (1,), doc="evenly in -1..1"), Column("y", (1,), doc="the line plus noise")

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.sets.curves import load_line

        values: dict[str, Any] = {"slope": self.slope, "intercept": self.intercept}
        return e.load(load_line, **values, noise=self.noise, rows=self.rows, **self._splits())

    def summary(self) -> str:
        return f"{self.slope:g}x + {self.intercept:g} · {self.rows:,} points"


class Curve(Made):
    """Points along a curve, with any share of noise up to noise alone: a test bed for optimisers."""

    title = "Noisy curve"
    aliases: ClassVar[tuple[str, ...]] = ("regression", "sine", "function", "toy", "1d")
    source = "formulas; bump: Runge, 1901"
    form: str = param("sine", choices=CURVES, doc="which curve is to be found")
    noise: float = param(
        0.25, minimum=0, maximum=1, label="Noise", doc="as a share: 0 is the curve alone, 1 is noise alone"
    )
    noise_as: str = param(
        "share",
        choices=("share", "deviation"),
        label="Noise is a",
        doc="share: of noise in all, the curve scaled to deviation 1; deviation: of what is added to it",
    )
    spread: str = param(
        "even",
        choices=("even", "growing", "in the middle", "at the ends"),
        label="Noise lies",
        doc="even: alike everywhere; else it depends on x, and its deviation is a column",
    )
    placing: str = param(
        "evenly", choices=("evenly", "at random"), label="x lies", doc="how x is placed in -1..1"
    )
    gap_from: float = param(
        0.0, minimum=-1, maximum=1, label="Gap from", doc="nothing is known from here on ..."
    )
    gap_to: float = param(
        0.0, minimum=-1, maximum=1, label="Gap to", doc="... to here; no gap where it is no more"
    )
    rows: int = param(300, minimum=20, maximum=100_000, label="Points", doc="how many points in all")

    def columns(self) -> tuple[Column, ...]:
        return (
            Column("x", (1,), doc="in -1..1"),
            Column("y", (1,), doc="the curve and the noise"),
            Column("clean", (1,), doc="the part of it that the curve is"),
            Column("deviation", (1,), doc="the deviation of the noise at this x"),
        )

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.sets.curves import load_curve

        values: dict[str, Any] = {"noise": self.noise, "noise_as": self.noise_as, "spread": self.spread}
        values |= {"placing": self.placing, "gap_from": self.gap_from, "gap_to": self.gap_to}
        return e.load(load_curve, form=self.form, rows=self.rows, **values, **self._splits())

    def summary(self) -> str:
        noise = f"{100 * self.noise:g} % noise" if self.noise_as == "share" else f"noise {self.noise:g}"
        lies = "" if self.spread == "even" else f" {self.spread}"
        gap = f" · gap {self.gap_from:g} to {self.gap_to:g}" if self.gap_from < self.gap_to else ""
        return f"{self.form} · {noise}{lies}{gap}"


class Patterns(Data):
    """Patterns of -1 and 1 for a memory to store; to validate and test, disturbed ones for it to mend."""

    family = "made data"
    aliases: ClassVar[tuple[str, ...]] = ("hopfield", "memory", "associative")
    source = "corners: Hopfield, 1982; digits: Alpaydin and Kaynak, UCI Machine Learning Repository, 1998"
    form: str = param(
        "2-D",
        choices=tuple(UNITS),
        doc="three corners of a square, three of a cube, or ten digits of 8 × 8",
    )
    noise: float = param(0.3, minimum=0, maximum=4, doc="deviation of what disturbs each number")
    copies: int = param(20, minimum=1, maximum=1000, doc="disturbed starts for each pattern")
    seed: int = param(
        0, minimum=0, maximum=2**31 - 1, label="Noise seed", doc="another number disturbs differently"
    )

    def columns(self) -> tuple[Column, ...]:
        units = (UNITS[self.form],)
        return (
            Column("start", units, doc="the pattern, disturbed unless it is to be stored"),
            Column("stored", units, doc="the pattern as it was stored"),
        )

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.sets.patterns import load_patterns

        return e.load(load_patterns, form=self.form, noise=self.noise, copies=self.copies, seed=self.seed)

    def summary(self) -> str:
        return f"{self.form} · noise {self.noise:g}"
