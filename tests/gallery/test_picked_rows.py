"""Rows that are dealt together, left out or drawn again, and weights of classes, are so in exports, too."""

from __future__ import annotations

import json

import pytest

from engine.catalogue import load_catalogue
from engine.document.edits import SetParam
from engine.document.graph import Project
from engine.document.shipped import datasets_folder
from engine.emit.script import write_script
from engine.shapes.shapes import check
from engine.train.headless import run_headless
from engine.values import Value
from tests.gallery.recipes import recipes
from tests.gallery.running import Export, printed_by

CATALOGUE = load_catalogue()
RECIPES = recipes()
SEED = 3
ONCE, TOGETHER = {"repeats": "left out"}, {"repeats": "in one split"}
RARE, COMMON = {"balance": "repeat the rare"}, {"balance": "thin the common"}
PICKED: dict[str, tuple[str, dict[str, Value]]] = {
    "table": ("TableFile", ONCE | RARE),
    "arrays": ("ArrayFile", TOGETHER | COMMON),
    "arrays that stay in their file": ("ArrayFile", ONCE | RARE | {"memory": 0}),
    "images": ("ImageFolder", ONCE | RARE),
    "images that stay in their files": ("ImageFolder", TOGETHER | COMMON | {"memory": 0}),
    "texts": ("LabelledText", ONCE | RARE),
    "pairs": ("TextPairs", TOGETHER),
    "clouds": ("CloudFile", ONCE | RARE),
    "points": ("DrawnPoints", ONCE | RARE),
}


def project_of(name: str) -> Project:
    type_id, params = PICKED[name]
    project = RECIPES[type_id].copy()
    for key, value in params.items():
        SetParam("n1", key, value).apply(project)
    for node in list(project.graph.nodes.values()):
        if node.type == "CrossEntropy":
            scores = check(project, CATALOGUE).input_signature(node.id, "prediction")
            assert scores is not None
            weights = tuple(1.0 + at for at in range(scores.shape[-1]))
            SetParam(node.id, "class_weights", weights).apply(project)
    return project


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str] | str]:
    """What each exported script printed."""
    exports = {
        name: Export(write_script(project_of(name), CATALOGUE), ("--seed", str(SEED))) for name in PICKED
    }
    return printed_by(exports, tmp_path_factory.mktemp("exports"))


@pytest.mark.parametrize("name", PICKED)
def test_an_export_trains_on_the_same_rows(name: str, printed: dict[str, list[str] | str]) -> None:
    lines: list[str] = []
    run_headless(
        project_of(name),
        CATALOGUE,
        datasets_folder(),
        seed=SEED,
        device="cpu",
        on_line=lambda record: lines.append(json.dumps(record)),
    )
    assert printed[name] == lines


def test_a_script_carries_no_more_than_it_needs() -> None:
    plain = write_script(RECIPES["TableFile"], CATALOGUE).plain.text
    assert "def first_equals" not in plain and "repeats=" not in plain
    picked = write_script(project_of("table"), CATALOGUE).plain.text
    assert "repeats=" not in picked and " equals_once(" in picked and "rare_repeated(" in picked
    assert "def equals_once" in picked and "def equals_together" not in picked
