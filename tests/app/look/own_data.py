"""For tests of numbers in units of their own: a table of people, and a trainer that holds its data."""

from __future__ import annotations

from pathlib import Path

from app.workspace.workspace import Workspace
from engine.data.open.opening import open_data
from engine.document.edits import AddNodes
from engine.document.graph import Link, Node
from engine.document.shipped import datasets_folder
from engine.emit.program import compile_program
from tests.app.fake_run import RestingTrainer


def fed(workspace: Workspace) -> RestingTrainer:
    """The workspace's trainer, with the data of its project read as for a run."""
    program = compile_program(workspace.document.project, workspace.catalogue)
    made = RestingTrainer(data=program.load(datasets_folder()))
    workspace.trainer = made
    return made


def add_table(workspace: Workspace, path: Path, standardise: bool = False) -> None:
    """A table of 40 people (n1), perhaps standardised once more (n4), through a layer (n2) to a loss (n3)."""
    hues = ("blue", "green", "red")
    lines = [f"{20 + n},{hues[n % 3]},2021-02-{n % 28 + 1:02},{100 + 50 * n}" for n in range(40)]
    path.write_text("age,hue,day,grams\n" + "\n".join(lines) + "\n")
    opened = open_data(path)
    table = tuple(
        (name, kind, "target" if name == "grams" else "input", *rest)
        for name, kind, _, *rest in opened.params["table"]
    )
    params = {**opened.params, "table": table, "target_scaling": "standardise"}
    nodes = [Node("n1", "TableFile", "people", params), Node("n2", "Linear", "", {"units": 1}, (200, 0))]
    nodes += [Node("n3", "MSE", "", {}, (400, 0))] + [Node("n4", "Standardise", "scaled")] * standardise
    links = [Link("n2", "output", "n3", "prediction"), Link("n1", "grams", "n3", "target")]
    if standardise:
        links += [Link("n1", "features", "n4", "x"), Link("n4", "output", "n2", "x")]
    else:
        links += [Link("n1", "features", "n2", "x")]
    assert workspace.apply("Add", AddNodes(tuple(nodes), tuple(links)))
