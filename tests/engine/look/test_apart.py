"""The thread of costly views: what a model at rest is asked for is taken after what is under way."""

from __future__ import annotations

import threading

import torch

from engine.feed.feed import Probe
from engine.look.apart import Apart, Job
from engine.look.registry import ProbeKind
from engine.look.sight import Look
from tests.engine.train.networks import iris, run_of

KIND = ProbeKind("slow", lambda look, probe: None, apart=True)
PROBES = frozenset({Probe("", "slow")})


def test_the_last_weights_are_looked_at_though_earlier_ones_are_under_way() -> None:
    began, go_on, last = threading.Event(), threading.Event(), threading.Event()
    seen: list[tuple[int, bool]] = []

    def take(kind: ProbeKind, probes: frozenset[Probe], look: Look, revision: int) -> None:
        seen.append((look.step, look.standing))
        began.set()
        if len(seen) == 2:
            last.set()
        assert go_on.wait(30)

    apart = Apart(take, lambda kind, cost: None, lambda kind: True)
    run = run_of(iris())
    try:
        assert apart.offer(KIND, PROBES, run, 0, patient=False)
        assert began.wait(30)
        run.advance()
        assert not apart.offer(KIND, PROBES, run, 0, patient=False)  # while training it comes later
        assert apart.offer(KIND, PROBES, run, 0, patient=True)
        run.advance()
        assert apart.offer(KIND, PROBES, run, 0, patient=True)  # in place of the one that has not begun
        go_on.set()
        assert last.wait(30)
    finally:
        go_on.set()
        apart.close()
    assert seen == [(0, False), (2, True)]


def test_a_copy_takes_what_an_estimator_has_learned_as_long_as_that_is() -> None:
    run = run_of(iris())
    look = Look.of(run, 0)
    look.model.register_buffer("rows", torch.empty(0, 4))
    *weights, _ = [*look.model.parameters(), *look.model.buffers()]
    rows = torch.rand(36, 4)
    Job(KIND, frozenset(), look, 0, [*weights, rows]).load()
    assert torch.equal(look.model.get_buffer("rows"), rows)
