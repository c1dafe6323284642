"""Several documents in one window: tabs, the clipboard between them, and that none reaches another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.documents.document_page import DocumentPage
from app.theme import current_theme, set_theme, style_sheet
from app.widgets.document_tabs import HEIGHT
from app.window import file_commands, main_window
from app.window.main_window import MainWindow
from app.window.open_files import OpenFiles
from app.workspace.workspace import Workspace
from engine.document.blocks import group
from engine.document.edits import SetTitle
from engine.document.files import load_project, save_project
from engine.document.graph import Project
from tests.app.conftest import add_iris
from tests.app.window.test_main_window import answers, settle

__all__ = ["answers"]
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def window(shaped: Workspace, qtbot, answers: list[str]) -> Iterator[MainWindow]:  # type: ignore[no-untyped-def]
    made = MainWindow(shaped)
    qtbot.addWidget(made, before_close_func=settle)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    made.show_workbench()
    yield made


def another(window: MainWindow) -> DocumentPage:
    """A second document in front, by the keyboard; the first one holds three nodes."""
    if window.document_page.untouched:
        add_iris(window.workspace)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_T, CONTROL)
    return window.document_page


def names(page: DocumentPage) -> set[str]:
    return {node.name for node in page.workspace.document.project.graph.nodes.values()}


def test_one_document_shows_no_tabs(window: MainWindow) -> None:
    assert not window.tabs.isVisible()
    first = window.document_page
    second = another(window)
    assert second is not first and window.tabs.isVisible() and window.tabs.count() == 2
    assert window.tabs.face(0).unsaved and not window.tabs.face(1).unsaved
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_W, CONTROL)
    assert window.document_page is first and not window.tabs.isVisible()


def test_copy_and_paste_work_right_after_switching(window: MainWindow) -> None:
    """V6: without a click on the canvas."""
    first = window.document_page
    second = another(window)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab, CONTROL)
    assert window.document_page is first and first.canvas.hasFocus()
    QTest.keyClick(first.canvas, Qt.Key.Key_A, CONTROL)
    QTest.keyClick(first.canvas, Qt.Key.Key_C, CONTROL)
    QTest.keyClick(first.canvas, Qt.Key.Key_Tab, CONTROL | SHIFT)
    assert window.document_page is second and second.canvas.hasFocus()
    QTest.keyClick(second.canvas, Qt.Key.Key_V, CONTROL)
    assert names(second) == names(first) == {"iris", "classes", "loss"}
    QTest.keyClick(second.canvas, Qt.Key.Key_Delete)
    assert not names(second) and len(names(first)) == 3


def test_undo_belongs_to_the_tab_in_front(window: MainWindow) -> None:
    first = window.document_page
    second = another(window)
    add_iris(second.workspace)
    window.actions_by_name["undo"].trigger()
    assert len(names(first)) == 3 and not names(second)
    window.documents.show(first)
    assert window.actions_by_name["undo"].text() == "&Undo add"


def test_a_file_opens_once(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "one.nloom"
    save_project(Project(title="One"), path)
    window.files.open_path(path)
    first = window.document_page
    another(window)
    (tmp_path / "alias.nloom").symlink_to(path)
    window.files.open_path(tmp_path / "alias.nloom")
    assert window.document_page is first and len(window.documents.pages) == 2


def test_two_tabs_never_cross_files(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E-13: the file of one tab is never written by another."""
    first = window.document_page
    one, two = tmp_path / "one.nloom", tmp_path / "two.nloom"
    add_iris(first.workspace)
    assert first.file.save(one)
    second = another(window)
    second.workspace.apply("Title", SetTitle("Second"))
    chosen = {"name": str(one)}
    monkeypatch.setattr(file_commands.QFileDialog, "getSaveFileName", lambda *_: (chosen["name"], ""))
    assert not window.files.save_project()
    assert window.banner.isVisible() and "another tab" in window.banner.text
    assert set(load_project(one).graph.nodes) == {"n1", "n2", "n3"}
    chosen["name"] = str(two)
    assert window.files.save_project()
    assert load_project(two).title == "Second"
    first.workspace.apply("Title", SetTitle("First"))
    assert window.files.save(first)
    assert load_project(one).title == "First" and load_project(two).title == "Second"


def test_each_document_has_a_recovery_copy(window: MainWindow, qtbot, places) -> None:  # type: ignore[no-untyped-def]
    second = another(window)
    second.workspace.apply("Title", SetTitle("Second"))
    qtbot.waitUntil(lambda: len(list(places.autosaves.glob("*.nloom"))) == 2, timeout=5000)
    titles = {load_project(path).title for path in places.autosaves.glob("*.nloom")}
    assert "Second" in titles and len(titles) == 2
    second.workspace.document.mark_saved()
    window.close_document(second)
    assert len(list(places.autosaves.glob("*.nloom"))) == 1


def test_runs_keep_to_their_tab(window: MainWindow) -> None:
    """C-3: what a run in the background says and shows stays with its document."""
    first = window.document_page
    second = another(window)
    assert first.workspace.trainer is not second.workspace.trainer
    assert first.workspace.trainer.feed is not second.workspace.trainer.feed
    first.workspace.trainer.state = "running"
    first.workspace._look()
    assert window.tabs.face(0).mark == "training" and window.tabs.face(1).mark == ""
    first.workspace.trainer.feed.append("train_loss", 1, 0.1, 0.1, 2.5)
    first.workspace.node_message.emit("The loss is not a number.", "error", "n3")
    first.workspace.trainer.state = "failed"
    first.workspace._look()
    assert not second.workspace.trainer.feed.series()
    assert not window.banner.isVisible()
    assert window.tabs.face(0).mark == "failed"
    window.documents.show(first)
    assert window.banner.isVisible() and "not a number" in window.banner.text
    assert window.tabs.face(0).mark == ""
    window.documents.show(second)
    assert not window.banner.isVisible()


def test_closing_a_tab_asks_for_its_own_changes(window: MainWindow, answers: list[str]) -> None:
    first = window.document_page
    second = another(window)
    answers.append(main_window.CANCEL)
    window.tabs.close_wanted.emit(0)
    assert window.documents.pages == [first, second] and window.document_page is first
    first.workspace.trainer.state = "running"
    answers.append(main_window.KEEP_TRAINING)
    assert not window.close_document(first)
    answers += [main_window.STOP_AND_CLOSE, main_window.DISCARD]
    assert window.close_document(first)
    assert window.documents.pages == [second]


def test_a_middle_click_closes_and_a_drag_reorders(window: MainWindow) -> None:
    first = window.document_page
    second = another(window)
    first.workspace.document.mark_saved()
    add_iris(second.workspace)
    second.workspace.document.mark_saved()
    window.tabs.moveTab(0, 1)
    assert window.documents.pages == [second, first]
    assert window.document_page is second
    place = window.tabs.tabRect(1).center()
    QTest.mouseClick(window.tabs, Qt.MouseButton.MiddleButton, Qt.KeyboardModifier.NoModifier, place)
    assert window.documents.pages == [second]


def test_the_last_document_leaves_the_welcome_page(window: MainWindow) -> None:
    add_iris(window.workspace)
    window.workspace.document.mark_saved()
    assert window.close_document(window.document_page)
    assert [page.workspace.document.path for page in window.documents.pages] == [None]
    assert not names(window.document_page)


def test_panels_look_alike_in_every_tab(window: MainWindow) -> None:
    window.actions_by_name["toggle_palette"].trigger()
    first = window.document_page
    first._right.setSizes([300, 500])
    second = another(window)
    assert second.palette_panel.isHidden()
    window.actions_by_name["toggle_palette"].trigger()
    window.documents.show(first)
    assert not first.palette_panel.isHidden()


def test_projects_dropped_on_the_window_open_in_tabs(window: MainWindow, tmp_path: Path) -> None:
    add_iris(window.workspace)
    data = QMimeData()
    paths = [tmp_path / "a.nloom", tmp_path / "b.nloom"]
    for path in paths:
        save_project(Project(title=path.stem), path)
    data.setUrls([*(QUrl.fromLocalFile(str(path)) for path in paths), QUrl("https://example.org/c.nloom")])
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    spot = window.canvas.viewport().mapTo(window, QPoint(40, 40))
    enter = QDragEnterEvent(spot, copy, data, left, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(window.canvas.viewport(), enter)  # which wants node types, not files
    assert enter.isAccepted()
    drop = QDropEvent(QPointF(spot), copy, data, left, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(window, drop)
    assert [page.workspace.document.path for page in window.documents.pages] == [None, *paths]
    other = QMimeData()
    other.setText("just words")
    enter = QDragEnterEvent(spot, copy, other, left, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(window, enter)
    assert not enter.isAccepted()


def test_a_file_opens_as_it_was_left(window: MainWindow, tmp_path: Path) -> None:
    """E-12, E-17: zoom, centre and block on show, also when the tab was closed behind another."""
    add_iris(window.workspace)
    path = tmp_path / "left.nloom"
    assert window.document_page.file.save(path)
    project = window.workspace.document.project
    assert window.workspace.apply("Group", *group(project, ["n2"], "features"))
    assert window.document_page.file.save(path)
    block = next(iter(project.blocks))
    window.workspace.enter(block)
    canvas = window.canvas
    canvas.travel()
    canvas.navigation.set_zoom(1.6)
    canvas.navigation.centre_on(QPointF(40, 30))
    centre = canvas.navigation.centre
    first = window.document_page
    another(window)
    window.documents.close(first, 1.0)
    window.files.open_path(path)
    assert window.workspace.scope == block
    assert window.document_page.breadcrumb.names()[-1] == "features"
    assert window.canvas.navigation.zoom == pytest.approx(1.6)
    # Tabs that come and go take half their height from the middle.
    assert (window.canvas.navigation.centre - centre).manhattanLength() <= HEIGHT / 2


def test_a_change_by_another_program_is_noticed(window: MainWindow, tmp_path: Path, qtbot) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "shared.nloom"
    save_project(Project(title="Before"), path)
    window.files.open_path(path)
    assert not window.banner.isVisible()
    save_project(Project(title="After"), path)
    qtbot.waitUntil(window.banner.isVisible, timeout=5000)
    assert "another program" in window.banner.text
    qtbot.mouseClick(window.banner._answers[0], Qt.MouseButton.LeftButton)
    assert window.workspace.document.project.title == "After"
    assert not window.banner.isVisible() and not window.workspace.document.modified


def test_keeping_mine_asks_no_more_and_saves_over(
    window: MainWindow, tmp_path: Path, qtbot, answers: list[str]
) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "shared.nloom"
    save_project(Project(title="Before"), path)
    window.files.open_path(path)
    save_project(Project(title="Theirs"), path)
    answers.append(file_commands.DONT)
    assert not window.files.save_project()
    window.document_page.file.look()
    assert window.banner.isVisible()
    qtbot.mouseClick(window.banner._answers[1], Qt.MouseButton.LeftButton)
    assert window.workspace.document.modified and window.workspace.document.project.title == "Before"
    assert window.files.save_project()
    assert load_project(path).title == "Before"
    window.document_page.file.look()
    assert not window.banner.isVisible()


def test_a_file_that_vanished_is_unsaved_work(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "gone.nloom"
    save_project(Project(title="Still here"), path)
    window.files.open_path(path)
    path.unlink()
    window.document_page.file.look()
    assert window.banner.isVisible() and window.workspace.document.modified
    assert window.files.save_project()
    assert load_project(path).title == "Still here" and not window.banner.isVisible()


def test_all_work_left_by_a_crash_is_restored(window: MainWindow, answers: list[str], places) -> None:  # type: ignore[no-untyped-def]
    from engine.document.autosave import Autosave

    for title in ("One", "Two"):
        copy = Autosave(places.autosaves)
        copy.write(Project(title=title), None)
        copy.close(keep=True)
    answers.append("Restore")
    window.begin()
    assert {page.workspace.document.project.title for page in window.documents.pages} == {"One", "Two"}


def test_closed_documents_leave_nothing_behind(window: MainWindow, qtbot) -> None:  # type: ignore[no-untyped-def]
    import gc
    import weakref

    add_iris(window.workspace)
    gone = []
    for _ in range(3):
        page = another(window)
        add_iris(page.workspace)
        page.workspace.document.mark_saved()
        gone += [weakref.ref(page), weakref.ref(page.canvas), weakref.ref(page.workspace)]
        assert window.close_document(page)
        del page
    qtbot.wait(20)
    for _ in range(3):
        gc.collect()
    assert [ref() for ref in gone if ref() is not None] == []


def test_files_and_examples_of_the_command_line_open_in_tabs(window: MainWindow, tmp_path: Path) -> None:
    paths = [tmp_path / "a.nloom", tmp_path / "b.nloom"]
    for path in paths:
        save_project(Project(title=path.stem), path)
    window.begin([*paths, paths[0]], ["iris"])
    assert [page.file.name for page in window.documents.pages] == ["a.nloom", "b.nloom", "Iris"]


def _projects(folder: Path) -> list[Path]:
    paths = [folder / f"{name}.nloom" for name in ("a", "b", "c")]
    for path in paths:
        save_project(Project(title=path.stem), path)
    return paths


def test_what_is_open_at_the_end_comes_back_at_the_next_start(window: MainWindow, tmp_path: Path) -> None:
    paths = _projects(tmp_path)
    for path in paths:
        window.files.open_path(path)
    add_iris(another(window).workspace)  # has no file, and so cannot come back
    window.workspace.document.mark_saved()
    window.documents.show(window.documents.pages[1])
    assert window.close()
    again = OpenFiles(window.settings)
    assert again.paths() == paths and again.front() == paths[1]


@pytest.mark.parametrize("named", [False, True])
def test_a_start_without_files_shows_the_tabs_of_the_last_session(
    window: MainWindow, tmp_path: Path, named: bool
) -> None:
    paths = _projects(tmp_path)
    window.open_files.remember([*paths, tmp_path / "gone.nloom"], paths[1])
    window.begin([paths[2]] if named else [])
    shown = [page.workspace.document.path for page in window.documents.pages]
    assert shown == ([paths[2]] if named else paths)
    assert window.workspace.document.path == (paths[2] if named else paths[1]) and window.at_work


def test_who_does_not_want_the_last_tabs_back_gets_none(window: MainWindow, tmp_path: Path) -> None:
    window.open_files.remember(_projects(tmp_path), None)
    action = window.actions_by_name["reopen_files"]
    assert action.isChecked()
    action.trigger()
    assert not action.isChecked()
    window.begin()
    assert [page.workspace.document.path for page in window.documents.pages] == [None]


def test_a_theme_dresses_only_the_panels_that_are_seen(window: MainWindow) -> None:
    first = window.document_page
    second = another(window)
    before = current_theme().name
    try:
        set_theme("light" if before == "dark" else "dark")
        new = style_sheet(current_theme())
        seen = (second.canvas, second.inspector, second.bottom.training)
        hidden = (first.canvas, first.inspector, second.bottom.code, second.bottom.runs)
        assert [part.styleSheet() == new for part in seen] == [True] * len(seen)
        assert [part.styleSheet() == new for part in hidden] == [False] * len(hidden)
        second.bottom.show_panel("Code")
        window.documents.show(first)
        assert [part.styleSheet() == new for part in (*hidden[:2], second.bottom.code)] == [True] * 3
        window.documents.show(second)
        QApplication.processEvents()
        assert not second.styleSheet() and not second.bottom.styleSheet()
        image = second.bottom.grab().toImage()
        assert image.pixelColor(image.width() - 4, 4) == current_theme().panel
    finally:
        set_theme(before)
