"""RBM on MNIST

Exported from Neuroloom. Needs torch and numpy only.

    python rbm_on_mnist.py --data FOLDER
    python rbm_on_mnist.py gibbs --weights FILE

FOLDER holds mnist/ and is the script's own by default.
"""

from __future__ import annotations

import argparse
import gzip
import json
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
    batch: int = 32
    epochs: int = 10


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


def drawn_bits(probabilities: Tensor, draws: torch.Generator) -> Tensor:
    """0 or 1 by probability; the generator is on the CPU, so that every device draws the same."""
    return torch.bernoulli(probabilities.cpu(), generator=draws).to(probabilities)


def emptied(start: Tensor, held: Tensor, draws: torch.Generator | None = None) -> Tensor:
    """`start` (N, visible) without the values of units that are not `held` (visible,)."""
    rest = torch.zeros_like(start)
    return torch.where(held, start, rest if draws is None else drawn_bits(rest + 0.5, draws))


def gibbs_states(
    hidden_of: Callable[[Tensor], Tensor],
    visible_of: Callable[[Tensor], Tensor],
    start: Tensor,
    rounds: int,
    draws: torch.Generator,
    held: Tensor | None = None,
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Rounds of h ~ p(h | v), v ~ p(v | h) from `start` (N, visible): (probabilities, v, h) of each."""
    # Source: Hinton 2002.
    states = start
    hidden = drawn_bits(hidden_of(states), draws)
    yield start, states, hidden
    for _ in range(rounds):
        visible = visible_of(hidden)
        states = drawn_bits(visible, draws)
        if held is not None:
            visible, states = torch.where(held, start, visible), torch.where(held, start, states)
        hidden = drawn_bits(hidden_of(states), draws)
        yield visible, states, hidden


def gibbs_chain(
    layer: Any, start: Tensor, *, draws: torch.Generator, rounds: int, held: int, rest: str
) -> Iterator[dict[str, Any]]:
    """A chain from each row of `start` (N, visible), of which the first `held` units are kept."""
    start = start.flatten(1).clamp(0, 1)
    known = torch.arange(start.shape[1], device=start.device) < held
    if held:
        start = emptied(start, known, draws if rest == "random" else None)
    chain = gibbs_states(layer.hidden_of, layer.visible_of, start, rounds, draws, known if held else None)
    for step, (visible, states, hidden) in enumerate(chain):
        yield {"step": step, "visible": visible, "state": states, "hidden": hidden}


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


class RBM(nn.Module):
    """Two layers of binary units with links between the layers only, p(v, h) ∝ exp(vᵀWᵀh + aᵀv + bᵀh)."""
    # Source: Hinton 2002; Tieleman 2008.

    chain: Tensor

    def __init__(self, visible: int, hidden: int, lr: float = 0.01, k: int = 1, chains: int = 0) -> None:
        super().__init__()
        self.weight = nn.Parameter(0.01 * torch.randn(hidden, visible))
        self.visible_bias = nn.Parameter(torch.zeros(visible))
        self.hidden_bias = nn.Parameter(torch.zeros(hidden))
        self.register_buffer("chain", torch.zeros(chains, hidden))
        self.lr, self.k = lr, k

    def forward(self, v: Tensor) -> tuple[Tensor, Tensor]:
        h = self.hidden_of(v)
        return h, self.visible_of(h)

    def hidden_of(self, v: Tensor) -> Tensor:
        return torch.sigmoid(v @ self.weight.T + self.hidden_bias)

    def visible_of(self, h: Tensor) -> Tensor:
        return torch.sigmoid(h @ self.weight + self.visible_bias)

    def update(self, v: Tensor) -> dict[str, Tensor]:
        """Lower the free energy of the data and raise it where the chain went. The loss: squared error."""
        h = self.hidden_of(v)
        state = self.chain if len(self.chain) else torch.bernoulli(h)
        guess = v
        for _ in range(self.k):
            guess = torch.bernoulli(self.visible_of(state))
            sampled = self.hidden_of(guess)
            state = torch.bernoulli(sampled)
        watched = {"loss": F.mse_loss(self.visible_of(h), v)}
        if len(self.chain):
            self.chain.copy_(state)
        self.weight.add_(h.T @ v / len(v) - sampled.T @ guess / len(guess), alpha=self.lr)
        self.visible_bias.add_(v.mean(0) - guess.mean(0), alpha=self.lr)
        self.hidden_bias.add_(h.mean(0) - sampled.mean(0), alpha=self.lr)
        return watched

    def pseudo_likelihood(self, v: Tensor, units: int = 16) -> Tensor:
        """Σᵢ log p(vᵢ | the rest), the mean over the rows, from some units i that are drawn for each row."""
        total = v @ self.weight.T + self.hidden_bias
        own, found = F.softplus(total).sum(1), torch.zeros_like(v[:, 0])
        for _ in range(units):
            unit = torch.randint(v.shape[1], (len(v),), device=v.device)
            turn = 1 - 2 * v.gather(1, unit[:, None])
            after = F.softplus(total + turn * self.weight.T[unit]).sum(1)
            found += F.logsigmoid(own - after - turn[:, 0] * self.visible_bias[unit])
        return v.shape[1] * found.mean() / units


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rbm = RBM(784, 100, lr=0.05)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:  # (N, 1, 28, 28)
        pixels = image.flatten(1)                               # (N, 784)
        _, rbm = self.rbm(pixels)                               # (N, 784)
        return pixels, rbm


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


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of RBM."""
    image = batch["image"]     # (N, 1, 28, 28)
    pixels = image.flatten(1)  # (N, 784)
    return model.rbm.update(pixels)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    image = batch["image"]      # (N, 1, 28, 28)
    pixels = image.flatten(1)   # (N, 784)
    _, rbm = model.rbm(pixels)  # (N, 784)
    return {
        "reconstruction_error": F.mse_loss(rbm, pixels),
        "pseudo_likelihood": model.rbm.pseudo_likelihood(pixels),
    }


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle):
            with torch.no_grad():
                value = objective(model, batch)["loss"].item()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


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
    parser = command_line("RBM on MNIST")
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
def gibbs(
    model: Model, batch: dict[str, Tensor], draws: torch.Generator, **options: Any
) -> Iterator[dict[str, Any]]:
    """Draws hidden units given the visible ones and visible ones given the hidden, in turn."""
    image = batch["image"]     # (N, 1, 28, 28)
    pixels = image.flatten(1)  # (N, 784)
    yield from gibbs_chain(model.rbm, pixels, draws=draws, **options)


def run() -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    parser = command_line(gibbs.__doc__)
    parser.prog += " gibbs"
    parser.add_argument("--weights", type=Path, required=True, help="as --save writes them")
    parser.add_argument("--split", default="validation", choices=["train", "validation", "test"])
    parser.add_argument("--rows", type=int, nargs="+", default=[0], help="of the split, from 0")
    parser.add_argument("--rounds", type=int, default=20, help="how often both layers are drawn")
    parser.add_argument(
        "--held", type=int, default=0, help="so many visible units, from the first, keep the example's values"
    )
    parser.add_argument(
        "--rest",
        choices=["blank", "random"],
        default="blank",
        help="how units begin that are not held, where some are",
    )
    args = parser.parse_args(sys.argv[2:])

    try:
        model = Model().to(args.device).eval()
        model.load_state_dict(torch.load(args.weights, map_location="cpu", weights_only=True))
        columns = load(args.data, args.device)[args.split]
        batch = {name: column[args.rows] for name, column in columns.items()}
        torch.manual_seed(args.seed)
        draws = torch.Generator().manual_seed(args.seed)
        for state in gibbs(model, batch, draws, rounds=args.rounds, held=args.held, rest=args.rest):
            told = json.dumps(state, default=Tensor.tolist) if args.json else state_in_words(state)
            print(told, flush=True)
    except KeyboardInterrupt:
        parser.exit(130, f"{parser.prog}: stopped\n")
    except (OSError, ValueError, IndexError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    if sys.argv[1:2] == ["gibbs"]:
        run()
    else:
        main()
