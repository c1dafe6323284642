"""Self-attention against torch's own layer, against a loop by hand, and in a decoder that sees no future."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from engine.document.files import load_project
from engine.emit.program import compile_program
from engine.layers.attention import SelfAttention
from engine.look.sequences.attention import attentions, weights_of
from tests.engine.sketches import GALLERY, catalogue

N, T, D, HEADS = 3, 7, 12, 4


def layer(causal: bool = True) -> SelfAttention:
    torch.manual_seed(1)
    return SelfAttention(D, HEADS, causal).double()


def sequences() -> Tensor:
    return torch.randn(N, T, D, dtype=torch.float64, generator=torch.Generator().manual_seed(2))


def by_hand(made: SelfAttention, x: Tensor) -> tuple[Tensor, Tensor]:
    """What one sequence (T, D) becomes, and its weights (heads, T, T): step by step, head by head."""
    query, key, value = (x @ made.projection.weight.T + made.projection.bias).chunk(3, 1)
    size = D // HEADS
    read, weights = torch.zeros(T, D, dtype=x.dtype), torch.zeros(HEADS, T, T, dtype=x.dtype)
    for head in range(HEADS):
        part = slice(head * size, (head + 1) * size)
        for step in range(T):
            last = step + 1 if made.causal else T
            fits = torch.stack([query[step, part] @ key[at, part] / math.sqrt(size) for at in range(last)])
            weights[head, step, :last] = fits.exp() / fits.exp().sum()
            read[step, part] = weights[head, step] @ value[:, part]
    return read @ made.output.weight.T + made.output.bias, weights


@pytest.mark.parametrize("causal", [True, False])
def test_it_is_what_torchs_layer_computes(causal: bool) -> None:
    made, x = layer(causal), sequences()
    reference = nn.MultiheadAttention(D, HEADS, batch_first=True).double()
    names = {"in_proj_weight": made.projection.weight, "in_proj_bias": made.projection.bias}
    names |= {f"out_proj.{one}": value for one, value in made.output.named_parameters()}
    reference.load_state_dict(names)
    barred = torch.ones(T, T, dtype=torch.bool).triu(1) if causal else None
    wanted, weights = reference(x, x, x, attn_mask=barred, average_attn_weights=False)
    torch.testing.assert_close(made(x), wanted)
    torch.testing.assert_close(weights_of(made, x)[0], weights)


@pytest.mark.parametrize("causal", [True, False])
def test_it_is_the_formula(causal: bool) -> None:
    made, x = layer(causal), sequences()
    for one, found, weights in zip(x, made(x), weights_of(made, x)[0], strict=True):
        wanted = by_hand(made, one)
        torch.testing.assert_close(found, wanted[0])
        torch.testing.assert_close(weights, wanted[1])


def test_views_see_what_it_reads() -> None:
    made, x = layer(), sequences()
    [found] = attentions({"": made}, lambda: made(x))
    torch.testing.assert_close(found.weights, by_hand(made, x[0])[1].float())
    assert found.barred is not None and found.barred.tolist() == torch.ones(T, T).triu(1).bool().tolist()


def test_a_later_step_never_changes_an_earlier_one() -> None:
    made, x = layer(), sequences()
    for step in range(1, T):
        other = x.clone()
        other[:, step:] = 9.0
        assert torch.equal(made(other)[:, :step], made(x)[:, :step])
        assert not torch.equal(made(other)[:, step], made(x)[:, step])


def test_nor_does_a_later_token_in_the_decoder_of_the_gallery() -> None:
    program = compile_program(load_project(GALLERY / "char-decoder.nloom"), catalogue())
    torch.manual_seed(0)
    model = program.make_model("cpu").eval()
    tokens = torch.randint(0, 60, (2, 64), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        found = model(tokens)
        for step in (1, 20, 63):
            other = tokens.clone()
            other[:, step:] = (other[:, step:] + 7) % 60
            torch.testing.assert_close(model(other)[:, :step], found[:, :step])
            assert not torch.allclose(model(other)[:, step], found[:, step])
