"""How the labels of a folder of images are laid out, guessed from the names in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from engine.data.file_there import file_there
from engine.data.images.listing import (
    image_finder,
    images_with_masks,
    list_rows,
    natural_key,
    quantity_of,
    quoted_name,
    readable_name,
    split_number,
    without_split,
)
from engine.data.images.masks import mask_values
from engine.data.watch import Watch
from engine.errors import DataError, reason_of
from engine.values import Value, counted

MASK_PARTS = ("mask", "label", "segment", "annotation", "trimap")
MASK_NAMES = ("seg", "gt", "ground truth", "ground_truth", "groundtruth", "target", "targets")
MOST_VALUES = 256  # different values in masks; more are no classes
VOID_LEVEL, VOID_COLOUR = 255, 0xE0E0C0  # of borders, as Pascal VOC and many after it have them
CLASS_LISTS = ("classes.txt", "labels.txt", "names.txt", "codes.txt", "class_names.txt")
MOST_LISTED = 100_000  # bytes of such a list
MOST_QUANTITIES = 50  # different whole numbers in a list above which they are quantities, not classes


@dataclass
class Layout:
    """What a node has to know, the images that are meant, and sentences for the user."""

    params: dict[str, Value]
    images: list[str]
    remarks: list[str] = field(default_factory=list)
    class_list: str = ""  # the file that names the classes of masks


def layout_of(
    folder: Path, names: list[str], images: list[str], watch: Watch, list_file: str | None
) -> Layout:
    """The layout that fits best; a `list_file`, where one is given, is taken. Errors: `DataError`."""
    splits = Counter(without_split(name, True)[0] for name in images)
    given = bool(splits[0]) and bool(splits[1] or splits[2])
    rows = [(name, *without_split(name, given)) for name in images]
    kept = [(name, inner) for name, split, inner in rows if split >= 0 or not given]
    found = _from_list(folder, images, list_file) if list_file else None
    found = found or _masks(folder, kept, given, watch, names) or _class_folders(kept)
    if found is None:
        lists = [
            name
            for name in names
            if "/" not in name
            and name.casefold().endswith((".csv", ".tsv", ".txt"))
            and (folder / name).is_file()
        ]
        tried = (_from_list(folder, images, name) for name in lists)
        found = next((one for one in tried if one is not None), None)
    if found is None:
        found = Layout({"layout": "no labels"}, [name for name, _ in kept])
        found.remarks.append(f"{counted(len(kept), 'image')} without labels.")
    if "split_column" not in found.params:
        found.params["split_folders"] = given
        if given:
            found.params["split"] = "as given"
            found.remarks += _splits(Counter(without_split(name, True)[0] for name in found.images))
    found.params["count"] = len(found.images)
    left = len(images) - len(found.images) - int(found.params.get("layout") == "masks") * len(images)
    if left > 0:
        found.remarks.append(
            f"{counted(left, 'other image')} in the folder {'is' if left == 1 else 'are'} left out."
        )
    return found


def _splits(counts: Counter[int]) -> list[str]:
    words = ("train", "validation", "test")
    said = ", ".join(f"{counts[number]:,} {word}" for number, word in enumerate(words))
    lacking = [word for number, word in enumerate(words) if not counts[number]]
    return [
        f"Splits as they are given: {said}.",
        *(f"None are given for {word}: part of train is taken for it." for word in lacking),
    ]


def _class_folders(kept: list[tuple[str, str]]) -> Layout | None:
    classed = [(name, inner.split("/")[0]) for name, inner in kept if "/" in inner]
    counts = Counter(readable_name(label) for _, label in classed)
    if len(counts) < 2:
        return None
    if len(counts) < len({label for _, label in classed}):
        raise DataError("Two class folders have names that read the same.", fix="Rename one of them.")
    classes = tuple(sorted(counts, key=natural_key))
    said = f"{counted(len(classes), 'class', 'classes')}: {_class_counts(classes, counts)}."
    params: dict[str, Value] = {"layout": "class folders", "classes": classes}
    return Layout(params, [name for name, _ in classed], [said])


def _class_counts(classes: tuple[str, ...], counts: Counter[str]) -> str:
    return some_of(
        (f"{name if name.isprintable() else ascii(name)} {counts[name]:,}" for name in classes), 12
    )


def _from_list(folder: Path, images: list[str], file: str) -> Layout | None:
    """What a list says; None where most of its rows name no image. Errors: `DataError`, where rows differ."""
    try:
        rows = list_rows(file_there(folder / file, empty=True).read_bytes(), file)
    except ValueError as error:
        raise DataError(reason_of(error)) from error
    width = Counter(len(row) for _, row in rows[:100]).most_common(1)[0][0] if rows else 0
    finder = image_finder(images)

    def hits(column: int, among: list[tuple[int, list[str]]]) -> int:
        return sum(_meant(row, column) in finder for _, row in among)

    some = rows[:100]
    path = max(range(width), key=lambda column: hits(column, some), default=0)
    if width < 2 or 2 * hits(path, some) < len(some):
        return None
    header = _meant(rows[0][1], path) not in finder and hits(path, some) > 0
    body = rows[header:]
    short = next((line for line, row in body if len(row) < width), None)
    if short is not None:
        raise DataError(f"{quoted_name(file)}, line {short}, has fewer cells than the others.")
    cells = {column: [row[column] for _, row in body] for column in range(width) if column != path}
    split = next((column for column in cells if all(split_number(one) >= 0 for one in cells[column])), None)
    named = rows[0][1] if header else []
    others = [column for column in cells if column != split]
    if not others:
        return None
    wanted = ("label", "class", "target", "category", "y", "species", "breed")
    labelled = (column for column in others if header and named[column].casefold() in wanted)
    label = next(labelled, others[0])

    def called(column: int) -> str:
        return named[column] if header and named.count(named[column]) == 1 else str(column + 1)

    counts = Counter(readable_name(one) for one in cells[label])
    classes = tuple(sorted(counts, key=natural_key))
    numbers = [quantity_of(one) for one in classes]
    quantity = None not in numbers and (
        len(classes) > MOST_QUANTITIES or any(one is not None and one != int(one) for one in numbers)
    )
    listed = [finder[text] for _, row in body if (text := _meant(row, path)) in finder]
    params: dict[str, Value] = {
        "layout": "list file",
        "list_file": file,
        "list_header": header,
        "path_column": called(path),
        "label_column": called(label),
        "split_column": "" if split is None else called(split),
        "target": "quantity" if quantity else "class",
        "listed": () if quantity else classes,
    }
    what = "a quantity" if quantity else f"of {counted(len(classes), 'class', 'classes')}"
    remarks = [f"{quoted_name(file)} says the labels, {what}, in column {called(label)}."]
    if not quantity:
        remarks.append(f"Of each class: {_class_counts(classes, counts)}.")
    if len(listed) < len(body):
        missing = [row[path] for _, row in body if _meant(row, path) not in finder]
        remarks.append(
            f"{counted(len(missing), 'image')} of the list {'is' if len(missing) == 1 else 'are'} not in the "
            f"folder: {some_of(map(quoted_name, missing))}. Leave unreadable files out, or add them."
        )
    if split is not None:
        params["split"] = "as given"
        remarks += _splits(Counter(split_number(one) for one in cells[split]))
    return Layout(params, listed, remarks)


def _meant(row: list[str], column: int) -> str:
    return row[column].replace("\\", "/").removeprefix("./") if column < len(row) else ""


def _masks(
    folder: Path, kept: list[tuple[str, str]], given: bool, watch: Watch, names: list[str]
) -> Layout | None:
    """Images and masks in two folders, most of whose names are alike."""
    tops = {inner.split("/")[0] for _, inner in kept if "/" in inner}
    masks = [name for name in tops if _means_masks(name.casefold())]
    if len(tops) != 2 or len(masks) != 1:
        return None
    images = (tops - set(masks)).pop()
    listed = images_with_masks(folder, images=images, masks=masks[0], split_folders=given)
    there = {name for name, _ in kept}
    pairs = [(name, mask) for name, mask in zip(listed["path"], listed["mask"], strict=True) if mask in there]
    if 2 * len(pairs) < len(listed["path"]):
        return None
    levels: set[int] = set()
    colours, broken = False, []
    for at, (_, mask) in enumerate(pairs):
        watch.look(at / len(pairs), "reading the masks")
        try:
            values = np.unique(mask_values(folder, mask))
        except ValueError as error:
            broken.append(reason_of(error))
            continue
        levels.update(values.tolist())
        colours = colours or bool(values[-1] > 65535)
        if len(levels) > MOST_VALUES:
            raise DataError(
                f"The masks hold more than {MOST_VALUES} different values, up to {quoted_name(mask)}.",
                fix="Save them without loss, as PNG, with one value a class.",
            )
    if not levels:
        raise DataError(f"None of the masks can be read. {broken[0]}")
    void = _void(levels, colours)
    params: dict[str, Value] = {
        "layout": "masks",
        "images_in": images,
        "masks_in": masks[0],
        "levels": tuple(sorted(levels)),
        "colours": colours,
        **({"void": void} if void else {}),
    }
    file, classes = _named_classes(folder, names, len(levels) - bool(void))
    if classes:
        params["mask_classes"] = ", ".join(classes)
    values_said = some_of((f"#{one:06x}" if colours else str(one) for one in sorted(levels)), 12)
    remarks = [
        f"{counted(len(pairs), 'image')} with masks of {counted(len(levels), 'value')}: {values_said}."
    ]
    if void:
        remarks.append(f"{void} is taken to mark pixels of no class, which don't count.")
    if classes:
        remarks.append(f"{quoted_name(file)} names the classes: {some_of(classes, 12)}.")
    lacking = [name for name, mask in zip(listed["path"], listed["mask"], strict=True) if mask not in there]
    if lacking:
        remarks.append(
            f"{counted(len(lacking), 'image')} without a mask: {some_of(map(quoted_name, lacking))}. "
            "Leave unreadable files out, or add the masks."
        )
    if broken:
        remarks.append(f"{counted(len(broken), 'mask')} cannot be read: {' '.join(broken[:3])}")
    return Layout(params, listed["path"], remarks, file)


def _named_classes(folder: Path, names: list[str], count: int) -> tuple[str, tuple[str, ...]]:
    """A text file that names so many classes, one a line, and those names; nothing where there is none."""
    for name in names:
        if name.casefold() in CLASS_LISTS and (folder / name).is_file():
            text = (
                (folder / name).read_bytes()[:MOST_LISTED].decode("utf-8", "replace").removeprefix("\ufeff")
            )
            found = tuple(readable_name(line.strip()) for line in text.splitlines() if line.strip())
            if len(found) == count and not any("," in one or not one.isprintable() for one in found):
                return name, found
    return "", ()


def _void(levels: set[int], colours: bool) -> str:
    """The value that marks pixels of no class, where it is the usual one beside classes 0, 1, ...; or ""."""
    if colours:
        return f"#{VOID_COLOUR:06x}" if VOID_COLOUR in levels and len(levels) > 2 else ""
    others = sorted(levels - {VOID_LEVEL})
    counted_up = len(others) > 1 and others == list(range(len(others))) and others[-1] < VOID_LEVEL - 1
    return str(VOID_LEVEL) if VOID_LEVEL in levels and counted_up else ""


def _means_masks(name: str) -> bool:
    return name in MASK_NAMES or any(part in name for part in MASK_PARTS)


def some_of(names: Iterable[str], most: int = 3) -> str:
    """Names with commas, the first few of them."""
    every = list(names)
    return ", ".join(every[:most]) + (f" and {len(every) - most:,} more" if len(every) > most else "")
