"""Dense layers and tables against the products and look-ups they stand for."""

from __future__ import annotations

import pytest
import torch

from tests.nodes.values import built, close


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
