"""Downloading public files: from the first mirror that has them, checked, and resumed where it was cut.

A file grows as NAME.part beside its place and takes its name when its checksum is right. Whatever ends a
download (Ctrl-C, a crash, no network) leaves the part, and the next one goes on from it. Nothing here runs
unless somebody asked for a set, and nothing goes anywhere but to the addresses in `public_files`.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from engine.data.sets.archives import unpack
from engine.data.sets.public_files import PublicFile, PublicSet, megabytes, part_of
from engine.data.sets.responses import Answer, Lost, Useless
from engine.data.watch import Watch
from engine.document.locks import hold
from engine.errors import DataError

WAITS = (0.0, 1.0, 3.0, 8.0)  # seconds before each round over the mirrors
LOOK = 0.1  # seconds at most from one look at the watch to the next
CHUNK = 1 << 20
NOTE = "SOURCE.txt"


def fetch(wanted: PublicSet, folder: Path, watch: Watch | None = None) -> None:
    """Have all files of a set in its folder; what is there already is left alone.

    Several programs may ask for the same set at once: one downloads, the others wait for it.
    Errors: `DataError` with what was tried; `Stopped`. What was downloaded by then is kept.
    """
    watch = watch or Watch()
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder, watch):
            for file in wanted.missing(folder):
                _check_room(folder, file)
                if _unpack_own(file, folder, watch):
                    continue
                part = part_of(folder, file)
                _download(wanted, file, part, watch)
                if file.members:
                    unpack(part, file.members, folder, watch)
                    part.unlink()
                else:
                    os.replace(part, folder / file.name)
                _mark(part).unlink(missing_ok=True)
            _write_note(wanted, folder)


def _unpack_own(file: PublicFile, folder: Path, watch: Watch) -> bool:
    """Unpack an archive that the user has put into the folder, and leave it there; whether there was one."""
    own = folder / file.name
    if not file.members or _size(own) != file.size or not _has_checksum(own, file, watch):
        return False
    unpack(own, file.members, folder, watch)
    return True


@dataclass(frozen=True)
class _Progress:
    """Tells how much of the whole set is there, `before` of it when this file began."""

    watch: Watch
    before: int
    total: int
    host: str

    def at(self, count: int) -> None:
        done = self.before + count
        self.watch.look(
            min(1.0, done / self.total),
            f"{megabytes(done)} of {megabytes(self.total)} from {self.host}",
        )


def _download(wanted: PublicSet, file: PublicFile, part: Path, watch: Watch) -> None:
    """The whole file at `part`, with the right checksum."""
    missing = wanted.missing(part.parent)
    before = sum(one.size for one in wanted.files if one not in missing)
    left = list(file.urls)
    reasons: dict[str, str] = {}
    for wait in WAITS:
        _pause(wait, _in_words(reasons), watch)
        for url in tuple(left):
            host = urlsplit(url).hostname or url
            try:
                _from_mirror(url, file, part, _Progress(watch, before, wanted.size, host))
                return
            except Lost as lost:
                reasons[host] = str(lost)
            except Useless as useless:
                reasons[host] = str(useless)
                left.remove(url)
        if not left:
            break
    raise DataError(
        f"{wanted.title} could not be downloaded. {_in_words(reasons)}.",
        fix=f"Try again later, or put {file.name} into {part.parent} yourself.",
    )


def _in_words(reasons: Mapping[str, str]) -> str:
    """Why each server did not help: `one, other: refused the connection; third: answered 404`."""
    hosts: dict[str, list[str]] = {}
    for host, why in reasons.items():
        hosts.setdefault(why, []).append(host)
    return "; ".join(f"{', '.join(named)}: {why}" for why, named in hosts.items())


def _from_mirror(url: str, file: PublicFile, part: Path, progress: _Progress) -> None:
    """The file from one mirror, going on as long as that brings more of it. Errors: `Lost`, `Useless`."""
    again = _size(part) > 0  # what is there may be of an older version
    while True:
        have = _size(part)
        if have > file.size:
            part.unlink()
            continue
        if have < file.size:
            try:
                _receive(url, file, part, progress)
            except Lost:
                if _size(part) - have >= min(CHUNK, file.size // 10 + 1):
                    continue
                raise
        if _has_checksum(part, file, progress.watch):
            return
        part.unlink()
        if not again:
            raise Useless("sent other bytes than were published")
        again = False


def _receive(url: str, file: PublicFile, part: Path, progress: _Progress) -> None:
    """Add to the part what the server sends until the file is whole. Errors: `Lost`, `Useless`."""
    have = _size(part)
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
        known = _known_version(part, url)
        if known:
            headers["If-Range"] = known
    with Answer(url, headers, LOOK, lambda: progress.at(have)) as answer:
        if answer.begins_at not in (0, have):
            raise Lost("sent another part than was asked for")
        have = answer.begins_at  # 0 where the server knows no ranges, or has another version by now
        if answer.size not in (None, file.size):
            raise Useless(f"has {answer.size:,} bytes under this name, not {file.size:,}")
        _mark(part).write_text(json.dumps({"url": url, "version": answer.version}), "utf-8")
        with open(part, "r+b" if have else "wb") as out:
            out.seek(have)
            for chunk in answer.chunks():
                if have + len(chunk) > file.size:
                    raise Useless("sends more than was published")
                out.write(chunk)
                have += len(chunk)
                progress.at(have)
    if have < file.size:
        raise Lost("ended the connection too early")


def _known_version(part: Path, url: str) -> str:
    """The server's mark of the version that the part is of; "" where it gave none, or another server did."""
    try:
        found = json.loads(_mark(part).read_text("utf-8"))
    except (OSError, ValueError):
        return ""
    if not isinstance(found, dict) or found.get("url") != url:
        return ""
    version = found.get("version")
    return version if isinstance(version, str) else ""


def _has_checksum(path: Path, file: PublicFile, watch: Watch) -> bool:
    kind, _, wanted = file.checksum.partition(":")
    found = hashlib.new(kind, usedforsecurity=False)
    with open(path, "rb") as stream:
        while chunk := stream.read(CHUNK):
            watch.look(None, f"checking {file.name}")
            found.update(chunk)
    return found.hexdigest() == wanted.lower()


def _mark(part: Path) -> Path:
    return part.with_name(part.name + ".json")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _pause(seconds: float, why: str, watch: Watch) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        watch.look(None, f"{why}; trying again")
        time.sleep(min(LOOK, left))


def _check_room(folder: Path, file: PublicFile) -> None:
    needed = file.size - min(file.size, _size(part_of(folder, file))) + sum(file.members.values())
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DataError(
            f"{file.name} needs {megabytes(needed)}, and {megabytes(free)} are free in {folder}.",
            fix="Make room there and try again.",
        )


@contextmanager
def _alone(folder: Path, watch: Watch) -> Iterator[None]:
    """Inside, no other program downloads into the folder."""
    while (lock := hold(folder / ".lock")) is None:
        watch.look(None, "another program is downloading this")
        time.sleep(LOOK)
    with lock:
        yield


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn what goes wrong with the disk into a `DataError`."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DataError(
                f"The disk that holds {folder} is full.", fix="Make room and go on: what is there is kept."
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            place = error.filename or folder
            raise DataError(f"Neuroloom may not write to {place}: {error.strerror}.") from error
        raise DataError(f"{folder} cannot be used: {error.strerror or error}.") from error


def _write_note(wanted: PublicSet, folder: Path) -> None:
    """Say beside the files whose they are."""
    lines = (wanted.title, wanted.about, f"Terms: {wanted.licence}", f"From: {wanted.page}", "")
    text = "\n".join(lines)
    if not (folder / NOTE).exists():
        (folder / NOTE).write_text(text, "utf-8")
