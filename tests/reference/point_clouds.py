"""Point clouds

Exported from Neuroloom. Needs torch and numpy only.

    python point_clouds.py --data FOLDER --epochs 60

FOLDER holds the point clouds; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 20, 60


# engine.data.class_files.class_files, 18 lines, d1c98495d7d1


# engine.data.clouds.files.cloud_files, 3 lines, 3019813cd92d


# engine.data.lazy.Lazy, 52 lines, dab65619d41c


# engine.data.clouds.files.sampled, 6 lines, 56af054b3389


# engine.data.clouds.files.normalised, 7 lines, 19dab46926dd


# engine.data.file_there.file_there, 21 lines, e806fb3e922a


# engine.data.clouds.files.ply_header, 34 lines, 99bc20af10e6


# engine.data.clouds.files.parted_cells, 2 lines, bd9389f4ba10


# engine.data.clouds.files.numbers_of, 17 lines, f359b170eb0b


# engine.data.clouds.files.ply_points, 32 lines, 2e768a5ca216


# engine.data.array_reading.npz_member, 24 lines, 81adc3286b25


# engine.data.array_reading.npy_header, 40 lines, 05c92509aa9b


# engine.data.array_reading.mapped, 8 lines, 9cc85f3417ab


# engine.data.array_reading.stored_npz, 28 lines, 7f706b81f30f


# engine.data.array_reading.idx_header, 11 lines, 8d4d44af1288


# engine.data.array_reading.stored_idx, 27 lines, 81f4ac6f893b


# engine.data.array_reading.stored_array, 18 lines, 992c08cb50b5


# engine.data.clouds.files.off_points, 12 lines, 1e89a43e1bbf


# engine.data.clouds.files.text_points, 17 lines, 7db0fe6a1b32


# engine.data.clouds.files.read_cloud, 24 lines, 32db6e093986


# engine.data.clouds.files.Clouds, 42 lines, 4373fc8ee53b


# engine.data.splits.split_rows, 23 lines, bbdcf948008a


# engine.data.splits.split_columns, 18 lines, f1edd3ce763d


# engine.data.clouds.files.load_clouds, 45 lines, 5cbdfe105770


# engine.data.clouds.meshes.triangles_of, 7 lines, 4471bdf1e969


# engine.data.clouds.meshes.face_of, 10 lines, 7c39bee9e921


# engine.data.clouds.meshes.off_faces, 9 lines, cea305d6be7e


# engine.data.clouds.meshes.binary_faces, 26 lines, 9b0cdfe0727b


# engine.data.clouds.meshes.ply_faces, 20 lines, 4c091a2970a0


# engine.data.clouds.meshes.faces_of, 4 lines, b2cbfcf3c6af


# engine.data.clouds.meshes.surface_points, 18 lines, c6e2bac48172


# engine.data.splits.evenly, 3 lines, 599b8f7d4329


# engine.data.splits.split_by_class, 15 lines, 0ce19985f978


# engine.layers.graph_layers.masked_maxima, 5 lines, d7a100b251f0


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.each_point = nn.Linear(3, 24)
        self.point_again = nn.Linear(24, 48)
        self.hidden = nn.Linear(48, 24)
        self.solid = nn.Linear(24, 5)

    def forward(self, points: Tensor, mask: Tensor) -> Tensor:  # (N, 64, 3), (N, 64)
        x = F.relu(self.each_point(points))                     # (N, 64, 24)
        x = F.relu(self.point_again(x))                         # (N, 64, 48)
        x = masked_maxima(x, mask)                              # (N, 48)
        x = F.relu(self.hidden(x))                              # (N, 24)
        return self.solid(x)                                    # (N, 5)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    solid = model(batch["points"], batch["mask"])
    return {"loss": F.cross_entropy(solid, batch["label"])}


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    solid = model(batch["points"], batch["mask"])
    return {
        "loss": F.cross_entropy(solid, batch["label"]),
        "accuracy": (solid.argmax(1) == batch["label"]).float().mean(),
    }


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test.

    points (N, 64, 3); mask (N, 64); label (N,).
    """
    return load_clouds(
        folder,
        device,
        classes=("ball", "box", "cone", "ring", "rod"),
        points=64,
        normalise="unit ball",
        pick=0,
        memory=1024,
        draw=surface_points,
        by="class",
        splitter=split_by_class,
        validation=0.2,
        test=0.2,
        seed=0,
    )


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["points"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(BATCH):
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}


@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over a split, with dropout off."""
    model.eval()
    n = 0
    sums: dict[str, float] = {}
    for batch in batches(split):
        size = len(batch["points"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.005)


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    optimiser = optimiser_for(model)
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    best = float("inf")
    kept = None
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle):
            optimiser.zero_grad()
            loss = objective(model, batch)["loss"]
            value = loss.item()
            if not math.isfinite(value):
                raise SystemExit(f"The loss is {value} after {step} steps: a lower rate may help.")
            loss.backward()
            optimiser.step()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)
        if found["loss"] < best:
            best = found["loss"]
            kept = {name: value.clone() for name, value in model.state_dict().items()}
    if kept is not None:
        model.load_state_dict(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description="Point clouds")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).parent / "files/solids",
        help="folder that holds the point clouds",
    )
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.set_num_threads(1)  # faster than several for so small a network
    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.data, args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
