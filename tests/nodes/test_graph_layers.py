"""Layers for graphs and sets: right values, both forms alike, and sentences where wires do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.catalogue import load_catalogue
from engine.data.open.opening import open_data
from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Plan
from engine.emit.program import compile_program
from engine.emit.script import export_script
from engine.errors import EmitError, TrainingError
from engine.layers import graph_layers as layers
from engine.shapes.shapes import ShapeBook, Signature, check
from engine.train.distributed import World
from engine.train.headless import run_headless
from tests.gallery.recipes import FILES

CATALOGUE = load_catalogue()
NODES = torch.tensor([[1.0, 0.0], [2.0, 1.0], [3.0, -1.0], [5.0, 5.0]])
EDGES = torch.tensor([[0, 1], [1, 0], [1, 2], [2, 1], [3, 3]])
WEIGHTS = torch.tensor([2.0, 2.0, -1.0, -1.0, 0.5])
MATRIX = torch.zeros(4, 4).index_put_((EDGES[:, 1], EDGES[:, 0]), WEIGHTS)
ONES = (MATRIX != 0).float()
SIZES = torch.tensor([3, 1])


def test_neighbours_are_added_up_along_the_edges() -> None:
    assert torch.equal(layers.neighbour_sums(NODES, EDGES), ONES @ NODES)
    assert torch.equal(layers.neighbour_sums(NODES, EDGES, WEIGHTS), MATRIX @ NODES)
    assert layers.neighbour_means(NODES, EDGES[:2]).tolist() == [[2, 1], [1, 0], [0, 0], [0, 0]]
    found = layers.neighbour_means(NODES, EDGES, WEIGHTS)
    assert torch.allclose(found[1], (2 * NODES[0] - NODES[2]) / 3)
    assert torch.allclose(found, layers.neighbour_means_padded(NODES, MATRIX))


def test_a_convolution_divides_by_the_roots_of_degrees() -> None:
    hat = torch.eye(4) + ONES
    root = torch.diag(hat.sum(1).rsqrt())
    wanted = root @ hat @ root @ NODES  # Kipf and Welling, 2017, equation 9
    assert torch.allclose(layers.convolved(NODES, EDGES), wanted)
    assert torch.allclose(layers.convolved_padded(NODES, ONES), wanted)
    assert torch.allclose(layers.convolved(NODES, EDGES, how="mean"), hat @ NODES / hat.sum(1)[:, None])
    assert torch.allclose(layers.convolved(NODES, EDGES, how="sum"), hat @ NODES)


@pytest.mark.parametrize("how", ["symmetric", "mean", "sum"])
def test_both_forms_convolve_alike_with_weights(how: str) -> None:
    found = layers.convolved(NODES, EDGES, WEIGHTS, how=how)
    assert torch.allclose(found, layers.convolved_padded(NODES, MATRIX, how=how), atol=1e-6)
    assert found.isfinite().all()  # a degree counts the sizes of weights, also of negative ones


def test_a_read_out_is_of_each_graph() -> None:
    assert layers.graph_means(NODES, SIZES).tolist() == [[2, 0], [5, 5]]
    assert layers.graph_sums(NODES, SIZES).tolist() == [[6, 0], [5, 5]]
    assert layers.graph_maxima(NODES, SIZES).tolist() == [[3, 1], [5, 5]]
    with_none = torch.tensor([3, 0, 1])
    for read_out in (layers.graph_means, layers.graph_sums, layers.graph_maxima):
        assert read_out(-NODES, with_none)[1].tolist() == [0, 0]
    assert layers.graph_maxima(-NODES, with_none).tolist() == [[-1, 1], [0, 0], [-5, -5]]


def test_a_mask_leaves_out_what_fills_up() -> None:
    x = torch.stack([NODES, torch.full((4, 2), torch.nan)])
    x[1, 0] = torch.tensor([-1.0, -2.0])
    mask = torch.tensor([[1.0, 1, 1, 0], [1, 0, 0, 0]])
    assert layers.masked_means(x, mask).tolist() == [[2, 0], [-1, -2]]
    assert layers.masked_sums(x, mask).tolist() == [[6, 0], [-1, -2]]
    assert layers.masked_maxima(x, mask).tolist() == [[3, 1], [-1, -2]]
    nothing = torch.zeros(2, 4)
    for pool in (layers.masked_means, layers.masked_sums, layers.masked_maxima):
        assert pool(x, nothing).tolist() == [[0, 0], [0, 0]]


def graphs(
    packed: bool, how: str = "mean", along: Sequence[str] = ("GraphConvolution", "NeighbourSum")
) -> Project:
    """Graphs through layers along their edges, pooled, to scores of their kinds."""
    params = open_data(FILES / "shapes.edges").params
    counted = "sizes" if packed else "mask"
    nodes = [
        Node("n1", "GraphFile", "data", {**params, "batches": "block-diagonal" if packed else "padded"}),
        Node("n2", "Linear", "first", {"units": 4, "activation": "tanh", "bias": False}),
        Node("n3", "GraphReadout" if packed else "MaskedPool", "pool", {"how": how}),
        Node("n4", "Linear", "scores", {"units": 2}),
        Node("n5", "CrossEntropy", "loss"),
        Node("n6", "Accuracy", "accuracy"),
    ]
    links = [Link("n1", "nodes", "n2", "x"), Link("n1", counted, "n3", counted)]
    last = "n2"
    for number, type_id in enumerate(along, start=7):
        nodes.append(Node(f"n{number}", type_id, f"along{number}"))
        links.append(Link(last, "output", f"n{number}", "nodes"))
        links.append(Link("n1", "edges" if packed else "adjacency", f"n{number}", "edges"))
        last = f"n{number}"
    links += [Link(last, "output", "n3", "nodes" if packed else "x"), Link("n3", "output", "n4", "x")]
    for measure in ("n5", "n6"):
        links += [Link("n4", "output", measure, "prediction"), Link("n1", "label", measure, "target")]
    plan = Plan().with_(batch=5, epochs=3)
    return Project(title="Graphs", graph=Graph(nodes, links), plan=plan, next_id=20)


def losses(project: Project) -> list[float]:
    records: list[dict[str, Any]] = []
    run_headless(project, CATALOGUE, Path(), seed=2, device="cpu", on_line=records.append)
    return [record[key] for record in records for key in ("loss", "val_loss", "test_loss") if key in record]


@pytest.mark.parametrize("how", ["mean", "sum", "maximum"])
def test_blocks_train_as_padded_graphs_do(how: str) -> None:
    packed, padded = (losses(graphs(form, how)) for form in (True, False))
    assert len(packed) == 3 * 3 + 3 + 1 and packed == pytest.approx(padded, rel=1e-4)
    assert len(set(packed)) == len(packed)


def test_what_is_fitted_on_nodes_is_fitted_on_all_training_nodes() -> None:
    project = graphs(True)
    nodes = [
        replace(node, type="Standardise", params={}) if node.id == "n2" else node
        for node in project.graph.nodes.values()
    ]
    project = replace(project, graph=Graph(nodes, project.graph.links))
    assert [one.message for one in check(project, CATALOGUE).problems] == []
    assert "standardise(splits" in export_script(project, CATALOGUE).text
    assert all(abs(loss) < 5 for loss in losses(project))


def trial(type_id: str, **arriving: Signature) -> str:
    problem = ShapeBook(CATALOGUE).trial(type_id, {}, arriving).problem
    return "" if problem is None else problem.message


ROWS, PAIRS = Signature((4,), rows="nodes"), Signature((2,), "int64", rows="edges")


def test_wires_that_do_not_fit_are_a_sentence() -> None:
    assert trial("GraphConvolution", nodes=ROWS, edges=PAIRS) == ""
    assert "one row for each node" in trial("GraphConvolution", nodes=Signature((6, 4)), edges=PAIRS)
    assert "a row and a column for each of the 6 nodes, but 5×5" in trial(
        "GraphConvolution", nodes=Signature((6, 4)), edges=Signature((5, 5))
    )
    assert "features of nodes, but 4 comes in" in trial(
        "NeighbourSum", nodes=Signature((4,)), edges=Signature((4, 4))
    )
    assert "the matrix" in trial(
        "NeighbourSum", nodes=Signature((6, 4)), edges=Signature((6, 6)), weights=Signature((), rows="edges")
    ).replace("adjacency ", "")
    assert "take Masked pool" in trial("GraphReadout", nodes=Signature((6, 4)), sizes=Signature((), "int64"))
    assert "number of nodes of each graph" in trial("GraphReadout", nodes=ROWS, sizes=Signature((3,)))
    assert "a mask of 5 numbers" in trial("MaskedPool", x=Signature((5, 3)), mask=Signature((4,)))
    said = trial("CrossEntropy", prediction=ROWS, target=Signature((), "int64"))
    assert (
        said == "Cross-entropy needs a row for each example, but nodes come in: put Graph read-out between."
    )
    assert "nodes" in trial("Add", x1=ROWS, x2=Signature((4,)))


def test_several_processes_do_not_share_such_batches() -> None:
    project = graphs(True)
    with pytest.raises(EmitError, match="cannot be shared out among processes"):
        export_script(project, CATALOGUE, distributed=True)
    assert "part_of(batch)" in export_script(graphs(False), CATALOGUE, distributed=True).text
    with pytest.raises(TrainingError, match="cannot be shared out among processes"):
        World(0, 2, 0, 0).wrap(compile_program(project, CATALOGUE))
