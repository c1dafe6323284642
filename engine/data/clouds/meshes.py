"""Points drawn from the surface of a mesh: `.off`, or `.ply` with faces. Portable: exports carry this."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from engine.data.clouds.files import ply_header, read_cloud


def surface_points(path: Path, count: int, seed: list[int]) -> np.ndarray[Any, Any]:
    """`count` points (count, 3) float32 anywhere on the faces, as dense on each; the same for a seed.

    A file without faces, or whose faces have no area, gives its points as they are. Errors: `ValueError`.
    """
    corners = read_cloud(path)
    triangles = triangles_of(faces_of(path), len(corners), path.name)
    first, second, third = (corners[triangles[:, at]].astype(np.float64) for at in range(3))
    areas = np.linalg.norm(np.cross(second - first, third - first), axis=1)
    total = areas.cumsum()
    if not len(total) or not total[-1] > 0:
        return corners
    draw = np.random.default_rng(seed)
    at = np.searchsorted(total, draw.random(count) * total[-1], side="right").clip(max=len(total) - 1)
    along, across = np.sqrt(draw.random((count, 1))), draw.random((count, 1))
    points = (1 - along) * first[at] + along * ((1 - across) * second[at] + across * third[at])
    found: np.ndarray[Any, Any] = points.astype(np.float32)
    return found


def triangles_of(faces: list[list[int]], corners: int, name: str) -> np.ndarray[Any, Any]:
    """Faces as triangles (t, 3) that fan out from their first corners. Errors: `ValueError` with the face."""
    strange = next((at for at, face in enumerate(faces) for one in face if not 0 <= one < corners), None)
    if strange is not None:
        raise ValueError(f"{name}, face {strange + 1:,}: it names a corner that is none of the {corners:,}.")
    fans = [(face[0], face[at], face[at + 1]) for face in faces for at in range(1, len(face) - 1)]
    return np.array(fans, np.int64).reshape(-1, 3)


def faces_of(path: Path) -> list[list[int]]:
    """The corners of each face by number; none where a file has no faces. Errors: `ValueError`."""
    end = path.suffix.casefold()
    return off_faces(path) if end == ".off" else ply_faces(path) if end == ".ply" else []


def off_faces(path: Path) -> list[list[int]]:
    """The faces of an OFF file, whose corners have been read. Errors: `ValueError` with the face."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if line.strip() and not line.lstrip().startswith("#")]
    glued = lines[0].strip().removeprefix("OFF").strip()
    counts = (glued or lines[1]).split()
    first = (1 if glued else 2) + int(counts[0])
    count = int(counts[1]) if len(counts) > 1 and counts[1].isdecimal() and len(counts[1]) < 13 else 0
    return [face_of(line.split(), 0, path.name, at) for at, line in enumerate(lines[first : first + count])]


def face_of(words: list[str], place: int, name: str, number: int) -> list[int]:
    """The corners after the word that counts them. Errors: `ValueError` with the face."""
    try:
        count = int(words[place])
        found = [int(word) for word in words[place + 1 : place + 1 + count]]
    except (ValueError, IndexError):
        found, count = [], 1
    if len(found) != count:
        raise ValueError(f"{name}, face {number + 1:,}: the numbers of its corners should stand there.")
    return found


def ply_faces(path: Path) -> list[list[int]]:
    """The faces of a PLY file, in text or binary. Errors: `ValueError` with the face."""
    mark, elements, begin = ply_header(path)
    at = next((at for at, (element, _, _) in enumerate(elements) if element == "face"), None)
    if at is None:
        return []
    _, count, properties = elements[at]
    place = next((one for one, (_, kind) in enumerate(properties) if kind.startswith("list")), None)
    before = elements[:at]
    if place is None or any(kind.startswith("list") for _, _, more in before for _, kind in more):
        return []
    body = path.read_bytes()[begin:]
    if not mark:
        lines = body.decode("latin-1").splitlines()[sum(many for _, many, _ in before) :]
        if count > len(lines):
            raise ValueError(f"{path.name} says it has {count:,} faces, but ends after {len(lines):,}.")
        return [face_of(line.split(), place, path.name, one) for one, line in enumerate(lines[:count])]
    sizes = [sum(int((kind or "i0")[1:]) for _, kind in more) for _, _, more in before]
    start = sum(many * size for (_, many, _), size in zip(before, sizes, strict=True))
    return binary_faces(body[start:], count, mark, [kind for _, kind in properties], place, path.name)


def binary_faces(
    body: bytes, count: int, mark: str, kinds: list[str], place: int, name: str
) -> list[list[int]]:
    """`count` faces whose properties are of `kinds`; the corners are the list at `place`.

    Errors: `ValueError` where the file ends too soon.
    """
    found, at = [], 0
    for number in range(count):
        for one, kind in enumerate(kinds):
            of, _, each = kind.removeprefix("list ").partition(" ")
            if "?" in kind or not of:
                raise ValueError(f"{name} has faces of a kind of numbers that is not known.")
            many, held = 1, of
            if each:
                if at + int(of[1:]) > len(body):
                    raise ValueError(f"{name} says it has {count:,} faces, but ends after {number:,}.")
                many, held = int(np.frombuffer(body, mark + of, 1, at)[0]), each
                at += int(of[1:])
            size = many * int(held[1:])
            if many < 0 or at + size > len(body):
                raise ValueError(f"{name} says it has {count:,} faces, but ends after {number:,}.")
            if one == place:
                found.append([int(corner) for corner in np.frombuffer(body, mark + held, many, at)])
            at += size
    return found
