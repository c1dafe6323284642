"""Reading text files: a whole text, labelled texts, pairs. Portable: exports carry this source.

Line ends of every kind become a line feed. Nothing else is changed, and what is no text is refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.data.file_there import file_there
from engine.data.tables.reading import read_text_table


def read_text(path: Path, encoding: str, empty: bool = False) -> str:
    """The text of a file, which may be `empty`.

    Errors: `ValueError` with the line where the bytes are no text of the encoding.
    """
    raw = file_there(path, empty).read_bytes()
    name = "utf-8-sig" if encoding == "utf-8" else encoding
    try:
        text = raw.decode(name).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f'"{path.name}" is not {encoding}: byte {error.start + 1:,} (line {line:,}) is '
            f"{raw[error.start]:#04x}. Choose another encoding, or save the file as UTF-8."
        ) from error
    if "\0" in text:
        at = text.index("\0")
        raise ValueError(
            f'"{path.name}" has a zero byte in line {text.count(chr(10), 0, at) + 1:,}, which no text has: '
            "choose another encoding (UTF-16?), or another file."
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")


def labelled_rows(
    path: Path, form: str, text: str, label: str, encoding: str, table: dict[str, Any]
) -> tuple[list[tuple[str, str, str]], list[int]]:
    """Texts as (where it stands, text, class or ""), and the split of each: 0 where none is given.

    `form` is "table", "JSON lines", "label first" (`__label__class text`) or "folders". Splits, 0 for train,
    1 for validation and 2 for test, are given by folders of these names above the classes.
    Errors: `ValueError` with the line.
    """
    if form == "folders":
        return rows_of_folders(path, encoding)
    if form == "table":
        rows = rows_of_table(path, [text, label], encoding, table)
    elif form == "JSON lines":
        rows = rows_of_json(path, [text, label], encoding)
    else:
        rows = rows_label_first(path, encoding)
    if not rows:
        raise ValueError(f'"{path.name}" holds no text with a class.')
    return [(where, words, name.strip()) for where, words, name in rows], [0] * len(rows)


def rows_of_table(
    path: Path, names: list[str], encoding: str, table: dict[str, Any]
) -> list[tuple[str, str, str]]:
    """The cells of two columns; rows in which both are empty are left out."""
    frame = read_text_table(path, list(dict.fromkeys(names)), encoding=encoding, blanks=(), **table)
    first = table["skip"] + table["header"] + 1
    cells = zip(*(frame[name].cast(str).fill_null("").to_list() for name in names), strict=True)
    return [(f"row {at:,}", one, other) for at, (one, other) in enumerate(cells, first) if one or other]


def rows_of_json(path: Path, names: list[str], encoding: str) -> list[tuple[str, str, str]]:
    """Two fields of an object a line."""
    rows = []
    for at, line in enumerate(read_text(path, encoding).split("\n"), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f'Line {at:,} of "{path.name}" is no JSON{json_place(error)}.') from error
        if not isinstance(found, dict) or names[0] not in found:
            raise ValueError(f'Line {at:,} of "{path.name}" is no object with the field "{names[0]}".')
        one, other = (field_text(found.get(name)) for name in names)
        if any(0xD800 <= ord(letter) < 0xE000 for letter in one + other):
            raise ValueError(f'Line {at:,} of "{path.name}" has half of a character (a lone surrogate).')
        rows.append((f"line {at:,}", one, other))
    return rows


def json_place(error: Exception) -> str:
    """Where in its line JSON ends to be any, from the 1st character."""
    at = getattr(error, "colno", 0)
    return f": it cannot be understood from character {at:,} on" if at else ""


def field_text(value: Any) -> str:
    """A field of JSON as text: numbers and true or false as they are written, nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def rows_label_first(path: Path, encoding: str) -> list[tuple[str, str, str]]:
    """Lines that begin with `__label__class`, as fastText has them."""
    rows = []
    for at, line in enumerate(read_text(path, encoding).split("\n"), 1):
        if not line.strip():
            continue
        first, _, words = line.strip().partition(" ")
        name = first.removeprefix("__label__") if first.startswith("__label__") else ""
        if words.lstrip().startswith("__label__"):
            raise ValueError(f'Line {at:,} of "{path.name}" has several classes; one can be read.')
        rows.append((f"line {at:,}", words.strip() if name else line, name))
    return rows


def rows_of_folders(folder: Path, encoding: str) -> tuple[list[tuple[str, str, str]], list[int]]:
    """The .txt files of a folder a class, by name; above may lie folders train, validation and test."""
    words = {"train": 0, "training": 0, "val": 1, "valid": 1, "validation": 1, "dev": 1, "test": 2}
    rows, splits = [], []
    below = sorted(one for one in folder.iterdir() if one.is_dir() and not one.name.startswith("."))
    parted = len(below) > 1 and all(one.name.casefold() in words for one in below)
    for top in below:
        classes = sorted(one for one in top.iterdir() if one.is_dir()) if parted else [top]
        for place in classes:
            for path in sorted(place.iterdir()):  # a glob would pass over what may not be listed
                if path.name.endswith(".txt") and path.is_file():
                    where = path.relative_to(folder).as_posix()
                    rows.append((where, read_text(path, encoding, empty=True), place.name))
                    splits.append(words[top.name.casefold()] if parted else 0)
    if not rows:
        raise ValueError(f'"{folder.name}" has no folders of .txt files, one folder a class.')
    return rows, splits


def text_pairs(
    folder: Path, file: str, other: str, source: str, target: str, encoding: str, table: dict[str, Any]
) -> tuple[list[str], list[str]]:
    """Texts and what each goes with: two columns of a table, or the lines of two files.

    Errors: `ValueError` where the files have different numbers of lines, or one of a pair is empty.
    """
    if other:
        left, right = lines_of(folder / file, encoding), lines_of(folder / other, encoding)
        if len(left) != len(right):
            raise ValueError(
                f'"{file}" has {len(left):,} lines but "{other}" has {len(right):,}: '
                "each line needs its partner."
            )
        found = list(zip(left, right, strict=True))
        rows = [(f"line {at:,}", one, two) for at, (one, two) in enumerate(found, 1) if one or two]
    else:
        rows = rows_of_table(folder / file, [source, target], encoding, table)
    for where, one, two in rows:
        if not one.strip() or not two.strip():
            raise ValueError(f'"{file}", {where}: one of the two texts is empty. Fix it, or remove the pair.')
    if not rows:
        raise ValueError(f'"{file}" holds no pair of texts.')
    return [one for _, one, _ in rows], [two for _, _, two in rows]


def lines_of(path: Path, encoding: str) -> list[str]:
    """The lines of a file; a line end at the very end begins no line."""
    return read_text(path, encoding).removesuffix("\n").split("\n")
