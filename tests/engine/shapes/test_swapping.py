"""A layer drawn from its parts is the layer: the same answers from the same weights, there and back."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from engine.catalogue.drawn_forms import drawn_forms, form_of, recognised
from engine.document.edits import UNSET, AddNodes, SetParam
from engine.document.graph import Node, Project
from engine.document.plan import Choice
from engine.errors import GraphError
from engine.shapes.swapping import drawing, using_fast
from engine.train.rebuild import rebuild, redrawn, redrawn_state
from tests.engine.procedures.running import loaded
from tests.engine.sketches import catalogue, gallery
from tests.engine.train.networks import run_of

PLACE, WIDTH = "n23", 96  # self-attention in the block of the decoder, used twice


def plain() -> Project:
    """The decoder, with attention of the kind that can be drawn: without positions and dropout."""
    project = gallery("char-decoder").copy()
    for name in ("positions", "dropout"):
        SetParam(PLACE, name, UNSET).apply(project)
    return project


def drawn(**params: object) -> tuple[Project, Project]:
    """The decoder, and a copy of it in which attention is drawn."""
    fast = plain()
    for name, value in params.items():
        SetParam(PLACE, name, value).apply(fast)  # type: ignore[arg-type]
    other = fast.copy()
    for edit in drawing(other, catalogue(), PLACE, WIDTH):
        edit.apply(other)
    return fast, other


@pytest.mark.parametrize("params", [{}, {"causal": False, "heads": 3}], ids=["causal", "both ways"])
@torch.no_grad()
def test_the_drawing_gives_the_same_from_the_same_weights(params: dict[str, object]) -> None:
    models = []
    for project in drawn(**params):
        _, model, data = loaded(project)
        models.append(model.eval())
    fast, other = models
    weights = redrawn(fast.state_dict(), other.state_dict())
    assert weights is not None
    other.load_state_dict(weights)
    tokens = data["validation"]["tokens"][:3]
    torch.testing.assert_close(other(tokens), fast(tokens), atol=2e-5, rtol=1e-5)
    back = redrawn(other.state_dict(), fast.state_dict())
    assert back is not None and all(torch.equal(back[name], one) for name, one in fast.state_dict().items())


def test_a_run_goes_on_through_the_drawing_and_back_as_if_nothing_had_been_drawn() -> None:
    fast, other = drawn()
    # No Adam: the bias of keys changes no answer, and Adam makes whole steps of the rounding of its slope.
    momentum = Choice("SGD", {"lr": 0.1, "momentum": 0.9})
    for project in (fast, other):
        project.plan = replace(project.plan.with_(optimiser=momentum), batch=4)
    run, alone, drawing_run = run_of(fast), run_of(fast), run_of(other)
    torch.manual_seed(0)  # one source of random numbers serves all runs
    for number, program in enumerate((None, drawing_run.program, alone.program)):
        if program is not None:
            assert rebuild(run, program, lambda: run.data, run.settings, number) == ()
        for one in (run, alone):
            state = torch.get_rng_state()
            for _ in range(3):
                one.advance()
            if one is run:
                torch.set_rng_state(state)
    wanted, found = alone.model.state_dict(), run.model.state_dict()
    for name, value in wanted.items():
        torch.testing.assert_close(found[name], value, atol=2e-5, rtol=0)
    remembered = [state for state in run.optimiser.state.values() if "momentum_buffer" in state]
    assert len(remembered) == len(list(run.model.parameters()))


def test_what_an_optimiser_remembers_is_split_and_joined_as_the_weights_are() -> None:
    (form,) = drawn_forms()
    torch.manual_seed(0)
    old = {
        f"a.{whole}": torch.randn(2 * len(parts), *[3] * (index + 1))
        for index, (whole, parts) in enumerate(form.weights.items())
    }
    new = {
        f"a.{part}": torch.empty(2, *old[f"a.{whole}"].shape[1:])
        for whole, parts in form.weights.items()
        for part in parts
    }
    states = {name: {"step": torch.tensor(4.0), "exp_avg": value * 2} for name, value in old.items()}
    cut = redrawn_state(states, old, new)
    for whole, parts in form.weights.items():
        joined = torch.cat([cut[f"a.{part}"]["exp_avg"] for part in parts])
        assert torch.equal(joined, states[f"a.{whole}"]["exp_avg"])
        assert all(cut[f"a.{part}"]["step"] == 4 for part in parts)
    back = redrawn_state(cut, redrawn(old, new) or {}, old)
    assert all(torch.equal(back[name]["exp_avg"], state["exp_avg"]) for name, state in states.items())
    rows = {name: {"row_var": torch.ones(len(value), 1, 1, 1, 1, 1)} for name, value in old.items()}
    assert redrawn_state(rows, old, new) == {}  # of another shape than the weights
    assert redrawn_state({}, old, new) == {}


def test_it_is_drawn_and_undrawn_where_it_stands() -> None:
    fast, other = drawn()
    node = other.find(PLACE)
    assert node is not None and node.block and len(other.blocks) == 2
    found = recognised(other.block(node.block).graph)
    assert found is not None and found[0].fast == "SelfAttention"
    assert found[1:] == ({"heads": 4, "causal": True}, WIDTH)
    for edit in using_fast(other, catalogue(), PLACE):
        edit.apply(other)
    inside, before = other.blocks["b20"].graph, fast.blocks["b20"].graph
    assert [(one.id, one.type, one.name) for one in inside.nodes.values()] == [
        (one.id, one.type, one.name) for one in before.nodes.values()
    ]
    assert list(inside.links) == list(before.links) and list(other.blocks) == ["b20"]
    assert using_fast(other, catalogue(), PLACE) == () == drawing(other, catalogue(), "n22", WIDTH)


def test_undoing_gives_the_project_as_it_was() -> None:
    fast = plain()
    before, undo = fast.copy(), []
    for edit in drawing(fast, catalogue(), PLACE, WIDTH):
        undo.append(edit.apply(fast))
    for edit in reversed(undo):
        edit.apply(fast)
    assert repr(fast.blocks) == repr(before.blocks)


def test_a_drawing_that_was_changed_is_another_layer() -> None:
    _, other = drawn()
    node = other.find(PLACE)
    assert node is not None
    inside = other.block(node.block).graph
    scores = next(one for one in inside.nodes.values() if one.name == "scores")
    SetParam(scores.id, "scaled", False).apply(other)
    assert recognised(inside) is None and using_fast(other, catalogue(), PLACE) == ()


def test_shared_weights_stand_in_the_way() -> None:
    fast = plain()
    AddNodes((Node("n90", "SelfAttention", "again", shares=PLACE),), into="b20").apply(fast)
    for node_id in (PLACE, "n90"):
        with pytest.raises(GraphError, match="shared"):
            drawing(fast, catalogue(), node_id, WIDTH)


def test_each_form_names_a_type_and_weights_of_it() -> None:
    for form in drawn_forms():
        kind = catalogue().get(form.fast)
        assert kind is not None and form_of(form.fast) is form
        assert set(form.params) <= {spec.name for spec in kind.params}
        names = {one["name"] for one in form.nodes}
        assert len(names) == len(form.nodes) and form.about.endswith(".")
        assert {end for link in form.links for end in (link[0], link[2])} == names
