"""Points out of noise

Exported from Neuroloom. Needs torch and numpy only.

    python points_out_of_noise.py --epochs 200
    python points_out_of_noise.py sample --weights FILE
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 128
    epochs: int = 200
    learning_rate: float = 0.003


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


def stratified_split(labels: Tensor, validation: float, test: float, seed: int) -> dict[str, Tensor]:
    """Rows of each split; the fractions are of all rows, in every class alike."""
    shuffle = torch.Generator().manual_seed(seed)
    rest, tested = stratified_holdout(labels, test, shuffle)
    kept, held = stratified_holdout(labels[rest], validation / (1 - test), shuffle)
    return {"train": rest[kept], "validation": rest[held], "test": tested}


def denoised(
    noise_in: Callable[[Tensor, Tensor], Tensor],
    schedule: Any,
    weight: Tensor,
    shape: tuple[int, ...],
    time_shape: tuple[int, ...],
    *,
    draws: torch.Generator,
    count: int,
    steps: int,
    noise: float,
) -> Iterator[dict[str, Any]]:
    """`count` examples (count, *shape) from time 1 to time 0."""
    x = torch.randn((count, *shape), generator=draws).to(weight)
    yield {"step": 0, "time": 1.0, "samples": x}
    for step in range(1, steps + 1):
        now, after = 1 - (step - 1) / steps, 1 - step / steps
        kept, then = (
            schedule.kept(torch.full((), time, dtype=x.dtype, device=x.device)) for time in (now, after)
        )
        found = noise_in(x, x.new_full((count, *time_shape), now))
        example = (x - (1 - kept).sqrt() * found) / kept.sqrt()
        fresh = noise * ((1 - then) / (1 - kept) * (1 - kept / then)).clamp(min=0).sqrt()
        x = then.sqrt() * example + (1 - then - fresh.square()).clamp(min=0).sqrt() * found
        if noise and step < steps:
            x = x + fresh * torch.randn((count, *shape), generator=draws).to(weight)
        yield {"step": step, "time": after, "samples": x}


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


class Diffusion(nn.Module):
    """Mixes examples with noise: all example at time 0, almost all noise at time 1."""

    def __init__(self, schedule: str = "cosine") -> None:
        super().__init__()
        self.schedule = schedule

    def kept(self, time: Tensor) -> Tensor:
        """The fraction of the variance that is the example's."""
        if self.schedule == "cosine":
            found = (
                torch.cos((time + 0.008) / 1.008 * math.pi / 2).square()
                / math.cos(0.008 / 1.008 * math.pi / 2) ** 2
            )
        else:
            found = torch.exp(-0.1 * time - 0.5 * (20 - 0.1) * time.square())
        return found.clamp(1e-4, 1.0)

    def forward(self, x: Tensor, noise: Tensor, time: Tensor) -> Tensor:
        kept = self.kept(time).reshape(len(x), *[1] * (x.dim() - 1))
        return kept.sqrt() * x + (1 - kept).sqrt() * noise


def waves(x: Tensor, count: int, period: float) -> Tensor:
    """sin and cos of 2π k x / period for k = 1 to `count`: (N, ..., F) to (N, ..., F · 2 count)."""
    # Source: Rahimi and Recht, 2007; Mildenhall and others, 2020.
    k = torch.arange(count, device=x.device)
    k = 1.0 + k
    angle = (2 * math.pi / period) * x[..., None] * k
    return torch.cat((torch.sin(angle), torch.cos(angle)), -1).flatten(-2)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mixture = Diffusion()
        self.hidden_1 = nn.Linear(10, 128)
        self.hidden_2 = nn.Linear(128, 128)
        self.hidden_3 = nn.Linear(128, 128)
        self.which_noise = nn.Linear(128, 2)

    def forward(self, point: Tensor, noise: Tensor, time_2: Tensor) -> Tensor:  # (N, 2), (N, 2), (N, 1)
        mixture = self.mixture(point, noise, time_2)  # (N, 2)
        x = waves(time_2, 4, 2.0)                     # (N, 8)
        x = torch.cat((mixture, x), 1)                # (N, 10)
        x = F.silu(self.hidden_1(x))                  # (N, 128)
        x = F.silu(self.hidden_2(x))                  # (N, 128)
        x = F.silu(self.hidden_3(x))                  # (N, 128)
        return self.which_noise(x)                    # (N, 2)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    noise = torch.randn(len(batch["point"]), 2, device=batch["point"].device)  # (N, 2)
    which_noise = model(
        batch["point"],
        noise,
        torch.empty(len(batch["point"]), 1, device=batch["point"].device).uniform_(0.0, 1.0),
    )
    return {"loss": F.mse_loss(which_noise, noise)}


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: point (N, 2)."""
    seed, rows = 0, 4000
    draw = torch.Generator().manual_seed(seed)
    side = torch.arange(rows) % 2
    along = torch.rand(rows, generator=draw)
    torch.rand(rows, generator=draw)  # so that what is drawn next stays the same
    jitter = 0.05 * torch.randn(rows, 2, generator=draw)
    sign = 2 * side - 1.0
    angle = math.pi * along
    x, y = sign * angle.cos() + 0.5 * sign, sign * angle.sin() - 0.25 * sign
    point = torch.stack([x, y], 1) + jitter
    columns = {"point": point}
    parts = stratified_split(side, validation=0.2, test=0.2, seed=seed)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["point"])
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
        size = len(batch["point"])
        n += size
        for name, value in objective(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=CONFIG.learning_rate)


def schedule_for(
    optimiser: torch.optim.Optimizer, steps_per_epoch: int, epochs: int
) -> torch.optim.lr_scheduler.LRScheduler:
    """Down along half a cosine wave; stepped after each batch."""
    total = max(1, epochs * steps_per_epoch)

    def factor(step: int) -> float:
        done = min(1.0, step / total)
        return (1 + math.cos(math.pi * done)) / 2

    return torch.optim.lr_scheduler.LambdaLR(optimiser, factor)


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    optimiser = optimiser_for(model)
    steps_per_epoch = math.ceil(len(data["train"]["point"]) / CONFIG.batch)
    schedule = schedule_for(optimiser, steps_per_epoch, epochs)
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle):
            optimiser.zero_grad()
            loss = objective(model, batch)["loss"]
            value = loss.item()
            if not math.isfinite(value):
                raise SystemExit(f"The loss is {value} after {step} steps: a lower rate may help.")
            loss.backward()
            optimiser.step()
            schedule.step()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))
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
    parser = command_line("Points out of noise")
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


@torch.no_grad()
def sample(
    model: Model, batch: dict[str, Tensor], draws: torch.Generator, **options: Any
) -> Iterator[dict[str, Any]]:
    """Begins with noise and takes away, step by step, what the network says is noise in it."""

    def noise_in(code: Tensor, time_2: Tensor) -> Tensor:
        x = waves(time_2, 4, 2.0)      # (N, 8)
        x = torch.cat((code, x), 1)    # (N, 10)
        x = F.silu(model.hidden_1(x))  # (N, 128)
        x = F.silu(model.hidden_2(x))  # (N, 128)
        x = F.silu(model.hidden_3(x))  # (N, 128)
        return model.which_noise(x)    # (N, 2)

    yield from denoised(noise_in, model.mixture, next(model.parameters()), (2,), (1,), draws=draws, **options)


def run() -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    parser = command_line(sample.__doc__)
    parser.prog += " sample"
    parser.add_argument("--weights", type=Path, required=True, help="as --save writes them")
    parser.add_argument("--count", type=int, default=200, help="how many examples")
    parser.add_argument("--steps", type=int, default=50, help="from noise to examples")
    parser.add_argument(
        "--noise", type=float, default=1.0, help="of each step: 1 as on the way there, 0 none at all"
    )
    args = parser.parse_args(sys.argv[2:])

    try:
        model = Model().to(args.device).eval()
        model.load_state_dict(torch.load(args.weights, map_location="cpu", weights_only=True))
        torch.manual_seed(args.seed)
        draws = torch.Generator().manual_seed(args.seed)
        for state in sample(model, {}, draws, count=args.count, steps=args.steps, noise=args.noise):
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
