"""Point clouds in `.ply`, `.off`, `.xyz`, `.pts` and `.npy` files. Portable: exports carry this source.

Clouds have as many points as they like. Each comes out with the same number: some are picked where there are
more, the same ones every time, and where there are fewer the rest is zero and masked.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.data.array_reading import stored_array
from engine.data.class_files import class_files
from engine.data.file_there import file_there
from engine.data.lazy import Lazy
from engine.data.splits import split_columns, split_rows


def cloud_files(folder: Path) -> list[tuple[Path, str, str]]:
    """Every cloud below a folder as (file, class, split), in order of their names."""
    return class_files(folder, (".ply", ".off", ".xyz", ".pts", ".npy"))


def read_cloud(path: Path, numbers: int = 3) -> np.ndarray[Any, Any]:
    """The points of a file, (n, numbers) float32. Errors: `ValueError` with the point or what is lacking."""
    end = file_there(path).suffix.casefold()
    if numbers != 3 and end in (".ply", ".off"):
        raise ValueError(f"{path.name} gives x, y and z of each point, not {numbers:,} numbers.")
    if end == ".ply":
        points = ply_points(path)
    elif end == ".npy":
        points = stored_array(path, "", 2**30)
        if points.ndim != 2 or points.shape[1] < numbers or points.dtype.kind not in "iuf":
            wanted = f"(points, {numbers})"
            raise ValueError(f"{path.name} is no cloud: its shape is {points.shape}, not {wanted}.")
    elif end == ".off":
        points = off_points(path)
    else:
        points = text_points(path, numbers)
    with np.errstate(over="ignore"):  # what is too large becomes infinite
        found = np.array(points[:, :numbers], np.float32)
    if not len(found):
        raise ValueError(f"{path.name} has no points.")
    if not np.isfinite(found).all():
        at = int(np.flatnonzero(~np.isfinite(found).all(1))[0])
        raise ValueError(f"{path.name}: point {at + 1:,} is not finite: {found[at].tolist()}.")
    return found


def text_points(path: Path, numbers: int = 3) -> np.ndarray[Any, Any]:
    """The points of a text file, one a line; its first line may count them, or call columns x, y and z.

    Of other lines the first `numbers` are taken.

    Errors: `ValueError`.
    """
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        lines = file.readlines()
    first = [cell.strip("\"'").casefold() for cell in parted_cells(lines[0].lstrip("# "))] if lines else []
    if {"x", "y", "z"} <= set(first) and numbers == 3:
        return numbers_of(lines, 1, None, tuple(first.index(axis) for axis in "xyz"), path.name)
    table = path.suffix.casefold() not in (".xyz", ".pts")
    if table and first and not any(letter.isdecimal() for letter in first[0]):
        raise ValueError(f"{path.name} is no point cloud: its first line names no columns x, y and z.")
    begin = 1 if len(first) == 1 and first[0].isdecimal() else 0
    return numbers_of(lines, begin, None, tuple(range(numbers)), path.name)


def parted_cells(line: str) -> list[str]:
    return line.replace(",", " ").replace(";", " ").split()


def numbers_of(
    lines: list[str], first: int, count: int | None, at: tuple[int, ...], name: str
) -> np.ndarray[Any, Any]:
    """Some of the numbers on each of `count` lines. Errors: `ValueError` with the point."""
    last = len(lines) if count is None else first + count
    if last > len(lines):
        raise ValueError(f"{name} says it has {count:,} points, but ends after {len(lines) - first:,}.")
    rows = []
    for number in range(first, last):
        parts = parted_cells(lines[number])
        if (count is None and not parts) or (parts and parts[0].startswith("#")):
            continue
        try:
            rows.append([float(parts[one]) for one in at])
        except (ValueError, IndexError):
            raise ValueError(f"{name}, point {len(rows) + 1:,}: three numbers should stand there.") from None
    return np.array(rows, np.float64).reshape(-1, len(at))


def off_points(path: Path) -> np.ndarray[Any, Any]:
    """The vertices of an OFF mesh. Errors: `ValueError`."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if line.strip() and not line.lstrip().startswith("#")]
    head = lines[0].strip() if lines else ""
    if not head.endswith("OFF") and not head.startswith("OFF"):
        raise ValueError(f"{path.name} is not an OFF file: it begins with {head[:20]!r}.")
    glued = head.removeprefix("OFF").strip()  # some write the counts behind the word
    counts = (glued or (lines[1] if len(lines) > 1 else "")).split()
    if not counts or not counts[0].isdecimal() or len(counts[0]) > 12:
        raise ValueError(f"{path.name} does not say how many vertices it has.")
    return numbers_of(lines, 1 if glued else 2, int(counts[0]), (0, 1, 2), path.name)


def ply_header(path: Path) -> tuple[str, list[tuple[str, int, list[tuple[str, str]]]], int]:
    """Of a PLY file the form ("" for text, "<" or ">"), the elements with their properties, where they begin.

    A property is its name and numpy's word for its numbers; that of a list is "list" and both of its, such as
    "list u1 i4". Errors: `ValueError`.
    """
    kinds = {"char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2"}
    kinds |= {"ushort": "u2", "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4"}
    kinds |= {"float": "f4", "float32": "f4", "double": "f8", "float64": "f8"}
    name, form = path.name, ""
    elements: list[tuple[str, int, list[tuple[str, str]]]] = []
    with open(path, "rb") as file:
        for number in range(1000):
            line = file.readline(4096)
            words = line.decode("latin-1").split()
            if number == 0 and words != ["ply"]:
                raise ValueError(f"{name} is not a PLY file: it begins with {line[:8].hex(' ')}.")
            if words[:1] == ["format"] and len(words) > 1:
                form = words[1]
            elif words[:1] == ["element"] and len(words) == 3 and words[2].isdecimal() and len(words[2]) < 16:
                elements.append((words[1], int(words[2]), []))
            elif words[:1] == ["property"] and elements and len(words) > 2:
                of_list = f"list {kinds.get(words[2], '?')} {kinds.get(words[3 % len(words)], '?')}"
                kind = of_list if words[1] == "list" else kinds.get(words[1], "")
                elements[-1][2].append((words[-1], kind))
            elif words == ["end_header"]:
                break
        else:
            raise ValueError(f"{name} has no end of its header in the first 1,000 lines.")
        begin = file.tell()
    marks = {"binary_little_endian": "<", "binary_big_endian": ">", "ascii": ""}
    if form not in marks:
        raise ValueError(f"{name} is of the form {form[:40]!r}; ascii and binary ones can be read.")
    return marks[form], elements, begin


def ply_points(path: Path) -> np.ndarray[Any, Any]:
    """x, y and z of the vertices of a PLY file, in text or binary. Errors: `ValueError`."""
    name, size = path.name, path.stat().st_size
    mark, elements, begin = ply_header(path)
    before = 0  # lines or bytes of elements before the vertices
    for element, count, properties in elements:
        if element == "vertex":
            break
        if mark and any(kind.startswith("list") for _, kind in properties):
            raise ValueError(f"{name} has lists before its vertices: save it with the vertices first.")
        before += count * (sum(int((kind or "i0")[1:]) for _, kind in properties) if mark else 1)
    else:
        raise ValueError(f"{name} has no vertices.")
    names = [one for one, _ in properties]
    if not {"x", "y", "z"} <= set(names) or any(kind[:4] in ("", "list") for _, kind in properties):
        raise ValueError(f"The vertices of {name} have no x, y and z as plain numbers.")
    with open(path, "rb") as file:
        file.seek(begin)
        if not mark:
            if count > size:
                raise ValueError(f"{name} says it has {count:,} points, more than it has bytes.")
            lines = file.read().decode("latin-1").splitlines()
            return numbers_of(lines, before, count, tuple(names.index(one) for one in "xyz"), name)
        if len(set(names)) < len(names):
            raise ValueError(f"{name} names a property of its vertices twice.")
        dtype = np.dtype([(one, mark + kind) for one, kind in properties])
        if begin + before + count * dtype.itemsize > size:
            held = max(0, size - begin - before) // dtype.itemsize
            raise ValueError(f"{name} says it has {count:,} points, but ends after {held:,}.")
        file.seek(begin + before)
        found = np.frombuffer(file.read(count * dtype.itemsize), dtype)
    return np.stack([found[one].astype(np.float64) for one in "xyz"], 1)


def normalised(points: np.ndarray[Any, Any], how: str) -> np.ndarray[Any, Any]:
    """Points (n, 3) with their mean at 0 ("centre"), then within 1 of it ("unit ball"), or as they are."""
    if how == "as they are":
        return points
    points = points - points.mean(0, keepdims=True)
    farthest = float(np.sqrt((points.astype(np.float64) ** 2).sum(1)).max())
    return points / np.float32(farthest) if how == "unit ball" and farthest > 1e-12 else points


def sampled(points: np.ndarray[Any, Any], count: int, seed: int, number: int) -> np.ndarray[Any, Any]:
    """`count` points at most, in the order of the file; the seed and the cloud's number say which."""
    if len(points) <= count:
        return points
    picked = np.random.default_rng([seed, number]).permutation(len(points))[:count]
    return points[np.sort(picked)]


class Clouds(Lazy):
    """Clouds in files as (N, points, numbers), or, as `mask`, (N, points) with 1 where a point is one.

    `draw(path, points, seed)` gives the points of a mesh in place of its corners.
    """

    def __init__(
        self,
        files: list[Path],
        points: int,
        normalise: str,
        seed: int,
        device: str,
        mask: bool = False,
        draw: Callable[..., np.ndarray[Any, Any]] | None = None,
        numbers: int = 3,
    ) -> None:
        size = (points,) if mask else (points, numbers)
        super().__init__(len(files), size, torch.float32, device)
        self.files, self.points, self.normalise, self.seed, self.mask = files, points, normalise, seed, mask
        self.draw, self.numbers = draw, numbers

    def read(self, rows: Tensor) -> Tensor:
        found = torch.zeros(len(rows), *self.shape[1:])
        for at, row in enumerate(rows.tolist()):
            points = self.cloud(row)
            if self.mask:
                found[at, : min(len(points), self.points)] = 1
                continue
            kept = sampled(normalised(points, self.normalise), self.points, self.seed, row)
            found[at, : len(kept)] = torch.from_numpy(kept)
        return found

    def cloud(self, row: int) -> np.ndarray[Any, Any]:
        """The points of a row's file, or drawn from its mesh. Errors: `ValueError` with its folder."""
        path = self.files[row]
        try:
            if self.draw is None:
                return read_cloud(path, self.numbers)
            return self.draw(path, self.points, [self.seed, row])
        except ValueError as error:
            raise ValueError(f'In the folder "{path.parent.name}": {error}') from error


def load_clouds(
    folder: Path,
    device: str,
    *,
    classes: tuple[str, ...],
    points: int,
    normalise: str,
    pick: int,
    memory: int,
    splitter: Callable[..., dict[str, Tensor]],
    by: str = "",
    draw: Callable[..., np.ndarray[Any, Any]] | None = None,
    numbers: int = 3,
    **splitting: Any,
) -> dict[str, dict[str, Any]]:
    """Clouds below a folder as {split: {"points": (N, P, numbers), "mask": (N, P), "label": (N,)}}.

    Above `memory` MiB the files are read again for each batch. `by` is "class" or "split", for the splitter.
    `draw` is as for `Clouds`.
    Errors: `ValueError` with the file, `OSError`.
    """
    files = cloud_files(folder)
    if not files:
        raise ValueError(f"There are no point clouds below {folder}: choose the folder again.")
    strange = next((named for _, named, _ in files if classes and named not in classes), None)
    if strange is not None:
        raise ValueError(
            f"The folder {strange!r} is none of the {len(classes)} classes: open the folder again."
        )
    paths = [path for path, _, _ in files]
    label = torch.tensor([classes.index(named) if classes else 0 for _, named, _ in files])
    columns: dict[str, Any] = {
        "points": Clouds(paths, points, normalise, pick, device, draw=draw, numbers=numbers),
        "mask": Clouds(paths, points, normalise, pick, device, mask=True, draw=draw, numbers=numbers),
    }
    if len(files) * points * 4 * (1 + numbers) <= memory * 2**20:
        columns["points"] = columns["points"][:]
        columns["mask"] = columns["mask"][:]
    if classes:
        columns["label"] = label
    splits = {"train": 0, "validation": 1, "test": 2}
    given = torch.tensor([splits.get(split, 0) for _, _, split in files])
    keys = label if by == "class" else given if by == "split" else None
    rows = split_rows(len(files), keys, splitter, splitting, [columns["points"]], columns.get("label"))
    return split_columns(columns, rows, device)


def load_cloud(
    folder: Path,
    device: str,
    *,
    file: str,
    normalise: str,
    splitter: Callable[..., dict[str, Tensor]],
    points: int = 0,
    pick: int = 0,
    draw: Callable[..., np.ndarray[Any, Any]] | None = None,
    numbers: int = 3,
    **splitting: Any,
) -> dict[str, dict[str, Any]]:
    """The points of one cloud, or `points` that `draw` gives, as examples: {split: {"point": (N, numbers)}}.

    Errors: `ValueError`, `OSError`.
    """
    path = folder / file
    found = read_cloud(path, numbers) if draw is None else draw(path, points, [pick, 0])
    point = torch.from_numpy(normalised(found, normalise))
    return split_columns({"point": point}, split_rows(len(point), None, splitter, splitting, [point]), device)
