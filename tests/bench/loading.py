"""Reading batches: of arrays larger than memory should hold, and of MNIST in memory against other ways."""

from __future__ import annotations

import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench.rows import row
from tests.bench.setting import gallery_project

GIGABYTES = 10
SIDE = 100  # rows of 100 x 100 bytes
ROUNDS = 15


@row("memory-mapped", "peak memory while an epoch of a 10 GB array is read in batches", "GiB", "<= 2")
def memory_mapped() -> tuple[float, str]:
    """The array is a sparse file, so that it needs no disk; its pages are memory all the same."""
    import numpy as np
    import torch

    from engine.data.array_files import load_arrays
    from engine.data.splits import split_at_random

    with tempfile.TemporaryDirectory() as folder:
        rows = GIGABYTES * 10**9 // SIDE**2
        np.lib.format.open_memmap(Path(folder) / "x.npy", "w+", np.uint8, (rows, SIDE, SIDE))._mmap.close()  # type: ignore[attr-defined]
        columns = ({"name": "x", "files": (("", "x.npy", ""),), "size": (SIDE, SIDE)},)
        splits = load_arrays(
            Path(folder),
            "cpu",
            columns=columns,
            values="0 to 1",
            axes="add a channel",
            memory=1024,
            splitter=split_at_random,
            validation=0.1,
            test=0.1,
            seed=0,
        )
        began, read = time.perf_counter(), 0
        for column in splits.values():
            x = column["x"]
            order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
            for batch in order.split(128):
                read += x[batch].numel()
        seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return peak, f"{read / 1e9:.1f} GB read in {seconds:.0f} s, {rows / seconds:,.0f} rows a second"


def _mnist() -> tuple[dict[str, Any], Callable[..., Any]]:
    from engine.catalogue import load_catalogue
    from engine.document.shipped import datasets_folder
    from engine.emit.program import compile_program

    program = compile_program(gallery_project("mnist-cnn"), load_catalogue())
    return program.load(datasets_folder())["train"], program.batches


def _speeds(ways: dict[str, Callable[[], int]], rounds: int) -> dict[str, float]:
    """Batches per second of each way, the median of rounds that take turns."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            began = time.perf_counter()
            count = way()
            found[name].append(count / (time.perf_counter() - began))
    return {name: statistics.median(speeds) for name, speeds in found.items()}


def _ways() -> dict[str, Callable[[], int]]:
    import numpy as np
    import torch
    from PIL import Image
    from torch.utils.data import DataLoader, Dataset

    torch.set_num_threads(1)  # each batch is little; two threads that wait for each other measure the wait
    split, batches = _mnist()
    image, digit = split["image"], split["digit"]
    size = len(next(iter(batches(split)))["image"])

    grey = (image * 255).round().to(torch.uint8)

    class Ready(Dataset):  # type: ignore[type-arg]
        """Rows that are tensors already."""

        def __len__(self) -> int:
            return len(image)

        def __getitem__(self, row: int) -> Any:
            return image[row], int(digit[row])

    class Rows(Ready):
        """Rows as torchvision's MNIST with ToTensor hands them out: an image of Pillow becomes a tensor."""

        def __getitem__(self, row: int) -> Any:
            picture = Image.fromarray(grey[row, 0].numpy())
            values = torch.from_numpy(np.array(picture))[None].contiguous()
            return values.to(torch.float32).div(255), int(digit[row])

    def emitted() -> int:
        return sum(1 for _ in batches(split, torch.Generator().manual_seed(0)))

    def by_hand() -> int:
        order = torch.randperm(len(image), generator=torch.Generator().manual_seed(0))
        count = 0
        for at in range(0, len(order), size):
            rows = order[at : at + size]
            _ = image[rows], digit[rows]
            count += 1
        return count

    def loader(rows: type[Ready]) -> int:
        count = 0
        for _ in DataLoader(rows(), batch_size=size, shuffle=True):
            count += 1
            if count == 60:
                break
        return count

    return {
        "emitted": emitted,
        "by hand": by_hand,
        "DataLoader": partial(loader, Rows),
        "DataLoader of ready tensors": partial(loader, Ready),
    }


@row(
    "loader-mnist",
    "batches of MNIST per second against torch's DataLoader over a Dataset of rows, as torchvision has it",
    "ratio",
    ">= 20",
)
def loader_mnist() -> tuple[float, str]:
    found = _speeds(_ways(), 5)
    return found["emitted"] / found["DataLoader"], _told(found)


@row("loader-by-hand", "the same against indexing the tensors by hand", "ratio", ">= 0.95")
def loader_by_hand() -> tuple[float, str]:
    ways = _ways()
    ways = {name: way for name, way in ways.items() if not name.startswith("DataLoader")}
    found = _speeds(ways, ROUNDS)
    return found["emitted"] / found["by hand"], _told(found)


def _told(found: dict[str, float]) -> str:
    return ", ".join(f"{name} {speed:,.0f} batches/s" for name, speed in found.items())
