"""Trainers that train nothing: a feed with a run's numbers and views, and a record of what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from app.workspace.places import Places
from app.workspace.workspace import Workspace
from engine.catalogue import Catalogue
from engine.document.document import Document
from engine.document.edits import AddNodes
from engine.document.graph import Link, Node, Project
from engine.emit.fast import Fast
from engine.errors import NeuroloomError
from engine.feed.feed import Feed, Probe, Snapshot, Tried
from engine.feed.progress import Progress
from engine.feed.series import POINT
from engine.shapes.shapes import ShapeBook

STEPS_PER_EPOCH = 430
DIGITS = tuple("0123456789")
BEFORE = Progress(epochs=12, steps_per_epoch=STEPS_PER_EPOCH, device="CPU · 2 threads")


@dataclass
class RestingTrainer:
    """A trainer that stays as it is and notes what it is asked; it has what `RunControl` has."""

    state: str = "idle"
    feed: Feed = field(default_factory=Feed)
    error: NeuroloomError | None = None
    held: NeuroloomError | None = None
    progress: Progress = field(default_factory=Progress)
    reading: str = ""
    fast: Fast | None = None
    folder: Path | None = None
    data: Mapping[str, Mapping[str, Tensor]] | None = None
    can_go_back: bool = False
    watched: frozenset[Probe] = frozenset()
    asked: list[str] = field(default_factory=list)
    pinned: list[int] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)

    def prepare(self, project: Project, revision: int) -> None:
        self.asked.append("prepare")

    def update(self, project: Project, revision: int) -> None:
        self.asked.append("update")

    def keep(self, every: int, newest: int) -> None:
        """Nothing is kept."""

    def start(
        self, project: Project, revision: int, *, device: str | None = None, weights: Path | None = None
    ) -> None:
        self.asked.append("start")

    def continue_from(self, folder: Path, project: Project, revision: int, *, at_rest: bool = False) -> None:
        self.asked.append("continue_from at rest" if at_rest else "continue_from")

    def hold(self, why: NeuroloomError) -> None:
        self.asked.append("hold")
        self.held = why

    def pause(self) -> None:
        self.asked.append("pause")

    def resume(self) -> None:
        self.asked.append("resume")

    def more(self) -> None:
        self.asked.append("more")

    def step(self) -> None:
        self.asked.append("step")

    def step_layer(self) -> None:
        self.asked.append("step_layer")

    def back(self) -> None:
        self.asked.append("back")

    def stop(self) -> None:
        self.asked.append("stop")

    def reset(self, new_weights: bool = False) -> None:
        self.asked.append("reset")

    def watch(self, probes: frozenset[Probe]) -> None:
        self.watched = probes

    def pin(self, example: int) -> None:
        self.pinned.append(example)

    def try_input(self, tried: Tried | None) -> None:
        if tried is not None:
            self.tried.append(tried)

    def close(self, timeout: float) -> bool:
        self.asked.append("close")
        return True


@dataclass
class FakeTrainer(RestingTrainer):
    """A trainer whose state follows what it is asked, as if a run went on."""

    progress: Progress = BEFORE

    def start(
        self, project: Project, revision: int, *, device: str | None = None, weights: Path | None = None
    ) -> None:
        super().start(project, revision, device=device, weights=weights)
        self.state = "running"

    def pause(self) -> None:
        super().pause()
        self.state = "paused"

    def resume(self) -> None:
        super().resume()
        self.state = "running"

    def more(self) -> None:
        super().more()
        self.state = "running"

    def step(self) -> None:
        super().step()
        self.state = "paused"

    def step_layer(self) -> None:
        super().step_layer()
        self.state = "paused"

    def stop(self) -> None:
        super().stop()
        self.state = "idle"


class FakeShapes(ShapeBook):
    """Shapes with problems and weights of our own; all else is real."""

    def __init__(self, catalogue: Catalogue, weights: Mapping[str, int]) -> None:
        super().__init__(catalogue)
        self._weights = weights

    def parameters(self, node_id: str) -> int:
        return self._weights.get(node_id, 0)

    def _gather(self, project: Project) -> None:
        """Problems stay those that a test has put."""


def network() -> tuple[tuple[Node, ...], tuple[Link, ...]]:
    """The nodes and wires of a small classifier of digits."""
    nodes = (
        Node("n1", "Mnist", "MNIST"),
        Node("n2", "Conv2d", "conv1"),
        Node("n3", "MaxPool2d", "pool1"),
        Node("n4", "Conv2d", "conv2"),
        Node("n5", "Flatten", "flatten"),
        Node("n6", "Linear", "classes"),
        Node("n7", "CrossEntropy", "cross-entropy"),
    )
    links = (
        Link("n1", "image", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "x"),
        Link("n4", "output", "n5", "x"),
        Link("n5", "output", "n6", "x"),
        Link("n6", "output", "n7", "prediction"),
        Link("n1", "digit", "n7", "target"),
    )
    return nodes, links


def workspace_with_fakes(folder: Path) -> tuple[Workspace, FakeTrainer]:
    """A workspace of that network with a fake trainer and fake shapes, as after the engine has started."""
    document = Document()
    nodes, links = network()
    with document.step("Build"):
        document.apply(AddNodes(nodes, links))
    workspace = Workspace(Places.under(folder), document=document)
    trainer = FakeTrainer()
    workspace.trainer = trainer
    workspace.shapes = FakeShapes(workspace.catalogue, {"n2": 320, "n4": 18496, "n6": 16010})
    workspace.shapes.update(document.project)
    return workspace, trainer


def losses(count: int, start: int = 0, seed: int = 0) -> NDArray[np.void]:
    """Points of a training loss that falls and flattens, as `POINT` rows."""
    rows = np.empty(count, POINT)
    steps = np.arange(start + 1, start + count + 1)
    rows["step"], rows["epoch"], rows["seconds"] = steps, steps / STEPS_PER_EPOCH, steps * 0.03
    noise = np.random.default_rng(seed + start).normal(size=count)
    rows["value"] = (2.2 * np.exp(-rows["epoch"] * 2.2) + 0.06 + 0.2 / (1 + rows["epoch"])) * np.exp(
        noise * 0.2
    )
    return rows


def train(trainer: FakeTrainer, epochs: float) -> None:
    """Put `epochs` of numbers and views into the feed, as a run does that is still going on."""
    feed, per = trainer.feed, STEPS_PER_EPOCH
    steps = int(epochs * per)
    feed.open("train_loss").extend(losses(steps))
    feed.changed()
    for epoch in range(1, int(epochs) + 1):
        place = (epoch * per, float(epoch), epoch * per * 0.03)
        feed.append("val_loss", *place, 0.09 * np.exp(-0.25 * epoch) + 0.04)
        feed.append("val_accuracy", *place, 0.9871 - 0.06 * np.exp(-0.8 * epoch))
    for step in range(1, steps, 40):
        feed.append("lr", step, step / per, step * 0.03, 1e-3 * (0.5 + 0.5 * np.cos(np.pi * step / per / 12)))
    left = (12 - epochs) * per * 0.03
    trainer.progress = replace(
        trainer.progress, epoch=int(epochs), step=steps, seconds=steps * 0.03, seconds_left=left, loss=0.0413
    )
    trainer.state = "running"
    snapshots(feed, steps)


def snapshots(feed: Feed, step: int) -> None:
    """Snapshots of every kind that probes give, for the nodes of `network`."""
    rng = np.random.default_rng(step)
    blob = np.exp(-((np.mgrid[0:26, 0:26][0] - 12.0) ** 2 + (np.mgrid[0:26, 0:26][1] - 14.0) ** 2) / 60.0)
    maps = np.maximum(0, blob[None] * rng.normal(0.6, 0.6, (32, 1, 1)) + rng.normal(0, 0.05, (32, 26, 26)))
    about = {"example": 0, "split": "validation"}
    image = np.clip(np.kron(blob[1:25:2, 1:25:2], np.ones((2, 2)))[None], 0, 1)
    put = feed.put
    put(
        Probe("n1", "activations"),
        Snapshot(
            1,
            step,
            image,
            {"port": "image", "shape": (1, 28, 28), "ports": {"digit": np.array([5.0])}, **about},
        ),
    )
    put(
        Probe("n2", "activations"),
        Snapshot(1, step, maps.astype(np.float32), {"shape": (32, 26, 26), **about}),
    )
    put(Probe("n6", "activations"), Snapshot(1, step, rng.normal(size=10), {"shape": (10,), **about}))
    kernels = rng.normal(size=(32, 3, 3))
    put(
        Probe("n2", "filters"),
        Snapshot(
            1, step, kernels, {"kind": "kernels", "shape": (32, 1, 3, 3), "out": 32, "in": 1, "shown": 32}
        ),
    )
    for what, width in (("weights", 0.2), ("gradients", 1e-3), ("output_histogram", 1.0)):
        values = rng.normal(0, width, 5000)
        if what == "output_histogram":
            values = np.maximum(values, 0)
        counts, edges = np.histogram(values, 64)
        facts = {
            "edges": edges,
            "mean": float(values.mean()),
            "std": float(values.std()),
            "min": float(values.min()),
            "max": float(values.max()),
            "zeros": float((values == 0).mean()),
            "not_finite": 0.0,
            "count": values.size,
        }
        put(Probe("n2", what), Snapshot(1, step, counts, facts))
    matrix = rng.poisson(3, (10, 10)) + np.diag(rng.integers(520, 620, 10))
    matrix[4, 9], matrix[7, 2] = 14, 12
    put(
        Probe("n7", "confusion"),
        Snapshot(1, step, matrix, {"classes": DIGITS, "epoch": 7, "split": "validation"}),
    )
    probabilities = np.array([0.001, 0.002, 0.004, 0.03, 0.001, 0.94, 0.01, 0.002, 0.008, 0.002])
    for node_id in ("n6", "n7"):
        facts = {"kind": "classes", "target": 5, "classes": DIGITS, **about}
        put(Probe(node_id, "predictions"), Snapshot(1, step, probabilities, facts))
    norms = np.array([[0.031, 2.4, 0.0026], [0.12, 5.8, 0.0061], [0.045, 3.1, 0.0031]])
    facts = {"nodes": ("n2", "n4", "n6"), "columns": ("gradient", "weight", "update")}
    put(Probe("", "norms"), Snapshot(1, step, norms, facts))
