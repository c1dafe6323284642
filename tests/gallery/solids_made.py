"""Makes the meshes `solids/` of the example `point-clouds`: python -m tests.gallery.solids_made

Forty of each kind, stretched along each axis by 0.7 to 1.3, tilted by up to 0.3 and then turned about the
upright axis by any angle.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin

import numpy as np

from engine.document.shipped import datasets_folder

FOLDER = datasets_folder() / "files" / "solids"
OF_EACH = 40
Mesh = tuple[list[tuple[float, float, float]], list[tuple[int, ...]]]


def turned(profile: Sequence[tuple[float, float]], around: int) -> Mesh:
    """What radii and heights give that are turned about the upright axis, closed at both ends."""
    angles = [2 * pi * step / around for step in range(around)]
    corners = [(radius * cos(angle), radius * sin(angle), z) for radius, z in profile for angle in angles]
    faces: list[tuple[int, ...]] = []
    for level in range(len(profile) - 1):
        low, high = level * around, (level + 1) * around
        for step in range(around):
            after = (step + 1) % around
            faces.append((low + step, low + after, high + after, high + step))
    top = (len(profile) - 1) * around
    return corners, [*faces, tuple(range(around))[::-1], tuple(range(top, top + around))]


def ring() -> Mesh:
    """A tube bent to a circle."""
    around, tube = 12, 6
    corners, faces = [], []
    for step in range(around):
        a, after = 2 * pi * step / around, (step + 1) % around
        for part in range(tube):
            b, beside = 2 * pi * part / tube, (part + 1) % tube
            reach = 1 + 0.35 * cos(b)
            corners.append((reach * cos(a), reach * sin(a), 0.35 * sin(b)))
            faces.append(
                (step * tube + part, after * tube + part, after * tube + beside, step * tube + beside)
            )
    return corners, faces


def solids() -> dict[str, Mesh]:
    """The five kinds."""
    box = [(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    levels = [0.25 + (pi - 0.5) * step / 5 for step in range(6)]
    return {
        "ball": turned([(sin(level), cos(level)) for level in levels], 8),
        "box": (box, [tuple(side) for side in sides]),
        "cone": turned([(1, -1), (0.02, 1)], 10),
        "ring": ring(),
        "rod": turned([(0.5, -1.2), (0.5, 1.2)], 10),
    }


def made() -> dict[str, str]:
    """The files by name."""
    draw = np.random.default_rng(3)
    found = {}
    for kind, (corners, faces) in solids().items():
        for number in range(OF_EACH):
            points = np.array(corners) * draw.uniform(0.7, 1.3, 3)
            a, t = draw.uniform(0, 2 * pi), draw.uniform(-0.3, 0.3)
            about = np.array([[cos(a), -sin(a), 0], [sin(a), cos(a), 0], [0, 0, 1]])
            tilted = np.array([[1, 0, 0], [0, cos(t), -sin(t)], [0, sin(t), cos(t)]])
            lines = ["OFF", f"{len(points)} {len(faces)} 0"]
            lines += [
                " ".join(f"{value + 0.0:.2f}" for value in point) for point in points @ (tilted @ about).T
            ]
            lines += [" ".join(map(str, (len(face), *face))) for face in faces]
            found[f"{kind}/{number:02}.off"] = "\n".join(lines) + "\n"
    return found


if __name__ == "__main__":
    for name, text in made().items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_text(text, encoding="utf-8")
