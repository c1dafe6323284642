"""Pictures of a network for graphs that lie side by side in a batch: of one graph, or of one row a graph."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch

from engine.document.files import load_project
from engine.feed.feed import Probe, Tried
from engine.look.reduce import listed
from engine.look.sight import Look
from engine.shapes.heads import loss_heads
from engine.train.loop import Run
from tests.engine.look.taking import take
from tests.engine.train.networks import DATASETS, run_of

CONVOLUTION, POOLED, SCORES = "n3", "n5", "n6"


@cache
def trained() -> Run:
    project = load_project(DATASETS.parent / "gallery" / "graph-classes.nloom")
    run = run_of(project)
    run.heads = loss_heads(run.program.project, run.program.book)
    for _ in range(20):
        run.advance()
    return run


def test_what_leaves_a_layer_for_one_graph_is_of_all_its_nodes() -> None:
    run = trained()
    nodes = int(run.data["validation"]["sizes"][7])
    [found] = take(run, Probe(CONVOLUTION, "activations"), pinned=7)
    assert found.extra["shape"] == (nodes, 32) and found.array.shape == (nodes, 32)
    [pooled] = take(run, Probe(POOLED, "activations"), pinned=7)
    assert pooled.extra["shape"] == (32,)


def test_the_edges_of_the_example_are_all_there() -> None:
    run = trained()
    [found] = take(run, Probe("n1", "activations"), pinned=7)
    assert np.array_equal(found.extra["ports"]["edges"], run.data["validation"]["edges"][7].numpy())
    assert len(listed(torch.ones(4096, 2))) == 4096 and not len(listed(torch.ones(4097, 2)))


def test_copies_of_one_graph_are_that_graph_again_and_again() -> None:
    look = Look.of(trained(), 4)
    batch = look.repeated(3)
    count = int(batch["sizes"][0])
    assert batch["sizes"].tolist() == [count] * 3 and len(batch["scaled"]) == 3 * count
    assert batch["edges"].max().item() == 3 * count - 1
    answers = look.value(SCORES, batch)
    assert answers is not None and torch.allclose(answers, answers[:1].expand(3, -1), atol=1e-6)


def test_another_graph_can_be_tried() -> None:
    run = trained()
    row = {name: column[11].numpy() for name, column in run.data["validation"].items()}
    look = Look.of(run, 0)
    wanted = look.value(SCORES, look.batch(11, 1))
    assert wanted is not None
    from engine.look.trying import try_it

    tried = Look(**{**{name: getattr(look, name) for name in Look.__slots__}, "tried": Tried(5, row)})
    taken = try_it(tried, Probe("", "try_it", (CONVOLUTION,)))
    assert taken is not None
    chances, facts = taken
    assert chances == pytest.approx(wanted.softmax(1)[0].detach().numpy(), abs=1e-6)
    assert facts["try"] == 5 and "slope" not in facts
    assert facts["activations"].shape == (len(row["scaled"]), 32)


def test_pictures_of_examples_leave_out_columns_of_nodes() -> None:
    run = trained()
    [worst, projected] = take(run, Probe(SCORES, "worst_and_best", (6,)), Probe(POOLED, "projection", (60,)))
    assert len(worst.array) == 12 and np.isfinite(projected.array).all()
    [refused] = take(run, Probe(CONVOLUTION, "projection", (60,)))
    assert refused.extra["failed"] == "This node does not give one row for each example."
