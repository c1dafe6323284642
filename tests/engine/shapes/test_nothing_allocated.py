"""Opening, checking and exporting a project makes no weights, whatever sizes it declares."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine.document.files import save_project
from engine.document.graph import Project
from tests.engine.sketches import Sketch, gallery

ALLOWED = 300 * 2**20  # bytes: modules that are imported on the way; a single copy of the weights is 2 TB

MEASURE = """
import json, re, sys, torch
from tests.engine.sketches import catalogue, gallery
from engine.shapes.shapes import check, warm_up
from engine.emit.script import export_script
from engine.emit.program import compile_program
from engine.document.files import load_project

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024

small = gallery("iris")
warm_up(), check(small, catalogue()), export_script(small, catalogue())
before = peak()
project = load_project(sys.argv[1])
book = check(project, catalogue())
text = export_script(project, catalogue()).text
memory = book.memory(project)
compile_program(project, catalogue())
print(json.dumps({
    "grown": peak() - before, "weights": book.total_parameters,
    "errors": [one.message for one in book.errors],
    "lines": len(text), "memory": memory.total if memory else None,
}))
"""


def opened(project: Project, folder: Path) -> dict[str, object]:
    save_project(project, folder / "large.nloom")
    asked = [sys.executable, "-c", MEASURE, str(folder / "large.nloom")]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=300)
    found = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(found, dict)
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system's own count is Linux's")
def test_a_network_of_586_billion_weights_opens(tmp_path: Path) -> None:
    sketch = Sketch("Large")
    data = sketch.add("Iris", "iris")
    last = f"{data}.features"
    for place in range(3):
        last = sketch.add("Linear", f"wide {place}", {"units": 541_295}, x=last)
    scores = sketch.add("Linear", "scores", {"units": 3}, x=last)
    sketch.add("CrossEntropy", "loss", prediction=scores, target=f"{data}.species")
    found = opened(sketch.project, tmp_path)
    assert int(str(found["weights"])) > 585e9 and int(str(found["lines"])) > 1000
    (told,) = found["errors"]  # type: ignore[misc]
    assert "parameters take" in told
    assert int(str(found["grown"])) < ALLOWED and int(str(found["memory"])) > 4 * 4 * 585e9


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system's own count is Linux's")
def test_data_that_say_they_are_huge_open(tmp_path: Path) -> None:
    project = gallery("array-digits")
    node = next(one for one in project.graph.nodes.values() if one.params.get("table"))
    table = [
        (*entry[:3], (2**15, 2**15), *entry[4:]) if entry[2] == "input" else entry
        for entry in node.params["table"]  # type: ignore[union-attr]
    ]
    changed = {**node.params, "rows": 10**12, "table": tuple(table), "memory": 2**24}
    project.graph._replace(replace(node, params=changed))
    found = opened(project, tmp_path)
    assert int(str(found["grown"])) < ALLOWED and found["errors"]
