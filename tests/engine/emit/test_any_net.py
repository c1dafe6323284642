"""Nets that grow at random: whatever has no problem trains, exports, and the export says the same.

NEUROLOOM_NETS sets how many.
"""

from __future__ import annotations

import ast
import os
import random
import warnings
from typing import Any

import pytest
import torch

from engine.catalogue import Layer
from engine.document.edits import Remove
from engine.document.plan import Choice
from engine.emit.program import Program
from engine.shapes.shapes import ShapeBook
from tests.engine.emit.test_program import WithoutTaps
from tests.engine.sketches import Sketch, apply, catalogue, configured, program_of
from tests.nodes.test_every_node import values_of

LAYERS = [found for found in catalogue().types() if issubclass(found, Layer)]
NAMES = ["x", "h", "layer", "layer", "層", "", "class", "output", "batch", "loss", "a" * 60, "conv 1"]
GROUNDS = [
    ("Iris", ["features"], "species", 3),
    ("Digits", ["image", "profile"], "digit", 10),
    ("SantaFe", ["window"], "next", 0),
    ("BreastCancer", ["features"], "benign", 0),
]
LARGEST = 20_000  # numbers an example may have on a wire


def grown(choose: random.Random) -> Sketch:
    """A net of up to a dozen layers, each kept if it fits, with one or two heads."""
    sketch = Sketch()
    book = ShapeBook(catalogue())
    data_type, columns, target, classes = choose.choice(GROUNDS)
    data = sketch.add(data_type, choose.choice(NAMES), {"lag": 6} if data_type == "SantaFe" else None)
    places = [f"{data}.{column}" for column in columns]
    for _ in range(choose.randint(1, 14)):
        node_type = choose.choice(LAYERS)
        params: dict[str, Any] = {
            spec.name: choose.choice(values_of(spec, choose))
            for spec in node_type.params
            if choose.random() < 0.3
        }
        port, *more = node_type().inputs()
        count = choose.choice((2, 2, 3)) if port.many else 1
        names = [f"x{number}" for number in range(1, count + 1)] if port.many else [port.name]
        names += [one.name for one in more]  # what only a rule reads
        wires = {name: choose.choice(places[-4:]) for name in names}
        added = sketch.add(node_type.type_id, choose.choice(NAMES), params, **wires)
        book.update(sketch.project, [added])
        outputs = [book.signature(added, out.name) for out in node_type(params).outputs()]
        if any(found is None or size(found.shape) > LARGEST for found in outputs):
            apply(sketch.project, [Remove((added,))])
            continue
        places += [f"{added}.{out.name}" for out in node_type(params).outputs() if choose.random() < 0.8]
    for _ in range(choose.choice((1, 2))):
        flat = sketch.add("Flatten", choose.choice(NAMES), x=choose.choice(places[-3:]))
        head = sketch.add("Linear", choose.choice(NAMES), {"units": classes or 1}, x=flat)
        kind = "CrossEntropy" if classes else choose.choice(("MSE", "L1", "Huber"))
        for measure in (kind, "Accuracy" if classes else "MeanAbsoluteError"):
            weight = {"weight": 0.5} if measure == kind and choose.random() < 0.3 else None
            ends = {"prediction": head, "target": f"{data}.{target}"}
            sketch.add(measure, choose.choice(NAMES), weight, **ends)
    optimiser = choose.choice(("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta"))
    schedule = choose.choice(("Constant", "Step", "Cosine", "WarmUp"))
    return sketch.plan(optimiser=Choice(optimiser), schedule=Choice(schedule), batch=choose.choice((8, 32)))


def size(shape: tuple[int, ...]) -> int:
    return int(torch.Size(shape).numel())


@pytest.mark.parametrize("seed", range(int(os.environ.get("NEUROLOOM_NETS", "25"))))
def test_a_net_without_a_problem_trains_and_exports(seed: int) -> None:
    sketch = grown(random.Random(seed))
    book = sketch.check()
    assert [found.message for found in book.errors] == []
    program = program_of(sketch)
    bare = WithoutTaps().visit(ast.parse(program.twin))
    assert ast.dump(bare) == ast.dump(ast.parse(program.source.text))
    assert program.twin.count("\n") == program.source.text.count("\n")
    assert max(len(line) for line in program.source.text.splitlines()) <= 110
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(program, book)


def train(program: Program, book: ShapeBook) -> None:
    """Two steps and an evaluation; every value on the way has the shape and kind that was inferred."""
    torch.manual_seed(0)
    model = program.Model()
    assert sum(weight.numel() for weight in model.parameters()) == book.total_parameters
    columns = [column for column in book.types[program.data_node or ""].columns()]  # type: ignore[attr-defined]
    split = {
        column.name: torch.randint(len(column.classes), (16,))
        if column.classes
        else torch.rand(16, *column.shape)
        for column in columns
    }
    optimiser, schedule = configured(program, model, 2, 3)
    seen: set[str] = set()

    def look(node_id: str, port: str, value: torch.Tensor) -> None:
        seen.add(node_id)
        found = book.signature(node_id, port)
        assert found is not None
        examples = () if found.per_batch else (len(next(iter(batch.values()))),)
        assert tuple(value.shape) == (*examples, *found.shape)
        assert str(value.dtype) == f"torch.{found.dtype}"

    for batch in program.batches(split, torch.Generator().manual_seed(0)):
        optimiser.zero_grad()
        with program.tapping(look):
            loss = program.measure(model, batch)["loss"]
        assert bool(torch.isfinite(loss))
        loss.backward()
        optimiser.step()
        if schedule:
            schedule.step()
    assert seen == set(program.project.graph.nodes)
    names: dict[str, Any] = {"__name__": __name__}  # dataclasses ask for the module of their class
    exec(compile(program.source.text, "plain", "exec"), names)
    other = names["Model"]()
    other.load_state_dict(model.state_dict())
    model.eval()
    other.eval()
    assert names["evaluate"](other, split) == program.evaluate(model, split)
