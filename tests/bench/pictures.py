"""The window with twelve live views open while the example mnist-cnn trains."""

from __future__ import annotations

import gc
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.rows import row
from tests.bench.setting import gallery_project
from tests.bench.speed import cnn_by_hand, compare
from tests.bench.window import lateness, open_window, spin, wait_until

if TYPE_CHECKING:
    from app.window.main_window import MainWindow
    from app.workspace.workspace import Workspace

# Of every sort: from the weights, from one example, from many, from gradients, and in a thread of their own.
TWELVE = (
    ("example", "conv1"),
    ("activations", "conv1"),
    ("filters", "conv1"),
    ("histograms", "conv1"),
    ("ridge", "conv2"),
    ("activations", "conv2"),
    ("spectrum", "classes"),
    ("weight_matrix", "classes"),
    ("projection", "flatten"),
    ("layer-measures", ""),
    ("calibration", "classes"),
    ("confusion-matrix", "classes"),
)
STEPS, WARM_STEPS = 10_000, 1_000


def open_twelve(window: MainWindow, workspace: Workspace) -> None:
    """Twelve views in the place of the canvas, all of them in view."""
    ids = {node.name: node.id for node in workspace.document.project.graph.nodes.values()}
    page = window.document_page
    window.document_page.bottom.show_panel("Views")
    page.enlarge_views(True)
    dock = page.bottom.views.dock
    for kind, name in TWELVE:
        if dock.pin(kind, ids.get(name, "")) is None:
            raise ValueError(f"there is no view {kind!r}")
    spin(0.5)
    shown = [card for card in dock.cards if card.pinned and not card.visibleRegion().isEmpty()]
    if len(shown) < len(TWELVE):
        raise ValueError(f"only {len(shown)} of {len(TWELVE)} views are in sight")


@row(
    "speed-twelve",
    "steps per second of mnist-cnn with twelve views open against a hand-written loop",
    "ratio",
    ">= 0.9",
)
def speed() -> tuple[float, str]:
    return compare(gallery_project("mnist-cnn"), cnn_by_hand, open_twelve)


@row(
    "stall-twelve",
    "99th percentile of how late the event loop is with twelve views open",
    "ms",
    "<= 33",
)
def stall() -> tuple[float, str]:
    return lateness(open_twelve, after=3.0)


@row(
    "pictures-share",
    "proportion of the training thread's time that twelve open views take",
    "share",
    "<= 0.05",
)
def share() -> tuple[float, str]:
    with open_window(gallery_project("mnist-cnn")) as (window, workspace):
        open_twelve(window, workspace)
        workspace.train()
        trainer = workspace.trainer
        wait_until(lambda: trainer.state == "running" and trainer.progress.step > 10)
        spin(3.0)  # everything has been taken once, and knows its cost
        before, began = trainer.seconds_on_views, time.perf_counter()
        spin(20.0)
        spent, seconds = trainer.seconds_on_views - before, time.perf_counter() - began
    return spent / seconds, f"{spent:.2f} s of {seconds:.0f} s, threads of their own included"


@row(
    "memory-pictures",
    "growth of memory with views open over 9,000 steps of a small net, after 1,000",
    "MiB",
    "<= 20",
)
def memory() -> tuple[float, str]:
    with open_window(gallery_project("two-spirals")) as (window, workspace):
        ids = {node.name: node.id for node in workspace.document.project.graph.nodes.values()}
        window.document_page.bottom.show_panel("Views")
        window.document_page.enlarge_views(True)
        dock = window.document_page.bottom.views.dock
        for kind in ("activations", "histograms", "ridge", "spectrum", "decision-regions"):
            dock.pin(kind, ids["scores"])
        trainer = workspace.trainer
        trainer.start(workspace.document.snapshot(), workspace.document.revision, epochs=100_000)
        wait_until(lambda: trainer.progress.step > WARM_STEPS)
        first = _resident()
        wait_until(lambda: trainer.progress.step > STEPS)
        last = _resident()
        trainer.stop()
    return last - first, f"{first:.0f} MiB at {WARM_STEPS:,} steps, {last:.0f} MiB at {STEPS:,}"


def _resident() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20
