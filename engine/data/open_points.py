"""Looking into point clouds: one file, or a folder of them with a folder for each class."""

from __future__ import annotations

from pathlib import Path

from engine.data.clouds import cloud_files, read_cloud
from engine.data.meshes import faces_of
from engine.data.opening import Opened, Watch, stamp
from engine.errors import DataError
from engine.values import Value

MOST_POINTS = 1024  # that are kept of each cloud, unless a person asks for more
LOOKED_AT = 2000  # clouds that are read when a folder is opened


def open_it(path: Path, watch: Watch) -> Opened:
    """A cloud, or a folder of clouds, as a node. Errors: `DataError`."""
    return _folder(path, watch) if path.is_dir() else _file(path, watch)


def _file(path: Path, watch: Watch) -> Opened:
    watch.look(None, "reading")
    try:
        count = len(read_cloud(path))
        faces = len(faces_of(path))
    except ValueError as error:
        raise DataError(str(error)) from error
    others = sum(other.suffix == path.suffix for other in path.parent.iterdir()) - 1
    remarks = [f"Each of its {count:,} {'corners' if faces else 'points'} is an example."]
    if faces:
        remarks.append("Set Points of meshes to surface to draw points anywhere on its faces.")
    if others:
        remarks.append(
            f"There are {others:,} more clouds beside it: open the folder to make each an example."
        )
    params: dict[str, Value] = {"path": str(path), "count": count, "stamp": stamp(path), "split": "random"}
    return Opened("CloudFile", params, path.stem, tuple(remarks))


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
    for number, (file, _, _) in enumerate(files[:LOOKED_AT]):
        watch.look(number / len(files), "reading")
        try:
            sizes.append(len(read_cloud(file)))
            meshes += bool(faces_of(file))
        except ValueError as error:
            raise DataError(
                f'In the folder "{file.parent.name}": {error}', fix="Mend the file, or move it away."
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
    named = tuple(classes) if classes != [""] else ()
    params: dict[str, Value] = {
        "path": str(path),
        "count": len(files),
        "classes": named,
        "points": points,
        "stamp": f"{len(files)}-{sum(file.stat().st_size for file, _, _ in files)}",
    }
    if surfaces:
        params["mesh"] = "surface"
    if len(splits - {""}) > 1:
        params["split"] = "as given"
        remarks.append(f"Folders say the splits: {', '.join(sorted(splits - {''}))}.")
    return Opened("CloudFile", params, path.name, tuple(remarks))
