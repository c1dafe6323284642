"""Two processes under torchrun train the run that one does, and begin again where a worker was killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.document.files import save_project
from engine.document.graph import Project
from engine.document.plan import ChangeModel, Choice
from engine.emit.script import export_script
from engine.runs.attach import Attached
from engine.runs.records import read_metrics, read_settings
from engine.train.distributed import Part, differences
from engine.train.headless import run_headless
from tests.engine.sketches import gallery
from tests.engine.train.networks import DATASETS, catalogue, iris, run_of, with_node
from tests.warm import python

ROOT = Path(__file__).parents[3]
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node")


def start(*command: str, program: str = "") -> subprocess.Popen[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [program or python(), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def records(*command: str) -> list[dict[str, Any]]:
    """The JSON lines that a command prints."""
    process = start(*command)
    out, complaints = process.communicate(timeout=240)
    assert process.returncode == 0, complaints
    return [json.loads(line) for line in out.splitlines()]


def alone(project: Project, folder: Path | None = None) -> list[dict[str, Any]]:
    """The same lines from one process, this one."""
    found: list[dict[str, Any]] = []
    run_headless(project, catalogue(), DATASETS, device="cpu", folder=folder, on_line=found.append)
    return found


def close(found: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> None:
    assert len(found) == len(wanted) > 3
    for one, other in zip(found, wanted, strict=True):
        assert one == pytest.approx(other, abs=1e-6)


def stored(folder: Path, project: Project) -> str:
    save_project(project, folder / "flowers.nloom")
    return str(folder / "flowers.nloom")


def test_two_processes_train_as_one(tmp_path: Path) -> None:
    # 91 rows in batches of 32 leave a last one of 27: its parts are unequal.
    project = iris(dropout=0.0, epochs=3, schedule=Choice("Cosine"), patience=2)
    train = (
        "-m",
        "engine.cli",
        "train",
        stored(tmp_path, project),
        "--json",
        "--device",
        "cpu",
        "--out",
    )
    two = records(*TORCHRUN, "2", *train, str(tmp_path / "two"))
    close(two, alone(project, tmp_path / "one"))
    facts = read_settings(tmp_path / "two")
    assert (facts["processes"], facts["backend"], facts["state"]) == (2, "gloo", "finished")
    assert facts["differs_from_one_process"] == []
    assert [row["step"] for row in read_metrics(tmp_path / "two")] == [
        row["step"] for row in read_metrics(tmp_path / "one")
    ]


def test_an_exported_script_trains_as_one(tmp_path: Path) -> None:
    script = tmp_path / "flowers.py"
    project = iris(dropout=0.0, epochs=2)
    script.write_text(export_script(project, catalogue(), distributed=True).text, "utf-8")
    kept = str(tmp_path / "kept.pt")
    two = records(*TORCHRUN, "2", str(script), "--json", "--checkpoint", kept)
    close(two, alone(project))
    state = torch.load(kept, weights_only=True)
    assert state["epoch"] == 1
    again = records(str(script), "--json", "--checkpoint", kept)
    close(again, two[-len(again) :])


def test_what_objects_and_rules_do_in_turn_is_done_alike_in_each_process(tmp_path: Path) -> None:
    project = iris(dropout=0.0, epochs=2)
    cut = ChangeModel(Choice("Prune", {"fraction": 0.5}), name="left")
    first = project.plan.phases[0]
    second = replace(first, objectives=(cut, *first.objectives))
    project.plan = replace(project.plan, phases=(first, second))
    script = tmp_path / "cut.py"
    script.write_text(export_script(project, catalogue(), distributed=True).text, "utf-8")
    wanted = alone(project)
    close(records(*TORCHRUN, "2", str(script), "--json", "--device", "cpu"), wanted)
    out = str(tmp_path / "two")
    train = ("-m", "engine.cli", "train", stored(tmp_path, project), "--json", "--device", "cpu", "--out")
    close(records(*TORCHRUN, "2", *train, out), wanted)
    assert read_settings(tmp_path / "two")["differs_from_one_process"] == []
    gates = gallery("perceptron-gates")
    script.write_text(export_script(gates, catalogue(), distributed=True).text, "utf-8")
    close(records(*TORCHRUN, "2", str(script), "--json", "--device", "cpu"), alone(gates))


def test_processes_weigh_classes_as_one_does(tmp_path: Path) -> None:
    project = with_node(iris(dropout=0.0, epochs=2), "n5", class_weights=(1.0, 9.0, 0.0))
    one = alone(project)
    close(
        records(
            *(*TORCHRUN, "2", "-m", "engine.cli", "train", stored(tmp_path, project), "--json"),
            *("--device", "cpu", "--out", str(tmp_path / "two")),
        ),
        one,
    )
    assert read_settings(tmp_path / "two")["differs_from_one_process"] == []
    script = tmp_path / "flowers.py"
    script.write_text(export_script(project, catalogue(), distributed=True).text, "utf-8")
    close(records(*TORCHRUN, "2", str(script), "--json"), one)


def test_a_killed_worker_is_started_again(tmp_path: Path) -> None:
    project = stored(tmp_path, iris(dropout=0.0, epochs=300))
    out = tmp_path / "run"
    launcher = start(
        *(*TORCHRUN, "2", "--max-restarts", "3"),
        *("-m", "engine.cli", "train", project, "--json", "--device", "cpu", "--out", str(out)),
        program=sys.executable,  # whose workers are its own, to be killed outright
    )
    try:
        until = time.monotonic() + 60
        while not (out / "checkpoint.json").exists():
            assert launcher.poll() is None and time.monotonic() < until
            time.sleep(0.02)
        attached = Attached(out)
        attached.poll()
        assert attached.state == "running" and attached.progress.epochs == 300
        os.kill(read_settings(out)["process"], signal.SIGKILL)
        printed, complaints = launcher.communicate(timeout=240)
    finally:
        launcher.terminate()  # it ends its workers
        launcher.wait(30)
    assert launcher.returncode == 0, complaints
    facts = read_settings(out)
    assert (facts["state"], facts["epochs_done"]) == ("finished", 300) and facts["restarts"] >= 1
    assert "test_loss" in json.loads(printed.splitlines()[-1])
    assert [row["epoch"] for row in read_metrics(out)] == list(range(300))
    assert attached.poll() and attached.state == "finished"


def test_leaving_writes_what_was_printed_and_skips_what_python_does_at_its_end() -> None:
    lines = (
        "import atexit, sys",
        "from engine.train.distributed import leave",
        'atexit.register(print, "Python ends")',
        'sys.stdout.write("all of it")',
        "leave(3)",
    )
    done = start("-c", "\n".join(lines))
    assert done.communicate(timeout=60) == ("all of it", "")
    assert done.returncode == 3


@pytest.mark.parametrize("rows", [1, 2, 5, 8])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_parts_make_up_the_batch(rows: int, size: int) -> None:
    batch = {"x": torch.arange(rows), "y": torch.arange(rows) * 2}
    parts = [Part(batch, rank, size) for rank in range(size)]
    assert sum(part.size for part in parts) == rows
    real = [part["x"] for part in parts if part.size]
    assert torch.equal(torch.cat(real), batch["x"])
    assert all(len(part["x"]) for part in parts)


@pytest.mark.parametrize("rows", [2, 3, 5, 8])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_part_is_a_single_row_where_rows_are_compared(rows: int, size: int) -> None:
    batch = {"x": torch.arange(rows)}
    parts = [Part(batch, rank, size, pairs=True) for rank in range(size)]
    assert torch.equal(torch.cat([part["x"] for part in parts if part.size]), batch["x"])
    assert all(len(part["x"]) > 1 for part in parts)
    text = export_script(iris(norm=True), catalogue(), distributed=True).text
    for rank in range(size):
        names: dict[str, Any] = {"RANK": rank, "WORLD": size}
        found = text[text.index("def part_of") : text.index("def over_all")].replace('"features"', '"x"')
        exec(f"from __future__ import annotations\n{found}", names)
        part, fraction = names["part_of"](batch)
        assert part["x"].tolist() == parts[rank]["x"].tolist() and fraction == parts[rank].size / rows


def test_what_differs_is_said() -> None:
    assert differences(run_of(iris(dropout=0.0))) == []
    found = differences(run_of(iris(dropout=0.5, norm=True)))
    assert len(found) == 2 and "Dropout" in found[0] and "Batch normalisation" in found[1]
