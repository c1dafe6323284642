"""Two processes against one at the same global batch, and what writing checkpoints costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from engine.catalogue import load_catalogue
from engine.document.shipped import datasets_folder
from tests.bench.rows import row
from tests.bench.setting import gallery_project

TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
LONGEST_SECONDS = 600


def seconds_of(example: str, epochs: int, processes: int) -> tuple[float, int]:
    """The training time of a run as it recorded it, and its steps."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "run"
        command = [sys.executable, *(TORCHRUN if processes > 1 else ()), "-m", "engine.cli", "train"]
        command += [f"gallery:{example}", "--epochs", str(epochs), "--device", "cpu", "--out", str(out)]
        subprocess.run(
            command, check=True, capture_output=True, timeout=LONGEST_SECONDS, env=os.environ.copy()
        )
        facts = json.loads((out / "settings.json").read_text("utf-8"))
        return float(facts["seconds"]), int(facts["steps"])


@row("two-processes", "speed of two processes against one, mnist-cnn at the same global batch", "ratio")
def two_processes() -> tuple[float, str]:
    """One process has the same cores as the two together."""
    alone, steps = seconds_of("mnist-cnn", 1, 1)
    both, _ = seconds_of("mnist-cnn", 1, 2)
    return alone / both, f"{steps / both:,.1f} steps/s in two processes, {steps / alone:,.1f} in one"


@row("checkpoint-cost", "share of the training time that writing a run takes, mnist-cnn", "share", "<= 0.02")
def checkpoint_cost(epochs: int = 2) -> tuple[float, str]:
    """All that a run writes: curves, weights, checkpoints. The end of the run, written once, is left out."""
    from engine.train.headless import run_headless
    from engine.train.run_folder import RunFolder

    spent: list[float] = []
    write = RunFolder.write

    def timed(self: RunFolder, run: object) -> None:
        began = time.perf_counter()
        try:
            write(self, run)  # type: ignore[arg-type]
        finally:
            spent.append(time.perf_counter() - began)

    RunFolder.write = timed  # type: ignore[method-assign,assignment]
    try:
        with tempfile.TemporaryDirectory() as place:
            outcome = run_headless(
                gallery_project("mnist-cnn"),
                load_catalogue(),
                datasets_folder(),
                epochs=epochs,
                device="cpu",
                folder=Path(place) / "run",
            )
    finally:
        RunFolder.write = write  # type: ignore[method-assign]
    *during, _ = spent
    seconds = outcome.run.seconds
    remark = f"{len(during)} writes of {1000 * sum(during) / max(1, len(during)):.0f} ms in {seconds:.0f} s"
    return sum(during) / seconds, remark
