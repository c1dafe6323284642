"""What the nodes with a rule of their own say, refuse and construct."""

from __future__ import annotations

import pytest

from engine.catalogue.emitter import build
from engine.catalogue.symbols import name
from engine.errors import EmitError
from engine.shapes.shapes import Signature, wires_of
from nodes import rules
from tests.engine.sketches import catalogue

BEARERS = [found for found in catalogue().types() if getattr(found, "learns_by_rule", False)]


def constructed(type_id: str, params: dict[str, object] | None = None, *shape: int) -> str:
    made = catalogue().get(type_id)(params)  # type: ignore[misc]
    [constructor] = build(made, "layer", wires_of({"x": Signature(shape)})).modules.values()
    return str(constructor)


def test_the_layers_with_a_rule() -> None:
    found = {one.type_id for one in BEARERS}
    fitted = {"LeastSquares", "GaussianProcess", "SupportVectors", "GaussianClasses"}
    mixture = {"Means", "Covariances", "MixingWeights", "Responsibilities"}
    assert found == {"Perceptron", "DeltaRule", "Hopfield", "RBM", "Oja", *mixture, *fitted}
    assert {one.type_id for one in BEARERS if one.fits_all} == fitted


@pytest.mark.parametrize(
    ("type_id", "params", "code"),
    [
        ("Perceptron", {"targets": "0 and 1"}, "Perceptron(6, 1, low=0)"),
        ("DeltaRule", {"hidden": 3, "online": True}, "DeltaRule(6, 3, 1, online=True)"),
        ("LeastSquares", {"ridge": 0.5, "units": 2}, "LeastSquares(6, 2, ridge=0.5)"),
        ("Hopfield", {"design": "pseudo-inverse"}, "Hopfield(6, design='pseudo-inverse')"),
        ("RBM", {"k": 3}, "RBM(6, 100, k=3)"),
        ("Oja", {"units": 2}, "Oja(6, 2)"),
    ],
)
def test_only_what_is_not_usual_is_written(type_id: str, params: dict[str, object], code: str) -> None:
    assert constructed(type_id, params, 6) == code


@pytest.mark.parametrize("node_type", BEARERS, ids=lambda found: found.type_id)
def test_pictures_are_refused(node_type: type[rules.RuleBearer]) -> None:
    with pytest.raises(EmitError, match=r"needs .*, but 1×8×8 comes in"):
        constructed(node_type.type_id, None, 1, 8, 8)


def test_hand_set_weights_stand_in_the_code() -> None:
    code = constructed("DeltaRule", {"start": "0.5, -1; 2"}, 2)
    assert code == "DeltaRule(2, 0, 1, start=(0.5, -1.0, 2.0))"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 2", "This net has 3 weights and biases, but 2 are given."),
        ("1 two 3", "The first weights are numbers; 'two' is none."),
        ("1 nan 3", "The first weights must be finite numbers."),
    ],
)
def test_hand_set_weights_that_do_not_fit_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(EmitError) as caught:
        constructed("DeltaRule", {"start": text}, 2)
    assert str(caught.value) == sentence


def test_the_rule_gets_the_input_and_the_target() -> None:
    wires = wires_of({"x": Signature((6,)), "target": Signature((1,))})
    call = rules.Perceptron().emit_rule(None, name("model").unit, **wires)  # type: ignore[arg-type]
    assert str(call) == "model.unit.update(x, target)"
    call = rules.RBM().emit_rule(None, name("model").rbm, x=wires["x"])
    assert str(call) == "model.rbm.update(x)"


def test_a_target_of_another_size_is_refused() -> None:
    wires = wires_of({"x": Signature((6,)), "target": Signature((3,))})
    with pytest.raises(EmitError, match="gives 2 numbers for each example, but the target is 3"):
        rules.DeltaRule({"units": 2}).emit_rule(None, name("m"), **wires)  # type: ignore[arg-type]
