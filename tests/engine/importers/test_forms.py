"""Exports for torchrun, with weights and with the fast path open as the project they came from, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.document.plan import Choice, Minimise, Phase, Plan, Stop
from engine.emit.fast import Fast
from engine.emit.forms.form import Form
from engine.emit.forms.make import make_export
from engine.emit.script import export_script
from engine.importers.opening import open_python
from tests.engine.importers.reading import read, written
from tests.engine.sketches import catalogue, classifier, gallery

FASTER = Fast(channels_last=True, fused=True, autocast="cpu", compiled=True, threads=2, uniform_dropout=True)


@pytest.mark.parametrize("options", [{"distributed": True}, {"fast": FASTER}], ids=["torchrun", "fast"])
@pytest.mark.parametrize("project_id", ["mnist-cnn", "gan-digits"])
def test_a_form_of_a_script_opens_as_its_project(project_id: str, options: dict[str, Any]) -> None:
    project = gallery(project_id)
    opened = read(export_script(project, catalogue(), **options).text)
    assert not opened.findings
    assert written(opened.project) == written(project)
    assert opened.project.plan.fast == ("fast" in options)


@pytest.mark.parametrize("form", [Form.PACKAGE, Form.NOTEBOOK])
def test_packages_and_notebooks_open_as_their_project(form: Form, tmp_path: Path) -> None:
    project = gallery("iris")
    target = tmp_path / ("iris" if form is Form.PACKAGE else "iris.ipynb")
    made = make_export(project, catalogue(), target, form)
    for place, source in made.files.items():
        path = made.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source.text, "utf-8")
    opened = open_python(target, catalogue())
    assert [str(one) for one in opened.findings] == []
    assert written(opened.project) == written(project)


def test_weights_beside_a_script_are_named() -> None:
    project = classifier().project
    opened = read(export_script(project, catalogue(), weights="net.safetensors").text)
    assert [one.message for one in opened.findings] == [
        "The weights in net.safetensors are no part of a project; a run begins with them by --weights."
    ]
    assert written(opened.project) == written(project)


SGD = Choice("SGD", {"lr": 0.05})
PLANS = {
    "gathered": [Phase((Minimise(accumulate=4, clip=1.0, noise=0.1),), Stop(30, 5))],
    "averaged": [
        Phase(
            (Minimise(average=Choice("EMA", {"decay": 0.99}), schedule=Choice("Cosine")),),
            Stop(30, restore_best=False),
        )
    ],
    "watched": [Phase((Minimise(schedule=Choice("Plateau"), average=Choice("SWA")),), Stop(30, 4))],
    "stopped": [
        Phase(
            (Minimise(),),
            Stop(
                30,
                4,
                also=(
                    Choice("GradientNorm", {"below": 0.01}),
                    Choice("Seconds", {"seconds": 5.0}),
                    Choice("Reaches", {"monitor": "val_loss", "value": 0.3}),
                ),
            ),
        )
    ],
    "phases": [
        Phase((Minimise(of=("n2",)),), Stop(5), name="hidden first"),
        Phase((Minimise(optimiser=SGD, schedule=Choice("Cosine")),), Stop(7, 3), name="all", batch=32),
    ],
    "objectives": [
        Phase((Minimise(of=("n2",), name="low"), Minimise(of=("n3",), name="high", every=2)), Stop(5)),
        Phase((Minimise(of=("n2",), accumulate=2, name="again"),), Stop(7, 3), name="last", batch=0),
    ],
}


@pytest.mark.parametrize("name", PLANS)
def test_plans_in_the_long_form_are_read(name: str) -> None:
    project = classifier().project
    project.plan = Plan(tuple(PLANS[name]), 16)
    text = written(project)
    assert "PHASES = (" in text
    opened = read(text)
    assert not opened.findings
    assert written(opened.project) == text
