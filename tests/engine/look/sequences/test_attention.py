"""Attention as it was used, masks included, of torch's layers and of one that says its own."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from engine.catalogue import Column, Data
from engine.emit.program import compile_program
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.registry import probe_kinds
from engine.look.sight import Look
from tests.engine.look.looking import look_at, taken
from tests.engine.sketches import catalogue, gallery
from tests.engine.train.networks import DATASETS


class Causal(nn.Module):
    """Self-attention in which no token sees later ones; tokens are embedded first where they are numbers."""

    def __init__(self, width: int = 8, heads: int = 2, tokens: int = 0) -> None:
        super().__init__()
        self.embed = nn.Embedding(tokens, width) if tokens else nn.Identity()
        self.attend = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        x = self.embed(x)
        mask = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), 1)
        made: Tensor = self.attend(x, x, x, attn_mask=mask, need_weights=False)[0]
        return made


class Own(nn.Module):
    """Bahdanau-like: each of two outputs looks at four inputs, and tells."""

    attention: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        self.attention = torch.tensor([[0.7, 0.1, 0.1, 0.1], [0.0, 0.5, 0.5, 0.0]]).expand(len(x), 2, 4)
        return self.attention @ x


def by_hand(layer: nn.MultiheadAttention, x: Tensor, mask: Tensor) -> Tensor:
    """Softmax of q·k / √d, head by head."""
    q, k, _ = (x @ layer.in_proj_weight.T + layer.in_proj_bias).chunk(3, 1)
    width = q.shape[1] // layer.num_heads
    heads = []
    for q_one, k_one in zip(q.split(width, 1), k.split(width, 1), strict=True):
        scores = (q_one @ k_one.T / width**0.5).masked_fill(mask, -torch.inf)
        heads.append(scores.softmax(1))
    return torch.stack(heads)


def test_the_weights_of_masked_self_attention() -> None:
    torch.manual_seed(0)
    layer, x = Causal(), torch.randn(3, 5, 8)
    array, facts = taken(look_at(layer, x, pinned=1), "attention")
    mask = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
    expected = by_hand(layer.attend, x[1], mask).detach().numpy()
    np.testing.assert_allclose(array, expected, atol=1e-3)
    np.testing.assert_allclose(array.astype(float).sum(2), 1, atol=2e-3)
    np.testing.assert_array_equal(facts["barred"], mask.numpy())
    assert facts["example"] == 1 and facts["block"] == 1 and facts["size"] == (5, 5)
    assert not layer.attend._forward_pre_hooks


@pytest.mark.parametrize("training", [True, False])
def test_encoders_of_torch_are_seen_though_they_have_a_faster_way(training: bool) -> None:
    torch.manual_seed(0)
    one = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.5, batch_first=True)
    layer = nn.TransformerEncoder(one, 3, enable_nested_tensor=False).train(training)
    x = torch.randn(2, 6, 8)
    array, facts = taken(look_at(layer, x), "attention")
    assert array.shape == (2, 6, 6) and len(facts["modules"]) == 3
    nothing = torch.zeros(6, 6, dtype=torch.bool)
    first = by_hand(layer.layers[0].self_attn, x[0], nothing).detach().numpy()
    np.testing.assert_allclose(array, first, atol=1e-3)
    deeper, _ = taken(look_at(layer, x), "attention", 2)
    assert np.abs(deeper.astype(float) - array).max() > 1e-3
    assert layer.training is training


def test_a_module_may_say_its_own_attention() -> None:
    array, facts = taken(look_at(Own(), torch.randn(2, 4, 3)), "attention")
    np.testing.assert_allclose(array, [[[0.7, 0.1, 0.1, 0.1], [0, 0.5, 0.5, 0]]], atol=1e-3)
    assert facts["size"] == (2, 4) and facts["barred"] is None


def test_tokens_have_the_names_of_their_column() -> None:
    class Words(Data):
        def columns(self) -> tuple[Column, ...]:
            return (Column("x", (3,), "int64", ("the", "cat", "sat")),)

    tokens = torch.tensor([[0, 1, 2], [2, 1, 0]])
    _, facts = taken(look_at(Causal(tokens=3), tokens, {"n1": Words()}, pinned=1), "attention")
    assert facts["queries"] == facts["keys"] == ("sat", "cat", "the")


def test_long_sequences_come_in_blocks_whose_rows_still_sum_to_1() -> None:
    torch.manual_seed(0)
    array, facts = taken(look_at(Causal(), torch.randn(1, 351, 8)), "attention")
    assert facts["block"] == 3 and array.shape == (2, 117, 117)
    np.testing.assert_allclose(array.astype(float).sum(2), 1, atol=5e-3)
    assert facts["barred"][0, 1] and not facts["barred"][1, 0] and not facts["barred"][1, 1]


def test_a_layer_without_attention_says_so() -> None:
    with pytest.raises(NeuroloomError, match="No attention"):
        taken(look_at(nn.Linear(3, 2), torch.randn(2, 3)), "attention")


def test_sines_of_positions_are_as_alike_as_they_are_near() -> None:
    class Sines(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            place = torch.arange(20)[:, None] / 10_000 ** (torch.arange(4) / 4)
            self.register_buffer("position_code", torch.cat([place.sin(), place.cos()], 1))

        def forward(self, x: Tensor) -> Tensor:
            return x

    array, facts = taken(look_at(Sines(), torch.randn(1, 3)), "positions")
    assert array.shape == (20, 8)
    np.testing.assert_allclose(array[:, 0], np.sin(np.arange(20)), atol=1e-6)
    likeness = facts["likeness"]
    gap = np.arange(20)[:, None] - np.arange(20)
    expected = sum(np.cos(gap / 10_000 ** (k / 4)) for k in range(4)) / 4
    np.testing.assert_allclose(likeness, expected, atol=1e-5)


def test_learned_positions_are_found_by_their_name() -> None:
    layer = nn.Module()
    layer.words, layer.position = nn.Embedding(7, 4), nn.Embedding(5, 4)
    array, _ = taken(look_at(layer, torch.randn(1, 3)), "positions")
    np.testing.assert_array_equal(array, layer.position.weight.detach().numpy())


def test_the_attention_of_a_node_in_a_repeated_block_of_the_gallery() -> None:
    program = compile_program(gallery("char-decoder"), catalogue())
    torch.manual_seed(0)
    look = Look(program, program.make_model("cpu"), program.load(DATASETS), (), "cpu", 0, 0)
    found = probe_kinds()["attention"].take(look, Probe("n23", "attention", (0,)))
    assert found is not None
    array, facts = found
    assert array.shape == (4, 64, 64) and facts["barred"].sum() == 64 * 63 / 2
    np.testing.assert_allclose(array.astype(float).sum(2), 1, atol=5e-3)
    assert not array[:, facts["barred"]].any() and len(facts["keys"]) == 64
