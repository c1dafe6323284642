"""Exported scripts, run: they print what the loop computes, and every control of the plan counts."""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.document.plan import Choice
from engine.document.shipped import datasets_folder
from engine.emit.program import Program
from engine.emit.script import write_script
from tests.engine.emit.test_script import CONTROLS, HOSTILE
from tests.engine.sketches import (
    Sketch,
    catalogue,
    classifier,
    configured,
    line_of,
    program_of,
)


def test_the_script_prints_what_the_loop_computes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The loop as it is agreed on, written out once more beside the exported one."""
    sketch = classifier().plan(batch=16, epochs=4, patience=1, optimiser=Choice("Adam", {"lr": 0.05}))
    sketch.add("Accuracy", "accuracy", prediction="n3", target="n1.species")
    program = program_of(sketch)
    lines = list(agreed_loop(program, epochs=4, seed=7))
    assert run(program.source.text, tmp_path, "--epochs", "4", "--seed", "7") == lines


def agreed_loop(program: Program, epochs: int, seed: int) -> list[str]:
    lines = []
    torch.manual_seed(seed)
    model = program.Model()
    data = program.load(datasets_folder())
    steps_per_epoch = -(-len(next(iter(data["train"].values()))) // program.plan.batch)
    optimiser, schedule = configured(program, model, steps_per_epoch, epochs)
    shuffle = torch.Generator().manual_seed(seed)
    step, best, waited, kept = 0, float("inf"), 0, None
    for epoch in range(epochs):
        for batch in program.batches(data["train"], shuffle):
            optimiser.zero_grad()
            loss = program.objective(model, batch)["loss"]
            loss.backward()
            optimiser.step()
            if schedule:
                schedule.step()
            step += 1
            lines.append(line_of({"step": step, "epoch": epoch, "loss": loss.item()}))
        found = program.evaluate(model, data["validation"])
        lines.append(line_of({"epoch": epoch, **{f"val_{name}": value for name, value in found.items()}}))
        if found["loss"] < best:
            best, waited = found["loss"], 0
            kept = {name: value.clone() for name, value in model.state_dict().items()}
        else:
            waited += 1
            if waited == program.plan.patience:
                break
    if kept is not None and program.plan.stop.restore_best:
        model.load_state_dict(kept)
    found = program.evaluate(model, data["test"])
    return [*lines, line_of({f"test_{name}": value for name, value in found.items()})]


def run(text: str, folder: Path, *arguments: str, json_lines: bool = True) -> list[str]:
    """What a script prints, run as the main module of this process."""
    path = folder / "script.py"
    path.write_text(text, encoding="utf-8")
    data = ("--data", str(datasets_folder())) if '"--data"' in text else ()
    wanted = [str(path), *arguments, *data, *(("--json",) if json_lines else ()), "--device", "cpu"]
    before, sys.argv = sys.argv, wanted if "--json" in text else [str(path)]
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_path(str(path), run_name="__main__")
    finally:
        sys.argv = before
    return out.getvalue().splitlines()


@pytest.mark.parametrize(
    "changes", [changes for changes, _ in CONTROLS if changes != {"optimiser": Choice("Adam")}], ids=str
)
def test_every_control_of_the_plan_changes_what_is_computed(changes: dict[str, Any], tmp_path: Path) -> None:
    base: dict[str, Any] = {"epochs": 9, "batch": 64}
    if "optimiser" in changes:
        base["optimiser"] = Choice(changes["optimiser"].name)
    if "schedule" in changes:
        base["schedule"] = Choice("Constant")
    if "patience" in changes:
        base["optimiser"] = Choice("SGD", {"lr": 50.0})
        changes = {"patience": 1}
    if changes == {"optimiser": Choice("AdamW")} or changes == {"optimiser": Choice("SGD", {"lr": 0.5})}:
        base["optimiser"] = Choice("Adam")
    before = run(program_of(classifier().plan(**base)).source.text, tmp_path)
    after = run(program_of(classifier().plan(**{**base, **changes})).source.text, tmp_path)
    assert before != after


def test_keeping_the_best_weights_changes_the_test_values(tmp_path: Path) -> None:
    wild = {"optimiser": Choice("SGD", {"lr": 50.0}), "epochs": 6}
    best = run(program_of(classifier().plan(**wild, restore_best=True)).source.text, tmp_path)
    last = run(program_of(classifier().plan(**wild, restore_best=False)).source.text, tmp_path)
    assert best[:-1] == last[:-1] and best[-1] != last[-1]


@pytest.mark.parametrize("name", ["Constant", "Step", "Cosine", "WarmUp"])
def test_no_epochs_at_all_still_gives_the_test_values(name: str, tmp_path: Path) -> None:
    text = program_of(classifier().plan(schedule=Choice(name))).source.text
    [line] = run(text, tmp_path, "--epochs", "0")
    assert list(json.loads(line)) == ["test_loss"]


def test_a_loss_that_is_not_finite_ends_the_script_with_a_sentence(tmp_path: Path) -> None:
    text = program_of(classifier().plan(optimiser=Choice("SGD", {"lr": 1e38}), epochs=3)).source.text
    with pytest.raises(SystemExit, match=r"The loss is (nan|inf)"):
        run(text, tmp_path)


def test_trained_weights_are_saved_and_load_back_into_the_class(tmp_path: Path) -> None:
    text = program_of(classifier().plan(epochs=1)).source.text
    run(text, tmp_path, "--save", str(tmp_path / "weights.pt"))
    weights = torch.load(tmp_path / "weights.pt", weights_only=True)
    model = program_of(classifier()).Model()
    model.load_state_dict(weights)


def test_weights_beside_the_script_are_where_it_starts(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    program = program_of(classifier())
    model = program.Model()
    save_file(model.state_dict(), tmp_path / "start.safetensors")
    data = program.load(datasets_folder())
    text = write_script(program.project, catalogue(), weights="start.safetensors").plain.text
    [line] = run(text, tmp_path, "--epochs", "0")
    assert json.loads(line)["test_loss"] == program.evaluate(model, data["test"])["loss"]


@pytest.mark.parametrize("whole", [False, True])
def test_a_model_without_data_says_what_comes_out(whole: bool, tmp_path: Path) -> None:
    sketch = Sketch()
    start = sketch.add("Input", "words", {"shape": (12,), "whole": whole})
    last = sketch.add("Embedding", "table", {"size": 4}, x=start) if whole else start
    sketch.add("Linear", "head", {"units": 2}, x=last)
    lines = run(program_of(sketch).source.text, tmp_path)
    assert lines == (["4,010 parameters", "(2, 12, 2)"] if whole else ["26 parameters", "(2, 2)"])


def test_help_works_whatever_the_title(tmp_path: Path) -> None:
    for text in HOSTILE:
        sketch = classifier()
        sketch.project.title = text
        with pytest.raises(SystemExit) as error:
            run(program_of(sketch).source.text, tmp_path, "--help")
        assert error.value.code == 0
