"""Dense layers and tables against the products and look-ups they stand for."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.nodes.values import built, close, through


@pytest.mark.parametrize("bias", [True, False])
def test_a_unit_is_a_weighted_sum(bias: bool) -> None:
    model, layer = built("Linear", {"units": 5, "bias": bias}, (7, 3))
    dense = getattr(model, layer)
    x = torch.randn(4, 7, 3)
    wanted = torch.einsum("ntf,uf->ntu", x, dense.weight)
    assert (dense.bias is not None) == bias
    assert close(model(x), wanted + dense.bias if bias else wanted)


def test_a_table_gives_the_row_of_each_number() -> None:
    model, layer = built("Embedding", {"entries": 10, "size": 3}, (5,), whole=True)
    words = torch.tensor([[0, 9, 3, 3, 1]])
    assert torch.equal(model(words)[0], getattr(model, layer).weight[words[0]])


@pytest.mark.parametrize("init", ["default", "normal"])
def test_the_filler_of_a_table_is_zero_and_stays_so(init: str) -> None:
    params = {"entries": 6, "size": 3, "padding": 2, "init": init}
    model, layer = built("Embedding", params, (4,), whole=True)
    weight = getattr(model, layer).weight
    assert not weight[2].any() and weight[[0, 1, 3, 4, 5]].ne(0).all()
    model(torch.tensor([[2, 2, 0, 5]])).sum().backward()
    assert not weight.grad[2].any() and weight.grad[0].eq(1).all()


def test_a_filler_outside_the_table_is_said_to_be() -> None:
    from engine.shapes.shapes import ShapeBook, Signature
    from tests.engine.sketches import catalogue

    facts = ShapeBook(catalogue()).trial(
        "Embedding", {"entries": 5, "padding": 5}, {"x": Signature((3,), "int64")}
    )
    assert facts.problem is not None and facts.problem.message == "The filler is entry 5, but the last is 4."


@pytest.mark.parametrize(
    ("params", "answers"),
    [
        ({"threshold": 2.0}, [0, 0, 0, 1]),  # AND
        ({}, [0, 1, 1, 1]),  # OR
        ({"weights": (1.0, -1.0)}, [0, 0, 1, 0]),  # the first, unless the second inhibits it
        ({"weights": (-1.0,), "threshold": 0.0}, [1, 0, 0, 0]),  # NOR
    ],
)
def test_units_of_mcculloch_and_pitts_are_gates(params: dict[str, Any], answers: list[int]) -> None:
    rows = torch.tensor([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    assert through("McCullochPitts", params, rows)[:, 0].tolist() == answers


def test_typed_units_are_what_they_are_typed_as() -> None:
    x = torch.tensor([[-1.0], [0.0], [0.25], [2.0]])
    found = through("TypedLinear", {"rows": "0.5 1; 0 -2; 1, 0", "activation": "ReLU"}, x)
    torch.testing.assert_close(found, torch.relu(torch.cat([x + 0.5, -2 * x, torch.ones_like(x)], 1)))


@pytest.mark.parametrize(
    ("rows", "words"), [("1 1 1", "a bias and 1 weight here, but 3 numbers"), ("a", "is numbers")]
)
def test_typed_units_that_do_not_fit_are_refused(rows: str, words: str) -> None:
    from engine.shapes.shapes import ShapeBook, Signature
    from tests.engine.sketches import catalogue

    facts = ShapeBook(catalogue()).trial("TypedLinear", {"rows": rows}, {"x": Signature((1,))})
    assert facts.problem is not None and words in facts.problem.message
