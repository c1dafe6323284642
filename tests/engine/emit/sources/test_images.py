"""Images in folders, lists, tables and with masks: a script's lines give what the application reads."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from engine.data.images.files import HeldLevels
from engine.data.lazy import Lazy
from engine.data.open.opening import open_data
from tests.engine.emit.sources.agreeing import data_of, load_of, same, straightly, strictly, text_of

DRAW = np.random.default_rng(0)


def pixels(*size: int, dtype: type = np.uint8) -> Any:
    return DRAW.integers(0, np.iinfo(dtype).max, size, dtype=dtype)


def saved(image: Image.Image, path: Path, **how: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, **how)


def any_images(folder: Path, name: Callable[[int], str]) -> None:
    """Sixteen images of as many kinds as Pillow has: depths, palettes, transparency, a camera's turn."""
    for at in range(16):
        path = folder / name(at)
        side = (9, 7 + at % 3)
        if at % 8 == 1:
            saved(Image.fromarray(pixels(*side, dtype=np.uint16)), path)
        elif at % 8 == 2:
            saved(Image.fromarray(pixels(*side, 4)), path)
        elif at % 8 == 3:
            image = Image.fromarray(pixels(*side, 3)).quantize(8)
            saved(image, path, transparency=bytes([0, 128, 255]))
        elif at % 8 == 4:
            exif = Image.Exif()
            exif[0x0112] = 6  # turned by a quarter
            saved(Image.fromarray(pixels(*side, 3)), path, exif=exif)
        elif at % 8 == 5:
            saved(Image.fromarray(pixels(*side)).convert("LA"), path)
        elif at % 8 == 6:
            saved(Image.fromarray(pixels(*side) > 128), path)
        else:
            saved(Image.fromarray(pixels(*side, 3)), path)


def classed(folder: Path) -> None:
    any_images(folder, lambda at: f"{('one', 'the other', 'Zoë')[at % 3]}/{at % 4}/{at}.png")


def classed_and_split(folder: Path) -> None:
    splits = ("train", "train", "train", "test", "val")
    any_images(
        folder, lambda at: f"{splits[at % 5]}/{('a', 'ö' * 60)[at % 2 or at == 4]}/part {at % 3}/{at}.png"
    )


def unlabelled(folder: Path) -> None:
    any_images(folder, lambda at: f"{at}.png" if at % 2 else f"more/{at}.png")


def listed(folder: Path) -> None:
    any_images(folder, lambda at: f"pictures/{at}.png")
    rows = [f"{at}.png;{'ça' if at % 3 else 'né'};{('train', 'test', 'val')[at % 3]}" for at in range(16)]
    (folder / "labels.csv").write_bytes("\n".join(["file;label;split", *rows]).encode("cp1252"))


def quantities(folder: Path) -> None:
    any_images(folder, lambda at: f"{at}.png")
    (folder / "ages.txt").write_text("".join(f"{at}.png\t{at / 7:.3f}\n" for at in range(16)))


def in_a_table(folder: Path) -> None:
    rows = []
    for at in range(16):
        out = io.BytesIO()
        Image.fromarray(pixels(6, 6, 3)).save(out, "PNG")
        rows.append({"bytes": out.getvalue(), "path": f"{at}.png"})
    frame = pl.DataFrame({"image": rows, "label": [1 - at % 2 for at in range(16)]})
    frame.write_parquet(folder / "set.parquet")


def masked(folder: Path) -> None:
    for at in range(12):
        saved(Image.fromarray(pixels(9, 8, 3)), folder / f"images/{at}.png")
        values = (np.arange(72).reshape(9, 8) + at) % 3
        mask = Image.fromarray(np.where(values == 2, 255, values).astype(np.uint8))
        saved(mask.convert("LA") if at % 4 == 1 else mask, folder / f"masks/{at}{('', '_mask')[at % 2]}.png")


def masked_in_colours(folder: Path) -> None:
    colours = np.array([[0, 0, 0], [255, 0, 3], [0, 40, 0], [224, 224, 192]], np.uint8)
    for at in range(12):
        split = "train" if at < 9 else "test"
        saved(Image.fromarray(pixels(9, 8, 3)), folder / f"{split}/{'images ' * 8}/{at}.png")
        mask = Image.fromarray(colours[(np.arange(72).reshape(9, 8) + at) % 4])
        mask = mask.quantize(4) if at == 20 else mask
        saved(mask, folder / f"{split}/annotations/{at}.png")


LAYOUTS: dict[str, Callable[[Path], None]] = {
    "classes": classed,
    "classes and splits": classed_and_split,
    "alone": unlabelled,
    "list": listed,
    "quantities": quantities,
    "masks": masked,
    "masks in colours": masked_in_colours,
}


@pytest.mark.parametrize("memory", [1000, 0], ids=["held", "by batch"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_read_alike(layout: str, memory: int, tmp_path: Path) -> None:
    LAYOUTS[layout](tmp_path)
    data = data_of(open_data(tmp_path), {"memory": memory})
    found, expected = straightly(data), strictly(data)
    same(found, expected)
    assert isinstance(expected["train"]["image"], Lazy) == (memory == 0)
    assert (type(found["train"]["image"]).__name__ == "LazyImages") == (memory == 0)


@pytest.mark.parametrize(
    "changes",
    [
        {"channels": "grey", "size": (5, 8)},
        {"channels": "RGBA", "fit": "crop to fill"},
        {"channels": "RGB", "fit": "pad to fit", "behind": "black"},
        {"channels": "grey", "behind": "nothing", "bits": "16", "fit": "pad to fit"},
        {"channels": "RGBA", "bits": "16", "threads": 0},
        {"channels": "RGB", "bits": "16", "size": 9, "fit": "crop to fill"},
        {"split": "random", "validation": 0.25, "test": 0.25, "seed": 3},
        {"split": "by group"},
        {"split": "in time"},
        {"split": "folds", "folds": 3, "fold": 2},
        {"split": "bootstrap", "seed": 1},
        {"balance": "repeat the rare"},
        {"balance": "thin the common", "split": "random"},
        {"repeats": "left out"},
        {"repeats": "in one split", "split": "by group"},
    ],
    ids=str,
)
def test_every_option_of_images_is_read_alike(changes: dict[str, Any], tmp_path: Path) -> None:
    classed(tmp_path)
    for at in range(6):  # some come twice
        saved(Image.fromarray(np.full((4, 4), 40 * (at % 3), np.uint8)), tmp_path / f"one/same {at}.png")
    data = data_of(open_data(tmp_path), changes)
    same(straightly(data), strictly(data))


@pytest.mark.parametrize("fit", ["stretch", "crop to fill", "pad to fit"])
@pytest.mark.parametrize("void", ["", "255"])
def test_masks_of_any_size_and_with_pixels_of_no_class(fit: str, void: str, tmp_path: Path) -> None:
    masked(tmp_path)
    data = data_of(open_data(tmp_path), {"fit": fit, "void": void, "size": (6, 11), "levels": (0, 1, 255)})
    same(straightly(data), strictly(data))
    other = data_of(open_data(tmp_path), {"split": "by group", "unreadable": "leave out", "threads": 0})
    (tmp_path / "masks/2.png").unlink()
    (tmp_path / "images/3.png").write_bytes(b"no image")
    with pytest.raises(SystemExit, match="too few rows"):  # all lie in one folder
        straightly(other)
    left = data_of(open_data(tmp_path), {"unreadable": "leave out"})
    same(straightly(left), strictly(left))


def test_levels_are_held_where_only_they_fit_into_memory(tmp_path: Path) -> None:
    classed(tmp_path)
    data = data_of(open_data(tmp_path), {"size": (200, 200), "memory": 4})
    found = straightly(data)
    assert type(found["train"]["image"]).__name__ == "HeldImages"
    expected = strictly(data)
    assert isinstance(expected["train"]["image"], HeldLevels)
    same(found, expected)


def test_images_in_a_table(tmp_path: Path) -> None:
    in_a_table(tmp_path)
    opened = open_data(tmp_path / "set.parquet")
    for changes in ({}, {"memory": 0}, {"unreadable": "leave out", "split": "random"}):
        data = data_of(opened, changes)
        same(straightly(data), strictly(data))


@pytest.mark.parametrize("layout", ["classes", "classes and splits", "alone", "list", "masks"])
def test_files_that_cannot_be_read_are_left_out_of_both(layout: str, tmp_path: Path) -> None:
    LAYOUTS[layout](tmp_path)
    opened = open_data(tmp_path)
    first, second, third = sorted(tmp_path.rglob("*.png"))[::5][:3]
    first.write_bytes(second.read_bytes()[:40])
    Image.new("F", (3, 3)).save(second, "TIFF")
    third.write_bytes(b"")
    data = data_of(opened, {"unreadable": "leave out", "split": "random"})
    same(straightly(data), strictly(data))


def test_hidden_files_links_and_names_in_any_order(tmp_path: Path) -> None:
    classed(tmp_path / "own")
    saved(Image.new("L", (3, 3)), tmp_path / "own/one/.hidden.png")
    saved(Image.new("L", (3, 3)), tmp_path / "own/.hidden/1.png")
    saved(Image.new("L", (3, 3)), tmp_path / "far/1.png")
    saved(Image.new("L", (3, 3)), tmp_path / "own/one/A2.JPG", format="JPEG")
    (tmp_path / "own/one/notes.txt").write_text("no image")
    (tmp_path / "own/linked").symlink_to(tmp_path / "far")
    (tmp_path / "own/one/again").symlink_to(tmp_path / "own/one")
    (tmp_path / "own/one/a1.png").symlink_to(tmp_path / "far/1.png")
    data = data_of(open_data(tmp_path / "own"), {})
    assert len(data.columns()[1].classes or ()) == 4
    same(straightly(data), strictly(data))


@pytest.mark.parametrize("split", ["by class", "folds", "random", "by group"])
def test_classes_are_split_in_the_order_in_which_they_come(split: str, tmp_path: Path) -> None:
    """In the folder that comes first is only the class that comes last."""
    any_images(tmp_path, lambda at: f"test/b/{at}.png")
    any_images(tmp_path, lambda at: f"train/{'ab'[at % 2]}/{at % 4}/{at}.png")
    data = data_of(open_data(tmp_path), {"split": split})
    same(straightly(data), strictly(data))


def test_names_mean_nothing_in_a_script(tmp_path: Path) -> None:
    hostile = '{it}\'s "$name" \\n #? not a <line> \u202e%s'
    any_images(tmp_path / "a", lambda at: f"{(hostile, 'b')[at % 2]}/{at}.png")
    data = data_of(open_data(tmp_path / "a"))
    same(straightly(data), strictly(data))
    any_images(tmp_path / "b", lambda at: f"{at}.png")
    rows = "".join(f"{at}.png,{(hostile, 'b')[at % 2].replace(chr(34), '')}\n" for at in range(16))
    (tmp_path / "b" / f"{hostile}.csv").write_text("$file,{label}\n" + rows)
    data = data_of(open_data(tmp_path / "b"))
    assert len(data.columns()) == 2
    same(straightly(data), strictly(data))


def test_only_what_the_script_uses_is_read(tmp_path: Path) -> None:
    masked(tmp_path)
    data = data_of(open_data(tmp_path))
    assert "pixel_classes" in text_of(data) and list(straightly(data, "image")["test"]) == ["image"]


def gone(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


def new_class(folder: Path) -> None:
    saved(Image.new("L", (3, 3)), folder / "new" / "1.png")


def damaged(folder: Path) -> None:
    (folder / "one/0/0.png").write_bytes(b"")


def few(folder: Path) -> None:
    for path in sorted(folder.rglob("*.png"))[2:]:
        path.unlink()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (gone, "The images in .* are not those of the 3 classes that it had."),
        (new_class, "The images in .* are not those of the 3 classes that it had."),
        (damaged, "0.png cannot be read: cannot identify image file"),
        (few, "There are too few rows for three splits: has the data changed?"),
    ],
)
def test_a_folder_that_has_changed_gets_a_sentence(
    change: Callable[[Path], None], sentence: str, tmp_path: Path
) -> None:
    folder = tmp_path / "images"
    classed(folder)
    load = load_of(data_of(open_data(folder)))
    change(folder)
    with pytest.raises(SystemExit, match=sentence):
        load(folder, "cpu")


def test_a_mask_or_a_list_that_has_changed_gets_a_sentence(tmp_path: Path) -> None:
    masked(tmp_path / "a")
    load = load_of(data_of(open_data(tmp_path / "a")))
    saved(Image.fromarray(np.full((9, 8), 7, np.uint8)), tmp_path / "a/masks/4.png")
    with pytest.raises(SystemExit, match=r"The mask .*4.png has a value that is of no class"):
        load(tmp_path / "a", "cpu")
    (tmp_path / "a/masks/4.png").unlink()
    with pytest.raises(SystemExit, match="have no masks, or are no longer there"):
        load(tmp_path / "a", "cpu")
    listed(tmp_path / "b")
    load = load_of(data_of(open_data(tmp_path / "b")))
    with open(tmp_path / "b/labels.csv", "ab") as file:
        file.write(b"\n7.png;other;train")
    with pytest.raises(SystemExit, match=r"Line 18 of the list in .* is not as it was"):
        load(tmp_path / "b", "cpu")
