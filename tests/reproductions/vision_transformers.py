"""Ten vision transformers on MNIST by the protocol of `docs/reproductions.md`.

`python -m tests.reproductions.vision_transformers [ROW ...]` prints a line of JSON for each run that has come
to its end. With `--keep FOLDER`, one that was stopped goes on where it was, and one that has ended is not
made again; after `--seconds N` it stops.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.catalogue import load_catalogue
from engine.document.edits import SetParam
from engine.document.files import load_project
from engine.document.graph import Block, Graph, Link, Node, Project
from engine.document.plan import Choice
from engine.document.shipped import datasets_folder

EPOCHS, PATIENCE, RATE = 20, 5, 0.001
SIZES = ("features", "layers", "heads", "wide", "dropout")
ROWS: dict[str, tuple[int, int, int, int, float]] = {
    "base": (64, 6, 8, 128, 0.0),
    "32 features": (32, 6, 8, 128, 0.0),
    "128 features": (128, 6, 8, 128, 0.0),
    "4 layers": (64, 4, 8, 128, 0.0),
    "8 layers": (64, 8, 8, 128, 0.0),
    "4 heads": (64, 6, 4, 128, 0.0),
    "64 hidden units": (64, 6, 8, 64, 0.0),
    "256 hidden units": (64, 6, 8, 256, 0.0),
    "dropout 0.1": (64, 6, 8, 128, 0.1),
    "dropout 0.2": (64, 6, 8, 128, 0.2),
}
PRINTED = dict(
    zip(ROWS, (0.9812, 0.98, 0.9859, 0.9815, 0.9861, 0.9831, 0.9811, 0.9803, 0.9843, 0.9849), strict=True)
)


def project_of(label: str) -> Project:
    """The example `vit-mnist` with the sizes of a row, in whole layers, and the protocol's plan."""
    features, layers, heads, wide, dropout = ROWS[label]
    project = load_project(datasets_folder().parent / "gallery" / "vit-mnist.nloom")
    ids = {node.name: node.id for node in project.graph.nodes.values()}
    whole = Node(
        "n23", "TransformerEncoderLayer", "layer", {"heads": heads, "wide": wide, "dropout": dropout}
    )
    block = next(iter(project.blocks))
    ports = [node for node in project.blocks[block].graph.nodes.values() if node.type.startswith("Block")]
    links = [Link(ports[0].id, "output", whole.id, "x"), Link(whole.id, "output", ports[1].id, "x")]
    project.blocks[block] = Block(block, "encoder layer", Graph([*ports, whole], links))
    for edit in (SetParam(ids["embedding"], "units", features), SetParam(ids["layers"], "times", layers)):
        edit.apply(project)
    project.plan = project.plan.with_(
        optimiser=Choice("AdamW", {"lr": RATE}), epochs=EPOCHS, patience=PATIENCE, monitor="val_loss"
    )
    return project


def run(
    label: str,
    seed: int,
    folder: Path | None = None,
    stopped: Callable[[], bool] | None = None,
    device: str = "cpu",
) -> dict[str, Any] | None:
    """One row with one seed: what it came to; None where it was stopped."""
    from engine.train.headless import run_headless

    written = None if folder is None else folder / "result.json"
    if written is not None and written.exists():
        found: dict[str, Any] = json.loads(written.read_text())
        return found
    outcome = run_headless(
        project_of(label),
        load_catalogue(),
        datasets_folder(),
        seed=seed,
        device=device,
        folder=folder,
        resume=folder is not None and folder.exists(),
        stopped=stopped,
    )
    if outcome.state != "finished":
        return None
    run = outcome.run
    sizes = dict(zip(SIZES, ROWS[label], strict=True))
    found = {"row": label, **sizes, "seed": seed, "epochs": run.epoch, "seconds": round(run.seconds)}
    found |= {name: round(value, 4) for name, value in run.results.items()}
    found |= {"printed": PRINTED[label]}
    if written is not None:
        written.write_text(json.dumps(found))
    return found


def main() -> None:
    """Runs what is named, or all."""
    import torch

    torch.set_num_threads(1)
    reading = argparse.ArgumentParser(description=main.__doc__)
    reading.add_argument("rows", nargs="*", default=list(ROWS), metavar="ROW", help=", ".join(ROWS))
    reading.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    reading.add_argument("--keep", type=Path, help="where runs are kept, so that they can go on")
    reading.add_argument("--device", default="cpu")
    reading.add_argument("--seconds", type=float, default=float("inf"), help="when to stop")
    given = reading.parse_args()
    end: float = time.monotonic() + given.seconds

    def spent() -> bool:
        return time.monotonic() > end

    for seed in given.seeds:
        for label in given.rows:
            folder = None if given.keep is None else given.keep / f"{label.replace(' ', '-')}-{seed}"
            found = run(label, seed, folder, spent, given.device)
            if found is None:
                return
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
