"""What a person types finds the runs it means."""

from pathlib import Path

import pytest

from engine.runs.filter import matching
from engine.runs.index import RunRecord

RUNS = [
    RunRecord("a-1", Path("a-1"), "MNIST CNN", "finished", optimiser="Adam", lr=0.001, batch=64,
              tags=("good", "base line"), best={"val_loss": 0.1, "val_accuracy": 0.99},
              last={"val_loss": 0.2, "val_accuracy": 0.98}),
    RunRecord("a-2", Path("a-2"), "MNIST CNN", "failed", optimiser="SGD", lr=0.1, batch=128,
              note="too fast", best={"val_loss": 3.0}, last={"val_loss": 3.0}),
    RunRecord("b-1", Path("b-1"), "Iris", "interrupted", optimiser="Adam", lr=None, batch=16),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ["a-1", "a-2", "b-1"]),
        ("adam", ["a-1", "b-1"]),
        ("mnist adam", ["a-1"]),
        ("tag:good", ["a-1"]),
        ('"base line"', ["a-1"]),
        ("too", ["a-2"]),
        ("lr<0.01", ["a-1"]),
        ("lr < .01", ["a-1"]),
        ("lr>=0.1 batch>64", ["a-2"]),
        ("state=finished", ["a-1"]),
        ("state!=finished", ["a-2", "b-1"]),
        ("val_accuracy>0.985", ["a-1"]),
        ("val_loss<1", ["a-1"]),
        ("batch=16", ["b-1"]),
        ("nothing<3", []),
        ("lr<many", []),
        ("learning_rate=0.1", ["a-2"]),
    ],
)
def test_filter(text: str, names: list[str]) -> None:
    assert [record.name for record in matching(RUNS, text)] == names
