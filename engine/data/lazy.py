"""Columns that stay in their files until rows of them are asked for. Portable: exports carry this source.

A lazy column answers what batches ask of a tensor: `len`, `shape`, `dtype`, `device` and rows by number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor


class Lazy:
    """Rows of a file as (N, *size) of `dtype`; `picked` are their numbers in the file, all by default.

    A subclass overrides `read`. Rows arrive on `device`, whatever device their numbers are on. Of a `ragged`
    column an example has any number of rows, and `size` is that of one.
    """

    ragged = False

    def __init__(
        self, count: int, size: tuple[int, ...], dtype: torch.dtype, device: str, picked: Tensor | None = None
    ) -> None:
        self.picked = torch.arange(count) if picked is None else picked
        self.dtype = dtype
        self.device = torch.device(device)
        self.shape = torch.Size((len(self.picked), *size))

    def read(self, rows: Tensor) -> Tensor:
        """Rows of the file by number (int64, on the CPU) as (len(rows), *size) of `dtype`, on the CPU."""
        raise NotImplementedError

    def at(self, rows: Tensor) -> Lazy:
        """These rows of the column, as a column."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.picked = self.picked[rows.cpu()]
        other.shape = torch.Size((len(other.picked), *self.shape[1:]))
        return other

    def __len__(self) -> int:
        return len(self.picked)

    def __getitem__(self, rows: Any) -> Tensor:
        """One row by number, or several by a slice or a tensor of numbers."""
        if isinstance(rows, int):
            found = self[torch.tensor([range(len(self))[rows]])]
            return found if self.ragged else found[0]
        asked = self.picked[rows.cpu() if isinstance(rows, Tensor) else rows]
        return self.read(asked).to(self.device)

    def index_select(self, dim: int, rows: Tensor) -> Tensor:
        """Rows by number, as of a tensor; `dim` is 0."""
        return self[rows]

    def dim(self) -> int:
        return len(self.shape)

    def numel(self) -> int:
        return self.shape.numel()

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point


def is_ragged(column: Any) -> bool:
    """Whether an example has any number of rows of a column: no row number of a batch is an example's."""
    return bool(getattr(column, "ragged", False))  # also of the class that a script carries


class Mapped(Lazy):
    """An array (N, *size) that is mapped from its file: what is asked for comes into memory, no more.

    Values become float32 times `factor`, or int64 where `whole`.
    """

    def __init__(
        self, array: np.ndarray[Any, Any], device: str, factor: float = 1.0, whole: bool = False
    ) -> None:
        dtype = torch.int64 if whole else torch.float32
        super().__init__(len(array), tuple(array.shape[1:]), dtype, device)
        self.array, self.factor, self.whole = array, factor, whole

    def read(self, rows: Tensor) -> Tensor:
        found = np.asarray(self.array[rows.numpy()])
        if self.whole:
            return torch.from_numpy(found.astype(np.int64))
        values = torch.from_numpy(found.astype(np.float32))
        return values if self.factor == 1.0 else values * self.factor
