"""A layer drawn from its parts is the layer: the same answers from the same weights, there and back."""

from __future__ import annotations

import pytest
import torch

from engine.catalogue.drawn_forms import drawn_forms, form_of, recognised
from engine.document.edits import UNSET, AddNodes, SetParam
from engine.document.graph import Node, Project
from engine.errors import GraphError
from engine.shapes.swapping import drawing, using_fast
from engine.train.rebuild import redrawn
from tests.engine.procedures.running import loaded
from tests.engine.sketches import catalogue, gallery

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
