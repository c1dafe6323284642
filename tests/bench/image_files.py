"""A folder of 100,000 images: how soon it is listed, and how fast it trains from its files."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from tests.bench.rows import row

IMAGES, CLASSES, SIDE, BATCHES, BATCH = 100_000, 10, 32, 100, 64


@row("images-100k", "a folder of 100,000 images is listed and understood", "s", "<= 5")
def images_100k() -> tuple[float, str]:
    """The files are links to a hundred images in colour, so that they need no disk."""
    from engine.data.open.opening import open_data
    from engine.train.headless import run_headless  # noqa: F401  what it imports is not what is measured
    from nodes.data.image_files import ImageFolder

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "images"
        made(folder)
        began = time.perf_counter()
        opened = open_data(folder)
        seconds = time.perf_counter() - began
        assert opened.params["count"] == IMAGES
        held = memory()
        began = time.perf_counter()
        loader = Loaded()
        ImageFolder({**opened.params, "memory": 0}).emit(loader)
        train = loader.splits(folder)["train"]
        dealt = time.perf_counter() - began
        said = trained(train)
        peak = memory() - held
    return seconds, f"dealt in {dealt:.1f} s; {said}; training took {peak:.0f} MiB more"


class Loaded:
    """An emitter that reads what a node would load."""

    def load(self, loader, **options):  # type: ignore[no-untyped-def]
        self.loader, self.options = loader, options
        return {}

    def splits(self, folder: Path):  # type: ignore[no-untyped-def]
        return self.loader(folder, "cpu", **self.options)


def trained(train) -> str:  # type: ignore[no-untyped-def]
    """Train a small network for some batches, as a script does; says how fast, and how long it waits."""
    import torch
    from torch import nn

    from engine.data.reading_ahead import read_ahead

    net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.MaxPool2d(4), nn.Flatten(), nn.LazyLinear(CLASSES))
    optimiser, reading = None, 0.0
    order = torch.randperm(len(train["image"]), generator=torch.Generator().manual_seed(0))
    began = time.perf_counter()
    batches = read_ahead(train, order.split(BATCH)[:BATCHES])
    for _ in range(BATCHES):
        before = time.perf_counter()
        batch = next(batches)
        reading += time.perf_counter() - before
        loss = nn.functional.cross_entropy(net(batch["image"]), batch["label"])
        optimiser = optimiser or torch.optim.SGD(net.parameters(), lr=0.1)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    seconds = time.perf_counter() - began
    rate = BATCHES * BATCH / seconds
    return f"trains {rate:,.0f} images a second, {100 * reading / seconds:.0f} % of it waiting for images"


def memory() -> float:
    """The most memory that this process has held, in MiB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def made(folder: Path) -> None:
    """A hundred different images, each linked a thousand times."""
    import numpy as np
    from PIL import Image

    rng = np.random.default_rng(0)
    for kind in range(CLASSES):
        (folder / f"class {kind}").mkdir(parents=True)
    for number in range(100):
        first = folder / f"class {number % CLASSES}" / f"{number}.png"
        coarse = Image.fromarray(rng.integers(0, 256, (4, 4, 3), dtype=np.uint8))
        coarse.resize((SIDE, SIDE)).save(first)
        for copy in range(1, IMAGES // 100):
            os.link(first, first.with_name(f"{copy * 100 + number}.png"))
