"""Help: the tour through the window, the documentation, and a report that names nobody."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.window.actions import MENUS, SCALES
from app.window.help_dialogs import DocumentationDialog, ReportDialog
from app.window.help_texts import PAGES, page, report, without_names
from app.window.main_window import MainWindow
from app.window.scale import scale_interface, scale_of
from app.window.tour import STOPS, Tour
from app.workspace.workspace import Workspace


@pytest.fixture
def window(shaped: Workspace, qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow(shaped)
    qtbot.addWidget(made)
    made.resize(1280, 720)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.workspace.document.mark_saved()
    made.close()


def test_the_tour_goes_from_part_to_part(window: MainWindow, qtbot: QtBot) -> None:
    window.actions_by_name["show_tour"].trigger()
    tour = window.central.findChild(Tour)
    assert tour is not None and window.at_work
    seen = []
    for stop in STOPS:
        assert tour.title.text() == stop.title
        assert window.central.rect().contains(tour.geometry())
        assert tour.text.height() >= tour.text.heightForWidth(tour.text.width())
        seen.append(tour.part())
        qtbot.mouseClick(tour.next, Qt.MouseButton.LeftButton)
    assert len(set(seen)) == len(STOPS) and window.document_page not in seen
    assert tour.isHidden()


def test_esc_ends_the_tour(window: MainWindow, qtbot: QtBot) -> None:
    window.actions_by_name["show_tour"].trigger()
    tour = window.central.findChild(Tour)
    assert tour is not None
    qtbot.keyClick(tour, Qt.Key.Key_Escape)
    assert tour.isHidden()


@pytest.mark.parametrize("title", PAGES)
def test_every_page_of_the_documentation_is_there(qtbot: QtBot, title: str) -> None:
    assert "not installed" not in page(title)
    dialog = DocumentationDialog(title)
    qtbot.addWidget(dialog)
    assert len(dialog.text.toPlainText()) > 200


def test_a_report_has_versions_and_names_nobody(qtbot: QtBot, tmp_path: Path) -> None:
    log = tmp_path / "neuroloom.log"
    user = getpass.getuser()
    log.write_text(
        f'ERROR: "/home/{user}/secret plans/net.nloom" cannot be read by {user}\n'
        '  File "/opt/venv/lib/python3/site-packages/torch/nn/functional.py", line 5, in relu\n'
    )
    text = report(log)
    assert "neuroloom " in text and "torch " in text and "Python " in text
    assert "secret" not in text and f"by {user}" not in text
    assert "site-packages/torch/nn/functional.py" in text
    dialog = ReportDialog(log)
    qtbot.addWidget(dialog)
    assert dialog.text.toPlainText() == text
    button = dialog.findChild(QPushButton, "copyReport")
    assert button is not None
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_paths_of_other_systems_are_left_out_too() -> None:
    assert without_names(r"cannot open C:\Users\Ada\Documents\data.csv here") == "cannot open <path> here"
    assert without_names("loss 1/3 at step 12") == "loss 1/3 at step 12"


def test_the_size_of_the_interface_is_that_of_the_next_start(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert scale_of(window.settings) == 100
    window.actions_by_name["scale_150"].trigger()
    assert [name for name in SCALES if window.actions_by_name[f"scale_{name}"].isChecked()] == [150]
    monkeypatch.setenv("QT_SCALE_FACTOR", "1")  # so that the end of the test takes away what is set below
    monkeypatch.delenv("QT_SCALE_FACTOR")
    scale_interface(window.settings)
    import os

    assert os.environ["QT_SCALE_FACTOR"] == "1.5"
    monkeypatch.delenv("QT_SCALE_FACTOR")
    window.settings.keep("window/scale", 10**6)
    assert scale_of(window.settings) == 100


def test_alt_and_a_letter_open_each_menu(window: MainWindow) -> None:
    texts = [action.text() for action in window.top_bar.menu_bar.actions()]
    assert texts == [f"&{title}" for title in MENUS]
    assert len({text[1] for text in texts}) == len(texts)


def test_new_projects_are_told_apart_and_take_the_name_of_their_file(
    window: MainWindow, tmp_path: Path
) -> None:
    window.files.new_project()
    window.workspace.document.mark_modified()
    window.files.new_project()
    window.show_workbench()
    names = [one.file.name for one in window.documents.pages]
    assert names == ["Untitled", "Untitled 2"]
    assert window.windowTitle().startswith("Untitled 2")
    assert window.document_page.file.save(tmp_path / "spirals.nloom")
    assert window.workspace.document.project.title == "spirals"
    assert not window.workspace.document.modified
    window.documents.pages[0].workspace.document.mark_saved()
