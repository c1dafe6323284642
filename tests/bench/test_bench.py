"""The bench keeps its word about rows, bounds and output; the numbers themselves are no test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.rows import Result, Target

ROOT = Path(__file__).parents[2]
PROMISED = {
    "images-100k",
    "csv-1gb",
    "table-streamed",
    "cnn-parameters",
    "vanishing-tanh",
    "vanishing-logistic",
    "cnn-accuracy",
    "santa-fe-one-step",
    "santa-fe-free-run",
    "speed-cnn",
    "speed-mlp",
    "speed-two-objectives",
    "speed-twelve",
    "stall-twelve",
    "memory-epochs",
    "memory-pictures",
    "pictures-share",
    "stall",
    "open-1000",
    "pan-million",
    "redraw-nan",
    "gap-300",
    "edit-1000",
    "start-up",
    "theme-eight",
    "open-ratio",
    "pan",
    "pan-99",
    "zoom",
    "zoom-99",
    "drag",
    "drag-99",
    "repaint-2000",
    "can-connect",
    "undo-delete-500",
    "layout-2000",
    "idle-repaints",
    "memory-100",
    "two-processes",
    "checkpoint-cost",
    "speed-em",
    "speed-gan",
    "fast-gan",
    "speed-hmc",
    "fast-cnn",
    "fast-accuracy",
    "optimiser-race",
    "stacked-autoencoder",
    "try-it",
    "trainers-mlp",
    "trainers-cnn",
    "memory-mapped",
    "loader-mnist",
    "loader-by-hand",
    "kv-cache",
    "speed-gpt",
    "vit-accuracy",
    "vit-32-features",
    "vit-4-layers",
    "vit-64-units",
    "gpt-ngrams",
}


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.bench", *words], cwd=ROOT, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize(
    ("sign", "value", "holds"),
    [(">=", 1.0, True), (">=", 0.9, False), ("<=", 1.0, True), ("<=", 1.1, False), ("==", 1.0, True)],
)
def test_a_bound_is_kept_up_to_its_edge(sign: str, value: float, holds: bool) -> None:
    assert Target(sign, 1.0).holds(value) is holds


def test_every_promised_row_is_there() -> None:
    listed = bench("--list")
    assert listed.returncode == 0, listed.stderr
    assert {line.split()[0] for line in listed.stdout.splitlines()} == PROMISED


def test_a_row_answers_in_json() -> None:
    done = bench("cnn-parameters", "--json")
    assert done.returncode == 0, done.stderr
    found = Result(**json.loads(done.stdout))
    assert (found.name, found.value, found.unit, found.holds) == (
        "cnn-parameters",
        34_826,
        "parameters",
        True,
    )
    assert found.target == "== 34826"
    assert found.peak_mib > 0


def test_an_unknown_row_is_a_wrong_command_line() -> None:
    assert bench("no-such-row").returncode == 2
