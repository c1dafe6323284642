"""Training speed in the window, every panel open, against a loop written by hand over the same tensors.

The loop runs in a process of its own, as a script would: two pools of threads in one process slow each other
down even while one of them rests. Many short rounds of the two take turns, and all steps are divided by all
seconds of each: what else the computer does falls on both, and so do the validations, which a single round
meets or misses.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.catalogue import Column, Data, load_catalogue
from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Minimise, Plan
from tests.bench.rows import row
from tests.bench.setting import gallery_project

if TYPE_CHECKING:
    from app.window.main_window import MainWindow
    from app.workspace.workspace import Workspace
    from tests.bench.reference import HandWritten

ROUNDS = 40
ROUND_SECONDS = 1.5
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


def compare(
    project: Project,
    by_hand: Callable[[], HandWritten],
    show: Callable[[MainWindow, Workspace], None] | None = None,
) -> tuple[float, str]:
    """Speed in the window divided by that of the hand-written loop on as many threads.

    `show` opens what is to be open; otherwise that is every panel. The loop also runs once on torch's other
    choice of threads, and the remark says how fast that was.
    """
    import torch

    from engine.emit.program import compile_program
    from tests.bench.window import open_window, show_all, spin, wait_until

    with open_window(project) as (window, workspace), apart(by_hand) as steps_in:
        # Asked before there are pictures: their thread takes one, and torch tells that to whoever asks later.
        torch_threads = torch.get_num_threads()
        own_threads = compile_program(project, workspace.catalogue).threads or torch_threads
        (show or show_all)(window, workspace)
        trainer = workspace.trainer
        trainer.start(workspace.document.snapshot(), workspace.document.revision, epochs=100_000)
        wait_until(lambda: trainer.state == "running" and trainer.progress.step > 10)
        spin(1.0)

        def windowed() -> tuple[int, float]:
            began, first = time.perf_counter(), trainer.progress.step
            spin(ROUND_SECONDS)
            return trainer.progress.step - first, time.perf_counter() - began

        def hand(threads: int) -> tuple[int, float]:
            trainer.pause()
            wait_until(lambda: trainer.state == "paused")
            spin(0.1)  # it shows its views and saves
            found = steps_in(ROUND_SECONDS, threads)
            trainer.resume()
            wait_until(lambda: trainer.state == "running")
            spin(0.2)
            return found

        other = {threads: _speed([hand(threads)]) for threads in {1, torch_threads} - {own_threads}}
        rounds = [(windowed(), hand(own_threads)) for _ in range(ROUNDS)]
        trainer.stop()
    in_window, alone = (_speed(found) for found in zip(*rounds, strict=True))
    remark = f"{in_window:,.0f} steps/s in the window, {alone:,.0f} by hand on {own_threads} thread(s)"
    others = "".join(f", {speed:,.0f} on {threads}" for threads, speed in other.items())
    return in_window / alone, remark + others


def _speed(rounds: Sequence[tuple[int, float]]) -> float:
    """All steps divided by all seconds."""
    return sum(steps for steps, _ in rounds) / sum(seconds for _, seconds in rounds)


@contextmanager
def apart(by_hand: Callable[[], HandWritten]) -> Iterator[Callable[[float, int], tuple[int, float]]]:
    """A loop in a process of its own; the function takes (seconds, threads) and returns (steps, seconds)."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_train_apart, args=(by_hand, there), daemon=True)
    process.start()
    there.close()

    def steps_in(seconds: float, threads: int) -> tuple[int, float]:
        here.send((seconds, threads))
        found: tuple[int, float] = here.recv()
        return found

    try:
        steps_in(0.1, 1)
        yield steps_in
    finally:
        here.close()
        process.join()


def _train_apart(by_hand: Callable[[], HandWritten], orders: Connection) -> None:
    import torch

    loop = by_hand()
    while True:
        try:
            seconds, threads = orders.recv()
        except EOFError:
            return
        torch.set_num_threads(threads)
        orders.send(loop.steps_in(seconds))


def cnn_by_hand(*, in_turns: bool = False) -> HandWritten:
    """The loop over all of MNIST."""
    from torch import nn

    from engine.data.sets.mnist import load_mnist
    from engine.document.shipped import datasets_folder
    from tests.bench.reference import Cnn, HandWritten, InTurns

    loop = InTurns if in_turns else HandWritten
    data = load_mnist(datasets_folder(), "cpu")
    return loop(Cnn(), nn.CrossEntropyLoss(), data, ("image", "digit"), batch=128)


def mlp_by_hand() -> HandWritten:
    """The loop over the points of the plane."""
    from torch import nn

    from tests.bench.reference import HandWritten, Mlp

    data = load_points(Path(), "cpu", count=POINTS)
    return HandWritten(Mlp(), nn.BCEWithLogitsLoss(), data, ("point", "same"), batch=32)


@row(
    "speed-cnn", "steps per second of mnist-cnn in the window against a hand-written loop", "ratio", ">= 0.9"
)
def cnn() -> tuple[float, str]:
    return compare(gallery_project("mnist-cnn"), cnn_by_hand)


@row(
    "speed-two-objectives",
    "the same with filters and classes as two objectives that take turns",
    "ratio",
    ">= 0.9",
)
def two_objectives() -> tuple[float, str]:
    project = gallery_project("mnist-cnn")
    ids = {node.name: node.id for node in project.graph.nodes.values()}
    phase = project.plan.phases[0]
    whole = phase.objectives[0]
    assert isinstance(whole, Minimise)
    players = (
        replace(whole, name="filters", of=(ids["conv1"], ids["conv2"])),
        replace(whole, name="answers", of=(ids["classes"],)),
    )
    project.plan = replace(project.plan, phases=(replace(phase, objectives=players),))
    return compare(project, partial(cnn_by_hand, in_turns=True))


@row(
    "speed-mlp",
    "steps per second of a 2-16-16-1 MLP in the window against a hand-written loop",
    "ratio",
    ">= 0.75",
)
def mlp() -> tuple[float, str]:
    load_catalogue().add(BenchPoints)
    return compare(mlp_project(), mlp_by_hand)
