"""Which images there are, in what order, and what is known of each, as the folder was laid out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.data.images.listing import (
    image_finder,
    list_rows,
    natural_key,
    readable_name,
    split_number,
    without_split,
)
from engine.emit.sources.parts import Beside, class_lines
from engine.emit.sources.straight import Function
from engine.emit.statements import Statement, quoted, tree
from engine.values import counted

CARRIED: tuple[Function, ...] = (
    image_finder,
    list_rows,
    natural_key,
    readable_name,
    split_number,
    without_split,
)


@dataclass(frozen=True)
class Listed:
    """Lines that make `found`, a list with an item for each image, and expressions of what an item says.

    An item is taken apart by `each`; `label` says its class or a quantity, and what is empty is not known.
    """

    lines: list[Statement]
    carries: tuple[Function, ...]
    found: str
    each: str
    image: str
    mask: str = ""
    label: str = ""
    split: str = ""
    group: str = ""

    def all(self, one: str) -> str:
        """The list of what an expression says of each item."""
        return f"[{one} for {self.each} in {self.found}]"


BELOW = '''
def $name(folder: Path) -> list[str]:
    """The names of all images below a folder, 2 before 10; a folder that is linked to is read once."""
    ends = tuple(".png .jpg .jpeg .jpe .jfif .bmp .gif .webp .tif .tiff .ppm .pgm .pbm".split())
    found: list[str] = []
    seen: set[Path] = set()
    folders, links = [folder], list[Path]()
    while folders or links:
        place = (folders or links).pop()
        inside = [one for one in place.glob("*") if one.name[0] != "." and place.resolve() not in seen]
        seen.add(place.resolve())
        folders += [one for one in inside if one.is_dir() and not one.is_symlink()]
        links += [one for one in inside if one.is_dir() and one.is_symlink()]
        names = [one.relative_to(folder).as_posix() for one in inside if not one.is_dir()]
        found += [name for name in names if name.casefold().endswith(ends)]
    return sorted(found, key=natural_key)
'''
ALONE = """
names = [name for name in $below(folder)$if_name]  #? not given
listed = [(name, *without_split(name, True)) for name in $below(folder)]  #? given
listed = [one for one in listed if one[1] >= 0$and_one]  #? given
if not $found:
    raise SystemExit(f"There are no images in {folder}.")
"""
BY_CLASS = """
<classes>
numbers = {name: number for number, name in enumerate(classes)}
names = [name for name in $below(folder) if "/" in name$and_name]  #? not given
listed = [(name, *without_split(name, True)) for name in $below(folder)]  #? given
listed = [one for one in listed if one[1] >= 0 and "/" in one[2]$and_one]  #? given
if {$label for $each in $found} - numbers.keys() or not $found:
    raise SystemExit(f"The images in {folder} are not those of the $count that it had.")
"""
MASKS = """
names = $below(folder)  #? not given
mask_of = {name[$after:].rpartition(".")[0]: name for name in names if name.startswith($masks)}  #? not given
pairs = [(one, one[$behind:].rpartition(".")[0]) for one in names if one.startswith($images)]  #? not given
pairs: list[tuple[str, str, int]] = []  #? given
mask_of: dict[str, str] = {}  #? given
for name in $below(folder):  #? given
    split, inner = without_split(name, True)
    top, _, rest = inner.partition("/")
    stem = f"{split}/" + rest.rpartition(".")[0]
    if top == $images and split >= 0:
        pairs.append((name, stem, split))
    elif top == $masks:
        mask_of[stem] = name
for stem, mask in [*mask_of.items()]:
    mask_of.setdefault(re.sub("([_-]mask|_seg|_gt|_label)$$", "", stem, flags=re.IGNORECASE), mask)
listed = [(name, mask_of.get(stem, "")$with_split) for name, stem$with_split in pairs]
listed = [one for one in listed if one[1] and $one_reads and $two_reads]  #? apart
if not listed or not all(one[1] for one in listed):
    raise SystemExit(f"Images in {folder} have no masks, or are no longer there.")
"""
FROM_LIST = """
rows_of_list = list_rows((folder / $file).read_bytes(), $file)
head = rows_of_list[0][1]  #? named
known = image_finder($below(folder))
<classes>
numbers = {name: number for number, name in enumerate(classes)}  #? classes
listed = []
for line, row in rows_of_list$behind:
    try:
        name = row[$path].replace("\\\\", "/").removeprefix("./")
        listed.append((known.get(name, name), $label, $split))
    except (LookupError, ValueError):
        raise SystemExit(f"Line {line} of the list in {folder} is not as it was: {row}.") from None
listed = [one for one in listed if $one_reads]  #? apart
if not listed:
    raise SystemExit(f"The list in {folder} names no images.")
"""
FROM_TABLE = """
frame = pl.$reader(folder / $file, columns=$columns)
held = frame[$image]
held = held.struct.field("bytes") if held.dtype == pl.Struct else held
texts = frame[$label].cast(pl.String).fill_null("").to_list()
<classes>
numbers = {name: number for number, name in enumerate(classes)}
if set(texts) - numbers.keys() or not texts:
    raise SystemExit(f"The images in {folder} are not those of the $count that it had.")
listed = [(image or b"", numbers[text]) for image, text in zip(held, texts, strict=True)]
listed = [one for one in listed if $one_reads]  #? apart
"""


def how_many(classes: Sequence[str]) -> str:
    """The number of classes in words."""
    return counted(len(classes), "class", "classes")


def by_class(where: Mapping[str, Any], beside: Beside, readable: str) -> Listed:
    """Images in a folder for each class."""
    classes, given = where["classes"], where["split_folders"]
    found, each = ("listed", "name, split, inner") if given else ("names", "name")
    first = f"{'inner' if given else 'name'}.split({quoted('/')})[0]"
    plain = "".join(classes).isascii()  # what is normalised is never other letters of these
    label = first if plain else f"readable_name({first})"
    lines = tree(
        BY_CLASS,
        classes=class_lines(classes),
        count=how_many(classes),
        below=beside.add(BELOW, "images below"),
        given=given,
        and_name=f" and {readable}(folder / name)" if readable else "",
        and_one=f" and {readable}(folder / one[0])" if readable else "",
        label=label,
        each=each,
        found=found,
    )
    carries: tuple[Function, ...] = (
        natural_key,
        *([without_split] if given else []),
        *([] if plain else [readable_name]),
    )
    return _of_names(given, lines, carries, f"numbers[{label}]")


def alone(where: Mapping[str, Any], beside: Beside, readable: str) -> Listed:
    """Images without labels."""
    given = where["split_folders"]
    lines = tree(
        ALONE,
        below=beside.add(BELOW, "images below"),
        given=given,
        if_name=f" if {readable}(folder / name)" if readable else "",
        and_one=f" and {readable}(folder / one[0])" if readable else "",
        found="listed" if given else "names",
    )
    return _of_names(given, lines, (natural_key, *([without_split] if given else [])), "")


def _of_names(given: bool, lines: list[Statement], carries: tuple[Function, ...], label: str) -> Listed:
    return Listed(
        lines,
        carries,
        "listed" if given else "names",
        "name, split, inner" if given else "name",
        "folder / name",
        label=label,
        split="split",
        group=f"{'inner' if given else 'name'}.rpartition({quoted('/')})[0]",
    )


def with_masks(where: Mapping[str, Any], beside: Beside, readable: str, mask_reads: str) -> Listed:
    """Images in one folder, each with the file of its name in another."""
    given = where["split_folders"]
    lines = tree(
        MASKS,
        below=beside.add(BELOW, "images below"),
        given=given,
        masks=quoted(where["masks"] + ("" if given else "/")),
        images=quoted(where["images"] + ("" if given else "/")),
        after=len(where["masks"]) + 1,
        behind=len(where["images"]) + 1,
        with_split=", split" if given else "",
        apart=readable,
        one_reads=f"{readable}(folder / one[0])",
        two_reads=f"{mask_reads}(folder / one[1])",
    )
    return Listed(
        lines,
        (natural_key, *([without_split] if given else [])),
        "listed",
        "name, mask, split" if given else "name, mask",
        "folder / name",
        mask="folder / mask",
        split="split",
        group=f"name.rpartition({quoted('/')})[0]",
    )


def from_list(where: Mapping[str, Any], beside: Beside, readable: str) -> Listed:
    """Images that a table names, in its order, each with its class or a quantity."""
    classes, header = where["classes"], where["header"]
    places = {one: _place(where[f"{one}_column"], header) for one in ("path", "label")}
    split = where["split_column"]
    places["split"] = _place(split, header) if split else "-1"
    text = f"row[{places['label']}]"
    lines = tree(
        FROM_LIST,
        file=quoted(where["file"]),
        below=beside.add(BELOW, "images below"),
        named=any("head" in one for one in places.values()),
        classes=class_lines(classes) if classes else [],
        behind="[1:]" if header else "",
        path=places["path"],
        label=f"numbers[readable_name({text})]" if classes else f'float({text}.replace(",", "."))',
        split=f"split_number(row[{places['split']}])" if split else "-1",
        apart=readable,
        one_reads=f"{readable}(folder / one[0])",
    )
    more = [*([readable_name] if classes else []), *([split_number] if split else [])]
    return Listed(
        lines,
        (list_rows, image_finder, natural_key, *more),
        "listed",
        "name, label, split",
        "folder / name",
        label="label",
        split="split",
        group=f"name.rpartition({quoted('/')})[0]",
    )


def _place(column: str, header: bool) -> str:
    """Where in a row a column stands that is called by its header, or by its number from 1."""
    number = str(int(column) - 1) if column.isdecimal() and int(column) > 0 else ""
    if not header:
        return number
    place = f"head.index({quoted(column)})"
    return f"{place} if {quoted(column)} in head else {number}" if number else place


def from_table(where: Mapping[str, Any], beside: Beside, readable: str) -> Listed:
    """Images in a column of a Parquet or Arrow file."""
    columns = [where["path_column"], where["label_column"]]
    lines = tree(
        FROM_TABLE,
        file=quoted(where["file"]),
        reader="read_parquet" if where["file"].casefold().endswith(".parquet") else "read_ipc",
        columns=f"[{', '.join(map(quoted, columns))}]",
        image=quoted(columns[0]),
        label=quoted(columns[1]),
        classes=class_lines(where["classes"]),
        count=how_many(where["classes"]),
        apart=readable,
        one_reads=f"{readable}(one[0])",
    )
    return Listed(lines, (), "listed", "image, label", "image", label="label")
