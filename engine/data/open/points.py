"""Looking into point clouds: one file, or a folder of them with a folder for each class."""

from __future__ import annotations

from pathlib import Path

from engine.catalogue.traits import FileForm
from engine.data.array_reading import stored_array
from engine.data.clouds.files import cloud_files, parted_cells, read_cloud
from engine.data.clouds.meshes import faces_of
from engine.data.open.opening import Opened, reader, stamp
from engine.data.watch import Watch
from engine.errors import DataError, reason_of
from engine.values import Value

MOST_POINTS = 1024  # that are kept of each cloud, unless the user asks for more
LOOKED_AT = 2000  # clouds that are read when a folder is opened


def open_it(path: Path, watch: Watch) -> Opened:
    """A cloud, or a folder of clouds, as a node. Errors: `DataError`."""
    return _folder(path, watch) if path.is_dir() else _file(path, watch)


def _file(path: Path, watch: Watch) -> Opened:
    watch.look(None, "reading")
    try:
        width, more_numbers = _numbers_in([path])
        count = len(read_cloud(path, width))
        faces = len(faces_of(path))
    except ValueError as error:
        raise DataError(reason_of(error)) from error
    others = sum(other.suffix == path.suffix for other in path.parent.iterdir()) - 1
    remarks = [f"Each of its {count:,} {'corners' if faces else 'points'} is an example."]
    if faces:
        remarks.append("Set Points of meshes to surface to draw points anywhere on its faces.")
    if others:
        remarks.append(
            f"There are {others:,} more clouds beside it: open the folder to make each an example."
        )
    remarks += more_numbers
    params: dict[str, Value] = {"path": str(path), "count": count, "stamp": stamp(path), "split": "random"}
    if width != 3:
        params["numbers"] = width
    return Opened(reader(FileForm.POINTS), params, path.stem, tuple(remarks))


def _folder(path: Path, watch: Watch) -> Opened:
    watch.look(None, "listing")
    files = cloud_files(path)
    if not files:
        raise DataError(f'There are no point clouds below "{path.name}": .ply, .off, .xyz, .pts or .npy.')
    classes = sorted({named for _, named, _ in files})
    splits = {split for _, _, split in files}
    if "" in classes and len(classes) > 1:
        loose = next(file for file, named, _ in files if not named)
        raise DataError(f'"{loose.name}" lies beside the folders of the classes: put it into one of them.')
    sizes, meshes = [], 0
    try:
        width, more_numbers = _numbers_in([file for file, _, _ in files[:LOOKED_AT]])
    except ValueError as error:
        raise DataError(reason_of(error)) from error
    for number, (file, _, _) in enumerate(files[:LOOKED_AT]):
        watch.look(number / len(files), "reading")
        try:
            sizes.append(len(read_cloud(file, width)))
            meshes += bool(faces_of(file))
        except ValueError as error:
            raise DataError(
                f'In the folder "{file.parent.name}": {error}', fix="Fix the file, or move it away."
            ) from error
    surfaces = meshes == len(sizes)
    points = MOST_POINTS if surfaces else min(max(sizes), MOST_POINTS)
    more = sum(size > points for size in sizes)
    fewer = sum(size < points for size in sizes)
    what, of = ("meshes", "corners") if surfaces else ("clouds", "points")
    remarks = [f"{len(files):,} {what} of {min(sizes):,} to {max(sizes):,} {of}."]
    if surfaces:
        remarks.append(
            f"{points:,} points are drawn from the surface of each, the same each time; set Points of meshes "
            "to corners for those alone."
        )
    elif meshes:
        remarks.append(f"{meshes:,} of them are meshes, of which the corners are taken.")
    if more and not surfaces:
        remarks.append(f"{more:,} have more than {points:,} points: so many are picked, the same each time.")
    if fewer and not surfaces:
        remarks.append(f"{fewer:,} have fewer than {points:,} points: the mask says which are there.")
    if len(files) > LOOKED_AT:
        remarks.append(f"The first {LOOKED_AT:,} were looked at.")
    remarks += more_numbers
    named = tuple(classes) if classes != [""] else ()
    params: dict[str, Value] = {
        "path": str(path),
        "count": len(files),
        "classes": named,
        "ends": tuple(sorted({file.suffix.casefold() for file, _, _ in files})),
        "points": points,
        "stamp": f"{len(files)}-{sum(file.stat().st_size for file, _, _ in files)}",
    }
    if surfaces:
        params["mesh"] = "surface"
    if width != 3:
        params["numbers"] = width
    if len(splits - {""}) > 1:
        params["split"] = "as given"
        remarks.append(f"Folders say the splits: {', '.join(sorted(splits - {''}))}.")
    return Opened(reader(FileForm.POINTS), params, path.name, tuple(remarks))


def _numbers_in(files: list[Path]) -> tuple[int, list[str]]:
    """How many numbers of each point are read, and what is to be told of it: all of arrays, else x, y and z.

    Errors: `ValueError` where arrays differ.
    """
    arrays = [file for file in files if file.suffix.casefold() == ".npy"]
    if arrays and len(arrays) == len(files):
        widths: dict[int, Path] = {}
        for file in arrays:
            shape = stored_array(file, "", 2**30).shape
            if len(shape) == 2 and shape[1]:  # another one is refused when it is read
                widths.setdefault(int(shape[1]), file)
        if len(widths) > 1:
            (one, first), (other, second) = list(widths.items())[:2]
            raise ValueError(
                f"{first.name} has {one:,} numbers a point and {second.name} {other:,}: they must be alike."
            )
        width = next(iter(widths), 3)
        return width, [] if width == 3 else [f"Each point has {width:,} number{'s'[: width != 1]}."]
    text = next((file for file in files if file.suffix.casefold() in (".xyz", ".pts")), None)
    if text is None:
        return 3, []
    with open(text, encoding="utf-8-sig", errors="replace") as opened:
        lines = [line for line in (opened.readline(10_000) for _ in range(3)) if line.strip()]
    cells = len(parted_cells(lines[-1])) if lines else 3
    if cells <= 3:
        return 3, []
    return 3, [f"Lines hold {cells:,} numbers, of which x, y and z are taken: Numbers of each takes more."]
