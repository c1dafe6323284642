"""Points that the user draws by hand; the pad for it is in the window, the points are in the project."""

from __future__ import annotations

from collections import Counter
from math import isfinite
from textwrap import wrap
from typing import Any, ClassVar

from engine.catalogue import Column, Emitted, Emitter, param
from engine.catalogue.params import Names, Rows
from engine.errors import ParamError
from nodes.data.splitting import BOOTSTRAP, BY_CLASS, FOLDS, RANDOM, SplitData

CLASSES, VALUES = "classes", "values"
FEWEST_CLASSES, MOST_CLASSES = 2, 10
MOST_POINTS = 20_000
_A_LINE = 92  # columns that the points on a line of an exported script take


def class_names(count: int, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of `count` classes: those given, each once, and "class 3" for those that are not."""
    found: list[str] = []
    for index in range(count):
        given = names[index] if index < len(names) else ""
        found.append(given if given and given not in found else f"class {index + 1}")
    return tuple(found)


class DrawnPoints(SplitData):
    """Points that you draw with the mouse or paste: of up to ten classes, or values y over x.

    They are kept in the project, and come exactly as drawn: nothing is scaled.
    """

    title = "Drawn points"
    aliases = ("draw", "paint", "by hand", "own points", "paste", "playground", "2d")
    source = "drawn by hand"
    editor: ClassVar[str] = "Draw points"
    points: Rows = param((), hidden=True, doc="x, y and the number of the class, from 0, of each point")
    task: str = param(
        CLASSES,
        choices=(CLASSES, VALUES),
        label="Draw",
        doc="classes: which class a point of the plane is of; values: y, to be predicted from x",
    )
    classes: int = param(
        2, minimum=FEWEST_CLASSES, maximum=MOST_CLASSES, doc="how many classes there are to draw"
    )
    names: Names = param((), label="Class names", doc="in order, with commas between them")
    x_from: float = param(-1.0, label="Left edge", doc="where the pad begins; points are never rescaled")
    x_to: float = param(1.0, label="Right edge", doc="where the pad ends")
    y_from: float = param(-1.0, label="Lower edge", doc="where the pad begins")
    y_to: float = param(1.0, label="Upper edge", doc="where the pad ends")
    spare: int = param(
        20,
        minimum=0,
        maximum=1000,
        label="Hold back from",
        doc="with fewer points than this, all of them are in each split: of so few none can be spared",
    )
    split: str = param(
        BY_CLASS,
        choices=(BY_CLASS, RANDOM, FOLDS, BOOTSTRAP),
        doc="by class: every class alike in each split, and a point stays where it is while others are "
        "added; random: split again; folds: one of several equal parts for validation; "
        "bootstrap: drawn with replacement",
    )
    gap: int = param(0, minimum=0, maximum=1_000_000, hidden=True, doc="of no use here")

    @property
    def draws_values(self) -> bool:
        """Whether the points are values over x, without classes."""
        return self.task == VALUES

    @property
    def classes_called(self) -> tuple[str, ...]:
        """The names of the classes."""
        return class_names(self.classes, self.names)

    def columns(self) -> tuple[Column, ...]:
        if self.draws_values:
            return Column("x", (1,), doc="from left to right"), Column("y", (1,), doc="from bottom to top")
        return (
            Column("point", (2,), doc="x and y"),
            Column("label", (), "int64", self.classes_called, doc="which class, for cross-entropy"),
            Column("side", (1,), doc="as a number: -1 for the first class, else 1", ends=(-1.0, 1.0)),
        )

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.sets.drawn import load_drawn, split_as_drawn

        splitting: dict[str, Any] = self.splitting(classes=not self.draws_values)
        if self.split == BY_CLASS:
            splitting["splitter"] = split_as_drawn
        written = [_written(number, point, self) for number, point in enumerate(self.points, start=1)]
        whole = ", ".join(point.replace(" ", "_") for point in written)  # a point is not broken
        lines = tuple(line.rstrip(",").replace("_", " ") for line in wrap(whole, _A_LINE))
        return e.load(load_drawn, points=lines, values=self.draws_values, spare=self.spare, **splitting)

    def summary(self) -> str:
        count = len(self.points)
        if not count:
            return "no points yet · double-click to draw"
        found = f"{count:,} point{'' if count == 1 else 's'}"
        if not self.draws_values:
            kinds = len(Counter(point[2] for point in self.points if len(point) > 2))
            found += f" · {kinds} class{'' if kinds == 1 else 'es'}"
        return f"{found} · all in each split" if count < self.spare else found


def _written(number: int, point: tuple[Any, ...], node: DrawnPoints) -> str:
    """A point as a script has it. Errors: `ParamError` for what is no point of this node."""
    if not _is_point(point):
        raise ParamError(
            f"Point {number:,} is not x, y and the number of a class: erase it, or draw it again."
        )
    if point[2] >= node.classes and not node.draws_values:
        beyond = sum(1 for one in node.points if _is_point(one) and float(str(one[2])) >= node.classes)
        raise ParamError(
            f"{beyond:,} point{' is' if beyond == 1 else 's are'} of classes beyond the {node.classes} there "
            "are: raise the number of classes, or erase them."
        )
    return f"{point[0]!r} {point[1]!r} {int(point[2])}"


def _is_point(point: tuple[Any, ...]) -> bool:
    """Whether it is x, y and the number of a class."""
    numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in point)
    return (
        len(point) == 3
        and numbers
        and all(isfinite(one) for one in point)
        and point[2] == int(point[2])
        and point[2] >= 0
    )
