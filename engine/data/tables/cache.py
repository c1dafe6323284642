"""Where the numbers of large tables are kept once they are read. Portable: exports carry this source.

They lie in a folder of the user's caches, never beside the table, each under a mark of the table's content
and of how it is read. What has not been used for long is removed when room is needed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.data.file_there import file_there


def tables_folder() -> Path:
    """The folder of kept numbers: below NEUROLOOM_HOME, the system's caches, or else its temporary files."""
    import sys
    import tempfile

    asked = os.environ.get("NEUROLOOM_HOME")
    if asked:
        caches = Path(asked)
    elif sys.platform == "win32":
        caches = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "neuroloom"
    elif sys.platform == "darwin":
        caches = Path.home() / "Library" / "Caches" / "neuroloom"
    else:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "neuroloom"
    for folder in (caches / "tables", Path(tempfile.gettempdir()) / "neuroloom" / "tables"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    raise ValueError(
        f"The numbers of a large table cannot be kept: neither {caches} nor {tempfile.gettempdir()} can be "
        "written to. Let the table be held in memory."
    )


def mark_of(path: Path, how: tuple[Any, ...]) -> str:
    """A name for a file as it is now, read in this way: its size, its time, its ends, and `how`."""
    from hashlib import blake2b

    about = file_there(path).stat()
    mark = blake2b(repr((about.st_size, about.st_mtime_ns, how)).encode("utf-8", "replace"), digest_size=10)
    with open(path, "rb") as file:
        mark.update(file.read(2**16))
        file.seek(max(0, about.st_size - 2**16))
        mark.update(file.read(2**16))
    return mark.hexdigest()


def kept_numbers(path: Path, how: tuple[Any, ...], make: Callable[[Path], None]) -> Path:
    """The folder with the numbers of a file; where there is none yet, `make(folder)` fills one.

    It gets its name when it is whole, so that what was broken off is never taken for the table.
    Errors: `ValueError` where the file changes meanwhile, or there is no room.
    """
    import shutil
    import tempfile

    home = tables_folder()
    place = home / mark_of(path, how)
    if numbers_whole(place):
        os.utime(place)
        return place
    remove_unused(home)
    part = Path(tempfile.mkdtemp(prefix="part-", dir=home))
    try:
        make(part)
        if mark_of(path, how) != place.name:
            raise ValueError(f'"{path.name}" changed while it was read. Start again when it is complete.')
        shutil.rmtree(place, ignore_errors=True)
        try:
            part.rename(place)
        except OSError:
            if not numbers_whole(place):  # another run may have made it meanwhile
                raise
    except OSError as error:
        if error.filename == str(path):
            raise
        raise ValueError(
            f'The numbers of "{path.name}" cannot be kept in {home}: {error.strerror or error}.'
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return place


def numbers_whole(place: Path) -> bool:
    """Whether a folder holds all the numbers that it should."""
    try:
        about = json.loads((place / "about.json").read_text("utf-8"))
        size = (place / "numbers").stat().st_size
    except (OSError, ValueError):
        return False
    return bool(size == 8 * about["rows"] * len(about["names"]))


def remove_unused(home: Path, most: int = 20 * 2**30, days: float = 30.0) -> None:
    """Remove what was not used for `days`, and beyond `most` bytes what was used least recently.

    What is broken off stays for a day: another run may be at it.
    """
    import shutil
    import time

    now, held = time.time(), 0
    aged = []
    for folder in home.iterdir():
        try:
            size = sum(one.stat().st_size for one in folder.iterdir())
            aged.append(((now - folder.stat().st_mtime) / 86_400, folder, size))
        except OSError:
            continue  # removed by another run, or no folder
    for age, folder, size in sorted(aged):
        broken = folder.name.startswith("part-")
        held += 0 if broken else size
        if age > (1.0 if broken else days) or (held > most and not broken):
            shutil.rmtree(folder, ignore_errors=True)
