"""Masks: images that say of which class each pixel of another is. Portable: exports carry this source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from engine.data.images.decoding import of_size, read_image, upright
from engine.data.images.listing import quoted_name


def mask_values(folder: Path, name: str) -> np.ndarray:
    """What a mask says of its pixels, (H, W) int64.

    That is an index into its palette, a grey level, or for colours red * 65536 + green * 256 + blue.
    """
    image = read_image(folder, name, upright)
    if image.mode in ("LA", "PA"):
        image = image.convert({"LA": "L", "PA": "P"}[image.mode])
    if image.mode in ("1", "L", "P") or image.mode.startswith("I"):
        return np.asarray(image).astype(np.int64)
    red, green, blue = np.moveaxis(np.asarray(image.convert("RGB")).astype(np.int64), 2, 0)
    return np.asarray(red * 65536 + green * 256 + blue)


def mask_classes(
    folder: Path,
    name: str,
    *,
    values: tuple[int, ...],
    size: tuple[int, int],
    fit: str,
    void: int | None = None,
) -> np.ndarray:
    """A mask as class numbers (H, W), uint8 or uint16: places among the sorted `values`.

    Pixels of the value `void` have no class: they are -100, in int16, and so is padding, which else is of the
    first class. It is resized without mixing classes.
    """
    from PIL import Image

    found = mask_values(folder, name)
    known = np.array(values, np.int64)
    places = np.searchsorted(known, found).clip(max=len(known) - 1)
    uncounted = found == void if void is not None else np.zeros(found.shape, bool)
    strange = found[(known[places] != found) & ~uncounted]
    if len(strange):
        raise ValueError(
            f"The mask {quoted_name(name)} has the value {strange[0]}, which is no class: "
            "choose the folder again."
        )
    places[uncounted] = -100
    image: Any = Image.fromarray(places.astype(np.int32))
    border = 0 if void is None else -100
    sized = np.asarray(of_size(image, size, fit, smooth=False, border=border))
    if void is not None:
        return sized.astype(np.int16)
    return sized.astype(np.uint8 if len(known) <= 256 else np.uint16)
