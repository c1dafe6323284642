"""A procedure run in the three ways there are: here, by `neuroloom run`, and by an exported script."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from engine.cli import main as cli
from engine.document.files import save_project
from engine.document.graph import Project
from engine.document.shipped import datasets_folder
from engine.emit.procedures import Compiled
from engine.emit.program import Program, compile_program
from engine.emit.writing import export
from engine.look.sight import evaluating
from engine.procedures.declare import Offer
from engine.procedures.registry import offer_called, offers
from engine.runs.checkpoints import write_tensors
from tests.engine.sketches import catalogue
from tests.warm import python

States = list[dict[str, Any]]


def offered(program: Program, name: str) -> Offer:
    return offer_called(offers(program.project, program.book), name)


def names_of(project: Project) -> list[str]:
    program = compile_program(project, catalogue())
    return [one.name for one in offers(program.project, program.book)]


def loaded(project: Project) -> tuple[Program, nn.Module, dict[str, dict[str, Tensor]]]:
    """A program, a model of it with weights that are not near 0, and its data."""
    program = compile_program(project, catalogue())
    torch.manual_seed(7)
    model = program.make_model("cpu")
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(0.5 * torch.randn_like(weight))
    return program, model, program.load(datasets_folder())


def states_of(
    program: Program, model: nn.Module, batch: dict[str, Tensor], name: str, seed: int = 0, **values: Any
) -> States:
    with evaluating(model):
        return list(Compiled(program, offered(program, name)).states(model, batch, values, seed))


def in_three_ways(
    project: Project, folder: Path, capsys: pytest.CaptureFixture[str], name: str, **values: Any
) -> tuple[States, States, States]:
    """The states as JSON: run here, by `neuroloom run`, and by the exported script on its own."""
    program, model, data = loaded(project)
    save_project(project, folder / "net.nloom")
    write_tensors(folder / "net.safetensors", dict(model.state_dict()))
    words = ["--seed", "3", "--json", "--device", "cpu", "--weights", str(folder / "net.safetensors")]
    for option, value in values.items():
        many = [str(one) for one in value] if isinstance(value, tuple) else [str(value)]
        words += [f"--{option.replace('_', '-')}", *many]
    default = next((spec.default for spec in offered(program, name).params if spec.name == "rows"), (0,))
    rows = list(values.get("rows", default))
    batch = {key: column[rows] for key, column in data[values.get("split", "validation")].items()}
    torch.manual_seed(3)
    here = [
        json.loads(json.dumps(one, default=Tensor.tolist))
        for one in states_of(program, model, batch, name, 3, **values)
    ]
    capsys.readouterr()
    assert cli.main(["run", str(folder / "net.nloom"), name, *words]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    script = folder / "alone" / "net.py"
    export(project, catalogue(), script, with_data=True, procedures=[name])
    done = subprocess.run(
        [python(), str(script), name, *words],
        capture_output=True,
        text=True,
        timeout=120,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return here, told, [json.loads(line) for line in done.stdout.splitlines()]
