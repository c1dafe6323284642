"""Looking into IDX files, the form MNIST has: images and labels in files of their own, for train and test."""

from __future__ import annotations

import gzip
from pathlib import Path

from engine.data.array_reading import idx_header, stored_array
from engine.data.open.array_columns import INPUTS, READ, TARGETS, Found, opened, parted, words_of
from engine.data.open.opening import Opened
from engine.data.watch import Watch
from engine.errors import DataError, reason_of

ENDS = ("-ubyte", "-ubyte.gz", ".idx", ".idx.gz")
MOST_FILES = 1000


def open_it(path: Path, watch: Watch) -> Opened:
    """An IDX file, and those beside it that belong to it, as an array node. Errors: `DataError`."""
    try:
        watch.look(None, "unpacking" if path.suffix == ".gz" else "reading")
        stored_array(path, "", READ)  # what the header says of its size is looked at as well
    except ValueError as error:
        raise DataError(reason_of(error)) from error
    remarks: list[str] = []
    first = _found(path)
    if not first.shape[0] or 0 in first.shape:
        raise DataError(f'"{path.name}" holds no rows.')
    found = [first]
    for other in sorted(path.parent.iterdir())[:MOST_FILES]:
        if other.name == path.name or not other.name.casefold().endswith(ENDS) or not other.is_file():
            continue
        watch.look(None, "looking beside it")
        try:
            one = _found(other)
            if _set(one) != _set(first) or any((one.base, one.split) == (o.base, o.split) for o in found):
                continue
            stored_array(other, "", READ)
        except (ValueError, OSError) as error:
            remarks.append(f"Not read: {reason_of(error)}")
            continue
        found.append(one)
    rows = {one.split: one.shape[0] for one in found if one.base == first.base}
    for one in [one for one in found if rows.get(one.split) != one.shape[0]]:
        remarks.append(f"{one.file} is left out: it has {one.shape[0]:,} rows, others have not.")
        found.remove(one)
    bases = {one.base for one in found}
    whole = {
        split
        for split in {one.split for one in found}
        if {o.base for o in found if o.split == split} == bases
    }
    kept = [one for one in found if one.split in whole or first.split not in whole]
    if first.split not in whole:
        kept = [one for one in found if one.base == first.base]
    for one in found:
        if one not in kept:
            remarks.append(f"{one.file} is left out: what belongs to it is not there.")
    return opened(path, kept, watch, remarks)


def _found(path: Path) -> Found:
    """What the header and the name of an IDX file say. Errors: `ValueError`, `OSError`."""
    packed = path.name.casefold().endswith(".gz")
    with (gzip.open if packed else open)(path, "rb") as file:
        try:
            shape, dtype, _ = idx_header(file, path.name)
        except EOFError as error:
            raise ValueError(f"{path.name} cannot be unpacked: it is cut short.") from error
    stem = path.name[:-3] if packed else path.name
    base, split = parted(stem)
    return Found(path.name, "", shape, dtype, base, split)


def _set(found: Found) -> set[str]:
    """What a name says beside images or labels, such as "letters" where a folder holds several sets."""
    return words_of(found.base) - TARGETS - INPUTS
