"""GAN on digits

Exported from Neuroloom. Needs torch and numpy only.

    python gan_on_digits.py --data FOLDER
    python gan_on_digits.py sample --weights FILE

FOLDER holds mnist/ and is the script's own by default.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 128, 20


# engine.data.sets.mnist.read_idx, 16 lines, a3e72ca008ae


# engine.data.splits.evenly, 3 lines, 599b8f7d4329


# engine.data.splits.stratified, 8 lines, 87e105d15bfd


# engine.data.sets.mnist.load_mnist, 22 lines, 9dee75e5d816


# engine.procedures.codes.between, 15 lines, d2c2a1da682d


# engine.procedures.codes.decoded, 6 lines, bd0497cd12e1


# engine.procedures.codes.sampled, 20 lines, 7a9e61691ff5


# engine.procedures.rows.as_many, 3 lines, 0fb81ada274e


# engine.procedures.rows.FileRows, 5 lines, 4047b69e9fef


# engine.procedures.rows.chosen_rows, 21 lines, 0d32f6f81743


# engine.procedures.rows.state_as_json, 3 lines, 96c58e94ae55


# engine.procedures.rows.state_in_words, 10 lines, b35dd774c3ec


# engine.data.weights.read_weights, 17 lines, 87ddea6fc7c9


# engine.procedures.rows.weights_of, 6 lines, f136e315ea55


# engine.layers.losses.loss_of_discriminator, 14 lines, ebfa914a51f4


# engine.layers.losses.loss_of_generator, 13 lines, 92c224639fd3


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


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: image (N, 1, 28, 28)."""
    splits = load_mnist(folder, device, validation=0.1, seed=0)
    used = ("image",)
    return {split: {name: columns[name] for name in used} for split, columns in splits.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["image"])
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
    return {"loss": loss_of_discriminator(discriminator_output, on_generated, "cross-entropy")}


def discriminator_weights(model: Model) -> list[nn.Parameter]:
    return [*model.discriminator.parameters()]


def discriminator_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.discriminator.parameters(), lr=0.0002, betas=(0.5, 0.999))


def generator(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """generator: trains generator."""
    code = torch.randn(len(batch["image"]), 64, device=batch["image"].device)  # (N, 64)
    x = model.generator(code)              # (N, 1, 28, 28)
    on_generated = model.discriminator(x)  # (N, 1)
    return {"loss": loss_of_generator(on_generated, "non-saturating")}


def generator_weights(model: Model) -> list[nn.Parameter]:
    return [*model.generator.parameters()]


def generator_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.generator.parameters(), lr=0.0002, betas=(0.5, 0.999))


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    image = batch["image"]                                   # (N, 1, 28, 28)
    code = torch.randn(len(image), 64, device=image.device)  # (N, 64)
    generator_output = model.generator(code)                 # (N, 1, 28, 28)
    discriminator_output = model.discriminator(image)        # (N, 1)
    on_generated = model.discriminator(generator_output)     # (N, 1)
    discriminator_loss = loss_of_discriminator(discriminator_output, on_generated, "cross-entropy")
    generator_loss = loss_of_generator(on_generated, "non-saturating")
    return {
        "loss": discriminator_loss + generator_loss,
        "discriminator_loss": discriminator_loss,
        "generator_loss": generator_loss,
        "d_real": torch.sigmoid(discriminator_output).mean(),
        "d_generated": torch.sigmoid(on_generated).mean(),
    }


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    objectives = [  # by name, with the weights that each moves, and by what
        ("discriminator", discriminator, discriminator_weights(model), discriminator_optimiser(model)),
        ("generator", generator, generator_weights(model), generator_optimiser(model)),
    ]
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle):
            values = {}
            for name, compute, weights, optimiser in objectives:
                optimiser.zero_grad()
                loss = compute(model, batch)["loss"]
                values[name] = loss.item()
                if not math.isfinite(values[name]):
                    raise SystemExit(f"{name} is {values[name]} after {step} steps: a lower rate may help.")
                loss.backward(inputs=weights)
                optimiser.step()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, **values}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(description="GAN on digits")
    parser.add_argument("--data", type=Path, default=Path(__file__).parent, help="folder that holds mnist/")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
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

    def decode(code: Tensor) -> Tensor:
        generator_output = model.generator(code)  # (N, 1, 28, 28)
        return generator_output

    yield from sampled(decode, next(model.parameters()), (64,), "normal", 1.0, draws=draws, **options)


PROCEDURES = {
    "sample": (sample, {
        "--count": {"type": int, "default": 16, "help": "how many examples"},
        "--way": {
            "type": str, "choices": ["draws", "line"], "default": "draws",
            "help": "independent draws, or from one draw to another",
        },
    }),
}


def run(name: str, words: Sequence[str]) -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    procedure, options = PROCEDURES[name]
    parser = argparse.ArgumentParser(prog=f"{Path(__file__).name} {name}", description=procedure.__doc__)
    parser.add_argument("--weights", type=Path, required=True, help="as --save writes them, or .safetensors")
    parser.add_argument("--data", type=Path, default=Path(__file__).parent, help="folder that holds mnist/")
    parser.add_argument("--split", default="validation", choices=["train", "validation", "test"])
    parser.add_argument("--rows", type=int, nargs="+", default=[0], help="of the split, from 0")
    parser.add_argument("--input", type=Path, help="JSON of {column: rows}, in place of rows")
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    own = [parser.add_argument(option, **facts).dest for option, facts in options.items()]
    args = parser.parse_args(words)

    try:
        model = Model().to(args.device).eval()
        model.load_state_dict(weights_of(args.weights))
        columns = load(args.data, args.device)[args.split]
        batch = chosen_rows(columns, args.rows, args.input)
        torch.manual_seed(args.seed)
        draws = torch.Generator().manual_seed(args.seed)
        for state in procedure(model, batch, draws, **{name: vars(args)[name] for name in own}):
            print(json.dumps(state_as_json(state)) if args.json else state_in_words(state))
    except (OSError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in PROCEDURES:
        run(sys.argv[1], sys.argv[2:])
    else:
        main()
