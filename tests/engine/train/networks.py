"""Small projects that train in a moment, and a program written by hand in place of an emitted one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.catalogue import Catalogue, load_catalogue
from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Choice, Plan
from engine.document.shipped import datasets_folder
from engine.emit.fast import Fast
from engine.feed.feed import Feed
from engine.procedures.declare import SPLITS
from engine.runs.settings import Settings
from engine.shapes.shapes import ShapeBook
from engine.train.begin import begin_run
from engine.train.loop import Run
from engine.train.sources import Sources

DATASETS = datasets_folder()


def catalogue() -> Catalogue:
    return load_catalogue()


def iris(
    *,
    dropout: float = 0.5,
    hidden: int = 16,
    batch: int = 32,
    epochs: int = 4,
    optimiser: Choice | None = None,
    schedule: Choice | None = None,
    patience: int | None = None,
    norm: bool = False,
    classes: int = 3,
) -> Project:
    """Iris through one hidden layer (n2), dropout (n3) and a linear layer (n4) to cross-entropy (n5)."""
    nodes = [
        Node("n1", "Iris", "flowers"),
        Node("n2", "Linear", "hidden", {"units": hidden, "activation": "ReLU"}),
        Node("n3", "Dropout", "", {"share": dropout}),
        Node("n4", "Linear", "classes", {"units": classes}),
        Node("n5", "CrossEntropy"),
        Node("n6", "Accuracy", "accuracy"),
    ]
    middle = "n3"
    links = [
        Link("n1", "features", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n1", "species", "n5", "target"),
        Link("n1", "species", "n6", "target"),
        Link("n4", "output", "n5", "prediction"),
        Link("n4", "output", "n6", "prediction"),
    ]
    if norm:
        nodes.append(Node("n7", "BatchNorm", "norm"))
        links.append(Link("n3", "output", "n7", "x"))
        middle = "n7"
    links.append(Link(middle, "output", "n4", "x"))
    plan = Plan(batch=batch).with_(
        epochs=epochs,
        optimiser=optimiser or Choice("Adam", {"lr": 0.01}),
        schedule=schedule or Choice("Constant"),
        patience=patience,
    )
    return Project("Flowers", graph=Graph(nodes, links), plan=plan, next_id=10)


def digits(*, epochs: int = 1, batch: int = 64) -> Project:
    """The 8×8 digits through a convolution (n2) to ten classes."""
    nodes = [
        Node("n1", "Digits"),
        Node("n2", "Conv2d", "edges", {"filters": 6, "activation": "ReLU"}),
        Node("n3", "Flatten"),
        Node("n4", "Linear", "classes", {"units": 10}),
        Node("n5", "CrossEntropy"),
    ]
    links = [
        Link("n1", "image", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "x"),
        Link("n4", "output", "n5", "prediction"),
        Link("n1", "digit", "n5", "target"),
    ]
    return Project("Digits", graph=Graph(nodes, links), plan=Plan(batch=batch).with_(epochs=epochs))


def with_node(project: Project, node_id: str, **params: Any) -> Project:
    """The same project with parameters of one node set."""
    nodes = [
        Node(n.id, n.type, n.name, {**n.params, **params}, n.position) if n.id == node_id else n
        for n in project.graph.nodes.values()
    ]
    changed = project.copy()
    changed.graph = Graph(nodes, project.graph.links)
    return changed


@dataclass
class Player:
    name: str
    objective: Callable[[nn.Module, dict[str, Tensor]], dict[str, Tensor]]
    weights: list[nn.Parameter]
    optimiser: torch.optim.Optimizer
    schedule: Any = None
    every: int = 1


@dataclass
class Phase:
    players: Callable[[nn.Module, int, int], list[Any]]
    epochs: int
    batch: int | None
    monitor: str = "val_loss"
    sign: int = 1
    patience: int | None = None
    restore_best: bool = True
    until: tuple[tuple[str, str, float], ...] = ()


class ByHand:
    """A program written out: `(N, 4)` rows through two layers, n2 and n3, to the loss n4.

    `inside` is called with the model's input at every forward pass, to fail or to wait there.
    """

    trains = True
    joins = False
    threads = None
    data_node = "n1"
    data_files: tuple[str, ...] = ()
    losses: Mapping[str, str] = {"n4": "loss"}
    loading = ""
    counting = ("x",)
    streams = (("n1",),)
    splits = SPLITS
    higher = frozenset[str]()

    def __init__(
        self,
        rows: int = 40,
        epochs: int = 3,
        lr: float = 0.1,
        inside: Callable[[Tensor], None] | None = None,
        revision: int = 0,
    ) -> None:
        self.plan = Plan(batch=8).with_(epochs=epochs)
        self.phases = (Phase(self._players, epochs, self.plan.batch),)
        nodes = [Node("n1", "Iris"), Node("n2", "Linear", "first"), Node("n3", "Linear", "second")]
        links = [
            Link("n1", "features", "n2", "x"),
            Link("n2", "output", "n3", "x"),
            Link("n3", "output", "n4", "prediction"),
            Link("n1", "species", "n4", "target"),
        ]
        self.project = Project("By hand", graph=Graph([*nodes, Node("n4", "MSE")], links), plan=self.plan)
        self.book = ShapeBook(catalogue())
        self.book.update(self.project)
        self.source = SimpleNamespace(text=f"lr = {lr}")
        self.modules = {"n2": "first", "n3": "second"}
        self.revision = revision
        self.count, self.lr, self.inside = rows, lr, inside
        self.loads = 0
        self._watcher: Callable[[str, str, Tensor], None] | None = None
        program = self

        class Model(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.first = nn.Linear(4, 8)
                self.second = nn.Linear(8, 1)

            def forward(self, x: Tensor) -> Tensor:
                if program.inside is not None:
                    program.inside(x)
                x = program.tap("n2", torch.tanh(self.first(x)))
                return program.tap("n3", self.second(x))

        self.Model = Model
        self.fast = Fast()

    def rows(self, split: Mapping[str, Tensor]) -> list[int]:
        return [len(split.get("x", ()))]

    def make_model(self, device: str) -> nn.Module:
        return self.Model().to(device)

    def batch_count(self, split: dict[str, Tensor], size: int) -> int:
        return -(-len(split["x"]) // size)

    def tap(self, node_id: str, value: Tensor) -> Tensor:
        if self._watcher is not None:
            self._watcher(node_id, "output", value)
        return value

    def objective(self, model: nn.Module, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        self.tap("n1", batch["x"])
        return {"loss": self.tap("n4", F.mse_loss(model(batch["x"]), batch["y"]))}

    measure = objective

    def load(self, folder: Path, device: str = "cpu") -> dict[str, dict[str, Tensor]]:
        self.loads += 1
        source = torch.Generator().manual_seed(7)
        x = torch.randn(self.count, 4, generator=source)
        split = {"x": x.to(device), "y": x.sum(1, keepdim=True).to(device)}
        return {"train": split, "validation": split, "test": split}

    def batches(
        self, split: dict[str, Tensor], shuffle: torch.Generator | None = None, phase: int = 0
    ) -> Iterator[dict[str, Tensor]]:
        n = len(split["x"])
        order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
        for rows in order.split(self.plan.batch):
            yield {name: column[rows] for name, column in split.items()}

    @torch.no_grad()
    def evaluate(self, model: nn.Module, split: dict[str, Tensor]) -> dict[str, float]:
        model.eval()
        values = [self.measure(model, batch)["loss"].item() for batch in self.batches(split)]
        model.train()
        return {"loss": sum(values) / len(values)}

    def _players(self, model: nn.Module, steps_per_epoch: int, epochs: int) -> list[Any]:
        weights = list(model.parameters())
        return [Player("loss", self.objective, weights, torch.optim.SGD(weights, lr=self.lr))]

    def take_turn(
        self, player: Player, model: nn.Module, batch: dict[str, Tensor], turn: int
    ) -> dict[str, Tensor]:
        player.optimiser.zero_grad()
        found = player.objective(model, batch)
        if not torch.isfinite(found["loss"]):
            raise FloatingPointError(f"{player.name} is {found['loss'].item()} after {turn} steps.")
        found["loss"].backward()
        player.optimiser.step()
        if player.schedule is not None:
            player.schedule.step()
        return found

    def set_modes(self, model: nn.Module, phase: int) -> None:
        model.train()

    def over(self, phase: int, seen: dict[str, float]) -> bool:
        return False

    @contextmanager
    def tapping(self, watcher: Callable[[str, str, Tensor], None]) -> Iterator[None]:
        self._watcher = watcher
        try:
            yield
        finally:
            self._watcher = None

    def node_of(self, error: BaseException) -> str | None:
        return "n2"


def run_of(project: Project, revision: int = 3) -> Run:
    """A run of a real project at its first step."""
    sources = Sources(catalogue(), DATASETS)
    program = sources.program(project, revision)
    settings = Settings.of(project.plan, device="cpu")
    return begin_run(program, catalogue(), sources.loader(program, "cpu"), settings, Feed(), revision)


def settle(trainer: Any, state: str, seconds: float = 30.0) -> None:
    """Wait until a trainer is in a state; fails when it doesn't come to that."""
    assert trainer.wait(seconds, until=lambda: trainer.state == state), (trainer.state, trainer.error)
