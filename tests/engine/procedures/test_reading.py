"""What a model writes is the same whether each token is read once or all of them at every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from engine.document.edits import AddNodes, Disconnect
from engine.document.graph import BLOCK_INPUT, BLOCK_OUTPUT, Graph, Link, Node
from engine.layers.attention import SelfAttention
from engine.layers.encodings import LearnedPositions, Positions
from engine.layers.sequences import attention as forms
from engine.layers.sequences.positions import PlainPositions
from engine.layers.sequences.transformers import CausalLayer
from engine.procedures.declare import Net
from engine.procedures.reading import UnnamedTokens
from engine.procedures.text import GenerateOn, written_on
from engine.shapes.shapes import check
from tests.engine.sketches import catalogue, gallery

TOKENS, WINDOW, WIDE = 11, 8, 12
ATTENTION: dict[str, Callable[[], nn.Module]] = {
    "one projection": lambda: SelfAttention(WIDE, 3),
    "groups": lambda: forms.Attention(WIDE, WIDE, 4, groups=2, causal=True),
    "dot": lambda: forms.DotAttention(WIDE, WIDE, 3, causal=True),
    "cosine": lambda: forms.CosineAttention(WIDE, WIDE, 3, causal=True),
    "additive": lambda: forms.AdditiveAttention(WIDE, WIDE, 3, causal=True),
    "rotary": lambda: forms.RotaryAttention(WIDE, WIDE, 3, causal=True),
    "relative": lambda: forms.RelativeAttention(WIDE, WIDE, 3, reach=3, causal=True),
    "whole layers": lambda: CausalLayer(WIDE, 3, 20, 0.0, "gelu", batch_first=True, norm_first=True),
    "norm behind": lambda: CausalLayer(WIDE, 3, 20, 0.0, batch_first=True),
}
PLACES = {
    "learned": lambda: LearnedPositions(WINDOW, WIDE),
    "waves": lambda: Positions(WINDOW, WIDE),
    "binary": lambda: PlainPositions(WINDOW, WIDE, "binary"),
}
WAYS: dict[str, dict[str, Any]] = {
    "greedy": {"method": "greedy"},
    "top k": {"method": "sample", "top_k": 4},
    "nucleus": {"method": "sample", "top_p": 0.8},
    "beam": {"method": "beam", "width": 3},
}
OPTIONS: dict[str, Any] = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "width": 4, "prompt": ""}


class Decoder(nn.Module):
    """Two layers of attention with skips; the second one used twice. It counts the tokens that it reads."""

    def __init__(self, places: str, attention: str) -> None:
        super().__init__()
        self.letters = nn.Embedding(TOKENS, WIDE)
        self.places = PLACES[places]()
        self.layers = nn.ModuleList(ATTENTION[attention]() for _ in range(2))
        self.scores = nn.Linear(WIDE, TOKENS)
        self.read = 0

    def forward(self, tokens: Tensor) -> Tensor:
        self.read += tokens.numel()
        x = self.places(self.letters(tokens))
        for layer in (*self.layers, self.layers[1]):
            x = x + layer(nn.functional.layer_norm(x, (WIDE,)))
        found: Tensor = self.scores(x)
        return found


def decoder(places: str = "learned", attention: str = "one projection") -> Decoder:
    torch.manual_seed(3)
    made = Decoder(places, attention).double()
    for one in made.parameters():
        if one.ndim > 1:  # the weights of norms stay 1
            nn.init.normal_(one, std=0.7)
    return made


def text(model: Decoder, way: str, *, cache: bool, start: int = 5, length: int = 30) -> dict[str, Any]:
    """What is written, longer than the window, so that it is read again several times."""
    window = torch.arange(start)[None] % TOKENS
    window = torch.nn.functional.pad(window, (WINDOW - start, 0), value=1)
    given = {**OPTIONS, **WAYS[way]}
    draws = torch.Generator().manual_seed(1)
    with torch.no_grad():
        states = written_on(
            lambda one: model(one)[:, -1],
            window,
            UnnamedTokens(),
            model,
            draws=draws,
            length=length,
            cache=cache,
            **given,
        )
        *_, last = states
    return last


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("attention", ATTENTION)
def test_keys_and_values_that_are_kept_change_no_token(attention: str, way: str) -> None:
    kept, anew = (text(decoder("learned", attention), way, cache=cache) for cache in (True, False))
    assert kept["tokens"] == anew["tokens"] and len(set(kept["tokens"])) > 1
    assert kept["log_probability"] == pytest.approx(anew["log_probability"], abs=1e-9)


@pytest.mark.parametrize("places", PLACES)
def test_steps_that_are_new_stand_where_they_would(places: str) -> None:
    kept, anew = (text(decoder(places), "beam", cache=cache) for cache in (True, False))
    assert kept["tokens"] == anew["tokens"]
    assert kept["log_probability"] == pytest.approx(anew["log_probability"], abs=1e-9)


def test_each_token_is_read_once_until_the_text_is_longer_than_the_window() -> None:
    model = decoder()
    text(model, "greedy", cache=True, length=14)
    # the window; then 4 and one at a time up to 8 again, three times
    assert model.read == WINDOW + 3 * 4 + 10
    assert all("forward" not in vars(one) for one in model.modules())
    model.read = 0
    text(model, "greedy", cache=False, length=14)
    assert model.read == WINDOW + 2 * (4 + 5 + 6 + 7 + 8) + 4 + 5 + 6


def test_a_model_that_fails_is_left_as_it_was() -> None:
    model = decoder()
    model.scores = nn.Linear(WIDE + 1, TOKENS).double()
    with pytest.raises(RuntimeError):
        text(model, "greedy", cache=True)
    assert all("forward" not in vars(one) for one in model.modules())


def grows(project_id: str, **changed: dict[str, Any]) -> bool:
    """Whether the text of a network may grow, with changed parameters of the nodes of these names."""
    project = gallery(project_id)
    for _, graph in project.graphs():
        for node in graph.nodes.values():
            node.params.update(changed.get(node.name, {}))
    return bool([*GenerateOn.bind(Net(project, check(project, catalogue())))])


def test_only_networks_all_of_whose_layers_read_on_are_given_texts_that_grow() -> None:
    assert grows("char-decoder")
    assert grows("char-decoder", attention={"positions": "none"})
    assert not grows("char-decoder", attention={"causal": False})
    assert not grows("romeo-letters")  # an LSTM


@pytest.mark.parametrize("causal", [True, False])
def test_a_whole_layer_reads_on_where_it_is_causal(causal: bool) -> None:
    project = gallery("char-decoder")
    block = project.blocks["b20"]
    ports = [node for node in block.graph.nodes.values() if node.type in (BLOCK_INPUT, BLOCK_OUTPUT)]
    whole = Node("n23", "TransformerEncoderLayer", "layer", {"causal": causal})
    links = Link(ports[0].id, "output", "n23", "x"), Link("n23", "output", ports[1].id, "x")
    project.blocks["b20"] = replace(block, graph=Graph([*ports, whole], links))
    assert bool([*GenerateOn.bind(Net(project, check(project, catalogue())))]) is causal


def test_learned_positions_read_on() -> None:
    project = gallery("char-decoder")
    Disconnect(Link("n2", "output", "n4", "n21")).apply(project)
    places = Node("n3", "PositionalEncoding", "positions", {"learned": True})
    AddNodes((places,), (Link("n2", "output", "n3", "x"), Link("n3", "output", "n4", "n21"))).apply(project)
    assert [*GenerateOn.bind(Net(project, check(project, catalogue())))]
