"""Images that lie in files of their own, as columns. Portable: exports carry this source.

They are held in memory where they fit into what a person allows, and decoded a batch at a time where they
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

from engine.data.dealing import dealt_columns
from engine.data.image_decoding import image_levels
from engine.data.lazy import Lazy


class HeldLevels(Lazy):
    """Images (N, C, H, W) whose levels are in memory as whole numbers; batches are float32 in 0..1."""

    def __init__(self, levels: np.ndarray, device: str) -> None:
        super().__init__(len(levels), levels.shape[1:], torch.float32, device)
        self.levels = levels

    def read(self, rows: Tensor) -> Tensor:
        return shares_of(self.levels[rows.numpy()])


class ImageFiles(Lazy):
    """A file for each row, decoded when its batch is asked for by `threads` threads; by none for 0.

    `decode(folder, name, **how)` gives an array of `size`; whole numbers become float32 in 0..1.
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
    ) -> None:
        super().__init__(len(names), size, torch.float32, device)
        self.folder, self.names, self.decode, self.how, self.threads = folder, names, decode, how, threads

    def levels(self, rows: Tensor) -> np.ndarray:
        """The levels of these rows as (len(rows), *size), uint8 or uint16."""
        from concurrent.futures import ThreadPoolExecutor

        def decoded(name: str) -> np.ndarray:
            return self.decode(self.folder, name, **self.how)

        asked = [self.names[row] for row in rows.tolist()]
        if not self.threads or len(asked) < 2:
            found = [decoded(name) for name in asked]
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                found = list(pool.map(decoded, asked))
        return np.stack(found) if found else np.zeros((0, *self.shape[1:]), np.uint8)

    def read(self, rows: Tensor) -> Tensor:
        return shares_of(self.levels(rows))

    def broken(self) -> list[int]:
        """The rows whose files cannot be read. Every file is decoded to know it."""
        found = []
        for row in range(len(self)):
            try:
                self.decode(self.folder, self.names[row], **self.how)
            except ValueError:
                found.append(row)
        return found

    def held(self, megabytes: int) -> Tensor | Lazy:
        """The column in memory, as levels where only those fit into `megabytes`; else as it is."""
        deep = 2 if self.how.get("bits") == 16 else 1
        if deep * self.numel() > megabytes * 1_000_000:
            return self
        levels = np.empty(self.shape, np.uint16 if deep == 2 else np.uint8)
        for start in range(0, len(self), 256):
            rows = torch.arange(start, min(start + 256, len(self)))
            levels[rows.numpy()] = self.levels(rows)
        if 4 * self.numel() > megabytes * 1_000_000:
            return HeldLevels(levels, str(self.device))
        return shares_of(levels)


def shares_of(levels: np.ndarray) -> Tensor:
    """Levels as shares of the highest, float32 in 0..1."""
    return torch.from_numpy(levels.astype(np.float32) / np.float32(np.iinfo(levels.dtype).max))


def load_image_files(
    folder: Path,
    device: str,
    *,
    rows: Callable[..., dict[str, list[Any]]],
    where: dict[str, Any],
    size: tuple[int, int],
    fit: str,
    channels: str,
    behind: str,
    bits: int,
    unreadable: str,
    memory: int,
    threads: int,
    key: str,
    deal: Callable[..., dict[str, Tensor]],
    **dealing: Any,
) -> dict[str, dict[str, Any]]:
    """Images as {split: {"image": (N, C, H, W) in 0..1, "label": (N,) class numbers, where there are any}}.

    `rows(folder, **where)` lists them; `key` says which of its lists the dealer looks at. Images that take
    at most `memory` megabytes are held in memory.
    """
    listed = rows(folder, **where)
    if not listed["path"]:
        raise ValueError(f"There is no image in {folder}.")
    how = {"size": size, "fit": fit, "channels": channels, "behind": behind, "bits": bits}
    depth = {"grey": 1, "RGB": 3, "RGBA": 4}[channels]
    image = ImageFiles(folder, listed["path"], image_levels, how, (depth, *size), threads, device)
    if unreadable == "leave out" and (broken := set(image.broken())):
        listed = {
            name: [value for row, value in enumerate(values) if row not in broken]
            for name, values in listed.items()
        }
        image = ImageFiles(folder, listed["path"], image_levels, how, (depth, *size), threads, device)
    columns: dict[str, Any] = {"image": image.held(memory)}
    if "label" in listed:
        columns["label"] = torch.tensor(listed["label"])
    keys = None
    if key:
        values = listed[key]
        numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
        keys = torch.tensor(values if key in ("split", "label") else [numbers[value] for value in values])
    return dealt_columns(columns, deal(len(image), keys, **dealing), device)
