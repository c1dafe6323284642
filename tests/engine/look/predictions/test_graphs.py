"""The nodes of a graph and graphs as wholes, with the class that a network predicts for them."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import torch

from engine.document.document import Document
from engine.document.edits import AddNodes, Connect, Remove, SetParam
from engine.document.graph import Link, Node
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.asking import ask_rows, asked
from engine.look.predictions.graphs import graphs
from engine.look.sight import Look
from engine.train.loop import Run
from engine.values import Value
from tests.engine.look.taking import take
from tests.engine.sketches import gallery
from tests.engine.train.networks import DATASETS, run_of

FILES = DATASETS / "files"


def karate(**params: Value) -> Run:
    document = Document(gallery("karate-club"))
    with document.step("Set"):
        for name, value in params.items():
            document.apply(SetParam("n1", name, value))
    return run_of(document.project)


def named(run: Run, name: str) -> str:
    return next(one.id for one in run.program.project.graph.nodes.values() if one.name == name)


@pytest.mark.parametrize("params", [{}, {"balance": "repeat the rare"}, {"seed": 3}])
def test_the_nodes_of_a_graph_in_a_file_have_their_own_answers(params: dict[str, Value]) -> None:
    """Right classes are compared with the file's own table of nodes, edges with its list."""
    run = karate(**params)
    [found] = take(run, Probe("n3", "graphs"), steps=60)
    with (FILES / "karate.nodes.csv").open() as file:
        table = list(csv.DictReader(file))
    names = found.extra["names"]
    of_name = {row["member"]: row["club"] for row in table}
    lines = [line.split()[:2] for line in (FILES / "karate.edges").read_text().splitlines()[1:]]
    order = list(dict.fromkeys([row["member"] for row in table]))
    assert [names[one] for one in found.extra["right"]] == [of_name[one] for one in order]
    drawn = {frozenset(order[end] for end in pair) for pair in found.extra["edges"].tolist()}
    assert drawn == {frozenset(pair) for pair in lines}
    assert found.extra["places"].shape == (34, 2) and np.isfinite(found.extra["places"]).all()

    look = Look.of(run, 0)
    answers = ask_rows(look, asked(look, "n3"), range(look.rows("validation")), "validation")
    hits = int((answers.scores.argmax(1) == answers.right).sum())
    assert (found.extra["hits"], found.extra["looked_at"]) == (hits, look.rows("validation"))
    assert (found.array == found.extra["right"]).mean() > 0.8


def test_graphs_side_by_side_have_the_class_of_the_whole() -> None:
    run = run_of(gallery("graph-classes"))
    [found] = take(run, Probe(named(run, "kind"), "graphs"), steps=3, pinned=4)
    facts, columns = found.extra, run.data["validation"]
    assert facts["each"] == "graph" and facts["rows"][0] == 4 and len(facts["rows"]) <= 12
    starts = np.cumsum([0, *facts["sizes"]])
    for index, row in enumerate(facts["rows"]):
        assert facts["sizes"][index] == int(columns["sizes"][row])
        inside = slice(starts[index], starts[index + 1])
        assert set(facts["right"][inside].tolist()) == {int(columns["label"][row])}
        assert len(set(found.array[inside].tolist())) == 1
        ends = {frozenset(pair) for pair in columns["edges"][row].tolist() if pair[0] != pair[1]}
        first = int(facts["joined"][:index].sum())
        drawn = facts["edges"][first : first + facts["joined"][index]] - starts[index]
        assert {frozenset(pair) for pair in drawn.tolist()} == ends


@pytest.mark.parametrize("layer", ["Linear", "GraphConvolution"])
def test_a_whole_graph_is_coloured_node_by_node(layer: str) -> None:
    """The matrix of edges is among the data only where a layer takes it."""
    document = Document(gallery("karate-club"))
    with document.step("Take it whole"):
        document.apply(SetParam("n1", "examples", "whole graph"))
        document.apply(Remove(("n2",)))
        document.apply(AddNodes((Node("n2", layer, "hidden", {"units": 8}),)))
        document.apply(Connect(Link("n2", "output", "n3", "x")))
        document.apply(Connect(Link("n1", "nodes", "n2", "x" if layer == "Linear" else "nodes")))
        if layer == "GraphConvolution":
            document.apply(Connect(Link("n1", "adjacency", "n2", "edges")))
    run = run_of(document.project)
    [found] = take(run, Probe("n3", "graphs"), steps=5)
    data = run.data["validation"]
    assert found.extra["right"].tolist() == data["label"][0].tolist()
    assert found.extra["looked_at"] == 34 and found.extra["places"].shape == (34, 2)
    ends = {frozenset(pair) for pair in found.extra["edges"].tolist()}
    assert len(ends) == 78 and len(found.extra["edges"]) == 78
    assert found.extra["hits"] == int((found.array == found.extra["right"]).sum())
    with torch.no_grad():
        scores = Look.of(run, 0).values({"n3"}, data)["n3"]["output"]
    assert found.array.tolist() == scores[0].argmax(-1).tolist()


def test_data_that_are_no_graph_say_so() -> None:
    run = run_of(gallery("iris"))
    with pytest.raises(NeuroloomError, match="no graph"):
        graphs(Look.of(run, 0), Probe(named(run, "species"), "graphs"))
