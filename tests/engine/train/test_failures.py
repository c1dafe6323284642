"""What goes wrong lands on its node, in words."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.document.graph import Graph, Link, Node
from engine.document.plan import Choice
from engine.errors import DataError, TrainingError
from engine.feed.feed import Feed
from engine.look.labels import check_labels
from engine.runs.settings import Settings
from engine.shapes.heads import loss_heads
from engine.train.begin import begin_run
from engine.train.failures import explain
from engine.train.headless import run_headless
from tests.engine.train.networks import DATASETS, ByHand, catalogue, iris, run_of


def test_a_rate_far_too_high_names_the_first_node_and_the_epoch() -> None:
    """C-10"""
    project = iris(optimiser=Choice("SGD", {"lr": 1e6}), dropout=0.0, epochs=50)
    with pytest.raises(TrainingError) as caught:
        run_headless(project, catalogue(), DATASETS, device="cpu")
    assert caught.value.node_id in {"n2", "n4", "n5"}
    assert "epoch" in caught.value.message and "1e+06" in str(caught.value)


def test_weights_that_grew_past_float32_are_named_as_such() -> None:
    run = run_of(iris())
    with torch.no_grad():
        run.model.hidden.weight.fill_(float("inf"))  # type: ignore[union-attr,operator]
    with pytest.raises(TrainingError, match="weights of “hidden” grew"):
        run.advance()


def test_labels_outside_the_classes_are_named_before_the_first_step() -> None:
    run = run_of(iris())
    counted_from_one = {
        split: {**columns, "species": columns["species"] + 1} for split, columns in run.data.items()
    }
    with pytest.raises(TrainingError, match="from 1 to 3, but the model can only answer 0 to 2") as caught:
        check_labels(run.heads, counted_from_one)
    assert caught.value.node_id == "n5" and "from 0 instead of 1" in str(caught.value)
    more = {"train": {"species": torch.tensor([0, 7])}}
    with pytest.raises(TrainingError, match="8 outputs"):
        check_labels(run.heads, more)


def test_looking_for_labels_runs_no_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a wrong label in a loss would poison a GPU for the whole process")

    run = run_of(iris())
    monkeypatch.setattr("torch.nn.functional.cross_entropy", refuse)
    (head,) = loss_heads(run.program.project, run.program.book)
    assert (head.node_id, head.kind, head.size, head.column) == ("n5", "classes", 3, "species")


def test_yes_or_no_targets_outside_0_and_1_are_named() -> None:
    nodes = [
        Node("n1", "Diabetes"),
        Node("n2", "Linear", "score", {"units": 1}),
        Node("n3", "BCEWithLogits"),
    ]
    columns = [port.name for port in catalogue().make(nodes[0]).outputs()]
    links = [
        Link("n1", columns[0], "n2", "x"),
        Link("n2", "output", "n3", "prediction"),
        Link("n1", columns[1], "n3", "target"),
    ]
    project = iris()
    project.graph = Graph(nodes, links)
    with pytest.raises(TrainingError, match="labels of") as caught:
        run_headless(project, catalogue(), DATASETS, device="cpu")
    assert caught.value.node_id == "n3"


def test_a_graph_without_a_loss_says_what_is_missing() -> None:
    project = iris()
    graph = project.graph
    project.graph = Graph(
        [node for node in graph.nodes.values() if node.id in ("n1", "n2")],
        [link for link in graph.links if link.target == "n2"],
    )
    with pytest.raises(TrainingError, match="nothing to train"):
        run_headless(project, catalogue(), DATASETS, device="cpu")


def test_an_empty_split_is_named() -> None:
    program = ByHand(rows=0)
    with pytest.raises(TrainingError, match="train split of the data is empty") as caught:
        begin_run(program, catalogue(), lambda: program.load(Path()), Settings(1, 0), Feed())  # type: ignore[arg-type]
    assert caught.value.node_id == "n1"


def test_missing_data_is_a_sentence_at_the_data_node(tmp_path: Path) -> None:
    project = iris()
    project.graph = Graph(
        [
            Node("n1", "Mnist"),
            Node("n2", "Flatten"),
            Node("n4", "Linear", "", {"units": 10}),
            Node("n5", "CrossEntropy"),
        ],
        [
            Link("n1", "image", "n2", "x"),
            Link("n2", "output", "n4", "x"),
            Link("n4", "output", "n5", "prediction"),
            Link("n1", "digit", "n5", "target"),
        ],
    )
    with pytest.raises(DataError, match="train-images") as caught:
        run_headless(project, catalogue(), tmp_path, device="cpu")
    assert caught.value.node_id == "n1"


def raised_in_a_layer(error: BaseException) -> BaseException:
    def fail(x: Tensor) -> None:
        raise error

    program = ByHand(inside=fail)
    try:
        program.objective(program.Model(), {"x": torch.zeros(2, 4), "y": torch.zeros(2, 1)})
    except BaseException as caught:
        return explain(caught, program, 128)  # type: ignore[arg-type]
    raise AssertionError


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("no more"),
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes"),
    ],
)
def test_memory_that_ran_out_suggests_a_smaller_batch(error: BaseException) -> None:
    """C-9: the advice."""
    found = raised_in_a_layer(error)
    assert isinstance(found, TrainingError) and found.node_id == "n2"
    assert "memory ran out in “first”" in found.message and "batch size to 64 (now 128)" in str(found)


def test_a_layer_that_ends_the_program_or_fails_is_named() -> None:
    """C-17: the sentence gives the cause."""
    assert "“first” tried to end the program" in str(raised_in_a_layer(SystemExit(3)))
    found = raised_in_a_layer(ValueError("shapes\n do   not match"))
    assert str(found) == "“first” failed: ValueError: shapes do not match"
