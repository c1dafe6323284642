"""Point clouds and meshes: a script's lines give what the application reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.catalogue import Data
from engine.data.lazy import Lazy
from engine.data.open.opening import Opened, open_data
from tests.engine.data.clouds.test_files import ply
from tests.engine.emit.sources.agreeing import data_of, load_of, same, straightly, strictly, text_of


def checked(opened: Opened, **changes: Any) -> Data:
    data = data_of(opened, changes)
    same(straightly(data), strictly(data))
    return data


def points(at: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(at).normal(at / 5, 2.0, (6 + at % 9, 3))


def mesh(at: int) -> str:
    """A mesh of triangles and squares, some of whose faces have colours; one of three has none."""
    corners = points(at)
    count = 0 if at % 3 == 2 else 4
    faces = [f"{3 + one % 2} " + " ".join(str((one + place) % len(corners)) for place in range(3 + one % 2))
             + (" 0.5 0.25 1.0" if one == 2 else "") for one in range(count)]  # fmt: skip
    head = f"OFF {len(corners)} {count} 0" if at % 2 else f"OFF\n# a comment\n{len(corners)} {count} 0"
    return "\n".join([head, *(" ".join(map(repr, map(float, row))) for row in corners), "", *faces])


def of_form(path: Path, form: str, at: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = points(at)
    if form == "off":
        path.write_text(mesh(at))
    elif form == "npy":
        np.save(path, np.asfortranarray(rows) if at % 2 else rows.astype(np.float32))
    elif form == "ply":
        lines = "".join(f"{x} 200 {y} {z}\n" for x, y, z in rows).encode()
        packed = np.zeros(len(rows), [("x", "<f4"), ("red", "u1"), ("y", "<f8"), ("z", "<f4")])
        for place, axis in enumerate("xyz"):
            packed[axis] = rows[:, place]
        more = "element camera 2\nproperty short a\nproperty float b\n" if at % 4 == 1 else ""
        big = packed.astype(
            [(name, packed.dtype[name].newbyteorder(">")) for name in packed.dtype.names or ()]
        )
        body = {
            0: ply("ascii", lines + b"3 0 1 1\n", len(rows)),
            1: ply(
                "binary_little_endian", bytes(12) + packed.tobytes() + b"\x03" + bytes(12), len(rows), more
            ),
            2: ply("binary_big_endian", big.tobytes() + b"\x03" + bytes(12), len(rows)),
            3: ply("ascii", lines + b"3 0 1 1\n", len(rows), "element camera 0\nproperty int a\n"),
        }
        path.write_bytes(body[at % 4])
    else:
        mark = (" ", ",", "; ")[at % 3]
        lines_ = [mark.join(map(str, row)) + (" 7" if at % 2 else "") for row in rows.tolist()]
        heads: tuple[list[str], ...] = ([str(len(rows))], ["# Z,y,x"], [], ["# no header", ""])
        path.write_text("\n".join([*heads[at % 4], *lines_, ""]), encoding="utf-8-sig")


def folder_of(folder: Path, *forms: str, splits: tuple[str, ...] = ("",)) -> Opened:
    for at in range(20):
        name = f"{at}.{forms[at % len(forms)]}"
        of_form(
            folder / "clouds" / splits[at % len(splits)] / "ab"[at % 2] / name, forms[at % len(forms)], at
        )
    return open_data(folder / "clouds")


FORMS = ["off", "npy", "ply", "xyz", "pts"]


@pytest.mark.parametrize("normalise", ["as they are", "centre", "unit ball"])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_alike(form: str, normalise: str, tmp_path: Path) -> None:
    changes = {"normalise": normalise, "points": 9, "pick": 4, "mesh": "corners"}
    checked(folder_of(tmp_path, form), **changes)


@pytest.mark.parametrize("memory", [1000, 0])
def test_forms_side_by_side_are_read_alike(memory: int, tmp_path: Path) -> None:
    data = checked(folder_of(tmp_path, *FORMS), points=9, memory=memory)
    column = straightly(data)["train"]["points"]
    assert isinstance(strictly(data)["train"]["points"], Lazy) == (memory == 0)
    assert (type(column).__name__ == "LazyClouds") == (memory == 0)


@pytest.mark.parametrize("memory", [1000, 0])
@pytest.mark.parametrize("forms", [("off",), ("off", "xyz")])
def test_points_of_surfaces_are_drawn_alike(forms: tuple[str, ...], memory: int, tmp_path: Path) -> None:
    checked(folder_of(tmp_path, *forms), mesh="surface", points=7, pick=3, memory=memory)


@pytest.mark.parametrize(
    "changes",
    [
        {"split": "random", "seed": 3},
        {"split": "folds", "folds": 4},
        {"split": "in time"},
        {"split": "bootstrap"},
        {"classes": (), "split": "random"},
        {"repeats": "left out", "split": "random"},
        {"balance": "repeat the rare"},
    ],
    ids=str,
)
def test_every_option_of_clouds_is_read_alike(changes: dict[str, Any], tmp_path: Path) -> None:
    checked(folder_of(tmp_path, "npy"), points=8, **changes)


def test_splits_that_folders_give(tmp_path: Path) -> None:
    opened = folder_of(tmp_path, "xyz", splits=("train", "train", "train", "test", "val"))
    assert opened.params["split"] == "as given"
    checked(opened, points=8)


def test_points_with_other_numbers(tmp_path: Path) -> None:
    for at in range(12):
        path = tmp_path / "clouds" / "ab"[at % 2] / f"{at}.npy"
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, np.random.default_rng(at).integers(0, 99, (7, 5)))
    opened = open_data(tmp_path / "clouds")
    assert opened.params["numbers"] == 5
    checked(opened, points=6)
    (tmp_path / "a.xyz").write_text("4\n" + "".join(f"{at} {at * at}\n" for at in range(30)))
    checked(Opened("CloudFile", {"path": str(tmp_path / "a.xyz"), "split": "random"}, "a"), numbers=2)


@pytest.mark.parametrize("form", FORMS)
def test_the_points_of_one_cloud(form: str, tmp_path: Path) -> None:
    of_form(tmp_path / f"one.{form}", form, 7 + 8 * (form == "off"))
    opened = Opened("CloudFile", {"path": str(tmp_path / f"one.{form}"), "split": "random"}, "one")
    checked(opened)
    checked(opened, normalise="as they are", split="in time")
    if form == "off":
        checked(opened, mesh="surface", points=50, pick=2)


def test_faces_of_ply_files_are_read_by_the_reader_of_the_application(tmp_path: Path) -> None:
    data = data_of(folder_of(tmp_path, "ply"), {"mesh": "surface"})
    with pytest.raises(AssertionError, match="the loader is carried"):
        text_of(data)


def gone(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


def new_class(folder: Path) -> None:
    of_form(folder / "c" / "0.off", "off", 0)


def cut(folder: Path) -> None:
    path = folder / "a" / "4.off"
    path.write_text(path.read_text()[:40])


def emptied(folder: Path) -> None:
    (folder / "a" / "4.off").write_bytes(b"")


def infinite(folder: Path) -> None:
    path = folder / "a" / "4.off"
    path.write_text("OFF\n1 0 0\n1 inf 0\n")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (gone, "are not those of the 2 classes"),
        (new_class, "are not those of the 2 classes"),
        (cut, "4.off is not as it was"),
        (emptied, "4.off is not as it was"),
        (infinite, "4.off has no points, or one that is not finite"),
    ],
)
def test_clouds_that_have_changed_get_a_sentence(
    change: Callable[[Path], None], sentence: str, tmp_path: Path
) -> None:
    load = load_of(data_of(folder_of(tmp_path, "off")))
    change(tmp_path / "clouds")
    with pytest.raises(SystemExit, match=sentence):
        load(tmp_path / "clouds", "cpu")
