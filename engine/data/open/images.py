"""A folder of images as a data node: how its labels are laid out, and the sizes and channels that it has."""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from engine.catalogue.traits import FileForm
from engine.data.image_tables import images_in_table
from engine.data.images.decoding import read_image
from engine.data.images.labels import layout_of, some_of
from engine.data.images.listing import (
    files_below,
    is_image,
    list_rows,
    natural_key,
    quoted_name,
    readable_name,
    split_number,
)
from engine.data.open.opening import HEAD, Opened, reader, stamp
from engine.data.telling import listening
from engine.data.watch import Watch
from engine.errors import DataError, reason_of
from engine.values import Value, counted

LOOKED_AT = 2000  # images whose sizes are read, spread evenly over the folder
DECODED = 200_000_000  # pixels; where the images have fewer in all, each is decoded to know whether it can be
LARGEST_SIDE = 256
ORIENTATION = 0x0112  # the EXIF tag
GREYS = ("1", "L", "LA", "La")
MODES = {
    **{"1": "black and white", "L": "grey", "LA": "grey", "P": "with a palette", "PA": "with a palette"},
    **{"I": "grey of 16 bits", "I;16": "grey of 16 bits", "I;16B": "grey of 16 bits"},
}


@dataclass
class Found:
    """What was found of the images that were looked at."""

    sizes: Counter[tuple[int, int]] = field(default_factory=Counter)
    modes: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)  # sentences
    transparent: int = 0
    turned: int = 0
    several: int = 0
    looked_at: int = 0


def open_it(path: Path, watch: Watch) -> Opened:
    """Look into a folder. Errors: `DataError`, `OSError`, `Stopped`."""
    if not path.is_dir():
        raise DataError(
            f"{quoted_name(path.name)} is one image, and a network learns from many.",
            fix="Open the folder that holds it.",
        )
    return _opened(path, watch, None)


def open_list(path: Path, watch: Watch) -> Opened:
    """Look into a list of images in the folder that holds them. Errors: as for `open_it`."""
    return _opened(path.parent, watch, path.name)


def names_images(path: Path) -> bool:
    """Whether the first rows of a text file name images that lie beside it or below. Errors: `OSError`."""
    with open(path, "rb") as file:
        head = file.read(HEAD)
    whole = head if len(head) < HEAD else head[: head.rfind(b"\n") + 1]
    try:
        rows = [row for _, row in list_rows(whole, path.name)[:100]]
    except ValueError:
        return False
    named = [cells[0] for row in rows if (cells := [cell for cell in row if is_image(cell)])]
    if not named or 2 * len(named) < len(rows):
        return False
    first = named[0].replace("\\", "/")
    places = [path.parent, *(one for one in path.parent.iterdir() if one.is_dir())]
    return any((place / text).is_file() for place in places for text in (first, first.rpartition("/")[2]))


def _opened(folder: Path, watch: Watch, list_file: str | None) -> Opened:
    watch.look(None, "listing the folder")
    try:
        names = files_below(folder)
    except OSError as error:
        place = quoted_name(os.path.basename(str(error.filename)))
        raise DataError(f"The folder {place} cannot be read: {error.strerror}.") from error
    outer, begin = folder, posixpath.commonpath(names) if names else ""
    if list_file is None and begin and all(name.count("/") > begin.count("/") + 1 for name in names):
        folder = folder / begin  # that holds all there is, in folders of its own
        names = [name.removeprefix(f"{begin}/") for name in names]
    images = [name for name in names if is_image(name)]
    if not images and any("/" in name and name.casefold().endswith(".txt") for name in names):
        from engine.data.open.text import open_it as open_texts

        return open_texts(folder, watch)
    if not images:
        raise DataError(
            f"There is no image in {quoted_name(folder.name)}.", fix="Open a folder that holds some."
        )
    laid_out = layout_of(folder, names, images, watch, list_file)
    found = _looked_at(folder, laid_out.images, watch)
    if not found.sizes:
        raise DataError(f"None of the images can be read. {found.unreadable[0]}")
    remarks = [*laid_out.remarks, *_oddities(found, len(laid_out.images))]
    if folder != outer:
        remarks.insert(0, f"{quoted_name(outer.name)} holds one folder, {quoted_name(begin)}, which is read.")
    used = (laid_out.params.get("list_file"), laid_out.class_list)
    others = [name for name in names if not is_image(name) and name not in used]
    if bare := _bare_folders(folder, images, laid_out.params.get("split_folders") is True):
        remarks.append(f"{counted(len(bare), 'folder')} with no image: {some_of(map(quoted_name, bare))}.")
    if others:
        remarks.append(
            f"{counted(len(others), 'other file')} left alone: {some_of(map(quoted_name, others))}."
        )
    params = {
        **laid_out.params,
        **_proposed(found),
        "broken": len(found.unreadable),
        "path": str(folder),
        "stamp": stamp_of(folder, names),
    }
    return Opened(reader(FileForm.IMAGES), params, readable_name(folder.name) or "images", tuple(remarks))


def _bare_folders(folder: Path, images: list[str], split_folders: bool) -> list[str]:
    """Folders that could stand for a class and hold no image."""
    filled = {"/".join(name.split("/")[:depth]) for name in images for depth in (1, 2)}
    places = [folder, *(one for one in folder.iterdir() if one.is_dir() and split_number(one.name) >= 0)]
    found = [
        one.relative_to(folder).as_posix()
        for place in (places if split_folders else places[:1])
        for one in place.iterdir()
        if one.is_dir() and not one.name.startswith(".")
    ]
    return sorted(set(found) - filled, key=natural_key)


def stamp_of(folder: Path, names: Iterable[str]) -> str:
    """A mark of what a folder holds now: how many images, and a hash of their names and sizes."""
    mark, count = blake2b(digest_size=8), 0
    for count, name in enumerate(names, 1):  # noqa: B007
        try:
            size = os.stat(os.path.join(folder, name)).st_size
        except OSError:  # a link to nothing
            size = -1
        mark.update(name.encode("utf-8", "surrogateescape") + b"\0" + str(size).encode() + b"\0")
    return f"{count}-{mark.hexdigest()}"


def open_table(path: Path, column: str, label: str, classes: tuple[str, ...], watch: Watch) -> Opened:
    """Images in a column of a Parquet or Arrow file, with the classes of another. Errors: `DataError`."""
    where: dict[str, Value] = {"path_column": column, "label_column": label}
    listed = images_in_table(
        path.parent, file=path.name, classes=classes, path_column=column, label_column=label
    )
    held = dict(zip(listed["path"], listed["held"], strict=True))
    found = _looked_at(path.parent, listed["path"], watch, held)
    if not found.sizes:
        raise DataError(f"None of the images can be read. {found.unreadable[0]}")
    params: dict[str, Value] = {
        "path": str(path.parent),
        "stamp": stamp(path),
        "layout": "list file",
        "list_file": path.name,
        **where,
        "listed": classes,
        "count": len(held),
        "broken": len(found.unreadable),
        **_proposed(found),
    }
    said = (
        f'{counted(len(held), "image")} in the column "{column}", with {len(classes):,} classes in "{label}".'
    )
    return Opened(reader(FileForm.IMAGES), params, path.stem, (said, *_oddities(found, len(held))))


def _looked_at(
    folder: Path, images: list[str], watch: Watch, held: Mapping[str, bytes] | None = None
) -> Found:
    """Sizes, channels and oddities of images spread evenly over the folder; small ones are decoded whole."""
    found = Found()
    every = -(-len(images) // LOOKED_AT)
    some = images[::every]
    left = DECODED if every == 1 else 0
    for at, name in enumerate(some):
        look = partial(_told, watch, at, len(some))
        look()
        try:
            with listening(look):
                left -= read_image(folder, name, partial(_note, found, left), held[name] if held else None)
        except ValueError as error:
            found.unreadable.append(reason_of(error))
    found.looked_at = len(some)
    return found


def _told(watch: Watch, at: int, count: int, done: int = 0, size: int = 0, what: str = "") -> None:
    """How far looking at the images is, and at a large one of them. Errors: `Stopped`."""
    watch.look((at + done / max(1, size)) / count, f"reading {what}" if what else "looking at the images")


def _note(found: Found, pixels: int, image: Any) -> int:
    """Note what an image is, after decoding it if it has at most so many `pixels`; returns its own number."""
    count = int(image.width * image.height)
    if count <= pixels:
        image.load()
    # a PNG's note on turning may stand behind its pixels, so finding it decodes them
    turned = image.getexif().get(ORIENTATION, 1) if count <= pixels or image.format != "PNG" else 1
    found.sizes[image.size if turned > 4 else image.size[::-1]] += 1
    found.modes[image.mode] += 1
    found.transparent += image.has_transparency_data
    found.turned += turned > 1
    found.several += getattr(image, "is_animated", False)  # to count them all would read them all
    return count


def _proposed(found: Found) -> dict[str, Value]:
    """Size, channels and levels that suit the images."""
    (height, width), _ = found.sizes.most_common(1)[0]
    largest = max(height, width)
    if largest > LARGEST_SIDE:
        height = max(1, round(height * LARGEST_SIDE / largest))
        width = max(1, round(width * LARGEST_SIDE / largest))
    deep = any(mode.startswith("I") for mode in found.modes)
    colour = any(mode not in GREYS and not mode.startswith("I") for mode in found.modes)
    return {
        "size": height if height == width else (height, width),
        "channels": "RGB" if colour else "grey",
        "bits": "16" if deep else "8",
    }


def _oddities(found: Found, count: int) -> list[str]:
    """Sentences on what differs among the images and on those that cannot be read."""
    remarks = []
    if found.looked_at < count:
        remarks.append(f"{found.looked_at:,} of the {count:,} images were looked at.")
    (height, width), most = found.sizes.most_common(1)[0]
    size = f"{height}×{width}"
    readable = found.sizes.total()
    if len(found.sizes) == 1:
        remarks.append(f"All are {size} pixels (height×width).")
    else:
        heights, widths = zip(*found.sizes, strict=True)
        remarks.append(
            f"Sizes differ: {most:,} of {readable:,} are {size} (height×width), the others from "
            f"{min(heights)} to {max(heights)} high and {min(widths)} to {max(widths)} wide; "
            "all are resized to one."
        )
    if len(found.modes) > 1:
        said = ", ".join(f"{number:,} {MODES.get(mode, mode)}" for mode, number in found.modes.most_common())
        remarks.append(f"Colours differ: {said}.")
    for number, what in (
        (found.transparent, "has transparent parts: white ...|have transparent parts: white ..."),
        (found.turned, "is turned upright as its camera noted|are turned upright as their cameras noted"),
        (
            found.several,
            "holds several images: the first is taken|hold several images: the first is taken",
        ),
    ):
        if number:
            one, many = what.replace("...", "shows behind them").split("|")
            remarks.append(f"{number:,} {one if number == 1 else many}.")
    if found.unreadable:
        said = " ".join(found.unreadable[:3])
        more = f" And {len(found.unreadable) - 3:,} more." if len(found.unreadable) > 3 else ""
        remarks.append(
            f"{counted(len(found.unreadable), 'image')} cannot be read, and training would stop there "
            f"unless unreadable files are left out: {said}{more}"
        )
    return remarks
