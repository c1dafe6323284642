"""GAN on digits

Exported from Neuroloom. Needs torch and numpy only.

    python gan_on_digits.py --data FOLDER
    python gan_on_digits.py sample --weights FILE

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
    epochs: int = 20
    learning_rate: float = 0.0002


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


def between(start: Tensor, end: Tensor, count: int) -> Tensor:
    """`count` codes (count, D) from one code (D,) to another, both included."""
    fraction = torch.linspace(0, 1, count, device=start.device)[:, None]
    cosine = (start @ end / (start.norm() * end.norm()).clamp_min(1e-12)).clamp(-1, 1)
    angle = torch.arccos(cosine)
    if angle.sin() < 0.0001:
        return (1 - fraction) * start + fraction * end
    way: Tensor = (
        torch.sin((1 - fraction) * angle) * start + torch.sin(fraction * angle) * end
    ) / angle.sin()
    return way


def decoded(
    decode: Callable[[Tensor], Tensor], codes: Tensor, shape: tuple[int, ...]
) -> Iterator[dict[str, Any]]:
    """What the network generates from codes (n, size), one by one; a code enters it as `shape`."""
    for step, code in enumerate(codes):
        yield {"step": step, "code": code, "sample": decode(code.reshape(1, *shape))[0]}


def sampled(
    decode: Callable[[Tensor], Tensor],
    weight: Tensor,
    shape: tuple[int, ...],
    spread: float,
    *,
    draws: torch.Generator,
    count: int,
    way: str,
) -> Iterator[dict[str, Any]]:
    """Samples from draws of the source, or on the way between two of them; `weight` says the device."""
    size = (count if way == "draws" else 2, torch.Size(shape).numel())
    codes = torch.randn(size, generator=draws) * spread
    if way == "line":
        codes = between(codes[0], codes[1], count)
    yield from decoded(decode, codes.to(weight), shape)


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


def loss_of_discriminator(real: Tensor, generated: Tensor) -> Tensor:
    """The discriminator's loss on its scores for real and generated examples."""
    # Source: Goodfellow et al. 2014; for the others Mao et al. 2017, Lim and Ye 2017, Arjovsky et al. 2017.
    believed = F.binary_cross_entropy_with_logits(real, torch.full_like(real, 1.0))
    return believed + F.binary_cross_entropy_with_logits(generated, torch.zeros_like(generated))


def loss_of_generator(generated: Tensor) -> Tensor:
    """The generator's loss on the discriminator's scores for generated examples."""
    # Source: Goodfellow et al. 2014.
    return F.softplus(-generated).mean()


class Generator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(64, 256)
        self.pixels = nn.Linear(256, 784)

    def forward(self, code: Tensor) -> Tensor:  # (N, 64)
        x = F.leaky_relu(self.hidden(code))     # (N, 256)
        x = torch.sigmoid(self.pixels(x))       # (N, 784)
        return x.reshape(-1, 1, 28, 28)         # (N, 1, 28, 28)


class Discriminator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(784, 256)
        self.real = nn.Linear(256, 1)

    def forward(self, image: Tensor) -> Tensor:  # (N, 1, 28, 28)
        x = image.flatten(1)                     # (N, 784)
        x = F.leaky_relu(self.hidden(x))         # (N, 256)
        return self.real(x)                      # (N, 1)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.generator = Generator()
        self.discriminator = Discriminator()

    def forward(self, image: Tensor, code: Tensor) -> tuple[Tensor, Tensor]:  # (N, 1, 28, 28), (N, 64)
        generator = self.generator(code)                 # (N, 1, 28, 28)
        discriminator = self.discriminator(image)        # (N, 1)
        discriminator_2 = self.discriminator(generator)  # (N, 1)
        return discriminator, discriminator_2


def idx_bytes(path: Path, *size: int) -> np.ndarray[Any, Any]:
    """The bytes of a gzip-compressed IDX file, (N, *size)."""
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=8 + 4 * len(size)).reshape(-1, *size)


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: image (N, 1, 28, 28)."""
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
        split: {"image": torch.from_numpy(image).to(device).float().unsqueeze(1) / 255}
        for split, (image, _) in splits.items()
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


def discriminator(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """discriminator: trains discriminator."""
    image = batch["image"]                                   # (N, 1, 28, 28)
    code = torch.randn(len(image), 64, device=image.device)  # (N, 64)
    with torch.no_grad():
        generator_output = model.generator(code)             # (N, 1, 28, 28)
    discriminator_output = model.discriminator(image)        # (N, 1)
    on_generated = model.discriminator(generator_output)     # (N, 1)
    return {"loss": loss_of_discriminator(discriminator_output, on_generated)}


def discriminator_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.discriminator.parameters(), lr=CONFIG.learning_rate, betas=(0.5, 0.999))


def generator(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """generator: trains generator."""
    code = torch.randn(len(batch["image"]), 64, device=batch["image"].device)  # (N, 64)
    x = model.generator(code)              # (N, 1, 28, 28)
    on_generated = model.discriminator(x)  # (N, 1)
    return {"loss": loss_of_generator(on_generated)}


def generator_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.generator.parameters(), lr=CONFIG.learning_rate, betas=(0.5, 0.999))


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    image = batch["image"]                                   # (N, 1, 28, 28)
    code = torch.randn(len(image), 64, device=image.device)  # (N, 64)
    generator_output = model.generator(code)                 # (N, 1, 28, 28)
    discriminator_output = model.discriminator(image)        # (N, 1)
    on_generated = model.discriminator(generator_output)     # (N, 1)
    discriminator_loss = loss_of_discriminator(discriminator_output, on_generated)
    generator_loss = loss_of_generator(on_generated)
    return {
        "loss": discriminator_loss + generator_loss,
        "discriminator_loss": discriminator_loss,
        "generator_loss": generator_loss,
        "d_real": torch.sigmoid(discriminator_output).mean(),
        "d_generated": torch.sigmoid(on_generated).mean(),
    }


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    objectives = [  # by name, with their optimisers
        ("discriminator", discriminator, discriminator_optimiser(model)),
        ("generator", generator, generator_optimiser(model)),
    ]
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle):
            values = {}
            for name, compute, optimiser in objectives:
                optimiser.zero_grad()
                loss = compute(model, batch)["loss"]
                values[name] = loss.item()
                if not math.isfinite(values[name]):
                    raise SystemExit(f"{name} is {values[name]} after {step} steps: a lower rate may help.")
                loss.backward(inputs=optimiser.param_groups[0]["params"])
                optimiser.step()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, **values}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def command_line(description: str | None) -> argparse.ArgumentParser:
    """What training and procedures are both told."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def main() -> None:
    parser = command_line("GAN on digits")
    parser.add_argument("--data", type=Path, default=Path(__file__).parent, help="folder that holds mnist/")
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
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
def sample(
    model: Model, batch: dict[str, Tensor], draws: torch.Generator, **options: Any
) -> Iterator[dict[str, Any]]:
    """Generates examples from draws of the source of noise, or on the way between two draws."""
    yield from sampled(model.generator, next(model.parameters()), (64,), 1.0, draws=draws, **options)


def run() -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    parser = command_line(sample.__doc__)
    parser.prog += " sample"
    parser.add_argument("--weights", type=Path, required=True, help="as --save writes them")
    parser.add_argument("--count", type=int, default=16, help="how many examples")
    parser.add_argument(
        "--way",
        choices=["draws", "line"],
        default="draws",
        help="independent draws, or from one draw to another",
    )
    args = parser.parse_args(sys.argv[2:])

    try:
        model = Model().to(args.device).eval()
        model.load_state_dict(torch.load(args.weights, map_location="cpu", weights_only=True))
        torch.manual_seed(args.seed)
        draws = torch.Generator().manual_seed(args.seed)
        for state in sample(model, {}, draws, count=args.count, way=args.way):
            told = json.dumps(state, default=Tensor.tolist) if args.json else state_in_words(state)
            print(told, flush=True)
    except KeyboardInterrupt:
        parser.exit(130, f"{parser.prog}: stopped\n")
    except (OSError, ValueError, IndexError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    if sys.argv[1:2] == ["sample"]:
        run()
    else:
        main()
