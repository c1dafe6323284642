"""Point clouds and meshes, in files of the forms that were found when they were opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.catalogue.identifiers import class_name
from engine.data.class_files import class_files
from engine.data.lazy import Lazy
from engine.emit.sources.parts import Beside, class_lines, divided, divided_each
from engine.emit.sources.splitting import split_lines
from engine.emit.sources.straight import Function, Reading, Straight
from engine.emit.statements import Statement, quoted, tree

MAY_CARRY: tuple[Function, ...] = (Lazy, class_files)
OWN = ("file", "classes", "points", "normalise", "pick", "memory", "by", "draw", "numbers")
OFF, PLY, NPY = ".off", ".ply", ".npy"

MESH = '''
def $name(path: Path) -> $made:
    """The corners of a mesh$and_triangles."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if line.strip() and not line.lstrip().startswith("#")]
    glued = lines[0].strip().removeprefix("OFF").split()  # some write the counts behind the word
    corners, faces = map(int, (glued or lines[1].split())[:2])  #? surface
    corners = int((glued or lines[1].split())[0])  #? not surface
    lines = lines[1 if glued else 2 :]
    if len(lines) < corners:
        raise ValueError(f"it ends after {len(lines)} of {corners} points")
    cells = [line.replace(",", " ").replace(";", " ").split() for line in lines[:corners]]
    points = np.array([[float(cell) for cell in row[:3]] for row in cells]).astype(np.float32)
    fans = []  #? surface
    for words in (line.split() for line in lines[corners : corners + faces]):  #? surface
        face = [int(word) for word in words[1 : 1 + int(words[0])]]
        fans += [(face[0], face[at], face[at + 1]) for at in range(1, len(face) - 1)]
    return points, np.array(fans, np.int64).reshape(-1, 3)  #? surface
    return points  #? not surface
'''
SURFACE = '''
def $name(path: Path, number: int) -> np.ndarray[Any, Any]:
    """Points (n, 3) drawn from the surface of a mesh; its corners where it has none."""
    corners, triangles = $mesh(path)
    first, second, third = (corners[triangles[:, at]].astype(np.float64) for at in range(3))
    total = np.linalg.norm(np.cross(second - first, third - first), axis=1).cumsum()
    if not len(total) or not total[-1] > 0:
        return corners
    draw = np.random.default_rng([$pick, number])
    at = np.searchsorted(total, draw.random($count) * total[-1], side="right").clip(max=len(total) - 1)
    along, across = np.sqrt(draw.random(($count, 1))), draw.random(($count, 1))
    points = (1 - along) * first[at] + along * ((1 - across) * second[at] + across * third[at])
    return np.array(points, np.float32)
'''
PLY_POINTS = '''
def $name(path: Path) -> np.ndarray[Any, Any]:
    """x, y and z of the vertices of a PLY file, in text or binary."""
    kinds = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"}
    kinds |= {"float": "f4", "double": "f8"}
    elements: list[tuple[str, int, list[tuple[str, str]]]] = []
    mark = ""
    with open(path, "rb") as file:
        for line in file:
            words = line.decode("latin-1").split()
            if words[:1] == ["format"]:
                mark = {"binary_little_endian": "<", "binary_big_endian": ">"}.get(words[1], "")
            elif words[:1] == ["element"]:
                elements.append((words[1], int(words[2]), []))
            elif words[:1] == ["property"]:
                elements[-1][2].append((words[-1], kinds.get(words[1], words[1])))
            elif words == ["end_header"]:
                break
        body = file.read()
    place = [element for element, _, _ in elements].index("vertex")
    _, count, properties = elements[place]
    if not mark:
        first = sum(many for _, many, _ in elements[:place])
        rows = body.decode("latin-1").splitlines()[first : first + count]
        at = [[name for name, _ in properties].index(axis) for axis in "xyz"]
        cells = [row.replace(",", " ").replace(";", " ").split() for row in rows]
        if len(cells) < count:
            raise ValueError(f"it ends after {len(cells)} of {count} points")
        return np.array([[float(row[one]) for one in at] for row in cells]).astype(np.float32)
    before = sum(many * np.dtype(held).itemsize for _, many, held in elements[:place])
    found = np.frombuffer(body, np.dtype(properties).newbyteorder(mark), count, before)
    return np.stack([found[axis].astype(np.float64) for axis in "xyz"], 1).astype(np.float32)
'''
TEXT_POINTS = '''
def $name(path: Path) -> np.ndarray[Any, Any]:
    """The points of a text file, one a line; its first line may count them or name columns x, y and z."""
    lines = path.read_text(encoding="utf-8-sig", errors="replace").replace(",", " ").replace(";", " ")
    cells = [line.split() for line in lines.split("\\n")]
    head = [cell.strip("\\"'").casefold() for cell in " ".join(cells[0]).lstrip("# ").split()]
    at = list(range($numbers))
    if {"x", "y", "z"} <= set(head):  #? axes
        at, cells = [head.index(axis) for axis in "xyz"], cells[1:]  #? axes
    elif len(head) == 1 and head[0].isdecimal():  #? axes
        cells = cells[1:]  #? axes
    if len(head) == 1 and head[0].isdecimal():  #? not axes
        cells = cells[1:]  #? not axes
    rows = [row for row in cells if row and not row[0].startswith("#")]
    return np.array([[float(row[one]) for one in at] for row in rows]).astype(np.float32)
'''
ARRAY_POINTS = '''
def $name(path: Path) -> np.ndarray[Any, Any]:
    """The points of a NumPy array, with $numbers numbers each."""
    points = np.load(path, allow_pickle=False)
    if points.ndim != 2 or points.shape[1] < $numbers:
        raise ValueError(f"its shape is {points.shape}")
    return np.array(points[:, :$numbers], np.float32)
'''
CLOUD = '''
def $name(path: Path, number: int) -> np.ndarray[Any, Any]:
    """The points of a cloud$as_normalised."""
    points: np.ndarray[Any, Any]
    try:
        <read>
    except (OSError, LookupError, ValueError) as error:
        raise SystemExit(f"{path} is not as it was: {error}") from error
    if not len(points) or not np.isfinite(points).all():
        raise SystemExit(f"{path} has no points, or one that is not finite.")
    points = points - points.mean(0, keepdims=True)  #? centred
    farthest = float(np.sqrt((points.astype(np.float64) ** 2).sum(1)).max())  #? ball
    points = points / np.float32(farthest) if farthest > 1e-12 else points  #? ball
    if len(points) > $most:  #? picked
        kept = np.random.default_rng([$pick, number]).permutation(len(points))[:$most]  #? picked
        points = points[np.sort(kept)]  #? picked
    return points
'''
LAZY = '''
class $name(Lazy):
    """Clouds that stay in their files, or where their points are, until a batch of them is asked for."""

    def __init__(self, files: Sequence[Path], size: tuple[int, ...], device: str) -> None:
        super().__init__(len(files), size, torch.float32, device)
        self.files = files

    def read(self, rows: Tensor) -> Tensor:
        found = torch.zeros(len(rows), *self.shape[1:])
        for at, row in enumerate(rows.tolist()):
            points = torch.from_numpy($cloud(self.files[row], row))
            found[at, : len(points)] = points if found.dim() == 3 else torch.ones(len(points))
        return found
'''
FILES = """
<classes>
ends = (".ply", ".off", ".xyz", ".pts", ".npy")
files = class_files(folder, ends) if folder.is_dir() else []
if not files$or_others:
    raise SystemExit(f"The clouds in {folder} are not those$of_classes that it had.")
labels = torch.tensor([classes.index(named) for _, named, _ in files])  #? classes
"""
HELD = """
points, mask = torch.zeros(len(files), $size), torch.zeros(len(files), $count)
for at, (path, _, _) in enumerate(files):
    cloud = torch.from_numpy($cloud(path, at))
    points[at, : len(cloud)], mask[at, : len(cloud)] = cloud, 1
"""


def write_clouds(reading: Reading) -> Straight | None:
    """Clouds below a folder, filled up to one number of points."""
    how = reading.options
    forms, classes, count = reading.data.forms(), how["classes"], how["points"]
    if not forms or (PLY in forms and "draw" in how):  # the faces of PLY files come in too many forms
        return None
    if "balance" in how and not classes:
        return None  # the application says why not
    beside = Beside(reading.outside)
    cloud = _cloud(how, forms, beside, count)
    numbers, by = how.get("numbers", 3), how.get("by", "")
    lines = tree(
        FILES,
        classes=class_lines(classes) if classes else [],
        or_others=" or {named for _, named, _ in files} - {*classes}" if classes else "",
        of_classes=f" of the {len(classes)} classes" if classes else "",
    )
    carries: list[Function] = [class_files]
    size = f"{count}, {numbers}"
    if reading.data.row_count() * count * 4 * (1 + numbers) > how["memory"] * 2**20:
        lazy = beside.add(LAZY, "lazy clouds", class_name, cloud=cloud)
        carries.append(Lazy)
        lines.append(Statement("[path for path, _, _ in files]", target="paths"))
        lines.append(Statement(f"points: Any = {lazy}(paths, ({size}), device)"))
        lines.append(Statement(f"mask: Any = {lazy}(paths, ({count},), device)"))
        values = {"points": "points.at(at)", "mask": "mask.at(at)", "label": "labels[at].to(device)"}
    else:
        lines += tree(HELD, size=size, count=count, cloud=cloud)
        values = {}
    given = '{"validation": 1, "test": 2}.get(split, 0)'
    splits = f"torch.tensor([{given} for _, _, split in files])"
    keys = {"class": "labels", "split": splits}.get(by, "None")
    split, called = split_lines(_splitting(how), "len(files)", keys, ["points"], "labels")
    lines += split
    if values:
        more, value = divided_each({name: values[name] for name in reading.wanted})
    else:
        named = {"points": "points", "mask": "mask", "label": "labels"}
        gathered, value = divided({name: named[name] for name in reading.wanted})
        more = [gathered]
    return Straight([*lines, *more], value, [*carries, *called], beside.parts)


def write_cloud(reading: Reading) -> Straight | None:
    """The points of one cloud as examples."""
    how = reading.options
    form = Path(how["file"]).suffix.casefold()
    if (form == PLY and "draw" in how) or "balance" in how:
        return None
    beside = Beside(reading.outside)
    cloud = _cloud(how, (form,), beside, 0)
    lines = [Statement(f"torch.from_numpy({cloud}(folder / {quoted(how['file'])}, 0))", target="points")]
    split, called = split_lines(_splitting(how), "len(points)", inputs=["points"])
    gathered, value = divided({name: "points" for name in reading.wanted})
    return Straight([*lines, *split, gathered], value, called, beside.parts)


def _splitting(how: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in how.items() if name not in OWN}


def _cloud(how: Mapping[str, Any], forms: Sequence[str], beside: Beside, most: int) -> str:
    """The function that reads a file of one of the forms, and picks `most` points, or all for 0."""
    surface, numbers, pick = "draw" in how, how.get("numbers", 3), how.get("pick", 0)
    readers: dict[str, str] = {}
    for form in sorted(forms):
        if form == OFF:
            readers[form] = beside.add(
                MESH,
                "mesh in",
                surface=surface,
                made="tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]"
                if surface
                else "np.ndarray[Any, Any]",
                and_triangles=", and its triangles" if surface else "",
            )
            if surface:
                mesh = readers[form]
                readers[form] = beside.add(SURFACE, "surface of", mesh=mesh, pick=pick, count=how["points"])
        elif form == PLY:
            readers[form] = beside.add(PLY_POINTS, "vertices in")
        elif form == NPY:
            readers[form] = beside.add(ARRAY_POINTS, "points in array", numbers=numbers)
        else:
            readers[form] = readers.get("text") or beside.add(
                TEXT_POINTS, "points in text", numbers=numbers, axes=numbers == 3
            )
            readers["text"] = readers[form]
    readers.pop("text", None)
    calls = {
        form: f"{name}(path, number)" if surface and form == OFF else f"{name}(path)"
        for form, name in readers.items()
    }
    if len(set(calls.values())) == 1:
        read = [Statement(next(iter(calls.values())), target="points")]
    else:
        read = tree("end = path.suffix.casefold()")
        for at, (form, call) in enumerate(calls.items()):
            head = "else:" if at == len(calls) - 1 else f'{"el" if at else ""}if end == "{form}":'
            read += tree("$head\n    points = $call", head=head, call=call)
    normalise = how["normalise"]
    centred = {"centre": " around their mean", "unit ball": " around their mean, within 1 of it"}
    return beside.add(
        CLOUD,
        "cloud in",
        read=read,
        as_normalised=centred.get(normalise, ""),
        centred=normalise != "as they are",
        ball=normalise == "unit ball",
        most=most,
        picked=most > 0,
        pick=pick,
    )
