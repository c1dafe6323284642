"""Folders of runs as the store leaves them, without training anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.document.files import save_project
from engine.document.graph import Graph, Node, Project
from engine.document.plan import Choice, Plan

METRICS = "epoch,step,seconds,lr,train_loss,val_loss,val_accuracy\n"


def write_run(runs: Path, name: str, rows: int = 3, lr: float = 0.1, **settings: Any) -> Path:
    """A finished run of `rows` epochs of ten steps, unless `settings` say otherwise."""
    folder = runs / name
    folder.mkdir(parents=True)
    plan = Plan().with_(optimiser=Choice("SGD", {"lr": lr}), epochs=5)
    graph = Graph([Node("n1", "Linear", "layer", {"units": 3 if lr == 0.1 else 4})])
    save_project(Project(title=name, plan=plan, graph=graph), folder / "project.nloom")
    facts = {
        "title": name,
        "started": "2026-01-02T03:04:05+00:00",
        "epochs": 5,
        "seed": 7,
        "batch": 32,
        "device": "cpu",
        "plan": plan.to_json(),
        "state": "finished",
    }
    (folder / "settings.json").write_text(json.dumps(facts | settings))
    lines = [f"{i},{10 * i},{i}.5,0.1,{1 / i},{2 / i},{0.5 + i / 100}\n" for i in range(1, rows + 1)]
    (folder / "metrics.csv").write_text(METRICS + "".join(lines))
    steps = [f"{i},{i / 10},{i / 10},{10 / (10 + i)}\n" for i in range(1, 10 * rows + 1)]
    (folder / "steps.csv").write_text("step,epoch,seconds,loss\n" + "".join(steps))
    return folder
