"""Views of sequences on the gallery's own text and series."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.registry import proposed, view_kinds
from app.look.sequences.nearest import NearestWords
from app.workspace.workspace import Workspace
from engine.document.files import load_project
from engine.feed.feed import Probe
from tests.app.look.showing import painted, shown
from tests.engine.look.taking import take
from tests.engine.train.networks import DATASETS, run_of

GALLERY = DATASETS.parent / "gallery"


@pytest.mark.parametrize("node", ["n1", "n2"])
def test_the_text_itself_and_what_reads_it_give_no_scores(shaped: Workspace, node: str) -> None:
    shaped.document.replace(load_project(GALLERY / "romeo-letters.nloom"), None)
    assert "next-token" not in {one.id for one in proposed(Subject(shaped, node))}


@pytest.mark.parametrize(
    ("name", "node", "kind"),
    [
        ("romeo-letters", "n4", "next-token"),
        ("romeo-letters", "n5", "next-token"),
        ("romeo-letters", "n3", "gates"),
        ("masked-letters", "n5", "hidden-tokens"),
        ("masked-letters", "n6", "hidden-tokens"),
        ("word-vectors", "n3", "nearest-words"),
        ("co2-series", "n3", "forecast"),
        ("co2-series", "n2", "gates"),
    ],
)
def test_it_is_proposed_and_draws(shaped: Workspace, name: str, node: str, kind: str) -> None:
    project = load_project(GALLERY / f"{name}.nloom")
    shaped.document.replace(project, None)
    subject = Subject(shaped, node)
    assert kind in {one.id for one in proposed(subject)}
    view = view_kinds()[kind].make(subject)
    run = run_of(project)
    wanted = sorted(view.probes())
    found = dict(zip(wanted, take(run, *wanted), strict=True))
    assert [snapshot.extra.get("failed") for snapshot in found.values()] == [None] * len(wanted)
    shown(view, found)
    drawn = painted(view)
    assert (drawn != drawn[0, 0]).any()


def test_the_next_letter_has_a_name_and_a_right_answer() -> None:
    run = run_of(load_project(GALLERY / "romeo-letters.nloom"))
    (found,) = take(run, Probe("n5", "next_token", (10,)), pinned=3)
    text, right = run.data["validation"]["tokens"][3], run.data["validation"]["next"][3]
    names = found.extra["names"]
    assert (found.array.shape, found.extra["places"], found.extra["place"]) == ((72,), 64, 10)
    assert found.extra["target"] == int(right[10]) == int(text[11])
    assert found.extra["context"][-1] == names[int(text[10])]
    assert np.isfinite(found.array).all()


def test_an_analogy_that_is_typed_is_asked_for_and_a_word_that_is_not_there_is_named(
    shaped: Workspace, qtbot: QtBot
) -> None:
    project = load_project(GALLERY / "word-vectors.nloom")
    shaped.document.replace(project, None)
    view = NearestWords(Subject(shaped, "n3"))
    qtbot.addWidget(view)
    run = run_of(project)
    (probe,) = view.probes()
    (first,) = take(run, probe)
    shown(view, {probe: first})
    assert view.question.text() == first.extra["question"] == "and"  # the commonest word
    view.question.setText("thou - you + me")
    with qtbot.waitSignal(view.needs_changed):
        qtbot.keyClick(view.question, Qt.Key.Key_Return)
    asked = Probe("n3", "nearest_words", ("thou - you + me",))
    assert view.probes() == {asked}
    (found,) = take(run, asked)
    table = run.model.get_submodule(run.program.modules["n3"]).weight.detach()
    unit = table / table.norm(dim=1, keepdim=True)
    thou, you, me = (unit[found.extra["words"].index(word)] for word in ("thou", "you", "me"))
    wanted = thou - you + me
    best = found.extra["words"].index(found.extra["names"][0])
    assert found.array[0] == pytest.approx(float(unit[best] @ wanted / wanted.norm()), rel=1e-4)
    assert not {"thou", "you", "me"} & set(found.extra["names"]) and len(found.array) == 20
    shown(view, {asked: found})
    assert view.table()[1][0][0] == view.bars.bars[0].name == found.extra["names"][0]
    (missing,) = take(run, Probe("n3", "nearest_words", ("xyzzy",)))
    assert "'xyzzy' is not in the vocabulary" in missing.extra["failed"]
