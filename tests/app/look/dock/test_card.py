"""A card always says how its view stands: empty, waiting, failed, old, slow, frozen or replayed."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication, QLabel

from app.look.dock.card import ViewCard
from app.look.dock.states import STALE
from app.look.registry import view_kinds
from engine.document.edits import SetParam
from engine.feed.feed import Probe, Snapshot
from engine.feed.history import History
from tests.app.look.dock.conftest import Shown

VALUES = Probe("n2", "singular_values")


def mark(card: ViewCard) -> str:
    found = [one for one in card.findChildren(QLabel) if one.property("role") == "chip"]
    return found[0].text() if not found[0].isHidden() else ""


def put(shown: Shown, *values: float, step: int = 7, revision: int = 99, **facts: object) -> None:
    shown.trainer.feed.put(
        VALUES, Snapshot(revision, step, np.array(values), {"largest": 1, "rank": 1, **facts})
    )
    shown.tick()


@pytest.fixture
def card(shown: Shown) -> ViewCard:
    return shown.pin("spectrum", "n2")


def test_it_waits_and_then_draws(shown: Shown, card: ViewCard) -> None:
    shown.tick()
    assert card.state.kind == "waiting"
    assert card.state.words == "It appears as soon as the network has been built."
    put(shown, 3.0, 2.0)
    assert card.state.kind == "drawn"
    assert card.pane.view.table() == (("direction", "singular value"), [(1, 3.0), (2, 2.0)])
    assert card.pane.view.note in card.accessibleDescription()


def test_a_view_that_cannot_be_taken_says_why(shown: Shown, card: ViewCard) -> None:
    put(shown, failed="The weights are not finite.")
    assert (card.state.kind, card.state.words) == ("failed", "The weights are not finite.")
    assert "not finite" in card.accessibleDescription()


def test_nothing_to_show_is_said(shown: Shown, card: ViewCard) -> None:
    put(shown)
    assert card.state.kind == "empty"
    assert card.state.words


@pytest.mark.logs("could not be drawn")
def test_a_view_that_cannot_be_drawn_leaves_the_others_alone(
    shown: Shown, card: ViewCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_found: object) -> None:
        raise ZeroDivisionError("by zero")

    other = shown.pin("activations", "n2")
    monkeypatch.setattr(card.pane.view, "draw", fail)
    put(shown, 1.0)
    shown.snapshots(8)
    assert card.state.kind == "failed"
    assert "by zero" in card.state.words
    assert other.state.kind == "drawn"


def test_what_was_computed_before_a_change_is_dimmed(shown: Shown, card: ViewCard) -> None:
    revision = shown.workspace.document.revision
    put(shown, 2.0, revision=revision)
    assert not card.state.dim
    shown.workspace.apply("Change", SetParam("n4", "filters", 8))
    shown.tick()
    assert not card.state.dim, "training has a moment to take it over"
    shown.dock._changed_at -= 10
    shown.tick()
    assert (card.state.dim, card.state.mark) == (True, STALE)
    put(shown, 2.5, revision=shown.workspace.document.revision)
    assert not card.state.dim


def test_a_view_that_comes_seldom_says_how_often(shown: Shown, card: ViewCard) -> None:
    put(shown, 2.0, wait=picture_every())
    assert mark(card) == ""
    put(shown, 2.0, wait=4.2)
    assert mark(card) == "every 4 s"
    assert "every 4 s, so that training keeps its pace" in card.accessibleDescription()


def picture_every() -> float:
    from engine.look.registry import probe_kinds

    assert "spectrum" in view_kinds()
    return probe_kinds()["singular_values"].every


def test_a_frozen_card_stands_still(shown: Shown, card: ViewCard) -> None:
    put(shown, 2.0, step=1200)
    card.toggle_freeze()
    put(shown, 9.0, step=1300)
    assert mark(card) == "frozen at step 1,200"
    assert card.pane.view.table() == (("direction", "singular value"), [(1, 2.0)])
    card.toggle_freeze()
    shown.tick()
    assert card.pane.view.table() == (("direction", "singular value"), [(1, 9.0)])
    assert mark(card) == ""


def test_another_run_stands_beside_it_at_the_same_step(shown: Shown, card: ViewCard) -> None:
    history = History()
    history.record_only(frozenset({VALUES}))
    for step in (5, 10, 20):
        history.record(VALUES, Snapshot(1, step, np.array([float(step)]), {"largest": 1, "rank": 1}))
    put(shown, 2.0, step=12)
    card.compare(("yesterday", history))
    shown.tick()
    assert card.other is not None
    assert card.other.view.table() == (("direction", "singular value"), [(1, 10.0)])
    words = {one.text() for one in card.findChildren(QLabel) if not one.isHidden()}
    assert {"yesterday", "this run", "step 10", "step 12"} <= words
    put(shown, 2.0, step=400)
    assert card.other.view.table() == (("direction", "singular value"), [(1, 20.0)])
    card.compare(None)
    assert card.other is None


def test_a_run_without_this_view_says_so(shown: Shown, card: ViewCard) -> None:
    put(shown, 2.0)
    card.compare(("yesterday", History()))
    shown.tick()
    assert card.other is not None
    assert card.other.state.words == "Nothing of this was recorded in that run."


def test_a_narrow_card_keeps_its_title_whole(shown: Shown, card: ViewCard) -> None:
    title = QFontMetrics(card._title.font()).horizontalAdvance(card.kind.title)
    for width in (460, 300, 250, 230, title + 90):
        card.resize(width, 180)
        QApplication.processEvents()
        assert card._title.width() >= title, width
    assert card.enlarge_button.isHidden() and card.freeze_button.isHidden()  # the menu has them
    assert card.menu_button.isVisible() and card.pin_button.isVisible()
