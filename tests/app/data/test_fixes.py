"""Every button of every finding is pressed, and the data are looked at again: what it was about is gone.

The panel reads data as the trainer does, with the transforms behind them, or by itself, without them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from app.data.asking import source_of
from app.data.facts import DataFacts, facts_of
from app.workspace.workspace import Workspace
from engine.data.checks.fixes import edits_of
from engine.data.open.opening import Opened, open_data
from engine.data.open.series import open_it as open_series
from engine.data.watch import Watch
from engine.document.edits import AddNodes
from engine.document.graph import Link, Node, Project
from engine.document.shipped import datasets_folder
from engine.values import Value
from tests.engine.sketches import catalogue

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(0)
Made = tuple[str, Mapping[str, Value], str, str, str]  # type, params, input port, target port, loss


def from_file(opened: Opened, given: str, target: str, loss: str = "CrossEntropy", **more: Value) -> Made:
    return opened.type, {**opened.params, **more}, given, target, loss


def table(folder: Path) -> Made:
    """Copies, a rare class, a constant, the answer, gaps in numbers and in words."""
    x = RNG.normal(size=(400, 2)) * (1, 300)
    kind = np.where(np.arange(400) % 20 == 0, "rare", "common")
    x[200:260], kind[200:260] = x[:60], kind[:60]
    lines = ["a,b,gaps,words,same,answer,kind"]
    for at in range(400):
        gap = "" if at % 40 == 3 else str(at % 5)
        word = "" if at % 50 == 7 else "uv"[at % 2]
        row = (f"{x[at, 0]:.6f}", f"{x[at, 1]:.6f}", gap, word, "c", kind[at], kind[at])
        lines.append(",".join(map(str, row)))
    path = folder / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    opened = open_data(path)
    roles = {"same": "input", "answer": "input", "kind": "target"}
    rows = tuple((*row[:2], roles.get(row[0], row[2]), *row[3:]) for row in opened.params["table"])
    made = Opened(opened.type, {**opened.params, "table": rows, "scaling": "none"}, opened.name)
    return from_file(made, "features", "kind", missing="drop rows", split="random")


def numbered_table(folder: Path) -> Made:
    path = folder / "numbered.csv"
    path.write_text("id,x,kind\n" + "".join(f"{at},{RNG.normal():.5f},{'ab'[at % 2]}\n" for at in range(200)))
    opened = open_data(path)
    rows = tuple((*row[:2], "input", *row[3:]) if row[0] == "id" else row for row in opened.params["table"])
    return from_file(Opened(opened.type, {**opened.params, "table": rows}, ""), "features", "kind")


def sorted_table(folder: Path) -> Made:
    rows = [f"{RNG.normal():.5f},{'abc'[at // 100]}" for at in range(300)]
    path = folder / "sorted.csv"
    path.write_text("x,kind\n" + "\n".join(rows) + "\n")
    return from_file(open_data(path), "features", "kind", split="in time")


def arrays(folder: Path) -> Made:
    """Far from 0, with gaps, copies, a number that never changes and a rare class."""
    x = RNG.normal(size=(500, 4)).astype(np.float32) * 100
    y = (np.arange(500) % 25 == 0).astype(np.int64)
    x[:, 2] = 7
    x[300:400], y[300:400] = x[:100], y[:100]
    x[5, 0] = x[450, 1] = np.nan
    np.savez(folder / "arrays.npz", x=x, y=y)
    return from_file(open_data(folder / "arrays.npz"), "x", "y", split="random")


def arrays_without_some_targets(folder: Path) -> Made:
    x = RNG.normal(size=(300, 3)).astype(np.float32)
    y = x.sum(1) + 0.25
    y[[4, 200]] = np.nan
    np.savez(folder / "gaps.npz", x=x, y=y)
    return from_file(open_data(folder / "gaps.npz"), "x", "y", "MSE")


def pictures_with_gaps(folder: Path) -> Made:
    x = RNG.normal(size=(200, 1, 5, 5)).astype(np.float32) * 50
    x[7, 0, 2, 2] = x[130, 0, 0, 0] = np.nan
    np.savez(folder / "pictures.npz", x=x, y=np.arange(200) % 2)
    return from_file(open_data(folder / "pictures.npz"), "x", "y")


def images(folder: Path) -> Made:
    for number in range(220):
        place = folder / "pictures" / ("rare" if number % 22 == 0 else "common")
        place.mkdir(parents=True, exist_ok=True)
        levels = np.random.default_rng(number % 150).integers(0, 256, (6, 6, 3), np.uint8)
        Image.fromarray(levels).save(place / f"{number:03d}.png")
    return from_file(open_data(folder / "pictures"), "image", "label", split="random")


def texts(folder: Path) -> Made:
    lines = ["text\tlabel"]
    for at in range(300):
        words = " ".join(f"w{number}" for number in np.random.default_rng(at % 200).integers(0, 30, 5))
        lines.append(f"{words}\t{'good' if at % 4 else 'bad'}")
    path = folder / "texts.tsv"
    path.write_text("\n".join(lines) + "\n")
    from engine.data.open.text import open_labelled

    return from_file(open_labelled(path, Watch()), "tokens", "label", split="random")


def series(folder: Path) -> Made:
    """A far-off series of which a part comes twice again, with a gap."""
    known = RNG.normal(size=480) + 100
    known[40:80] = known[300:340] = known[420:460] = known[:40]
    values = [f"{known[at]:.4f}" if at != 177 else "" for at in range(480)]
    path = folder / "series.csv"
    path.write_text("y\n" + "\n".join(values) + "\n")
    return from_file(
        open_series(path, Watch()), "window", "next", "MSE", standardise=False, lag=6, missing="interpolate"
    )


def graphs(folder: Path) -> Made:
    """Rings and chains of many sizes, of which a third come twice."""
    lines, labels = ["graph,source,target,weight"], ["graph,label"]
    for at in range(300):
        shape = np.random.default_rng(at % 200)
        size, ring = int(shape.integers(3, 9)), int(shape.integers(2))
        for one in range(size - 1 + ring):
            weight = round(float(shape.uniform(1, 2)), 4)
            lines.append(f"g{at},n{one},n{(one + 1) % size},{weight}")
        labels.append(f"g{at},{'ring' if ring else 'chain'}")
    (folder / "shapes.csv").write_text("\n".join(lines) + "\n")
    (folder / "shapes.graphs.csv").write_text("\n".join(labels) + "\n")
    params = {
        "path": str(folder / "shapes.csv"),
        "examples": "graphs",
        "header": True,
        "size": 8,
        "classes": ("chain", "ring"),
        "count": 300,
        "split": "random",
    }
    return "GraphFile", params, "adjacency", "label", "CrossEntropy"


def wine(_: Path) -> Made:
    return "Wine", {"standardise": False}, "features", "cultivar", "CrossEntropy"


def tumours(_: Path) -> Made:
    return "BreastCancer", {"standardise": False}, "features", "benign", "BCEWithLogits"


def drawn(_: Path) -> Made:
    places = RNG.normal(size=(200, 2)).round(3)
    places[150:] = places[:50]
    points = tuple((float(x), float(y), int(at % 20 == 0)) for at, (x, y) in enumerate(places))
    return "DrawnPoints", {"points": points, "split": "random"}, "point", "label", "CrossEntropy"


WANTED: dict[Callable[[Path], Made], set[str]] = {
    numbered_table: {"id"},
    table: {"target-in-inputs", "missing", "constant", "unscaled", "imbalance", "leak", "duplicates"},
    sorted_table: {"unseen-class"},
    arrays: {"missing", "leak", "duplicates", "constant", "unscaled", "imbalance"},
    arrays_without_some_targets: {"missing"},
    pictures_with_gaps: {"missing", "unscaled"},
    images: {"leak", "duplicates", "imbalance"},
    texts: {"leak", "duplicates"},
    series: {"leak", "duplicates", "unscaled", "missing"},
    graphs: {"leak", "duplicates"},
    wine: {"unscaled"},
    tumours: {"unscaled"},
    drawn: {"leak", "duplicates", "imbalance"},
}


def network(made: Made) -> tuple[tuple[Node, ...], tuple[Link, ...]]:
    type_id, params, given, target, loss = made
    if loss != "CrossEntropy":
        units = 1
    else:
        node = catalogue().make(Node("", type_id, "", params))
        units = next(len(one.classes) for one in node.columns() if one.name == target)
    nodes = [Node("n1", type_id, "data", params), Node("n4", loss, "loss", {}, (800, 0))]
    links = [Link("n1", target, "n4", "target"), Link("n3", "output", "n4", "prediction")]
    first = Node("n2", "Flatten", "flat", {}, (200, 0))
    if given == "tokens":
        first = Node("n2", "Embedding", "table", {"entries": params.get("size", 2000), "size": 4}, (200, 0))
        nodes.append(Node("n5", "Flatten", "flat", {}, (400, 0)))
        links += [Link("n2", "output", "n5", "x"), Link("n5", "output", "n3", "x")]
    else:
        links.append(Link("n2", "output", "n3", "x"))
    nodes += [first, Node("n3", "Linear", "scores", {"units": units}, (600, 0))]
    return tuple(nodes), (*links, Link("n1", given, "n2", "x"))


def looked_at(workspace: Workspace, trained: bool) -> DataFacts:
    """What the panel knows of the data; as the trainer reads them or by itself."""
    from engine.emit.program import compile_program

    assert not workspace.errors(), [problem.message for problem in workspace.errors()]
    project: Project = workspace.document.project
    data = compile_program(project, catalogue()).load(datasets_folder(), "cpu") if trained else None
    node = workspace.node("n1")
    assert node is not None
    return facts_of(source_of(workspace, node, data))


def told(facts: DataFacts) -> set[tuple[str, str]]:
    return {(one.code, one.message) for one in facts.findings}


@pytest.mark.parametrize("trained", [True, False], ids=["as the trainer reads", "by itself"])
@pytest.mark.parametrize("make", WANTED, ids=lambda make: make.__name__)
def test_what_a_button_is_for_is_gone_when_it_was_pressed(
    shaped: Workspace, tmp_path: Path, make: Callable[[Path], Made], trained: bool
) -> None:
    nodes, links = network(make(tmp_path))
    assert shaped.apply("Add", AddNodes(nodes, links))
    before = looked_at(shaped, trained)
    assert WANTED[make] <= {one.code for one in before.findings}
    for one in before.findings:
        if one.code not in ("missing",) or make is not series:  # what is filled already is told, no more
            assert one.changes, one.message
        for change in one.changes:
            edits = edits_of(shaped.document.project, "n1", change)
            assert shaped.apply(change.label, *edits)
            after = looked_at(shaped, trained)
            assert (one.code, one.message) not in told(after), change.label
            assert after.summary.rows
            shaped.undo()
            assert shaped.document.project.graph.nodes.keys() == {node.id for node in nodes}


@pytest.mark.parametrize("make", [arrays, table, images], ids=lambda make: make.__name__)
def test_all_buttons_one_after_the_other_leave_nothing_to_press(
    shaped: Workspace, tmp_path: Path, make: Callable[[Path], Made]
) -> None:
    nodes, links = network(make(tmp_path))
    assert shaped.apply("Add", AddNodes(nodes, links))
    pressed = []
    for _ in range(12):
        found = [one for one in looked_at(shaped, True).findings if one.change and one.code not in pressed]
        if not found:
            break
        change = found[0].change
        assert change is not None
        pressed.append(found[0].code)
        assert shaped.apply(change.label, *edits_of(shaped.document.project, "n1", change))
    left = {one.code for one in looked_at(shaped, True).findings}
    assert left <= {"missing"} and set(pressed) >= WANTED[make] - {"duplicates"}
    placed = [node.position for node in shaped.document.project.graph.nodes.values()]
    for (x, y), (other, below) in itertools.combinations(placed, 2):
        assert abs(x - other) >= 128 or abs(y - below) >= 88  # no two nodes overlap


def counted(shaped: Workspace, trained: bool) -> tuple[dict[str, int], tuple[str, ...]]:
    facts = looked_at(shaped, trained)
    return facts.summary.rows, facts.notes


def test_rows_that_are_left_out_or_come_again_are_counted(shaped: Workspace, tmp_path: Path) -> None:
    nodes, links = network(arrays_in_order(tmp_path))
    assert shaped.apply("Add", AddNodes(nodes, links))
    assert counted(shaped, True) == ({"train": 300, "validation": 100, "test": 100}, ())

    def set_to(**params: Value) -> tuple[dict[str, int], tuple[str, ...]]:
        from engine.document.edits import SetParam

        assert shaped.apply("Set", *(SetParam("n1", name, value) for name, value in params.items()))
        assert counted(shaped, True) == counted(shaped, False)
        return counted(shaped, True)

    rows, notes = set_to(repeats="left out")
    assert (sum(rows.values()), notes) == (
        400,
        ("100 rows are left out, as their inputs repeat those of another row.",),
    )
    rows, notes = set_to(repeats="in one split", balance="as they come")
    assert (sum(rows.values()), notes) == (500, ("Rows with equal inputs are in the same split.",))
    rows, notes = set_to(repeats="as they are", balance="repeat the rare")
    assert rows == {"train": 576, "validation": 100, "test": 100}
    assert notes == ("276 rows of rare classes are drawn again in train.",)
    rows, notes = set_to(balance="thin the common")
    assert rows["train"] == 24 and notes == ("276 rows are left out of train.",)


def arrays_in_order(folder: Path) -> Made:
    x = RNG.normal(size=(500, 4)).astype(np.float32)
    x[400:] = x[:100]
    np.savez(folder / "arrays.npz", x=x, y=(np.arange(500) % 25 == 0).astype(np.int64))
    return from_file(open_data(folder / "arrays.npz"), "x", "y", split="in time")


def test_rows_that_a_node_picks_are_counted_too(shaped: Workspace) -> None:
    made: Any = ("Wine", {}, "features", "cultivar", "CrossEntropy")
    nodes, links = network(made)
    links = tuple(link for link in links if link.target_port != "target")
    nodes += (Node("n9", "BalanceClasses", "even"),)
    links += (Link("n1", "cultivar", "n9", "x"), Link("n9", "output", "n4", "target"))
    assert shaped.apply("Add", AddNodes(nodes, links))
    rows, notes = counted(shaped, True)
    again = rows["train"] - 106
    assert notes == (f"{again} rows of rare classes are drawn again in train.",)
    assert again > 0 and counted(shaped, False) == ({"train": 106, "validation": 36, "test": 36}, ())
