"""Numbers typed as they stand in the data: cells by name, classes to choose from, dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.look.playground.inputs import Input, NumberField, mark_bad, signed, sloped
from app.look.playground.rows import Row, Rows
from app.widgets.fields import NumberEdit, QuietCombo
from app.workspace.own_units import undone
from engine.catalogue import Column
from engine.data.tables.row_cells import DATE, WHOLE, Cell, date_days, date_text

if TYPE_CHECKING:
    from engine.look.own_units import OwnUnits

UNKNOWN = "–"
SLOPES_FROM = 250  # pixels of width that leave room for them


@dataclass(frozen=True)
class Part:
    """The cells of one column of the data: `column` is what the run calls what was made of it."""

    column: str
    own: Column
    cells: tuple[Cell, ...]
    units: OwnUnits | None = None


class DateField(NumberEdit):
    """A date as the file writes it; Up and Down change it by a day."""

    typed = Signal()

    def __init__(self, name: str, form: str) -> None:
        super().__init__()
        self.value, self._form = 0.0, form
        self.setAccessibleName(name)
        self.setMinimumWidth(56)
        self.textEdited.connect(self._read)
        self.stepped.connect(self._by)

    def set_range(self, low: float, high: float) -> None:
        """What the data span."""
        self.setToolTip(f"in the data {date_text(low, self._form)} to {date_text(high, self._form)}")

    def set_value(self, value: float) -> None:
        """Show another date, in days since 1970."""
        self.value = value
        self.setText(date_text(value, self._form) if isfinite(value) else "")
        mark_bad(self, False)

    def _read(self, text: str) -> None:
        found = date_days(text.strip(), self._form)
        mark_bad(self, found is None)
        if found is not None and found != self.value:
            self.value = found
            self.typed.emit()

    def _by(self, steps: int) -> None:
        self.set_value(self.value + steps)
        self.typed.emit()


class ClassField(QuietCombo):
    """One of a few classes."""

    typed = Signal()

    def __init__(self, name: str, classes: Sequence[str]) -> None:
        super().__init__()
        self._classes = tuple(classes)
        self.addItems(list(classes))
        self.setAccessibleName(name)
        self.activated.connect(self._chosen)

    @property
    def value(self) -> float:
        """The number of the class, NaN for none."""
        index = self.currentIndex()
        return float(index) if 0 <= index < len(self._classes) else nan

    def set_range(self, low: float, high: float) -> None:
        """Nothing spans classes."""

    def set_value(self, value: float) -> None:
        """Choose a class by number; NaN for none of them."""
        if not isfinite(value) and self.count() == len(self._classes):
            self.addItem(UNKNOWN)
        self.setCurrentIndex(int(value) if isfinite(value) else len(self._classes))

    def _chosen(self, index: int) -> None:
        self.typed.emit()


Field = NumberField | DateField | ClassField


class CellsInput(Input):
    """One field a cell, in the units of the file; beside it how fast the answer changes with it."""

    def __init__(self, parts: Sequence[Part], *, ready: bool = True, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts, self._ready = tuple(parts), ready
        self._raw: dict[str, NDArray[np.float64]] = {}
        self._cells = [(part, cell) for part in self._parts for cell in part.cells]
        self.fields = [_field(cell) for _, cell in self._cells]
        for field in self.fields:
            field.setEnabled(ready)
            field.typed.connect(self.changed)
        named = [(cell.name, field) for (_, cell), field in zip(self._cells, self.fields, strict=True)]
        scroll, self.slopes = sloped(named, "Slope: how much the answer grows with one more of this")
        self.column.addWidget(scroll, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for slope in self.slopes:  # names and cells first
            slope.setVisible(self.width() >= SLOPES_FROM)

    def take_rows(self, rows: Rows) -> None:
        super().take_rows(rows)
        for (part, cell), field in zip(self._cells, self.fields, strict=True):
            if cell.chosen:
                continue
            if part.units is None:
                low, high = rows.span(part.column)
            else:
                known = part.units.rows.double().numpy()
                low, high = np.nanmin(known, axis=0), np.nanmax(known, axis=0)
            low, high = low.reshape(-1)[cell.first], high.reshape(-1)[cell.first]
            field.set_range(float(low), float(high))

    def begin(self, row: Row) -> None:
        if not self._ready:
            return
        for part in self._parts:
            made = np.asarray(row[part.column], np.float64)
            self._raw[part.column] = made if part.units is None else undone(part.units, made[None])[0]
        for (part, cell), field in zip(self._cells, self.fields, strict=True):
            field.set_value(
                cell.read(self._raw[part.column].reshape(-1)[cell.first : cell.first + cell.count])
            )

    def make(self, base: Row) -> Row | None:
        if not self._ready or not self._raw:
            return None
        made = dict(base)
        for part in self._parts:
            raw = self._raw[part.column]
            typed = raw.copy()
            flat = typed.reshape(-1)
            for (owner, cell), field in zip(self._cells, self.fields, strict=True):
                place = flat[cell.first : cell.first + cell.count]
                if owner is part and isfinite(field.value) and field.value != cell.read(place):
                    cell.write(field.value, place)
            made[part.column] = self._changed(part, typed, base[part.column])
        return made

    def said(self) -> str:
        if not self._ready:
            return "the data are being read"
        scaled = any(part.units is not None for part in self._parts)
        return "numbers as in the data; they are scaled for the network" if scaled else ""

    def show_slopes(self, slopes: NDArray[np.floating] | None, column: str = "", factor: float = 1.0) -> None:
        """Write beside each field how fast the answer changes with it, in own units.

        `slopes` (k,) are those of the network's input `column`; the answer's own units are `factor` as many.
        """
        part = next((one for one in self._parts if one.column == column), None)
        own = None if slopes is None or part is None else self._own_slopes(part, np.asarray(slopes))
        for (owner, cell), place in zip(self._cells, self.slopes, strict=True):
            known = own is not None and owner is part and not cell.chosen and cell.count == 1
            place.setText(signed(factor * float(own[cell.first])) if known and own is not None else "")

    def _own_slopes(self, part: Part, slopes: NDArray[np.floating]) -> NDArray[np.float64] | None:
        """The gradient by the column's own numbers, through what scales them."""
        if part.units is None:
            return slopes.astype(np.float64).reshape(-1)
        if part.column not in self._raw:
            return None
        import torch

        here = torch.from_numpy(self._raw[part.column])[None].requires_grad_(True)
        made = part.units.change(here)
        if not made.requires_grad or made.numel() != slopes.size:
            return None
        total = (made * torch.from_numpy(slopes.copy()).reshape(made.shape)).sum()
        (found,) = torch.autograd.grad(total, here)
        own: NDArray[np.float64] = found.numpy().reshape(-1)
        return own

    def _changed(
        self, part: Part, typed: NDArray[np.float64], base: NDArray[np.generic]
    ) -> NDArray[np.generic]:
        if np.array_equal(typed, self._raw[part.column], equal_nan=True) and self._begun_with(part, base):
            return base
        if part.units is None:
            return typed.astype(base.dtype).reshape(base.shape)
        import torch

        rows = torch.from_numpy(typed.astype(np.float32))[None]
        found: NDArray[np.generic] = part.units.change(rows)[0].numpy().astype(base.dtype)
        return found

    def _begun_with(self, part: Part, base: NDArray[np.generic]) -> bool:
        """Whether the fields began with this very row, so that it need not be made again."""
        made = np.asarray(base, np.float64)
        again = made if part.units is None else undone(part.units, made[None])[0]
        return np.array_equal(again, self._raw[part.column], equal_nan=True)


def _field(cell: Cell) -> Field:
    if cell.chosen:
        return ClassField(cell.name, cell.details)
    if cell.kind == DATE:
        return DateField(cell.name, cell.details[0] if cell.details else "")
    return NumberField(cell.name, digits=6, whole=cell.kind == WHOLE)
