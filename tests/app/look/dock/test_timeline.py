"""The slider shows every view as it was at a recorded step, and live at its right end."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QToolButton
from pytestqt.qtbot import QtBot

from engine.feed.history import History
from tests.app.look.dock.conftest import Shown


def words(shown: Shown) -> str:
    return shown.dock.findChild(QLabel, "timelineWords").text()


def drawn_at(shown: Shown) -> set[int]:
    return {one.step for card in shown.dock.cards for one in card.pane.drawn.values()}


def test_it_comes_with_the_second_recorded_step(shown: Shown) -> None:
    shown.pin("activations", "n2")
    shown.snapshots(100)
    assert not shown.dock.timeline.isVisible()
    shown.snapshots(200)
    assert shown.dock.timeline.isVisible()
    assert words(shown) == "step 200"


def test_going_back_shows_what_was_recorded_and_training_goes_on(shown: Shown, qtbot: QtBot) -> None:
    card = shown.pin("activations", "n2")
    shown.pin("filters", "n2")
    shown.snapshots(*range(100, 1100, 100))
    track = shown.dock.timeline.track
    qtbot.mouseClick(track, Qt.MouseButton.LeftButton, pos=QPoint(round(track.x_of(300)), 8))
    shown.tick()
    assert drawn_at(shown) == {300}
    assert words(shown) == "step 300 of 1,000"
    assert card.state.mark == "step 300"
    shown.snapshots(1100, 1200)
    assert drawn_at(shown) == {300}
    assert words(shown) == "step 300 of 1,200"
    qtbot.keyClick(track, Qt.Key.Key_Right)
    shown.tick()
    assert drawn_at(shown) == {400}
    qtbot.keyClick(track, Qt.Key.Key_Home)
    shown.tick()
    assert drawn_at(shown) == {100}
    live = shown.dock.findChild(QToolButton, "timelineLive")
    assert not live.isChecked()
    qtbot.mouseClick(live, Qt.MouseButton.LeftButton)
    shown.tick()
    assert drawn_at(shown) == {1200}
    assert live.isChecked()
    assert card.state.mark == ""


def test_the_right_end_is_live(shown: Shown, qtbot: QtBot) -> None:
    shown.pin("activations", "n2")
    shown.snapshots(100, 200, 300)
    shown.dock.playback.go_to(100)
    track = shown.dock.timeline.track
    qtbot.mouseClick(track, Qt.MouseButton.LeftButton, pos=QPoint(track.width() - 2, 8))
    assert shown.dock.playback.live


def test_what_was_not_recorded_then_says_so(shown: Shown) -> None:
    shown.pin("activations", "n2")
    shown.snapshots(100, 200)
    late = shown.pin("filters", "n2")
    shown.snapshots(300, 400)
    shown.dock.playback.go_to(100)
    shown.tick()
    assert late.state.kind == "waiting"
    assert late.state.words == "Nothing of this was recorded before step 300."


def test_it_plays_to_the_end_and_stops(shown: Shown, qtbot: QtBot) -> None:
    shown.pin("activations", "n2")
    shown.snapshots(100, 200, 300)
    seen: list[int | None] = []
    shown.dock.playback.moved.connect(lambda: seen.append(shown.dock.playback.step))
    shown.dock.timeline._timer.setInterval(1)
    qtbot.mouseClick(shown.dock.timeline.play, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not shown.dock.timeline.playing)
    assert seen == [100, 200, 300]


def test_a_stored_run_is_replayed(shown: Shown, qtbot: QtBot, tmp_path: Path) -> None:
    shown.pin("activations", "n2")
    shown.snapshots(100, 200, 300)
    folder = shown.workspace.places.runs / "yesterday"
    folder.mkdir(parents=True)
    shown.trainer.feed.history.save(folder)
    shown.trainer.feed.clear()
    shown.dock.stored_runs.read("yesterday", shown.dock.playback.replay)
    qtbot.waitUntil(lambda: shown.dock.playback.run == "yesterday")
    shown.tick()
    assert drawn_at(shown) == {300}
    assert words(shown) == "yesterday · step 300 of 300"
    shown.dock.playback.go_to(100)
    shown.tick()
    assert drawn_at(shown) == {100}
    shown.dock.playback.go_live()
    assert shown.dock.playback.run == ""


def test_a_new_run_is_shown_live(shown: Shown) -> None:
    shown.pin("activations", "n2")
    shown.snapshots(100, 200)
    shown.dock.playback.go_to(100)
    shown.workspace.state_changed.emit("loading")
    assert shown.dock.playback.live


def test_a_run_that_kept_nothing_is_told(shown: Shown, qtbot: QtBot) -> None:
    with qtbot.waitSignal(shown.workspace.message) as told:
        shown.dock.stored_runs.read("nowhere", shown.dock.playback.replay)
    assert told.args == ["The run nowhere has no recorded views.", "warning"]
    assert shown.dock.playback.live


def test_the_budget_is_the_users(shown: Shown) -> None:
    shown.dock.recording.set_budget(16)
    assert shown.trainer.feed.history.budget == 16 * 2**20
    assert shown.dock.recording.budget == 16
    assert History().budget == 64 * 2**20
