"""The reading of data is told and can be ended: by a stop, another start, and an edit that reads others."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.catalogue import load_catalogue
from engine.data import telling
from engine.data.loading.node import read_node
from engine.data.open.opening import open_data
from engine.document.edits import SetParam
from engine.document.graph import Project
from engine.document.shipped import datasets_folder
from engine.emit.script import export_script
from engine.train import sources
from engine.train.trainer import Trainer
from tests.engine.sketches import Sketch

COUNT = 40


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for at in range(COUNT):
        path = tmp_path / "ab"[at % 2] / f"{at}.png"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(np.full((4, 4), 6 * at, np.uint8)).save(path)
    opened = open_data(tmp_path)
    sketch = Sketch("Images")
    data = sketch.add(opened.type, opened.name, {**opened.params, "threads": 0})
    flat = sketch.add("Flatten", "flat", x=f"{data}.image")
    scores = sketch.add("Linear", "scores", {"units": 2}, x=flat)
    sketch.add("CrossEntropy", "loss", prediction=scores, target=f"{data}.label")
    return sketch.plan(epochs=1, batch=4).project


class Halted:
    """Holds a trainer's reading up at the tenth image of each reading until it is let go."""

    def __init__(self, trainer: Trainer) -> None:
        self.there, self.go = threading.Event(), threading.Event()
        heard = trainer._sources._heard

        def held(nodes: Any, done: int, count: int, what: str) -> None:
            if done == 10:
                self.there.set()
                assert self.go.wait(20)
            heard(nodes, done, count, what)

        trainer._sources._heard = held  # type: ignore[method-assign]


@pytest.fixture
def trainer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Trainer]:
    monkeypatch.setattr(sources, "BETWEEN", 0.0)
    made = Trainer(load_catalogue(), datasets_folder())
    yield made
    assert made.close()


def test_a_stop_ends_the_reading(project: Project, trainer: Trainer) -> None:
    halted = Halted(trainer)
    trainer.start(project)
    assert halted.there.wait(20)
    assert trainer.state == "loading" and trainer.reading == f"Reading 9 of {COUNT} images …"
    trainer.stop()
    halted.go.set()
    assert trainer.wait(20) and trainer.state == "idle"
    assert trainer.reading == "" and trainer.data is None and trainer.error is None
    trainer.start(project)  # and it can be read again
    assert trainer.wait(20) and trainer.state == "finished"


def test_closing_ends_the_reading(project: Project, trainer: Trainer) -> None:
    halted = Halted(trainer)
    trainer.prepare(project)
    assert halted.there.wait(20)
    threading.Timer(0.05, halted.go.set).start()
    assert trainer.close() and trainer.data is None


def test_an_edit_of_the_data_ends_the_reading_of_what_they_were(project: Project, trainer: Trainer) -> None:
    halted = Halted(trainer)
    trainer.prepare(project)
    assert halted.there.wait(20)
    other = project.copy()
    SetParam("n1", "size", 3).apply(other)
    trainer.update(other)
    halted.go.set()
    assert trainer.wait(20) and trainer.data is not None
    assert trainer.data["train"]["image"].shape[2:] == (3, 3)


def test_what_is_read_for_pictures_serves_the_run_that_begins(project: Project, trainer: Trainer) -> None:
    halted = Halted(trainer)
    trainer.prepare(project)
    assert halted.there.wait(20)
    trainer.start(project)
    halted.go.set()
    assert trainer.wait(20) and trainer.state == "finished"


def test_an_edit_while_a_run_begins_is_taken_over(project: Project, trainer: Trainer) -> None:
    halted = Halted(trainer)
    trainer.start(project)
    assert halted.there.wait(20)
    other = project.copy()
    SetParam("n1", "size", 3).apply(other)
    trainer.update(other)
    halted.go.set()
    assert trainer.wait(20) and trainer.state == "finished"


def test_leaving_out_what_is_unreadable_tells_too(project: Project) -> None:
    SetParam("n1", "unreadable", "leave out").apply(project)
    told: list[tuple[int, int, str]] = []
    with telling.listening(lambda *found: told.append(found)):
        read_node(project.graph.node("n1"), load_catalogue())
    tried = "images"
    assert told == [
        *((at, COUNT, tried) for at in range(COUNT)),
        (1, COUNT, "images"),  # to know how deep they are
        *((at + 1, COUNT, "images") for at in range(COUNT)),
    ]

    class Enough(Exception):
        pass

    def enough(done: int, *_: object) -> None:
        if done == 5:
            raise Enough

    with telling.listening(enough), pytest.raises(Enough):
        read_node(project.graph.node("n1"), load_catalogue())


def test_a_script_keeps_it_to_itself(project: Project) -> None:
    text = export_script(project, load_catalogue()).text
    assert "tell(" not in text and "listener" not in text
