"""Columns of images: the same in memory and from files, and no thread outlives its batch."""

from __future__ import annotations

import multiprocessing
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from engine.data.images.files import ImageFiles, load_image_files, load_masked_images
from engine.data.images.listing import images_by_class, images_listed, images_with_masks
from engine.data.lazy import Lazy
from engine.data.splits import split_as_given, split_at_random, split_by_class, split_by_group, split_in_time

IMAGE = {"size": (3, 5), "fit": "stretch", "channels": "RGB", "behind": "white", "bits": 8}
SHARES = {"splitter": split_by_class, "key": "label", "validation": 0.2, "test": 0.2, "seed": 0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two classes of twenty images; all pixels of image n of class k are (n, k, 255)."""
    for number, kind in enumerate(("a", "b")):
        (tmp_path / kind).mkdir()
        for at in range(20):
            Image.new("RGB", (5, 3), (at, number, 255)).save(tmp_path / kind / f"{at}.png")
    return tmp_path


def load(folder: Path, **changes: Any) -> dict[str, dict[str, Any]]:
    options = {
        "rows": images_by_class,
        "where": {"classes": ("a", "b"), "split_folders": False},
        "image": IMAGE,
        "unreadable": "stop",
        "memory": 1000,
        "threads": 2,
        **SHARES,
        **changes,
    }
    return load_image_files(folder, "cpu", **options)


def test_values_and_labels_belong_together(folder: Path) -> None:
    splits = load(folder)
    assert [len(part["label"]) for part in splits.values()] == [24, 8, 8]
    seen = set()
    for part in splits.values():
        assert part["image"].shape[1:] == (3, 3, 5) and part["image"].dtype == torch.float32
        for image, label in zip(part["image"], part["label"], strict=True):
            levels = (image[:, 0, 0] * 255).round().int().tolist()
            assert levels[1:] == [label, 255] and (image == image[:, :1, :1]).all()
            seen.add((levels[0], int(label)))
        assert part["label"].bincount().tolist() == [len(part["label"]) // 2] * 2
    assert len(seen) == 40


@pytest.mark.parametrize("bits", [8, 16])
def test_all_ways_of_holding_give_the_same_numbers(folder: Path, bits: int) -> None:
    image = {**IMAGE, "bits": bits}
    whole = load(folder, image=image)
    megabyte = 40 * 45 * bits / 8 / 1e6
    assert isinstance(whole["train"]["image"], torch.Tensor)
    rows = torch.tensor([5, 0, 5, 23])
    for memory, kind in ((megabyte, "HeldLevels"), (0, "ImageFiles")):
        for threads in (0, 1, 3):
            other = load(folder, image=image, memory=memory, threads=threads)
            assert type(other["train"]["image"]).__name__ == kind
            for split, part in whole.items():
                assert torch.equal(other[split]["image"][:], part["image"])
                assert torch.equal(other[split]["label"], part["label"])
            assert torch.equal(other["train"]["image"][rows], whole["train"]["image"][rows])


@pytest.mark.parametrize("threads", [0, 1, 2])
def test_stopping_mid_epoch_leaves_no_thread_and_no_process(folder: Path, threads: int) -> None:
    """pytorch#15808: loader workers that froze, or outlived a stop, when iterated from a thread."""
    column = load(folder, memory=0, threads=threads)["train"]["image"]
    before = set(threading.enumerate())
    for run in range(20):
        stop = threading.Event()

        def train(stop: threading.Event = stop, run: int = run) -> None:
            order = torch.randperm(len(column), generator=torch.Generator().manual_seed(run))
            for rows in order.split(4):
                assert column[rows].shape == (len(rows), 3, 3, 5)
                if stop.is_set():
                    return

        thread = threading.Thread(target=train)
        thread.start()
        stop.set()
        thread.join(30)
        assert not thread.is_alive()
    assert set(threading.enumerate()) == before
    assert multiprocessing.active_children() == []


def test_a_file_that_breaks_while_training_is_named_and_leaves_no_thread(folder: Path) -> None:
    columns = [part["image"] for part in load(folder, memory=0).values()]
    (folder / "a" / "3.png").write_bytes(b"\x89PNG\r\n\x1a\nrest")
    before = set(threading.enumerate())
    with pytest.raises(ValueError, match=r'"a/3.png" is'):
        for column in columns:
            column[:]
    assert set(threading.enumerate()) == before


def test_unreadable_files_stop_or_are_left_out(folder: Path) -> None:
    (folder / "b" / "7.png").write_bytes((folder / "b" / "7.png").read_bytes()[:40])
    (folder / "a" / "2.png").write_bytes(b"")
    for memory in (1000, 0):
        assert isinstance(load(folder, memory=0)["train"]["image"], Lazy)
        splits = load(folder, unreadable="leave out", memory=memory)
        assert sum(len(part["image"]) for part in splits.values()) == 38
        rest = {
            (int(image[0, 0, 0] * 255 + 0.5), int(label))
            for part in splits.values()
            for image, label in zip(part["image"][:], part["label"], strict=True)
        }
        assert len(rest) == 38 and not rest & {(7, 1), (2, 0)}
    with pytest.raises(ValueError, match=r'"a/2.png" is empty'):
        load(folder)


def test_groups_stay_together(folder: Path) -> None:
    (folder / "a").rename(folder / "c")
    (folder / "a").mkdir()
    for at in range(20):
        target = folder / "a" / f"person {at // 4}"
        target.mkdir(exist_ok=True)
        (folder / "c" / f"{at}.png").rename(target / f"{at}.png")
    (folder / "c").rmdir()
    splits = load(folder, splitter=split_by_group, key="group")
    groups = [
        {int(i[0, 0, 0] * 255 + 0.5) // 4 for i, n in zip(part["image"], part["label"], strict=True) if not n}
        for part in splits.values()
    ]
    assert sum(map(len, groups)) == 5 == len(set().union(*groups))


def test_time_goes_by_the_natural_order_of_names(folder: Path) -> None:
    options = {name: value for name, value in SHARES.items() if name not in ("seed", "splitter", "key")}
    found = load_image_files(
        folder,
        "cpu",
        rows=images_by_class,
        where={"classes": ("a", "b"), "split_folders": False},
        image=IMAGE,
        unreadable="stop",
        memory=1000,
        threads=0,
        key="",
        splitter=split_in_time,
        **options,
    )
    levels = (found["train"]["image"][:, 0, 0, 0] * 255).round().int().tolist()
    assert levels == [*range(20), *range(4)]  # a/2 before a/10


def test_splits_as_the_folders_give_them(folder: Path) -> None:
    for split in ("train", "Val", "testing"):
        (folder / split).mkdir()
    for at, kind in ((at, kind) for at in range(20) for kind in "ab"):
        split = ("train", "Val", "testing")[at % 3]
        (folder / split / kind).mkdir(exist_ok=True)
        (folder / kind / f"{at}.png").rename(folder / split / kind / f"{at}.png")
    where = {"classes": ("a", "b"), "split_folders": True}
    splits = load(folder, where=where, splitter=split_as_given, key="split")
    for number, part in enumerate(splits.values()):
        assert {int(level * 255 + 0.5) % 3 for level in part["image"][:, 0, 0, 0]} == {number}


def test_a_list_gives_classes_or_quantities(folder: Path) -> None:
    (folder / "list.csv").write_text(
        "file;grade;part\n"
        + "".join(f"./b\\{n}.png;{n},5;{'train' if n < 14 else 'test'}\n" for n in range(20)),
        encoding="utf-16",
    )
    where = {
        "file": "list.csv",
        "header": True,
        "path_column": "1",
        "label_column": "grade",
        "split_column": "part",
        "classes": (),
    }
    splits = load(folder, rows=images_listed, where=where, splitter=split_as_given, key="split")
    assert [len(part["value"]) for part in splits.values()] == [11, 3, 6]
    for part in splits.values():
        assert torch.equal(part["value"][:, 0], (part["image"][:, 0, 0, 0] * 255).round() + 0.5)


def test_masks_come_with_their_images(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name in ("pictures", "masks"):
        (tmp_path / name).mkdir()
    for at in range(10):
        bits = rng.integers(0, 2, (4, 4), dtype=np.uint8) * 255
        Image.fromarray(bits).save(tmp_path / "pictures" / f"{at}.png")
        Image.fromarray(255 - bits).save(tmp_path / "masks" / f"{at}_mask.png")
    for memory in (1000, 0.0005, 0):
        splits = load_masked_images(
            tmp_path,
            "cpu",
            rows=images_with_masks,
            where={"images": "pictures", "masks": "masks", "split_folders": False},
            image={**IMAGE, "size": (4, 4), "channels": "grey"},
            values=(0, 255),
            unreadable="stop",
            memory=memory,
            threads=1,
            **{**SHARES, "key": "", "splitter": split_at_random},
        )
        for part in splits.values():
            image, mask = part["image"][:], part["mask"][:]
            assert mask.dtype == torch.int64 and torch.equal(image[:, 0], 1.0 - mask)


def test_an_empty_batch_has_its_shape(folder: Path) -> None:
    column = load(folder, memory=0)["train"]["image"]
    assert isinstance(column, ImageFiles) and column[torch.tensor([], dtype=torch.int64)].shape == (
        0,
        3,
        3,
        5,
    )
