"""Transforms between data and network: steps of the script's `load`, and the problems of misplaced ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from engine.catalogue import load_catalogue
from engine.document.graph import Graph, Link, Node, Project
from engine.document.shipped import datasets_folder
from engine.emit.program import compile_program
from engine.shapes.shapes import check
from engine.train.sources import Sources

CATALOGUE = load_catalogue()


def chain(*transforms: Node, target: str = "") -> Project:
    """Diabetes, unscaled, through transforms n11, n12, ... to one dense layer; `target` is the target's."""
    nodes = [
        Node("n1", "Diabetes", params={"standardise": False, "standardise_target": False}),
        Node("n2", "Linear", params={"units": 1}),
        Node("n3", "MSE"),
        *transforms,
    ]
    ends = [("n1", "features")]
    links = []
    for node in transforms:
        if node.id != target:
            links.append(Link(*ends[-1], node.id, "x"))
            ends.append((node.id, "output"))
    links += [Link(*ends[-1], "n2", "x"), Link("n2", "output", "n3", "prediction")]
    if target:
        links += [Link("n1", "progression", target, "x"), Link(target, "output", "n3", "target")]
    else:
        links.append(Link("n1", "progression", "n3", "target"))
    return Project(graph=Graph(nodes, links), next_id=20)


def test_a_chain_of_transforms_becomes_lines_of_load_in_their_order() -> None:
    program = compile_program(
        chain(Node("n11", "Standardise", "scaled"), Node("n12", "Whiten", params={"components": 3})),
        CATALOGUE,
    )
    text = program.loading
    assert text.index('standardise(splits, "features", "scaled"') < text.index(
        'whiten(splits, "scaled", "whiten"'
    )
    data = program.load(datasets_folder())
    assert {tuple(sorted(columns)) for columns in data.values()} == {("progression", "whiten")}
    assert torch.allclose(data["train"]["whiten"].std(0, correction=0), torch.ones(3), atol=1e-3)
    assert data["test"]["whiten"].mean(0).abs().max() > 1e-3  # fitted on other rows
    line = next(at for at, one in enumerate(program.source.text.splitlines(), 1) if "whiten(splits" in one)
    assert program.source.node_at(line) == "n12"


def test_shapes_follow_transforms_and_a_target_may_have_one() -> None:
    project = chain(Node("n11", "Whiten", params={"components": 4}), Node("n12", "Standardise"), target="n12")
    book = check(project, CATALOGUE)
    assert not book.problems
    assert book.signature("n11", "output").shape == (4,)
    data = compile_program(project, CATALOGUE).load(datasets_folder())
    assert data["train"]["standardise"].std(correction=0).item() == pytest.approx(1, abs=1e-4)


def test_one_that_leads_nowhere_is_not_run_and_a_muted_one_passes_on() -> None:
    project = chain(Node("n11", "Standardise"), Node("n12", "Whiten", muted=True))
    graph = project.graph
    nodes = [*graph.nodes.values(), Node("n13", "Ranks"), Node("n14", "Ranks")]
    links = [*graph.links, Link("n1", "features", "n13", "x"), Link("n13", "output", "n14", "x")]
    text = compile_program(replace(project, graph=Graph(nodes, links)), CATALOGUE).loading
    assert "standardise(" in text and "ranks(" not in text and "whiten(" not in text


def test_after_a_layer_or_on_classes_it_is_a_problem_with_a_sentence() -> None:
    project = chain()
    nodes = [*project.graph.nodes.values(), Node("n11", "Standardise")]
    links = [link for link in project.graph.links if link.target_port != "prediction"]
    links += [Link("n2", "output", "n11", "x"), Link("n11", "output", "n3", "prediction")]
    (problem,) = check(replace(project, graph=Graph(nodes, links)), CATALOGUE).errors
    assert problem.node_id == "n11" and "connect it to data or another transform" in problem.message
    table = Graph([Node("n1", "Iris"), Node("n2", "Whiten")], [Link("n1", "species", "n2", "x")])
    unfit = Project(graph=table, next_id=3)
    book = check(unfit, CATALOGUE)
    (problem,) = book.errors
    assert problem.message == "Whiten needs measurements, but species holds whole numbers."
    assert book.as_trained(unfit) == (unfit, book)  # views ask for it while the problem stands


def test_data_are_read_again_when_a_transform_changes_and_only_then() -> None:
    sources = Sources(CATALOGUE, datasets_folder())
    project = chain(Node("n11", "Rescale", "r"))
    first = sources.loader(sources.program(project, 1), "cpu")()
    assert sources.loader(sources.program(project, 2), "cpu")() is first
    other = chain(Node("n11", "Rescale", "r", {"high": 2.0}))
    again = sources.loader(sources.program(other, 3), "cpu")()
    assert torch.allclose(again["train"]["r"], first["train"]["r"] * 2)
