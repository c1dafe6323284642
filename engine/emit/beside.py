"""The data of a script as files beside it: which they are, what they are called there, and copying them."""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

from engine.catalogue import Data
from engine.document.files import TEMPORARY
from engine.document.locks import hold
from engine.document.shipped import datasets_folder, installed_files, reading
from engine.errors import DataError

Copies = tuple[tuple[Path, str], ...]  # where a file lies, and its name as seen from the script's folder


def files_beside(data: Data, script: Path) -> Copies:
    """The files that a script in the folder `script` reads and that do not lie there or below it yet.

    Errors: `DataError` for a file that is missing, or cannot be named from beside the others.
    """
    folder, installed = data.folder(), datasets_folder()
    names = data.files or installed_files(folder, data.holds())
    if folder is None or names:
        notes = dict.fromkeys(str(Path(name).parent / "SOURCE.txt") for name in names)
        wanted = [*names, *(note for note in notes if (installed / note).is_file())]
        return tuple((_there(installed / name), name) for name in wanted)
    if folder.is_relative_to(script):
        return ()
    below = name_beside(data)
    if below:
        return tuple((one, f"{below}/{one.relative_to(folder).as_posix()}") for one in _every(folder, script))
    for name in data.holds():
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise DataError(
                f'"{Path(name).name}" does not lie in the folder of the other file, {folder}.',
                fix="Move it there before you take the data along.",
            )
    return tuple((_there(folder / name), name) for name in data.holds())


def name_beside(data: Data) -> str:
    """What the data's own folder is called beside the script; "" where single files lie there themselves."""
    folder, path = data.folder(), getattr(data, "path", "")
    return "" if folder is None or (path and Path(path) != folder) else folder.name


def copy_beside(files: Copies, target: Path) -> list[Path]:
    """Copy files to `target`: all or none, and none over another file. Returns what is new, folders too.

    Errors: `DataError`.
    """
    with reading():
        for source, name in files:
            place = target / name
            if os.path.lexists(place) and not _same(source, place):
                raise DataError(
                    f"There is another {place} already, which is not replaced.",
                    fix="Move it away, or export to another folder.",
                )
        fresh: list[Path] = []
        try:
            for source, name in files:
                place = target / name
                if not place.exists():
                    _copy(source, place, fresh)
        except BaseException:
            remove(fresh)
            raise
    return fresh


def remove(fresh: list[Path]) -> None:
    """Remove what was made, the newest first."""
    for place in reversed(fresh):
        if place.is_dir():
            place.rmdir()
        else:
            place.unlink(missing_ok=True)


def _copy(source: Path, place: Path, fresh: list[Path]) -> None:
    fresh += [one for one in reversed(place.parents) if not one.exists()]
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_name(f".{uuid4().hex}{TEMPORARY}")
    try:
        with open(source, "rb") as read, hold(temporary) or open(temporary, "wb") as file:
            shutil.copyfileobj(read, file)
        os.replace(temporary, place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    fresh.append(place)


def _same(source: Path, place: Path) -> bool:
    return place.is_file() and (place.samefile(source) or filecmp.cmp(source, place, shallow=False))


def _there(path: Path) -> Path:
    if not path.is_file():
        raise DataError(f"There is no {path} to copy.")
    return path


def _every(folder: Path, script: Path) -> Iterator[Path]:
    """The ordinary files below a folder, in order, but for those that lie with the script."""
    if not folder.is_dir():
        raise DataError(f"There is no folder {folder} to copy.")
    for one in sorted(folder.rglob("*")):
        if one.is_file() and not one.is_relative_to(script):
            yield one
