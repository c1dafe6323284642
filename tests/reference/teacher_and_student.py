"""Teacher and student

Exported from Neuroloom. Needs torch, numpy and scikit-learn only.

    python teacher_and_student.py
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 32
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


def distilled(
    student: Tensor, teacher: Tensor, temperature: float, target: Tensor | None = None, weight: float = 1.0
) -> Tensor:
    """Cross-entropy of scores (N, classes) with those of a teacher, both softened, times temperature²."""
    # Source: Hinton, Vinyals and Dean 2015 (temperature² keeps the gradients of one size).
    belief = F.softmax(teacher.detach() / temperature, 1)
    soft = temperature**2 * F.cross_entropy(student / temperature, belief, reduction="none")
    if target is None:
        return soft.mean()
    counts = target != -100
    both = weight * soft + (1 - weight) * F.cross_entropy(student, target, reduction="none")
    return (both * counts).sum() / counts.sum().clamp(min=1)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.teacher_hidden_1 = nn.Linear(64, 256)
        self.teacher_hidden_2 = nn.Linear(256, 128)
        self.teacher = nn.Linear(128, 10)
        self.student_hidden = nn.Linear(64, 12)
        self.student = nn.Linear(12, 10)
        self.alone_hidden = nn.Linear(64, 12)
        self.alone = nn.Linear(12, 10)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # (N, 1, 8, 8)
        pixels = image.flatten(1)                  # (N, 64)
        x = F.relu(self.teacher_hidden_1(pixels))  # (N, 256)
        x = F.relu(self.teacher_hidden_2(x))       # (N, 128)
        teacher = self.teacher(x)                  # (N, 10)
        x = F.relu(self.student_hidden(pixels))    # (N, 12)
        student = self.student(x)                  # (N, 10)
        x = F.relu(self.alone_hidden(pixels))      # (N, 12)
        alone = self.alone(x)                      # (N, 10)
        return teacher, student, alone


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: image (N, 1, 8, 8); digit (N,)."""
    from sklearn import datasets

    values, target = datasets.load_digits(return_X_y=True)
    pixels, digit = torch.tensor(values).double(), torch.tensor(target).double()
    image = pixels.reshape(-1, 1, 8, 8) / 16
    columns = {"image": image.float(), "digit": digit.long()}
    parts = stratified_split(digit, validation=0.2, test=0.2, seed=0)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


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


def teacher(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """teacher: trains teacher_hidden_1, teacher_hidden_2, teacher."""
    image = batch["image"]                 # (N, 1, 8, 8)
    digit = batch["digit"]                 # (N,)
    with torch.no_grad():
        x = image.flatten(1)               # (N, 64)
    x = F.relu(model.teacher_hidden_1(x))  # (N, 256)
    x = F.relu(model.teacher_hidden_2(x))  # (N, 128)
    teacher_output = model.teacher(x)      # (N, 10)
    return {"loss": F.cross_entropy(teacher_output, digit)}


def teacher_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(
        [
            *model.teacher_hidden_1.parameters(),
            *model.teacher_hidden_2.parameters(),
            *model.teacher.parameters(),
        ],
        lr=CONFIG.learning_rate,
    )


def student(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """student: trains student_hidden, student."""
    image = batch["image"]                          # (N, 1, 8, 8)
    digit = batch["digit"]                          # (N,)
    with torch.no_grad():
        pixels = image.flatten(1)                   # (N, 64)
        x = F.relu(model.teacher_hidden_1(pixels))  # (N, 256)
        x = F.relu(model.teacher_hidden_2(x))       # (N, 128)
        teacher_output = model.teacher(x)           # (N, 10)
    x = F.relu(model.student_hidden(pixels))        # (N, 12)
    student_output = model.student(x)               # (N, 10)
    return {"loss": distilled(student_output, teacher_output, 3.0, digit, 0.9)}


def student_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(
        [*model.student_hidden.parameters(), *model.student.parameters()], lr=CONFIG.learning_rate
    )


def alone(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """alone: trains alone_hidden, alone."""
    image = batch["image"]             # (N, 1, 8, 8)
    digit = batch["digit"]             # (N,)
    with torch.no_grad():
        x = image.flatten(1)           # (N, 64)
    x = F.relu(model.alone_hidden(x))  # (N, 12)
    alone_output = model.alone(x)      # (N, 10)
    return {"loss": F.cross_entropy(alone_output, digit)}


def alone_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(
        [*model.alone_hidden.parameters(), *model.alone.parameters()], lr=CONFIG.learning_rate
    )


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    image = batch["image"]                      # (N, 1, 8, 8)
    digit = batch["digit"]                      # (N,)
    pixels = image.flatten(1)                   # (N, 64)
    x = F.relu(model.teacher_hidden_1(pixels))  # (N, 256)
    x = F.relu(model.teacher_hidden_2(x))       # (N, 128)
    teacher_output = model.teacher(x)           # (N, 10)
    x = F.relu(model.student_hidden(pixels))    # (N, 12)
    student_output = model.student(x)           # (N, 10)
    x = F.relu(model.alone_hidden(pixels))      # (N, 12)
    alone_output = model.alone(x)               # (N, 10)
    teacher_loss = F.cross_entropy(teacher_output, digit)
    alone_loss = F.cross_entropy(alone_output, digit)
    distillation = distilled(student_output, teacher_output, 3.0, digit, 0.9)
    return {
        "loss": teacher_loss + alone_loss + distillation,
        "teacher_loss": teacher_loss,
        "alone_loss": alone_loss,
        "distillation": distillation,
        "teacher_accuracy": (teacher_output.argmax(1) == digit).float().mean(),
        "student_accuracy": (student_output.argmax(1) == digit).float().mean(),
        "alone_accuracy": (alone_output.argmax(1) == digit).float().mean(),
    }


def train(
    model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int | None, as_json: bool
) -> None:
    phases = [  # of each: epochs, what is watched, for how long, objectives with their optimisers
        (15, "teacher_loss", 5, [("teacher", teacher, teacher_optimiser)]),
        (30, None, None, [("student", student, student_optimiser), ("alone", alone, alone_optimiser)]),
    ]
    shuffle = torch.Generator().manual_seed(seed)
    step = epoch = 0
    for number, (limit, monitor, patience, planned) in enumerate(phases):
        objectives = [(name, compute, make(model)) for name, compute, make in planned]
        best = float("inf")
        kept = None
        waited = 0
        for _ in range(epochs or limit):
            for batch in batches(data["train"], shuffle):
                values = {}
                for name, compute, optimiser in objectives:
                    optimiser.zero_grad()
                    loss = compute(model, batch)["loss"]
                    values[name] = loss.item()
                    if not math.isfinite(values[name]):
                        raise SystemExit(
                            f"{name} is {values[name]} after {step} steps: a lower rate may help."
                        )
                    loss.backward(inputs=optimiser.param_groups[0]["params"])
                    optimiser.step()
                step += 1
                if as_json:
                    print(json.dumps({"step": step, "phase": number, "epoch": epoch, **values}))
            found = evaluate(model, data["validation"])
            values = {f"val_{name}": value for name, value in found.items()}
            report({"epoch": epoch, **values}, as_json)
            epoch += 1
            if monitor is not None and found[monitor] < best:
                best = found[monitor]
                waited = 0
                kept = {name: value.clone() for name, value in model.state_dict().items()}
            else:
                waited += 1
            if waited == patience:
                break
        if kept is not None:
            model.load_state_dict(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description="Teacher and student")
    parser.add_argument("--epochs", type=int, help="of each phase, in place of the plan's own")
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.set_num_threads(1)  # faster than several for so small a network
    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
