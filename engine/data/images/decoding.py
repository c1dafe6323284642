"""One image file as numbers. Portable: exports carry this source.

Sizes, channels and levels are what was asked for, whatever the file holds: turned as its camera noted,
palettes looked up, CMYK as RGB, the first image of several. Errors: `ValueError` that names the file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from engine.data.images.listing import quoted_name
from engine.data.images.stopping import stoppable, told


def image_bytes(path: Path, held: bytes | None) -> Any:
    """The file of an image, or the bytes that are held in its place, to be read from."""
    import io

    return open(path, "rb") if held is None else io.BytesIO(held)


globals()["image_bytes"] = told(image_bytes)


def read_image(folder: Path, name: str, take: Callable[[Any], Any], held: bytes | None = None) -> Any:
    """What `take` makes of a file's PIL image while it is open; of the bytes that are `held` in its place."""
    import logging
    import warnings

    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise ImportError("Images are read by Pillow: pip install pillow.") from error
    warnings.filterwarnings("ignore", module="PIL")  # what matters is told below, in words
    logging.getLogger("PIL").setLevel(logging.CRITICAL)
    kinds = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF", "PPM")
    most = 100_000_000
    what = quoted_name(name)
    if held is None:
        check_image_file(folder, name)
    try:
        with image_bytes(folder / name, held) as file, Image.open(file, formats=kinds) as image:
            if image.width * image.height > most:
                raise Image.DecompressionBombError
            return take(image)
    except Image.DecompressionBombError as error:
        raise ValueError(f"{what} has more than {most:,} pixels, the most that are read.") from error
    except UnidentifiedImageError as error:
        raise ValueError(f"{what} is no image of a kind that can be read.") from error
    except PermissionError as error:
        raise ValueError(f"{what} may not be read: {error.strerror}.") from error
    except Exception as error:  # a damaged file may fail in any way, in words that say little
        reason = "is cut short" if "truncated" in str(error) else "is damaged"
        raise ValueError(f"{what} {reason}.") from error


globals()["read_image"] = stoppable(read_image)


def check_image_file(folder: Path, name: str) -> None:
    """Errors: `ValueError` where there is no ordinary file with something in it."""
    what = quoted_name(name)
    try:
        plain, there = (folder / name).is_file(), (folder / name).exists()
        empty = plain and not (folder / name).stat().st_size
    except (OSError, ValueError) as error:  # too long, or with a zero in it
        raise ValueError(f"{what} is no name that a file can have.") from error
    if not there:
        raise ValueError(f"{what} is not there: it should be in {folder}.")
    if not plain:  # a pipe could keep its reader waiting for ever
        raise ValueError(f"{what} is not an ordinary file.")
    if empty:
        raise ValueError(f"{what} is empty.")


def upright(image: Any) -> Any:
    """The first image of a file, turned as its camera noted."""
    from PIL import ImageOps

    image.load()
    return ImageOps.exif_transpose(image)


def of_size(image: Any, size: tuple[int, int], fit: str, smooth: bool = True, border: Any = 0) -> Any:
    """A PIL image of (height, width): stretched, cropped to fill or padded to fit."""
    from PIL import Image, ImageOps

    method = Image.Resampling.BILINEAR if smooth else Image.Resampling.NEAREST
    target = (size[1], size[0])
    if image.size == target:
        return image
    if fit == "crop to fill":
        return ImageOps.fit(image, target, method)
    if fit == "pad to fit":
        return ImageOps.pad(image, target, method, color=border)
    return image.resize(target, method)


def image_levels(
    folder: Path,
    name: str,
    *,
    size: tuple[int, int],
    fit: str,
    channels: str,
    behind: str,
    bits: int,
    held: bytes | None = None,
) -> np.ndarray:
    """An image as (C, H, W) levels, uint8 or uint16; grey is the luma of ITU-R BT.601.

    Where no alpha is asked for, what is transparent shows the "white" or "black" that is `behind` it, or with
    "nothing" its own colour.
    """
    mode = {"grey": "L", "RGB": "RGB", "RGBA": "RGBA"}[channels]
    image = read_image(folder, name, upright, held)
    if image.mode.startswith(("I", "F")):
        return deep_levels(image, name, size, fit, mode, bits)
    if image.mode == "LAB":
        raise ValueError(f"{quoted_name(name)} has LAB colours: save it as RGB.")
    if image.has_transparency_data and mode != "RGBA":
        image = image.convert("RGBA")
        if behind != "nothing":
            from PIL import Image

            image = Image.alpha_composite(Image.new("RGBA", image.size, behind), image)
        image = image.convert("RGB")
    levels = np.asarray(of_size(image.convert(mode), size, fit))
    levels = levels[None] if levels.ndim == 2 else levels.transpose(2, 0, 1)
    return levels.astype(np.uint16) * np.uint16(257) if bits == 16 else levels


def deep_levels(image: Any, name: str, size: tuple[int, int], fit: str, mode: str, bits: int) -> np.ndarray:
    """The levels of a grey image of 16 bits, as `image_levels` gives them."""
    from PIL import Image

    values = np.asarray(image)
    if image.mode == "F" or values.min() < 0 or values.max() > 65535:
        raise ValueError(f"{quoted_name(name)} has values beyond 16 bits: save it with 8 or 16 bits.")
    found = np.asarray(of_size(Image.fromarray(values.astype(np.float32)), size, fit))
    grey = found.round().astype(np.uint16) if bits == 16 else (found / 257).round().astype(np.uint8)
    opaque = np.full_like(grey, np.iinfo(grey.dtype).max)
    return np.stack([grey] * {"L": 1, "RGB": 3, "RGBA": 3}[mode] + [opaque] * (mode == "RGBA"))
