"""The window as a whole: pages, sizes, themes, and how it ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QSplitter, QWidget

from app.theme import choose_theme, current_theme
from app.window import file_commands, main_window
from app.window.example_card import Card
from app.window.gallery import example_path
from app.window.main_window import MainWindow
from app.workspace.places import Places
from app.workspace.workspace import Workspace
from engine.document.blocks import group
from engine.document.edits import SetParam
from engine.document.graph import Project
from engine.errors import TrainingError
from tests.app.conftest import add_iris

Answer = Callable[..., str]


@pytest.fixture
def window(shaped: Workspace, qtbot) -> Iterator[MainWindow]:  # type: ignore[no-untyped-def]
    made = MainWindow(shaped)
    # The widgets of a test are closed before its fixtures are torn down.
    qtbot.addWidget(made, before_close_func=settle)
    made.show()
    yield made


def settle(window: MainWindow) -> None:
    """Leaves nothing to ask about."""
    for page in window.documents.pages:
        page.workspace.trainer.state = "idle"
        page.workspace.document.mark_saved()


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the next questions are answered with; a question that is not expected fails the test."""
    waiting: list[str] = []

    def answer(_parent: QWidget, title: str, _text: str, choices: tuple[str, ...], _detail: str = "") -> str:
        assert waiting, f"unexpected question: {title}"
        chosen = waiting.pop(0)
        assert chosen in choices
        return chosen

    monkeypatch.setattr(main_window, "ask", answer)
    monkeypatch.setattr(file_commands, "ask", answer)
    return waiting


def test_it_begins_with_the_welcome_page(window: MainWindow, qtbot) -> None:  # type: ignore[no-untyped-def]
    assert not window.at_work
    qtbot.waitUntil(lambda: len(window.welcome.cards()) >= 5, timeout=10_000)
    titles = {card.example.title for card in window.welcome.cards()}
    assert "MNIST CNN" in titles
    assert all(card.example.line for card in window.welcome.cards())


def test_new_shows_an_empty_canvas_with_the_focus(window: MainWindow) -> None:
    window.actions_by_name["new_project"].trigger()
    assert window.at_work
    assert window.canvas.isVisible()
    assert window.windowTitle().startswith("Untitled")


def test_an_example_opens_from_its_card(window: MainWindow, qtbot) -> None:  # type: ignore[no-untyped-def]
    qtbot.waitUntil(lambda: bool(window.welcome.cards()), timeout=10_000)
    card: Card = next(card for card in window.welcome.cards() if card.example.title == "Iris")
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton)
    assert window.at_work
    assert window.workspace.document.project.title == "Iris"
    assert window.workspace.document.path is None
    assert window.top_bar.chip.name() == "Iris"


class Layouts(QObject):
    """Counts who asks for a new layout."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.asked[f"{type(watched).__name__} {watched.objectName()}"] += 1
        return False


@pytest.mark.parametrize("width", [1280, 1700])
def test_a_window_that_nobody_touches_lays_nothing_out(window: MainWindow, qtbot, width: int) -> None:  # type: ignore[no-untyped-def]
    """One that asks for a layout whenever it has had one takes half the time of a run."""
    window.resize(width, 800)
    add_iris(window.workspace)
    window.show_workbench()
    qtbot.wait(300)
    layouts = Layouts()
    QApplication.instance().installEventFilter(layouts)  # type: ignore[union-attr]
    qtbot.wait(300)
    QApplication.instance().removeEventFilter(layouts)  # type: ignore[union-attr]
    assert max(layouts.asked.values(), default=0) <= 3, layouts.asked.most_common(3)


def test_the_palette_adds_in_the_middle_of_the_view(window: MainWindow) -> None:
    window.show_workbench()
    window.document_page.palette_panel.add_requested.emit("Linear")
    assert [node.type for node in window.workspace.document.project.graph.nodes.values()] == ["Linear"]


def test_chip_and_title_show_what_is_unsaved(window: MainWindow, tmp_path: Path) -> None:
    window.show_workbench()
    assert not window.top_bar.chip.unsaved
    add_iris(window.workspace)
    assert window.top_bar.chip.unsaved and window.isWindowModified()
    window.document_page.file.save(tmp_path / "flowers.nloom")
    assert not window.top_bar.chip.unsaved and not window.isWindowModified()
    assert window.top_bar.chip.name() == "flowers.nloom"
    assert "flowers.nloom" in window.windowTitle()


def test_undo_and_redo_say_what_they_do(window: MainWindow) -> None:
    window.show_workbench()
    undo, redo = window.actions_by_name["undo"], window.actions_by_name["redo"]
    assert not undo.isEnabled() and not redo.isEnabled()
    undo.trigger()
    add_iris(window.workspace)
    assert undo.text() == "&Undo add"
    undo.trigger()
    assert not window.workspace.document.project.graph.nodes
    assert redo.text() == "&Redo add" and redo.isEnabled()


def test_the_plan_is_edited_from_the_menu(window: MainWindow) -> None:
    action = window.actions_by_name["edit_plan"]
    assert not action.isEnabled()  # there is no document on show yet
    window.actions_by_name["new_project"].trigger()
    add_iris(window.workspace)
    window.workspace.select(("n2",))
    action.trigger()
    assert window.workspace.selection == ()
    assert window.document_page.inspector.page.editor.isVisible()


def test_undo_in_a_field_belongs_to_the_field(window: MainWindow, qtbot) -> None:  # type: ignore[no-untyped-def]
    window.show_workbench()
    add_iris(window.workspace)
    window.activateWindow()
    field = window.document_page.palette_panel.search_field
    field.setFocus()
    qtbot.keyClicks(field, "conv")
    qtbot.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(field, Qt.Key.Key_Backspace)
    qtbot.keyClick(field, Qt.Key.Key_Delete)
    assert len(window.workspace.document.project.graph.nodes) == 3


def test_problems_are_counted_on_their_tab(window: MainWindow) -> None:
    window.show_workbench()
    add_iris(window.workspace)
    assert window.document_page.bottom.tabs.count_of(2) == 0
    window.workspace.apply("Set units", SetParam("n2", "units", -3))
    assert window.document_page.bottom.tabs.count_of(2) > 0
    window.actions_by_name["next_problem"].trigger()
    assert window.workspace.selection == ("n2",)
    assert (
        window.document_page.bottom.tabs.tabText(window.document_page.bottom.tabs.currentIndex())
        == "Problems"
    )


def test_the_theme_is_chosen_and_remembered(window: MainWindow) -> None:
    before = current_theme().name
    for choice in ("light", "dark"):
        window.actions_by_name[f"theme_{choice}"].trigger()
        assert current_theme().name == choice
        assert window.settings.text("window/theme") == choice
        marks = [window.actions_by_name[f"theme_{one}"].isChecked() for one in ("system", "dark", "light")]
        assert marks == [False, choice == "dark", choice == "light"]
    choose_theme(before)


def test_the_view_menu_chooses_what_the_canvas_shows(shaped: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    window = MainWindow(shaped)
    qtbot.addWidget(window)
    entries, detail = window.actions_by_name, window.canvas.graph_scene.detail
    assert entries["labels_always"].isChecked() and entries["toggle_thumbnails"].isChecked()
    entries["labels_on_hover"].trigger()
    assert entries["labels_on_hover"].isChecked() and not entries["labels_always"].isChecked()
    assert not detail.labels_always
    window.canvas.shown.set_labels(True)
    assert entries["labels_always"].isChecked() and detail.labels_always
    entries["toggle_thumbnails"].trigger()
    assert not entries["toggle_thumbnails"].isChecked()
    window.close()


def test_panels_hide_and_sizes_are_remembered(shaped: Workspace, places: Places, qtbot) -> None:  # type: ignore[no-untyped-def]
    first = MainWindow(shaped)
    qtbot.addWidget(first)
    first.show()
    first.show_workbench()
    first.actions_by_name["toggle_palette"].trigger()
    assert first.document_page.palette_panel.isHidden()
    first.close()
    later = Workspace(places)
    second = MainWindow(later)
    qtbot.addWidget(second)
    assert second.document_page.palette_panel.isHidden()
    assert not second.document_page.inspector.isHidden()
    second.close()


def _drag(qtbot, splitter: QSplitter, by: QPoint) -> None:  # type: ignore[no-untyped-def]
    handle = splitter.handle(1)
    start = handle.rect().center()
    qtbot.mousePress(handle, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(handle, start + by)
    qtbot.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=start + by)


def _sizes(window: MainWindow) -> tuple[int, int, int]:
    page = window.document_page
    return page.palette_panel.width(), page.inspector.width(), page.bottom.height()


def test_panels_keep_the_sizes_they_were_given(shaped: Workspace, places: Places, qtbot) -> None:  # type: ignore[no-untyped-def]
    first = MainWindow(shaped)
    qtbot.addWidget(first)
    first.resize(1440, 900)
    first.show()
    first.show_workbench()
    page = first.document_page
    ways = {"wholeSplitter": QPoint(40, 0), "upperSplitter": QPoint(-60, 0), "rightSplitter": QPoint(0, -50)}
    for name, by in ways.items():
        _drag(qtbot, page.findChild(QSplitter, name), by)
    chosen = _sizes(first)
    assert 250 <= chosen[0] <= 260 and 355 <= chosen[1] <= 365
    first.show_welcome()
    first.resize(1280, 720)
    first.files.open_example(example_path("iris"))
    assert _sizes(first)[:2] == chosen[:2]
    first.resize(1440, 900)
    assert _sizes(first) == chosen
    first.documents.show(first.documents.pages[0])
    assert _sizes(first) == chosen
    first.close()
    second = MainWindow(Workspace(places))
    qtbot.addWidget(second)
    second.show()
    second.show_workbench()
    assert _sizes(second) == chosen
    second.close()


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720)])
def test_it_fits_the_usual_screens(window: MainWindow, qtbot, size: tuple[int, int]) -> None:  # type: ignore[no-untyped-def]
    window.show_workbench()
    window.resize(*size)
    qtbot.wait(20)
    assert (window.width(), window.height()) == size
    bar = window.top_bar
    shown = [widget for widget in (bar.menu_bar, bar.chip, bar.training) if widget.isVisible()]
    places = [QRect(widget.mapTo(bar, QPoint(0, 0)), widget.size()) for widget in shown]
    for left, right in pairwise(places):
        assert left.right() < right.left()
    assert places[-1].right() <= bar.width()


def test_controls_have_names_for_screen_readers(window: MainWindow) -> None:
    window.show_workbench()
    for kind in (QAbstractButton, QLineEdit):
        seen = [widget for widget in window.findChildren(kind) if widget.isVisible()]
        assert seen
        for widget in seen:
            text = widget.text() if isinstance(widget, QAbstractButton) else ""
            assert text or widget.accessibleName(), widget.objectName() or type(widget).__name__


def test_tab_goes_from_left_to_right_and_reads_names(window: MainWindow) -> None:
    """Also past fields and buttons that were made after the rest of the window."""
    window.show_workbench()
    add_iris(window.workspace)
    assert window.workspace.apply("Group", *group(window.workspace.document.project, ["n2"], "features"))
    window.workspace.enter(next(iter(window.workspace.document.project.blocks)))
    stops: list[QWidget] = []
    widget = window.nextInFocusChain()
    while widget is not window:
        takes_tab = widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.focusProxy() is None
        if takes_tab and widget.isVisible() and widget.isEnabled():
            stops.append(widget)
        widget = widget.nextInFocusChain()
    names = [widget.objectName() for widget in stops]
    order = ("fileChip", "paletteSearch", "breadcrumbStep", "canvas", "projectTitle", "control_lr")
    places = [names.index(name) for name in (*order, "control_schedule", "bottomTabs")]
    assert places == sorted(places)
    for widget in stops:
        text = widget.text() if isinstance(widget, QAbstractButton) else ""
        assert widget.accessibleName() or text, widget.objectName() or type(widget).__name__


# -- the end ------------------------------------------------------------------------------------------


def test_closing_with_unsaved_changes_asks(window: MainWindow, answers: list[str], tmp_path: Path) -> None:
    window.show_workbench()
    window.document_page.file.save(tmp_path / "flowers.nloom")
    add_iris(window.workspace)
    answers.append(main_window.CANCEL)
    assert not window.close()
    assert window.isVisible()
    answers.append(main_window.SAVE)
    assert window.close()
    assert '"n2"' in (tmp_path / "flowers.nloom").read_text("utf-8")


def test_unsaved_changes_can_be_given_up(window: MainWindow, answers: list[str], places: Places) -> None:
    window.show_workbench()
    add_iris(window.workspace)
    answers.append(main_window.DISCARD)
    assert window.close()
    assert not list(places.autosaves.glob("*.nloom"))


def test_closing_while_training_asks_and_ends_the_run(window: MainWindow, answers: list[str]) -> None:
    """C-7"""
    window.show_workbench()
    trainer = window.workspace.trainer
    trainer.state = "running"
    answers.append(main_window.KEEP_TRAINING)
    assert not window.close()
    assert "close" not in trainer.asked
    answers.append(main_window.STOP_AND_CLOSE)
    assert window.close()
    assert "close" in trainer.asked


def test_a_bad_file_is_told_in_the_banner(window: MainWindow, tmp_path: Path) -> None:
    bad = tmp_path / "bad.nloom"
    bad.write_text("{")
    window.files.open_path(bad)
    assert window.banner.isVisible() and window.banner.text
    assert not window.at_work


def test_a_message_about_a_node_leads_there(window: MainWindow, qtbot) -> None:  # type: ignore[no-untyped-def]
    window.show_workbench()
    add_iris(window.workspace)
    canvas = window.canvas.geometry()
    window.workspace.node_message.emit("The loss is not a number any more.", "error", "n3")
    assert window.canvas.geometry() == canvas
    button = window.banner.findChild(QAbstractButton, "bannerShow")
    assert button is not None and button.isVisible()
    button.click()
    assert window.workspace.selection == ("n3",)
    window.workspace.message.emit("Saved.", "info")
    assert not button.isVisible()


def test_the_keyboard_goes_to_the_inspector_and_back(window: MainWindow) -> None:
    window.show_workbench()
    add_iris(window.workspace)
    window.workspace.select(("n2",))
    window.activateWindow()
    window.actions_by_name["edit_node"].trigger()
    assert window.document_page.inspector.page.fields["units"].control.hasFocus()
    window.document_page.inspector.left.emit()
    assert window.canvas.hasFocus()


def test_work_left_by_a_crash_is_offered(window: MainWindow, answers: list[str], places: Places) -> None:
    from dataclasses import replace

    from engine.document.autosave import Autosave

    lost = Project(title="Lost work")
    copy = Autosave(places.autosaves)
    copy.write(replace(lost), None)
    copy.close(keep=True)
    answers.append("Restore")
    window.begin()
    assert window.at_work
    assert window.workspace.document.project.title == "Lost work"
    assert window.workspace.document.modified


def test_a_failed_run_is_told_of_once(window: MainWindow, qtbot) -> None:  # type: ignore[no-untyped-def]
    window.actions_by_name["new_project"].trigger()
    add_iris(window.workspace)
    trainer = window.workspace.trainer
    trainer.error = TrainingError("The loss became not a number.", node_id="n3", fix="Lower the rate.")
    trainer.state = "failed"
    window.document_page.bottom.show_panel("Training")
    window.workspace.node_message.emit(str(trainer.error), "error", "n3")
    window.workspace._look()
    outcome = window.document_page.bottom.training.outcome
    qtbot.waitUntil(outcome.isVisible, timeout=5000)
    assert "not a number" in outcome.text() and not window.banner.isVisible()
    window.document_page.bottom.show_panel("Problems")
    window.workspace.node_message.emit(str(trainer.error), "error", "n3")
    assert window.banner.isVisible() and not outcome.isVisible()


def test_a_message_leaves_the_panels_beside_the_canvas_free(window: MainWindow) -> None:
    window.resize(1280, 720)
    window.actions_by_name["new_project"].trigger()
    window.tell("A sentence that takes a while to tell. " * 6, "warning")
    banner, canvas = window.banner, window.canvas
    left = canvas.mapTo(window.pages, QPoint()).x()
    assert left <= banner.x() and banner.geometry().right() <= left + canvas.width()
    window.show_welcome()
    window.tell("A sentence that takes a while to tell. " * 6, "warning")
    assert abs(banner.geometry().center().x() - window.pages.rect().center().x()) <= 1


def test_the_views_take_the_place_of_the_canvas_or_a_window_of_their_own(window: MainWindow) -> None:
    window.actions_by_name["new_project"].trigger()
    window.document_page.bottom.hide()
    large, own = window.actions_by_name["enlarge_views"], window.actions_by_name["views_window"]
    large.trigger()
    assert (
        large.isChecked()
        and window.document_page.bottom.isVisible()
        and window.document_page.bottom.views.isVisible()
    )
    assert window.document_page.bottom.height() > 2 * window.canvas.height()
    large.trigger()
    assert not large.isChecked()
    own.trigger()
    views = window.document_page.bottom.views
    assert own.isChecked() and views.dock.window() is views.own_window
    own.trigger()
    assert not own.isChecked() and views.dock.window() is window


def test_a_broken_node_package_is_named_though_an_example_is_opened(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = {"bad": "The node package 'bad' could not be loaded."}
    monkeypatch.setattr(window.workspace.catalogue, "left_out", broken)
    window.begin(examples=["iris"])
    assert window.banner.isVisible()
    shown = " ".join(label.text() for label in window.banner.findChildren(QLabel))
    assert "'bad' could not be loaded" in shown and "Its nodes are left out." in shown
