"""A layer drawn from its parts is the layer: the same answers from the same weights, there and back."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from engine.catalogue.drawn_forms import DrawnForm, drawn_forms, form_called, forms_of, recognised
from engine.document.edits import UNSET, AddNodes, SetParam
from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Choice, Plan
from engine.errors import GraphError
from engine.optim.bfgs import BFGS
from engine.optim.flat import flat
from engine.optim.hmc import HMC
from engine.shapes.swapping import drawing, using_fast
from engine.train.rebuild import carry_state, rebuild, redrawn, redrawn_state
from engine.values import Value
from tests.engine.procedures.running import loaded
from tests.engine.sketches import catalogue, gallery
from tests.engine.train.networks import run_of

PLACE, WIDTH = "n23", 96  # self-attention in the block of the decoder, used twice
OF_WIDTH = (("n2", "size"), ("n27", "units"))  # what has its width


def plain() -> Project:
    """The decoder, with attention of the kind that can be drawn: without positions and dropout."""
    project = gallery("char-decoder").copy()
    for name in ("positions", "dropout"):
        SetParam(PLACE, name, UNSET).apply(project)
    return project


def drawn(width: int = WIDTH, **params: object) -> tuple[Project, Project]:
    """The decoder, and a copy of it in which attention is drawn."""
    fast = plain()
    for node_id, name in OF_WIDTH:
        SetParam(node_id, name, width).apply(fast)
    for name, value in params.items():
        SetParam(PLACE, name, value).apply(fast)  # type: ignore[arg-type]
    other = fast.copy()
    for edit in drawing(other, catalogue(), PLACE, width):
        edit.apply(other)
    return fast, other


@torch.no_grad()
def test_a_drawing_that_is_used_twice_gives_the_same_from_the_same_weights() -> None:
    models = []
    for project in drawn(causal=False, heads=3):
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


# No Adam: the bias of keys changes no answer, and Adam makes whole steps of the rounding of its slope.
MOVERS = {"SGD": {"lr": 0.1, "momentum": 0.9}, "LBFGS": {"lr": 0.1}}


@pytest.mark.parametrize("mover", MOVERS)
def test_a_run_goes_on_through_the_drawing_and_back_as_if_nothing_had_been_drawn(mover: str) -> None:
    fast, other = drawn(16)
    for project in (fast, other):
        project.plan = replace(project.plan.with_(optimiser=Choice(mover, MOVERS[mover])), batch=4)
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
    remembered = [list(state) for state in run.optimiser.state.values()]
    assert remembered == [list(state) for state in alone.optimiser.state.values()] and remembered[0]


STEPS, WIDE = 7, 8


def around(form: DrawnForm, **params: Value) -> tuple[Project, Project]:
    """The laser through the layer of a form, all of whose outputs are used, and the same with it drawn."""
    kind = catalogue().get(form.fast)
    assert kind is not None
    made = Node("n3", form.fast, "layer", {**form.when, **params})
    nodes = [
        Node("n1", "SantaFe", "", {"lag": STEPS}),
        Node("n2", "Linear", "wide", {"units": WIDE}),
        made,
        Node("n4", "LastStep"),
        Node("n5", "Concatenate"),
        Node("n6", "Linear", "value", {"units": 1}),
        Node("n7", "MSE"),
    ]
    first, *others = kind.ports_out
    joined = [Link("n4", "output", "n5", "x1")]
    joined += [Link("n3", one.name, "n5", f"x{number}") for number, one in enumerate(others, 2)]
    links = [
        Link("n1", "window", "n2", "x"),
        *(Link("n2", "output", "n3", port.name) for port in kind.ports_in),
        Link("n3", first.name, "n4", "x"),
        *(joined if others else ()),
        Link("n5" if others else "n4", "output", "n6", "x"),
        Link("n6", "output", "n7", "prediction"),
        Link("n1", "next", "n7", "target"),
    ]
    graph = Graph(nodes if others else [one for one in nodes if one.id != "n5"], links)
    fast = Project("Layer", "", graph, Plan(batch=4), next_id=20)
    other = fast.copy()
    for edit in drawing(other, catalogue(), "n3", WIDE):
        edit.apply(other)
    return fast, other


@pytest.mark.parametrize("form", drawn_forms(), ids=lambda one: one.name)
def test_each_drawing_is_its_layer_with_the_same_answers_and_gradients(form: DrawnForm) -> None:
    fast, other = around(form)
    (_, model, data), (_, drawn_model, _) = (loaded(one) for one in (fast, other))
    torch.manual_seed(0)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.4)
    weights = redrawn(model.state_dict(), drawn_model.state_dict())
    assert weights is not None
    drawn_model.load_state_dict(weights)
    readings = data["validation"]["window"][:5]
    found = []
    for one in (model.double().eval(), drawn_model.double().eval()):
        answers = one(readings.double())
        answers.square().sum().backward()
        grads = {name: part.grad for name, part in one.named_parameters() if part.grad is not None}
        found.append((answers, grads))
    (wanted, slopes), (answers, drawn_slopes) = found
    torch.testing.assert_close(answers, wanted)
    back = redrawn(drawn_slopes, slopes)
    assert back is not None and slopes.keys() == {name for name, _ in model.named_parameters()}
    for name, slope in slopes.items():
        torch.testing.assert_close(back[name], slope)
    node = other.node("n3")
    seen = recognised(other, other.block(node.block).graph)
    assert seen is not None and seen[0] is form
    for edit in using_fast(other, catalogue(), "n3"):
        edit.apply(other)
    assert list(other.graph.links) == list(fast.graph.links) and not other.blocks


@pytest.mark.parametrize("params", [{"layers": 2}, {"both_ways": True}, {"remembers": 9}], ids=str)
def test_what_a_drawing_cannot_be_is_refused_by_name(params: dict[str, Value]) -> None:
    form = form_called("lstm")
    assert form is not None
    with pytest.raises(GraphError, match=r"knows no (Layers|Both directions|Remembers)"):
        around(form, **params)


def test_a_layer_in_a_drawing_may_be_drawn_itself() -> None:
    form = form_called("transformer_layer")
    assert form is not None
    fast, once = around(form)
    twice = once.copy()
    inside = once.block(once.node("n3").block).graph
    attention = next(one.id for one in inside.nodes.values() if one.type == "SelfAttention")
    for edit in drawing(twice, catalogue(), attention, WIDE):
        edit.apply(twice)
    states = [loaded(one)[1].state_dict() for one in (fast, once, twice)]
    for old in states:
        for new in states:
            found = redrawn(old, new)
            assert found is not None and found.keys() == new.keys()
            again = redrawn(found, old)
            assert again is not None and all(torch.equal(again[name], old[name]) for name in old)


@pytest.mark.parametrize("form", drawn_forms(), ids=lambda one: one.name)
def test_what_an_optimiser_remembers_is_split_and_joined_as_the_weights_are(form: DrawnForm) -> None:
    torch.manual_seed(0)
    old = {
        f"a.{whole}": torch.randn(2 * len(parts), index + 1)
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
    rows = {name: {"row_var": torch.ones(len(value), 1, 1)} for name, value in old.items()}
    assert redrawn_state(rows, old, new) == {}  # of another shape than the weights
    assert redrawn_state({}, old, new) == {}


def test_what_is_remembered_of_all_weights_together_is_put_in_the_order_of_the_new_ones() -> None:
    form = form_called("self_attention")
    assert form is not None
    torch.manual_seed(0)
    one = {f"a.{name}": nn.Parameter(torch.randn(2 * len(of), 3)) for name, of in form.weights.items()}
    named = {f"a.{part}": torch.empty(2, 3) for of in form.weights.values() for part in of}
    parts = {name: nn.Parameter(value) for name, value in reversed((redrawn(one, named) or {}).items())}
    other = nn.Parameter(torch.randn(4))
    for before, after in ((one, parts), (parts, one)):
        was, now = [other, *before.values()], [*after.values(), other]
        layers = [(before, after), ({"b": other}, {"b": other})]
        vector, wanted = flat(was), flat(now)
        old, new = BFGS(was), BFGS(now)
        old.state[was[0]] = {"inverse": vector.outer(vector), "past": [vector, 2 * vector], "count": 3}
        carry_state(layers, old, new)
        found = new.state[now[0]]
        assert torch.equal(found["inverse"], wanted.outer(wanted)) and found["count"] == 3
        assert torch.equal(torch.stack(found["past"]), torch.stack([wanted, 2 * wanted]))
        carry_state(layers[1:], old, lacks := BFGS(now))
        assert not lacks.state  # a layer has begun again
        chain, goes_on = HMC(was), HMC(now)
        for weight in was:
            chain.state[weight]["samples"] = torch.stack([weight.detach(), 3 * weight.detach()])
        chain.counts["steps"] = 7
        carry_state(layers, chain, goes_on)
        for weight, samples in zip(now, goes_on.samples(), strict=True):
            assert torch.equal(samples, torch.stack([weight, 3 * weight]))


def test_it_is_drawn_and_undrawn_where_it_stands() -> None:
    fast, other = drawn()
    node = other.find(PLACE)
    assert node is not None and node.block and len(other.blocks) == 2
    found = recognised(other, other.block(node.block).graph)
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
    assert recognised(other, inside) is None and using_fast(other, catalogue(), PLACE) == ()


def test_shared_weights_stand_in_the_way() -> None:
    fast = plain()
    AddNodes((Node("n90", "SelfAttention", "again", shares=PLACE),), into="b20").apply(fast)
    for node_id in (PLACE, "n90"):
        with pytest.raises(GraphError, match="shared"):
            drawing(fast, catalogue(), node_id, WIDTH)


def test_each_form_names_a_type_and_parameters_of_it() -> None:
    assert len({form.title for form in drawn_forms()}) == len(drawn_forms())
    for form in drawn_forms():
        kind = catalogue().get(form.fast)
        assert kind is not None and form in forms_of(form.fast) and form_called(form.name) is form
        assert form.params.keys() | form.when.keys() <= {spec.name for spec in kind.params}
        names = {one["name"] for one in form.nodes}
        assert len(names) == len(form.nodes) and form.about.endswith(".")
        assert {end for link in form.links for end in (link[0], link[2])} == names
