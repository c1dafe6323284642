"""Small projects for tests, written the way one draws them: a node, and what its ports are wired to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.catalogue import Catalogue, load_catalogue
from engine.document.document import Document
from engine.document.edits import AddNodes, Edit
from engine.document.files import load_project
from engine.document.graph import Link, Node, Project
from engine.shapes.problems import Problem
from engine.shapes.shapes import ShapeBook, check

if TYPE_CHECKING:
    from torch import Tensor, nn

    from engine.emit.program import Program

GALLERY = Path(__file__).parents[2] / "resources" / "gallery"
LARGE = ("gpt2-small",)  # without data, and too large to be run in a test
GALLERY_IDS = tuple(sorted({path.stem for path in GALLERY.glob("*.nloom")} - {*LARGE}))


@cache
def catalogue() -> Catalogue:
    return load_catalogue()


def gallery(project_id: str) -> Project:
    return load_project(GALLERY / f"{project_id}.nloom")


def configured(program: Program, model: nn.Module, steps_per_epoch: int, epochs: int) -> tuple[Any, Any]:
    """The optimiser of a plan's first objective, and its schedule."""
    player = program.phases[0].players(model, steps_per_epoch, epochs)[0]
    return player.optimiser, player.schedule


class Sketch:
    """A project that grows: `add` gives the new node's id; wires are "n1" or "n1.port"."""

    def __init__(self, title: str = "Sketch") -> None:
        self.project = Project(title)

    def add(self, type_id: str, name: str = "", params: dict[str, Any] | None = None, **wires: str) -> str:
        node = Node(self.project.new_id(), type_id, name, params or {}, (0, 0))
        links = []
        for port, start in wires.items():
            source, _, source_port = start.partition(".")
            links.append(Link(source, source_port or "output", node.id, port))
        AddNodes((node,), tuple(links)).apply(self.project)
        return node.id

    def plan(self, **changes: Any) -> Sketch:
        self.project.plan = self.project.plan.with_(**changes)
        return self

    def check(self) -> ShapeBook:
        return check(self.project, catalogue())


def classifier(units: int = 3, **head: Any) -> Sketch:
    """Iris, a hidden layer n2, a head n3 and cross-entropy n4."""
    sketch = Sketch("Small")
    data = sketch.add("Iris", "iris")
    hidden = sketch.add("Linear", "hidden", {"units": 8, "activation": "tanh"}, x=f"{data}.features")
    scores = sketch.add("Linear", "scores", {"units": units, **head}, x=hidden)
    sketch.add("CrossEntropy", "loss", prediction=scores, target=f"{data}.species")
    return sketch


def image(*shape: int) -> tuple[Sketch, str]:
    """A sketch with an Input of that shape."""
    sketch = Sketch()
    return sketch, sketch.add("Input", "image", {"shape": shape})


def through(shape: tuple[int, ...], type_id: str, params: dict[str, Any] | None = None) -> tuple[int, ...]:
    """The shape that leaves a layer which that shape enters. Fails where the layer has a problem."""
    sketch, start = image(*shape)
    layer = sketch.add(type_id, "layer", params, x=start)
    book = sketch.check()
    assert book.errors == [], book.errors
    found = book.signature(layer, catalogue().get(type_id)().outputs()[0].name)
    assert found is not None
    return found.shape


def flowers(*layers: tuple[str, str, dict[str, object]]) -> tuple[Sketch, str]:
    """Iris through the given layers to three scores and a loss; returns the last layer's id."""
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    last = f"{data}.features"
    for type_id, name, params in layers:
        last = sketch.add(type_id, name, params, x=last)
    scores = sketch.add("Linear", "scores", {"units": 3}, x=last)
    sketch.add("CrossEntropy", "loss", prediction=scores, target=f"{data}.species")
    return sketch, last


def coded(sketch: Sketch, code: str) -> list[Problem]:
    """The problems that a rule finds."""
    return [problem for problem in sketch.check().problems if problem.code == code]


def problem(sketch: Sketch, node_id: str | None, severity: str = "error") -> Problem:
    """The one problem of a node."""
    found = [one for one in sketch.check().of(node_id) if one.severity == severity]
    assert len(found) == 1, found
    return found[0]


def apply(project: Project, edits: Iterable[Edit]) -> None:
    for edit in edits:
        edit.apply(project)


def mended(sketch: Sketch, found: Problem) -> ShapeBook:
    """The book after the problem's fix, made as one step of a document."""
    assert found.fix is not None
    document = Document(sketch.project)
    with document.step(found.fix.label):
        for edit in found.fix.edits(document.project):
            document.apply(edit)
    sketch.project = document.project
    return sketch.check()


def line_of(values: dict[str, Any]) -> str:
    """A record as `--json` prints it."""
    return json.dumps(values)


def program_of(sketch: Sketch) -> Program:
    from engine.emit.program import compile_program

    return compile_program(sketch.project, catalogue())


def batch_of(program: Program, rows: int = 6) -> dict[str, Tensor]:
    """The first rows of the training data."""
    from engine.document.shipped import datasets_folder

    data = program.load(datasets_folder())
    return {name: column[:rows] for name, column in data["train"].items()}
