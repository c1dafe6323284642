"""Draws the example's images of shapes and their masks: `python -m tests.gallery.shapes_made FOLDER`.

One to three disks, rings and crosses of random size, place, turn and grey lie on a slope of grey; later
ones cover earlier ones, and noise of deviation 12 lies over all. Neither grey nor place tells a class.
A pixel is of a shape that covers 3/4 of it, of none where less than 1/4 is covered, and between them of no
class (255).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

CLASSES = ("background", "disk", "ring", "cross")
VOID = 255
THICK = 3.0  # pixels, of rings and bars
COUNT, SIDE, FINE = 200, 32, 8  # images, pixels, and points across a pixel that are looked at
SEED = 0
PALETTE = [32, 32, 32, 86, 180, 233, 230, 159, 0, 0, 158, 115]

Drawn = tuple[NDArray[np.uint8], NDArray[np.uint8]]


def inside(kind: int, x: NDArray[np.float64], y: NDArray[np.float64], radius: float) -> NDArray[np.bool_]:
    """Which points lie in a shape about the origin that reaches as far as the radius."""
    away = np.hypot(x, y)
    if kind == 1:
        return np.asarray(away <= 0.8 * radius)
    if kind == 2:
        return np.asarray((away <= radius) & (away >= radius - THICK))
    bar = np.minimum(np.abs(x), np.abs(y)) <= THICK / 2
    return np.asarray(bar & (np.maximum(np.abs(x), np.abs(y)) <= radius))


def drawn(rng: np.random.Generator) -> Drawn:
    """An image (SIDE, SIDE) of grey levels, and its mask."""
    at = (np.arange(SIDE * FINE) + 0.5) / FINE
    y, x = np.meshgrid(at, at, indexing="ij")
    angle, low, high = rng.uniform(0, 2 * np.pi), *rng.uniform(90, 165, 2)
    slope = (np.cos(angle) * (x - SIDE / 2) + np.sin(angle) * (y - SIDE / 2)) / SIDE + 0.5
    fine = low + (high - low) * slope
    covered = np.zeros((len(CLASSES), SIDE, SIDE))
    covered[0] = 1
    for _ in range(rng.integers(1, 4)):
        kind = int(rng.integers(1, 4))
        radius, turn = rng.uniform(5.5, 8.5), rng.uniform(0, 2 * np.pi)
        across, down = rng.uniform(radius, SIDE - radius, 2)
        right, below = x - across, y - down
        here = inside(
            kind,
            np.cos(turn) * right + np.sin(turn) * below,
            np.cos(turn) * below - np.sin(turn) * right,
            radius,
        )
        apart = rng.uniform(60, 100) * rng.choice([-1, 1])
        fine = np.where(here, fine[here].mean() + apart, fine)
        share = by_pixel(here.astype(float))
        covered *= 1 - share
        covered[kind] += share
    image = by_pixel(fine) + rng.normal(0, 12, (SIDE, SIDE))
    mask = covered.argmax(0)
    mask[(covered.max(0) < 0.75)] = VOID
    return image.round().clip(0, 255).astype(np.uint8), mask.astype(np.uint8)


def by_pixel(fine: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over the points of each pixel."""
    return np.asarray(fine.reshape(SIDE, FINE, SIDE, FINE).mean(axis=(1, 3)))


def every() -> list[Drawn]:
    """All images with their masks."""
    rng = np.random.default_rng(SEED)
    return [drawn(rng) for _ in range(COUNT)]


def write(folder: Path) -> None:
    """The images, their masks and the names of the classes, as the example has them."""
    for name in ("images", "masks"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "classes.txt").write_text("".join(f"{name}\n" for name in CLASSES), "utf-8")
    for number, (image, mask) in enumerate(every()):
        Image.fromarray(image).save(folder / "images" / f"{number:03}.png", optimize=True)
        classes = Image.fromarray(mask, "P")
        classes.putpalette(PALETTE + [128, 128, 128] * (256 - len(PALETTE) // 3))
        classes.save(folder / "masks" / f"{number:03}.png", optimize=True)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
