"""Which optimiser is ahead where: the race of the notes, and what pre-training layer by layer reaches."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

from engine.catalogue import load_catalogue
from engine.document.graph import Graph, Project
from engine.document.plan import WHOLE, Choice
from engine.document.shipped import datasets_folder
from tests.bench.rows import row
from tests.bench.setting import gallery_project

# Batch 0 is the whole training split: one step an epoch. The source names no learning rates; these are the
# largest of a coarse grid at which plain and accelerated descent stay finite in the widest net.
RACERS = {
    "GD": (Choice("GradientDescent", {"lr": 0.05}), WHOLE),
    "mini-batch": (Choice("SGD", {"lr": 0.05}), 16),
    "Nesterov": (Choice("Nesterov", {"lr": 0.03, "momentum": 0.9}), WHOLE),
    "Adam": (Choice("Adam", {"lr": 0.003}), 16),
    "L-BFGS": (Choice("LBFGS", {"lr": 1.0, "iterations": 5}), WHOLE),
}
NOISES, WIDTHS, EPOCHS = (0.0, 0.25, 1.0), (10, 50, 100), 100


@dataclass(frozen=True)
class Finish:
    """How a racer ended: mean squared errors, those of validation by epoch, and seconds of training."""

    train: float
    validation: tuple[float, ...]
    seconds: float


def changed(project: Project, params: dict[str, dict[str, object]]) -> Project:
    """The project with parameters set, by the name of the node."""
    nodes = [
        replace(node, params={**node.params, **params.get(node.name, {})})  # type: ignore[dict-item]
        for node in project.graph.nodes.values()
    ]
    return replace(project, graph=Graph(nodes, project.graph.links))


@cache
def race(racer: str, noise: float, width: int, epochs: int = EPOCHS) -> Finish:
    """One run of the race; all of one width start from the same weights."""
    from engine.train.headless import run_headless

    optimiser, batch = RACERS[racer]
    project = changed(
        gallery_project("optimiser-race"), {"noisy sine": {"noise": noise}, "hidden": {"units": width}}
    )
    project.plan = project.plan.with_(optimiser=optimiser, batch=batch, epochs=epochs)
    curve: list[float] = []
    run = run_headless(
        project,
        load_catalogue(),
        datasets_folder(),
        device="cpu",
        on_line=lambda record: curve.append(float(record["val_loss"])) if "val_loss" in record else None,
    ).run
    train = run.program.evaluate(run.model, run.data["train"])["loss"]
    return Finish(train, tuple(curve), run.seconds)


def orderings() -> dict[str, bool]:
    """What the notes say of the race, and whether it came out so (seed 000 §1.3.1-1.3.4)."""
    found = {}
    learnable = [(noise, width) for noise in NOISES[:2] for width in WIDTHS]
    for noise, width in learnable:
        slow = race("GD", noise, width).train
        others = {name: race(name, noise, width).train for name in RACERS if name != "GD"}
        found[f"GD is last at noise {noise:g}, width {width}"] = slow > max(others.values())
    for noise in NOISES[:2]:
        losses = [race("GD", noise, width).train for width in WIDTHS]
        found[f"GD gains by width at noise {noise:g}"] = losses[0] > losses[-1]
    for large in ("Adam", "mini-batch"):
        for small in ("Nesterov", "L-BFGS"):
            # Of its third figure, where the data have no noise.
            lead = [_lead(large, small, 0.0, width) for width in (WIDTHS[0], WIDTHS[-1])]
            found[f"{large} gains on {small} by width"] = lead[1] > lead[0]
    for width in WIDTHS:
        for noise in NOISES[:2]:
            curve = race("L-BFGS", noise, width).validation
            good = curve[24] <= 1.5 * min(curve) + 0.02
            found[f"L-BFGS is there by epoch 25 at noise {noise:g}, width {width}"] = good
        pure = race("L-BFGS", 1.0, width)
        lowest = min(pure.validation)
        found[f"on noise alone the loss stays high at width {width}"] = lowest > 0.8
        found[f"L-BFGS begins to learn the noise by heart at width {width}"] = (
            pure.validation[-1] > 1.02 * lowest and pure.train < pure.validation[-1]
        )
    return found


def _lead(one: str, other: str, noise: float, width: int) -> float:
    """By which factor `one` ends lower than `other`, as a logarithm."""
    return math.log(race(other, noise, width).train / race(one, noise, width).train)


@row(
    "optimiser-race",
    "share of the orderings that the notes state (seed 000 §1.3) which come out so in 45 runs",
    "share",
)
def optimiser_race() -> tuple[float, str]:
    found = orderings()
    failed = [said for said, holds in found.items() if not holds]
    return sum(found.values()) / len(found), "; ".join(f"not: {said}" for said in failed) or "all"


SIZES = ((64, 32), (128, 32), (128, 64), (256, 64), (256, 128), (512, 128))


def stacked(first: int, second: int) -> tuple[float, float]:
    """Accuracy on the test images before and after the last phase, of a stacked autoencoder of two sizes."""
    from engine.train.headless import run_headless

    project = changed(
        gallery_project("stacked-autoencoder"),
        {
            "encoder 1": {"units": first},
            "decoder 2": {"units": first},
            "encoder 2": {"units": second},
        },
    )
    before = 0.0
    whole = project.plan
    for phases in (whole.phases[:2], whole.phases):
        project.plan = replace(whole, phases=phases)
        found = run_headless(project, load_catalogue(), datasets_folder(), device="cpu").results
        before, after = (before or found["test_accuracy"]), found["test_accuracy"]
    return before, after


@row(
    "stacked-autoencoder",
    "lowest fine-tuned test accuracy of the six size pairs of seed 000 §3.2, table 2 (.90 to .93 there)",
    "share",
    ">= 0.9",
)
def stacked_autoencoder() -> tuple[float, str]:
    found = {sizes: stacked(*sizes) for sizes in SIZES}
    said = [f"{sizes}: {before:.3f} then {after:.3f}" for sizes, (before, after) in found.items()]
    return min(after for _, after in found.values()), "before and after fine-tuning: " + "; ".join(said)
