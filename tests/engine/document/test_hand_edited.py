"""Project files that somebody changed by hand: one clear sentence each, from the loader or from the check."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from engine.document.files import from_text, to_text
from engine.emit.script import export_script
from engine.errors import EmitError, ProjectFileError
from engine.shapes.shapes import check
from tests.engine.sketches import catalogue, gallery

Data = dict[str, Any]


def edited(change: Callable[[Data], object]) -> str:
    data = json.loads(to_text(gallery("iris")))
    change(data)
    return json.dumps(data)


def drop(node_type: str) -> Callable[[Data], None]:
    """Takes out the nodes of a type, with their links."""

    def change(data: Data) -> None:
        gone = {node["id"] for node in data["nodes"] if node["type"] == node_type}
        data["nodes"] = [node for node in data["nodes"] if node["id"] not in gone]
        data["links"] = [link for link in data["links"] if not gone & {link[0], link[2]}]

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data["nodes"].append(dict(data["nodes"][1])), "n2"),
        (lambda data: data["links"].append(["n4", "output", "n99", "x"]), "n99"),
        (lambda data: data["links"].append(["n99", "output", "n4", "y"]), "n99"),
        (lambda data: data["links"].append(["n3", "output", "n2", "y"]), "cycle"),
        (lambda data: data["links"].append(["n3", "output", "n3", "y"]), "itself"),
        (lambda data: data["links"].append(["n1", "features", "n4", "x"]), "already fed"),
    ],
)
def test_what_is_no_graph_is_refused_by_the_loader(change: Callable[[Data], object], words: str) -> None:
    with pytest.raises(ProjectFileError, match=words) as error:
        from_text(edited(change))
    assert "\n" not in error.value.message


@pytest.mark.parametrize(
    ("change", "node_id", "words"),
    [
        (drop("Iris"), "n2", "nothing is connected"),
        (drop("Linear"), "n5", "nothing is connected"),
        (lambda data: data["links"].append(["n4", "output", "n5", "extra"]), "n5", "no input called 'extra'"),
        (lambda data: data["links"].append(["n5", "value", "n6", "more"]), "n6", "no input called 'more'"),
        (lambda data: data["nodes"][1].update(type="Perceptron9"), "n2", "does not know"),
        (lambda data: data["nodes"][1]["params"].update(units=2.5), "n2", "whole number"),
        (lambda data: data["nodes"][1]["params"].update(units=True), "n2", "whole number"),
        (lambda data: data["nodes"][1]["params"].update(units=[20]), "n2", "whole number"),
        (lambda data: data["nodes"][1]["params"].update(unit=20), "n2", "no parameter called 'unit'"),
        (lambda data: data["nodes"][1]["params"].update(activation="exec()"), "n2", "is one of"),
        (lambda data: data["nodes"][3]["params"].update(units=2), "n5", "3 classes, but 2 scores"),
        (lambda data: data["links"][0].__setitem__(1, "petals"), "n2", "'petals', which is no output"),
    ],
)
def test_what_is_a_graph_but_no_net_is_a_problem_of_a_node(
    change: Callable[[Data], object], node_id: str, words: str
) -> None:
    project = from_text(edited(change))
    before = to_text(project)
    found = [problem for problem in check(project, catalogue()).errors if problem.node_id == node_id]
    assert len(found) == 1 and words in found[0].message
    with pytest.raises(EmitError):
        export_script(project, catalogue())
    assert to_text(project) == before


def test_two_nodes_of_one_name_are_kept_apart() -> None:
    def rename(data: Data) -> None:
        for node in data["nodes"]:
            node["name"] = "same"

    text = export_script(from_text(edited(rename)), catalogue()).text
    assert "self.same = " in text and "self.same_2 = " in text and "self.same_3 = " in text


def test_a_net_without_measures_exports_its_model() -> None:
    def change(data: Data) -> None:
        drop("CrossEntropy")(data)
        drop("Accuracy")(data)

    project = from_text(edited(change))
    assert check(project, catalogue()).errors == []
    assert "def train" not in export_script(project, catalogue()).text


def test_a_file_exports_straight_after_it_was_opened() -> None:
    assert export_script(from_text(edited(lambda data: None)), catalogue()).text == (
        export_script(gallery("iris"), catalogue()).text
    )
