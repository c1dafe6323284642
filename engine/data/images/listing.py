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

from engine.data.file_there import file_there


def is_image(name: str) -> bool:
    """Whether a file's name says that it is an image."""
    ends = (".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".bmp", ".gif", ".webp", ".tif", ".tiff")
    return name.casefold().endswith((*ends, ".ppm", ".pgm", ".pbm"))


def split_number(name: str) -> int:
    """The split that a folder's or a column's word, or the end of it, means: 0, 1 or 2; -1 for any other."""
    words = (("train", "training"), ("validation", "val", "valid", "dev"), ("test", "testing"))
    last = re.split("[_ -]", name.strip().casefold())[-1]
    return next((number for number, known in enumerate(words) if last in known), -1)


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
                if leads_to_folder(entry):
                    inner.append((below + entry.name + "/", entry.path, entry.is_symlink()))
                elif entry.is_symlink() or entry.is_file():  # a link to nothing is a file that cannot be read
                    found.append(below + entry.name)
        for name, path, linked in sorted(inner, reverse=True):
            (links if linked else folders).append((name, path))
    return sorted(found, key=natural_key)


def leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def without_split(name: str, split_folders: bool) -> tuple[int, str]:
    """The split that one of the folders on the way says, and the name without it (or two so called)."""
    *folders, file = name.split("/")
    for at, part in enumerate(folders[:2] if split_folders else ()):
        if split_number(part) >= 0:
            again = at + 1 + (folders[at + 1 : at + 2] == [part])
            return split_number(part), "/".join([*folders[:at], *folders[again:], file])
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


def list_rows(raw: bytes, file: str) -> list[tuple[int, list[str]]]:
    """The rows of a list of images with their line numbers, blank lines left out; `file` names it.

    Cells are parted by whichever of , ; tab | stands most often in the first line; without any, by the last
    blank.
    """
    import csv
    import io

    for encoding in ("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "cp1252", "latin-1"):
        try:
            text = raw.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    head = text.lstrip().split("\n", 1)[0]
    mark = max((",", ";", "\t", "|"), key=head.count)
    if mark not in head:
        lines = enumerate(text.splitlines(), 1)
        return [(at, [cell.strip() for cell in line.rsplit(None, 1)]) for at, line in lines if line.strip()]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(row)]
    except csv.Error as error:
        raise ValueError(f"{quoted_name(file)}, line {reader.line_num}: {error}.") from error
    return rows


def image_finder(names: list[str]) -> dict[str, str]:
    """The image that a text means: its name, or what is unique of it without folders or suffix."""
    known: dict[str, str] = {}
    for name in names:
        stem, file = name.rpartition(".")[0], name.rpartition("/")[2]
        for text in {stem, file, file.rpartition(".")[0]}:
            known[text] = "" if text in known else name
    return {text: name for text, name in (*known.items(), *((name, name) for name in names)) if name}


def images_listed(
    folder: Path,
    *,
    file: str,
    header: bool,
    path_column: str,
    label_column: str,
    split_column: str,
    classes: tuple[str, ...],
) -> dict[str, list[Any]]:
    """The images that a list names, in its order, with the class of each, or a quantity without `classes`.

    A column is called by its header, or by its number from 1. What the list names and the folder lacks comes
    as the list has it.
    """
    rows = list_rows(file_there(folder / file).read_bytes(), file)
    names = rows[0][1] if header and rows else []
    found: dict[str, list[Any]] = {"path": [], "label": [], "split": [], "group": []}
    at = [column_number(one, names, file) for one in (path_column, label_column, split_column or path_column)]
    known = image_finder([name for name in files_below(folder) if is_image(name)])
    numbers = {name: number for number, name in enumerate(classes)}
    for line, row in rows[1 if header else 0 :]:
        if len(row) <= max(at):
            raise ValueError(
                f"{quoted_name(file)}, line {line}, has {len(row)} cells, fewer than are needed."
            )
        path, text, split = (row[one] for one in at)
        path = path.replace("\\", "/").removeprefix("./")
        label: Any = numbers.get(readable_name(text)) if classes else quantity_of(text)
        if label is None:
            what = "the class" if classes else "the number"
            raise ValueError(
                f"{quoted_name(file)}, line {line}: {quoted_name(text)} is not {what} that was expected; "
                "choose the folder again where the list has changed."
            )
        name = known.get(path, path)
        number = split_number(split) if split_column else -1
        for column, value in zip(found.values(), (name, label, number, name.rpartition("/")[0]), strict=True):
            column.append(value)
    return found


def column_number(name: str, header: list[str], file: str) -> int:
    """The place of a column, from 0, that is called by its header or by its number from 1."""
    if name in header:
        return header.index(name)
    if name.isdecimal() and int(name) > 0:
        return int(name) - 1
    raise ValueError(f"{quoted_name(file)} has no column {quoted_name(name)}.")


def quantity_of(text: str) -> float | None:
    """A finite number, with a point or a comma; None for anything else."""
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def images_with_masks(folder: Path, *, images: str, masks: str, split_folders: bool) -> dict[str, list[Any]]:
    """Images in folder `images`, each with the file of the same name, suffix apart, in folder `masks`.

    The name of a mask may go on with _mask, -mask, _seg, _gt or _label; one that is lacking has
    the name it should have.
    """
    listed: list[tuple[str, int, str]] = []
    found: dict[str, str] = {}
    for name in filter(is_image, files_below(folder)):
        split, inner = without_split(name, split_folders)
        kind, _, rest = inner.partition("/")
        stem = f"{split}/" + rest.rpartition(".")[0]
        if kind == masks:
            found[stem] = name
            for end in ("_mask", "-mask", "_seg", "_gt", "_label"):
                if stem.casefold().endswith(end):
                    found.setdefault(stem[: -len(end)], name)
        elif kind == images and (split >= 0 or not split_folders):
            listed.append((name, split, stem))
    return {
        "path": [name for name, _, _ in listed],
        "mask": [found.get(stem) or masked_name(name, images, masks) for name, _, stem in listed],
        "split": [split for _, split, _ in listed],
        "group": [name.rpartition("/")[0] for name, _, _ in listed],
    }


def masked_name(name: str, images: str, masks: str) -> str:
    """Where the mask of an image should be."""
    parts = [masks if part == images else part for part in name.rpartition(".")[0].split("/")]
    return "/".join(parts) + ".png"
