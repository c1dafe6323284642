"""For tests of kinds of pictures: take one of a run, as training would."""

from __future__ import annotations

import time

from engine.probes.registry import probe_kinds
from engine.run.feed import Probe, Snapshot
from engine.run.loop import Run
from engine.run.probes import Probes

LONGEST_SECONDS = 60.0


def take(run: Run, *wanted: Probe, steps: int = 0, pinned: int = 0) -> list[Snapshot]:
    """The pictures after some more steps, whether they are taken here or in a thread of their own."""
    for _ in range(steps):
        run.advance()
    probes = Probes(run.feed)
    probes.pinned = pinned
    probes.watch(frozenset(wanted))
    try:
        probes.take_all(run)
        ends = time.monotonic() + LONGEST_SECONDS
        while any(run.feed.latest(probe) is None for probe in wanted):
            kinds = [probe_kinds()[probe.what] for probe in wanted]
            if not any(kind.apart or kind.tries for kind in kinds) or time.monotonic() > ends:
                break
            time.sleep(0.01)
    finally:
        probes.close()
    found = [run.feed.latest(probe) for probe in wanted]
    missing = [probe for probe, snapshot in zip(wanted, found, strict=True) if snapshot is None]
    assert not missing, f"nothing came of {missing}"
    return [snapshot for snapshot in found if snapshot is not None]
