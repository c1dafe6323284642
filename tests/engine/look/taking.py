"""For tests of kinds of pictures: take one of a run, as training would."""

from __future__ import annotations

import time

from engine.feed.feed import Probe, Snapshot
from engine.look.registry import probe_kinds
from engine.look.taking import Probes
from engine.train.loop import Run

LONGEST_SECONDS = 60.0
OF_A_STEP = {"gradients", "norms"}  # what a step has to be taken for


def take(run: Run, *wanted: Probe, steps: int = 0, pinned: int = 0) -> list[Snapshot]:
    """The pictures after some more steps, whether they are taken here or in a thread of their own."""
    for _ in range(steps):
        run.advance()
    probes = Probes(run.feed)
    probes.pinned = pinned
    probes.watch(frozenset(wanted))
    try:
        if any(probe.what in OF_A_STEP for probe in wanted):
            probes.take_due(run, time.perf_counter() + 1000)
            run.advance()
            probes.refresh()
        probes.take_all(run)
        ends = time.monotonic() + LONGEST_SECONDS
        while any(run.feed.latest(probe) is None for probe in wanted):
            known = probe_kinds()
            kinds = [known[probe.what] for probe in wanted if probe.what in known]
            if not any(kind.apart or kind.tries for kind in kinds) or time.monotonic() > ends:
                break
            time.sleep(0.01)
    finally:
        probes.close()
    found = [run.feed.latest(probe) for probe in wanted]
    missing = [probe for probe, snapshot in zip(wanted, found, strict=True) if snapshot is None]
    assert not missing, f"nothing came of {missing}"
    return [snapshot for snapshot in found if snapshot is not None]
