"""For every data set: the network that is drawn for it can be trained at once."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from engine.catalogue import Data, load_catalogue
from engine.document.document import Document
from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Plan
from engine.document.shipped import datasets_folder
from engine.feed.feed import Feed
from engine.runs.settings import Settings, Stage
from engine.shapes.shapes import check
from engine.train.advice.health import Health
from engine.train.begin import begin_run
from engine.train.headless import run_headless
from engine.train.sources import Sources
from tests.engine.data.public_made import public_folder
from tests.gallery.recipes import FITTING, OPENED, opened

CATALOGUE = load_catalogue()
DATA = [found.type_id for found in CATALOGUE.types() if found.kind == "data"]

ALONE = {"TextPairs"}  # a translator is no first network
TRAINED = (
    *("TableFile", "ImageFolder", "ArrayFile", "CloudFile", "GraphFolder", "SeriesFile", "TextCorpus"),
    *("LabelledText", "DrawnPoints", "Diabetes"),
)


def project_of(type_id: str, **changes: object) -> Project:
    params = opened(type_id) if type_id in OPENED else FITTING.get(type_id, {})
    kind = CATALOGUE.get(type_id)
    if kind.public:
        params = {"path": str(public_folder(kind.public))}
    node = Node("n1", type_id, "data", {**params, **changes})
    return Project(graph=Graph([node]), plan=Plan(), next_id=2)


def drawn(project: Project) -> Document:
    problem = next(one for one in check(project, CATALOGUE).problems if one.code == "no-layer")
    assert problem.fix is not None and problem.fix.label == "Draw a small network"
    document = Document(project)
    with document.step(problem.fix.label):
        for edit in problem.fix.edits(project):
            document.apply(edit)
    return document


@pytest.mark.parametrize("type_id", DATA)
def test_a_network_is_drawn_that_fits(type_id: str) -> None:
    if type_id == "Gymnasium" and find_spec("gymnasium") is None:
        pytest.skip("the gymnasium package is not installed: its environments were not tried")
    project = project_of(type_id)
    data = check(project, CATALOGUE).types.get("n1")
    assert isinstance(data, Data)
    if type_id in ALONE:
        assert all(one.fix is None for one in check(project, CATALOGUE).problems if one.code == "no-layer")
        return
    document = drawn(project)
    assert [one.message for one in check(document.project, CATALOGUE).errors] == []
    document.undo()
    assert list(document.project.graph.nodes) == ["n1"] and document.project.plan == Plan()


BY_HAND = {"Iris": ("features", "species", 0.9), "Digits": ("image", "digit", 0.95)}


@pytest.mark.parametrize("way", ["drawn", "by hand"])
@pytest.mark.parametrize("type_id", BY_HAND)
def test_a_new_project_reaches_a_sensible_result_by_its_defaults(type_id: str, way: str) -> None:
    entry, target, least = BY_HAND[type_id]
    project = drawn(project_of(type_id)).project
    if way == "by hand":  # one dense layer and the loss, in the plan that the data brought
        nodes = (
            Node("n1", type_id, "data"),
            Node("n2", "Flatten"),
            Node("n3", "Linear", "classes", {"units": 3 if type_id == "Iris" else 10}),
            Node("n4", "CrossEntropy"),
            Node("n5", "Accuracy"),
        )
        links = [Link("n2", "output", "n3", "x"), Link("n1", entry, "n2", "x")]
        links += [Link("n3", "output", end, "prediction") for end in ("n4", "n5")]
        links += [Link("n1", target, end, "target") for end in ("n4", "n5")]
        project = Project(graph=Graph(nodes, links), plan=project.plan, next_id=6)
    done = run_headless(project, CATALOGUE, datasets_folder(), device="cpu")
    assert done.results["test_accuracy"] >= least


@pytest.mark.parametrize("type_id", ["Iris", "Wine", "BreastCancer", "Diabetes"])
def test_a_first_network_ends_before_it_learns_by_heart(type_id: str) -> None:
    project = drawn(project_of(type_id)).project
    assert project.plan.patience is not None
    sources = Sources(CATALOGUE, datasets_folder())
    program = sources.program(project, 1)
    settings = Settings.of(project.plan, device="cpu")
    run = begin_run(program, CATALOGUE, sources.loader(program, "cpu"), settings, Feed(), 1)
    health, found = Health(), list[str]()
    while run.stage is not Stage.DONE:
        run.advance()
        found += [one.what for one in health.look(run)]
    assert found == [] and len(run.history) < project.plan.epochs


@pytest.mark.parametrize("type_id", TRAINED)
def test_it_learns(type_id: str) -> None:
    project = drawn(project_of(type_id)).project
    losses: list[float] = []
    done = run_headless(
        project,
        CATALOGUE,
        datasets_folder(),
        epochs=4,
        device="cpu",
        on_line=lambda record: losses.append(record["loss"]) if "loss" in record else None,
    )
    assert done.state == "finished" and losses[-1] < losses[0]
