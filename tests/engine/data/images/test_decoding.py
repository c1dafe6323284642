"""The levels of one image file are those a person sees in it, whatever the file's kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.data.images.decoding import image_levels
from engine.data.images.masks import mask_classes

RED, GREEN = (255, 0, 0), (0, 128, 0)


def levels(path: Path, **changes: Any) -> np.ndarray:
    asked = {"size": (2, 2), "fit": "stretch", "channels": "RGB", "behind": "white", "bits": 8, **changes}
    return image_levels(path.parent, path.name, **asked)


def saved(folder: Path, image: Image.Image, name: str = "a.png", **how: Any) -> Path:
    image.save(folder / name, **how)
    return folder / name


def test_grey_and_colours_keep_their_levels(tmp_path: Path) -> None:
    grey = np.array([[0, 1], [254, 255]], np.uint8)
    path = saved(tmp_path, Image.fromarray(grey))
    assert np.array_equal(levels(path, channels="grey"), grey[None])
    assert np.array_equal(levels(path), np.stack([grey] * 3))
    assert levels(path, channels="RGBA")[3].tolist() == [[255, 255], [255, 255]]
    colours = np.array([[RED, GREEN], [(0, 0, 255), (9, 8, 7)]], np.uint8)
    for name in ("a.png", "a.bmp", "a.tif", "a.ppm"):
        found = levels(saved(tmp_path, Image.fromarray(colours), name))
        assert found.dtype == np.uint8 and np.array_equal(found, colours.transpose(2, 0, 1))


def test_grey_of_a_colour_is_its_luma(tmp_path: Path) -> None:
    path = saved(tmp_path, Image.new("RGB", (2, 2), GREEN))
    assert levels(path, channels="grey").tolist() == [[[75, 75], [75, 75]]]  # 0.587 * 128


def test_a_palette_is_looked_up(tmp_path: Path) -> None:
    image = Image.new("P", (2, 2), 3)
    image.putpalette([0] * 9 + [10, 20, 30])
    assert levels(saved(tmp_path, image))[:, 0, 0].tolist() == [10, 20, 30]


def test_black_and_white_is_0_and_255(tmp_path: Path) -> None:
    image = Image.fromarray(np.array([[True, False], [False, True]]))
    assert levels(saved(tmp_path, image), channels="grey").tolist() == [[[255, 0], [0, 255]]]


def test_cmyk_becomes_rgb(tmp_path: Path) -> None:
    path = saved(tmp_path, Image.new("CMYK", (2, 2), (255, 0, 0, 0)), "a.tif")
    assert levels(path)[:, 0, 0].tolist() == [0, 255, 255]
    path = saved(tmp_path, Image.new("CMYK", (16, 16), (0, 255, 255, 0)), "a.jpg", quality=95)
    assert np.abs(levels(path)[:, 0, 0].astype(int) - RED).max() <= 3


def test_sixteen_bits_are_kept_or_rounded(tmp_path: Path) -> None:
    deep = np.array([[0, 257], [300, 65535]], np.uint16)
    for name in ("a.png", "a.tif"):
        path = saved(tmp_path, Image.fromarray(deep), name)
        assert np.array_equal(levels(path, channels="grey", bits=16), deep[None])
        assert levels(path, channels="grey").tolist() == [[[0, 1], [1, 255]]]
    path = saved(tmp_path, Image.fromarray(np.array([[0, 1], [2, 255]], np.uint8)))
    assert levels(path, channels="grey", bits=16).tolist() == [[[0, 257], [514, 65535]]]


def test_values_beyond_sixteen_bits_are_refused(tmp_path: Path) -> None:
    for values in (np.array([[0.5]], np.float32), np.array([[70000]], np.int32), np.array([[-1]], np.int32)):
        with pytest.raises(ValueError, match=r'"a.tif" has values beyond 16 bits'):
            levels(saved(tmp_path, Image.fromarray(values), "a.tif"))


@pytest.mark.parametrize(
    ("behind", "seen"), [("white", [255, 255, 255]), ("black", [0, 0, 0]), ("nothing", [1, 2, 3])]
)
def test_what_is_transparent_shows_what_is_behind(tmp_path: Path, behind: str, seen: list[int]) -> None:
    path = saved(tmp_path, Image.new("RGBA", (2, 2), (1, 2, 3, 0)))
    assert levels(path, behind=behind)[:, 0, 0].tolist() == seen
    assert levels(path, behind=behind, channels="RGBA")[3].max() == 0
    palette = Image.new("P", (2, 2), 1)
    palette.putpalette([9, 9, 9, 1, 2, 3])
    assert levels(saved(tmp_path, palette, transparency=1), behind=behind)[:, 0, 0].tolist() == seen


def test_a_photo_is_turned_as_its_camera_noted(tmp_path: Path) -> None:
    image = Image.fromarray(np.array([[0, 50, 100], [150, 200, 250]], np.uint8))
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned a quarter clockwise
    path = saved(tmp_path, image, exif=exif)
    found = levels(path, size=(3, 2), channels="grey")
    assert found.tolist() == [[[150, 0], [200, 50], [250, 100]]]


def test_the_first_of_several_pictures(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (2, 2), colour) for colour in (RED, GREEN)]
    path = saved(tmp_path, frames[0], "a.gif", save_all=True, append_images=frames[1:])
    assert levels(path)[:, 0, 0].tolist() == list(RED)


def test_three_ways_of_resizing(tmp_path: Path) -> None:
    wide = np.zeros((2, 6), np.uint8)
    wide[:, 2:4] = 200
    path = saved(tmp_path, Image.fromarray(wide))
    assert levels(path, channels="grey", fit="crop to fill").tolist() == [[[200, 200], [200, 200]]]
    padded = levels(path, channels="grey", fit="pad to fit", size=(6, 6))[0]
    assert np.array_equal(padded[2:4], wide) and not padded[:2].any() and not padded[4:].any()
    stretched = levels(path, channels="grey", size=(2, 3))[0]
    # weights 1/4, 3/4, 3/4, 1/4; at the border 3/4, 3/4, 1/4
    assert stretched.tolist() == [[29, 150, 29]] * 2


def test_masks_are_class_numbers_whatever_they_are_saved_as(tmp_path: Path) -> None:
    raw = np.array([[0, 255, 7], [7, 7, 0]], np.uint8)
    wanted = [[0, 2, 1], [1, 1, 0]]

    def classes(image: Image.Image, values: tuple[int, ...], **changes: Any) -> list[list[int]]:
        path = saved(tmp_path, image)
        asked = {"size": (2, 3), "fit": "stretch", "values": values, **changes}
        return mask_classes(path.parent, path.name, **asked).tolist()

    assert classes(Image.fromarray(raw), (0, 7, 255)) == wanted
    palette = Image.fromarray(np.array(wanted, np.uint8)).convert("P")
    palette.putpalette([5, 5, 5, 250, 0, 0, 0, 250, 0])
    assert classes(palette, (0, 1, 2)) == wanted
    colours = np.array([[0, 0, 1], [0, 0, 2], [1, 0, 0]], np.uint8)[np.array(wanted)]
    assert classes(Image.fromarray(colours), (1, 2, 65536)) == wanted
    doubled = classes(Image.fromarray(raw), (0, 7, 255), size=(4, 6))
    assert doubled == np.repeat(np.repeat(wanted, 2, 0), 2, 1).tolist()
    with pytest.raises(ValueError, match="value 7, which is no class"):
        classes(Image.fromarray(raw), (0, 255))


def test_pixels_of_no_class_stay_so_when_a_mask_is_resized_or_padded(tmp_path: Path) -> None:
    raw = np.array([[0, 255, 1], [1, 1, 0]], np.uint8)
    path = saved(tmp_path, Image.fromarray(raw))

    def classes(**changes: Any) -> np.ndarray:
        asked = {"size": (2, 3), "fit": "stretch", "values": (0, 1), "void": 255, **changes}
        return mask_classes(path.parent, path.name, **asked)

    wanted = np.array([[0, -100, 1], [1, 1, 0]])
    assert np.array_equal(classes(), wanted)
    assert np.array_equal(classes(size=(4, 6)), wanted.repeat(2, 0).repeat(2, 1))
    square = classes(size=(3, 3), fit="pad to fit")
    assert np.array_equal(square[:2], wanted) and (square[2] == -100).all()  # filled with no class
    assert classes(values=(0, 1, 255), void=None)[0].tolist() == [0, 2, 1]  # of old projects: a class
