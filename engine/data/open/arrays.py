"""Looking into NumPy files: which arrays there are, which belong together, and what they may mean."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from engine.data.array_reading import npy_header, npz_member
from engine.data.open.array_columns import INPUTS, TARGETS, Found, opened, parted, sizes_of, words_of
from engine.data.open.opening import Opened
from engine.data.watch import Watch
from engine.errors import DataError, reason_of

MOST_ARRAYS = 1000


def open_it(path: Path, watch: Watch) -> Opened:
    """An `.npy` or `.npz` file as an array node. Errors: `DataError`."""
    remarks: list[str] = []
    packed = zipfile.is_zipfile(path)  # whatever its name ends with
    if packed and path.suffix.casefold() != ".npz":
        raise DataError(f'"{path.name}" is a .npz archive by its content: give it that name.')
    if not packed and path.suffix.casefold() == ".npz":
        raise DataError(
            f'"{path.name}" is not a whole .npz archive: it is damaged, cut short or another file.'
        )
    found = in_npz(path, watch, remarks) if packed else in_npy(path, remarks)
    if not packed and _is_telling(found[0]):
        found += _beside(path, found[0], watch)
    return opened(path, found, watch, remarks)


def in_npy(path: Path, remarks: list[str]) -> list[Found]:
    """The array of an `.npy` file, or those of its records. Errors: `DataError`."""
    size = path.stat().st_size
    try:
        with open(path, "rb") as file:
            shape, by_column, dtype, begin = npy_header(file, f'"{path.name}"', size)
    except ValueError as error:
        raise DataError(reason_of(error)) from error
    rest = size - begin - math.prod(shape) * dtype.itemsize
    if rest:
        remarks.append(f"{rest:,} bytes behind the array are not read: the file may hold several arrays.")
    base, split = parted(path.stem)
    return _checked(Found(path.name, "", shape, dtype, base, split), by_column, remarks, alone=True)


def in_npz(path: Path, watch: Watch, remarks: list[str]) -> list[Found]:
    """The arrays of an `.npz` file that can be columns. Errors: `DataError` where none can."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
            names = [name for name in entries if name.endswith(".npy")]
            if not names:
                raise DataError(f'"{path.name}" holds no NumPy array.')
            if len(names) > MOST_ARRAYS:
                raise DataError(
                    f'"{path.name}" holds {len(names):,} arrays; at most {MOST_ARRAYS:,} can be read.'
                )
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise DataError(f'"{path.name}" is not a whole .npz archive: it is damaged or cut short.') from error
    found: list[Found] = []
    lost: list[str] = []
    for number, name in enumerate(names):
        watch.look(number / len(names), "reading headers")
        key = name.removesuffix(".npy")
        try:
            shape, by_column, dtype = _header(path, key)
            base, split = parted(key)
            found += _checked(Found(path.name, key, shape, dtype, base, split), by_column, remarks)
        except (ValueError, DataError) as error:
            lost.append(reason_of(error))
    if not found:
        raise DataError(
            lost[0] if lost else f'"{path.name}" holds no array of rows. {" ".join(remarks)}'.strip()
        )
    remarks += lost
    return found


def _header(path: Path, key: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """What the header of a member says. Errors: `ValueError`."""
    entry, begin = npz_member(path, key)
    name = f'"{key}" in {path.name}'
    if begin >= 0:
        with open(path, "rb") as plain:
            plain.seek(begin)
            return npy_header(plain, name, min(entry.file_size, path.stat().st_size - begin))[:3]
    try:
        with zipfile.ZipFile(path) as archive, archive.open(entry) as file:
            return npy_header(file, name, entry.file_size)[:3]
    except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"{name} is damaged.") from error
    except Exception as error:
        if type(error).__module__ != "zlib":
            raise
        raise ValueError(f"{name} is damaged.") from error


def _checked(found: Found, by_column: bool, remarks: list[str], alone: bool = False) -> list[Found]:
    """The array as columns: the fields of records each on their own; none where it cannot be one.

    Errors: `DataError` for an array `alone` in its file that cannot be.
    """

    def unfit(why: str) -> list[Found]:
        if alone:
            raise DataError(f"{found.said} {why}.")
        remarks.append(f"{found.said} is left out: it {why}.")
        return []

    if not found.shape:
        return unfit("holds a single value, where each row has to be an example")
    if not found.shape[0]:
        return unfit("has no rows")
    if 0 in found.shape:
        return unfit(f"has rows without values: its shape is {sizes_of(found.shape)}")
    if found.dtype.names:
        parts = []
        for name in found.dtype.names:
            kind = found.dtype[name]
            shape, kind = found.shape + kind.shape, kind.base
            key = f"{found.key}//{name}"
            parts += _checked(Found(found.file, key, shape, kind, name), by_column, remarks)
        return parts or unfit("has no field of numbers")
    if found.dtype.kind not in "biufUS":
        words = {"c": "complex numbers", "M": "dates", "m": "spans of time", "V": "raw bytes"}
        return unfit(f"holds {words.get(found.dtype.kind, str(found.dtype))}, which cannot be columns yet")
    if found.dtype.kind in "US" and math.prod(found.shape[1:]) != 1:
        return unfit("holds several texts a row, which cannot be columns")
    if by_column and len(found.shape) > 1:
        remarks.append(f"{found.said} lies in its file column by column, so rows are read slowly from disk.")
    return [found]


def _is_telling(found: Found) -> bool:
    """Whether a file's name is one of those that data are usually saved under, in files of their own."""
    return bool(found.split) or bool(words_of(found.base) & (TARGETS | INPUTS))


def _beside(path: Path, first: Found, watch: Watch) -> list[Found]:
    """Arrays in other files of the folder that are rows for rows the same data."""
    others: list[Found] = []
    for other in sorted(path.parent.glob("*.npy"))[:MOST_ARRAYS]:
        watch.look(None, "looking beside it")
        if other.name == path.name or not other.is_file():
            continue
        try:
            others += [one for one in in_npy(other, []) if _is_telling(one)]
        except (DataError, OSError):
            continue  # whatever it is, it was not chosen
    rows = {one.split: one.shape[0] for one in [first, *others] if one.base == first.base}
    return [one for one in others if one.shape[0] == rows.get(one.split)]
