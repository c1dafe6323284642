"""Stacked autoencoder

Exported from Neuroloom. Needs torch and numpy only.

    python stacked_autoencoder.py --data FOLDER
    python stacked_autoencoder.py interpolate --weights FILE

FOLDER holds mnist/ and is the script's own by default.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
import zlib
from collections.abc import Callable, Iterator
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
    batch: int = 128
    learning_rate: float = 0.001


CONFIG = Config()


def stratified_holdout(labels: Tensor, fraction: float, shuffle: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows as (kept, held): a random `fraction` is held back, in every class alike."""
    n = len(labels)
    order = torch.randperm(n, generator=shuffle)
    by_class = labels[order].argsort(stable=True)
    held = torch.zeros(n, dtype=torch.bool)
    # so that each class gives its part
    held[by_class] = (torch.arange(n + 1) * round(fraction * n) // max(n, 1)).diff() > 0
    return order[~held], order[held]


def decoded(
    decode: Callable[[Tensor], Tensor], codes: Tensor, shape: tuple[int, ...]
) -> Iterator[dict[str, Any]]:
    """What the network generates from codes (n, size), one by one; a code enters it as `shape`."""
    for step, code in enumerate(codes):
        yield {"step": step, "code": code, "sample": decode(code.reshape(1, *shape))[0]}


def between(start: Tensor, end: Tensor, count: int) -> Tensor:
    """`count` codes (count, D) from one code (D,) to another, both included."""
    fraction = torch.linspace(0, 1, count, device=start.device)[:, None]
    return (1 - fraction) * start + fraction * end


def walked(
    decode: Callable[[Tensor], Tensor], codes: Tensor, shape: tuple[int, ...], *, count: int
) -> Iterator[dict[str, Any]]:
    """Samples on the line from the code of the first example to that of the second."""
    if len(codes) < 2:
        raise ValueError("The way goes from one example to another: name two rows.")
    codes = codes.flatten(1)
    yield from decoded(decode, between(codes[0], codes[1], count), shape)


def state_in_words(state: dict[str, Any]) -> str:
    """A state as a line: large tensors by their sizes and means."""
    words = []
    for name, value in state.items():
        if isinstance(value, Tensor):
            size = "x".join(str(one) for one in value.shape)
            few = "[" + " ".join(f"{one:.4g}" for one in value.flatten().tolist()) + "]"
            value = few if value.numel() <= 12 else f"{size} mean {value.double().mean():.4g}"
        words.append(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}")
    return "  ".join(words)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder_1 = nn.Linear(784, 128)
        self.decoder_1 = nn.Linear(128, 784)
        self.encoder_2 = nn.Linear(128, 64)
        self.decoder_2 = nn.Linear(64, 128)
        self.classifier = nn.Linear(64, 10)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:  # (N, 1, 28, 28)
        pixels = image.flatten(1)                             # (N, 784)
        encoder_1 = F.relu(self.encoder_1(pixels))            # (N, 128)
        decoder_1 = torch.sigmoid(self.decoder_1(encoder_1))  # (N, 784)
        encoder_2 = F.relu(self.encoder_2(encoder_1))         # (N, 64)
        decoder_2 = F.relu(self.decoder_2(encoder_2))         # (N, 128)
        classifier = self.classifier(encoder_2)               # (N, 10)
        return pixels, encoder_1, decoder_1, decoder_2, classifier


def idx_bytes(path: Path, *size: int) -> np.ndarray[Any, Any]:
    """The bytes of a gzip-compressed IDX file, (N, *size)."""
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=8 + 4 * len(size)).reshape(-1, *size)


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: image (N, 1, 28, 28); digit (N,)."""
    files = folder / "mnist"
    try:
        images = [idx_bytes(files / f"{one}-images-idx3-ubyte.gz", 28, 28) for one in ("train", "t10k")]
        digits = [idx_bytes(files / f"{one}-labels-idx1-ubyte.gz") for one in ("train", "t10k")]
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise SystemExit(f"--data names no folder with the four files of MNIST in mnist/: {error}") from error
    draw = torch.Generator().manual_seed(0)
    kept, held = (rows.numpy() for rows in stratified_holdout(torch.tensor(digits[0]), 0.1, draw))
    splits = {
        "train": (images[0][kept], digits[0][kept]),
        "validation": (images[0][held], digits[0][held]),
        "test": (images[1].copy(), digits[1].copy()),
    }
    return {
        split: {
            "image": torch.from_numpy(image).to(device).float().unsqueeze(1) / 255,
            "digit": torch.from_numpy(digit).to(device).long(),
        }
        for split, (image, digit) in splits.items()
    }


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["image"])
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
        size = len(batch["image"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def first_autoencoder(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """Trains encoder_1, decoder_1."""
    image = batch["image"]                         # (N, 1, 28, 28)
    with torch.no_grad():
        pixels = image.flatten(1)                  # (N, 784)
    x = F.relu(model.encoder_1(pixels))            # (N, 128)
    decoder_1 = torch.sigmoid(model.decoder_1(x))  # (N, 784)
    return {"loss": F.mse_loss(decoder_1, pixels)}


def first_autoencoder_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(
        [*model.encoder_1.parameters(), *model.decoder_1.parameters()], lr=CONFIG.learning_rate
    )


def second_autoencoder(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """Trains encoder_2, decoder_2."""
    image = batch["image"]                      # (N, 1, 28, 28)
    with torch.no_grad():
        x = image.flatten(1)                    # (N, 784)
        encoder_1 = F.relu(model.encoder_1(x))  # (N, 128)
    x = F.relu(model.encoder_2(encoder_1))      # (N, 64)
    decoder_2 = F.relu(model.decoder_2(x))      # (N, 128)
    return {"loss": F.mse_loss(decoder_2, encoder_1)}


def second_autoencoder_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(
        [*model.encoder_2.parameters(), *model.decoder_2.parameters()], lr=CONFIG.learning_rate
    )


def classifier(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """Trains classifier."""
    image = batch["image"]                   # (N, 1, 28, 28)
    digit = batch["digit"]                   # (N,)
    with torch.no_grad():
        x = image.flatten(1)                 # (N, 784)
        x = F.relu(model.encoder_1(x))       # (N, 128)
        x = F.relu(model.encoder_2(x))       # (N, 64)
    classifier_output = model.classifier(x)  # (N, 10)
    return {"loss": F.cross_entropy(classifier_output, digit)}


def classifier_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.classifier.parameters(), lr=CONFIG.learning_rate)


def fine_tuning(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """Trains encoder_1, encoder_2, classifier."""
    image = batch["image"]                   # (N, 1, 28, 28)
    digit = batch["digit"]                   # (N,)
    with torch.no_grad():
        x = image.flatten(1)                 # (N, 784)
    x = F.relu(model.encoder_1(x))           # (N, 128)
    x = F.relu(model.encoder_2(x))           # (N, 64)
    classifier_output = model.classifier(x)  # (N, 10)
    return {"loss": F.cross_entropy(classifier_output, digit)}


def fine_tuning_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(
        [*model.encoder_1.parameters(), *model.encoder_2.parameters(), *model.classifier.parameters()],
        lr=CONFIG.learning_rate,
    )


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    image = batch["image"]                                 # (N, 1, 28, 28)
    digit = batch["digit"]                                 # (N,)
    pixels = image.flatten(1)                              # (N, 784)
    encoder_1 = F.relu(model.encoder_1(pixels))            # (N, 128)
    decoder_1 = torch.sigmoid(model.decoder_1(encoder_1))  # (N, 784)
    encoder_2 = F.relu(model.encoder_2(encoder_1))         # (N, 64)
    decoder_2 = F.relu(model.decoder_2(encoder_2))         # (N, 128)
    classifier_output = model.classifier(encoder_2)        # (N, 10)
    reconstruction_1 = F.mse_loss(decoder_1, pixels)
    reconstruction_2 = F.mse_loss(decoder_2, encoder_1)
    cross_entropy = F.cross_entropy(classifier_output, digit)
    return {
        "loss": reconstruction_1 + reconstruction_2 + cross_entropy,
        "reconstruction_1": reconstruction_1,
        "reconstruction_2": reconstruction_2,
        "cross_entropy": cross_entropy,
        "accuracy": (classifier_output.argmax(1) == digit).float().mean(),
    }


def train(
    model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int | None, as_json: bool
) -> None:
    phases = [  # of each: epochs, what is watched, the objective with its optimiser
        (3, "reconstruction_1", "first_autoencoder", first_autoencoder, first_autoencoder_optimiser),
        (3, "reconstruction_2", "second_autoencoder", second_autoencoder, second_autoencoder_optimiser),
        (3, "cross_entropy", "classifier", classifier, classifier_optimiser),
        (3, "cross_entropy", "fine_tuning", fine_tuning, fine_tuning_optimiser),
    ]
    shuffle = torch.Generator().manual_seed(seed)
    step = epoch = 0
    for number, (limit, monitor, name, compute, make) in enumerate(phases):
        optimiser = make(model)
        best = float("inf")
        kept = None
        for _ in range(epochs or limit):
            for batch in batches(data["train"], shuffle):
                optimiser.zero_grad()
                loss = compute(model, batch)["loss"]
                values = {name: loss.item()}
                if not math.isfinite(values[name]):
                    raise SystemExit(f"{name} is {values[name]} after {step} steps: a lower rate may help.")
                loss.backward(inputs=optimiser.param_groups[0]["params"])
                optimiser.step()
                step += 1
                if as_json:
                    print(json.dumps({"step": step, "phase": number, "epoch": epoch, **values}))
            found = evaluate(model, data["validation"])
            values = {f"val_{name}": value for name, value in found.items()}
            report({"epoch": epoch, **values}, as_json)
            epoch += 1
            if found[monitor] < best:
                best = found[monitor]
                kept = {name: value.clone() for name, value in model.state_dict().items()}
        if kept is not None:
            model.load_state_dict(kept)


def command_line(description: str | None) -> argparse.ArgumentParser:
    """What training and procedures are both told."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, default=Path(__file__).parent, help="folder that holds mnist/")
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def main() -> None:
    parser = command_line("Stacked autoencoder")
    parser.add_argument("--epochs", type=int, help="of each phase, in place of the plan's own")
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.data, args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


@torch.no_grad()
def interpolate(
    model: Model, batch: dict[str, Tensor], draws: torch.Generator, **options: Any
) -> Iterator[dict[str, Any]]:
    """Generates what lies between two examples: on the line from one code to the other."""
    image = batch["image"]                           # (N, 1, 28, 28)
    x = image.flatten(1)                             # (N, 784)
    encoder_1 = F.relu(model.encoder_1(x))           # (N, 128)

    def decode(code: Tensor) -> Tensor:
        return torch.sigmoid(model.decoder_1(code))  # (N, 784)

    yield from walked(decode, encoder_1, (128,), **options)


def run() -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    parser = command_line(interpolate.__doc__)
    parser.prog += " interpolate"
    parser.add_argument("--weights", type=Path, required=True, help="as --save writes them")
    parser.add_argument("--split", default="validation", choices=["train", "validation", "test"])
    parser.add_argument("--rows", type=int, nargs="+", default=[0, 1], help="of the split, from 0")
    parser.add_argument("--count", type=int, default=9, help="how many steps, the two ends included")
    args = parser.parse_args(sys.argv[2:])

    try:
        model = Model().to(args.device).eval()
        model.load_state_dict(torch.load(args.weights, map_location="cpu", weights_only=True))
        columns = load(args.data, args.device)[args.split]
        batch = {name: column[args.rows] for name, column in columns.items()}
        torch.manual_seed(args.seed)
        draws = torch.Generator().manual_seed(args.seed)
        for state in interpolate(model, batch, draws, count=args.count):
            told = json.dumps(state, default=Tensor.tolist) if args.json else state_in_words(state)
            print(told, flush=True)
    except KeyboardInterrupt:
        parser.exit(130, f"{parser.prog}: stopped\n")
    except (OSError, ValueError, IndexError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    if sys.argv[1:2] == ["interpolate"]:
        run()
    else:
        main()
