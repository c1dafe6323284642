"""What passes between nodes: the ports where wires end, the columns of data, the value on a wire."""

from __future__ import annotations

from dataclasses import dataclass

from engine.catalogue.axes import Axes, Ragged
from engine.catalogue.symbols import Expr
from engine.catalogue.traits import Squash
from engine.errors import EmitError


@dataclass(frozen=True, slots=True)
class Port:
    """A place on a node where a wire ends.

    With `many`, the port named "x" stands for the ordered family "x1", "x2", ...
    """

    name: str
    label: str = ""
    many: bool = False
    optional: bool = False
    doc: str = ""

    @property
    def title(self) -> str:
        return self.label or self.name


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a data source: shape without the batch, torch dtype name, classes where it has them.

    An example has one row of it, or as many as it has `rows`: "nodes" or "edges". Such columns come after
    those with a row an example. `axes` are the names of its axes, as in `engine.catalogue.axes`. `yes_no`
    says that each of its numbers is 0 or 1: labels that hold or don't. `ends` are the two values that its
    numbers take, such as -1 and 1, where it is known to take no others.
    `ragged` names its first axis where rows differ in length along it, such as "tokens": `shape` has the most
    places that a row has, and shorter rows are filled up at their end. The column that is `lengths_of` such
    an axis says how many places each row has (N,), or is 1 where there is one and 0 behind them (N, T).
    `names` are those of its numbers, where they have some; `scaled` says what was done to them, in a word.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"
    classes: tuple[str, ...] = ()
    doc: str = ""
    rows: str = ""
    axes: Axes = ()
    yes_no: bool = False
    names: tuple[str, ...] = ()
    scaled: str = ""
    ends: tuple[float, float] | None = None
    ragged: str = ""
    lengths_of: str = ""

    @property
    def two_values(self) -> tuple[float, float] | None:
        """The two values that its numbers take, where it is known to take no others."""
        of_classes = self.dtype == "int64" and len(self.classes) == 2
        return (0.0, 1.0) if self.yes_no or of_classes else self.ends


class Wire(Expr):
    """The value on a wire as `emit` sees it: an expression whose shape is known.

    `shape` leaves the batch out: an image wire is `(C, H, W)`, a sequence `(T, features)`. `rows` are "nodes"
    or "edges" where a row is not an example. `squash`, told to losses and metrics only, is the function
    between two ends that its numbers have passed last, `ends` are the only two values that a column takes,
    and `logits` says that a loss takes it for scores and passes them through a sigmoid of its own. Along a
    `ragged` first axis rows differ in length, and `lengths` (N,) int64 are how many places each row has; None
    while only shapes are looked for.
    """

    __slots__ = ("dtype", "ends", "lengths", "logits", "ragged", "rows", "shape", "squash")

    def __init__(
        self,
        expression: Expr,
        shape: tuple[int, ...],
        dtype: str,
        rows: str = "",
        squash: Squash | None = None,
        ends: tuple[float, float] | None = None,
        logits: bool = False,
        ragged: Ragged = (),
        lengths: Expr | None = None,
    ) -> None:
        super().__init__(expression.tree, expression.carries)
        self.shape = shape
        self.dtype = dtype
        self.rows = rows
        self.squash = squash
        self.ends = ends
        self.logits = logits
        self.ragged = ragged
        self.lengths = lengths

    @property
    def channels(self) -> int:
        """Size of the first axis after the batch, `C` of `(C, H, W)`."""
        return self._axis(0)

    @property
    def features(self) -> int:
        """Size of the last axis."""
        return self._axis(-1)

    def _axis(self, index: int) -> int:
        if not self.shape:
            raise EmitError("This node needs features, but its input is one number an example.")
        return self.shape[index]
