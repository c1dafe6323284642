"""Four classifiers

Exported from Neuroloom. Needs torch and numpy only.

    python four_classifiers.py
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    epochs: int = 60
    learning_rate: float = 0.1


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


class GaussianClasses(nn.Module):
    """Fits a Gaussian to each class; Bayes' rule then says which class is most probable."""
    # Source: Hastie, Tibshirani and Friedman 2009, §4.3.

    means: Tensor
    whitening: Tensor
    offsets: Tensor

    def __init__(
        self, inputs: int, classes: int = 2, covariance: str = "shared", shrinkage: float = 0.0
    ) -> None:
        super().__init__()
        self.register_buffer("means", torch.zeros(classes, inputs))
        self.register_buffer("whitening", torch.eye(inputs).repeat(classes, 1, 1))  # inverse roots of the S
        self.register_buffer("offsets", torch.zeros(classes))
        self.covariance, self.shrinkage = covariance, shrinkage

    def forward(self, x: Tensor) -> Tensor:
        whitened = torch.einsum("ked,nkd->nke", self.whitening, x[:, None] - self.means)
        return self.offsets - whitened.square().sum(-1) / 2

    def fit(self, x: Tensor, target: Tensor) -> dict[str, Tensor]:
        """Count the classes, and take the moments of each. The loss is the cross-entropy after."""
        rows, label = x.reshape(len(x), -1).cpu().double(), target.reshape(len(x)).cpu().long()
        classes, inputs = self.means.shape
        counts = label.bincount(minlength=classes).double()
        means = rows.new_zeros(classes, inputs).index_add(0, label, rows) / counts.clamp(1)[:, None]
        apart = [rows[label == one] - means[one] for one in range(classes)]
        scatter = torch.stack([one.T @ one for one in apart])
        if self.covariance == "shared":
            spread = (scatter.sum(0) / len(rows)).expand_as(scatter)
        else:
            spread = scatter / counts.clamp(1)[:, None, None]
        if self.covariance == "diagonal":
            spread = torch.diag_embed(spread.diagonal(0, 1, 2))
        least = max(self.shrinkage, 1e-9 * float(rows.var(0, correction=0).max()))
        spread = (1 - self.shrinkage) * spread + least * torch.eye(inputs).to(spread)
        root = torch.linalg.cholesky(spread)
        half = root.diagonal(0, 1, 2).log().sum(1) + inputs / 2 * math.log(2 * math.pi)
        self.means.copy_(means)
        self.whitening.copy_(torch.linalg.solve_triangular(root, torch.eye(inputs).to(root), upper=False))
        self.offsets.copy_((counts / len(rows)).log() - half)
        return {"loss": F.cross_entropy(self(x.reshape(len(x), -1)), target.reshape(len(x)).long())}


def counting(target: Tensor, ignored: int | None = None) -> Tensor:
    """Which places of classes (N, ...) count: all but those of class -100 and `ignored`."""
    return target != -100 if ignored is None else (target != -100) & (target != ignored)


def decisions(
    scores: Tensor, target: Tensor, ignored: int | None, together: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Scores (K, n) of K decisions as doubles, and 1 where the answer is yes, and where it is no."""
    if scores.is_mps:  # which has no doubles
        scores, target = scores.cpu(), target.cpu()
    scores = scores.double()
    if target.dtype == torch.bool:
        columns = scores.shape[-1] if scores.dim() == 2 else 1
        scores, right = (one.reshape(-1, columns).T for one in (scores, target))
        there = torch.ones_like(right)
    else:
        scores = scores.flatten(0, -2).T
        right = F.one_hot(target.flatten().clamp(0), len(scores)).T > 0
        there = counting(target, ignored).flatten().expand_as(right)
        if len(scores) == 2:
            scores, right, there = scores[1:], right[1:], there[1:]
    if together:
        scores, right, there = (one.reshape(1, -1) for one in (scores, right, there))
    return scores.contiguous(), (right & there).double(), (~right & there).double()


def ranks(scores: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """The sum of weights (K, n) of scores below each of (K, n), and of those up to it."""
    ordered, order = scores.sort(-1)
    sums = F.pad(weights.gather(-1, order).cumsum(-1), (1, 0))
    below, up_to = (torch.searchsorted(ordered, scores, right=right) for right in (False, True))
    return sums.gather(-1, below), sums.gather(-1, up_to)


def averaged(values: Tensor, there: Tensor, average: str, only: int | None) -> Tensor:
    """The value of class `only`, or the mean over those that have one, (); "weighted" by those `there`."""
    if only is not None:
        return values[only if len(values) > 1 else 0]
    weights = (there if average == "weighted" else torch.ones_like(there)) * ~values.isnan()
    return (values.nan_to_num() * weights).sum() / weights.sum()


def area_under_roc(
    scores: Tensor,
    target: Tensor,
    *,
    average: str = "macro",
    only: int | None = None,
    ignored: int | None = None,
) -> Tensor:
    """How often one of a class scores higher than one that isn't, (), ties by half: the area under the
    ROC."""
    scores, yes, no = decisions(scores, target, ignored, average == "micro" and only is None)
    below, up_to = ranks(scores, no)
    pairs = yes.sum(-1) * no.sum(-1)
    return averaged((yes * (below + up_to)).sum(-1) / (2 * pairs), yes.sum(-1), average, only)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.logistic = nn.Linear(2, 2)
        self.straight_lda = GaussianClasses(2, 2)
        self.curved_qda = GaussianClasses(2, 2, covariance="own")
        self.naive_bayes = GaussianClasses(2, 2, covariance="diagonal")

    def forward(self, point: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # (N, 2)
        logistic = self.logistic(point)          # (N, 2)
        straight_lda = self.straight_lda(point)  # (N, 2)
        curved_qda = self.curved_qda(point)      # (N, 2)
        naive_bayes = self.naive_bayes(point)    # (N, 2)
        return logistic, straight_lda, curved_qda, naive_bayes


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: point (N, 2); component (N,)."""
    rows, seed = 1000, 0
    weights = (3.0, 1.0)
    draw = torch.Generator().manual_seed(seed)
    fraction = torch.tensor(weights, dtype=torch.float64) / sum(weights)
    means = torch.tensor([(0.0, 1.2), (0.0, 0.8)], dtype=torch.float64).T
    deviation = torch.tensor((1.0, 0.5), dtype=torch.float64)
    component = torch.multinomial(fraction, rows, replacement=True, generator=draw)
    moved = torch.randn(rows, means.shape[1], generator=draw, dtype=torch.float64)
    point = means[component] + deviation[component][:, None] * moved
    columns = {"point": point.float(), "component": component}
    parts = stratified_split(component, validation=0.2, test=0.2, seed=seed)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in parts.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["point"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(n):
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}


@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over what counts in a split, with dropout off."""
    model.eval()
    sums: dict[str, float] = {}
    weights: dict[str, float] = {}
    rows: dict[str, list[tuple[Tensor, ...]]] = {}
    for batch in batches(split):
        for name, (value, weight) in measure(model, batch).items():
            if isinstance(value, tuple):  # rows whose value is that of all of them together
                rows.setdefault(name, []).append(tuple(column.cpu() for column in value))
                continue
            sums[name] = sums.get(name, 0.0) + float(weight) * value.item()
            weights[name] = weights.get(name, 0.0) + float(weight)
    model.train()
    found = {name: value / (weights[name] or math.nan) for name, value in sums.items()}
    kept = {name: [*map(torch.cat, zip(*parts, strict=True))] for name, parts in rows.items()}
    found["logistic_auc"] = float(area_under_roc(*kept["logistic_auc rows"]))
    found["lda_auc"] = float(area_under_roc(*kept["lda_auc rows"]))
    found["qda_auc"] = float(area_under_roc(*kept["qda_auc rows"]))
    found["naive_bayes_auc"] = float(area_under_roc(*kept["naive_bayes_auc rows"]))
    return found


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def gradient(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """gradient: trains everything."""
    point = batch["point"]            # (N, 2)
    component = batch["component"]    # (N,)
    logistic = model.logistic(point)  # (N, 2)
    return {"loss": F.cross_entropy(logistic, component)}


def gradient_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=CONFIG.learning_rate)


def straight_lda_rule(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of straight (LDA)."""
    point = batch["point"]          # (N, 2)
    component = batch["component"]  # (N,)
    return model.straight_lda.fit(point, component)


def curved_qda_rule(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of curved (QDA)."""
    point = batch["point"]          # (N, 2)
    component = batch["component"]  # (N,)
    return model.curved_qda.fit(point, component)


def naive_bayes_rule(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The rule of naive Bayes."""
    point = batch["point"]          # (N, 2)
    component = batch["component"]  # (N,)
    return model.naive_bayes.fit(point, component)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, tuple[Any, Tensor | int]]:
    """The losses and metrics of a batch, each with how much the batch counts in the mean over several."""
    point = batch["point"]                    # (N, 2)
    component = batch["component"]            # (N,)
    logistic = model.logistic(point)          # (N, 2)
    straight_lda = model.straight_lda(point)  # (N, 2)
    curved_qda = model.curved_qda(point)      # (N, 2)
    naive_bayes = model.naive_bayes(point)    # (N, 2)
    return {
        "loss": (F.cross_entropy(logistic, component), len(batch["point"])),
        "logistic_auc": (area_under_roc(F.softmax(logistic, -1), component), len(batch["point"])),
        "lda_auc": (area_under_roc(F.softmax(straight_lda, -1), component), len(batch["point"])),
        "qda_auc": (area_under_roc(F.softmax(curved_qda, -1), component), len(batch["point"])),
        "naive_bayes_auc": (area_under_roc(F.softmax(naive_bayes, -1), component), len(batch["point"])),
        "logistic_auc rows": ((F.softmax(logistic, -1), component), len(batch["point"])),
        "lda_auc rows": ((F.softmax(straight_lda, -1), component), len(batch["point"])),
        "qda_auc rows": ((F.softmax(curved_qda, -1), component), len(batch["point"])),
        "naive_bayes_auc rows": ((F.softmax(naive_bayes, -1), component), len(batch["point"])),
    }


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    objectives = [  # by name, with their optimisers (none for a rule)
        ("gradient", gradient, gradient_optimiser(model)),
        ("straight_lda_rule", straight_lda_rule, None),
        ("curved_qda_rule", curved_qda_rule, None),
        ("naive_bayes_rule", naive_bayes_rule, None),
    ]
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle):
            values = {}
            for name, compute, optimiser in objectives:
                if optimiser is None:
                    with torch.no_grad():
                        values[name] = compute(model, batch)["loss"].item()
                    continue
                optimiser.zero_grad()
                loss = compute(model, batch)["loss"]
                values[name] = loss.item()
                if not math.isfinite(values[name]):
                    raise SystemExit(f"{name} is {values[name]} after {step} steps: a lower rate may help.")
                loss.backward()
                optimiser.step()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, **values}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(description="Four classifiers")
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

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
