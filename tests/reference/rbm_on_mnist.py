"""RBM on MNIST

Exported from Neuroloom. Needs torch and numpy only.

    python rbm_on_mnist.py --data FOLDER

FOLDER holds mnist/ and is the script's own by default.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH = 0, 32


def read_idx(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    """The bytes of a gzip-compressed IDX file, as an array of `shape`."""
    import zlib

    if not path.is_file():
        raise FileNotFoundError(
            f"There is no {path}: choose the folder that holds mnist/ with its four files."
        )
    header = 4 + 4 * len(shape)
    try:
        raw = zlib.decompress(path.read_bytes(), wbits=31)
    except zlib.error:
        raw = b""
    if len(raw) != header + math.prod(shape):
        raise ValueError(f"{path} is damaged, or is another file: copy it from MNIST again.")
    return np.frombuffer(raw, np.uint8, offset=header).reshape(shape)


def stratified(labels: Tensor, share: float, shuffle: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows as (kept, held): a random `share` is held back, in every class alike."""
    n = len(labels)
    order = torch.randperm(n, generator=shuffle)
    by_class = labels[order].argsort(stable=True)
    dealt = torch.arange(n + 1) * round(share * n) // n  # rises evenly, so each class gives its part
    held = torch.zeros(n, dtype=torch.bool)
    held[by_class] = dealt.diff() > 0
    return order[~held], order[held]


def load_mnist(
    folder: Path, device: str, *, validation: float = 0.1, seed: int = 0
) -> dict[str, dict[str, Tensor]]:
    """MNIST as {split: {"image": (N, 1, 28, 28) in 0..1, "digit": (N,)}}; validation is a share of train."""

    def columns(image: np.ndarray, digit: np.ndarray) -> dict[str, Tensor]:
        return {
            "image": torch.from_numpy(image).to(device).float().unsqueeze(1) / 255,
            "digit": torch.from_numpy(digit).to(device).long(),
        }

    files = folder / "mnist"
    image = read_idx(files / "train-images-idx3-ubyte.gz", (60000, 28, 28))
    digit = read_idx(files / "train-labels-idx1-ubyte.gz", (60000,))
    test_image = read_idx(files / "t10k-images-idx3-ubyte.gz", (10000, 28, 28))
    test_digit = read_idx(files / "t10k-labels-idx1-ubyte.gz", (10000,))
    kept, held = stratified(torch.tensor(digit), validation, torch.Generator().manual_seed(seed))
    return {
        "train": columns(image[kept.numpy()], digit[kept.numpy()]),
        "validation": columns(image[held.numpy()], digit[held.numpy()]),
        "test": columns(test_image.copy(), test_digit.copy()),
    }


class RBM(nn.Module):
    """Two layers of binary units with links between the layers only, p(v, h) ∝ exp(vᵀWᵀh + aᵀv + bᵀh).

    v (N, visible) in 0..1 -> (hidden probabilities (N, hidden), reconstruction (N, visible)).
    It learns by contrastive divergence: `k` Gibbs steps from the data, or from `chains` states of its own
    that go on from batch to batch (persistent). Source: seed 000 §4.1, eq 10-12, D.10.
    """

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

    def free_energy(self, v: Tensor) -> Tensor:
        """F(v) = -aᵀv - Σ log(1 + exp(Wv + b)), (N,): p(v) ∝ exp(-F(v))."""
        return -(v @ self.visible_bias) - F.softplus(v @ self.weight.T + self.hidden_bias).sum(1)

    def update(self, v: Tensor) -> dict[str, Tensor]:
        """Lower the free energy of the data and raise it where the chain went. The loss: squared error."""
        h = self.hidden_of(v)
        state = self.chain if len(self.chain) else torch.bernoulli(h)
        guess = v
        for _ in range(self.k):
            guess = torch.bernoulli(self.visible_of(state))
            dreamt = self.hidden_of(guess)
            state = torch.bernoulli(dreamt)
        watched = {"loss": F.mse_loss(self.visible_of(h), v), "pseudo_likelihood": self.likelihood(v)}
        if len(self.chain):
            self.chain.copy_(state)
        self.weight.add_(h.T @ v / len(v) - dreamt.T @ guess / len(guess), alpha=self.lr)
        self.visible_bias.add_(v.mean(0) - guess.mean(0), alpha=self.lr)
        self.hidden_bias.add_(h.mean(0) - dreamt.mean(0), alpha=self.lr)
        return watched

    def likelihood(self, v: Tensor) -> Tensor:
        """Pseudo-likelihood, visible · log p(vᵢ | the rest), from one unit i drawn for each row (eq 12)."""
        rows = torch.arange(len(v), device=v.device)
        unit = torch.randint(v.shape[1], (len(v),), device=v.device)
        turn = (1 - 2 * v[rows, unit])[:, None]
        total = v @ self.weight.T + self.hidden_bias
        turned = total + turn * self.weight.T[unit]
        gain = turn[:, 0] * self.visible_bias[unit] + (F.softplus(turned) - F.softplus(total)).sum(1)
        return v.shape[1] * F.logsigmoid(-gain).mean()


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rbm = RBM(784, 100, lr=0.05)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:  # (N, 1, 28, 28)
        pixels = image.flatten(1)                               # (N, 784)
        _, rbm = self.rbm(pixels)                               # (N, 784)
        return pixels, rbm


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: image (N, 1, 28, 28)."""
    splits = load_mnist(folder, device, validation=0.1, seed=0)
    used = ("image",)
    return {split: {name: columns[name] for name in used} for split, columns in splits.items()}


def batches(
    split: dict[str, Tensor], shuffle: torch.Generator | None = None, size: int | None = BATCH
) -> Iterator[dict[str, Tensor]]:
    n = len(split["image"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(size or n):
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
    return {"reconstruction_error": F.mse_loss(rbm, pixels)}


@dataclass
class Player:
    """An objective at work: what it computes, the weights it moves, and what moves them."""

    name: str
    objective: Callable[[Model, dict[str, Tensor]], dict[str, Tensor]]
    weights: list[nn.Parameter] = field(default_factory=list)
    optimiser: Any = None  # none: a rule, which moves them itself
    schedule: Any = None
    every: int = 1


def take_turn(player: Player, model: Model, batch: dict[str, Tensor], turn: int) -> dict[str, Tensor]:
    """One step of an objective; returns what it computed before the step."""
    with torch.no_grad():
        return player.objective(model, batch)


def make_players(model: Model, steps_per_epoch: int, epochs: int) -> list[Player]:
    """The objectives, with fresh optimisers."""
    return [
        Player("loss", objective),
    ]


@dataclass
class Phase:
    """A stretch of training: its players take turns until one of its stop rules holds."""

    players: Callable[[Model, int, int], list[Player]]
    epochs: int
    batch: int | None = None  # none: all rows at once
    frozen: tuple[str, ...] = ()  # layers that nobody trains: dropout and batch statistics rest
    monitor: str = "val_loss"
    sign: int = 1  # -1: the monitored value is better when it grows
    patience: int | None = None  # epochs without a better value before the phase ends
    restore_best: bool = True
    until: tuple[tuple[str, str, float], ...] = ()  # ends as soon as one of these holds


PHASES = (
    Phase(make_players, 10, batch=32, monitor="val_loss", restore_best=False),
)


def set_modes(model: Model, phase: Phase) -> None:
    """Training mode, but for the layers that the phase leaves alone."""
    model.train()
    for layer in phase.frozen:
        model.get_submodule(layer).eval()


def train(
    model: Model,
    data: dict[str, dict[str, Tensor]],
    seed: int,
    epochs: int | None,
    as_json: bool,
) -> None:
    shuffle = torch.Generator().manual_seed(seed)
    n = len(data["train"]["image"])
    step = epoch = 0
    for phase in PHASES:
        limit = epochs or phase.epochs
        players = phase.players(model, math.ceil(n / (phase.batch or n)), limit)
        best, kept, waited, turn = math.inf, None, 0, 0
        for _ in range(limit):
            set_modes(model, phase)
            sums: dict[str, list[float]] = {}
            for batch in batches(data["train"], shuffle, phase.batch):
                values = {}
                for player in players:
                    if turn % player.every == 0:
                        values[player.name] = take_turn(player, model, batch, turn)["loss"].item()
                        sums.setdefault(player.name, []).append(values[player.name])
                step, turn = step + 1, turn + 1
                if as_json:
                    print(json.dumps({"step": step, "epoch": epoch, **values}))
            found = evaluate(model, data["validation"])
            record = {f"val_{name}": value for name, value in found.items()}
            report({"epoch": epoch, **record}, as_json)
            epoch += 1
            means = {f"train_{name}": sum(found) / len(found) for name, found in sums.items()}
            seen = {**record, **means}
            value = phase.sign * seen.get(phase.monitor, math.nan)
            if value < best:
                best, waited = value, 0
                if phase.restore_best:
                    kept = {name: value.clone() for name, value in model.state_dict().items()}
            else:
                waited += 1
            if waited == phase.patience:
                break
        if kept is not None:
            model.load_state_dict(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description="RBM on MNIST")
    parser.add_argument("--data", type=Path, default=Path(__file__).parent, help="folder that holds mnist/")
    parser.add_argument("--epochs", type=int, help="of each phase, in place of the plan's own")
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.data, args.device)
    try:
        train(model, data, args.seed, args.epochs, args.json)
    except FloatingPointError as error:
        raise SystemExit(f"{error} A lower learning rate may help.") from None
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
