"""What runs is the text that is shown: taps are the only difference, and every line knows its node."""

from __future__ import annotations

import ast
import gc
import linecache
import sys
from types import ModuleType
from unittest.mock import patch

import pytest
import torch
from torch import Tensor

from engine.data.batch import MEANS, ROWS
from engine.document.graph import Project
from engine.document.shipped import datasets_folder
from engine.emit.program import compile_program
from engine.emit.script import write_script
from tests.engine.emit.test_script import HOSTILE, hostile, long_names
from tests.engine.sketches import (
    GALLERY_IDS,
    Sketch,
    batch_of,
    catalogue,
    classifier,
    gallery,
    image,
    program_of,
)


class WithoutTaps(ast.NodeTransformer):
    """Puts in the place of each tap what it shows."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "tap":
            return node.args[2]
        return node


def projects() -> dict[str, Project]:
    found = {project_id: gallery(project_id) for project_id in GALLERY_IDS}
    found["long"] = long_names().project
    found["model only"] = twins().project
    found["hostile"] = hostile(HOSTILE[0]).project
    return found


def twins() -> Sketch:
    """Two recurrent layers whose names provoke clashes, every port used, a leaf that nothing reads."""
    sketch = Sketch("Twins")
    start = sketch.add("Input", "h", {"shape": (5, 3)})
    first = sketch.add("LSTM", "output", {"hidden": 4, "both_ways": True, "layers": 2}, x=start)
    second = sketch.add("GRU", "output h", {"hidden": 8}, x=first)
    skip = sketch.add("Linear", "c", {"units": 8}, x=f"{first}.c")
    sketch.add("Add", "output c", x1=f"{first}.h", x2=skip, x3=f"{second}.h")
    sketch.add("LastStep", "leaf", x=second)
    return sketch


@pytest.mark.parametrize("name", projects())
def test_taps_are_the_only_difference(name: str) -> None:
    script = write_script(projects()[name], catalogue())
    plain, twin = script.plain.text, script.twin
    assert plain.count("\n") == twin.count("\n") == len(script.plain.nodes)
    assert "tap(" not in plain and "tap(" in twin
    bare = WithoutTaps().visit(ast.parse(twin))
    assert ast.dump(bare) == ast.dump(ast.parse(plain))


@pytest.mark.parametrize("name", projects())
def test_the_plain_text_and_its_twin_give_the_same_numbers(name: str) -> None:
    program = compile_program(projects()[name], catalogue())
    module = ModuleType("plain")
    names = module.__dict__
    with patch.dict(sys.modules, {"plain": module}):  # a dataclass looks up the module it is made in
        exec(compile(program.source.text, "plain.py", "exec"), names)
    torch.manual_seed(3)
    model = program.Model()
    torch.manual_seed(3)
    other = names["Model"]()
    if program.trains and "mnist" not in name:
        batch = batch_of(program)
        torch.manual_seed(4)
        ours = program.measure(model, batch)
        torch.manual_seed(4)
        theirs = (names.get("measure") or names["objective"])(other, batch)
        first = {key: value[0] if isinstance(value, tuple) else value for key, value in theirs.items()}
        assert {key: value.item() for key, value in ours.items()} == {
            key: value.item() for key, value in first.items() if not key.endswith((ROWS, MEANS))
        }
    assert [(key, value.tolist()) for key, value in model.state_dict().items()] == [
        (key, value.tolist()) for key, value in other.state_dict().items()
    ]


# -- taps


def test_every_value_of_a_forward_pass_is_shown() -> None:
    program = compile_program(gallery("two-heads"), catalogue())
    book = program.book
    model, batch = program.Model(), batch_of(program)
    seen: dict[tuple[str, str], Tensor] = {}
    with program.tapping(lambda node_id, port, value: seen.__setitem__((node_id, port), value)):
        found = program.measure(model, batch)
    for node_id in program.project.graph.nodes:
        assert any(shown == node_id for shown, _ in seen), node_id
    for (node_id, port), value in seen.items():
        signature = book.signature(node_id, port)
        assert signature is not None
        assert tuple(value.shape) == (() if signature.per_batch else (6, *signature.shape))
        assert str(value.dtype) == f"torch.{signature.dtype}"
    assert seen["n1", "image"] is batch["image"]
    assert torch.equal(seen["n12", "value"], found["digit_loss"])
    seen.clear()
    program.measure(model, batch)
    assert seen == {}


@pytest.mark.parametrize("both", [False, True])
def test_the_ports_of_a_recurrent_layer_are_shown_with_their_values(both: bool) -> None:
    sketch, start = image(5, 3)
    memory = sketch.add("LSTM", "memory", {"hidden": 4, "both_ways": both, "layers": 2}, x=start)
    for port in ("output", "h", "c"):
        sketch.add("Linear", f"of {port}", {"units": 2}, x=f"{memory}.{port}")
    program = program_of(sketch)
    model = program.Model()
    x = torch.randn(6, 5, 3)
    seen: dict[str, Tensor] = {}
    with program.tapping(
        lambda node_id, port, value: seen.update({port: value} if node_id == memory else {})
    ):
        model(x)
    output, (h, c) = model.memory(x)
    assert torch.equal(seen["output"], output)
    assert torch.equal(seen["h"], torch.cat((h[-2], h[-1]), 1) if both else h[-1])
    assert torch.equal(seen["c"], torch.cat((c[-2], c[-1]), 1) if both else c[-1])
    if both:  # the last state of the way back belongs to the first step
        assert torch.equal(seen["h"][:, 4:], output[:, 0, 4:])
    assert torch.equal(seen["h"][:, :4], output[:, -1, :4])


def test_other_values_stand_in_place_of_what_leaves_a_port() -> None:
    sketch, start = image(5, 3)
    memory = sketch.add("LSTM", "memory", {"hidden": 4}, x=start)
    head = sketch.add("Linear", "head", {"units": 2}, x=f"{memory}.h")
    program = program_of(sketch)
    model, x, other = program.Model(), torch.randn(6, 5, 3), torch.randn(6, 4)
    before = model(x)
    with program.giving({(memory, "h"): other}):
        assert torch.equal(model(x), model.head(other))
    with program.giving({(head, "output"): before + 1}):
        assert torch.equal(model(x), before + 1)
    assert torch.equal(model(x), before)


def test_taps_nest_and_end_with_an_error() -> None:
    program = program_of(classifier())
    model, batch = program.Model(), batch_of(program)
    outer: list[str] = []
    with program.tapping(lambda node_id, port, value: outer.append(node_id)):
        with pytest.raises(ZeroDivisionError), program.tapping(lambda *_: 1 // 0):  # type: ignore[arg-type,return-value]
            program.objective(model, batch)
        assert outer == []
        program.objective(model, batch)
    assert outer == ["n1", "n2", "n3", "n1", "n4"]


def test_a_program_that_is_gone_leaves_no_text_behind() -> None:
    program = program_of(classifier())
    file = program._file
    assert any("def forward" in line for line in linecache.getlines(file))
    del program
    gc.collect()
    assert linecache.getlines(file) == []


# -- names inside the model


def test_names_that_clash_are_kept_apart_and_the_values_stay_right() -> None:
    program = program_of(twins())
    torch.manual_seed(0)
    model = program.Model().eval()
    x = torch.randn(6, 5, 3)
    modules = [getattr(model, program.modules[node_id]) for node_id in ("n2", "n3", "n4")]
    output, (h, c) = modules[0](x)
    gru_output, gru_h = modules[1](output)
    last = torch.cat((h[-2], h[-1]), 1) + modules[2](torch.cat((c[-2], c[-1]), 1)) + gru_h[-1]
    first, leaf = model(x)
    assert torch.allclose(first, last) and torch.equal(leaf, gru_output[:, -1])


def test_a_layer_named_like_the_state_of_another_is_not_overwritten() -> None:
    """`_, (h, _) = self.lstm(x)` must not take the place of a value that is still needed."""
    for name in ("h", "lstm h", "lstm_h", "c", "output", "lstm"):
        sketch, start = image(5, 3)
        kept = sketch.add("MeanOverTime", name, x=start)
        memory = sketch.add("LSTM", "lstm", {"hidden": 3}, x=start)
        sketch.add("Add", "sum", x1=kept, x2=f"{memory}.h")
        model = program_of(sketch).Model()
        x = torch.randn(6, 5, 3)
        memory_layer = next(layer for layer in model.children() if isinstance(layer, torch.nn.LSTM))
        assert torch.equal(model(x), x.mean(1) + memory_layer(x)[1][0][-1]), name


def test_an_end_in_an_activation_returns_what_it_activated() -> None:
    sketch, start = image(1, 8, 8)
    sketch.add("ReLU", "act", x=sketch.add("Conv2d", "conv", x=start))
    found = program_of(sketch).Model()(torch.randn(4, 1, 8, 8))
    assert found.min() >= 0 and found.max() > 0


def test_output_nodes_name_the_results() -> None:
    sketch, start = image(4)
    hidden = sketch.add("Linear", "hidden", {"units": 3, "activation": "tanh"}, x=start)
    sketch.add("Output", "The Answer", x=sketch.add("Linear", "head", {"units": 2}, x=hidden))
    sketch.add("Output", "code", x=hidden)
    text = program_of(sketch).source.text
    assert "return code, the_answer" in text
    first, second = program_of(sketch).Model()(torch.zeros(5, 4))
    assert first.shape == (5, 3) and second.shape == (5, 2)


def test_several_inputs_arrive_in_the_order_of_their_nodes() -> None:
    sketch = Sketch()
    second = sketch.add("Input", "b", {"shape": (2,)})
    first = sketch.add("Input", "a", {"shape": (3,)})
    sketch.add("Concatenate", "join", x1=first, x2=second)
    program = program_of(sketch)
    assert "def forward(self, b: Tensor, a: Tensor) -> Tensor:" in program.source.text
    found = program.Model()(torch.zeros(5, 2), torch.ones(5, 3))
    assert found.tolist() == [[1, 1, 1, 0, 0]] * 5


@pytest.mark.parametrize("count", [2, 16, 17, 300])
@pytest.mark.parametrize("type_id", ["Add", "Multiply", "Concatenate"])
def test_a_join_of_very_many_wires_works(type_id: str, count: int) -> None:
    sketch, start = image(3)
    act = sketch.add("ReLU", "act", x=start)
    sketch.add(type_id, "join", **{f"x{number}": (start, act)[number % 2] for number in range(1, count + 1)})
    found = program_of(sketch).Model()(torch.ones(2, 3))
    wanted = {"Add": (3, float(count)), "Multiply": (3, 1.0), "Concatenate": (3 * count, 1.0)}[type_id]
    assert found.shape == (2, wanted[0]) and bool((found == wanted[1]).all())


def test_many_types_share_one_wire_without_being_run_twice() -> None:
    sketch, start = image(3)
    drop = sketch.add("Dropout", "drop", x=start)
    sketch.add("Add", "sum", x1=drop, x2=drop)
    model = program_of(sketch).Model().train()
    assert set(model(torch.ones(50, 3)).unique().tolist()) <= {0.0, 4.0}


# -- losses and metrics


def test_the_loss_is_the_weighted_sum_and_every_part_is_named() -> None:
    program = compile_program(gallery("two-heads"), catalogue())
    model, batch = program.Model(), batch_of(program)
    found = program.objective(model, batch)
    digit, odd = model(batch["image"], batch["profile"])
    parts = (
        torch.nn.functional.cross_entropy(digit, batch["digit"]),
        torch.nn.functional.binary_cross_entropy_with_logits(odd, batch["odd"]),
    )
    assert list(found) == ["loss", "digit_loss", "odd_loss"]
    assert torch.equal(found["loss"], parts[0] + 0.5 * parts[1])
    found["loss"].backward()
    assert all(weight.grad is not None for weight in model.parameters())
    measured = program.measure(model, batch)
    assert list(measured) == ["loss", "digit_loss", "odd_loss", "digit_accuracy", "odd_accuracy"]
    assert measured["digit_accuracy"].item() == (digit.argmax(1) == batch["digit"]).float().mean().item()
    assert measured["odd_accuracy"].item() == ((odd > 0).float() == batch["odd"]).float().mean().item()


def test_a_single_loss_with_a_weight_is_weighed() -> None:
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    head = sketch.add("Linear", "head", {"units": 3}, x=f"{data}.features")
    sketch.add("CrossEntropy", "loss", {"weight": 0.5}, prediction=head, target=f"{data}.species")
    sketch.add("Accuracy", "loss", prediction=head, target=f"{data}.species")
    program = program_of(sketch)
    model, batch = program.Model(), batch_of(program)
    whole = torch.nn.functional.cross_entropy(model(batch["features"]), batch["species"])
    assert list(program.objective(model, batch)) == ["loss"]
    assert torch.equal(program.objective(model, batch)["loss"], 0.5 * whole)
    assert list(program.measure(model, batch)) == ["loss", "loss_2"]


def test_one_target_can_go_to_two_losses_and_a_column_can_be_compared_with_itself() -> None:
    sketch = classifier()
    sketch.add("CrossEntropy", "again", {"smoothing": 0.1}, prediction="n3", target="n1.species")
    sketch.add("MSE", "of the data", prediction="n1.features", target="n1.features")
    program = program_of(sketch)
    found = program.objective(program.Model(), batch_of(program))
    assert list(found) == ["loss", "loss_", "again", "of_the_data"]
    assert found["of_the_data"].item() == 0
    assert torch.allclose(found["loss"], found["loss_"] + found["again"])


def test_a_net_can_learn_its_own_input() -> None:
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    code = sketch.add("Linear", "code", {"units": 2, "activation": "tanh"}, x=f"{data}.features")
    back = sketch.add("Linear", "back", {"units": 4}, x=code)
    sketch.add("MSE", "loss", prediction=back, target=f"{data}.features")
    program = program_of(sketch)
    model, batch = program.Model(), batch_of(program)
    loss = program.objective(model, batch)["loss"]
    assert torch.equal(loss, ((model(batch["features"]) - batch["features"]) ** 2).mean())


def test_evaluation_is_the_mean_over_all_rows_with_dropout_off() -> None:
    sketch = classifier()
    drop = sketch.add("Dropout", "drop", x="n2")
    other = sketch.add("Linear", "other", {"units": 3}, x=drop)
    sketch.add("CrossEntropy", "second", prediction=other, target="n1.species")
    sketch.add("Accuracy", "right", prediction=other, target="n1.species")
    sketch.plan(batch=7)
    program = program_of(sketch)
    model = program.Model()
    split = program.load(datasets_folder())["validation"]
    assert len(split["species"]) % 7 != 0  # the last batch is smaller and counts less
    first, second = program.evaluate(model, split), program.evaluate(model, split)
    assert first == second and model.training
    model.eval()
    with torch.no_grad():
        scores = program.forward(model, split)
        whole = torch.nn.functional.cross_entropy(scores[1], split["species"])
    assert first["second"] == pytest.approx(whole.item(), rel=1e-6)
    assert first["right"] == pytest.approx((scores[1].argmax(1) == split["species"]).float().mean().item())
