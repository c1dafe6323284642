"""A view's run of a procedure: the same states as the procedure's own, cut where they are too many."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.document.plan import Plan
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look import procedures as shown
from engine.look.registry import Taken, probe_kinds
from engine.look.sight import Look
from engine.procedures.rows import state_in_words
from tests.engine.procedures.running import loaded, offered, states_of
from tests.engine.procedures.test_boltzmann import machine
from tests.engine.sketches import classifier, gallery
from tests.gallery.boxed import boxed


def look_at(project_id: str = "") -> Look:
    drawn = {"classifier": lambda: classifier().project, "boxed": lambda: boxed("CentrePointLoss", Plan())}
    project = {"": machine, **drawn}.get(project_id)
    program, model, data = loaded(project() if project is not None else gallery(project_id))
    return Look(program, model, data, (), "cpu", 0, 5)


def taken(look: Look, name: str, seed: int = 0, **values: object) -> Taken:
    detail = shown.asked_for(offered(look.program, name), values, seed)
    found = probe_kinds()["procedure"].take(look, Probe("", "procedure", detail))
    assert isinstance(found, tuple)
    return found


def test_a_view_gets_the_states_that_the_command_line_prints() -> None:
    look = look_at()
    array, facts = taken(look, "gibbs", 4, rounds=5, rows=(1, 2), split="train")
    batch = {name: column[[1, 2]] for name, column in look.data["train"].items()}
    states = states_of(look.program, look.model, batch, "gibbs", 4, rounds=5)
    assert array.shape == (6, 2, 2) and not facts["images"]
    np.testing.assert_array_equal(array, np.stack([state["visible"].numpy() for state in states]))
    rest = [{name: value for name, value in state.items() if name != "visible"} for state in states]
    assert facts["words"] == tuple(map(state_in_words, rest)) and not facts["cut"]
    assert look.model.training


def test_too_many_states_are_cut_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "MOST_STATES", 7)
    array, facts = taken(look_at(), "gibbs", rounds=50)
    assert len(array) == 7 and facts["cut"]


def test_images_are_drawn_as_images_and_text_as_text() -> None:
    array, facts = taken(look_at("two-heads"), "attribute_digit", rows=(0, 1), steps=4)
    assert facts["images"] and array.shape == (2, 1, 8, 8)
    array, facts = taken(look_at("romeo-letters"), "generate", length=5)
    assert len(array) == 5 and len(facts["texts"]) == 5 and "tree" not in facts
    _, facts = taken(look_at("romeo-letters"), "generate", length=3, method="beam", width=2)
    assert [len(level) for level in facts["tree"]] == [4, 4, 4]
    for level, text, likely in zip(facts["tree"], facts["texts"], facts["log_probabilities"], strict=True):
        assert [kept for *_, kept in level] == [True, True, False, False]
        assert text.endswith(level[0][1]) and level[0][2] == likely


def test_boxes_come_with_the_images_that_they_lie_in() -> None:
    look = look_at("boxed")
    array, facts = taken(look, "detect", rows=(2, 4), least=0.5, most=6)
    batch = {name: column[[2, 4]] for name, column in look.data["validation"].items()}
    states = states_of(look.program, look.model, batch, "detect", least=0.5, most=6)
    assert np.array_equal(facts["inputs"], batch["image"].numpy()) and len(array) == len(states)
    for found, state in zip(facts["found"], states, strict=True):
        assert found[:2].tolist() == [state["row"], state["class"]]
        assert np.array_equal(found[2:6], state["box"].numpy())
        assert found[6] == np.float32(state["probability"])


def test_what_cannot_be_run_is_said_at_the_node() -> None:
    look = look_at("classifier")
    with pytest.raises(NeuroloomError, match="There are 3 scores, from 0 to 2") as caught:
        taken(look, "attribute", target=7)
    assert caught.value.node_id == "n3"
    with pytest.raises(NeuroloomError, match="Rows of the test split are numbers from 0 to"):
        taken(look, "predict", rows=(10_000,), split="test")
    assert torch.is_grad_enabled()
