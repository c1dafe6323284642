"""The dialog for images: what it offers, what it writes, what it says when it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.canvas.view import GraphView
from app.panels.image_dialog import ImageDialog
from app.theme import DARK
from app.workspace.workspace import Workspace
from tests.app.conftest import add_iris


@pytest.fixture
def canvas(qtbot: QtBot, workspace: Workspace) -> GraphView:
    made = GraphView(workspace)
    qtbot.addWidget(made)
    add_iris(workspace)
    return made


@pytest.fixture
def dialog(qtbot: QtBot, canvas: GraphView, tmp_path: Path) -> ImageDialog:
    canvas.workspace.select(("n2",))
    made = ImageDialog(canvas, tmp_path, "net")
    qtbot.addWidget(made)
    return made


def test_it_writes_a_vector_image_of_everything_in_light_colours(dialog: ImageDialog, tmp_path: Path) -> None:
    dialog.save()
    assert dialog.written == tmp_path / "net.svg"
    text = dialog.written.read_text()
    assert "iris" in text
    assert "classes" in text
    assert dialog.result() == ImageDialog.DialogCode.Accepted


def test_the_look_is_chosen(dialog: ImageDialog, tmp_path: Path) -> None:
    dialog.theme_box.setCurrentText("Dark")
    dialog.selection_box.setChecked(True)
    dialog.save()
    text = (tmp_path / "net.svg").read_text()
    assert "classes" in text
    assert ">iris<" not in text
    assert DARK.canvas.name() in text


def test_the_selection_is_offered_only_where_there_is_one(
    qtbot: QtBot, canvas: GraphView, tmp_path: Path
) -> None:
    made = ImageDialog(canvas, tmp_path, "net")
    qtbot.addWidget(made)
    assert not made.selection_box.isEnabled()


@pytest.mark.parametrize(
    ("path", "sentence"), [("", "Name the file"), ("/no/such/a.svg", "There is no folder")]
)
def test_what_cannot_be_written_is_said_and_the_dialog_stays(
    dialog: ImageDialog, path: str, sentence: str
) -> None:
    dialog.path_field.setText(path)
    dialog.save()
    assert dialog.written is None
    assert sentence in dialog._error.text()
    assert not dialog._error.isHidden()
