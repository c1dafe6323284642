"""What runs are called: a number among the runs of their project, and what tells them from others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engine.runs.index import RunRecord

FIRST = "the first"
ALIKE = "nothing"


def numbered(records: Iterable[RunRecord]) -> dict[str, str]:
    """For each run, by its folder, its title and its number in the order of beginning: `Iris 3`."""
    counts: dict[str, int] = {}
    found = {}
    for record in sorted(records, key=_began):
        counts[record.title] = counts.get(record.title, 0) + 1
        found[record.name] = f"{record.title} {counts[record.title]}"
    return found


def differences_from_before(records: Iterable[RunRecord], names: Mapping[str, str]) -> dict[str, str]:
    """For each run what it was told otherwise than the one of its project before: `lr 0.003, seed 1`."""
    last: dict[str, RunRecord] = {}
    found = {}
    for record in sorted(records, key=_began):
        before, last[record.title] = last.get(record.title), record
        if record.branched_from:
            origin = names.get(record.branched_from, record.branched_from)
            found[record.name] = f"goes on from {origin}"
        elif before is None:
            found[record.name] = FIRST
        else:
            words = [_facts(record)[key] for key in _varying([before, record])]
            if not words and record.plan_hash != before.plan_hash:
                words = ["another plan"]
            found[record.name] = ", ".join(words) or ALIKE
    return found


def told_apart(records: Sequence[RunRecord], names: Mapping[str, str]) -> dict[str, str]:
    """Short names for these runs side by side: their number, and what differs among them."""
    titles = {record.title for record in records}
    alike = len(titles) == 1
    keys = _varying(records) if len(titles) < len(records) else []
    found = {}
    for record in records:
        name = names.get(record.name, record.title)
        if alike and len(records) > 1:
            name = name.removeprefix(record.title).strip() or name
        words = " · ".join(_facts(record)[key] for key in keys)
        found[record.name] = f"{name}: {words}" if words else name
    return found


def _varying(records: Sequence[RunRecord]) -> list[str]:
    facts = [_facts(record) for record in records]
    return [key for key in _facts(records[0]) if len({one[key] for one in facts}) > 1] if records else []


def _facts(record: RunRecord) -> dict[str, str]:
    rate = "" if record.lr is None else f"lr {record.lr:g}"
    return {
        "optimiser": record.optimiser,
        "lr": rate,
        "batch": f"batch {record.batch}" if record.batch else "whole batches",
        "epochs": f"{record.epochs} epochs",
        "seed": f"seed {record.seed}",
        "device": record.device,
        "graph": f"{record.parameters:,} weights" if record.parameters else f"graph {record.graph_hash[:4]}",
    }


def _began(record: RunRecord) -> tuple[str, str]:
    return record.started, record.name
