"""In every example all names of nodes are whole, and no two nodes touch."""

from __future__ import annotations

from itertools import combinations

from app.canvas.items.geometry import grown, meet
from app.canvas.scene.scene import GraphScene
from app.theme import current_theme
from app.window.gallery import examples
from app.workspace.workspace import Workspace
from engine.document.files import load_project


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
            wrong += [(path.stem, scope, touching, cut)] if touching or cut else []
    scene.deleteLater()
    assert not wrong
