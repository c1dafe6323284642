"""Every kind of view on real runs: it draws what is taken for it, in the colours of both themes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from PySide6.QtGui import QColor

from app.look.base import Subject
from app.look.dock.states import failed_words, is_drawable
from app.look.registry import GROUPS, view_kinds
from app.theme import contrast, current_theme, set_theme
from app.workspace.workspace import Workspace
from engine.document.files import load_project
from engine.document.graph import Project
from engine.shapes.heads import loss_heads
from engine.train.loop import Run
from tests.app.look.showing import painted, shown
from tests.engine.look.taking import take
from tests.engine.train.networks import DATASETS, digits, iris, run_of

STEPS = 12
SURFACES = ("window", "panel", "raised", "canvas", "node")
GALLERY = DATASETS.parent / "gallery"
NETWORKS = (
    "iris",
    "digits",
    "two-spirals",
    "gan-digits",
    "delta-rule",
    "hopfield-2d",
    "santa-fe-lstm",
    "stacked-autoencoder",
    "rbm-mnist",
    "masked-letters",
    "romeo-letters",
    "shapes-masks",
    "digits-augmented",
    "dqn-grid",
    "vit-mnist",
    "perceptron-gates",
    "shallow-relu",
)


@pytest.fixture(autouse=True)
def dark_again() -> Iterator[None]:
    yield
    set_theme("dark")


def project_of(name: str) -> Project:
    made = {"iris": iris, "digits": digits}.get(name)
    return made() if made is not None else load_project(GALLERY / f"{name}.nloom")


@cache
def run_at(name: str) -> Run:
    """A few steps into training."""
    project = project_of(name)
    run = run_of(project)
    run.heads = loss_heads(run.program.project, run.program.book)
    for _ in range(STEPS):
        run.advance()
    return run


def subjects(workspace: Workspace, kind_id: str) -> Iterator[tuple[str, Subject]]:
    """Where a kind fits, network by network."""
    kind = view_kinds()[kind_id]
    for name in NETWORKS:
        workspace.document.replace(project_of(name), None)
        nodes = [""] if kind.whole else list(workspace.document.project.graph.nodes)
        for node_id in nodes:
            subject = Subject(workspace, node_id)
            if kind.suits(subject):
                yield name, subject
                break


@pytest.mark.parametrize("kind_id", sorted(view_kinds()))
def test_it_draws_what_a_real_run_gives(shaped: Workspace, kind_id: str) -> None:
    kind = view_kinds()[kind_id]
    assert kind.group in GROUPS and kind.title[0].isupper() and kind.about.endswith(".")
    refusals: list[str] = []
    for name, subject in subjects(shaped, kind_id):
        view = kind.make(subject)
        wanted = sorted(view.probes())
        found = dict(zip(wanted, take(run_at(name), *wanted), strict=True)) if wanted else {}
        there = {probe: snapshot for probe, snapshot in found.items() if is_drawable(snapshot)}
        needed = view.essential() or frozenset(wanted)
        lacking = {probe: snapshot for probe, snapshot in found.items() if probe in needed - there.keys()}
        if not lacking:
            break
        refusals.append(f"{name}: {failed_words(lacking) or 'nothing to draw'}")
        view.deleteLater()
    else:
        assert not refusals, refusals
        pytest.skip(f"no network here has what {kind.title!r} shows: its own tests make one")
    set_theme("dark")
    shown(view, there)
    painted_in = {}
    for theme in ("dark", "light"):
        set_theme(theme)
        pixels = painted_in[theme] = painted(view)
        colours, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)
        named = {getattr(current_theme(), role).name() for role in SURFACES}
        assert named & {QColor(*map(int, colour)).name() for colour in colours}
        ground = QColor(*map(int, colours[counts.argmax()]))
        assert max(contrast(QColor(*map(int, colour)), ground) for colour in colours) >= 4.5
    dark, light = painted_in["dark"], painted_in["light"]
    assert light.mean() > dark.mean()
    table = view.table()
    if table is not None:
        header, rows = table
        assert rows and all(len(row) == len(header) for row in rows)
    assert np.isfinite(dark.astype(float)).all()
