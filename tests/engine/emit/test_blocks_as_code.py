"""Blocks, repetition, scans, muted and linked nodes: their shapes, their code, and that the two agree."""

from __future__ import annotations

import ast

import pytest
import torch

from engine.catalogue import load_catalogue
from engine.document.edits import SetMuted, SetParam, SetShares
from engine.document.graph import Block, Graph, Link, Node, Project
from engine.document.plan import Plan
from engine.document.shipped import datasets_folder
from engine.emit.program import Program, compile_program
from engine.shapes.shapes import ShapeBook, check

CATALOGUE = load_catalogue()


def wires(*texts: str) -> list[Link]:
    """`"n1.image n2.x"` and the like as links."""
    ends = [[end.split(".") for end in text.split()] for text in texts]
    return [Link(source, out, target, into) for (source, out), (target, into) in ends]


def stage() -> Block:
    """Two convolutions with a skip, whatever the channels that come in."""
    nodes = [
        Node("n101", "BlockInput", "image"),
        Node("n102", "Conv2d", "conv", {"filters": 8, "padding": "same", "activation": "ReLU"}),
        Node("n103", "Conv2d", "second", {"filters": 8, "padding": "same"}),
        Node("n104", "Add", "skip"),
        Node("n105", "BlockOutput", "features"),
    ]
    links = wires(
        "n101.output n102.x",
        "n102.output n103.x",
        "n102.output n104.x1",
        "n103.output n104.x2",
        "n104.output n105.x",
    )
    return Block("b1", "residual stage", Graph(nodes, links))


def cell() -> Block:
    """An Elman cell: what is read and what is remembered, mixed."""
    nodes = [
        Node("n201", "BlockInput", "row"),
        Node("n202", "BlockInput", "memory", {"state": "n205", "size": (16,), "order": 1}),
        Node("n203", "Concatenate", "both"),
        Node("n204", "Linear", "mix", {"units": 16, "activation": "tanh"}),
        Node("n205", "BlockOutput", "memory"),
    ]
    links = wires("n201.output n203.x1", "n202.output n203.x2", "n203.output n204.x", "n204.output n205.x")
    return Block("b2", "elman", Graph(nodes, links))


def project(nodes: list[Node], links: list[Link], *blocks: Block) -> Project:
    found = {block.id: block for block in blocks}
    return Project("Blocks", "", Graph(nodes, links), Plan(batch=32), next_id=300, blocks=found)


def around(*middle: Node, ends: list[str], blocks: tuple[Block, ...] = ()) -> Project:
    """Digits, the nodes in between wired by `ends`, then flatten, ten scores and a loss."""
    nodes = [
        Node("n1", "Digits", "digits"),
        *middle,
        Node("n50", "Flatten", "flatten"),
        Node("n51", "Linear", "classes", {"units": 10}),
        Node("n52", "CrossEntropy", "loss"),
    ]
    links = wires(*ends, "n50.output n51.x", "n51.output n52.prediction", "n1.digit n52.target")
    return project(nodes, links, *blocks)


def built(made: Project) -> tuple[ShapeBook, Program]:
    book = check(made, CATALOGUE)
    assert not book.errors, [problem.message for problem in book.errors]
    return book, compile_program(made, CATALOGUE, book)


def learned(program: Program) -> int:
    return sum(weight.numel() for weight in program.Model().parameters())


def one_loss(program: Program) -> float:
    torch.manual_seed(0)
    model = program.Model()
    data = program.load(datasets_folder())
    found = program.objective(model, next(program.batches(data["train"])))["loss"]
    found.backward()
    assert all(weight.grad is not None for weight in model.parameters())
    return found.item()


def test_one_class_serves_uses_of_different_sizes() -> None:
    made = around(
        Node("n2", "Block", "stage one", {"block": "b1"}),
        Node("n3", "Block", "stage two", {"block": "b1"}),
        ends=["n1.image n2.n101", "n2.n105 n3.n101", "n3.n105 n50.x"],
        blocks=(stage(),),
    )
    book, program = built(made)
    text = program.source.text
    assert text.count("class ResidualStage(nn.Module):") == 1
    assert "def __init__(self, in_channels: int) -> None:" in text
    assert "self.stage_one = ResidualStage(in_channels=1)" in text
    assert "self.stage_two = ResidualStage(in_channels=8)" in text
    assert str(book.signature("n3", "n105")) == "8×8×8"
    # 80 + 584 weights where one channel comes in, 584 + 584 where eight do, 5,130 for the classes
    assert book.total_parameters == learned(program) == 664 + 1168 + 5130
    assert torch.isfinite(torch.tensor(one_loss(program)))


def test_inner_nodes_have_shapes_lines_and_places() -> None:
    made = around(
        Node("n2", "Block", "stage", {"block": "b1"}),
        ends=["n1.image n2.n101", "n2.n105 n50.x"],
        blocks=(stage(),),
    )
    book, program = built(made)
    assert str(book.signature("n102", "output")) == "8×8×8"
    assert book.parameters("n103") == 584
    assert program.modules["n102"] == "stage.conv"
    lines = program.source.text.splitlines()
    assert [lines[number - 1].strip() for number in program.source.lines_of("n103")] == [
        'self.second = nn.Conv2d(8, 8, kernel_size=3, padding="same")',
        "x = self.second(conv)                    # (N, 8, 8, 8)",
    ]
    seen: dict[str, tuple[int, ...]] = {}
    with program.tapping(lambda node, _port, value: seen.__setitem__(node, tuple(value.shape))):
        one_loss(program)
    assert seen["n103"] == (32, 8, 8, 8)
    assert seen["n2"] == (32, 8, 8, 8)


def test_repetitions_have_own_weights_or_share_them() -> None:
    def of(own: bool) -> Project:
        return around(
            Node("n2", "Conv2d", "first", {"filters": 8, "padding": "same"}),
            Node("n3", "Block", "deep", {"block": "b1", "times": 3, "own_weights": own}),
            ends=["n1.image n2.x", "n2.output n3.n101", "n3.n105 n50.x"],
            blocks=(stage(),),
        )

    book, program = built(of(True))
    assert "nn.Sequential(*[ResidualStage() for _ in range(3)])" in program.source.text
    assert book.total_parameters == learned(program) == 80 + 3 * 1168 + 5130
    assert book.multiply_adds("n3") == 3 * 2 * 8 * 8 * 8 * 8 * 9
    book, program = built(of(False))
    assert "x = repeat(self.deep, 3, x)" in program.source.text
    assert "def repeat(layer: nn.Module, times: int, x: Tensor) -> Tensor:" in program.source.text
    assert book.total_parameters == learned(program) == 80 + 1168 + 5130
    assert torch.isfinite(torch.tensor(one_loss(program)))


def test_what_is_repeated_must_fit_itself() -> None:
    made = around(
        Node("n2", "Block", "deep", {"block": "b1", "times": 2}),
        ends=["n1.image n2.n101", "n2.n105 n50.x"],
        blocks=(stage(),),
    )
    book = check(made, CATALOGUE)
    assert "what leaves it must fit what enters: 1×8×8 is not 8×8×8" in book.of("n2")[0].message


def test_a_scanned_block_hands_its_state_on() -> None:
    made = around(
        Node("n2", "Reshape", "rows", {"shape": (8, 8)}),
        Node("n3", "Block", "rnn", {"block": "b2", "scan": True}),
        ends=["n1.image n2.x", "n2.output n3.n201", "n3.n205 n50.x"],
        blocks=(cell(),),
    )
    book, program = built(made)
    assert str(book.signature("n3", "n205")) == "8×16"
    assert book.total_parameters == learned(program) == (24 * 16 + 16) + 1290
    torch.manual_seed(1)
    model = program.Model()
    rows = torch.randn(2, 8, 8)
    with torch.no_grad():
        seen: list[torch.Tensor] = []
        keep = lambda node, _port, value: seen.append(value) if node == "n3" else None  # noqa: E731
        with program.tapping(keep):
            model(rows.reshape(2, 1, 8, 8))
        memory = torch.zeros(2, 16)
        for step in range(8):
            memory = torch.tanh(model.rnn.mix(torch.cat([rows[:, step], memory], 1)))
            assert torch.equal(seen[0][:, step], memory)


def test_a_state_that_comes_back_in_another_size_is_named() -> None:
    wrong = cell()
    wrong.graph._replace(Node("n204", "Linear", "mix", {"units": 12}))
    made = around(
        Node("n2", "Reshape", "rows", {"shape": (8, 8)}),
        Node("n3", "Block", "rnn", {"block": "b2", "scan": True}),
        ends=["n1.image n2.x", "n2.output n3.n201", "n3.n205 n50.x"],
        blocks=(wrong,),
    )
    assert check(made, CATALOGUE).of("n3")[0].message == "The state of rnn is 16, but comes back as 12."


def test_a_block_inside_a_block() -> None:
    outer = Block(
        "b3",
        "pair",
        Graph(
            [
                Node("n301", "BlockInput", "image"),
                Node("n302", "Block", "once", {"block": "b1"}),
                Node("n303", "Block", "twice", {"block": "b1"}),
                Node("n304", "BlockOutput", "features"),
            ],
            wires("n301.output n302.n101", "n302.n105 n303.n101", "n303.n105 n304.x"),
        ),
    )
    made = around(
        Node("n2", "Block", "pair one", {"block": "b3"}),
        Node("n3", "Block", "pair two", {"block": "b3"}),
        ends=["n1.image n2.n301", "n2.n304 n3.n301", "n3.n304 n50.x"],
        blocks=(stage(), outer),
    )
    book, program = built(made)
    text = program.source.text
    assert text.index("class ResidualStage") < text.index("class Pair") < text.index("class Model")
    assert "self.pair_one = Pair(in_channels=1)" in text
    assert "self.once = ResidualStage(in_channels=in_channels)" in text
    assert book.total_parameters == learned(program) == (664 + 1168) + 2 * 1168 + 5130
    assert torch.isfinite(torch.tensor(one_loss(program)))


def test_problems_inside_a_block_name_the_inner_node_and_the_instance() -> None:
    broken = stage()
    broken.graph._replace(Node("n103", "Conv2d", "second", {"filters": 8}))
    made = around(
        Node("n2", "Block", "stage", {"block": "b1"}),
        ends=["n1.image n2.n101", "n2.n105 n50.x"],
        blocks=(broken,),
    )
    book = check(made, CATALOGUE)
    assert {problem.node_id for problem in book.errors} == {"n2", "n104"}
    assert book.of("n2")[0].message.startswith("Inside stage: ")


def test_losses_and_data_stay_outside() -> None:
    inside = stage()
    inside.graph._insert(Node("n110", "Mnist", "MNIST"))
    made = around(
        Node("n2", "Block", "stage", {"block": "b1"}),
        ends=["n1.image n2.n101", "n2.n105 n50.x"],
        blocks=(inside,),
    )
    message = "Data, losses and metrics stay outside blocks, but stage holds one."
    assert check(made, CATALOGUE).of("n2")[0].message == message


def test_an_edit_inside_reaches_every_instance() -> None:
    made = around(
        Node("n2", "Block", "stage one", {"block": "b1"}),
        Node("n3", "Block", "stage two", {"block": "b1"}),
        ends=["n1.image n2.n101", "n2.n105 n3.n101", "n3.n105 n50.x"],
        blocks=(stage(),),
    )
    book = check(made, CATALOGUE)
    for units in (4, 16):
        for node in ("n102", "n103"):
            edit = SetParam(node, "filters", units)
            edit.apply(made)
            book.update(made, edit.touched)
        fresh = check(made, CATALOGUE)
        assert str(book.signature("n3", "n105")) == f"{units}×8×8"
        assert book.total_parameters == fresh.total_parameters == learned(compile_program(made, CATALOGUE))


def test_a_muted_layer_passes_data_through_in_shapes_and_code() -> None:
    made = around(
        Node("n2", "Conv2d", "conv", {"filters": 4}),
        Node("n3", "ReLU", "relu"),
        ends=["n1.image n2.x", "n2.output n3.x", "n3.output n50.x"],
    )
    whole, _ = built(made)
    for node in ("n2", "n3"):
        SetMuted((node,), True).apply(made)
    book, program = built(made)
    assert "conv" not in program.source.text.split("class Model")[1].split("def objective")[0]
    assert book.total_parameters == learned(program) == 650
    assert whole.total_parameters == 40 + 4 * 36 * 10 + 10
    ast.parse(program.source.text)


def test_a_muted_loss_and_metric_are_left_out() -> None:
    made = around(Node("n2", "ReLU", "relu"), ends=["n1.image n2.x", "n2.output n50.x"])
    made.graph._insert(Node("n60", "Accuracy", "accuracy", muted=True))
    for link in wires("n51.output n60.prediction", "n1.digit n60.target"):
        made.graph._plug(link)
    _, program = built(made)
    assert program.metrics == {}
    assert "def measure" not in program.source.text


def test_linked_layers_are_one_layer() -> None:
    """Two images through the same weights: 25,665 parameters, not twice that."""
    nodes = [
        Node("n1", "Input", "left", {"shape": (3, 64, 64)}),
        Node("n2", "Input", "right", {"shape": (3, 64, 64)}),
        Node("n3", "Conv2d", "conv", {"filters": 64, "kernel": 10}),
        Node("n4", "Conv2d", "conv twin", {"filters": 5}, shares="n3"),
        Node("n5", "AdaptiveAvgPool2d", "pool", {"size": 10}),
        Node("n6", "AdaptiveAvgPool2d", "pool twin", {"size": 10}),
        Node("n7", "Flatten", "flat"),
        Node("n8", "Flatten", "flat twin"),
        Node("n9", "Linear", "score", {"units": 1}),
        Node("n10", "Linear", "score twin", shares="n9"),
        Node("n11", "Add", "both"),
    ]
    links = wires(
        *("n1.output n3.x", "n2.output n4.x", "n3.output n5.x", "n4.output n6.x", "n5.output n7.x"),
        *("n6.output n8.x", "n7.output n9.x", "n8.output n10.x", "n9.output n11.x1", "n10.output n11.x2"),
    )
    book, program = built(project(nodes, links))
    assert book.total_parameters == learned(program) == 25_665
    model = program.Model()
    image = torch.randn(2, 3, 64, 64)
    model(image, image).sum().backward()
    assert len(list(model.parameters())) == 4
    assert program.modules["n4"] == program.modules["n3"] == "conv"


def test_a_language_models_last_layer_is_its_embedding() -> None:
    nodes = [
        Node("n1", "Input", "token", {"shape": (12,), "whole": True}),
        Node("n2", "Embedding", "words", {"entries": 50_000, "size": 384}),
        Node("n3", "Linear", "next word", {"units": 50_000, "bias": False}, shares="n2"),
    ]
    book, program = built(project(nodes, wires("n1.output n2.x", "n2.output n3.x")))
    assert book.total_parameters == learned(program) == 50_000 * 384
    assert "self.next_word.weight = self.words.weight" in program.source.text


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (Node("n3", "ReLU", "relu"), "second and relu are of different kinds and cannot share weights."),
        (Node("n3", "Linear", "first", {"units": 64}), "the same sizes must come in"),
    ],
)
def test_links_that_cannot_be_are_refused_with_a_way_out(other: Node, sentence: str) -> None:
    made = around(
        Node("n2", "Flatten", "flat"),
        other,
        Node("n4", "Linear", "second", {"units": 32}, shares="n3"),
        Node("n5", "Linear", "third", {"units": 5}),
        ends=["n1.image n2.x", "n2.output n5.x", "n5.output n3.x", "n3.output n4.x", "n4.output n50.x"],
    )
    problem = next(one for one in check(made, CATALOGUE).problems if one.code == "shares")
    assert sentence in problem.message
    assert problem.fix is not None
    assert problem.fix.edits(made) == (SetShares("n4", ""),)
