"""Every parameter belongs to one part, and parts are those of the layers that torch makes."""

from __future__ import annotations

import pytest
from torch import nn

from engine.shapes.budget import parameter_budget
from engine.shapes.shapes import check
from tests.engine.sketches import Sketch, catalogue, gallery


def test_gpt_2_small_has_its_published_number_of_parameters() -> None:
    book = check(gallery("gpt2-small"), catalogue())
    assert not book.problems and book.total_parameters == 124_439_808
    assert parameter_budget(book) == {
        "dense": 12 * (2 * 768 * 3072 + 3072 + 768),
        "embedding": (50257 + 1024) * 768,
        "attention": 12 * 4 * (768 * 768 + 768),
        "norm": 25 * 2 * 768,
    }


@pytest.mark.parametrize(
    "project_id", ["mnist-cnn", "vit-mnist", "char-decoder", "masked-letters", "mixture-em"]
)
def test_the_parts_are_all_there_is(project_id: str) -> None:
    book = check(gallery(project_id), catalogue())
    assert sum(parameter_budget(book).values()) == book.total_parameters


@pytest.mark.parametrize("type_id", ["TransformerEncoderLayer", "TransformerDecoderLayer"])
def test_whole_layers_are_divided_as_torch_makes_them(type_id: str) -> None:
    sketch = Sketch()
    data = sketch.add("Input", params={"shape": (5, 12), "whole": False})
    memory = {"memory": data} if type_id == "TransformerDecoderLayer" else {}
    sketch.add(type_id, params={"heads": 3, "wide": 20}, x=data, **memory)
    made = getattr(nn, type_id)(12, 3, 20)
    expected = {"attention": 0, "norm": 0, "dense": 0}
    for name, weight in made.named_parameters():
        part = "attention" if "attn" in name else "norm" if "norm" in name else "dense"
        expected[part] += weight.numel()
    assert parameter_budget(check(sketch.project, catalogue())) == expected


def test_weights_of_a_block_count_in_each_copy_and_shared_ones_once() -> None:
    project = gallery("char-decoder")
    block = next(node for node in project.graph.nodes.values() if node.type == "Block")
    twice = parameter_budget(check(project, catalogue()))["attention"]
    block.params["times"] = 5
    assert parameter_budget(check(project, catalogue()))["attention"] == twice // 2 * 5
    block.params["own_weights"] = False
    assert parameter_budget(check(project, catalogue()))["attention"] == twice // 2
