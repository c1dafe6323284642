"""Images in files of their own, and masks beside them, read with Pillow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from engine.catalogue.identifiers import class_name
from engine.data.image_tables import images_in_table
from engine.data.images.listing import images_alone, images_by_class, images_listed, images_with_masks
from engine.data.lazy import Lazy
from engine.emit.sources.image_lists import (
    CARRIED,
    Listed,
    alone,
    by_class,
    from_list,
    from_table,
    with_masks,
)
from engine.emit.sources.parts import Beside, listed_lines
from engine.emit.sources.splitting import split_lines
from engine.emit.sources.straight import Function, Reading, Straight
from engine.emit.statements import Statement, quoted, tree

MAY_CARRY: tuple[Function, ...] = (Lazy, *CARRIED)
LISTERS: Mapping[Function, Callable[..., Listed]] = {
    images_alone: alone,
    images_by_class: by_class,
    images_listed: from_list,
    images_with_masks: with_masks,
    images_in_table: from_table,
}
OWN = ("rows", "where", "image", "values", "void", "unreadable", "memory", "threads", "key")
OPENED = '''
def $name($source) -> Image.Image:
    """The image in a file, turned as its camera noted."""
    try:
        with Image.open($file, formats=("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF", "PPM")) as image:
            if image.width * image.height > 100_000_000:  #? apart
                raise ValueError("it has too many pixels")  #? apart
            image.load()
            return ImageOps.exif_transpose(image)
    except Exception as error:  # a damaged file may fail in any way
        raise $error(f"$named cannot be read: {error}.") from error
'''
LEVELS = '''
def $name($source) -> np.ndarray[Any, Any]:
    """An image as levels, $size."""
    image = $opened($given)
    if image.mode in ("F", "LAB"):  #? apart
        raise ValueError(f"An image of mode {image.mode} is not read.")  #? apart
    if image.mode.startswith("I"):  # grey of 16 bits
        if not 0 <= np.asarray(image).min() <= np.asarray(image).max() <= 65535:  #? apart
            raise ValueError("An image has values beyond 16 bits.")  #? apart
        image = Image.fromarray(np.asarray(image).astype(np.float32))
        grey = $grey.round().astype(np.$dtype)
        return $stacked
    if image.has_transparency_data:  #? covered
        image = image.convert("RGBA")  #? covered
        image = Image.alpha_composite(Image.new("RGBA", image.size, $behind), image)  #? filled
        image = image.convert("RGB")  #? covered
    return $levels
'''
PIXELS = '''
def $name($source) -> np.ndarray[Any, Any]:
    """The class of each pixel of a mask, $size."""
    image = $opened($given)
    image = image.convert(image.mode[0]) if image.mode in ("LA", "PA") else image
    coloured = image.mode not in ("1", "L", "P") and not image.mode.startswith("I")
    values = np.asarray(image.convert("RGB") if coloured else image).astype(np.int64)
    values = values @ (65536, 256, 1) if coloured else values
    <known>
    places = np.searchsorted(known, values).clip(max=len(known) - 1)
    if ((known[places] != values)$counting).any():
        raise $error(f"The mask $named has a value that is of no class.")
    places[values == $void] = -100  # of no class, as losses leave it out  #? void
    image = Image.fromarray(places.astype(np.int32))
    return np.asarray($sized).astype(np.$dtype)
'''
READABLE = '''
def $name($source) -> bool:
    """Whether it can be."""
    try:
        $read($given)
    except ValueError:
        return False
    return True
'''
FILES = '''
class $name(Lazy):
    """$what that stay in their files until a batch of them is asked for."""

    def __init__(self, files: list[$kind], device: str) -> None:
        super().__init__(len(files), $size, torch.$dtype, device)
        self.files = files

    def read(self, rows: Tensor) -> Tensor:
        files = [self.files[row] for row in rows.tolist()]
        <stacked>
        return $values
'''
HELD = '''
class $name(Lazy):
    """$what in memory as whole levels, which become numbers batch by batch."""

    def __init__(self, levels: np.ndarray[Any, Any], device: str) -> None:
        super().__init__(len(levels), $size, torch.$dtype, device)
        self.levels = levels

    def read(self, rows: Tensor) -> Tensor:
        levels = self.levels[rows.numpy()]
        return $values
'''
STACKED = """
with ThreadPoolExecutor($threads) as pool:  #? threads
    levels = np.stack(list(pool.map($read, $files)))  #? threads
levels = np.stack([$read(one) for one in $files])  #? not threads
"""
GROUPS = """
groups = $groups
numbers_of = {group: number for number, group in enumerate(dict.fromkeys(groups))}
keys = torch.tensor([numbers_of[group] for group in groups])
"""


@dataclass(frozen=True)
class Kind:
    """A column of images: how one is read, its size, what becomes of levels, how many bytes are in both."""

    column: str
    read: str
    size: tuple[int, ...]
    values: str
    dtype: str
    level_bytes: int
    value_bytes: int


def write_images(reading: Reading) -> Straight | None:
    """Images with classes, quantities or masks, or alone."""
    options = reading.options
    where, threads, key = options["where"], options["threads"], options["key"]
    beside = Beside(reading.outside)
    kinds, readable = _readers(options, beside)
    masks = len(kinds) > 1
    listed = LISTERS[options["rows"]](where, beside, *readable[: 1 + masks])
    lines = [*listed.lines]
    carries = [*listed.carries]
    count = reading.data.row_count()
    values = {}
    pairing = {name: value for name, value in options.items() if name not in OWN}
    for kind, files in zip(kinds, (listed.all(listed.image), listed.all(listed.mask)), strict=False):
        if kind.column not in reading.wanted and not (kind.column == "image" and "repeats" in pairing):
            continue
        room = options["memory"] * 1_000_000 / len(kinds)
        numbers = count * prod(kind.size)
        stacked = {"read": kind.read, "threads": threads}
        about = {"what": f"{kind.column.capitalize()}s", "size": kind.size, "dtype": kind.dtype}
        if kind.level_bytes * numbers > room:
            made = beside.add(
                FILES,
                f"lazy {kind.column}s",
                class_name,
                kind="bytes" if where_held(options) else "Path",
                stacked=tree(STACKED, files="files", **stacked),
                values=kind.values,
                **about,
            )
            lines.append(Statement(f"{kind.column}s: Any = {made}({files}, device)"))
            carries.append(Lazy)
        else:
            lines += tree(STACKED, files=files, **stacked)
            if kind.value_bytes * numbers > room:
                made = beside.add(HELD, f"held {kind.column}s", class_name, values=kind.values, **about)
                lines.append(Statement(f"{kind.column}s: Any = {made}(levels, device)"))
                carries.append(Lazy)
            else:
                lines.append(Statement(kind.values, target=f"{kind.column}s"))
                values[kind.column] = f"{kind.column}s[at].to(device)"
        values.setdefault(kind.column, f"{kind.column}s.at(at)")
    for column in ("label", "value"):
        if column in reading.wanted or (column == "label" and (key == "label" or "balance" in pairing)):
            whole = f"torch.tensor({listed.all(listed.label)})"
            lines.append(Statement(f"{whole}[:, None]" if column == "value" else whole, target=f"{column}s"))
            values[column] = f"{column}s[at].to(device)"
    keys = {"": "None", "split": f"torch.tensor({listed.all(listed.split)})"}.get(key, "keys")
    if key == "label" and listed.found == "names":
        keys = "labels"  # images in folders come in the order of their classes
    elif keys == "keys":
        lines += tree(GROUPS, groups=listed.all(listed.group) if key == "group" else "labels.tolist()")
    split, called = split_lines(pairing, f"len({listed.found})", keys, ["images"], "labels")
    items = ", ".join(f"{quoted(one)}: {values[one]}" for one in reading.wanted)
    return Straight(
        [*lines, *split],
        f"{{split: {{{items}}} for split, at in rows.items()}}",
        [*carries, *called],
        beside.parts,
    )


def where_held(options: Mapping[str, Any]) -> bool:
    """Whether images are bytes in a table, not files."""
    return options["rows"] is images_in_table


def _readers(options: Mapping[str, Any], beside: Beside) -> tuple[list[Kind], list[str]]:
    """How images, and perhaps masks, are read, and the functions that say whether they can be, if asked."""
    image = options["image"]
    apart = options["unreadable"] == "leave out"
    held = where_held(options)
    given = {
        "source": "held: bytes" if held else "path: Path",
        "given": "held" if held else "path",
        "file": "io.BytesIO(held)" if held else "path",
        "named": "An image of the table" if held else "{path}",
        "apart": apart,
        "error": "ValueError" if apart else "SystemExit",
    }
    given["opened"] = beside.add(OPENED, "open image", **given)
    height, width = image["size"]
    size = (width, height)
    depth = {"grey": 1, "RGB": 3, "RGBA": 4}[image["channels"]]
    kinds = [
        Kind(
            "image",
            _levels(image, beside, given),
            (depth, height, width),
            f"torch.from_numpy(levels.astype(np.float32) / {65535 if image['bits'] == 16 else 255})",
            "float32",
            image["bits"] // 8,
            4,
        )
    ]
    if "values" in options:
        void = options.get("void")
        small = "int16" if void is not None else "uint8" if len(options["values"]) <= 256 else "uint16"
        reads = beside.add(
            PIXELS,
            "pixel classes",
            size=f"({height}, {width})",
            known=_known(options["values"]),
            counting="" if void is None else f" & (values != {void})",
            void=void if void is not None else "",
            sized=sized("image", image["fit"], size, "NEAREST", 0 if void is None else -100),
            dtype=small,
            **given,
        )
        pixels = "torch.from_numpy(levels.astype(np.int64))"
        kinds.append(Kind("mask", reads, (height, width), pixels, "int64", 1 if small == "uint8" else 2, 8))
    readable = ["", ""]
    if apart:
        titles = ("can be read", "mask can be read")
        readable = [
            beside.add(READABLE, title, read=kind.read, **given)
            for title, kind in zip(titles, kinds, strict=False)
        ]
    return kinds, readable


def _known(values: Sequence[int]) -> list[Statement]:
    """The values of masks, in the order of the classes."""
    if tuple(values) == tuple(range(len(values))):
        return [Statement(f"np.arange({len(values)})", target="known")]
    return listed_lines("known", [str(one) for one in values], "np.array")


def _levels(image: Mapping[str, Any], beside: Beside, given: Mapping[str, Any]) -> str:
    """The function that reads an image as levels."""
    height, width = image["size"]
    channels, deep = image["channels"], image["bits"] == 16
    mode = {"grey": "L"}.get(channels, channels)
    found = f"np.asarray({sized('image', image['fit'], (width, height), 'BILINEAR')})"
    plain = sized(f"image.convert({quoted(mode)})", image["fit"], (width, height), "BILINEAR")
    whole = f"np.asarray({plain})"
    levels = f"{whole}[None]" if mode == "L" else f"{whole}.transpose(2, 0, 1)"
    highest = "65535" if deep else "255"
    stacked = {
        "L": "grey[None]",
        "RGB": "np.stack([grey, grey, grey])",
        "RGBA": f"np.stack([grey, grey, grey, np.full_like(grey, {highest})])",
    }
    return beside.add(
        LEVELS,
        "levels of",
        size=f"({len(mode) if mode != 'L' else 1}, {height}, {width})",
        grey=found if deep else f"({found} / 257)",
        dtype="uint16" if deep else "uint8",
        stacked=stacked[mode],
        covered=mode != "RGBA",
        filled=mode != "RGBA" and image["behind"] != "nothing",
        behind=quoted(image["behind"]),
        levels=f"{levels}.astype(np.uint16) * np.uint16(257)" if deep else levels,
        **given,
    )


def sized(image: str, fit: str, size: tuple[int, int], method: str, border: int = 0) -> str:
    """An image brought to (width, height)."""
    how = f"{size}, Image.Resampling.{method}"
    if fit == "crop to fill":
        return f"ImageOps.fit({image}, {how})"
    if fit == "pad to fit":
        return f"ImageOps.pad({image}, {how}, color={border})"
    return f"{image}.resize({how})"
