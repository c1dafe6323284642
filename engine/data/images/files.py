"""Images that lie in files of their own, as columns. Portable: exports carry this source.

They are held in memory where they fit into what the user allows, and decoded a batch at a time where they
don't; the numbers are the same. Threads that decode live no longer than their batch: a process for each
worker, as others have, would outlive a stop or wait for a lock that its parent held when it was made.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.data.images.decoding import image_levels
from engine.data.images.masks import mask_classes
from engine.data.lazy import Lazy
from engine.data.splits import split_columns, split_rows
from engine.data.telling import tell


class HeldLevels(Lazy):
    """Images in memory as whole levels; batches of them are float32 in 0..1, or class numbers (int64)."""

    def __init__(self, levels: np.ndarray, dtype: torch.dtype, device: str) -> None:
        super().__init__(len(levels), levels.shape[1:], dtype, device)
        self.levels = levels

    def read(self, rows: Tensor) -> Tensor:
        return values_of(self.levels[rows.numpy()], self.dtype)


class ImageFiles(Lazy):
    """A file for each row, decoded when its batch is asked for by `threads` threads; by none for 0.

    `decode(folder, name, **how)` gives an array of `size`, uint8 or uint16: levels or, if `whole`, classes.
    """

    def __init__(
        self,
        folder: Path,
        names: list[str],
        decode: Callable[..., np.ndarray],
        how: dict[str, Any],
        size: tuple[int, ...],
        threads: int,
        device: str,
        whole: bool = False,
    ) -> None:
        super().__init__(len(names), size, torch.int64 if whole else torch.float32, device)
        self.folder, self.names, self.decode, self.how, self.threads = folder, names, decode, how, threads

    def levels(self, rows: Tensor, before: int = 0, count: int = 0) -> np.ndarray:
        """What the files of these rows hold, as (len(rows), *size); `before` were read, of `count` in all."""
        from concurrent.futures import ThreadPoolExecutor
        from contextvars import Context, copy_context

        def decoded(name: str, context: Context) -> np.ndarray:
            return context.run(self.decode, self.folder, name, **self.how)

        asked = [self.names[row] for row in rows.tolist()]
        contexts = [copy_context() for _ in asked]  # who listens here is told by the threads, too
        found = []
        pool = ThreadPoolExecutor(self.threads) if self.threads and len(asked) > 1 else None
        try:
            for one in (map if pool is None else pool.map)(decoded, asked, contexts):
                found.append(one)
                tell(before + len(found), count or len(asked), "images")
        finally:
            if pool is not None:
                pool.shutdown(cancel_futures=True)
        return np.stack(found) if found else np.zeros((0, *self.shape[1:]), np.uint8)

    def read(self, rows: Tensor) -> Tensor:
        return values_of(self.levels(rows), self.dtype)

    def broken(self) -> set[int]:
        """The rows whose files cannot be read. Every file is decoded to know it."""
        found = set()
        for row, name in enumerate(self.names):
            tell(row, len(self.names), "images")
            try:
                self.decode(self.folder, name, **self.how)
            except ValueError:
                found.add(row)
        return found

    def at(self, rows: Tensor) -> ImageFiles:
        found = super().at(rows)
        assert isinstance(found, ImageFiles)
        return found

    def held(self, megabytes: float) -> Tensor | Lazy:
        """The column in memory, as levels where only those fit into `megabytes`; else as it is."""
        room = megabytes * 1_000_000
        first = self.levels(self.picked[:1], 0, len(self))
        if first.itemsize * self.numel() > room:
            return self
        levels = np.empty(self.shape, first.dtype)
        for start in range(0, len(self), 256):
            levels[start : start + 256] = self.levels(self.picked[start : start + 256], start, len(self))
        if self.dtype.itemsize * self.numel() > room:
            return HeldLevels(levels, self.dtype, str(self.device))
        return values_of(levels, self.dtype)


def values_of(levels: np.ndarray, dtype: torch.dtype) -> Tensor:
    """Levels divided by the highest, float32 in 0..1, or as whole numbers."""
    if not dtype.is_floating_point:
        return torch.from_numpy(levels.astype(np.int64))
    return torch.from_numpy(levels.astype(np.float32) / np.float32(np.iinfo(levels.dtype).max))


def load_image_files(
    folder: Path,
    device: str,
    *,
    rows: Callable[..., dict[str, list[Any]]],
    where: dict[str, Any],
    image: dict[str, Any],
    unreadable: str,
    memory: int,
    threads: int,
    key: str,
    splitter: Callable[..., dict[str, Tensor]],
    **splitting: Any,
) -> dict[str, dict[str, Any]]:
    """Images as {split: {"image": (N, C, H, W) in 0..1, "label": (N,) classes, or "value": (N, 1)}}.

    `rows(folder, **where)` lists them, `image` says how they are decoded, `key` which of the lists the
    splitter goes by. What takes at most `memory` megabytes is held in memory.
    """
    listed = rows(folder, **where)
    files = [image_column(folder, listed["path"], image, threads, device, listed.pop("held", None))]
    return split_images(folder, device, listed, files, unreadable, memory, key, splitter, splitting)


def load_masked_images(
    folder: Path,
    device: str,
    *,
    rows: Callable[..., dict[str, list[Any]]],
    where: dict[str, Any],
    image: dict[str, Any],
    values: tuple[int, ...],
    unreadable: str,
    memory: int,
    threads: int,
    key: str,
    splitter: Callable[..., dict[str, Tensor]],
    void: int | None = None,
    **splitting: Any,
) -> dict[str, dict[str, Any]]:
    """Images with masks as {split: {"image": (N, C, H, W) in 0..1, "mask": (N, H, W) classes}}.

    `values` are what masks say of pixels, in the order of the classes, and `void` what they say of those that
    have none, -100 here; the rest is as for `load_image_files`.
    """
    listed = rows(folder, **where)
    how = {"values": values, "size": image["size"], "fit": image["fit"], "void": void}
    masks = ImageFiles(folder, listed["mask"], mask_classes, how, image["size"], threads, device, whole=True)
    files = [image_column(folder, listed["path"], image, threads, device), masks]
    return split_images(folder, device, listed, files, unreadable, memory, key, splitter, splitting)


def image_column(
    folder: Path,
    names: list[str],
    how: dict[str, Any],
    threads: int,
    device: str,
    held: list[bytes] | None = None,
) -> ImageFiles:
    """Images in their files, one a row; those whose bytes are `held` need none."""
    known = dict(zip(names, held or (), strict=False))

    def decode(folder: Path, name: str, **how: Any) -> np.ndarray:
        return image_levels(folder, name, held=known.get(name), **how)

    size = ({"grey": 1, "RGB": 3, "RGBA": 4}[how["channels"]], *how["size"])
    return ImageFiles(folder, names, decode if held else image_levels, how, size, threads, device)


def split_images(
    folder: Path,
    device: str,
    listed: dict[str, list[Any]],
    files: list[ImageFiles],
    unreadable: str,
    memory: int,
    key: str,
    splitter: Callable[..., dict[str, Tensor]],
    splitting: dict[str, Any],
) -> dict[str, dict[str, Any]]:
    """The columns of the images, split; files that cannot be read are left out where that is wanted."""
    count = len(listed["path"])
    if not count:
        raise ValueError(f"There is no image in {folder}.")
    left_out = set().union(*(one.broken() for one in files)) if unreadable == "leave out" else set()
    if len(left_out) == count:
        raise ValueError(f"None of the {count:,} images in {folder} can be read.")
    kept = torch.tensor([row for row in range(count) if row not in left_out])
    columns: dict[str, Any] = {}
    for name, column in zip(("image", "mask"), files, strict=False):
        column = column.at(kept) if left_out else column
        columns[name] = column.held(memory / len(files))
    labels = [listed["label"][row] for row in kept.tolist()] if "label" in listed else []
    if labels and isinstance(labels[0], float):
        columns["value"] = torch.tensor(labels)[:, None]
    elif labels:
        columns["label"] = torch.tensor(labels)
    keys = None
    if key:
        values = [listed[key][row] for row in kept.tolist()]
        numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
        keys = torch.tensor(values if key == "split" else [numbers[value] for value in values])
    rows = split_rows(len(kept), keys, splitter, splitting, [columns["image"]], columns.get("label"))
    return split_columns(columns, rows, device)
