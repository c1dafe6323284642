"""An export is run beside the application: equal, different, failing, and ended before its end."""

from __future__ import annotations

from pathlib import Path
from time import sleep

import psutil
import pytest
import torch
from safetensors.torch import save_file

from engine.document.graph import Project
from engine.emit.fast import Fast
from engine.emit.forms.form import Export, Form
from engine.emit.forms.make import make_export
from engine.emit.program import compile_program
from engine.emit.writing import write
from engine.errors import NeuroloomError
from engine.train.verify.comparison import Comparison
from engine.train.verify.verification import Verification
from tests.engine.sketches import catalogue, classifier, gallery, image

pytestmark = pytest.mark.usefixtures("warm_python")


def written(project: Project, place: Path, form: Form = Form.SCRIPT, *, with_data: bool = False) -> Export:
    made = make_export(project, catalogue(), place, form, with_data=with_data)
    write(made)
    return made


def result(both: Verification) -> Comparison:
    try:
        while not (found := both.look()).over:
            sleep(0.05)
        return found
    finally:
        both.close()


def test_a_short_run_is_compared_to_its_end_with_the_data_that_lie_beside_it(tmp_path: Path) -> None:
    project = gallery("penguins")
    project.plan = project.plan.with_(epochs=1)
    made = written(project, tmp_path / "net.py", with_data=True)
    found = result(Verification(made, project, steps=10_000, with_data=True))
    assert found.equal and found.steps > 5 and len(found.rows) == found.steps


def test_a_notebook_finds_the_data_where_they_are(tmp_path: Path) -> None:
    project = gallery("penguins")
    made = written(project, tmp_path / "net.ipynb", Form.NOTEBOOK)
    both = Verification(made, project, steps=5)
    found = result(both)
    assert found.equal and found.steps == 5 and both.fraction == 1.0


def test_a_package_that_was_changed_differs_where_it_first_does(tmp_path: Path) -> None:
    project = classifier().plan(epochs=2).project
    made = written(project, tmp_path, Form.PACKAGE)
    place = tmp_path / "small" / "config.py"
    place.write_text(place.read_text("utf-8").replace("rate: float = 0.001", "rate: float = 0.002"), "utf-8")
    found = result(Verification(made, project, steps=5))
    assert found.difference is not None and found.difference.where == "Step 2, loss"
    assert found.difference.application != found.difference.export
    assert found.steps == 1


def test_weights_and_settings_of_the_fast_path_are_the_applications_too(tmp_path: Path) -> None:
    project = classifier().plan(epochs=1).project
    torch.manual_seed(7)
    weights = tmp_path / "w.safetensors"
    save_file(compile_program(project, catalogue()).Model().state_dict(), weights)
    fast = Fast(fused=True, threads=1)
    made = make_export(project, catalogue(), tmp_path / "net.py", with_weights=True, fast=fast)
    write(made, weights)
    assert result(Verification(made, project, steps=3, weights=weights, fast=fast)).equal


def test_an_export_that_fails_says_why(tmp_path: Path) -> None:
    project = classifier().project
    made = written(project, tmp_path / "net.py")
    text = (tmp_path / "net.py").read_text("utf-8")
    (tmp_path / "net.py").write_text(text.replace("optimiser.step()", "raise SystemExit('No.')"), "utf-8")
    with pytest.raises(NeuroloomError, match=r"The export ended after 0 steps: No\."):
        result(Verification(made, project, steps=3))


def test_both_processes_end_when_it_is_closed(tmp_path: Path) -> None:
    project = classifier().plan(epochs=100_000).project
    before = set(psutil.Process().children())
    both = Verification(written(project, tmp_path / "net.py"), project, steps=10**9)
    started = set(psutil.Process().children()) - before
    assert len(started) == 2
    both.close()
    assert not any(one.is_running() for one in started)


def test_what_trains_nothing_is_refused(tmp_path: Path) -> None:
    sketch, start = image(3, 8, 8)
    sketch.add("Conv2d", "conv", x=start)
    with pytest.raises(NeuroloomError, match="nothing to train"):
        Verification(written(sketch.project, tmp_path / "net.py"), sketch.project)
