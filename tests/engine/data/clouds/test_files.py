"""Point clouds: the points of each kind of file, padded with a mask, and a sentence for broken ones."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.data.clouds.files import cloud_files, normalised, read_cloud, sampled
from engine.data.lazy import Lazy
from engine.data.open.opening import open_data
from engine.errors import DataError
from tests.engine.data.test_array_files import loaded, saved

POINTS = [[0.5, -1.0, 2.0], [3.0, 4.25, 5.0]]
LINES = "".join("{} {} {}\n".format(*point) for point in POINTS)


def ply(form: str, body: bytes, vertices: int = 2, before: str = "") -> bytes:
    head = f"ply\nformat {form} 1.0\ncomment made by hand\n{before}element vertex {vertices}\n"
    head += "property float x\nproperty uchar red\nproperty double y\nproperty float z\n"
    return (head + "element face 1\nproperty list uchar int vertex_indices\nend_header\n").encode() + body


def packed(mark: str) -> bytes:
    return b"".join(struct.pack(f"{mark}fBdf", x, 200, y, z) for x, y, z in POINTS) + b"\x03" + b"\0" * 12


TEXT = "".join(f"{x} 200 {y} {z}\n" for x, y, z in POINTS).encode() + b"3 0 1 1\n"
CLOUDS = {
    "a.ply": ply("ascii", TEXT),
    "b.ply": ply("binary_little_endian", packed("<")),
    "c.ply": ply("binary_big_endian", packed(">")),
    "d.ply": ply("ascii", b"1 2\n" + TEXT, before="element camera 1\nproperty int a\nproperty int b\n"),
    "a.off": f"OFF\n# made by hand\n2 1 0\n{LINES}3 0 1 1\n".encode(),
    "b.off": f"OFF2 1 0\n{LINES}".encode(),
    "a.xyz": LINES.encode(),
    "b.xyz": ("# x,y,z\n" + LINES.replace(" ", ",")).encode(),
    "a.pts": f"2\n{LINES}".encode(),
    "a.npy": saved(np.array(POINTS)),
}


@pytest.mark.parametrize("name", CLOUDS)
def test_points_are_those_of_the_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(CLOUDS[name])
    assert read_cloud(tmp_path / name).tolist() == POINTS


MALFORMED = {
    "a.ply": (b"hello", "not a PLY file"),
    "b.ply": (ply("binary_little_endian", packed("<")[:20]), "says it has 2 points, but ends after 1"),
    "c.ply": (ply("binary_little_endian", b"", 10**12), "but ends after 0"),
    "d.ply": (ply("ascii", TEXT, 10**12), "more than it has bytes"),
    "e.ply": (ply("binary_middle_endian", TEXT), "binary_middle_endian"),
    "f.ply": (b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n", "x, y and z"),
    "g.ply": (b"ply\nformat ascii 1.0\nend_header\n", "no vertices"),
    "h.ply": (b"ply\n" + b"comment\n" * 2000, "no end of its header"),
    "i.ply": (ply("ascii", TEXT[:20]), "point 2"),
    "a.off": (b"FOO\n1 0 0\n0 0 0\n", "not an OFF file"),
    "b.off": (b"OFF\nmany\n", "how many vertices"),
    "c.off": (b"OFF\n999999999 0 0\n0 0 0\n", "ends after 1"),
    "a.xyz": (b"1 2 3\n1 2\n", "point 2"),
    "b.xyz": (b"\0\0\0\0", "point 1"),
    "c.xyz": (b"1 2 nan\n", "point 1 is not finite"),
    "d.xyz": (b"# nothing\n", "no points"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_broken_cloud_is_a_sentence(tmp_path: Path, name: str) -> None:
    content, said = MALFORMED[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as caught:
        open_data(tmp_path / name)
    assert said in str(caught.value) and str(caught.value).endswith(".")


def test_clouds_in_space_are_moved_and_shrunk() -> None:
    points = np.array([[0, 0, 0], [4, 0, 0]], np.float32)
    assert normalised(points, "as they are").tolist() == points.tolist()
    assert normalised(points, "centre").tolist() == [[-2, 0, 0], [2, 0, 0]]
    assert normalised(points, "unit ball").tolist() == [[-1, 0, 0], [1, 0, 0]]
    assert normalised(points[:1], "unit ball").tolist() == [[0, 0, 0]]


def test_the_same_points_are_picked_each_time() -> None:
    points = np.arange(300, dtype=np.float32).reshape(100, 3)
    picked = sampled(points, 10, 0, 5)
    assert picked.shape == (10, 3) and (np.diff(picked[:, 0]) > 0).all()
    assert np.array_equal(picked, sampled(points, 10, 0, 5))
    assert not np.array_equal(picked, sampled(points, 10, 1, 5))
    assert sampled(points, 100, 0, 0) is points


@pytest.fixture
def solids(tmp_path: Path) -> Path:
    """Eight clouds of 1 to 4 points in two classes, dealt by folders."""
    for kind, named in enumerate(("cube", "été")):
        for split in ("train", "test"):
            folder = tmp_path / "My clouds (1)" / named / split
            folder.mkdir(parents=True)
            for count in (1 + kind, 3 + kind):
                body = "".join(f"{kind} {count} {row}\n" for row in range(count))
                (folder / f"{count}.xyz").write_text(body)
    return tmp_path / "My clouds (1)"


def test_a_folder_of_clouds_is_padded_with_a_mask(solids: Path) -> None:
    opened = open_data(solids)
    assert opened.type == "CloudFile" and opened.params["classes"] == ("cube", "été")
    assert (opened.params["split"], opened.params["points"]) == ("as given", 4)
    in_memory = loaded(opened, normalise="as they are", validation=0.25)
    streamed = loaded(opened, normalise="as they are", validation=0.25, memory=0)
    assert isinstance(streamed["test"]["points"], Lazy)
    for split, part in in_memory.items():
        for name in part:
            assert torch.equal(part[name], streamed[split][name][:])
    test = in_memory["test"]
    assert test["mask"].tolist() == [[1, 0, 0, 0], [1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 1, 1]]
    assert test["label"].tolist() == [0, 0, 1, 1]
    assert test["points"][2].tolist() == [[1, 2, 0], [1, 2, 1], [0, 0, 0], [0, 0, 0]]


def test_means_over_padded_sets_are_those_of_the_sets(solids: Path) -> None:
    part = loaded(open_data(solids), normalise="as they are", validation=0.25)["test"]
    mask = part["mask"][..., None]
    means = (part["points"] * mask).sum(1) / mask.sum(1)
    alone = [read_cloud(path).mean(0).tolist() for path, _, split in cloud_files(solids) if split == "test"]
    assert means.tolist() == alone


def test_a_single_cloud_has_points_as_examples(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text("".join(f"{row} 0 0\n" for row in range(20)))
    splits = loaded(open_data(tmp_path / "a.xyz"), normalise="as they are")
    found = torch.cat([splits[split]["point"] for split in splits])
    assert sorted(found[:, 0].tolist()) == list(range(20))


def test_links_that_lead_in_circles_are_not_followed(solids: Path) -> None:
    (solids / "cube" / "again").symlink_to(solids, target_is_directory=True)
    assert open_data(solids).params["count"] == 8


def test_a_broken_cloud_in_a_folder_is_named(solids: Path) -> None:
    (solids / "cube" / "train" / "broken.ply").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"broken\.ply is not a PLY file"):
        open_data(solids)


def test_a_new_class_after_opening_is_a_sentence(solids: Path) -> None:
    opened = open_data(solids)
    (solids / "new").mkdir()
    (solids / "new" / "a.xyz").write_text(LINES)
    with pytest.raises(ValueError, match="'new' is none of the 2 classes"):
        loaded(opened)


def test_what_is_said_of_clouds(solids: Path) -> None:
    told: Any = " ".join(open_data(solids).remarks)
    assert "8 clouds of 1 to 4 points." in told and "6 have fewer than 4 points" in told


def test_sets_have_as_many_numbers_as_their_arrays(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    for kind in ("a", "b"):
        (tmp_path / kind).mkdir()
        for number in range(5):
            (tmp_path / kind / f"{number}.npy").write_bytes(saved(draw.normal(size=(2 + number, 5))))
    opened = open_data(tmp_path)
    assert opened.params["numbers"] == 5 and "Each point has 5 numbers." in opened.remarks
    part = loaded(opened, normalise="as they are", split="in time", validation=0.2, test=0.2)["train"]
    assert part["points"].shape == (6, 6, 5) and part["mask"].sum(1).tolist() == [2, 3, 4, 5, 6, 2]
    assert part["points"][1, :3].tolist() == np.load(tmp_path / "a" / "1.npy").astype(np.float32).tolist()
    lazy = loaded(opened, normalise="as they are", split="in time", validation=0.2, test=0.2, memory=0)
    assert torch.equal(lazy["train"]["points"][:], part["points"])
    (tmp_path / "a" / "5.npy").write_bytes(saved(draw.normal(size=(2, 4))))
    with pytest.raises(DataError, match=r"0\.npy has 5 numbers a point and 5\.npy 4: they must be alike"):
        open_data(tmp_path)


def test_numbers_behind_x_y_z_are_told_and_can_be_taken(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text("".join(f"{row} 0 0 9 {row}\n" for row in range(20)))
    opened = open_data(tmp_path / "a.xyz")
    assert "Lines hold 5 numbers, of which x, y and z are taken" in " ".join(opened.remarks)
    assert loaded(opened)["train"]["point"].shape == (12, 3)
    taken = loaded(opened, numbers=5, normalise="as they are")["train"]["point"]
    assert taken.shape == (12, 5) and torch.equal(taken[:, 0], taken[:, 4])
    (tmp_path / "a.off").write_bytes(CLOUDS["a.off"])
    with pytest.raises(ValueError, match="gives x, y and z of each point, not 5 numbers"):
        loaded(open_data(tmp_path / "a.off"), numbers=5)
