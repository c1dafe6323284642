"""Points as text: what the user pastes from a spreadsheet or types, and what is copied out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

from engine.errors import DataError

Point = tuple[float, float, int]
MOST_NAMES = 10
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_MINUS = str.maketrans({"\N{MINUS SIGN}": "-", "\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " "})


@dataclass(frozen=True)
class Pasted:
    """Points as they were read, the names of all classes after it, and what the user should know of it."""

    points: tuple[Point, ...]
    names: tuple[str, ...]
    remarks: tuple[str, ...]


def read_points(
    text: str,
    names: Sequence[str],
    current: int = 0,
    *,
    free: Sequence[int] = (),
    values: bool = False,
) -> Pasted:
    """Points of lines "x y class", with tabs, semicolons, commas or spaces between them.

    Decimals have a point, or a comma where commas do not separate. A class is a name of `names`, a new name
    (which goes to the classes in `free` first), or a number: counted from 1, or from 0 where there is a 0.
    Without one, a point is of class `current`; with `values` there are no classes.
    Errors: `DataError` with the first line that is not a point.
    """
    lines = [(number, line.translate(_MINUS)) for number, line in enumerate(text.splitlines(), start=1)]
    lines = [(number, line) for number, line in lines if line.strip()]
    if not lines:
        raise DataError('There is no text to paste: copy lines such as "0.5 -1.2 1" first.')
    split = _splitter([line for _, line in lines])
    rows = [(number, line, split(line)) for number, line in lines]
    remarks: list[str] = []
    if len(rows) > 1 and not any(_number(cell) is not None for cell in rows[0][2]):
        remarks.append("The first line holds names and was left out.")
        rows = rows[1:]
    bad = [(number, line) for number, line, cells in rows if not _is_point(cells, values)]
    if bad:
        raise DataError(_complaint(bad, values))
    kept = list(names)
    if values:
        if any(len(cells) == 3 for _, _, cells in rows):
            remarks.append("The third column was left out: values have no class.")
        kinds = [0] * len(rows)
    else:
        cells_of_class = [cells[2] if len(cells) == 3 else None for _, _, cells in rows]
        kinds, said = _classes(cells_of_class, kept, current, list(free))
        remarks += said
    points = [
        (_sure(cells[0]), _sure(cells[1]), kind) for (_, _, cells), kind in zip(rows, kinds, strict=True)
    ]
    return Pasted(tuple(points), tuple(kept), tuple(remarks))


def written_points(points: Iterable[Sequence[object]], names: Sequence[str], *, values: bool = False) -> str:
    """Points as lines of x, y and the name of the class, with tabs: a spreadsheet takes them as cells."""
    lines = []
    for x, y, kind in points:
        name = "" if values else names[kind] if isinstance(kind, int) and kind < len(names) else str(kind)
        lines.append(f"{x!r}\t{y!r}" if values else f"{x!r}\t{y!r}\t{name}")
    return "\n".join(lines)


def _splitter(lines: Sequence[str]) -> _Splitter:
    """How a line is divided into cells: the same way for all lines."""
    for sign in ("\t", ";"):
        if any(sign in line for line in lines):
            return _Splitter(sign)
    # "0,5 1,2 a" has decimal commas; "0.5, 1.2, a" and "0.5,1.2,a" have commas between the cells.
    spaced = [line.split() for line in lines]
    if any(len(cells) > 1 and not any(cell.endswith(",") for cell in cells) for cells in spaced):
        return _Splitter(None)
    return _Splitter("," if any("," in line for line in lines) else None)


@dataclass(frozen=True)
class _Splitter:
    sign: str | None

    def __call__(self, line: str) -> list[str]:
        cells = line.split(None, 2) if self.sign is None else line.split(self.sign)
        cells = [cell.strip().strip('"').strip() for cell in cells]
        while len(cells) > 2 and not cells[-1]:  # cells that a spreadsheet copies along
            cells.pop()
        return cells


def _number(cell: str) -> float | None:
    if not _NUMBER.fullmatch(cell):
        return None
    found = float(cell.replace(",", "."))
    return found if isfinite(found) else None


def _sure(cell: str) -> float:
    found = _number(cell)
    assert found is not None
    return found


def _is_point(cells: Sequence[str], values: bool) -> bool:
    return len(cells) in (2, 3) and all(_number(cell) is not None for cell in cells[:2])


def _complaint(bad: Sequence[tuple[int, str]], values: bool) -> str:
    number, line = bad[0]
    shown = line.strip() if len(line.strip()) <= 40 else line.strip()[:37] + "..."
    wanted = "x and y" if values else "x, y and a class"
    others = len(bad) - 1
    more = (
        f" There {'is 1 more line' if others == 1 else f'are {others:,} more lines'} like it."
        if others
        else ""
    )
    return f"Line {number:,}, “{shown}”, is not {wanted}; nothing was pasted.{more}"


def _classes(
    cells: Sequence[str | None], names: list[str], current: int, free: list[int]
) -> tuple[list[int], list[str]]:
    """The class of each cell; new names are added to `names`. Errors: `DataError` for too many classes."""
    written = list(dict.fromkeys(cell for cell in cells if cell))
    known = {name.casefold(): index for index, name in enumerate(names) if index not in free}
    found: dict[str | None, int] = {None: current, "": current}
    remarks: list[str] = []
    numbers = {cell: number for cell in written if (number := _number(cell)) is not None}
    usual = {name.casefold(): index for index, name in enumerate(names)}
    if written and all(cell.casefold() in usual for cell in written):
        known = usual
        found |= {cell: known[cell.casefold()] for cell in written}
    elif written and len(numbers) == len(written) and all(one == int(one) for one in numbers.values()):
        first = int(min(numbers.values()))
        if set(numbers.values()) <= {-1.0, 1.0} and first == -1:
            found |= {cell: int(number > 0) for cell, number in numbers.items()}
            remarks.append(f"-1 became {names[0]}, 1 became {names[1]}.")
        elif first < 0:
            raise DataError(f"{first} is no class: classes are counted from 1, or from 0.")
        else:
            start = 0 if first == 0 else 1
            found |= {cell: int(number) - start for cell, number in numbers.items()}
            if not start:
                remarks.append(f"The classes were counted from 0: 0 became {names[0]}.")
    else:
        for cell in written:
            if cell.casefold() not in known:
                index = free.pop(0) if free else len(names)
                names[index : index + 1] = [cell]
                known[cell.casefold()] = index
            found[cell] = known[cell.casefold()]
    highest = max((found[cell] for cell in cells), default=0)
    if highest >= MOST_NAMES:
        raise DataError(
            f"That makes {highest + 1:,} classes, and there may be {MOST_NAMES}; nothing was pasted."
        )
    while len(names) <= highest:
        names.append(f"class {len(names) + 1}")
    return [found[cell] for cell in cells], remarks
