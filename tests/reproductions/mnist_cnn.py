"""The digit network of the gallery by three optimisers, by the protocol of `docs/reproductions.md`.

`python -m tests.reproductions.mnist_cnn OUT [adam sgd adadelta] [--seeds 0 1 2] [--epochs 30]` keeps each
run in a folder under OUT and prints a line of JSON for it: accuracy on the 10,000 test digits after the last
epoch. A run that was broken off goes on from its last checkpoint, and one that is done is only printed.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from engine.catalogue import load_catalogue
from engine.document.edits_nodes import SetParam
from engine.document.files import load_project
from engine.document.graph import Project
from engine.document.plan import Choice
from engine.document.shipped import datasets_folder
from engine.train.headless import run_headless

EXAMPLE = datasets_folder().parent / "gallery" / "mnist-cnn.nloom"
COSINE, CONSTANT = Choice("Cosine"), Choice("Constant")
WAYS = {
    "adam": (Choice("Adam", {"lr": 0.002}), COSINE),
    "sgd": (Choice("SGD", {"lr": 0.05, "momentum": 0.9}), COSINE),
    "adadelta": (Choice("Adadelta", {"lr": 1.0}), CONSTANT),
}
DRAWN = ("conv1", "conv2", "classes")  # layers whose first weights are Xavier's


def project(way: str, epochs: int) -> Project:
    """The example with an optimiser and its schedule, Xavier's first weights, and no early stopping."""
    found = load_project(EXAMPLE)
    optimiser, schedule = WAYS[way]
    found.plan = found.plan.with_(
        optimiser=optimiser, schedule=schedule, epochs=epochs, patience=None, restore_best=False
    )
    for node in list(found.graph.nodes.values()):
        if node.name in DRAWN:
            SetParam(node.id, "init", "Xavier uniform").apply(found)
    return found


def run(way: str, seed: int, epochs: int, folder: Path) -> dict[str, Any]:
    """One run, kept in `folder`, from its beginning or from where it was broken off."""
    kept = folder / f"{way}-{seed}-{epochs}"
    done = kept / "accuracy.json"
    if not done.is_file():
        outcome = run_headless(
            project(way, epochs),
            load_catalogue(),
            datasets_folder(),
            seed=seed,
            device="cpu",
            folder=kept,
            resume=kept.is_dir(),
        )
        done.write_text(json.dumps(dict(outcome.results)))
    results = json.loads(done.read_text())
    return {"optimiser": way, "seed": seed, "epochs": epochs, "accuracy": results["test_accuracy"]}


def main() -> None:
    """Runs what is named, or all."""
    reading = argparse.ArgumentParser(description=main.__doc__)
    reading.add_argument("out", type=Path)
    reading.add_argument("ways", nargs="*", default=list(WAYS))
    reading.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    reading.add_argument("--epochs", type=int, default=30)
    given = reading.parse_args()
    for seed in given.seeds:
        for way in given.ways:
            print(json.dumps(run(way, seed, given.epochs, given.out)), flush=True)


if __name__ == "__main__":
    main()
