"""A file or folder of the user's as a data node: what it is, and what was found when it was looked into.

Each family of files has an opener in a module of its own, which is imported when such a file is opened.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path

from engine.catalogue import Data, load_catalogue
from engine.catalogue.traits import FileForm
from engine.data.watch import Watch
from engine.errors import DataError, reason_of
from engine.values import Value

HEAD = 64 * 1024  # bytes that are looked at to tell what a file is, and whether it changed
OPENERS = {
    "engine.data.open.tables": (
        *(".csv", ".tsv", ".tab", ".dat", ".arff", ".parquet", ".pq", ".arrow", ".feather", ".ipc"),
        *(".xlsx", ".xls", ".xlsb", ".ods", ".json", ".ndjson"),
    ),
    "engine.data.open.arrays": (".npy", ".npz"),
    "engine.data.open.idx": (".idx", "-ubyte", "-ubyte.gz", ".idx.gz"),
    "engine.data.open.images": (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm"),
    "engine.data.open.text": (".txt", ".text", ".md", ".jsonl"),
    "engine.data.open.points": (".ply", ".off", ".xyz", ".pts"),
    "engine.data.open.graphs": (".graphml", ".edges", ".edgelist"),
}
FOLDERS = "engine.data.open.images"
MOST_LOOKED_AT = 1000  # files of a folder that are looked at to tell what it holds

# What one file may be read as, and the openers: people know best what a table is.
READERS = {
    FileForm.TABLE: ("engine.data.open.tables", "open_it"),
    FileForm.SERIES: ("engine.data.open.series", "open_it"),
    FileForm.TEXT: ("engine.data.open.text", "open_corpus"),
    FileForm.LABELLED: ("engine.data.open.text", "open_labelled"),
    FileForm.PAIRS: ("engine.data.open.text", "open_pairs"),
    FileForm.ANNOTATED: ("engine.data.open.annotated", "open_it"),
    FileForm.GRAPH: ("engine.data.open.graphs", "open_it"),
    FileForm.POINTS: ("engine.data.open.points", "open_it"),
}
PACKED = {
    b"PK\x03\x04": "zip",
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"7z\xbc\xaf": "7z",
    b"Rar!": "rar",
    b"\x28\xb5\x2f\xfd": "zstandard",
}
READINGS = (["number"], ["whole"], ["date", "number"], ["date", "whole"])  # kinds of columns
FEW_READINGS = 50  # fewer are hardly a series
CLOUD_TEXTS = (".csv", ".tsv", ".txt", ".dat")  # that may hold points, where the user says so
OF_FOLDERS = (FileForm.LABELLED, FileForm.POINTS)  # what may be in a folder, too


@dataclass(frozen=True)
class Opened:
    """A data node to be: its type's name, its parameters and what to call it.

    `remarks` are sentences on what the user should know: missing values, rows that differ, guesses made;
    `reading` those of them that are about rows and lines, whatever the columns are taken for.
    """

    type: str
    params: Mapping[str, Value]
    name: str
    remarks: tuple[str, ...] = field(default=())
    reading: tuple[str, ...] = field(default=())


def readers() -> dict[str, FileForm]:
    """The types of nodes that may read one file, by their ids, and what each takes it for."""
    return {reader(form): form for form in READERS}


@cache  # what is installed is looked up in files
def reader(form: FileForm) -> str:
    """The id of the type of node that reads such files."""
    types = load_catalogue().types()
    return next(found.type_id for found in types if issubclass(found, Data) and found.reads is form)


def open_data(path: Path, watch: Watch | None = None) -> Opened:
    """Look into a file or folder. Errors: `DataError` with what is wrong and where; `Stopped`."""
    path = Path(os.path.abspath(path))
    watch = watch or Watch()
    watch.look(None, "looking")
    try:
        return _or_better(_opener(path)(path, watch), path, watch)
    except OSError as error:
        raise DataError(f'"{path.name}" cannot be read: {error.strerror or error}.') from error


def _or_better(found: Opened, path: Path, watch: Watch) -> Opened:
    """A table that has nothing to predict, or nothing to predict it from, as what it may be better.

    Texts and their classes are labelled texts, two texts a row are pairs; readings are a series.
    """
    table = found.params.get("table")
    if found.type != reader(FileForm.TABLE) or not isinstance(table, tuple):
        return found
    roles = [(row[1], row[2]) for row in table if isinstance(row, tuple) and len(row) > 2]
    used = sorted(str(kind) for kind, role in roles if role != "ignore")
    words = [kind for kind, role in roles if role == "ignore" and kind in ("text", "category")]
    if words and used in (["category"], ["yes-no"]):
        form, why = (
            FileForm.LABELLED,
            "Read as texts with a class each: a table of it would have no inputs",
        )
    elif not used and words == ["text", "text"]:
        form, why = FileForm.PAIRS, "Read as pairs of texts: a table of it would have no inputs"
    elif used in READINGS and not words and int(str(found.params.get("rows", 0))) >= FEW_READINGS:
        form, why = FileForm.SERIES, "Read as a series: a table of it would have nothing to predict"
    else:
        return found
    try:
        better = open_for(path, reader(form), watch)
    except DataError:
        return found
    return replace(better, remarks=(*better.remarks, f'{why} ("Read as").'))


def open_for(path: Path, type_id: str, watch: Watch | None = None) -> Opened:
    """Look into a file for a node of this type. Errors: `DataError` where it can't be one; `Stopped`."""
    from engine.data.open.reading_as import lacking, refused

    path = Path(os.path.abspath(path))
    watch = watch or Watch()
    form = readers()[type_id]
    module, function = READERS[form]
    if path.is_dir() and form not in OF_FOLDERS:
        raise DataError(f'"{path.name}" is a folder, where one file is needed.')
    if not path.is_dir():
        _check_file(path)
        if why := refused(path, form):
            raise DataError(why)
    opener: Callable[[Path, Watch], Opened] = getattr(importlib.import_module(module), function)
    try:
        found = opener(path, watch)
    except OSError as error:
        raise DataError(f'"{path.name}" cannot be read: {error.strerror or error}.') from error
    except ValueError as error:  # a sentence of a portable reader
        raise DataError(reason_of(error)) from error
    if found.type != type_id:
        raise DataError(f'"{path.name}" cannot be read so: it holds something else.')
    if why := lacking(path, form, found.params):
        raise DataError(why)
    return found


def _check_file(path: Path) -> None:
    """Errors: `DataError` where a path is no file that holds something."""
    if not path.exists():
        raise DataError(f'There is no "{path.name}" in {path.parent}.')
    if not path.is_file():
        raise DataError(f'"{path.name}" is not an ordinary file.')
    if not path.stat().st_size:
        raise DataError(f'"{path.name}" is empty.')


def _opener(path: Path) -> Callable[[Path, Watch], Opened]:
    if path.is_dir():
        module = _in_folder(path)
    else:
        _check_file(path)
        name = path.name.casefold()
        named = (module for module, ends in OPENERS.items() if name.endswith(ends))
        module = next(named, None) or _by_content(path)
    found: Callable[[Path, Watch], Opened] = importlib.import_module(module).open_it
    return found


def _in_folder(path: Path) -> str:
    """The opener of a folder, by its first files: point clouds, graphs, else images."""
    looked_at = 0
    for _, _, files in os.walk(path):
        ends = {os.path.splitext(name)[1].casefold() for name in files}
        for module in ("engine.data.open.points", FOLDERS, "engine.data.open.graphs"):
            if ends & set(OPENERS[module]):
                return module
        if ".npy" in ends:  # a set each
            return "engine.data.open.points"
        looked_at += len(files)
        if looked_at > MOST_LOOKED_AT:
            break
    return FOLDERS


def _by_content(path: Path) -> str:
    """The opener of a file whose name says nothing. Errors: `DataError` where its first bytes say nothing."""
    with open(path, "rb") as file:
        head = file.read(HEAD)
    marks = {
        b"PAR1": "engine.data.open.tables",
        b"ARROW1": "engine.data.open.tables",
        b"\x93NUMPY": "engine.data.open.arrays",
        b"\x89PNG": "engine.data.open.images",
        b"\xff\xd8\xff": "engine.data.open.images",
    }
    for mark, module in marks.items():
        if head.startswith(mark):
            return module
    packed = next((name for mark, name in PACKED.items() if head.startswith(mark)), "")
    if packed or head[257:262] == b"ustar":
        raise DataError(
            f'"{path.name}" is an archive ({packed or "tar"}).', fix="Unpack it, and open what is in it."
        )
    if b"\0" not in head or head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        lines = head.splitlines()[:20]
        parted = any(all(mark in line for line in lines) for mark in (b",", b";", b"\t"))
        return "engine.data.open.tables" if parted else "engine.data.open.text"
    raise DataError(
        f'"{path.name}" is of no kind that can be read: its first bytes are {head[:4].hex(" ")}.',
        fix="Tables, images, arrays, text, series, point clouds and graphs can.",
    )


def stamp(path: Path) -> str:
    """A short mark of a file's content as it is now: its size, and a hash of its beginning and its end.

    Errors: `OSError`.
    """
    size = path.stat().st_size
    with open(path, "rb") as file:
        ends = file.read(HEAD)
        file.seek(max(0, size - HEAD))
        ends += file.read(HEAD)
    return f"{size}-{blake2b(ends, digest_size=8).hexdigest()}"
