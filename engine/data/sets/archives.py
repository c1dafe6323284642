"""Files out of .tar.gz and .zip archives, which anybody may have made: nothing lands outside the folder.

Links, devices, absolute paths, paths with ".." and members that are larger than said are refused.
"""

from __future__ import annotations

import gzip
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from engine.data.watch import Watch
from engine.errors import DataError, reason_of

CHUNK = 1 << 20
MOST_MEMBERS = 100_000
MOST_BYTES = 8 << 30  # unpacked


def unpack(archive: Path, wanted: Mapping[str, int], folder: Path, watch: Watch) -> list[Path]:
    """Write the `wanted` members {path: bytes} into `folder` by their last names; each appears whole or not.

    Errors: `DataError` for an archive that is damaged, hostile, or lacks one of them; `OSError` in writing.
    """
    found: list[Path] = []
    left = dict(wanted)
    with _members(archive) as members:
        for name, size, stream in members:
            if name not in left:
                continue
            if size != left.pop(name) or stream is None:
                raise DataError(f'"{name}" in {archive.name} is not the file that was expected.')
            found.append(_write(name, size, stream, folder, watch))
    if left:
        raise DataError(f'{archive.name} lacks "{next(iter(left))}".')
    return found


def _write(name: str, size: int, stream: IO[bytes], folder: Path, watch: Watch) -> Path:
    target = folder / PurePosixPath(name).name
    part = target.with_name(target.name + ".unpacking")
    written = 0
    try:
        with open(part, "wb") as out:
            while chunk := stream.read(CHUNK):
                written += len(chunk)
                if written > size:
                    break  # a header may say less than there is
                watch.look(None, f"unpacking {target.name}")
                out.write(chunk)
        if written != size:
            raise DataError(f'"{name}" is not of the size that its archive says.')
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
    return target


Member = tuple[str, int, IO[bytes] | None]  # path, bytes, what it holds; None for a folder


@contextmanager
def _members(archive: Path) -> Iterator[Iterator[Member]]:
    """The members in order, each checked before it is given. Errors: `DataError`."""
    damaged = (tarfile.TarError, zipfile.BadZipFile, zlib.error, gzip.BadGzipFile, EOFError, RuntimeError)
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                yield _checked(archive, _in_zip(opened))
        else:
            with tarfile.open(archive, "r:*") as opened_tar:
                yield _checked(archive, _in_tar(opened_tar))
    except damaged as error:
        raise DataError(f"{archive.name} is damaged: {reason_of(error)}.") from error


def _checked(archive: Path, members: Iterator[tuple[Member, str]]) -> Iterator[Member]:
    total = 0
    for number, (member, kind) in enumerate(members):
        name, size, _ = member
        total += size
        why = ""
        if kind:
            why = f"a {kind}"
        elif _leads_out(name):
            why = "a path that leads out of the folder"
        elif number >= MOST_MEMBERS or total > MOST_BYTES or size < 0:
            why = "more than may be unpacked"
        if why:
            raise DataError(f'{archive.name} is refused: it holds {why} ("{name[:80]}").')
        yield member


def _in_tar(archive: tarfile.TarFile) -> Iterator[tuple[Member, str]]:
    for one in archive:
        kind = "" if one.isfile() or one.isdir() else "link" if one.issym() or one.islnk() else "device"
        stream = archive.extractfile(one) if one.isfile() else None
        yield (one.name, one.size, stream), kind


def _in_zip(archive: zipfile.ZipFile) -> Iterator[tuple[Member, str]]:
    for one in archive.infolist():
        mode = one.external_attr >> 16
        kind = "link" if stat.S_ISLNK(mode) else ""
        if one.is_dir() or kind:
            yield (one.filename, 0, None), kind
            continue
        with archive.open(one) as stream:
            yield (one.filename, one.file_size, stream), kind


def _leads_out(name: str) -> bool:
    plain = name.replace("\\", "/")
    path = PurePosixPath(plain)
    return path.is_absolute() or ".." in path.parts or ":" in plain.split("/")[0] or "\0" in name
