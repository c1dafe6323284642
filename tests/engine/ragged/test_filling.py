"""Rows of different lengths: numbers are the same whatever fills them up, and batches hold no more of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.data.filling import without_filling
from engine.document.graph import Block, Graph, Link, Node
from engine.document.plan import Minimise, Phase, Stop
from engine.emit.program import Program, compile_program
from engine.emit.script import export_script
from engine.layers.ragged import places_there, read_to_end, real_places
from tests.engine.sketches import Sketch, catalogue
from tests.engine.train.networks import DATASETS
from tests.engine.train.test_distributed import alone, records

WORDS = (
    "a",
    "dog",
    "and",
    "cat",
    "in",
    "bird",
    "or",
    "fish",
    "saw",
    "the",
    "old",
    "green",
    "house",
    "on",
    "hill",
    "by",
)
SENTENCES = [" ".join(WORDS[at % 7 : at % 7 + 1 + at * 5 % 13]) for at in range(48)]
PARTS = {"length": 14, "size": 40, "tokeniser": "words", "delimiter": "tab", "plain": True}


@pytest.fixture
def labelled(tmp_path: Path) -> dict[str, Any]:
    """What a node of sentences with a class each was opened with; they have 1 to 13 words."""
    rows = [f"{text}\t{('even', 'odd')[len(text) % 2]}" for text in SENTENCES]
    (tmp_path / "texts.tsv").write_text("\n".join(["text\tlabel", *rows]))
    return {"path": str(tmp_path / "texts.tsv"), "classes": ("even", "odd"), "count": 48, **PARTS}


@pytest.fixture
def pairs(tmp_path: Path) -> dict[str, Any]:
    """What a node of pairs was opened with: a sentence, and its beginning."""
    rows = [f"{text}\t{text[: 3 + len(text) // 2]}" for text in SENTENCES]
    (tmp_path / "pairs.tsv").write_text("\n".join(["source\ttarget", *rows]))
    return {"path": str(tmp_path / "pairs.tsv"), "count": 48, "target_length": 15, "target_size": 60, **PARTS}


def reader(opened: dict[str, Any], kind: str = "LSTM") -> Sketch:
    """A class for each text, by what a recurrent layer has at its end and the mean over its words."""
    sketch = Sketch("Reader")
    data = sketch.add("LabelledText", "texts", opened)
    words = sketch.add("Embedding", "words", {"entries": 40, "size": 8}, x=f"{data}.tokens")
    read = sketch.add(kind, "read", {"hidden": 6, "both_ways": True, "layers": 2}, x=words)
    pool = sketch.add("MaskedPool", "mean", x=f"{read}.output")
    both = sketch.add("Concatenate", "both", x1=f"{read}.h", x2=pool)
    scores = sketch.add("Linear", "scores", {"units": 2}, x=both)
    sketch.add("CrossEntropy", "loss", prediction=scores, target=f"{data}.label")
    sketch.add("Accuracy", "accuracy", prediction=scores, target=f"{data}.label")
    return sketch


def writer(opened: dict[str, Any], own_weights: bool = True, causal: bool = True, times: int = 2) -> Sketch:
    """The next token at each place, by attention in a block that is repeated."""
    sketch = Sketch("Writer")
    data = sketch.add("TextPairs", "pairs", opened)
    words = sketch.add("Embedding", "words", {"entries": 60, "size": 8}, x=f"{data}.target")
    place = sketch.add("PositionalEncoding", "places", x=words)
    nodes = [
        Node("n101", "BlockInput", "in"),
        Node("n102", "SelfAttention", "attend", {"heads": 2, "causal": causal}),
        Node("n103", "Add", "skip"),
        Node("n104", "LayerNorm", "norm"),
        Node("n105", "BlockOutput", "out"),
    ]
    wires = [
        ("n101", "n102", "x"),
        ("n101", "n103", "x1"),
        ("n102", "n103", "x2"),
        ("n103", "n104", "x"),
        ("n104", "n105", "x"),
    ]
    links = [Link(source, "output", target, port) for source, target, port in wires]
    sketch.project.blocks["b1"] = Block("b1", "layer", Graph(nodes, links))
    params = {"block": "b1", "times": times, "own_weights": own_weights}
    whole = sketch.add("Block", "stack", params, n101=place)
    scores = sketch.add("Linear", "scores", {"units": 60}, x=f"{whole}.n105")
    sketch.add("CrossEntropy", "loss", prediction=scores, target=f"{data}.next")
    sketch.add("Accuracy", "accuracy", prediction=scores, target=f"{data}.next")
    return sketch


def general(sketch: Sketch) -> Sketch:
    """The same with two phases, whose objectives compute their own layers."""
    phase = Phase((Minimise("all"),), Stop(epochs=1))
    phases = (phase, replace(phase, objectives=(Minimise("all", clip=1.0),)))
    sketch.project.plan = replace(sketch.project.plan, phases=phases)
    return sketch


def with_filling(program: Program, batch: dict[str, Tensor], more: int) -> dict[str, Tensor]:
    """The batch with `more` places in each row, and anything at all where a row has ended."""
    found = dict(batch)
    for filled in program.assembly.filled.values():
        told = batch[filled.place[1]]
        for name in filled.columns:
            old = batch[name]
            wide = old.new_zeros((len(old), old.shape[1] + more, *old.shape[2:]))
            if name != filled.place[1]:
                wide = torch.randint(5, 30, wide.shape)
                there = places_there(told if told.dim() == 1 else told.sum(1), wide.shape[1])
                wide[there] = old[there[:, : old.shape[1]]]
            else:
                wide[:, : old.shape[1]] = old
            found[name] = wide
    return found


NETWORKS = {
    "LSTM": reader,
    "GRU": lambda opened: reader(opened, "GRU"),
    "LSTM in a general plan": lambda opened: general(reader(opened)),
    "attention": writer,
    "attention, not causal": lambda opened: writer(opened, causal=False),
    "attention with shared weights": lambda opened: writer(opened, own_weights=False),
    "attention once": lambda opened: writer(opened, times=1),
    "attention in a general plan": lambda opened: general(writer(opened)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_numbers_are_the_same_whatever_fills_rows_up(
    name: str, labelled: dict[str, Any], pairs: dict[str, Any]
) -> None:
    sketch = NETWORKS[name](pairs if "attention" in name else labelled).plan(batch=8)
    assert not sketch.check().problems
    program = compile_program(sketch.project, catalogue())
    torch.manual_seed(0)
    model = program.make_model("cpu").eval()
    split = program.load(DATASETS)["train"]
    (filled,) = program.assembly.filled.values()
    most = split[filled.columns[0]].shape[1]
    for batch in program.batches(split, torch.Generator().manual_seed(1)):
        found = program.measure(model, batch)
        lengths = batch[filled.place[1]]
        longest = int((lengths if lengths.dim() == 1 else lengths.sum(1)).max())
        assert batch[filled.columns[0]].shape[1] == longest <= most
        for more in (0, most - longest):
            other = program.measure(model, with_filling(program, batch, more))
            assert set(other) == set(found) and "loss" in found
            for key, value in found.items():
                torch.testing.assert_close(other[key], value, atol=1e-5, rtol=1e-5)
        slopes = []
        for given in (batch, with_filling(program, batch, most - longest)):
            model.zero_grad()
            program.objective(model, given)["loss"].backward()
            slopes.append([weight.grad.clone() for weight in model.parameters() if weight.grad is not None])
        torch.testing.assert_close(slopes[0], slopes[1], atol=1e-5, rtol=1e-4)


def test_a_mean_over_places_does_not_depend_on_the_batch(pairs: dict[str, Any]) -> None:
    program = compile_program(writer(pairs).project, catalogue())
    model = program.make_model("cpu")
    split = program.load(DATASETS)["train"]
    whole = program.evaluate(model, split)
    torch.testing.assert_close(
        torch.tensor(whole["loss"]), program.measure(model.eval(), split)["loss"], atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize("name", ["LSTM", "attention in a general plan"])
def test_a_script_gives_the_numbers_of_the_application(
    name: str, labelled: dict[str, Any], pairs: dict[str, Any], tmp_path: Path
) -> None:
    sketch = NETWORKS[name](labelled if name == "LSTM" else pairs)
    phases = tuple(replace(one, stop=Stop(epochs=1)) for one in sketch.project.plan.phases)
    sketch.project.plan = replace(sketch.project.plan, batch=16, phases=phases)
    script = tmp_path / "ragged.py"
    script.write_text(export_script(sketch.project, catalogue()).text, "utf-8")
    assert records(str(script), "--json", "--device", "cpu") == alone(sketch.project)


def test_a_layer_that_takes_filling_for_data_is_told_and_nothing_is_cut(labelled: dict[str, Any]) -> None:
    sketch = Sketch()
    data = sketch.add("LabelledText", "texts", labelled)
    words = sketch.add("Embedding", "words", {"entries": 40, "size": 8}, x=f"{data}.tokens")
    flat = sketch.add("Flatten", "flat", x=words)
    scores = sketch.add("Linear", "scores", {"units": 2}, x=flat)
    sketch.add("CrossEntropy", "loss", prediction=scores, target=f"{data}.label")
    (problem,) = sketch.check().of(flat)
    assert problem.severity == "warning" and "fewer tokens" in problem.message
    program = compile_program(sketch.project, catalogue())
    batch = next(iter(program.batches(program.load(DATASETS)["train"], None)))
    assert batch["tokens"].shape[1] == 14


def test_a_wire_says_which_axis_is_ragged_and_how_far(labelled: dict[str, Any]) -> None:
    sketch = reader(labelled)
    book = sketch.check()
    axis = ("tokens", "n1")
    assert book.signature("n1", "tokens").full == "N×tokens ≤ 14"  # type: ignore[union-attr]
    along = {place: book.signature(*place).ragged for place in [("n2", "output"), ("n3", "output")]}  # type: ignore[union-attr]
    assert set(along.values()) == {axis}
    assert all(book.signature(*place).ragged == () for place in [("n3", "h"), ("n4", "output")])  # type: ignore[union-attr]


def test_a_pool_without_mask_or_lengths_asks_for_them() -> None:
    sketch = Sketch()
    given = sketch.add("Input", "x", {"shape": (5, 3)})
    pool = sketch.add("MaskedPool", "pool", x=given)
    (problem,) = sketch.check().of(pool)
    assert "needs a mask" in problem.message


def test_helpers() -> None:
    lengths = torch.tensor([2, 0, 3])
    x = torch.arange(12.0).reshape(3, 4, 1)
    assert real_places(x, lengths).flatten().tolist() == [0, 1, 8, 9, 10]
    assert real_places(x, torch.zeros(3, dtype=torch.long)).tolist() == [[0.0]]
    cut = without_filling({"x": x, "n": lengths, "y": x}, {"n": ("x",)})
    assert (cut["x"].shape, cut["y"].shape) == ((3, 3, 1), (3, 4, 1))
    assert without_filling({"m": torch.zeros(2, 4)}, {"m": ("m",)})["m"].shape == (2, 1)
    layer = torch.nn.LSTM(1, 2, batch_first=True)
    _, (h, _) = read_to_end(layer, x, lengths)
    _, (alone, _) = layer(x[2:, :3])
    torch.testing.assert_close(h[:, 2], alone[:, 0])
