"""In every example all names of nodes are whole, and no two nodes touch."""

from __future__ import annotations

from itertools import combinations

from app.canvas.items.geometry import grown, meet
from app.canvas.items.text_fit import in_lines
from app.canvas.scene.scene import GraphScene
from app.theme import current_theme
from app.window.gallery import examples
from app.workspace.workspace import Workspace
from engine.document.files import load_project

ZOOMS = (0.59, 0.49, 0.35, 0.25)  # from afar, where the name is all that is written on a node


def test_names_in_the_examples_are_whole_and_nodes_stand_apart(workspace: Workspace) -> None:
    scene = GraphScene(workspace)
    wrong = []
    for path in [example.path for example in examples()]:
        workspace.document.replace(load_project(path))
        for scope in ("", *workspace.document.project.blocks):
            workspace.enter(scope)
            boxes = scene.boxes.all()
            pairs = combinations(boxes.items(), 2)
            touching = [(a, b) for (a, one), (b, other) in pairs if meet(grown(one, 6), other)]
            items = scene.node_items.values()
            cut = [item.face.name for item in items if item._fitted(current_theme())[0] != item.face.name]
            far = [
                item.face.name for item in items for zoom in ZOOMS if "…" in "".join(item.far_name(zoom)[1])
            ]
            wrong += [(path.stem, scope, touching, cut, far)] if touching or cut or far else []
    scene.deleteLater()
    assert not wrong


def test_a_name_from_afar_has_two_lines_where_that_makes_it_larger(workspace: Workspace) -> None:
    assert in_lines("scores", 20, 13, 120, 44) == (20, ("scores",))
    size, lines = in_lines("halve again", 20, 13, 108, 44)
    assert size > 16 and lines == ("halve", "again")
    size, lines = in_lines("cross-entropy", 20, 13, 108, 44)
    assert size > 16 and lines == ("cross-", "entropy")
    assert in_lines("halve again", 20, 13, 108, 22)[1] == ("halve again",)  # there is room for one line alone
    assert in_lines("x" * 50, 20, 13, 108, 44)[1][0].endswith("…")
