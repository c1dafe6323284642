"""What is known of attention in numbers: the variance of scores, ranks, and that it sees no order."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from engine.layers.attention import SelfAttention
from engine.layers.encodings import Positions
from engine.look.sequences.attention import weights_of


@pytest.mark.parametrize("size", [16, 64])
def test_the_variance_of_a_score_is_the_number_of_features(size: int) -> None:
    """Of q · k for normally distributed q and k; divided by √d it is 1."""
    draws = torch.Generator().manual_seed(size)
    query, key = torch.randn(2, 200_000, size, generator=draws)
    scores = (query * key).sum(1)
    assert scores.var().item() == pytest.approx(size, rel=0.02)
    assert (scores / size**0.5).var().item() == pytest.approx(1, rel=0.02)


def test_scores_have_the_rank_of_a_head_and_weights_have_all() -> None:
    """64 steps, one head of 4 features: the softmax is no linear function."""
    torch.manual_seed(0)
    made, x = SelfAttention(4, 1, causal=False).double(), torch.randn(1, 64, 4, dtype=torch.float64)
    nn.init.normal_(made.projection.weight)
    query, key, _ = made.split(x)
    assert torch.linalg.matrix_rank(query[0, 0] @ key[0, 0].T) == 4
    weights, _ = weights_of(made, x)
    assert torch.linalg.matrix_rank(weights[0, 0]) == 64


class Net(nn.Module):
    """Two layers of attention with dense ones between, and the mean over all steps."""

    def __init__(self, causal: bool = False, places: bool = False) -> None:
        super().__init__()
        self.places = Positions(12, 8) if places else nn.Identity()
        self.layers = nn.ModuleList(SelfAttention(8, 2, causal) for _ in range(2))
        self.dense = nn.ModuleList(nn.Linear(8, 8) for _ in range(2))
        self.double()

    def forward(self, x: Tensor) -> Tensor:
        x = self.places(x)
        for layer, dense in zip(self.layers, self.dense, strict=True):
            x = x + layer(x)
            x = x + torch.tanh(dense(x))
        return x.mean(1)


def moved(**options: bool) -> float:
    """How far the answer moves when two tokens change places."""
    torch.manual_seed(1)
    net, x = Net(**options), torch.randn(1, 12, 8, dtype=torch.float64)
    order = torch.arange(12)
    order[[2, 9]] = order[[9, 2]]
    return (net(x) - net(x[:, order])).abs().max().item()


def test_without_positions_and_mask_it_sees_no_order() -> None:
    assert moved() <= 2.3e-16  # the last bit of a number of about 1
    assert moved(causal=True) > 1e-2  # a mask alone breaks the symmetry
    assert moved(places=True) > 1e-2
