"""Point clouds

Exported from Neuroloom. Needs torch and numpy only.

    python point_clouds.py --data FOLDER --epochs 60

FOLDER holds the point clouds; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 20
    epochs: int = 60
    learning_rate: float = 0.005


CONFIG = Config()


def class_files(folder: Path, ends: tuple[str, ...]) -> list[tuple[Path, str, str]]:
    """Files below a folder whose names end so, as (file, class, split), in order; links are not followed."""
    splits = {"train": "train", "test": "test", "val": "validation", "valid": "validation"}
    splits["validation"] = "validation"
    found, left = [], [folder]
    while left:
        for path in sorted(left.pop().iterdir()):
            if path.is_dir() and not path.is_symlink():
                left.append(path)
            elif path.name.casefold().endswith(ends) and path.is_file():
                names = path.relative_to(folder).parts[:-1]
                split = next((splits[name.casefold()] for name in names if name.casefold() in splits), "")
                named = [name for name in names if name.casefold() not in splits]
                found.append((path, named[0] if named else "", split))
    return sorted(found)


def evenly(n: int, count: int) -> Tensor:
    """Which `count` of `n` places in a row, spread evenly, as (n,) of yes and no."""
    return (torch.arange(n + 1) * count // max(n, 1)).diff() > 0


def split_by_class(
    n: int, keys: Tensor | None, *, validation: float, test: float, seed: int
) -> dict[str, Tensor]:
    """Every class of `keys` alike in every split, as far as its rows go."""
    assert keys is not None
    shuffle = torch.Generator().manual_seed(seed)
    order = torch.randperm(n, generator=shuffle)
    by_class = order[keys[order].argsort(stable=True)]
    into_test = evenly(n, round(test * n))  # so that each class gives its part
    rest = by_class[~into_test]
    held = evenly(len(rest), round(validation * n))
    parts = {"train": rest[~held], "validation": rest[held], "test": by_class[into_test]}
    return {
        split: rows[torch.randperm(len(rows), generator=shuffle)] for split, rows in parts.items()
    }  # what was sorted by class must not stay so


def masked_maxima(x: Tensor, mask: Tensor) -> Tensor:
    """The largest of the places (N, T, F) where the mask (N, T) is not 0, (N, F); 0 where there are none."""
    there = mask[..., None] != 0
    largest = x.masked_fill(~there, -torch.inf).amax(1)
    return torch.where(there.any(1), largest, 0.0)


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


def mesh_in(path: Path) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The corners of a mesh, and its triangles."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if line.strip() and not line.lstrip().startswith("#")]
    glued = lines[0].strip().removeprefix("OFF").split()  # some write the counts behind the word
    corners, faces = map(int, (glued or lines[1].split())[:2])
    lines = lines[1 if glued else 2 :]
    if len(lines) < corners:
        raise ValueError(f"it ends after {len(lines)} of {corners} points")
    cells = [line.replace(",", " ").replace(";", " ").split() for line in lines[:corners]]
    points = np.array([[float(cell) for cell in row[:3]] for row in cells]).astype(np.float32)
    fans = []
    for words in (line.split() for line in lines[corners : corners + faces]):
        face = [int(word) for word in words[1 : 1 + int(words[0])]]
        fans += [(face[0], face[at], face[at + 1]) for at in range(1, len(face) - 1)]
    return points, np.array(fans, np.int64).reshape(-1, 3)


def surface_of(path: Path, number: int) -> np.ndarray[Any, Any]:
    """Points (n, 3) drawn from the surface of a mesh; its corners where it has none."""
    corners, triangles = mesh_in(path)
    first, second, third = (corners[triangles[:, at]].astype(np.float64) for at in range(3))
    total = np.linalg.norm(np.cross(second - first, third - first), axis=1).cumsum()
    if not len(total) or not total[-1] > 0:
        return corners
    draw = np.random.default_rng([0, number])
    at = np.searchsorted(total, draw.random(64) * total[-1], side="right").clip(max=len(total) - 1)
    along, across = np.sqrt(draw.random((64, 1))), draw.random((64, 1))
    points = (1 - along) * first[at] + along * ((1 - across) * second[at] + across * third[at])
    return np.array(points, np.float32)


def cloud_in(path: Path, number: int) -> np.ndarray[Any, Any]:
    """The points of a cloud around their mean, within 1 of it."""
    points: np.ndarray[Any, Any]
    try:
        points = surface_of(path, number)
    except (OSError, LookupError, ValueError) as error:
        raise SystemExit(f"{path} is not as it was: {error}") from error
    if not len(points) or not np.isfinite(points).all():
        raise SystemExit(f"{path} has no points, or one that is not finite.")
    points = points - points.mean(0, keepdims=True)
    farthest = float(np.sqrt((points.astype(np.float64) ** 2).sum(1)).max())
    points = points / np.float32(farthest) if farthest > 1e-12 else points
    if len(points) > 64:
        kept = np.random.default_rng([0, number]).permutation(len(points))[:64]
        points = points[np.sort(kept)]
    return points


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test.

    points (N, 64, 3); mask (N, 64); label (N,).
    """
    classes = ("ball", "box", "cone", "ring", "rod")
    ends = (".ply", ".off", ".xyz", ".pts", ".npy")
    files = class_files(folder, ends) if folder.is_dir() else []
    if not files or {named for _, named, _ in files} - {*classes}:
        raise SystemExit(f"The clouds in {folder} are not those of the 5 classes that it had.")
    labels = torch.tensor([classes.index(named) for _, named, _ in files])
    points, mask = torch.zeros(len(files), 64, 3), torch.zeros(len(files), 64)
    for at, (path, _, _) in enumerate(files):
        cloud = torch.from_numpy(cloud_in(path, at))
        points[at, : len(cloud)], mask[at, : len(cloud)] = cloud, 1
    rows = split_by_class(len(files), labels, validation=0.2, test=0.2, seed=0)
    if not all(len(at) for at in rows.values()):
        raise SystemExit("There are too few rows for three splits: has the data changed?")
    columns = {"points": points, "mask": mask, "label": labels}
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in rows.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["points"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(CONFIG.batch):
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
    return torch.optim.Adam(model.parameters(), lr=CONFIG.learning_rate)


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
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
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
