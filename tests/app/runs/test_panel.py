"""The panel of all runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.runs.columns import took
from app.runs.dialogs import CheckpointsDialog, CompareDialog, WeightsDialog, differences
from app.runs.model import COLOURS, MOST
from app.runs.panel import RunsPanel
from app.workspace.workspace import Workspace, checkpoints_kept
from engine.document.edits import SetPlan
from engine.errors import NeuroloomError
from engine.runs.deleted import DELETED
from engine.runs.records import read_labels
from tests.app.conftest import add_iris
from tests.engine.train.stored_runs import write_run

LONG = 20_000


@pytest.fixture
def runs(shaped: Workspace) -> Path:
    """Three runs: the newest was interrupted, the oldest is the best."""
    folder = shaped.places.runs
    write_run(folder, "first", 4, lr=0.1, started="2026-01-01T10:00:00+00:00")
    write_run(folder, "second", 3, lr=0.01, started="2026-01-02T10:00:00+00:00")
    write_run(folder, "third", 2, lr=0.001, started="2026-01-03T10:00:00+00:00", state="running")
    (folder / "third" / "checkpoint.json").write_text("{}")
    return folder


@pytest.fixture
def panel(shaped: Workspace, qtbot: QtBot) -> Iterator[RunsPanel]:
    made = RunsPanel(shaped)
    qtbot.addWidget(made)
    made.resize(1060, 240)
    yield made
    made.close_readers()


@pytest.fixture
def full(runs: Path, panel: RunsPanel, qtbot: QtBot) -> RunsPanel:
    panel.show()
    qtbot.waitUntil(lambda: len(panel.model.shown) == 3, timeout=LONG)
    return panel


def names(panel: RunsPanel) -> list[str]:
    return [record.name for record in panel.model.shown]


def column(panel: RunsPanel, key: str) -> int:
    return next(index for index, one in enumerate(panel.model.columns) if one.key == key)


def click(
    panel: RunsPanel, qtbot: QtBot, row: int, key: str, double: bool = False, ctrl: bool = False
) -> None:
    rect = panel.table.visualRect(panel.model.index(row, column(panel, key)))
    act = qtbot.mouseDClick if double else qtbot.mouseClick
    keys = Qt.KeyboardModifier.ControlModifier if ctrl else Qt.KeyboardModifier.NoModifier
    act(panel.table.viewport(), Qt.MouseButton.LeftButton, keys, rect.center())


def entries(menu: QMenu) -> dict[str, QAction]:
    return {action.text(): action for action in menu.actions() if action.text()}


# -- states


def test_without_runs_it_says_what_would_fill_it(panel: RunsPanel, qtbot: QtBot) -> None:
    panel.show()
    qtbot.waitUntil(lambda: "No runs yet" in panel._empty.words(), timeout=LONG)
    assert panel._empty.isVisible() and "Press Train" in panel._empty.words()


def test_runs_that_cannot_be_read_say_so_and_can_be_read_again(
    panel: RunsPanel, runs: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise NeuroloomError("The disk is gone.")

    with monkeypatch.context() as broken:
        broken.setattr(panel.index, "refresh", refuse)
        panel.show()
        qtbot.waitUntil(lambda: "The disk is gone" in panel._empty.words(), timeout=LONG)
    button = panel.findChild(QPushButton, "runsAgain")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(panel.model.shown) == 3, timeout=LONG)


def test_reading_is_no_business_of_the_windows_thread(
    panel: RunsPanel, runs: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_in: list[int] = []
    refresh = panel.index.refresh
    monkeypatch.setattr(panel.index, "refresh", lambda: (read_in.append(threading.get_ident()), refresh())[1])
    panel.show()
    qtbot.waitUntil(lambda: len(panel.model.shown) == 3, timeout=LONG)
    assert read_in and threading.get_ident() not in read_in


# -- the table


def test_runs_stand_newest_first_with_their_state_in_words(full: RunsPanel) -> None:
    assert names(full) == ["third", "second", "first"]
    state = full.model.index(0, column(full, "state"))
    assert state.data() == "interrupted" and "Continue" in state.data(Qt.ItemDataRole.ToolTipRole)
    assert full.model.index(2, column(full, "epochs")).data() == "4/5"
    assert full.model.index(2, column(full, "best:val_loss")).data() == "0.5000"


def test_a_click_on_a_heading_sorts_by_numbers(full: RunsPanel, qtbot: QtBot) -> None:
    head = full.table.horizontalHeader()
    place = QPoint(head.sectionViewportPosition(column(full, "lr")) + 10, head.height() // 2)
    qtbot.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert names(full) == ["third", "second", "first"]
    qtbot.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert names(full) == ["first", "second", "third"]


def test_the_filter_narrows_the_table_and_can_be_cleared(full: RunsPanel, qtbot: QtBot) -> None:
    qtbot.keyClicks(full.filter, "lr<0.05")
    qtbot.waitUntil(lambda: names(full) == ["third", "second"])
    assert full._count.text() == "2 of 3"
    full.filter.setText("nothing like this")
    qtbot.waitUntil(lambda: names(full) == [])
    clear = full.findChild(QPushButton, "runsClearFilter")
    assert clear.isVisible()
    qtbot.mouseClick(clear, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(names(full)) == 3)


def test_tags_and_notes_are_typed_in_place_and_kept(full: RunsPanel, runs: Path, qtbot: QtBot) -> None:
    for key, text in (("tags", "good, base"), ("note", "the best so far")):
        qtbot.waitUntil(lambda: full.table.viewport().findChild(QLineEdit) is None)
        full.table.scrollTo(full.model.index(2, column(full, key)))
        click(full, qtbot, 2, key)
        click(full, qtbot, 2, key, double=True)
        editor = full.table.viewport().findChild(QLineEdit)
        editor.selectAll()
        qtbot.keyClicks(editor, text)
        qtbot.keyClick(editor, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda k=key, t=text: full.model.index(2, column(full, k)).data() == t)
    labels = read_labels(runs / "first")
    assert labels.tags == ("good", "base") and labels.note == "the best so far"
    full.filter.setText("tag:good")
    qtbot.waitUntil(lambda: names(full) == ["first"])


def test_the_selection_stays_with_its_run_when_the_order_changes(full: RunsPanel, qtbot: QtBot) -> None:
    click(full, qtbot, 1, "title")
    full.table.sortByColumn(column(full, "best:val_loss"), Qt.SortOrder.AscendingOrder)
    assert [record.name for record in full.table.chosen()] == ["second"]


def test_a_run_that_another_program_writes_is_seen(full: RunsPanel, runs: Path, qtbot: QtBot) -> None:
    write_run(runs, "fourth", started="2026-01-04T10:00:00+00:00")
    full._look()
    qtbot.waitUntil(lambda: names(full)[0] == "fourth", timeout=LONG)


def test_columns_are_chosen_and_remembered(full: RunsPanel, shaped: Workspace, qtbot: QtBot) -> None:
    full.table.choose_columns({"title", "seed"})
    full.table.columns_chosen.emit()
    again = RunsPanel(shaped)
    qtbot.addWidget(again)
    shown = [one.key for i, one in enumerate(again.model.columns) if not again.table.isColumnHidden(i)]
    assert shown == ["tick", "title", "seed"]


def test_times_in_words() -> None:
    assert [took(s) for s in (8.34, 119, 3900)] == ["8.3 s", "2 min", "1 h 05"]


# -- curves


def test_ticked_runs_are_drawn_over_each_other_in_colours_of_their_own(full: RunsPanel, qtbot: QtBot) -> None:
    click(full, qtbot, 1, "tick")
    click(full, qtbot, 2, "tick")
    assert full.model.ticked == ["second", "first"]
    qtbot.waitUntil(lambda: full.plot.plot is not None and len(full.plot.plot._curves) == 4, timeout=LONG)
    plot = full.plot.plot
    assert plot is not None
    assert {(curve.name, curve.dashed) for curve in plot._curves} == {
        ("second 1", False),
        ("second 1, train", True),
        ("first 1", False),
        ("first 1, train", True),
    }
    roles = {curve.name.split(",")[0]: curve.role for curve in plot._curves}
    assert len(set(roles.values())) == 2 and set(roles.values()) <= set(COLOURS)
    x, _ = plot.drawn([curve.name for curve in plot._curves].index("first 1"))
    assert x.tolist() == [1, 2, 3, 4]
    click(full, qtbot, 1, "tick")
    click(full, qtbot, 1, "tick")
    assert full.model.colour("second") == roles["second 1"]


def test_space_ticks_and_other_values_and_axes_can_be_drawn(full: RunsPanel, qtbot: QtBot) -> None:
    click(full, qtbot, 2, "title")
    qtbot.keyClick(full.table, Qt.Key.Key_Space)
    assert full.model.ticked == ["first"]
    qtbot.waitUntil(lambda: full.plot.plot is not None and bool(full.plot.plot._curves), timeout=LONG)
    full.plot._quantity.choose("accuracy")
    full.plot._axis.choose("step")
    plot = full.plot.plot
    assert plot is not None
    assert [curve.name for curve in plot._curves] == ["first 1"]
    assert plot.drawn(0)[0].tolist() == [10, 20, 30, 40]
    full.plot._quantity.choose("loss")
    full.plot._split.choose("train")
    assert [curve.name for curve in plot._curves] == ["first 1, train"]


def test_a_selected_run_shows_its_curve_before_anything_is_ticked(full: RunsPanel, qtbot: QtBot) -> None:
    """C-24: an old run has its curves,"""
    click(full, qtbot, 2, "title")
    qtbot.waitUntil(lambda: full.plot.plot is not None and len(full.plot.plot._curves) == 2, timeout=LONG)
    assert full.model.ticked == []


def test_a_run_without_curves_says_why(full: RunsPanel, runs: Path, qtbot: QtBot) -> None:
    """C-24: or says why it has none."""
    write_run(
        runs, "none", 0, started="2026-01-05T10:00:00+00:00", state="failed", error="The memory ran out."
    )
    full.refresh()
    qtbot.waitUntil(lambda: names(full)[0] == "none", timeout=LONG)
    click(full, qtbot, 0, "title")
    message = full.findChild(QLabel, "runsPlotMessage")
    qtbot.waitUntil(
        lambda: "no curves" in message.text() and "The memory ran out" in message.text(), timeout=LONG
    )


def test_a_run_that_goes_on_grows_and_never_draws_backwards(
    full: RunsPanel, runs: Path, qtbot: QtBot
) -> None:
    click(full, qtbot, 2, "tick")
    qtbot.waitUntil(lambda: "first" in full.plot._tracks, timeout=LONG)
    track = full.plot._tracks["first"]["train_loss"]
    assert track.end("step") == 40
    with open(runs / "first" / "steps.csv", "a") as file:
        file.write("41,4.1,4.1,0.2\n42,4.2,4.2,0.2\n")
    going = tuple(replace(one, record=replace(one.record, state="running")) for one in full.plot._drawn)
    full.plot.show_runs(going)
    full.plot.look()
    qtbot.waitUntil(lambda: track.end("step") == 42, timeout=LONG)
    steps = (runs / "first" / "steps.csv").read_text().splitlines(keepends=True)
    (runs / "first" / "steps.csv").write_text("".join(steps[:21]) + "21,2.1,2.1,0.1\n")
    full.plot.look()
    qtbot.waitUntil(lambda: track.end("step") == 21, timeout=LONG)
    x, _ = track.outline("step", 1000)
    assert (x[1:] > x[:-1]).all()


def test_no_more_runs_are_ticked_than_colours_tell_apart(full: RunsPanel, runs: Path, qtbot: QtBot) -> None:
    for number in range(MOST):
        write_run(runs, f"more-{number}", 1)
    full.refresh()
    qtbot.waitUntil(lambda: len(names(full)) == 3 + MOST, timeout=LONG)
    for name in names(full):
        full.model.tick(name, True)
    assert len(full.model.ticked) == MOST
    assert len({full.model.colour(name) for name in full.model.ticked}) == MOST
    assert "untick" in full.notice.text()


# -- what can be done


def test_what_cannot_be_done_says_why(full: RunsPanel, qtbot: QtBot) -> None:
    menu = full.menu
    assert not menu.continue_button.isEnabled() and "Select" in menu.continue_button.toolTip()
    click(full, qtbot, 1, "title")
    assert not menu.continue_button.isEnabled() and "no checkpoint" in menu.continue_button.toolTip()
    click(full, qtbot, 0, "title")
    assert menu.continue_button.isEnabled() and menu.reopen_button.isEnabled()
    with qtbot.waitSignal(full.continue_wanted) as wanted:
        qtbot.mouseClick(menu.continue_button, Qt.MouseButton.LeftButton)
    assert wanted.args[0].name == "third"
    with qtbot.waitSignal(full.project_wanted) as wanted:
        click(full, qtbot, 0, "title", double=True)
    assert wanted.args[0].name == "third"


def test_compare_takes_the_ticked_runs(
    full: RunsPanel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[list[str]] = []

    def look(dialog: CompareDialog) -> int:
        shown.append([one.text() for one in dialog.findChildren(QLabel) if one.text().startswith("From ")])
        return 0

    monkeypatch.setattr(CompareDialog, "exec", look)
    click(full, qtbot, 0, "title")
    for row in range(3):
        click(full, qtbot, row, "tick")
    qtbot.mouseClick(full.menu.compare_button, Qt.MouseButton.LeftButton)
    (heads,) = shown
    assert [head.partition(" to ")[2].partition("”")[0] for head in heads] == ["“second 1", "“third 1"]
    assert all(head.startswith("From “first 1” of") for head in heads)


def test_columns_are_as_wide_as_their_headings_and_say_best_and_last(full: RunsPanel) -> None:
    titles = [one.title for one in full.model.columns]
    assert {"best val accuracy", "last val accuracy", "best val loss"} <= set(titles)
    head = full.table.horizontalHeader()
    for section, one in enumerate(full.model.columns):
        if not full.table.isColumnHidden(section):
            assert head.fontMetrics().horizontalAdvance(one.title) < head.sectionSize(section)


def test_two_runs_are_compared_in_words(full: RunsPanel, shaped: Workspace, qtbot: QtBot) -> None:
    click(full, qtbot, 1, "title")
    click(full, qtbot, 2, "title", ctrl=True)
    old, new = reversed(full.table.chosen())
    found = differences(old, new, shaped.catalogue)
    assert [one.what for one in found] == ["learning rate: 0.1 → 0.01", "layer, units: 3 → 4"]
    dialog = CompareDialog(old, [(new, found)], full.model.names, full)
    qtbot.addWidget(dialog)
    texts = [label.text() for label in dialog.findChildren(QLabel)]
    assert "Learning rate: 0.1 → 0.01" in texts and "Layer, units: 3 → 4" in texts
    at = texts.index("Best val loss")  # whole numbers, one a label, however many values there are
    assert texts[at + 1 : at + 4] == ["0.5000", "→", "0.6667"]


def test_a_run_is_compared_with_the_open_project(full: RunsPanel, shaped: Workspace) -> None:
    add_iris(shaped)
    record = full.model.record("first")
    assert record is not None
    found = differences(record, shaped.document.project, shaped.catalogue)
    assert {"Iris", "CrossEntropy"} <= {
        word for one in found for word in one.what.replace("(", " ").split()
    } or found


def test_deleting_can_be_taken_back(full: RunsPanel, runs: Path, qtbot: QtBot) -> None:
    click(full, qtbot, 1, "title")
    qtbot.keyClick(full.table, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: names(full) == ["third", "first"], timeout=LONG)
    assert (runs / DELETED / "second").is_dir() and "“second” is deleted" in full.notice.text()
    qtbot.mouseClick(full.notice.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: names(full) == ["third", "second", "first"], timeout=LONG)


def test_the_table_of_a_run_is_exported(full: RunsPanel, qtbot: QtBot, tmp_path: Path) -> None:
    click(full, qtbot, 2, "title")
    full.menu.export_csv(tmp_path / "one.csv")
    assert len((tmp_path / "one.csv").read_text().splitlines()) == 5
    full.menu.export_csv(tmp_path / "nowhere" / "one.csv")


def test_the_menu_offers_weights_and_checkpoints(full: RunsPanel, runs: Path, qtbot: QtBot) -> None:
    (runs / "third" / "weights-best.safetensors").write_bytes(b"")
    kept = runs / "third" / "checkpoints" / "epoch-10"
    kept.mkdir(parents=True)
    (kept / "checkpoint.json").write_text("{}")
    full.refresh()
    qtbot.waitUntil(lambda: full.model.shown[0].checkpoints == ("epoch-10",), timeout=LONG)
    click(full, qtbot, 0, "title")
    menu = full.menu.menu()
    found = entries(menu)
    weights = found["Start a new run from these weights"].menu()
    branches = found["Branch from a checkpoint"].menu()
    assert list(entries(weights)) == ["The best epoch", "Epoch 10"]
    assert list(entries(branches)) == ["The last one", "Epoch 10"]
    with qtbot.waitSignal(full.branch_wanted) as wanted:
        entries(branches)["Epoch 10"].trigger()
    assert wanted.args[0] == kept
    menu.deleteLater()


def test_checkpoints_to_keep_are_asked_and_used(shaped: Workspace, qtbot: QtBot) -> None:
    assert checkpoints_kept(shaped.settings) == (0, 3)
    dialog = CheckpointsDialog(shaped.settings)
    qtbot.addWidget(dialog)
    dialog.every.setValue(5)
    dialog.newest.setValue(2)
    dialog.accept()
    assert checkpoints_kept(shaped.settings) == (5, 2)


def test_weights_are_reported_before_they_are_used(shaped: Workspace, qtbot: QtBot, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    add_iris(shaped)
    shaped.apply("Plan", SetPlan(shaped.document.project.plan.with_(epochs=1)))
    torch.save({"classes.weight": torch.zeros(3, 4), "classes.bias": torch.zeros(3)}, tmp_path / "w.pt")
    dialog = WeightsDialog(shaped, tmp_path / "w.pt")
    qtbot.addWidget(dialog)
    with qtbot.waitSignal(dialog.reported, timeout=LONG):
        pass
    assert dialog.train.isEnabled() and "1 of 1 layers" in dialog._head.text()
    dialog.reject()
    torch.save({"other.weight": torch.zeros(9, 9)}, tmp_path / "o.pt")
    dialog = WeightsDialog(shaped, tmp_path / "o.pt")
    qtbot.addWidget(dialog)
    with qtbot.waitSignal(dialog.reported, timeout=LONG):
        pass
    texts = [label.text() for label in dialog.findChildren(QLabel)]
    assert not dialog.train.isEnabled() and any("starts from first weights" in text for text in texts)
    assert "is in the file and not used" in texts
    dialog.reject()


def test_the_menu_of_a_row_opens_at_the_pointer(full: RunsPanel, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[QPoint] = []
    monkeypatch.setattr(full.menu, "offer", shown.append)
    place = full.table.visualRect(full.model.index(1, 1)).center()
    full.table.customContextMenuRequested.emit(place)
    assert shown == [full.table.viewport().mapToGlobal(place)]
