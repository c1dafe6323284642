"""What runs are called."""

from __future__ import annotations

from pathlib import Path

from app.runs.names import differences_from_before, numbered, told_apart
from engine.runs.index import RunRecord


def run(name: str, started: str, **facts: object) -> RunRecord:
    told = {"title": "Iris", "optimiser": "Adam", "lr": 0.01, "batch": 16, "epochs": 20} | facts
    return RunRecord(name, Path(name), started=started, **told)  # type: ignore[arg-type]


RUNS = [
    run("c", "2026-01-03", lr=0.003, seed=1),
    run("a", "2026-01-01"),
    run("d", "2026-01-04", lr=0.003, seed=1, branched_from="a"),
    run("b", "2026-01-02", title="Digits"),
    run("e", "2026-01-05", lr=0.003, seed=1),
]


def test_runs_are_numbered_by_project_in_the_order_they_began() -> None:
    assert numbered(RUNS) == {"a": "Iris 1", "b": "Digits 1", "c": "Iris 2", "d": "Iris 3", "e": "Iris 4"}


def test_a_run_says_what_it_was_told_otherwise_than_the_one_before() -> None:
    found = differences_from_before(RUNS, numbered(RUNS))
    assert found == {
        "a": "the first",
        "b": "the first",
        "c": "lr 0.003, seed 1",
        "d": "goes on from Iris 1",
        "e": "nothing",
    }


def test_a_legend_tells_runs_apart_by_number_and_by_what_differs_among_them() -> None:
    names = numbered(RUNS)
    both = [RUNS[1], RUNS[0]]
    assert told_apart(both, names) == {"a": "1: lr 0.01 · seed 0", "c": "2: lr 0.003 · seed 1"}
    assert told_apart([RUNS[0], RUNS[4]], names) == {"c": "2", "e": "4"}
    assert told_apart([RUNS[1], RUNS[3]], names) == {"a": "Iris 1", "b": "Digits 1"}
    assert told_apart([RUNS[0]], names) == {"c": "Iris 2"}
