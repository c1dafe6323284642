"""A model writes what it has learnt to come next."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn

from engine.catalogue import Column, Data
from engine.emit.program import compile_program
from engine.feed.feed import Probe
from engine.look.registry import probe_kinds
from engine.look.sequences.writing import FEWEST, WRITTEN, token_column
from engine.look.sight import Look
from engine.shapes.heads import CLASSES, Head, loss_heads
from tests.engine.look.looking import look_at, taken
from tests.engine.procedures.running import states_of
from tests.engine.sketches import catalogue, gallery

WORDS = ("the", "cat", "sat")


class Words(Data):
    def columns(self) -> tuple[Column, ...]:
        return (Column("x", (3,), "int64", WORDS),)


class Shifted(nn.Module):
    """Scores (N, tokens, places): the next token is likely the present one plus 1."""

    def forward(self, x: Tensor) -> Tensor:
        return 5.0 * nn.functional.one_hot((x + 1) % 3, 3).transpose(1, 2).float()


def looking(labels: tuple[str, ...] = WORDS) -> Look:
    x = torch.tensor([[0, 1, 2], [2, 0, 1]])
    look = look_at(Shifted(), x, {"n1": Words()}, pinned=1)
    head = Head("n3", CLASSES, ("n2", "output"), ("n1", "y"), len(labels), "y", labels)
    return replace(look, heads=(head,), data={"validation": {"x": x, "y": (x + 1) % 3}})


def test_each_token_follows_the_one_before() -> None:
    tokens, facts = taken(looking(), "written_text", 5, 0)
    assert facts["begin"] == ("sat", "the", "cat")
    assert tokens.tolist() == [(2 + at) % 3 for at in range(WRITTEN)]
    assert facts["words"][:4] == ("sat", "the", "cat", "sat")


def test_a_high_temperature_and_other_draws_bring_other_texts() -> None:
    warm, _ = taken(looking(), "written_text", 200, 0)
    again, _ = taken(looking(), "written_text", 200, 0)
    other, _ = taken(looking(), "written_text", 200, 1)
    assert warm.tolist() == again.tolist() != other.tolist()
    follows = sum((one + 1) % 3 == after for one, after in pairwise(warm)) / (WRITTEN - 1)
    # exp(5 / 2) / (exp(5 / 2) + 2) is .86
    assert follows == pytest.approx(0.86, abs=0.08)


def test_another_vocabulary_is_no_text_to_go_on_with() -> None:
    look = looking(("yes", "no"))
    assert token_column(look, look.heads[0]) is None


def test_a_slow_model_writes_less_while_it_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.look.sequences.writing.SECONDS", 0.0)
    tokens, facts = taken(looking(), "written_text", 5, 0)
    assert len(tokens) == len(facts["words"]) == FEWEST
    tokens, _ = taken(replace(looking(), standing=True), "written_text", 5, 0)
    assert len(tokens) == WRITTEN


def test_a_causal_decoder_writes_what_generate_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.look.sequences.writing.WRITTEN", 40)  # from the first on the text begins anew
    program = compile_program(gallery("char-decoder"), catalogue())
    torch.manual_seed(0)
    model = program.make_model("cpu").eval()
    text = torch.randint(5, 72, (3, 65))
    data = {"validation": {"tokens": text[:, :-1], "next": text[:, 1:]}}
    look = Look(program, model, data, loss_heads(program.project, program.book), "cpu", 0, 1)
    found = probe_kinds()["written_text"].take(look, Probe("n6", "written_text", (70, 3)))
    assert isinstance(found, tuple)
    at = slice(look.example, look.example + 1)
    batch = {name: column[at] for name, column in data["validation"].items()}
    given = {"length": 40, "temperature": 0.7, "top_k": 0, "top_p": 1.0, "method": "sample", "width": 1}
    states = states_of(program, model, batch, "generate", seed=3, prompt="", cache=False, **given)
    assert found[0].tolist() == states[-1]["tokens"] and len(found[0]) == 40
