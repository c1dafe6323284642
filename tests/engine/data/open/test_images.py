"""What is understood of a folder of images when it is opened."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from engine.catalogue import load_catalogue
from engine.data.images.decoding import image_levels
from engine.data.loading.node import read_node
from engine.data.open.images import names_images, open_list
from engine.data.open.opening import Opened, open_data
from engine.data.watch import Stopped, Watch
from engine.document.graph import Node
from engine.errors import DataError


def picture(path: Path, mode: str = "L", size: tuple[int, int] = (6, 4)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, 7).save(path)


def opened(folder: Path) -> tuple[Opened, str]:
    found = open_data(folder)
    return found, " ".join(found.remarks)


def test_class_folders(tmp_path: Path) -> None:
    for name in ("cat/1.png", "cat/2.png", "dog 10/1.png", "dog 9/a/b.png", "lonely.png"):
        picture(tmp_path / name)
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "cat" / ".DS_Store").write_text("hello")
    found, remarks = opened(tmp_path)
    assert found.type == "ImageFolder" and found.name == tmp_path.name
    params = found.params
    assert params["layout"] == "class folders" and params["classes"] == ("cat", "dog 9", "dog 10")
    assert (params["size"], params["channels"], params["count"]) == ((4, 6), "grey", 4)
    assert "cat 2, dog 9 1, dog 10 1" in remarks and "1 other image in the folder is left out" in remarks
    assert 'no image: "empty"' in remarks and '1 other file left alone: "notes.txt"' in remarks


def test_splits_by_folder_and_one_that_is_lacking(tmp_path: Path) -> None:
    for name in ("Train/a/1.png", "Train/b/1.png", "Train/b/2.png", "test/a/1.png"):
        picture(tmp_path / name, "RGB")
    found, remarks = opened(tmp_path)
    assert found.params["split_folders"] and found.params["split"] == "as given"
    assert found.params["classes"] == ("a", "b") and found.params["channels"] == "RGB"
    assert "3 train, 0 validation, 1 test" in remarks and "None are given for validation" in remarks


def test_folders_called_test_alone_are_classes(tmp_path: Path) -> None:
    for name in ("test/1.png", "reference/1.png"):
        picture(tmp_path / name)
    assert opened(tmp_path)[0].params["classes"] == ("reference", "test")


def test_names_that_are_alike_are_no_masks(tmp_path: Path) -> None:
    for name in ("face/1.png", "background/1.png"):
        picture(tmp_path / name)
    assert opened(tmp_path)[0].params["classes"] == ("background", "face")


def test_a_flat_folder_has_no_labels(tmp_path: Path) -> None:
    for at in range(3):
        picture(tmp_path / "in" / f"{at}.png")
    found, remarks = opened(tmp_path)
    assert found.params["layout"] == "no labels" and "3 images without labels" in remarks


@pytest.mark.parametrize("text", ["images/{}.png,{}", "file,label\n{}.png,{}", "{}\t{}", "images/{}.png {}"])
def test_a_list_beside_the_images(tmp_path: Path, text: str) -> None:
    """PL#137: `images/0.png,7` is a path and a label."""
    head, _, row = text.rpartition("\n")
    for at in range(4):
        picture(tmp_path / "images" / f"{at}.png")
    (tmp_path / "labels.csv").write_text(
        head + "\n" + "\n".join(row.format(at, 7 + at % 2) for at in range(4))
    )
    for found in (opened(tmp_path)[0], open_list(tmp_path / "labels.csv", Watch())):
        assert (found.params["layout"], found.params["list_file"]) == ("list file", "labels.csv")
        assert found.params["listed"] == ("7", "8") and found.params["list_header"] == bool(head)
        assert found.params["count"] == 4
    assert names_images(tmp_path / "labels.csv") == (".png" in row)


def test_a_list_with_quantities_a_split_and_a_missing_file(tmp_path: Path) -> None:
    for at in range(3):
        picture(tmp_path / f"{at}.png")
    rows = ["age,part,path", "1.5,train,0.png", "2.5,train,1.png", "2,test,2.png", "9,test,gone.png"]
    (tmp_path / "list.csv").write_text("\n".join(rows))
    found, remarks = opened(tmp_path)
    wanted = {"path_column": "path", "label_column": "age", "split_column": "part", "target": "quantity"}
    assert wanted.items() <= found.params.items() and found.params["split"] == "as given"
    assert '1 image of the list is not in the folder: "gone.png"' in remarks


def test_masks(tmp_path: Path) -> None:
    for at in range(4):
        picture(tmp_path / "JPEGImages" / f"{at}.jpg", "RGB")
        mask = np.full((4, 6), (at % 2) * 255, np.uint8)
        path = tmp_path / "SegmentationMasks" / f"{at}.png"
        path.parent.mkdir(exist_ok=True)
        if at != 3:
            Image.fromarray(mask).save(path)
    found, remarks = opened(tmp_path)
    assert (found.params["layout"], found.params["levels"]) == ("masks", (0, 255))
    assert (found.params["images_in"], found.params["masks_in"]) == ("JPEGImages", "SegmentationMasks")
    assert found.params["count"] == 4 and '1 image without a mask: "JPEGImages/3.jpg"' in remarks


@pytest.mark.parametrize(
    ("values", "void"), [((0, 1, 2, 255), "255"), ((0, 255), ""), ((0, 1, 254, 255), ""), ((0, 2, 255), "")]
)
def test_borders_of_no_class_are_known_by_their_usual_value(
    tmp_path: Path, values: tuple[int, ...], void: str
) -> None:
    (tmp_path / "masks").mkdir()
    for at, value in enumerate(values):
        picture(tmp_path / "images" / f"{at}.png", "RGB")
        Image.fromarray(np.full((4, 6), value, np.uint8)).save(tmp_path / "masks" / f"{at}.png")
    found, remarks = opened(tmp_path)
    assert (found.params["levels"], found.params.get("void", "")) == (values, void)
    said = "255 is taken to mark pixels of no class, which don't count."
    assert (said in remarks) == bool(void)


def test_a_list_beside_the_masks_names_their_classes(tmp_path: Path) -> None:
    (tmp_path / "masks").mkdir()
    for at in range(2):
        picture(tmp_path / "images" / f"{at}.png", "RGB")
        Image.fromarray(np.full((4, 6), at, np.uint8)).save(tmp_path / "masks" / f"{at}.png")
    (tmp_path / "classes.txt").write_text("ground\ncat\n", "utf-8")
    found, remarks = opened(tmp_path)
    assert found.params["mask_classes"] == "ground, cat"
    assert '"classes.txt" names the classes: ground, cat.' in remarks
    (tmp_path / "classes.txt").write_text("ground\ncat\ndog\n", "utf-8")
    assert "mask_classes" not in opened(tmp_path)[0].params


def test_a_border_in_colour(tmp_path: Path) -> None:
    (tmp_path / "masks").mkdir()
    for at, colour in enumerate(((0, 0, 0), (128, 0, 0), (224, 224, 192))):
        picture(tmp_path / "images" / f"{at}.png", "RGB")
        Image.new("RGB", (6, 4), colour).save(tmp_path / "masks" / f"{at}.png")
    assert opened(tmp_path)[0].params["void"] == "#e0e0c0"


def test_sizes_that_differ_are_told_and_large_ones_made_small(tmp_path: Path) -> None:
    for at in range(3):
        picture(tmp_path / f"{at}.png", size=(1000, 500))
    picture(tmp_path / "3.png", size=(10, 20))
    found, remarks = opened(tmp_path)
    assert found.params["size"] == (128, 256)
    assert "3 of 4 are 500×1000" in remarks and "from 20 to 500 high and 10 to 1000 wide" in remarks


def test_deep_grey_images_keep_their_levels(tmp_path: Path) -> None:
    Image.fromarray(np.full((4, 4), 60000, np.uint16)).save(tmp_path / "a.png")
    found, _ = opened(tmp_path)
    assert (found.params["bits"], found.params["channels"]) == ("16", "grey")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    for at in range(4):
        picture(tmp_path / f"{at}.png")
    (tmp_path / "1.png").write_bytes((tmp_path / "1.png").read_bytes()[:45])
    (tmp_path / "2.png").write_text("no image")
    _, remarks = opened(tmp_path)
    assert "2 images cannot be read" in remarks
    assert '"1.png" is cut short' in remarks and '"2.png" is no image of a kind that can be read' in remarks


def test_the_mark_changes_with_the_files(tmp_path: Path) -> None:
    picture(tmp_path / "a.png")
    before = opened(tmp_path)[0].params["stamp"]
    assert opened(tmp_path)[0].params["stamp"] == before
    picture(tmp_path / "b.png")
    assert opened(tmp_path)[0].params["stamp"] != before


def test_what_is_no_folder_of_images(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no image in"):
        open_data(tmp_path)
    picture(tmp_path / "a.png")
    with pytest.raises(DataError, match="is one image"):
        open_data(tmp_path / "a.png")
    (tmp_path / "a.png").write_text("x")
    with pytest.raises(DataError, match="None of the images can be read"):
        open_data(tmp_path)


def test_a_person_may_stop_it(tmp_path: Path) -> None:
    for at in range(3):
        picture(tmp_path / f"{at}.png")
    asked: list[str] = []
    watch = Watch(lambda share, doing: asked.append(doing), lambda: len(asked) > 2)
    with pytest.raises(Stopped):
        open_data(tmp_path, watch)


def test_links_in_circles_are_read_once(tmp_path: Path) -> None:
    for name in ("a/1.png", "b/1.png"):
        picture(tmp_path / name)
    os.symlink(tmp_path, tmp_path / "a" / "up")
    os.symlink(tmp_path / "b", tmp_path / "c")
    os.symlink(tmp_path / "nowhere", tmp_path / "b" / "2.png")
    os.symlink(tmp_path / "d", tmp_path / "d")
    assert opened(tmp_path)[0].params["classes"] == ("a", "b")


HOSTILE = (
    "new\nline",
    "quo\"te'",
    "x" * 250,
    "\udcff\udcfe",
    "nul\\0",
    "%s {0}",
    "-rf",
    "con",
    " space ",
    "=1+1",
    "$(id)",
)


def test_hostile_names(tmp_path: Path) -> None:
    from engine.data.images.files import load_image_files
    from engine.data.images.listing import images_by_class
    from engine.data.splits import split_by_class

    for name in HOSTILE:
        for at in range(3):
            picture(tmp_path / name / f"{name[:240]}{at}.png")
    found, remarks = opened(tmp_path)
    classes = found.params["classes"]
    assert isinstance(classes, tuple) and len(classes) == len(HOSTILE)
    "".join(map(str, classes)).encode()
    remarks.encode()
    assert "\n" not in remarks
    splits = load_image_files(
        tmp_path,
        "cpu",
        rows=images_by_class,
        where={"classes": classes, "split_folders": False},
        image={"size": (2, 2), "fit": "stretch", "channels": "grey", "behind": "white", "bits": 8},
        unreadable="stop",
        memory=1,
        threads=2,
        key="label",
        splitter=split_by_class,
        validation=0.3,
        test=0.3,
        seed=0,
    )
    assert sum(len(part["label"]) for part in splits.values()) == 3 * len(HOSTILE)
    (tmp_path / HOSTILE[0] / "bad\n.png").write_bytes(b"")
    assert r"'new\nline/bad\n.png' is empty" in opened(tmp_path)[1]


def test_a_folder_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture(tmp_path / "secret" / "1.png")
    listed = os.scandir

    def scandir(place: str) -> object:
        if place.endswith("secret"):
            raise PermissionError(13, "Permission denied", place)
        return listed(place)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(DataError, match='The folder "secret" cannot be read: Permission denied'):
        open_data(tmp_path)


def test_a_link_to_nothing_is_told(tmp_path: Path) -> None:
    picture(tmp_path / "1.png")
    os.symlink(tmp_path / "nowhere", tmp_path / "2.png")
    assert '"2.png" is not there' in opened(tmp_path)[1]


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    """A file of a few kilobytes that would take gigabytes as pixels."""
    picture(tmp_path / "1.png")
    for name, side in (("2.png", 10_001), ("3.png", 14_000)):
        Image.new("1", (side, side)).save(tmp_path / name)
    remarks = opened(tmp_path)[1]
    for name in ("2.png", "3.png"):
        assert f'"{name}" has more than 100,000,000 pixels, the most that are read.' in remarks


def test_damage_of_every_kind_is_a_sentence(tmp_path: Path) -> None:
    """Files cut anywhere, with bytes changed, and of other kinds: each is read or named, none hangs."""
    rng = np.random.default_rng(0)
    noise = Image.fromarray(rng.integers(0, 256, (9, 9, 3), dtype=np.uint8))
    for end in ("png", "jpg", "gif", "bmp", "tif", "webp", "ppm"):
        noise.save(tmp_path / f"good.{end}")
        raw = (tmp_path / f"good.{end}").read_bytes()
        for at in range(12):
            cut = int(rng.integers(1, len(raw)))
            (tmp_path / f"cut {at}.{end}").write_bytes(raw[:cut])
            changed = bytearray(raw)
            for place in rng.integers(0, len(raw), 4):
                changed[place] = int(rng.integers(256))
            (tmp_path / f"changed {at}.{end}").write_bytes(changed)
    for name, content in (
        ("zip.png", b"PK\3\4" + b"x" * 99),
        ("eps.jpg", b"%!PS-Adobe-3.0 EPSF-3.0"),
        ("nul.gif", b"\0" * 999),
    ):
        (tmp_path / name).write_bytes(content)
    remarks = opened(tmp_path)[1]
    assert "images cannot be read" in remarks
    for path in tmp_path.iterdir():
        try:
            found = image_levels(
                tmp_path, path.name, size=(3, 3), fit="pad to fit", channels="RGB", behind="white", bits=8
            )
        except ValueError as error:
            assert f'"{path.name}"' in str(error) and str(error).endswith(".")
            assert "good" not in path.name
        else:
            assert found.shape == (3, 3, 3)


def test_splits_at_the_end_of_names_and_folders_within_their_like(tmp_path: Path) -> None:
    for name in (
        "seg_train/seg_train/sea/1.png",
        "seg_train/seg_train/hill/1.png",
        "seg_pred/seg_pred/9.png",
    ):
        picture(tmp_path / "all" / name)
    picture(tmp_path / "all/seg_test/seg_test/sea/2.png")
    found, remarks = opened(tmp_path / "all")
    assert found.params["classes"] == ("hill", "sea") and found.params["split_folders"]
    assert "2 train, 0 validation, 1 test" in remarks and "1 other image in the folder is left out" in remarks
    found, remarks = opened(tmp_path / "all" / "seg_train")
    assert found.params["classes"] == ("hill", "sea")
    assert found.params["path"] == str(tmp_path / "all/seg_train/seg_train")
    assert '"seg_train" holds one folder, "seg_train", which is read.' in remarks


@pytest.mark.parametrize("packed", ["struct", "bytes"])
def test_images_in_a_column_of_a_table(tmp_path: Path, packed: str) -> None:
    shades = [10 * at for at in range(20)]
    images = []
    for shade in shades:
        out = io.BytesIO()
        Image.new("L", (6, 4), shade).save(out, "PNG")
        images.append(out.getvalue())
    column = [{"bytes": one, "path": None} for one in images] if packed == "struct" else images
    labels = [("cat", "dog")[at % 2] for at in range(20)]
    pl.DataFrame({"image": column, "kind": labels}).write_parquet(tmp_path / "pets.parquet")
    found, remarks = opened(tmp_path / "pets.parquet")
    assert found.type == "ImageFolder" and found.params["listed"] == ("cat", "dog")
    assert '20 images in the column "image", with 2 classes in "kind".' in remarks
    assert (found.params["size"], found.params["channels"], found.params["count"]) == ((4, 6), "grey", 20)
    splits = read_node(Node("n1", found.type, found.name, dict(found.params)), load_catalogue())
    held = [(round(float(image.mean()) * 255), int(label)) for part in splits.values()
            for image, label in zip(part["image"], part["label"], strict=True)]  # fmt: skip
    assert sorted(held) == [(shade, at % 2) for at, shade in enumerate(shades)]
