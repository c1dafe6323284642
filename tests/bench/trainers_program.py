"""One side of the comparison of trainers; called with SIDE and NETWORK it prints {"steps_per_second": ...}.

Imports what its side needs only: the environments of Lightning and Keras have torch, numpy and their own.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.data.sets.mnist import load_mnist

ROOT = Path(__file__).parents[2]
BATCH = {"mlp": 32, "cnn": 128}
EPOCHS = {"mlp": 12, "cnn": 1}
ROWS = 12_800  # of MNIST, and of the points: enough for steps to tell, few enough for a slow side


def load_table(folder: Path, device: str, *, count: int = 12_800) -> dict[str, dict[str, Tensor]]:
    """Rows of 20 numbers in four classes, as {split: {"row", "kind"}}."""
    draw = torch.Generator().manual_seed(0)
    row = torch.randn(count, 20, generator=draw).to(device)
    kind = (row @ torch.randn(20, 4, generator=draw)).argmax(1)
    held = count // 10
    parts = {"train": slice(2 * held, None), "validation": slice(0, held), "test": slice(held, 2 * held)}
    return {split: {"row": row[rows], "kind": kind[rows]} for split, rows in parts.items()}


def tensors(network: str) -> dict[str, tuple[Tensor, Tensor]]:
    """{split: (inputs, targets)}."""
    if network == "mlp":
        data = load_table(Path(), "cpu")
        return {split: (one["row"], one["kind"]) for split, one in data.items()}
    data = load_mnist(ROOT / "resources" / "datasets", "cpu")
    rows = {"train": ROWS, "validation": ROWS // 10, "test": ROWS // 10}
    return {split: (one["image"][: rows[split]], one["digit"][: rows[split]]) for split, one in data.items()}


class Mlp(nn.Module):
    """20-32-4 with ReLU."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.answer = nn.Linear(20, 32), nn.Linear(32, 4)

    def forward(self, row: Tensor) -> Tensor:
        return self.answer(F.relu(self.hidden(row)))


def network_of(name: str) -> nn.Module:
    if name == "mlp":
        return Mlp()
    from tests.bench.reference import Cnn

    return Cnn()


def by_hand(network: str) -> tuple[int, float]:
    """The plain loop with a validation an epoch."""
    data, batch = tensors(network), BATCH[network]
    torch.set_num_threads(1 if network == "mlp" else torch.get_num_threads())
    torch.manual_seed(0)
    model = network_of(network)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    inputs, targets = data["train"]
    steps, began = 0, time.perf_counter()
    for _ in range(EPOCHS[network]):
        for rows in torch.randperm(len(inputs)).split(batch):
            optimiser.zero_grad()
            loss = F.cross_entropy(model(inputs[rows]), targets[rows])
            loss.item()
            loss.backward()
            optimiser.step()
            steps += 1
        model.eval()
        with torch.no_grad():
            for x, y in zip(*(one.split(batch) for one in data["validation"]), strict=True):
                F.cross_entropy(model(x), y).item()
        model.train()
    return steps, time.perf_counter() - began


def ours(network: str, fast: bool = False) -> tuple[int, float]:
    """`run_headless` as the command line drives it; the time is the run's own, as it is for the others."""
    from engine.catalogue import Column, Data, load_catalogue
    from engine.document.graph import Graph, Link, Node, Project
    from engine.document.plan import Plan
    from engine.document.shipped import datasets_folder
    from engine.train.headless import run_headless
    from tests.bench.setting import gallery_project

    class BenchTable(Data):
        """Rows of 20 numbers in four classes."""

        def columns(self) -> tuple[Column, ...]:
            return (Column("row", (20,)), Column("kind", (), "int64"))

        def emit(self, e: Any, **_: Any) -> Any:
            return e.load(load_table, count=ROWS)

    catalogue = load_catalogue()
    if network == "mlp":
        catalogue.add(BenchTable)
        nodes = [
            Node("n1", "BenchTable", "table"),
            Node("n2", "Linear", "hidden", {"units": 32, "activation": "ReLU"}),
            Node("n3", "Linear", "answer", {"units": 4}),
            Node("n4", "CrossEntropy", "loss"),
        ]
        links = [
            Link("n1", "row", "n2", "x"),
            Link("n2", "output", "n3", "x"),
            Link("n3", "output", "n4", "prediction"),
            Link("n1", "kind", "n4", "target"),
        ]
        project = Project("20-32-4", graph=Graph(nodes, links), plan=Plan(batch=32), next_id=5)
    else:
        project = gallery_project("mnist-cnn")
    project.plan = project.plan.with_(epochs=EPOCHS[network], fast=fast)
    with tempfile.TemporaryDirectory() as place:
        outcome = run_headless(
            project, catalogue, datasets_folder(), device="cpu", folder=Path(place) / "run"
        )
    return outcome.run.step, outcome.run.seconds


def with_lightning(network: str) -> tuple[int, float]:
    """Lightning's Trainer with its TensorBoard logger."""
    import lightning
    from lightning.pytorch.loggers import TensorBoardLogger
    from torch.utils.data import DataLoader, TensorDataset

    class Lit(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = network_of(network)

        def training_step(self, batch: Any, _: int) -> Tensor:
            loss = F.cross_entropy(self.net(batch[0]), batch[1])
            self.log("train_loss", loss)
            return loss

        def validation_step(self, batch: Any, _: int) -> None:
            self.log("val_loss", F.cross_entropy(self.net(batch[0]), batch[1]))

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.Adam(self.parameters(), lr=1e-3)

    data, batch = tensors(network), BATCH[network]
    torch.set_num_threads(1 if network == "mlp" else torch.get_num_threads())
    train = DataLoader(TensorDataset(*data["train"]), batch, shuffle=True)
    held = DataLoader(TensorDataset(*data["validation"]), batch)
    with tempfile.TemporaryDirectory() as place:
        trainer = lightning.Trainer(
            max_epochs=EPOCHS[network],
            accelerator="cpu",
            logger=TensorBoardLogger(place),
            enable_progress_bar=False,
            enable_model_summary=False,
            num_sanity_val_steps=0,
        )
        began = time.perf_counter()
        trainer.fit(Lit(), train, held)
        return trainer.global_step, time.perf_counter() - began


def with_keras(network: str) -> tuple[int, float]:
    """Keras 3 on torch, `fit`."""
    import keras
    from keras import layers

    data, batch = tensors(network), BATCH[network]
    torch.set_num_threads(1 if network == "mlp" else torch.get_num_threads())
    if network == "mlp":
        stack = [layers.Input((20,)), layers.Dense(32, "relu"), layers.Dense(4)]
    else:
        stack = [layers.Input((28, 28, 1)), layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D()]
        stack += [layers.Conv2D(64, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten()]
        stack += [layers.Dropout(0.5), layers.Dense(10)]
    model = keras.Sequential(stack)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(1e-3), loss)
    arrays = {split: [one.numpy() for one in columns] for split, columns in data.items()}
    if network == "cnn":
        arrays = {split: [x.transpose(0, 2, 3, 1), y] for split, (x, y) in arrays.items()}
    (x, y), held = arrays["train"], tuple(arrays["validation"])
    model.train_on_batch(x[:batch], y[:batch])  # Keras builds itself at the first batch
    began = time.perf_counter()
    model.fit(x, y, batch, EPOCHS[network], verbose=0, validation_data=held)
    return EPOCHS[network] * -(-len(x) // batch), time.perf_counter() - began


SIDES = {
    "hand": by_hand,
    "ours": ours,
    "fast": lambda network: ours(network, fast=True),
    "lightning": with_lightning,
    "keras": with_keras,
}

if __name__ == "__main__":
    steps, seconds = SIDES[sys.argv[1]](sys.argv[2])
    print(json.dumps({"steps_per_second": steps / seconds}))
