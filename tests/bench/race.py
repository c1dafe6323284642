"""Which optimiser is ahead where: the race of the notes, and what pre-training layer by layer reaches."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from engine.catalogue import load_catalogue
from engine.document.graph import Graph, Project
from engine.document.plan import WHOLE, Choice
from engine.document.shipped import datasets_folder
from tests.bench.rows import row
from tests.bench.setting import gallery_project

# docs/reproductions.md gives the protocol; rates and criteria are changed there first, before any run.
RACERS = {
    "GD": (Choice("GradientDescent", {"lr": 0.05}), WHOLE),
    "mini-batch": (Choice("SGD", {"lr": 0.05}), 16),
    "Nesterov": (Choice("Nesterov", {"lr": 0.03, "momentum": 0.9}), WHOLE),
    "Adam": (Choice("Adam", {"lr": 0.01}), 16),
    "L-BFGS": (Choice("LBFGS", {"lr": 1.0, "iterations": 5}), WHOLE),
}
NOISES, WIDTHS, SEEDS = (0.0, 0.25, 1.0), (10, 50, 100), range(5)
EPOCHS, LONG = 100, 2000  # LONG: of gradient descent where seconds are compared
FIRST = "ACEFG"  # statements with criteria from before the first run


@dataclass(frozen=True)
class Finish:
    """How a racer ended: mean squared errors, those of validation by epoch, and seconds of training."""

    train: float
    validation: tuple[float, ...]
    variance: float  # of the validation targets
    seconds: float

    def arrives(self, goal: float) -> float:
        """The first epoch, counted from 1, at which the validation error is at most `goal`."""
        return next((at for at, error in enumerate(self.validation, 1) if error <= goal), math.inf)

    def seconds_to(self, goal: float) -> float:
        """Seconds of training until then."""
        return self.arrives(goal) * self.seconds / len(self.validation)


@dataclass(frozen=True)
class Field:
    """The races of one seed, and how many iterations L-BFGS makes an epoch."""

    seed: int
    iterations: int = 5

    def __call__(self, racer: str, noise: float, width: int, epochs: int = EPOCHS) -> Finish:
        return race(racer, noise, width, self.seed, epochs, self.iterations if racer == "L-BFGS" else 0)

    def lead(self, one: str, other: str, noise: float, width: int) -> float:
        """By which factor `one` ends lower than `other`, as a logarithm."""
        return math.log(self(other, noise, width).train / self(one, noise, width).train)


def changed(project: Project, params: dict[str, dict[str, object]]) -> Project:
    """The project with parameters set, by the name of the node."""
    nodes = [
        replace(node, params={**node.params, **params.get(node.name, {})})  # type: ignore[dict-item]
        for node in project.graph.nodes.values()
    ]
    return replace(project, graph=Graph(nodes, project.graph.links))


@cache
def race(racer: str, noise: float, width: int, seed: int, epochs: int, iterations: int = 0) -> Finish:
    """One run of the race; all of one width and seed start from the same weights."""
    from engine.train.headless import run_headless

    optimiser, batch = RACERS[racer]
    if iterations:
        optimiser = replace(optimiser, params={**optimiser.params, "iterations": iterations})
    project = changed(
        gallery_project("optimiser-race"),
        {"noisy sine": {"noise": noise, "seed": seed}, "hidden": {"units": width}},
    )
    project.plan = project.plan.with_(optimiser=optimiser, batch=batch, epochs=epochs, seed=seed)
    curve: list[float] = []
    run = run_headless(
        project,
        load_catalogue(),
        datasets_folder(),
        device="cpu",
        on_line=lambda record: curve.append(float(record["val_loss"])) if "val_loss" in record else None,
    ).run
    train = run.program.evaluate(run.model, run.data["train"])["loss"]
    variance = run.data["validation"]["y"].var(correction=0).item()
    return Finish(train, tuple(curve), variance, run.seconds)


def criteria(ran: Field) -> Iterator[tuple[str, str, bool]]:
    """Statement, what was measured, and whether it holds, in the words of docs/reproductions.md."""
    cells = [(noise, width) for noise in NOISES[:2] for width in WIDTHS]
    others = [name for name in RACERS if name != "GD"]
    for noise, width in cells:
        cell = f"noise {noise:g}, width {width}"
        finishes = {name: ran(name, noise, width) for name in RACERS}
        lowest = min(min(one.validation) for one in finishes.values())
        goal = 1.5 * lowest + 0.02
        curve = finishes["L-BFGS"].validation
        yield "A", f"L-BFGS is good by epoch 25, {cell}", curve[24] <= 1.5 * min(curve) + 0.02
        slowest = max(finishes[name].train for name in others)
        yield "G", f"GD is last, {cell}", finishes["GD"].train > slowest
        own = ran("GD", noise, width, LONG).seconds_to(goal)
        theirs = max(finishes[name].seconds_to(goal) for name in others)
        yield "H", f"GD takes the most seconds, {cell}", theirs < own
        for name in others:
            yield "I", f"{name} arrives, {cell}", finishes[name].arrives(goal) < math.inf
    for width in WIDTHS:
        pure = ran("L-BFGS", NOISES[2], width)
        lowest, last = min(pure.validation), pure.validation[-1]
        yield "B", f"noise stays unlearnt, width {width}", lowest >= 0.9 * pure.variance
        overfits = last > 1.1 * lowest and pure.train < last
        yield "C", f"L-BFGS overfits noise, width {width}", overfits
        best = pure.validation.index(lowest) + 1
        yield "D", f"its best epoch is 10 to 40, width {width}", 10 <= best <= 40
    small, large = WIDTHS[0], WIDTHS[-1]
    for noise in NOISES[:2]:
        for one in ("Adam", "mini-batch"):
            for other in ("Nesterov", "L-BFGS"):
                gains = ran.lead(one, other, noise, large) > ran.lead(one, other, noise, small)
                yield "E", f"{one} gains on {other} by width, noise {noise:g}", gains
        better = ran("GD", noise, large).train < ran("GD", noise, small).train
        yield "F", f"GD gains by width, noise {noise:g}", better


def proportions(iterations: int = 5) -> tuple[dict[str, list[float]], dict[str, int]]:
    """By statement, "all" and "first": the proportions that hold, one a seed; and how often each fails."""
    shares: dict[str, list[float]] = {}
    failures: dict[str, int] = {}
    for seed in SEEDS:
        held: dict[str, list[bool]] = {}
        for statement, measured, holds in criteria(Field(seed, iterations)):
            for group in (statement, "all", *(("first",) if statement in FIRST else ())):
                held.setdefault(group, []).append(holds)
            failures[measured] = failures.get(measured, 0) + (not holds)
        for group, values in held.items():
            shares.setdefault(group, []).append(sum(values) / len(values))
    return shares, failures


@row(
    "optimiser-race",
    "mean proportion of the criteria of docs/reproductions.md that hold, over five seeds; 195 runs",
    "share",
)
def optimiser_race() -> tuple[float, str]:
    shares, failures = proportions()
    told = [
        f"{group} {statistics.mean(values):.2f} ± {statistics.stdev(values):.2f}"
        for group, values in sorted(shares.items())
    ]
    failed = [f"not in {count} of {len(SEEDS)}: {said}" for said, count in failures.items() if count]
    return statistics.mean(shares["all"]), "; ".join([*told, *failed])


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
