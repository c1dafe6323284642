"""Files keep blocks, shared weights, muted nodes, bends, frames and notes (cases E-7, C8, C10)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.document.blocks import group, ungroup
from engine.document.dressing import Frame, Note
from engine.document.edits import AddFrame, AddNote, SetBends, SetMuted, SetParam, SetShares
from engine.document.files import from_text, load_project, to_text
from engine.document.graph import Graph, Link, Node, Project
from engine.errors import GraphError, ProjectFileError

GALLERY = sorted((Path(__file__).parents[3] / "resources" / "gallery").glob("*.nloom"))

FORMAT_1 = """{
"neuroloom": 1,
"title": "Old",
"plan": {"batch": 32, "seed": 3, "phases": [{"objectives": [{"minimise": "all", "optimiser": {"name": "SGD", \
"params": {"lr": 0.1}}, "schedule": {"name": "Constant", "params": {}}}], "stop": {"epochs": 2}}]},
"next_id": 4,
"nodes": [
  {"id": "n1", "type": "Iris", "name": "flowers", "params": {}, "position": [0, 0]},
  {"id": "n2", "type": "Linear", "name": "scores", "params": {"units": 3}, "position": [240, 0]}
],
"links": [["n1", "features", "n2", "x"]]
}
"""

FORMAT_2 = """{
"neuroloom": 2,
"title": "Drawn",
"notes": "",
"plan": {"batch": 64, "seed": 0, "phases": [{"objectives": [{"minimise": "all", "optimiser": \
{"name": "Adam", "params": {}}, "schedule": {"name": "Constant", "params": {}}}], \
"stop": {"epochs": 10, "patience": null, "monitor": "val_loss", "restore_best": true}}]},
"next_id": 12,
"nodes": [
  {"id": "n1", "type": "Iris", "name": "flowers", "params": {}, "position": [0, 0]},
  {"id": "n2", "type": "Linear", "name": "one", "params": {}, "position": [200, 0], "muted": true},
  {"id": "n3", "type": "Linear", "name": "two", "params": {}, "position": [200, 99.5], \
"shares": "n2", "later": [1]},
  {"id": "n4", "type": "Block", "name": "cell", "params": {"block": "b5"}, "position": [400, 0]}
],
"links": [
  ["n1", "features", "n2", "x", [[100, 50], [150.5, 50]]],
  ["n2", "output", "n4", "n6"]
],
"blocks": [
  {"id": "b5", "name": "Cell",
"nodes": [
  {"id": "n6", "type": "BlockInput", "name": "x", "params": {"order": 0}, "position": [0, 0]},
  {"id": "n7", "type": "HyperConv9", "name": "层", "params": {"kernel": [3, 5]}, "position": [200, 0]},
  {"id": "n8", "type": "BlockOutput", "name": "y", "params": {"order": 0}, "position": [400, 0]}
],
"links": [
  ["n6", "output", "n7", "x"],
  ["n7", "output", "n8", "x", [[300, 1]]]
],
"kept": {"z": 1}}
],
"frames": [
  {"id": "f9", "title": "Pair", "colour": "blue", "members": ["n2", "n3"]},
  {"id": "f10", "title": "In", "colour": "octarine", "members": ["n7"], "scope": "b5", "later": true}
],
"notes_on_canvas": [
  {"id": "t11", "text": "*why*", "position": [0, -100], "size": [240, 80.5], "scope": "b5"}
]
}
"""


def test_both_formats_are_read_and_each_is_written_as_what_it_is() -> None:
    old = from_text(FORMAT_1)
    assert to_text(old).startswith('{\n"neuroloom": 1,\n')
    drawn = from_text(FORMAT_2)
    assert to_text(drawn) == FORMAT_2
    assert drawn.blocks["b5"].extra == {"kept": {"z": 1}}
    assert drawn.node("n3").extra == {"later": [1]}
    assert drawn.frames["f10"].extra == {"later": True}
    assert drawn.graph.bends(Link("n1", "features", "n2", "x")) == ((100.0, 50.0), (150.5, 50.0))


@pytest.mark.parametrize(
    "edit",
    [
        SetMuted(("n2",), True),
        SetShares("n2", "n1"),
        SetBends(Link("n1", "features", "n2", "x"), ((1.0, 1.0),)),
        AddFrame(Frame("f7", members=frozenset({"n1"}))),
        AddNote(Note("t7")),
    ],
    ids=lambda edit: type(edit).__name__,
)
def test_the_newer_format_is_used_only_where_it_is_needed(edit: Any) -> None:
    project = from_text(FORMAT_1)
    inverse = edit.apply(project)
    assert to_text(project).startswith('{\n"neuroloom": 2,\n')
    assert from_text(to_text(project)) == project
    inverse.apply(project)
    assert to_text(project).startswith('{\n"neuroloom": 1,\n')


def test_the_order_in_a_file_does_not_matter() -> None:
    data = json.loads(FORMAT_2)
    for part in (data, data["blocks"][0]):
        for name in ("nodes", "links"):
            part[name].reverse()
    data["frames"].reverse()
    assert to_text(from_text(json.dumps(dict(reversed(data.items()))))) == FORMAT_2


def test_a_counter_behind_any_id_is_mended() -> None:
    for text in (FORMAT_2.replace('"next_id": 12', '"next_id": 1'), FORMAT_2.replace("f10", "f77")):
        project = from_text(text)
        assert project.next_id == (12 if "f77" not in text else 78)


def two_nodes(data: dict[str, Any]) -> None:
    data["blocks"][0]["nodes"].append({"id": "n1", "type": "Linear"})


def itself(data: dict[str, Any]) -> None:
    data["blocks"][0]["nodes"][1].update(type="Block", params={"block": "b5"})


def ring(data: dict[str, Any]) -> None:
    itself(data)
    data["blocks"][0]["nodes"][1]["params"]["block"] = "b20"
    inside = {"id": "n30", "type": "Block", "params": {"block": "b5"}}
    data["blocks"].append({"id": "b20", "nodes": [inside]})


BROKEN: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "two nodes in two graphs": (two_nodes, 'two nodes with the id "n1"'),
    "a block in itself": (itself, "contains itself"),
    "blocks in a ring": (ring, "contains itself"),
    "no such block": (lambda d: d["nodes"][3]["params"].update(block="b99"), "does not exist"),
    "two blocks": (lambda d: d["blocks"].append({"id": "b5", "nodes": []}), 'two blocks with the id "b5"'),
    "a block without nodes": (lambda d: d["blocks"][0].pop("nodes"), 'block "b5" has no "nodes"'),
    "a block's id": (lambda d: d["blocks"][0].update(id="five"), 'is "b" and a number'),
    "a block that is a list": (lambda d: d["blocks"].append([]), "block number 2 should be an object"),
    "blocks that are text": (lambda d: d.update(blocks="b5"), '"blocks" should be a list'),
    "a cycle in a block": (
        lambda d: d["blocks"][0]["links"].append(["n8", "y", "n6", "x"]),
        "cycle",
    ),
    "a wire across": (lambda d: d["links"].append(["n2", "output", "n7", "y"]), 'a node "n7" that does not'),
    "weights of nothing": (lambda d: d["nodes"][2].update(shares="n99"), "not in the same graph"),
    "weights of another graph": (lambda d: d["nodes"][2].update(shares="n7"), "not in the same graph"),
    "weights in a ring": (lambda d: d["nodes"][1].update(shares="n3"), "its own weights"),
    "weights as a number": (lambda d: d["nodes"][2].update(shares=2), '"shares" should be text'),
    "half muted": (lambda d: d["nodes"][1].update(muted="half"), '"muted" should be true or false'),
    "a bend that is text": (lambda d: d["links"][0].__setitem__(4, "left"), "its bends should be a list"),
    "a bend of one number": (lambda d: d["links"][0].__setitem__(4, [[1]]), '"bend" should be two numbers'),
    "a bend far away": (lambda d: d["links"][0].__setitem__(4, [[1e300, 0]]), "cannot be placed"),
    "a link of six": (lambda d: d["links"][0].append(1), "should be four texts"),
    "a frame around nothing": (lambda d: d["frames"][0].update(members=[]), "one node at least"),
    "a frame around numbers": (lambda d: d["frames"][0].update(members=[1]), "ids of nodes"),
    "a frame around the gone": (lambda d: d["frames"][0].update(members=["n99"]), "not in the same graph"),
    "a frame in no scope": (lambda d: d["frames"][1].update(scope="b99"), "no block"),
    "two frames": (lambda d: d["frames"].append(d["frames"][0]), 'two frames with the id "f9"'),
    "a frame's id": (lambda d: d["frames"][0].update(id="n9"), 'is "f" and a number'),
    "a note in no scope": (lambda d: d["notes_on_canvas"][0].update(scope="b99"), "no block"),
    "a note of no size": (lambda d: d["notes_on_canvas"][0].update(size=[0, 0]), "large"),
    "a note's text": (lambda d: d["notes_on_canvas"][0].update(text=None), '"text" should be text'),
    "a newer format": (lambda d: d.update(neuroloom=3), "reads up to 2"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_no_edit_could_have_made_is_refused_with_one_sentence(kind: str) -> None:
    change, words = BROKEN[kind]
    data = json.loads(FORMAT_2)
    change(data)
    with pytest.raises(ProjectFileError, match=words) as caught:
        from_text(json.dumps(data), "net.nloom")
    assert caught.value.message.startswith('"net.nloom" cannot be opened: ')
    assert caught.value.message.endswith(".") and "\n" not in caught.value.message
    assert len(caught.value.message) < 250


def test_deep_nesting_is_read_without_recursion_trouble() -> None:
    blocks = [
        {"id": f"b{i}", "nodes": [{"id": f"n{i}", "type": "Block", "params": {"block": f"b{i + 1}"}}]}
        for i in range(1, 1500)
    ]
    data = {"neuroloom": 2, "nodes": [], "blocks": [*blocks, {"id": "b1500", "nodes": []}]}
    project = from_text(json.dumps(data))
    assert len(project.contents("b1")) == 1499
    assert from_text(to_text(project)) == project


# -- every example with blocks in blocks in blocks


def wires(project: Project) -> set[Link]:
    return {link for _, graph in project.graphs() for link in graph.links}


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_an_example_with_three_levels_of_blocks_keeps_every_wire(path: Path) -> None:
    project = load_project(path)
    start = to_text(project)
    order = [id for id in project.graph.order() if project.graph.incoming(id)]
    order = [id for id in order if project.graph.outgoing(id)]
    sharing = {node.id for node in project.graph.nodes.values() if node.shares}
    sharing |= {node.shares for node in project.graph.nodes.values()}
    order = [id for id in order if id not in sharing]  # those stay together
    there = set(project.graph.nodes)
    instances: list[str] = []
    inside: list[str] = []
    for id in order:
        try:
            edits = group(project, [*inside, id], "Level")
        except GraphError:  # another node lies between
            continue
        for edit in edits:
            edit.apply(project)
        inside = [id for id, node in project.graph.nodes.items() if node.block and id not in there]
        instances.extend(inside)
        again = from_text(to_text(project))
        assert again == project
        assert wires(again) == wires(project)
        assert to_text(again) == to_text(project)
        if len(instances) == 3:
            break
    assert len(instances) == min(3, len(order))
    for instance in reversed(instances):
        for edit in ungroup(project, instance):
            edit.apply(project)
    project.next_id = from_text(start).next_id
    assert to_text(project) == start


def test_an_unknown_type_inside_a_block_is_saved_as_it_was() -> None:
    """Case C8, one level down."""
    project = from_text(FORMAT_2)
    SetParam("n6", "order", 3).apply(project)
    lines, before = to_text(project).splitlines(), FORMAT_2.splitlines()
    changed = [(a, b) for a, b in zip(before, lines, strict=True) if a != b]
    assert len(changed) == 1 and '"id": "n6"' in changed[0][0]


def test_a_title_of_a_block_may_be_anything() -> None:
    name = "x'); __import__('os').system('id'); #\n\u2028\ud800 层"
    nodes = [Node("n1", "Linear")]
    project = Project(graph=Graph(nodes), next_id=2)
    for edit in group(project, ["n1"], name):
        edit.apply(project)
    text = to_text(project)
    text.encode("utf-8")
    (block,) = from_text(text).blocks.values()
    assert block.name == name
