"""Training speed in the window, every panel open, against a loop written by hand over the same tensors.

Short rounds of the two take turns in one process, and the medians are compared: what else the computer
does then falls on both.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.catalogue import Column, Data, load_catalogue
from engine.graph import Graph, Link, Node, Project
from engine.plan import Plan
from tests.bench.rows import row
from tests.bench.setting import gallery_project

ROUNDS = 9
ROUND_SECONDS = 2.0
POINTS = 16_384


def load_points(folder: Path, device: str, *, count: int = 1024) -> dict[str, dict[str, Any]]:
    """Points of the plane and whether both coordinates have one sign, as {split: {"point", "same"}}."""
    import torch

    point = torch.randn(count, 2, generator=torch.Generator().manual_seed(0)).to(device)
    same = (point.prod(1, keepdim=True) > 0).float()
    held, tested = int(count * 0.8), int(count * 0.9)
    parts = {"train": slice(0, held), "validation": slice(held, tested), "test": slice(tested, count)}
    return {split: {"point": point[rows], "same": same[rows]} for split, rows in parts.items()}


class BenchPoints(Data):
    """Points of the plane: the smallest data set that a network of two inputs can be timed on."""

    def columns(self) -> tuple[Column, ...]:
        return (Column("point", (2,)), Column("same", (1,)))

    def emit(self, e: Any, **_: Any) -> Any:
        return e.load(load_points, count=POINTS)


def mlp_project() -> Project:
    """2-16-16-1 with tanh on the points, batch 32."""
    nodes = [
        Node("n1", "BenchPoints", "points"),
        Node("n2", "Linear", "hidden1", {"units": 16, "activation": "tanh"}, (216.0, 0.0)),
        Node("n3", "Linear", "hidden2", {"units": 16, "activation": "tanh"}, (432.0, 0.0)),
        Node("n4", "Linear", "answer", {"units": 1}, (648.0, 0.0)),
        Node("n5", "BCEWithLogits", "loss", {}, (864.0, 0.0)),
    ]
    links = [
        Link("n1", "point", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "x"),
        Link("n4", "output", "n5", "prediction"),
        Link("n1", "same", "n5", "target"),
    ]
    return Project(title="2-16-16-1", graph=Graph(nodes, links), plan=Plan(batch=32), next_id=6)


def compare(project: Project, by_hand: Callable[[], Any]) -> tuple[float, str]:
    """Median speed in the window divided by that of the hand-written loop on as many threads.

    The loop also runs on torch's other choice of threads, and the remark says how fast that was.
    """
    import torch

    from engine.emit.program import compile_program
    from tests.bench.window import open_window, show_all, spin, wait_until

    in_window: list[float] = []
    alone: dict[int, list[float]] = {threads: [] for threads in sorted({1, torch.get_num_threads()})}
    with open_window(project) as (window, workspace):
        show_all(window, workspace)
        loop = by_hand()
        own_threads = compile_program(project, workspace.catalogue).threads or max(alone)
        trainer = workspace.trainer
        trainer.start(workspace.document.snapshot(), workspace.document.revision, epochs=100_000)
        wait_until(lambda: trainer.state == "running" and trainer.progress.step > 10)
        spin(1.0)
        for _ in range(ROUNDS):
            began, first = time.perf_counter(), trainer.progress.step
            spin(ROUND_SECONDS)
            in_window.append((trainer.progress.step - first) / (time.perf_counter() - began))
            trainer.pause()
            wait_until(lambda: trainer.state == "paused")
            before = torch.get_num_threads()
            for threads, speeds in alone.items():
                torch.set_num_threads(threads)
                speeds.append(loop.steps_per_second(ROUND_SECONDS / len(alone)))
            torch.set_num_threads(before)
            trainer.resume()
            wait_until(lambda: trainer.state == "running")
            spin(0.2)
        trainer.stop()
    window_speed = statistics.median(in_window)
    by_threads = {threads: statistics.median(speeds) for threads, speeds in alone.items()}
    hand_speed = by_threads.pop(own_threads)
    others = "".join(f", {speed:,.0f} on {threads}" for threads, speed in by_threads.items())
    remark = (
        f"{window_speed:,.0f} steps/s in the window, {hand_speed:,.0f} by hand on {own_threads} thread(s)"
    )
    return window_speed / hand_speed, remark + others


@row(
    "speed-cnn", "steps per second of mnist-cnn in the window against a hand-written loop", "ratio", ">= 0.9"
)
def cnn() -> tuple[float, str]:
    from torch import nn

    from engine.data.mnist import load_mnist
    from engine.data.shipped import datasets_folder
    from tests.bench.reference import Cnn, HandWritten

    def by_hand() -> HandWritten:
        data = load_mnist(datasets_folder(), "cpu")
        return HandWritten(Cnn(), nn.CrossEntropyLoss(), data, ("image", "digit"), batch=128)

    return compare(gallery_project("mnist-cnn"), by_hand)


@row(
    "speed-mlp",
    "steps per second of a 2-16-16-1 MLP in the window against a hand-written loop",
    "ratio",
    ">= 0.75",
)
def mlp() -> tuple[float, str]:
    from torch import nn

    from tests.bench.reference import HandWritten, Mlp

    load_catalogue().add(BenchPoints)

    def by_hand() -> HandWritten:
        data = load_points(Path(), "cpu", count=POINTS)
        return HandWritten(Mlp(), nn.BCEWithLogitsLoss(), data, ("point", "same"), batch=32)

    return compare(mlp_project(), by_hand)
