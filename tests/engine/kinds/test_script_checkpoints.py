"""Scripts for torchrun that were killed go on from their checkpoint, to the last bit."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest
import torch

from engine.document.graph import Project
from engine.emit.script import export_script
from tests.engine.emit.test_players import PLANS
from tests.engine.emit.test_players import iris as flowers
from tests.engine.kinds.steps import of_all
from tests.engine.sketches import catalogue
from tests.engine.train.networks import iris
from tests.engine.train.test_distributed import TORCHRUN, records


class Killed(Exception):
    """The script's process is gone."""


def module_of(text: str) -> ModuleType:
    """An exported script, imported."""
    module = ModuleType("exported")  # dataclasses look their module up
    module.__file__ = "exported.py"
    with patch.dict(sys.modules, {"exported": module}):
        exec(compile(text, "exported.py", "exec"), module.__dict__)
    return module


def printed(text: str, *words: str, killed_in: int = -1) -> list[dict[str, Any]]:
    """What a script prints; one that is killed in an epoch ends when it has shown what it measured."""
    module, out = module_of(text), io.StringIO()
    told = ["exported.py", "--json", "--device", "cpu", *words]
    with patch.dict(sys.modules, {"exported": module}), patch.object(sys, "argv", told):
        names = module.__dict__
        report = names["report"]

        def reporting(values: dict[str, float], as_json: bool) -> None:
            report(values, as_json)
            if values.get("epoch") == killed_in:
                raise Killed

        names["report"] = reporting
        with contextlib.redirect_stdout(out), contextlib.suppress(Killed):
            names["main"]()
    return [json.loads(line) for line in out.getvalue().splitlines()]


def resumes(project: Project, folder: Path, killed_in: int = 1) -> None:
    text = export_script(project, catalogue(), distributed=True).text
    whole = printed(text, "--save", str(folder / "whole.pt"))
    with_one = ("--checkpoint", str(folder / "kept.pt"))
    begun = printed(text, *with_one, killed_in=killed_in)
    assert begun == whole[: len(begun)] and len(begun) < len(whole)
    again = printed(text, *with_one, "--save", str(folder / "again.pt"))
    assert again == whole[-len(again) :] and again[0]["epoch"] == killed_in
    kept, other = (torch.load(folder / name, weights_only=True) for name in ("whole.pt", "again.pt"))
    assert kept.keys() == other.keys() and all(torch.equal(kept[name], other[name]) for name in kept)


@pytest.mark.parametrize("acts", [False, True], ids=["on data", "in an environment"])
def test_a_script_of_several_phases_goes_on_in_the_phase_that_it_was_in(acts: bool, tmp_path: Path) -> None:
    project = of_all(lambda kind: kind not in ("adversary", "Chain") and (kind == "Rollout") == acts)
    phases = tuple(replace(one, stop=replace(one.stop, epochs=2)) for one in project.plan.phases)
    project.plan = replace(project.plan, phases=phases)
    resumes(project, tmp_path, killed_in=2 * len(phases) - 1)


@pytest.mark.parametrize("name", PLANS)
def test_what_a_plan_asks_of_its_loop_goes_on(name: str, tmp_path: Path) -> None:
    resumes(flowers(PLANS[name]), tmp_path)


def test_each_of_two_processes_goes_on_with_its_own_random_numbers(tmp_path: Path) -> None:
    project = iris(dropout=0.5, epochs=2)
    one = replace(project.plan.objective, of=("n4",), name="head")
    both = (one, replace(one, of=("n2",), name="hidden"))
    for players in (None, both):  # of a plain plan, and of players that take turns
        if players is not None:
            phase = replace(project.plan.phases[0], objectives=players)
            project.plan = replace(project.plan, phases=(phase,))
        script = tmp_path / "flowers.py"
        script.write_text(export_script(project, catalogue(), distributed=True).text, "utf-8")
        kept = ("--json", "--device", "cpu", "--checkpoint", str(tmp_path / f"{bool(players)}.pt"))
        whole = records(*TORCHRUN, "2", str(script), *kept)
        again = records(*TORCHRUN, "2", str(script), *kept)
        assert 2 < len(again) < len(whole) and again == whole[-len(again) :]


class Drawing:
    """What torch has for each kind of device, as `torch.cuda`."""

    def __init__(self) -> None:
        self.state = torch.tensor([1, 2], dtype=torch.uint8)

    def get_rng_state(self) -> torch.Tensor:
        return self.state

    def set_rng_state(self, state: torch.Tensor) -> None:
        self.state = state


def test_random_numbers_of_the_models_device_go_on_too(tmp_path: Path) -> None:
    """A device without numbers stands in for a graphics card."""
    names = module_of(export_script(iris(), catalogue(), distributed=True).text).__dict__
    kept, shuffle, drawing = tmp_path / "kept.pt", torch.Generator(), Drawing()
    with torch.device("meta"), patch.object(torch, "get_device_module", {"meta": drawing}.__getitem__):
        model = names["Model"]()
        names["write_checkpoint"](kept, model, {"shuffle": shuffle.get_state()})
        wanted = torch.rand(3, device="cpu")
        drawing.state = drawing.state + 1
        state = torch.load(kept, map_location="cpu", weights_only=True)
        names["draw_on"](state, model, shuffle)
        assert drawing.state.tolist() == [1, 2] and torch.equal(torch.rand(3, device="cpu"), wanted)
        drawing.state = drawing.state + 1
        names["draw_on"](state, names["Model"]().to_empty(device="cpu"), shuffle)  # it goes on elsewhere
        assert drawing.state.tolist() == [2, 3] and torch.equal(torch.rand(3, device="cpu"), wanted)
