"""Pinned views stay with their node, the others follow the selection; the layout comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.dock.card import SIZES
from app.look.dock.dock import ViewsDock
from app.look.dock.pinned import Layout, Place, from_text, keep, kept, to_text
from app.look.registry import proposed
from engine.document.edits import Remove
from engine.feed.feed import Probe
from tests.app.look.dock.conftest import Shown


def followed(shown: Shown) -> list[str]:
    return [card.kind.id for card in shown.dock.cards if not card.pinned]


def test_cards_follow_the_selection_unless_they_are_pinned(shown: Shown) -> None:
    shown.workspace.select(["n2"])
    card = shown.dock.card("filters")
    assert card is not None and not card.pinned
    card.ask_pin()
    shown.workspace.select(["n3"])
    assert ("filters", "n2") in shown.ids()
    assert ("activations", "n3") in shown.ids()
    assert ("activations", "n2") not in shown.ids()
    assert card.accessibleName().endswith("conv1")
    shown.workspace.select([])
    assert shown.ids() == [("filters", "n2")]
    assert card.isVisible()


def test_the_best_of_what_is_proposed_follows_and_chips_offer_the_rest(shown: Shown) -> None:
    shown.workspace.select(["n2"])
    offered = [kind.id for kind in proposed(Subject(shown.workspace, "n2"))]
    assert followed(shown) == [kind for kind in offered if kind in followed(shown)], "best first"
    assert 0 < len(followed(shown)) <= 6
    assert "spectrum" in offered and "spectrum" not in followed(shown)
    shown.dock.strip.chips.toggled.emit("spectrum", True)
    assert "spectrum" in followed(shown)
    shown.workspace.select(["n4"])
    assert "spectrum" in followed(shown), "what was chosen holds for other nodes too"
    shown.dock.close_card(shown.dock.card("spectrum"))
    shown.workspace.select(["n2"])
    assert "spectrum" not in followed(shown)


def test_unpinning_gives_the_card_back_to_the_selection(shown: Shown) -> None:
    shown.workspace.select(["n2"])
    card = shown.dock.card("activations")
    assert card is not None
    card.ask_pin()
    assert [one for one in shown.ids() if one[0] == "activations"] == [("activations", "n2")]
    shown.workspace.select(["n3"])
    card.ask_pin()
    assert ("activations", "n2") not in shown.ids()


def test_what_is_on_screen_is_watched_and_recorded(shown: Shown, qtbot: QtBot) -> None:
    card = shown.pin("activations", "n4")
    probe = Probe("n4", "activations")
    qtbot.waitUntil(lambda: probe in shown.trainer.watched)
    card.toggle_freeze()
    qtbot.waitUntil(lambda: probe not in shown.trainer.watched)
    card.toggle_freeze()
    qtbot.waitUntil(lambda: probe in shown.trainer.watched)
    shown.dock.close_card(card)
    qtbot.waitUntil(lambda: probe not in shown.trainer.watched)


def test_the_first_view_of_the_whole_is_recorded_though_nobody_looks(shown: Shown, qtbot: QtBot) -> None:
    shown.dock.hide()
    shown.trainer.state = "running"
    shown.workspace.state_changed.emit("loading")
    first = shown.dock.cards[0]
    qtbot.waitUntil(lambda: first.recorded() <= shown.trainer.watched)
    assert first.kind.id == "worst-and-best" and first.recorded()


def test_pinned_views_are_recorded_while_hidden_and_training(shown: Shown, qtbot: QtBot) -> None:
    shown.pin("activations", "n4")
    shown.dock.hide()
    qtbot.waitUntil(lambda: shown.trainer.watched == frozenset())
    shown.trainer.state = "running"
    shown.workspace.state_changed.emit("running")
    qtbot.waitUntil(lambda: shown.trainer.watched == {Probe("n4", "activations")})
    shown.dock.record_while_hidden(False)
    qtbot.waitUntil(lambda: shown.trainer.watched == frozenset())


def test_what_nobody_has_looked_at_yet_is_recorded_from_the_first_step(shown: Shown, qtbot: QtBot) -> None:
    shown.dock.hide()
    shown.workspace.select(["n2"])
    shown.trainer.state = "running"
    shown.workspace.state_changed.emit("running")
    qtbot.waitUntil(lambda: Probe("n2", "filters") in shown.trainer.watched)
    shown.trainer.state = "idle"
    shown.workspace.state_changed.emit("idle")
    qtbot.waitUntil(lambda: shown.trainer.watched == frozenset())


def test_one_card_fills_the_dock_until_esc(shown: Shown, qtbot: QtBot) -> None:
    cards = [shown.pin("activations", node_id) for node_id in ("n1", "n2", "n3")]
    with qtbot.waitSignal(shown.dock.room_wanted) as wanted:
        cards[1].ask_enlarge()
    assert wanted.args == [True]
    assert [card.isVisible() for card in cards] == [False, True, False]
    assert cards[1].size() == shown.dock.grid.viewport().size()
    cards[1].setFocus()
    with qtbot.waitSignal(shown.dock.room_wanted) as wanted:
        qtbot.keyClick(cards[1], Qt.Key.Key_Escape)
    assert wanted.args == [False]
    assert all(card.isVisible() for card in cards)


def test_keys_reach_everything(shown: Shown, qtbot: QtBot) -> None:
    cards = [shown.pin("activations", node_id) for node_id in ("n1", "n2", "n3")]
    cards[0].setFocus()
    qtbot.keyClick(cards[0], Qt.Key.Key_Right)
    assert cards[1].hasFocus()
    qtbot.keyClick(cards[1], Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert [node for _, node in shown.ids()] == ["n1", "n3", "n2"]
    qtbot.keyClick(cards[1], Qt.Key.Key_Space)
    assert cards[1].frozen
    qtbot.keyClick(cards[1], Qt.Key.Key_Return)
    assert cards[1].enlarged
    qtbot.keyClick(cards[1], Qt.Key.Key_Escape)
    qtbot.keyClick(cards[1], Qt.Key.Key_Delete)
    assert [node for _, node in shown.ids()] == ["n1", "n3"]


def test_a_card_whose_node_is_gone_says_so_and_an_undo_brings_it_back(shown: Shown, qtbot: QtBot) -> None:
    card = shown.pin("activations", "n3")
    shown.snapshots(100)
    shown.workspace.apply("Delete", Remove(("n3",)))
    shown.tick()
    assert card.state.kind == "gone"
    assert "deleted" in card.state.words
    assert card.probes() == frozenset()
    shown.workspace.undo()
    shown.tick()
    assert card.state.kind != "gone"
    assert not card.pane.close_button.isVisible()
    shown.workspace.redo()
    shown.tick()
    qtbot.mouseClick(card.pane.close_button, Qt.MouseButton.LeftButton)
    assert ("activations", "n3") not in shown.ids()


def test_the_layout_comes_back_with_the_project(shown: Shown, qtbot: QtBot, tmp_path: Path) -> None:
    shown.workspace.document.path = tmp_path / "net.nloom"
    shown.workspace.announce_title()
    shown.pin("activations", "n2").set_size("L")
    shown.pin("filters", "n4").set_size("S")
    again = ViewsDock(shown.workspace)
    qtbot.addWidget(again)
    found = [(card.kind.id, card.subject.node_id, card.size_name) for card in again.cards if card.pinned]
    assert found == [("activations", "n2", "L"), ("filters", "n4", "S")]
    assert again.layout_now() == shown.dock.layout_now()


def test_a_project_without_a_file_keeps_no_layout(shown: Shown) -> None:
    shown.pin("activations", "n2")
    assert kept(shown.workspace.settings, None) == Layout()
    assert "views_layout" not in " ".join(shown.workspace.settings.keys("views_layout"))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"pinned": 3}', '{"pinned": [{"node": "n1"}]}', '{"on_nodes": [1]}']
)
def test_settings_that_someone_has_edited_give_no_cards(text: str) -> None:
    assert from_text(text) == Layout()


def test_a_layout_survives_its_text(shown: Shown, tmp_path: Path) -> None:
    layout = Layout((Place("ridge", "n1", "S", {"log": True}, "run-1"), Place("table")), (("filters", "n2"),))
    assert from_text(to_text(layout)) == layout
    keep(shown.workspace.settings, tmp_path / "a.nloom", layout)
    assert kept(shown.workspace.settings, tmp_path / "a.nloom") == layout
    assert {place.size for place in layout.pinned} <= set(SIZES)
