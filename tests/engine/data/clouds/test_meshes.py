"""Points on the surface of a mesh: on its faces, as dense on each, the same each time."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.data.clouds.meshes import faces_of, surface_points
from engine.data.open.opening import open_data
from engine.errors import DataError
from tests.engine.data.test_array_files import loaded

# A triangle of area 1/2 in the plane z = 0, and a rectangle of area 6 in the plane z = 1 as one face.
CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (3, 0, 1), (3, 2, 1), (0, 2, 1)]
FACES = [(0, 1, 2), (3, 4, 5, 6)]
LINES = "".join("{} {} {}\n".format(*corner) for corner in CORNERS)
OFF = f"OFF\n7 2 0\n{LINES}3 0 1 2\n4 3 4 5 6 0.5 0.5 0.5\n"
HEAD = "ply\nformat {} 1.0\nelement vertex 7\nproperty float x\nproperty float y\nproperty float z\n"
HEAD += "element face 2\nproperty uchar flag\nproperty list uchar int vertex_indices\n"
HEAD += "property list uchar float uv\nend_header\n"


def binary(mark: str) -> bytes:
    body = b"".join(struct.pack(f"{mark}3f", *corner) for corner in CORNERS)
    for face in FACES:
        body += b"\x07" + bytes([len(face)]) + struct.pack(f"{mark}{len(face)}i", *face)
        body += b"\x01" + struct.pack(f"{mark}f", 0.25)
    return body


MESHES = {
    "a.off": OFF.encode(),
    "a.ply": (HEAD.format("ascii") + LINES + "7 3 0 1 2 1 0.25\n7 4 3 4 5 6 1 0.25\n").encode(),
    "b.ply": HEAD.format("binary_little_endian").encode() + binary("<"),
    "c.ply": HEAD.format("binary_big_endian").encode() + binary(">"),
}


@pytest.mark.parametrize("name", MESHES)
def test_points_lie_on_the_faces_as_dense_on_each(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(MESHES[name])
    assert faces_of(tmp_path / name) == [list(face) for face in FACES]
    points = surface_points(tmp_path / name, 6500, [0, 3])
    assert points.shape == (6500, 3) and points.dtype == np.float32
    low, high = points[points[:, 2] == 0], points[points[:, 2] == 1]
    assert len(low) + len(high) == 6500
    assert len(low) == pytest.approx(500, abs=70)  # of 6.5, an area of 0.5; three deviations
    assert (low[:, :2] >= 0).all() and (low[:, 0] + low[:, 1] <= 1 + 1e-6).all()
    assert high.min(0).tolist() == pytest.approx([0, 0, 1], abs=0.01)
    assert high.max(0).tolist() == pytest.approx([3, 2, 1], abs=0.01)
    assert high.mean(0).tolist() == pytest.approx([1.5, 1, 1], abs=0.05)
    assert np.histogram(high[:, 0], 3, (0, 3))[0] == pytest.approx([2000] * 3, rel=0.08)
    assert np.array_equal(points, surface_points(tmp_path / name, 6500, [0, 3]))
    assert not np.array_equal(points, surface_points(tmp_path / name, 6500, [1, 3]))


def test_without_faces_the_points_are_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.off").write_text(f"OFF\n7 0 0\n{LINES}")
    (tmp_path / "b.off").write_text("OFF\n3 1 0\n0 0 0\n1 1 1\n2 2 2\n3 0 1 2\n")  # a face without area
    (tmp_path / "a.xyz").write_text(LINES)
    assert surface_points(tmp_path / "a.off", 50, [0]).tolist() == [list(corner) for corner in CORNERS]
    assert surface_points(tmp_path / "b.off", 50, [0]).tolist() == [[0, 0, 0], [1, 1, 1], [2, 2, 2]]
    assert len(surface_points(tmp_path / "a.xyz", 50, [0])) == 7


BROKEN = {
    "a.off": (OFF.replace("3 0 1 2", "3 0 1 9").encode(), "face 1: it names a corner that is none of the 7"),
    "b.off": (OFF.replace("4 3 4 5 6", "4 3 4").encode(), "face 2"),
    "c.off": (OFF.replace("3 0 1 2", "three 0 1 2").encode(), "face 1"),
    "a.ply": (MESHES["b.ply"][:-20], "says it has 2 faces, but ends after 1"),
    "b.ply": (MESHES["a.ply"].replace(b"face 2", b"face 3"), "says it has 3 faces, but ends after 2"),
    "c.ply": (MESHES["c.ply"].replace(b"face 2", b"face 999999999"), "but ends after 2"),
    "d.ply": (MESHES["b.ply"].replace(b"uchar int", b"uchar odd"), "not known"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_face_is_a_sentence(tmp_path: Path, name: str) -> None:
    content, said = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=said) as caught:
        surface_points(tmp_path / name, 5, [0])
    assert name in str(caught.value)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / name).write_bytes(content)
    if "names a corner" not in said:
        with pytest.raises(DataError, match=said):
            open_data(folder)


def test_a_folder_of_meshes_gives_points_of_their_surfaces(tmp_path: Path) -> None:
    for kind in ("a", "b"):
        (tmp_path / kind).mkdir()
        for number in range(5):
            (tmp_path / kind / f"{number}.off").write_text(OFF)
    opened = open_data(tmp_path)
    assert (opened.params["mesh"], opened.params["points"]) == ("surface", 1024)
    assert "1,024 points are drawn from the surface" in " ".join(opened.remarks)
    whole = loaded(opened, points=40, normalise="as they are")
    lazy = loaded(opened, points=40, normalise="as they are", memory=0)
    for split, part in whole.items():
        assert torch.equal(part["points"], lazy[split]["points"][:]) and part["mask"].all()
    assert len(whole["train"]["points"].flatten(1).unique(dim=0)) == 6  # a draw of its own for each
    corners = loaded(opened, points=7, normalise="as they are", mesh="corners")["train"]["points"]
    assert corners[0].tolist() == [list(corner) for corner in CORNERS]


def test_one_mesh_gives_its_corners_or_points_of_its_surface(tmp_path: Path) -> None:
    (tmp_path / "a.off").write_text(OFF)
    opened = open_data(tmp_path / "a.off")
    assert opened.remarks[0] == "Each of its 7 corners is an example." and "surface" in opened.remarks[1]
    assert sum(len(part["point"]) for part in loaded(opened).values()) == 7
    drawn = loaded(opened, mesh="surface", points=100)
    assert sum(len(part["point"]) for part in drawn.values()) == 100
