"""What an edit leaves in the book is what a first look would find, and it looks only where it must.

NEUROLOOM_WALKS sets how many random walks are taken.
"""

from __future__ import annotations

import ast
import os
import random
from typing import Any

import pytest

from engine.document.document import Document
from engine.document.edits import UNSET, AddNodes, Connect, Disconnect, Edit, Remove, Rename, SetParam
from engine.document.files import to_text
from engine.document.graph import Graph, Link, Node, Project
from engine.emit.program import compile_program
from engine.emit.script import export_script
from engine.errors import EmitError, GraphError
from engine.shapes.shapes import ShapeBook, check
from tests.engine.sketches import (
    GALLERY_IDS,
    apply,
    catalogue,
    gallery,
    image,
)

WITH_LINEAR = [
    one for one in GALLERY_IDS if any(node.type == "Linear" for node in gallery(one).graph.nodes.values())
]


@pytest.mark.parametrize("project_id", WITH_LINEAR)
def test_the_total_is_that_of_the_model_after_every_kind_of_edit(project_id: str) -> None:
    document = Document(gallery(project_id))
    book = check(document.project, catalogue())
    document.subscribe(lambda change: book.update(document.project, change.touched))
    linear = next(node for node in document.project.graph.nodes.values() if node.type == "Linear")
    [into, *_] = document.project.graph.incoming(linear.id)
    added = document.project.new_id()

    totals: dict[str, int] = {}  # of projects that were compiled: undo and redo come back to them

    def sound() -> int:
        text = to_text(document.project)
        if text not in totals:
            model = compile_program(document.project, catalogue()).Model()
            totals[text] = sum(weight.numel() for weight in model.parameters())
        total = totals[text]
        assert book.total_parameters == total
        return total

    def do(*edits: Edit) -> None:
        with document.step("Edit"):
            for edit in edits:
                document.apply(edit)

    first = sound()
    do(AddNodes((Node(added, "Linear", "extra", {"units": 7}),), (Link(linear.id, "output", added, "x"),)))
    assert sound() > first
    do(SetParam(added, "units", 70))
    sound()
    do(
        Disconnect(Link(linear.id, "output", added, "x")),
        Connect(Link(into.source, into.source_port, added, "x")),
    )
    sound()
    do(Remove((added,)))
    assert sound() == first
    while document.undo():
        sound()
    while document.redo():
        sound()
    assert sound() == first


def same(book: ShapeBook, project: Project) -> None:
    """The book kept up edit by edit is that of a project seen for the first time."""
    fresh = check(project, book.catalogue)
    for node_id, node in project.graph.nodes.items():
        for port in [*(link.source_port for link in project.graph.outgoing(node_id)), "output", "value"]:
            assert book.signature(node_id, port) == fresh.signature(node_id, port), (node_id, node.type, port)
        assert book.inputs(node_id) == fresh.inputs(node_id), node_id
        assert book.parameters(node_id) == fresh.parameters(node_id), node_id
    assert book.problems == fresh.problems
    assert [found.fix and found.fix.label for found in book.problems] == [
        found.fix and found.fix.label for found in fresh.problems
    ]
    assert book.types.keys() == fresh.types.keys()
    assert book.total_parameters == fresh.total_parameters


POOL: list[tuple[str, dict[str, Any]]] = [
    ("Linear", {}),
    ("Linear", {"units": 3}),
    ("Linear", {"units": "bad"}),
    ("Conv2d", {"filters": 4}),
    ("Flatten", {}),
    ("Add", {}),
    ("Concatenate", {}),
    ("LSTM", {"hidden": 3}),
    ("Softmax", {}),
    ("CrossEntropy", {}),
    ("Accuracy", {}),
    ("Iris", {}),
    ("Digits", {}),
    ("SantaFe", {"lag": 5}),
    ("Input", {"shape": (4,)}),
    ("Wobbler", {}),
    ("Output", {}),
]
CHANGES: list[tuple[str, Any]] = [
    ("units", 5),
    ("units", 0),
    ("units", UNSET),
    ("filters", 2),
    ("lag", 7),
    ("shape", (1, 8, 8)),
    ("axis", 2),
    ("hidden", 4),
    ("both_ways", True),
]
ENDS = ("x", "x1", "x2", "prediction", "target", "elsewhere")
STARTS = ("output", "h", "c", "features", "image", "digit", "species", "window", "next", "nowhere")


@pytest.mark.parametrize("seed", range(int(os.environ.get("NEUROLOOM_WALKS", "12"))))
def test_any_walk_of_edits_gives_the_same_book_as_a_fresh_look(seed: int) -> None:
    choose = random.Random(seed)
    document = Document(gallery(choose.choice(("iris", "two-heads", "santa-fe-lstm"))))
    book = check(document.project, catalogue())
    document.subscribe(lambda change: book.update(document.project, change.touched))
    for _ in range(60):
        ids = list(document.project.graph.nodes)
        links = document.project.graph.links
        deed = choose.random()
        try:
            if deed < 0.15 and document.undo_label:
                document.undo()
            elif deed < 0.2 and document.redo_label:
                document.redo()
            else:
                with document.step("Walk"):
                    if deed < 0.35 or len(ids) < 3:
                        type_id, params = choose.choice(POOL)
                        new = document.project.new_id()
                        document.apply(AddNodes((Node(new, type_id, new, params),)))
                    elif deed < 0.65:
                        start, end = choose.choice(ids), choose.choice(ids)
                        document.apply(Connect(Link(start, choose.choice(STARTS), end, choose.choice(ENDS))))
                    elif deed < 0.75 and links:
                        document.apply(Disconnect(choose.choice(links)))
                    elif deed < 0.85:
                        document.apply(Remove((choose.choice(ids),)))
                    elif deed < 0.9:
                        document.apply(Rename(choose.choice(ids), choose.choice(["a", "b", ""])))
                    else:
                        name, value = choose.choice(CHANGES)
                        document.apply(SetParam(choose.choice(ids), name, value))
        except GraphError:
            continue
        same(book, document.project)
        if not book.errors:
            exports(document.project)


def exports(project: Project) -> None:
    """What has no error exports, unless there is nothing to build."""
    try:
        ast.parse(export_script(project, catalogue()).text)
    except EmitError as error:
        assert error.message in ("There is no layer to build a model from.", "No data reaches a layer.")


def test_one_edit_runs_only_what_lies_downstream(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand nodes in twenty chains: an edit in the middle of one concerns half of that one."""
    sketch, start = image(8)
    chains = []
    for _ in range(20):
        last, chain = start, []
        for number in range(50):
            last = sketch.add("Linear", f"layer {number}", {"units": 8, "activation": "tanh"}, x=last)
            chain.append(last)
        chains.append(chain)
    book = sketch.check()
    looked: list[str] = []
    ran: list[Any] = []
    infer, run = ShapeBook._infer, ShapeBook._run

    def spy_infer(self: ShapeBook, graph: Graph, node: Node) -> Any:
        looked.append(node.id)
        return infer(self, graph, node)

    def spy_run(self: ShapeBook, node_type: Any, arriving: Any) -> Any:
        ran.append(node_type)
        return run(self, node_type, arriving)

    monkeypatch.setattr(ShapeBook, "_infer", spy_infer)
    monkeypatch.setattr(ShapeBook, "_run", spy_run)
    edited = chains[7][25]
    edit = SetParam(edited, "units", 9)
    apply(sketch.project, [edit])
    book.update(sketch.project, edit.touched)
    assert looked == chains[7][25:27]  # the next layer takes 9 and gives 8 again, so the rest stands
    assert len(ran) == 2
    looked.clear()
    edit = SetParam(edited, "activation", "ReLU")
    apply(sketch.project, [edit])
    book.update(sketch.project, edit.touched)
    assert looked == [edited]
    looked.clear()
    book.update(sketch.project, frozenset())
    assert looked == []
    same(book, sketch.project)
