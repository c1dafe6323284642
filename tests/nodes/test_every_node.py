"""What holds for every layer, whatever its values: what is inferred without numbers is what numbers do."""

from __future__ import annotations

import random
import re
import warnings
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from engine.catalogue import Column, Layer, NodeType, Transform
from engine.catalogue.emitter import build
from engine.catalogue.params import ParamSpec
from engine.catalogue.symbols import evaluate
from engine.catalogue.symbols import name as variable
from engine.errors import DataError, EmitError, ParamError
from engine.shapes.running import bound
from engine.shapes.shapes import ShapeBook, Signature, wires_of
from nodes.augment import Mixing
from tests.engine.sketches import Sketch, catalogue
from tests.gallery.recipes import OPENED, opened

LAYERS = [found for found in catalogue().types() if issubclass(found, Layer)]
SHAPES = [(), (1,), (6,), (16,), (5, 3), (4, 6), (1, 8, 8), (4, 9, 7), (3, 1, 1), (2, 3, 4, 5)]
VOLUMES = [(2, 8, 8, 8), (1, 6, 7, 8)]
SUITED = {  # shapes that others hardly meet
    "JoinPatches": [(4, 16), (9, 4)],
    "RandomColour": [(3, 4, 5)],
    "TypedLinear": [(1,)],
    **dict.fromkeys(("Conv3d", "MaxPool3d", "AvgPool3d"), VOLUMES),
}
ENOUGH, MOST = 10, 400  # tries that fit, tries in all
EXAMPLES = 3
COUNTS = {"": EXAMPLES, "nodes": 5, "edges": 7}  # by what a row is one of
SIZES = (2, 1, 2)  # nodes of each example
# What comes into layers whose ports differ: graphs side by side or filled up, sets with a mask.
NODES, EDGES = Signature((4,), rows="nodes"), Signature((2,), "int64", rows="edges")
PADDED = {"nodes": Signature((6, 4)), "edges": Signature((6, 6))}
GRAPHS = [
    {"nodes": NODES, "edges": EDGES},
    {"nodes": NODES, "edges": EDGES, "weights": Signature((), rows="edges")},
    PADDED,
    {**PADDED, "edges": EDGES},
]
STEPS = Signature((5, 12))
ALONG = {"scores": STEPS, "labels": Signature((3,), "int64")}
VALUES, NUMBER = Signature((4,)), Signature((1,))  # of actions, and what one of them earned
BOXES = {"prediction": Signature((7, 4, 6)), "target": Signature((2, 5))}
ARRIVING = {
    "CentrePointLoss": [BOXES],
    "MeanAveragePrecision": [BOXES],
    "MaxUnpool2d": [
        {"x": Signature((2, 3, 4)), "places": Signature((2, 3, 4), "int64")},
        {"x": Signature((1, 2, 2)), "places": Signature((1, 2, 2), "int64")},
    ],
    "ActionValue": [{"x": VALUES, "action": Signature((), "int64")}],
    "TDTarget": [
        {"x": VALUES, "reward": NUMBER, "end": NUMBER},
        {"x": VALUES, "reward": NUMBER, "end": NUMBER, "choose": VALUES},
    ],
    "SelfAttention": [{"x": STEPS}],
    "TransformerEncoderLayer": [{"x": STEPS}],
    "TransformerDecoderLayer": [{"x": STEPS, "memory": Signature((7, 12))}],
    "CrossAttention": [
        {"x": STEPS, "memory": Signature((7, 6))},
        {"x": STEPS, "memory": Signature((5, 12))},
    ],
    "CTC": [ALONG],
    "LabelErrorRate": [ALONG],
    "NeighbourSum": GRAPHS,
    "GraphConvolution": GRAPHS,
    "GraphReadout": [{"nodes": NODES, "sizes": Signature((), "int64")}, {"nodes": NODES, "sizes": NODES}],
    "MaskedPool": [{"x": Signature((5, 3)), "mask": Signature((5,))}, {"x": NODES, "mask": Signature((5,))}],
}
# What was found in the file that a node type of a person's own data is tried with.
OPENED_AS = {type_id: dict(opened(type_id)) for type_id in OPENED}


def values_of(spec: ParamSpec, choose: random.Random) -> list[Any]:
    """Allowed values, and for numbers some on the edge."""
    tried: list[Any] = {
        "int": [1, 2, 3, 4, -1, 0, 7, int(spec.minimum or 0)],
        "float": [0.0, 0.25, 0.9, 1.0, 2.5],
        "bool": [True, False],
        "choice": list(spec.choices),
        "pair": [1, 2, 3, 4, (2, 3), (3, 1), (1, 4), 0, (0, 2), *spec.words],
        "ints": [(2,), (2, 3)] if spec.name == "which" else [(6,), (-1,), (2, -1), (1, 8, 8), (4, 4)],
        "floats": [(0.5,), (0.25, 2.0), (0.1, 0.2, 0.3)],
        "text": [
            "a",
            "1 2",
            *{"void": ["255"], "mask_classes": ["ground, thing"], "layout": ["S.G", "S./.G"]}.get(
                spec.name, []
            ),
        ],
        "path": [],
        "names": [("a", "b")],
        "rows": [],
    }[spec.kind]
    found = [spec.default]
    for value in tried:
        try:
            found.append(spec.check(value))
        except Exception:  # not allowed, which the test of parameters looks at
            continue
    return found


def attempt(node_type: type[NodeType], choose: random.Random) -> tuple[dict[str, Any], dict[str, Signature]]:
    params = {
        spec.name: choose.choice(values_of(spec, choose))
        for spec in node_type.params
        if choose.random() < 0.5
    }
    if node_type.type_id in ARRIVING:
        return params, choose.choice(ARRIVING[node_type.type_id])
    shape = choose.choice(SUITED.get(node_type.type_id, SHAPES) if choose.random() < 0.5 else SHAPES)
    dtype = "int64" if choose.random() < (0.8 if node_type.type_id == "Embedding" else 0.1) else "float32"
    arriving = {}
    for port in node_type().inputs():
        names = (
            [f"{port.name}{number}" for number in range(1, choose.choice((3, 4)))]
            if port.many
            else [port.name]
        )
        for name in names:
            other = choose.choice(SHAPES) if choose.random() < 0.1 else shape
            arriving[name] = Signature(other, dtype)
    if issubclass(node_type, Mixing) and choose.random() < 0.5:  # classes beside what is measured
        arriving["target"] = Signature((), "int64")
    return params, arriving


def with_numbers(made: NodeType, arriving: dict[str, Signature]) -> dict[str, torch.Tensor]:
    """The values that leave a node which random numbers enter, after a step backwards through it."""
    code = build(made, "layer", wires_of(arriving))
    layers = {attribute: evaluate(found, {}) for attribute, found in code.modules.items()}
    tensors = {
        port: torch.zeros(COUNTS[found.rows], *found.shape, dtype=torch.int64)
        if found.dtype == "int64"
        else torch.randn(COUNTS[found.rows], *found.shape).requires_grad_()
        for port, found in arriving.items()
    }
    if "sizes" in tensors:
        tensors["sizes"] = torch.tensor(SIZES)
    variables: dict[str, Any] = {"self": SimpleNamespace(**layers), **tensors}
    for unpack in code.unpacks:
        variables.update(bound(unpack.pattern, evaluate(unpack.call, variables)))
    values = {port: evaluate(found, variables) for port, found in code.ports.items()}
    total = sum(value.sum() for value in values.values() if value.is_floating_point())
    if isinstance(total, torch.Tensor) and total.requires_grad:
        total.backward()
    return values


@pytest.mark.parametrize("node_type", LAYERS, ids=lambda found: found.type_id)
def test_what_is_inferred_is_what_happens(node_type: type[NodeType]) -> None:
    choose = random.Random(node_type.type_id)
    book = ShapeBook(catalogue())
    fitted = 0
    for _ in range(MOST):
        if fitted == ENOUGH:
            return
        params, arriving = attempt(node_type, choose)
        facts = book.trial(node_type.type_id, params, arriving)
        if facts.problem is not None:
            assert facts.problem.message.endswith("."), facts.problem.message
            continue
        fitted += 1
        said = f"{node_type.type_id} with {params} on {arriving}"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                values = with_numbers(node_type(params), arriving)
            except Exception as error:
                pytest.fail(f"{said} infers {facts.outputs}, but raises {error!r}")
        for port, signature in facts.outputs.items():
            assert tuple(values[port].shape) == (COUNTS[signature.rows], *signature.shape), said
            assert str(values[port].dtype) == f"torch.{signature.dtype}", said
    pytest.fail(f"only {fitted} of {MOST} tries fitted")


@pytest.mark.parametrize("node_type", catalogue().types(), ids=lambda found: found.type_id)
def test_every_parameter_says_something_in_the_code_or_the_data(node_type: type[NodeType]) -> None:
    """A field that changes nothing is a field that lies."""
    quiet = {spec.name for spec in node_type.params if not spec.hidden and spec.kind != "path"}
    quiet.discard("weight")  # the weight of a loss is in the sum
    quiet -= (
        {"x_from", "x_to", "y_from", "y_to"} if node_type.type_id == "DrawnPoints" else set()
    )  # of its pad
    quiet.discard("sheet")  # of spreadsheets, and the table that is tried here is a file of text
    if getattr(node_type, "rule_ports", ()):
        quiet.discard("units")  # the target says how many, so no two numbers of units fit one
    choose = random.Random(node_type.type_id)
    book = ShapeBook(catalogue())
    for _ in range((2 if issubclass(node_type, Layer) else 10) * MOST):
        if not quiet:
            break
        if issubclass(node_type, Layer):
            params, arriving = attempt(node_type, choose)
        else:
            usual = {port.name: Signature((3,)) for port in node_type.ports_in}
            params, arriving = {}, dict(ARRIVING.get(node_type.type_id, [usual])[0])
            if node_type.kind in ("data", "transform"):  # what one field says may hang on another
                params = {**OPENED_AS.get(node_type.type_id, {}), **some_of(node_type, choose)}
            if node_type.kind == "transform" and choose.random() < 0.5:
                arriving = {"x": Signature((), "int64")}  # some are for labels
            if node_type.type_id == "Distillation" or "ignored" in {spec.name for spec in node_type.params}:
                arriving["target"] = Signature((), "int64")
        name = choose.choice(sorted(quiet))
        spec = node_type.param_spec(name)
        assert spec is not None
        other = {**params, name: choose.choice(values_of(spec, choose))}
        if node_type.ports_in and any(
            book.trial(node_type.type_id, tried, arriving).problem for tried in (params, other)
        ):
            continue
        try:
            if written(node_type(params), arriving) != written(node_type(other), arriving):
                quiet.discard(name)
        except (
            ParamError,
            EmitError,
            DataError,
        ):  # two fields that don't go together, such as shares above 1
            continue
    assert quiet == set()


def some_of(node_type: type[NodeType], choose: random.Random) -> dict[str, Any]:
    """Allowed values for some of the fields of a node type."""
    fields = [spec for spec in node_type.params if not spec.hidden and spec.kind != "path"]
    return {spec.name: choose.choice(values_of(spec, choose)) for spec in fields if choose.random() < 0.5}


def written(made: NodeType, arriving: dict[str, Signature]) -> str:
    if made.kind == "input":
        return str(made.column())  # type: ignore[attr-defined]
    if made.kind == "source":
        return str(made.emit(None, variable("n"), variable("device")))
    if isinstance(made, Transform):
        made.bind(Column("x", arriving["x"].shape, arriving["x"].dtype))
        return f"{made.fit()} {made.columns()}"
    code = build(made, "layer", wires_of(arriving))
    loader = code.loader[1] if code.loader else {}
    columns = made.columns() if made.kind == "data" else ()  # type: ignore[attr-defined]
    return f"{code.modules} {code.begins} {code.unpacks} {code.ports} {loader} {columns}"


@pytest.mark.parametrize("node_type", LAYERS, ids=lambda found: found.type_id)
def test_the_second_line_of_a_node_is_short(node_type: type[NodeType]) -> None:
    choose = random.Random(1)
    for _ in range(20):
        params, _ = attempt(node_type, choose)
        assert len(node_type(params).summary()) < 60


def test_a_summary_says_what_a_person_wants_to_know() -> None:
    sketch = Sketch()
    wanted = {
        ("Conv2d", ()): "32 filters 3×3",
        ("Conv2d", (("filters", 1), ("kernel", (3, 5)), ("activation", "ReLU"))): "1 filter 3×5 · ReLU",
        ("Linear", (("units", 4096),)): "4,096 units",
        ("LSTM", (("hidden", 100), ("layers", 2), ("both_ways", True))): "100 units × 2 layers · both ways",
        ("Dropout", (("share", 0.25),)): "keeps 75 %",
        ("Input", ()): "1×28×28",
    }
    for (type_id, params), text in wanted.items():
        node = sketch.project.graph.node(sketch.add(type_id, "", dict(params)))
        assert catalogue().make(node).summary() == text


@pytest.mark.parametrize("found", catalogue().types(), ids=lambda found: found.type_id)
def test_the_help_says_what_is_computed_and_where_it_comes_from(found: type[NodeType]) -> None:
    if found.kind == "data":
        assert found.source and "seed" not in found.source.casefold()  # names of files mean nothing to users
        years = re.findall(r"\b[12]\d{3}\b", found.source)
        assert not any(year in found.doc() for year in years), "the source stands below, once"
    elif found.kind in ("layer", "source", "loss", "metric"):
        assert found.formula
