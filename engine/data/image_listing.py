"""Which images a folder holds, in what order, and what is known of each. Portable: exports carry this source.

A lister gives {"path": names below the folder, ...} with a list for each thing it knows of an image: "label"
(number of its class, or a quantity), "split" (0 train, 1 validation, 2 test, -1 none), "group", "mask".
Images are in the natural order of their names, the same on every machine. Names that begin with a point
and files that are no images by their names are left alone. Errors: `ValueError`, `OSError`.
"""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path
from typing import Any


def is_image(name: str) -> bool:
    """Whether a file's name says that it is an image."""
    ends = (".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".bmp", ".gif", ".webp", ".tif", ".tiff")
    return name.casefold().endswith((*ends, ".ppm", ".pgm", ".pbm"))


def split_number(name: str) -> int:
    """The split that a folder's or a column's word means: 0, 1 or 2; -1 for any other word."""
    words = (("train", "training"), ("validation", "val", "valid", "dev"), ("test", "testing"))
    return next((number for number, known in enumerate(words) if name.strip().casefold() in known), -1)


def readable_name(name: str) -> str:
    """A name as text that can be shown and saved: accents in one way, no bytes that are no text."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return unicodedata.normalize("NFC", text)


def quoted_name(name: str) -> str:
    """A name within a sentence; what cannot be printed is escaped."""
    text = readable_name(name)
    return f'"{text}"' if text.isprintable() else ascii(text)


def natural_key(name: str) -> tuple[Any, ...]:
    """Sorts a2 before a10, folder by folder, without regard to case."""
    parts = re.split("([0-9]+)", unicodedata.normalize("NFC", name).casefold().replace("/", "\0"))
    return (*(int(part) if at % 2 else part for at, part in enumerate(parts)), name)


def files_below(folder: Path) -> list[str]:
    """All files below a folder, as names from there with slashes; a folder that is linked to is read once."""
    found: list[str] = []
    seen = set()
    folders: list[tuple[str, str]] = [("", os.fspath(folder))]
    links: list[tuple[str, str]] = []
    while folders or links:
        below, place = (folders or links).pop()  # links last: none takes the place of the folder itself
        about = os.stat(place)
        if (about.st_dev, about.st_ino) in seen:
            continue
        seen.add((about.st_dev, about.st_ino))
        inner = []
        with os.scandir(place) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir():
                    inner.append((below + entry.name + "/", entry.path, entry.is_symlink()))
                elif entry.is_file():
                    found.append(below + entry.name)
        for name, path, linked in sorted(inner, reverse=True):
            (links if linked else folders).append((name, path))
    return sorted(found, key=natural_key)


def without_split(name: str, split_folders: bool) -> tuple[int, str]:
    """The split that one of the folders on the way says, and the name without that folder."""
    *folders, file = name.split("/")
    for at, part in enumerate(folders[:2] if split_folders else ()):
        if split_number(part) >= 0:
            return split_number(part), "/".join([*folders[:at], *folders[at + 1 :], file])
    return -1, name


def images_by_class(folder: Path, *, classes: tuple[str, ...], split_folders: bool) -> dict[str, list[Any]]:
    """Images in a folder for each class; those of one folder are a group. Others are left alone."""
    numbers = {name: number for number, name in enumerate(classes)}
    found: dict[str, list[Any]] = {"path": [], "label": [], "split": [], "group": []}
    for name in filter(is_image, files_below(folder)):
        split, inner = without_split(name, split_folders)
        if "/" not in inner or (split_folders and split < 0):
            continue
        label = readable_name(inner.split("/")[0])
        if label not in numbers:
            raise ValueError(
                f"{folder} has a new class, {quoted_name(label)}: choose the folder again, so that it counts."
            )
        row = (name, numbers[label], split, inner.rpartition("/")[0])
        for column, value in zip(found.values(), row, strict=True):
            column.append(value)
    return found


def images_alone(folder: Path, *, split_folders: bool) -> dict[str, list[Any]]:
    """All images below a folder, without labels; those of one folder are a group."""
    found: dict[str, list[Any]] = {"path": [], "split": [], "group": []}
    for name in filter(is_image, files_below(folder)):
        split, inner = without_split(name, split_folders)
        if split_folders and split < 0:
            continue
        for column, value in zip(found.values(), (name, split, inner.rpartition("/")[0]), strict=True):
            column.append(value)
    return found
