"""Images with found and true boxes."""

from __future__ import annotations

import numpy as np
import torch
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.predictions.boxes import Boxes, finds_boxes
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.look.showing import painted, shown, snapshot
from tests.engine.look.taking import take
from tests.engine.train.networks import run_of
from tests.gallery.boxed import boxed

FOUND = np.array([[[3, 0.1, 0.1, 0.5, 0.5, 0.9], [4, 0.6, 0.6, 0.9, 0.9, 0.4]], [[-1, 0, 0, 1, 1, 0.1]] * 2])
RIGHT = np.array([[[3, 0.1, 0.12, 0.5, 0.5]], [[1, 0.2, 0.2, 0.4, 0.6]]], np.float32)
FACTS = {
    "found": FOUND.astype(np.float32),
    "right": RIGHT,
    "hits": np.array([[True, False], [False, False]]),
    "rows": (4, 9),
    "split": "validation",
}


def test_found_boxes_lie_over_true_ones(shaped: Workspace, qtbot: QtBot) -> None:
    view = Boxes(Subject(shaped, "n5"))
    qtbot.addWidget(view)
    view.resize(300, 200)
    shown(view, {Probe("n5", "boxes"): snapshot(np.zeros((2, 1, 8, 8), np.float32), **FACTS)})
    assert view.note == "1 of 2 found boxes right · 2 true ones, in white"
    assert view.tiles.captions == [
        "validation example 5: 1 of 2 found boxes right, 1 true ones",
        "validation example 10: 0 of 0 found boxes right, 1 true ones",
    ]
    table = view.table()
    assert table is not None and table[1] == [(5, 2, 1, 1), (10, 0, 0, 1)]
    assert {(255, 255, 255), (0, 0, 0)} <= {tuple(one[:3]) for one in painted(view).reshape(-1, 3).tolist()}


def test_a_network_of_boxes_shows_them(shaped: Workspace) -> None:
    project = boxed("CentrePointLoss", shaped.document.project.plan)
    loss = next(node for node in project.graph.nodes.values() if node.type == "CentrePointLoss")
    run = run_of(project)
    (found,) = take(run, Probe(loss.id, "boxes"), pinned=7)
    rows = list(found.extra["rows"])
    data = run.data["validation"]
    assert rows[0] == 7 and torch.equal(torch.from_numpy(found.extra["right"]), data["boxes"][rows])
    assert found.array.shape == (len(rows), 1, 48, 48)
    assert found.extra["found"].shape == (len(rows), 20, 6)
    shaped.document.replace(project, None)
    offered = {node.type for node in project.graph.nodes.values() if finds_boxes(Subject(shaped, node.id))}
    assert offered == {"CentrePointLoss", "Conv2d"}
