"""The fast path against the loop that somebody writes by hand in float32, in the same run.

As in the rows of speed the loop has a process of its own, and short rounds of the two take turns. The other
side is a run without a window: what the fast path measured and chose is in the remark.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.catalogue import load_catalogue
from engine.document.document import Document
from engine.document.edits import SetParam
from engine.document.graph import Project
from engine.document.shipped import datasets_folder
from tests.bench.rows import row
from tests.bench.setting import gallery_project
from tests.bench.speed import ROUND_SECONDS, apart, cnn_by_hand

if TYPE_CHECKING:
    from tests.bench.reference import EmByHand

ROUNDS = 20


def steps_of(project: Project) -> tuple[Callable[[float], tuple[int, float]], str]:
    """A run without a window as a function of seconds that returns (steps, seconds), and what it chose."""
    from engine.feed.feed import Feed
    from engine.runs.settings import Settings
    from engine.train.begin import begin_run
    from engine.train.sources import Sources

    catalogue = load_catalogue()
    sources = Sources(catalogue, datasets_folder())
    program = sources.program(project, 0)
    settings = Settings.of(project.plan, epochs=100_000, device="cpu")
    run = begin_run(program, catalogue, sources.loader(program, "cpu"), settings, Feed())

    def steps_in(seconds: float) -> tuple[int, float]:
        began, first = time.perf_counter(), run.step
        while (passed := time.perf_counter() - began) < seconds:
            run.advance()
        run.rest()
        return run.step - first, passed

    return steps_in, run.program.fast.sentence()


@row(
    "fast-cnn", "steps per second of mnist-cnn on the fast path against a hand-written float32 loop", "ratio"
)
def fast_cnn() -> tuple[float, str]:
    """At least 2.0 where the processor multiplies bfloat16 (avx512_bf16, amx), 1.15 elsewhere."""
    import torch

    from engine.train.autotune import _has_bfloat16

    project = gallery_project("mnist-cnn")
    project.plan = project.plan.with_(fast=True)
    with apart(cnn_by_hand) as by_hand:
        threads = torch.get_num_threads()
        steps_in, chosen = steps_of(project)
        steps_in(0.5)
        rounds = [(steps_in(ROUND_SECONDS), by_hand(ROUND_SECONDS, threads)) for _ in range(ROUNDS)]
    ratios = [(a / s) / (b / t) for (a, s), (b, t) in rounds]
    ours, alone = (
        sum(steps for steps, _ in side) / sum(seconds for _, seconds in side)
        for side in zip(*rounds, strict=True)
    )
    bound = 2.0 if _has_bfloat16("cpu") else 1.15
    verdict = "holds" if ours / alone >= bound else "DOES NOT HOLD"
    remark = (
        f"bound >= {bound:g} on this processor: {verdict}; {ours:,.1f} steps/s, {alone:,.1f} by hand "
        f"on {threads} thread(s); middle half of the rounds {statistics.quantiles(ratios)[0]:.2f} to "
        f"{statistics.quantiles(ratios)[2]:.2f}. {chosen}"
    )
    return ours / alone, remark


@row(
    "fast-accuracy",
    "test accuracy of mnist-cnn on the fast path less that on the plain path",
    "share",
    ">= -0.002",
)
def fast_accuracy() -> tuple[float, str]:
    """Both from the plan's seed, as many epochs as it says."""
    from engine.train.headless import run_headless

    found = []
    for fast in (False, True):
        project = gallery_project("mnist-cnn")
        project.plan = project.plan.with_(fast=fast)
        outcome = run_headless(project, load_catalogue(), datasets_folder(), device="cpu")
        found.append((float(outcome.results["test_accuracy"]), outcome.run))
    (plain, first), (quick, second) = found
    remark = (
        f"{quick:.4f} in {second.seconds:.0f} s ({second.epoch} epochs), plain {plain:.4f} in "
        f"{first.seconds:.0f} s ({first.epoch} epochs). {second.program.fast.sentence()}"
    )
    return quick - plain, remark


EM_ROWS = 50_000


def em_project() -> Project:
    """The example mixture-em with so many points that a step takes longer than what surrounds it."""
    project = gallery_project("mixture-em")
    points = next(node for node in project.graph.nodes.values() if not project.graph.incoming(node.id))
    with (document := Document(project)).step("More points"):
        document.apply(SetParam(points.id, "rows", EM_ROWS))
    return document.project


def em_by_hand() -> EmByHand:
    """EM over the same points."""
    from engine.emit.program import compile_program
    from tests.bench.reference import EmByHand

    program = compile_program(em_project(), load_catalogue())
    return EmByHand(program.load(datasets_folder()))


@row(
    "speed-em",
    "EM steps per second of mixture-em without a window against the same by hand",
    "ratio",
    ">= 0.9",
)
def em() -> tuple[float, str]:
    import torch

    with apart(em_by_hand) as by_hand:
        threads = torch.get_num_threads()
        steps_in, _ = steps_of(em_project())
        steps_in(0.5)
        rounds = [(steps_in(ROUND_SECONDS), by_hand(ROUND_SECONDS, threads)) for _ in range(ROUNDS)]
    speeds = [sum(n for n, _ in side) / sum(s for _, s in side) for side in zip(*rounds, strict=True)]
    return speeds[0] / speeds[1], f"{speeds[0]:,.1f} steps/s, {speeds[1]:,.1f} by hand on {threads} thread(s)"
