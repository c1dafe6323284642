"""What a run of many short epochs keeps in memory: everything else that it has is of a fixed size.

Its curves and the records of its epochs are in files but for their newest points.
"""

from __future__ import annotations

import tracemalloc

from engine.feed.feed import Feed
from engine.train.epochs import Epochs
from tests.bench.rows import row

STEPS, PER_EPOCH = 600_000, 6


@row(
    "memory-epochs",
    "what the second half of 600,000 steps of a tiny network adds to memory: curves, short epochs",
    "MiB",
    "<= 0.1",
)
def memory() -> tuple[float, str]:
    tracemalloc.start()
    feed, history = Feed(), Epochs()
    half = 0.0
    for step in range(1, STEPS + 1):
        place = (step, step / PER_EPOCH, step / 1000)
        feed.append("train_loss", *place, 1 / step)
        if step % PER_EPOCH == 0:
            values = {"lr": 0.01, "val_loss": 1 / step, "val_accuracy": 1 - 1 / step}
            for name, value in values.items():
                feed.append(name, *place, value)
            rest = {"train_loss": 1 / step, "seconds": step / 1000, "step": step}
            history.append({"epoch": step // PER_EPOCH - 1, **values, **rest})
        if step == STEPS // 2:
            half = tracemalloc.get_traced_memory()[0] / 2**20
    taken = tracemalloc.get_traced_memory()[0] / 2**20
    tracemalloc.stop()
    return taken - half, f"{half:.1f} MiB after {STEPS // 2:,} steps, {taken:.1f} after {STEPS:,}"
