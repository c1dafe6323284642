"""Boxes: what a split has for values does not depend on its batches, and what doesn't fit is refused."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import avg_pool2d

from engine.document.plan import Plan
from engine.document.shipped import datasets_folder
from engine.layers.detection.boxes import boxes_of
from engine.shapes.shapes import check
from tests.engine.layers.detection.test_boxes import searched
from tests.engine.sketches import Sketch, catalogue, program_of
from tests.gallery.boxed import boxed


def test_values_of_a_split_are_those_of_all_its_boxes() -> None:
    found = []
    for batch in (7, 1000):
        sketch = Sketch("Boxes")
        sketch.project = boxed("MeanAveragePrecision", Plan(batch=batch))
        program = program_of(sketch)
        torch.manual_seed(3)
        model = program.make_model("cpu")
        train = program.load(datasets_folder())["train"]
        found.append(program.evaluate(model, train))
    assert found[0] == pytest.approx(found[1], rel=1e-5)
    (convolution,) = model.children()
    grid = convolution(avg_pool2d(train["image"], 4))
    wanted = searched(boxes_of(grid.detach()), train["boxes"], 0.5)
    assert found[0]["meanaverageprecision"] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(("port", "said"), [("image", "the target is 1×48×48"), ("count", "the target is 1")])
def test_what_is_no_box_is_refused(port: str, said: str) -> None:
    sketch = Sketch("Boxes")
    data = sketch.add("DigitScenes")
    grid = sketch.add("Conv2d", "", {"filters": 14}, x=f"{data}.image")
    sketch.add("CentrePointLoss", prediction=grid, target=f"{data}.{port}")
    assert any(said in problem.message for problem in check(sketch.project, catalogue()).errors)
