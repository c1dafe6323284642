"""Arrays of a person's own: every cell as it is in the file, and a sentence for what cannot be read."""

from __future__ import annotations

import ast
import gzip
import io
import json
import struct
import subprocess
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.catalogue import load_catalogue
from engine.catalogue.emitter import build
from engine.data.array_files import FileRows, Stored, load_arrays
from engine.data.array_reading import stored_array
from engine.data.lazy import Lazy
from engine.data.open.opening import Opened, open_data
from engine.data.splits import split_in_time
from engine.data.watch import Stopped, Watch
from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Plan
from engine.emit.script import export_script
from engine.errors import DataError
from engine.train.headless import run_headless
from tests.gallery.running import alone
from tests.warm import python

LARGE = 2**30


def loaded(opened: Opened, **changes: Any) -> dict[str, dict[str, Any]]:
    """The splits that the node of what was opened gives."""
    found = load_catalogue().get(opened.type)
    assert found is not None
    node = found({**opened.params, **changes})
    loader = build(node, "data", {}).loader
    assert loader is not None
    splits: dict[str, dict[str, Any]] = loader[0](node.folder(), "cpu", **loader[1])  # type: ignore[attr-defined]
    for part in splits.values():
        for column in node.columns():  # type: ignore[attr-defined]
            assert tuple(part[column.name].shape[1:]) == column.shape
            assert str(part[column.name].dtype) == f"torch.{column.dtype}"
    return splits


def in_order(opened: Opened, **changes: Any) -> dict[str, torch.Tensor]:
    """All rows in the order of the file."""
    splits = loaded(opened, split="in time", validation=0.2, test=0.2, **changes)
    names = splits["train"]
    return {name: torch.cat([splits[s][name][:] for s in ("train", "validation", "test")]) for name in names}


FORMS = {
    "plain": lambda a: a,
    "by column": np.asfortranarray,
    "big-endian": lambda a: a.astype(">f8"),
    "half": lambda a: a.astype(np.float16),
    "whole": lambda a: a.astype(np.int32),
    "single": lambda a: a.astype(np.float32),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("memory", [0, 1024])
def test_cells_are_those_of_the_file(tmp_path: Path, form: str, memory: int) -> None:
    values = np.arange(1000.0).reshape(250, 4) + 100
    array = FORMS[form](values)
    np.save(tmp_path / "a.npy", array)
    opened = open_data(tmp_path / "a.npy")
    assert (opened.type, opened.params["rows"]) == ("ArrayFile", 250)
    assert torch.equal(in_order(opened, memory=memory)["a"], torch.from_numpy(array.astype(np.float32)))
    assert isinstance(loaded(opened, memory=memory, split="random")["train"]["a"], Lazy) is (memory == 0)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_of_one_length_are_columns(tmp_path: Path, save: Any) -> None:
    x, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 3 + 1
    save(tmp_path / "a.npz", x=x, y=y, mean=x.mean(0), one=np.float64(2), name=np.array(["a", "b", "c"]))
    opened = open_data(tmp_path / "a.npz")
    found = in_order(opened)
    assert set(found) == {"x", "y"}
    assert torch.equal(found["x"], torch.from_numpy(x).float())
    assert found["y"].tolist() == (np.arange(30) % 3).tolist()
    told = " ".join(opened.remarks)
    assert (
        "3 labels, 1 to 3" in told and '"mean" of shape 3 is left out' in told and '"one" is left out' in told
    )


def test_labels_below_zero_and_texts_are_classes(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.zeros((6, 2)), y=np.array([-1, 1, 1, -1, 1, -1]))
    opened = open_data(tmp_path / "a.npz")
    assert in_order(opened)["y"].tolist() == [0, 1, 1, 0, 1, 0]
    np.savez(tmp_path / "b.npz", x=np.zeros((4, 2)), label=np.array(["oak", "elm", "곽", "oak"]))
    opened = open_data(tmp_path / "b.npz")
    assert in_order(opened)["label"].tolist() == [1, 0, 2, 1]
    node = load_catalogue().get("ArrayFile")(opened.params)  # type: ignore[misc]
    assert node.column("label").classes == ("elm", "oak", "곽")  # type: ignore[attr-defined]


@pytest.mark.parametrize("memory", [0, 1024])
@pytest.mark.parametrize("kind", [np.float32, np.uint8, np.bool_, np.int64])
def test_rows_of_a_single_1_beside_images_are_classes(tmp_path: Path, kind: Any, memory: int) -> None:
    images = np.random.default_rng(0).integers(0, 256, (60, 8, 8)).astype(np.uint8)
    labels = np.arange(60) * 7 % 5
    names = np.array(["bee", "cat", "dog", "eel", "fly"])
    hot = np.eye(5)[labels].astype(kind)
    np.savez(tmp_path / "a.npz", images=images, labels=hot, names=names)
    opened = open_data(tmp_path / "a.npz")
    assert 'labels has a single 1 in each row: 5 classes, by its place ("Labels are").' in opened.remarks
    rows = in_order(opened, memory=memory)
    assert rows["labels"].tolist() == labels.tolist()
    found = load_catalogue().get("ArrayFile")
    assert found is not None
    columns = {column.name: column for column in found(dict(opened.params)).columns()}  # type: ignore[attr-defined]
    assert columns["labels"].classes == tuple(names) and columns["labels"].dtype == "int64"
    as_numbers = in_order(opened, labels="numbers", memory=memory)
    assert torch.equal(as_numbers["labels"], torch.from_numpy(hot.astype(np.float32)))
    hot[41, :2] = 1
    np.savez(tmp_path / "a.npz", images=images, labels=hot, names=names)
    with pytest.raises(ValueError, match='"labels" is no single 1 among zeros in row 42'):
        in_order(opened)["labels"]  # what stays on disk is read when it is asked for


@pytest.mark.parametrize(
    "arrays",
    [
        {"table": np.eye(4)[np.arange(20) % 4]},  # alone: nothing else would be an input
        {"images": np.ones((20, 8, 8)), "mood": np.eye(3)[np.arange(20) % 3], "label": np.arange(20) % 2},
        {"images": np.ones((20, 8, 8)), "labels": np.ones((20, 3))},
        {"images": np.ones((20, 8, 8)), "labels": np.eye(3)[np.arange(20) % 3] * 2},
        {"images": np.ones((20, 8, 8)), "labels": np.eye(3)[np.arange(20) % 3] - [1, 0, 0]},
    ],
    ids=["alone", "another target", "many ones", "twos", "below 0"],
)
def test_other_rows_of_numbers_are_no_classes(tmp_path: Path, arrays: dict[str, Any]) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    table = open_data(tmp_path / "a.npz").params["table"]
    assert "one-hot" not in {row[1] for row in table}  # type: ignore[union-attr,index]


def test_names_of_classes_beside_are_theirs(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.zeros((6, 2)), y=np.arange(6) % 2, target_names=np.array(["no", "yes"]))
    node = load_catalogue().get("ArrayFile")(open_data(tmp_path / "a.npz").params)  # type: ignore[misc]
    assert node.column("y").classes == ("no", "yes")  # type: ignore[attr-defined]


def test_quantities_have_a_number_an_example(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.zeros((9, 2)), y=np.linspace(0, 1, 9))
    found = in_order(open_data(tmp_path / "a.npz"))
    assert found["y"].shape == (9, 1) and found["y"][4].item() == 0.5


def test_the_last_numbers_of_a_row_may_be_the_target(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(40.0).reshape(10, 4) + 0.5)
    found = in_order(open_data(tmp_path / "a.npy"), last=1)
    assert found["a"][1].tolist() == [4.5, 5.5, 6.5] and found["a target"][1].tolist() == [7.5]


def test_fields_of_records_are_columns(tmp_path: Path) -> None:
    records = np.zeros(8, [("size", ">f4"), ("place", "f8", (2,)), ("label", "u1")])
    records["size"], records["label"] = np.arange(8), np.arange(8) % 2
    records["place"] = np.arange(16).reshape(8, 2)
    np.save(tmp_path / "a.npy", records)
    for memory in (0, 64):
        found = in_order(open_data(tmp_path / "a.npy"), memory=memory)
        assert found["size"][:, 0].tolist() == list(range(8))
        assert found["place"][3].tolist() == [6, 7] and found["label"].tolist() == [0, 1] * 4


def test_arrays_in_files_of_their_own_belong_together(tmp_path: Path) -> None:
    parts = {"x_train": np.ones((6, 2)), "y_train": np.arange(6) % 2, "x_test": np.zeros((4, 2))}
    for name, array in {**parts, "y_test": np.arange(4) % 2, "other": np.zeros((6, 5))}.items():
        np.save(tmp_path / f"{name}.npy", array)
    opened = open_data(tmp_path / "y_test.npy")
    assert opened.params["split"] == "as given"
    splits = loaded(opened, test=0.0)
    assert splits["test"]["x"].tolist() == [[0.0, 0.0]] * 4 and splits["test"]["y"].tolist() == [0, 1, 0, 1]
    assert len(splits["train"]["x"]) + len(splits["validation"]["x"]) == 6
    assert (splits["train"]["x"] == 1).all()


def test_grey_levels_become_numbers_from_0_to_1_with_a_channel(tmp_path: Path) -> None:
    image = np.random.default_rng(0).integers(0, 256, (12, 5, 6), np.uint8)
    np.savez(tmp_path / "a.npz", images=image, labels=np.arange(12) % 2)
    opened = open_data(tmp_path / "a.npz")
    wanted = torch.from_numpy(image).float()[:, None] / 255
    for memory in (0, 64):
        assert torch.equal(in_order(opened, memory=memory)["images"], wanted)
    assert torch.equal(
        in_order(opened, values="as they are", axes="as they are")["images"], wanted[:, 0] * 255
    )


def test_channels_move_to_the_front(tmp_path: Path) -> None:
    image = np.random.default_rng(0).integers(0, 256, (12, 5, 6, 3), np.uint8)
    np.save(tmp_path / "a.npy", image)
    opened = open_data(tmp_path / "a.npy")
    assert opened.params["axes"] == "channels first" and "channels last" in " ".join(opened.remarks)
    assert torch.equal(in_order(opened)["a"], torch.from_numpy(image).permute(0, 3, 1, 2).float() / 255)


def test_statistics_are_of_training_rows_and_streamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.random.default_rng(0).normal(5, 3, (100, 3))
    x[:, 2] = 7  # never varies
    np.save(tmp_path / "a.npy", x)
    opened = open_data(tmp_path / "a.npy")
    found = in_order(opened, values="standardise")["a"].double().numpy()
    train = x[:60].astype(np.float32).astype(np.float64)
    wanted = (x - train.mean(0)) / np.where(train.std(0) > 0, train.std(0), 1)
    assert np.allclose(found, wanted, atol=1e-5)
    ranged = in_order(opened, values="0 to 1")["a"].numpy()
    assert np.allclose(ranged, (x - train.min()) / (train.max() - train.min()), atol=1e-6)
    assert torch.equal(
        in_order(opened, values="standardise")["a"], in_order(opened, values="standardise", memory=0)["a"]
    )


def test_blocks_give_the_statistics_of_the_whole(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(2, 3, (5, 3, 700, 700)).astype(np.float32)  # a block is two rows
    np.save(tmp_path / "a.npy", x)
    column = Stored("a", [FileRows(tmp_path / "a.npy", "", LARGE)], "cpu")
    column.fit("standardise", torch.tensor([4, 0, 2, 1]))
    kept = x[[0, 1, 2, 4]].astype(np.float64)
    assert column.shift is not None and column.scale is not None
    assert np.allclose(column.shift.flatten(), kept.mean((0, 2, 3)), atol=1e-5)
    assert np.allclose(column.scale.flatten(), kept.std((0, 2, 3)), atol=1e-5)


def test_what_is_missing_is_counted_and_told(tmp_path: Path) -> None:
    x = np.zeros((10, 3))
    x[2, 1] = x[3, 1] = np.nan
    x[4, 0] = np.inf
    np.save(tmp_path / "a.npy", x)
    opened = open_data(tmp_path / "a.npy")
    told = " ".join(opened.remarks)
    assert "2 values are missing (NaN)" in told and "1 value is infinite" in told
    assert torch.isnan(in_order(opened)["a"]).sum() == 2
    with pytest.raises(ValueError, match="missing or infinite"):
        in_order(opened, values="standardise")


def test_mapped_files_are_let_go(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(100_000, dtype=np.uint8).reshape(1000, 100))
    rows = FileRows(tmp_path / "a.npy", "", 0)
    before = rows.array
    for _ in range(5):
        assert rows.take(np.arange(1000))[3, 5] == 305 - 256
    assert rows.array is not before and isinstance(rows.array, np.memmap)


def test_files_that_changed_are_a_sentence(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.zeros((6, 2)), y=np.arange(6) % 2)
    opened = open_data(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", x=np.zeros((6, 2)), y=np.arange(6))
    with pytest.raises(ValueError, match=r'"y" in a.npz is 2 in row 3, which is none of its 2 classes'):
        loaded(opened)
    np.savez(tmp_path / "a.npz", x=np.zeros((6, 3)), y=np.arange(6) % 2)
    with pytest.raises(ValueError, match="no longer made of rows of"):
        loaded(opened)
    np.savez(tmp_path / "a.npz", x=np.zeros((5, 2)), y=np.arange(6) % 2)
    with pytest.raises(ValueError, match="no longer of one length"):
        loaded(opened)
    (tmp_path / "a.npz").unlink()
    with pytest.raises(ValueError, match="choose the file again"):
        loaded(opened)


def test_opening_can_be_stopped(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((10, 2)))
    with pytest.raises(Stopped):
        open_data(tmp_path / "a.npy", Watch(stopped=lambda: True))


def test_the_source_file_stays_as_it_is(tmp_path: Path) -> None:
    np.savez(tmp_path / "My data (1) ß.npz", x=np.zeros((6, 2)), y=np.arange(6) % 2)
    before = (tmp_path / "My data (1) ß.npz").read_bytes()
    in_order(open_data(tmp_path / "My data (1) ß.npz"), values="standardise")
    assert (tmp_path / "My data (1) ß.npz").read_bytes() == before


# -- IDX


def idx(array: np.ndarray[Any, Any], kind: int = 8) -> bytes:
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes([0, 0, kind, array.ndim]) + sizes + array.astype(array.dtype.newbyteorder(">")).tobytes()


@pytest.mark.parametrize("packed", [False, True])
def test_idx_files_beside_each_other_are_one_data_set(tmp_path: Path, packed: bool) -> None:
    choose = np.random.default_rng(0)
    images = {
        "train": choose.integers(0, 256, (20, 5, 6), np.uint8),
        "t10k": np.full((8, 5, 6), 51, np.uint8),
    }
    for split, image in images.items():
        labels = (np.arange(len(image)) % 4).astype(np.uint8)
        for name, array in ((f"{split}-images-idx3-ubyte", image), (f"{split}-labels-idx1-ubyte", labels)):
            content = gzip.compress(idx(array)) if packed else idx(array)
            (tmp_path / (name + ".gz" * packed)).write_bytes(content)
    opened = open_data(tmp_path / ("train-labels-idx1-ubyte" + ".gz" * packed))
    splits = loaded(opened)
    assert opened.params["split"] == "as given"
    assert splits["test"]["images"].shape == (8, 1, 5, 6) and (splits["test"]["images"] == 0.2).all()
    assert splits["test"]["labels"].tolist() == [0, 1, 2, 3] * 2
    kept = torch.cat([splits["train"]["images"], splits["validation"]["images"]])
    assert kept.double().sum().item() == pytest.approx(images["train"].sum() / 255)


def test_idx_of_other_kinds_of_numbers(tmp_path: Path) -> None:
    values = np.array([[1.5, -2], [3, 4], [5, 6], [7, 8], [9, 10]])
    (tmp_path / "a.idx").write_bytes(idx(values, 14))
    assert in_order(open_data(tmp_path / "a.idx"))["a"].tolist() == values.tolist()


# -- what cannot be read


def npy(header: str, body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    width = 2 if version[0] == 1 else 4
    return b"\x93NUMPY" + version + len(header).to_bytes(width, "little") + header.encode() + body


def saved(array: Any, **more: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **more)
    return file.getvalue()


def zipped(members: dict[str, bytes], compressed: bool = True) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


HUGE = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 10)}"
GOOD = saved(np.arange(600.0).reshape(200, 3))
MALFORMED: dict[str, tuple[str, bytes, str]] = {
    "empty": ("a.npy", b"", "empty"),
    "other magic": ("a.npy", b"PK not an array", "not a NumPy array"),
    "zeros": ("a.npy", b"\0" * 100, "not a NumPy array"),
    "magic alone": ("a.npy", b"\x93NUMPY", "version 0"),
    "no header": ("a.npy", b"\x93NUMPY\x01\x00", "cut short"),
    "short header": ("a.npy", GOOD[:60], "cut short"),
    "short body": ("a.npy", GOOD[:-1], "cut short"),
    "huge": ("a.npy", npy(HUGE), "80,000,000,000,000 bytes of numbers, but has 0"),
    "huge header": ("a.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b"(" * 100, "cut short"),
    "deep header": ("a.npy", npy("(" * 60_000), "damaged"),
    "code as header": ("a.npy", npy("__import__('os').system('id')"), "damaged"),
    "shape below zero": ("a.npy", npy(HUGE.replace("10)", "-1)")), "damaged"),
    "shape of texts": ("a.npy", npy(HUGE.replace("10)", "'a')")), "damaged"),
    "no such type": ("a.npy", npy(HUGE.replace("<f8", "<q9z")), "damaged"),
    "future version": ("a.npy", npy(HUGE, version=b"\x04\x00"), "version 4"),
    "objects": ("a.npy", saved(np.array([{}, []], object), allow_pickle=True), "Python objects"),
    "one value": ("a.npy", saved(np.float64(3)), "single value"),
    "no rows": ("a.npy", saved(np.zeros((0, 3))), "no rows"),
    "empty rows": ("a.npy", saved(np.zeros((3, 0))), "rows without values"),
    "complex": ("a.npy", saved(np.zeros((3, 2), complex)), "complex numbers"),
    "dates": ("a.npy", saved(np.zeros(3, "M8[D]")), "dates"),
    "an archive's name": ("a.npz", GOOD, "not a whole .npz"),
    "half an archive": ("a.npz", zipped({"x.npy": GOOD})[:200], "not a whole .npz"),
    "archive without arrays": ("a.npz", zipped({"x.txt": b"hello"}), "holds no NumPy array"),
    "archive of objects": (
        "a.npz",
        zipped({"x.npy": saved(np.array([{}], object), allow_pickle=True)}),
        "objects",
    ),
    "huge in an archive": ("a.npz", zipped({"x.npy": npy(HUGE)}), "but has 0"),
    "huge stored": ("a.npz", zipped({"x.npy": npy(HUGE)}, compressed=False), "but has 0"),
    "idx without header": ("a-idx3-ubyte", b"\0\0\x08\x03\0\0", "cut short"),
    "idx of another kind": ("a-idx3-ubyte", b"hello, world", "not an IDX file"),
    "idx huge": ("a-idx3-ubyte", b"\0\0\x08\x03" + b"\xff" * 12, "but has only 0"),
    "idx huge packed": ("a-idx3-ubyte.gz", gzip.compress(b"\0\0\x08\x03" + b"\xff" * 12), "allow more"),
    "idx short": ("a-idx1-ubyte", idx(np.zeros(9, np.uint8))[:-1], "only 8"),
    "idx long": ("a-idx1-ubyte", idx(np.zeros(9, np.uint8)) + b"!", "10"),
    "idx not packed": ("a-idx1-ubyte.gz", idx(np.zeros(9, np.uint8)), "unpacked"),
    "idx half packed": ("a-idx1-ubyte.gz", gzip.compress(idx(np.zeros(999, np.uint8)))[:-9], "unpacked"),
    "idx no rows": ("a-idx1-ubyte", idx(np.zeros(0, np.uint8)), "no rows"),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path, what: str) -> None:
    name, content, said = MALFORMED[what]
    (tmp_path / name).write_bytes(content)
    with warnings.catch_warnings(), pytest.raises(DataError) as caught:
        warnings.simplefilter("error")
        open_data(tmp_path / name)
    assert said in str(caught.value) and str(caught.value).endswith(".")


def test_bytes_changed_at_random_are_read_or_refused(tmp_path: Path) -> None:
    choose = np.random.default_rng(0)
    whole = {
        "a.npy": GOOD,
        "b.npz": zipped({"x.npy": GOOD, "y.npy": saved(np.arange(200) % 3)}),
        "c.npz": zipped({"x.npy": GOOD}, compressed=False),
        "d-idx1-ubyte": idx(np.arange(99, dtype=np.uint8)),
    }
    for name, content in whole.items():
        for _ in range(40):
            changed = bytearray(content)
            for at in choose.integers(0, min(len(content), 400), 3):
                changed[at] = choose.integers(256)
            (tmp_path / name).write_bytes(changed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    open_data(tmp_path / name)
                except DataError as error:
                    assert str(error).endswith(".")


def test_a_compressed_array_above_what_is_allowed_is_not_unpacked(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros((2**14, 2**8), np.uint8))
    with pytest.raises(ValueError, match="fills 4 MiB of memory where 1 are allowed"):
        stored_array(tmp_path / "a.npz", "x", 2**20)
    columns = ({"name": "x", "files": (("", "a.npz", "x"),), "size": (256,)},)
    how = {
        "values": "as they are",
        "axes": "as they are",
        "splitter": split_in_time,
        "validation": 0.1,
        "test": 0.1,
    }
    splits = load_arrays(tmp_path, "cpu", columns=columns, memory=4, **how)
    assert isinstance(splits["train"]["x"], Lazy)  # as floats it would be four times that


HOSTILE = [
    "x'); __import__('os').system('id'); #",
    "a/b",
    "../../up",
    "层",
    'quo"te',
    "new\nline",
    "in",
    " ",
    "in ",
]


@pytest.mark.parametrize("memory", [0, 64])
def test_names_are_only_names(tmp_path: Path, memory: int) -> None:
    """Trained as the program does and by the export, with columns in memory or in their file."""
    file = zipped(
        {f"{name}.npy": saved(np.full((40, 2), number)) for number, name in enumerate(HOSTILE)}, False
    )
    (tmp_path / "a.npz").write_bytes(file)
    opened = open_data(tmp_path / "a.npz")
    params = {**opened.params, "memory": memory}
    columns = load_catalogue().get("ArrayFile")(params).columns()  # type: ignore[misc, attr-defined]
    assert len({column.name for column in columns}) == len(HOSTILE)
    found = in_order(opened, memory=memory)
    assert [int(values[0, 0]) for values in found.values()] == list(range(len(HOSTILE)))
    nodes = [Node("n1", "ArrayFile", "data", params), Node("n2", "Linear", params={"units": 2})]
    for number, column in enumerate(columns):
        links = [Link("n1", columns[0].name, "n2", "x"), Link("n1", column.name, "n3", "target")]
        links.append(Link("n2", "output", "n3", "prediction"))
        project = Project(
            graph=Graph([*nodes, Node("n3", "MSE")], links), plan=Plan().with_(epochs=1), next_id=4
        )
        text = export_script(project, load_catalogue()).text
        calls = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        assert not any(isinstance(call, ast.Name) and call.id == "__import__" for call in calls)
        if number == 1:
            records: list[Any] = []
            run_headless(project, load_catalogue(), tmp_path, device="cpu", on_line=records.append)
            (tmp_path / "alone.py").write_text(text, encoding="utf-8")
            command = [python(), "-W", "error", "alone.py", "--json", "--device", "cpu"]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=alone())
            assert done.stdout.splitlines() == [json.dumps(one) for one in records], done.stderr[-1000:]
