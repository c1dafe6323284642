"""Every example's script opens as the project it came from: exported again, it is the same text."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.emit.forms.head import file_name
from engine.importers.opening import open_python
from tests.engine.importers.reading import read, written
from tests.engine.sketches import GALLERY_IDS, Sketch, catalogue, gallery

FOLDER = Path(__file__).parents[2] / "reference"
# One of each kind of plan, data and layers every time, the others by `-m exhaustive`.
ALWAYS = {
    *("dqn-grid", "gan-digits", "graph-classes", "iris", "linear-regression", "mixture-em"),
    *("penguins", "pruned-digits", "residual-blocks", "santa-fe-lstm", "stacked-autoencoder"),
}


def test_metrics_of_a_whole_split_come_back() -> None:
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    scores = sketch.add("Linear", "scores", {"units": 3}, x=f"{data}.features")
    sketch.add("CrossEntropy", "cost", prediction=scores, target=f"{data}.species")
    for type_id, average in (("AreaUnderRoc", "weighted"), ("PrecisionScore", "macro")):
        params = {"average": average}
        sketch.add(type_id, type_id.lower(), params, prediction=scores, target=f"{data}.species")
    text = written(sketch.project)
    opened = read(text)
    assert [str(one) for one in opened.findings] == []
    assert written(opened.project) == text


@pytest.mark.parametrize(
    "project_id",
    [pytest.param(one, marks=[] if one in ALWAYS else pytest.mark.exhaustive) for one in GALLERY_IDS],
)
def test_a_script_opens_as_the_project_that_it_came_from(project_id: str) -> None:
    path = FOLDER / file_name(gallery(project_id))
    opened = open_python(path, catalogue())
    assert [str(one) for one in opened.findings] == []
    assert written(opened.project) == path.read_bytes().decode("utf-8")
    assert opened.project.title == gallery(project_id).title
