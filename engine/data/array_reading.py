"""Arrays in `.npy`, `.npz` and IDX files, mapped where they can be. Portable: exports carry this source.

No size that a file claims is believed before the file is seen to have it, and nothing in it is run.
"""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np

from engine.data.file_there import file_there
from engine.data.telling import tell


def npy_header(file: Any, name: str, size: int) -> tuple[tuple[int, ...], bool, Any, int]:
    """Shape, whether it lies column by column, dtype, and byte where the numbers begin, of an `.npy` file.

    `size` is how many bytes the file has; nothing is believed that it has no room for. Errors: `ValueError`.
    """
    import ast

    magic = file.read(8)
    if magic[:6] != b"\x93NUMPY":
        raise ValueError(f"{name} is not a NumPy array: it begins with {magic[:6].hex(' ') or 'nothing'}.")
    version = magic[6:7].hex().lstrip("0") or "0"
    if version not in ("1", "2", "3"):
        raise ValueError(
            f"{name} is in version {version} of NumPy's format; versions 1 to 3 can be read: save it again."
        )
    width = 2 if version == "1" else 4
    length = int.from_bytes(file.read(width), "little")
    begin = 8 + width + length
    if len(magic) < 8 or begin > size:
        raise ValueError(f"{name} ends within its header, after {size:,} bytes: it is cut short.")
    text = file.read(min(length, 2**22)).decode("utf-8" if version == "3" else "latin-1", "replace")
    try:
        said = ast.literal_eval(text.strip().replace("L,", ",").replace("L)", ")"))  # Python 2 wrote 10L
        shape, by_column, form = said["shape"], said["fortran_order"], said["descr"]
        dtype = np.lib.format.descr_to_dtype(form)
        sound = isinstance(by_column, bool) and all(type(one) is int and one >= 0 for one in shape)
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError):
        sound = False
    if not sound:
        raise ValueError(f"The header of {name} cannot be understood: it is damaged.")
    if dtype.hasobject:
        raise ValueError(
            f"{name} holds Python objects, which could run code when read: save numbers or texts instead."
        )
    needed = math.prod(shape) * dtype.itemsize
    if begin + needed > size:
        raise ValueError(
            f"{name} says it holds {needed:,} bytes of numbers, but has {size - begin:,}: it is cut short."
        )
    return tuple(shape), by_column, dtype, begin


def npz_member(path: Path, key: str) -> tuple[Any, int]:
    """A member's entry in an `.npz` file, and the byte where it begins (-1 where it is compressed)."""
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            entry = archive.getinfo(key + ".npy")
    except KeyError:
        raise ValueError(f'There is no array "{key}" in {path.name} any more: open it again.') from None
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise ValueError(f"{path.name} is not a whole .npz file: it is damaged or cut short.") from error
    if entry.header_offset < 0:  # bytes are lost before it
        raise ValueError(f"{path.name} is not a whole .npz file: its beginning is lost.")
    if entry.flag_bits & 1:
        raise ValueError(f'"{key}" in {path.name} is locked with a password: save it without.')
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # unpacks without a bound
        raise ValueError(f'"{key}" in {path.name} is packed as NumPy never does: save it by numpy.savez.')
    if entry.compress_type != zipfile.ZIP_STORED:
        return entry, -1
    with open(path, "rb") as file:
        file.seek(
            entry.header_offset + 26
        )  # a local header repeats the name, with an extra of its own length
        lengths = file.read(4)
    begin = entry.header_offset + 30 + int.from_bytes(lengths[:2], "little")
    return entry, begin + int.from_bytes(lengths[2:], "little")


def idx_header(file: Any, name: str) -> tuple[tuple[int, ...], Any, int]:
    """Shape, dtype and byte where the numbers begin, of an IDX file. Errors: `ValueError`."""
    kinds = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in kinds or not 0 < magic[3] <= 32:
        raise ValueError(f"{name} is not an IDX file: it begins with {magic.hex(' ') or 'nothing'}.")
    sizes = file.read(4 * magic[3])
    if len(sizes) < 4 * magic[3]:
        raise ValueError(f"{name} ends within its header: it is cut short.")
    shape = tuple(int(one) for one in np.frombuffer(sizes, ">u4"))
    return shape, np.dtype(kinds[magic[2]]), 4 + 4 * magic[3]


def stored_npz(path: Path, key: str, most: int) -> np.ndarray[Any, Any]:
    """An array of an `.npz` file: mapped if it was saved uncompressed, else read. Errors: `ValueError`."""
    import zipfile
    import zlib

    name = f'"{key}" in {path.name}'
    entry, begin = npz_member(path, key)
    if begin >= 0:
        with open(path, "rb") as file:
            file.seek(begin)
            room = min(entry.file_size, path.stat().st_size - begin)
            shape, by_column, dtype, at = npy_header(file, name, room)
        return mapped(path, shape, by_column, dtype, begin + at)
    try:
        with zipfile.ZipFile(path) as archive, archive.open(entry) as file:
            shape, by_column, dtype, _ = npy_header(file, name, entry.file_size)
            needed = math.prod(shape) * dtype.itemsize
            if needed > most:
                raise ValueError(
                    f"{name} is compressed, so it cannot stay on disk, and fills {needed / 2**20:,.0f} MiB "
                    f"of memory where {most / 2**20:,.0f} are allowed: allow more, or use numpy.savez."
                )
            raw = unpacked(file, needed)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ValueError(f"{name} is damaged.") from error
    if len(raw) < needed:
        raise ValueError(f"{name} is cut short: {needed - len(raw):,} bytes are missing.")
    return np.frombuffer(raw, dtype).reshape(shape, order="F" if by_column else "C")


def stored_idx(path: Path, most: int) -> np.ndarray[Any, Any]:
    """The array of an IDX file: mapped, or read where the file is compressed. Errors: `ValueError`."""
    import zlib

    packed = path.name.casefold().endswith(".gz")
    opened = gzip.open if packed else open
    try:
        with opened(path, "rb") as file:
            shape, dtype, begin = idx_header(file, path.name)
            needed = math.prod(shape) * dtype.itemsize
            if not packed:
                held = path.stat().st_size - begin
            elif needed > most:
                raise ValueError(
                    f"{path.name} is compressed, so it cannot stay on disk, and says that it fills "
                    f"{needed / 2**20:,.0f} MiB of memory where {most / 2**20:,.0f} are allowed: "
                    "allow more, or unpack it."
                )
            else:
                raw = unpacked(file, needed + 1)
                held = len(raw)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path.name} cannot be unpacked: it is damaged or cut short.") from error
    if held != needed:
        less = "only " if held < needed else "more: "
        raise ValueError(f"{path.name} says it holds {needed:,} bytes of numbers, but has {less}{held:,}.")
    return np.frombuffer(raw, dtype).reshape(shape) if packed else mapped(path, shape, False, dtype, begin)


def unpacked(file: Any, count: int) -> bytearray:
    """So many bytes of a file that is unpacked as it is read, or all that it has."""
    found = bytearray()
    while len(found) < count and (piece := file.read(min(2**24, count - len(found)))):
        found += piece
        tell(len(found), count, "bytes")
    return found


def mapped(
    path: Path, shape: tuple[int, ...], by_column: bool, dtype: Any, begin: int
) -> np.ndarray[Any, Any]:
    """Numbers that stay in their file from byte `begin` on."""
    if not math.prod(shape) * dtype.itemsize:
        return np.empty(shape, dtype)  # nothing cannot be mapped
    order: Any = "F" if by_column else "C"
    return np.memmap(path, dtype, "r", begin, shape, order)


def stored_array(path: Path, key: str, most: int) -> np.ndarray[Any, Any]:
    """The array of a file (`key`: which of an `.npz`; behind "//" a field of records), read if it must be.

    At most `most` bytes are read. Errors: `ValueError`, `OSError`.
    """
    name = file_there(path).name.casefold()
    key, _, part = key.partition("//")
    if name.endswith(".npz"):
        found = stored_npz(path, key, most)
    elif name.endswith((".idx", "-ubyte", ".gz")):
        found = stored_idx(path, most)
    else:
        with open(path, "rb") as file:
            shape, by_column, dtype, begin = npy_header(file, path.name, path.stat().st_size)
        found = mapped(path, shape, by_column, dtype, begin)
    if part and part not in (found.dtype.names or ()):
        raise ValueError(f'There is no field "{part}" in {path.name} any more: open it again.')
    return found[part] if part else found
