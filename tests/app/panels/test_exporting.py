"""Export from the window: whole or not at all."""

from __future__ import annotations

import ast
from pathlib import Path

import psutil
import pytest
from pytestqt.qtbot import QtBot

from app.panels import export_dialog, exporting
from app.panels.export_dialog import ExportDialog
from app.panels.exporting import data_size, export, own_folder, trained_weights
from app.workspace.workspace import Workspace
from engine.catalogue import load_catalogue
from engine.document.edits import AddNodes, SetParam
from engine.document.files import save_project
from engine.document.graph import Graph, Link, Node, Project
from engine.emit.forms.form import Export
from engine.emit.script import export_script
from engine.emit.writing import write
from engine.errors import NeuroloomError
from tests.app.conftest import add_iris

pytestmark = pytest.mark.usefixtures("warm_python")


def test_the_file_is_the_source_of_the_code_panel(shaped: Workspace, tmp_path: Path) -> None:
    add_iris(shaped)
    project = shaped.document.project
    written = export(project, shaped.catalogue, tmp_path / "net.py", with_data=False, weights=None)
    assert written == [tmp_path / "net.py"]
    assert written[0].read_text("utf-8") == export_script(project, shaped.catalogue).text


def test_the_data_go_beside_it(shaped: Workspace, tmp_path: Path) -> None:
    nodes = (
        Node("n1", "Mnist", "MNIST"),
        Node("n2", "Flatten", "flat"),
        Node("n3", "Linear", "out", {"units": 10}),
    )
    nodes += (Node("n4", "CrossEntropy", "loss"),)
    links = (Link("n1", "image", "n2", "x"), Link("n2", "output", "n3", "x"))
    links += (Link("n3", "output", "n4", "prediction"), Link("n1", "digit", "n4", "target"))
    shaped.apply("Add", AddNodes(nodes, links))
    files, size = data_size(shaped.document.project, shaped.catalogue)
    assert len(files) == 4 and size > 10_000_000
    export(shaped.document.project, shaped.catalogue, tmp_path / "net.py", with_data=True, weights=None)
    assert all((tmp_path / name).is_file() for name in files)


def test_a_failed_export_leaves_no_file(shaped: Workspace, tmp_path: Path) -> None:
    add_iris(shaped)
    with pytest.raises(NeuroloomError):
        missing = tmp_path / "nowhere.safetensors"
        export(
            shaped.document.project, shaped.catalogue, tmp_path / "net.py", with_data=True, weights=missing
        )
    assert list(tmp_path.glob("net*")) == []
    shaped.apply("Set units", SetParam("n2", "units", -1))
    with pytest.raises(NeuroloomError):
        export(shaped.document.project, shaped.catalogue, tmp_path / "net.py", with_data=False, weights=None)
    assert list(tmp_path.glob("net*")) == []


def test_weights_are_offered_only_for_the_graph_they_belong_to(shaped: Workspace, tmp_path: Path) -> None:
    add_iris(shaped)
    run = tmp_path / "run"
    assert trained_weights(shaped.document.project, None)[0] is None
    run.mkdir()
    (run / "weights-last.safetensors").write_bytes(b"weights")
    save_project(shaped.document.project, run / "project.nloom")
    assert trained_weights(shaped.document.project, run)[0] == run / "weights-last.safetensors"
    shaped.apply("Set units", SetParam("n2", "units", 4))
    found, why = trained_weights(shaped.document.project, run)
    assert found is None and "changed" in why


def test_the_dialog_writes_in_a_thread_and_closes(shaped: Workspace, tmp_path: Path, qtbot: QtBot) -> None:
    add_iris(shaped)
    dialog = ExportDialog(shaped, tmp_path)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.path_field.setText(str(tmp_path / "by hand"))
    with qtbot.waitSignal(dialog.accepted, timeout=20_000):
        dialog.export_button.click()
    assert dialog.written == [tmp_path / "by hand.py"]
    ast.parse((tmp_path / "by hand.py").read_text("utf-8"))


@pytest.mark.parametrize("place", ["", "no/such/folder/net.py"])
def test_the_dialog_says_what_is_wrong_and_stays(
    shaped: Workspace, tmp_path: Path, qtbot: QtBot, place: str
) -> None:
    add_iris(shaped)
    dialog = ExportDialog(shaped, tmp_path)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.path_field.setText(place)
    dialog.export_button.click()
    assert dialog.isVisible()
    assert dialog._error.isVisible() and dialog._error.text().endswith(".")
    dialog.reject()


def test_data_of_ones_own_stay_where_they_are() -> None:
    catalogue = load_catalogue()
    own = Project(
        graph=Graph([Node("n1", "KMNIST"), Node("n2", "Kmnist", params={"path": str(Path.home())})])
    )
    assert own_folder(own, catalogue) == Path.home()
    assert own_folder(Project(graph=Graph([Node("n1", "Iris")])), catalogue) is None


# -- forms


@pytest.fixture
def dialog(shaped: Workspace, tmp_path: Path, qtbot: QtBot) -> ExportDialog:
    add_iris(shaped)
    made = ExportDialog(shaped, tmp_path)
    qtbot.addWidget(made)
    made.show()
    return made


def test_each_form_is_shown_as_it_will_be_written(dialog: ExportDialog, tmp_path: Path, qtbot: QtBot) -> None:
    preview = dialog.preview
    shown = {"script": "def main()", "package": "class Model(", "notebook": "# %% [markdown]"}
    for form, words in shown.items():
        dialog.forms.choose(form)
        qtbot.waitUntil(
            lambda form=form: preview.made is not None and preview.made.form == form, timeout=20_000
        )
        assert words in preview.text.toPlainText()
    assert dialog.path_field.text().endswith(".ipynb")
    dialog.forms.choose("package")
    qtbot.waitUntil(lambda: "untitled/train.py" in preview.files.shown, timeout=20_000)
    preview.files.choose("untitled/train.py")
    with qtbot.waitSignal(dialog.accepted, timeout=20_000):
        dialog.export_button.click()
    assert preview.text.toPlainText() == dialog.written[0].read_text("utf-8")
    assert dialog.written[0].name == "train.py"


def test_the_procedures_that_are_chosen_are_in_the_preview_and_in_the_file(
    dialog: ExportDialog, qtbot: QtBot
) -> None:
    preview, procedures = dialog.preview, dialog.procedures
    known = set(procedures.boxes)
    assert known == {"attack", "attribute", "excite", "predict"} and procedures.names == ()
    procedures.boxes["predict"].click()
    qtbot.waitUntil(lambda: "def predict(" in preview.text.toPlainText(), timeout=20_000)
    with qtbot.waitSignal(procedures.changed):
        procedures.all_button.click()
    assert set(procedures.names) == known
    procedures.none_button.click()
    qtbot.waitUntil(lambda: "def predict(" not in preview.text.toPlainText(), timeout=20_000)
    procedures.boxes["predict"].click()
    with qtbot.waitSignal(dialog.accepted, timeout=20_000):
        dialog.export_button.click()
    text = dialog.written[0].read_text("utf-8")
    assert "def predict(" in text and "def attribute(" not in text


def test_what_cannot_be_exported_is_said_in_place_of_the_preview(
    dialog: ExportDialog, shaped: Workspace, qtbot: QtBot
) -> None:
    shaped.apply("Set units", SetParam("n2", "units", -1))
    dialog.forms.choose("notebook")
    qtbot.waitUntil(lambda: "-1" in dialog.preview._empty.words(), timeout=20_000)
    assert dialog.preview._empty.isVisible()


def test_a_folder_with_files_is_written_to_only_when_that_is_agreed(
    dialog: ExportDialog, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "README.md").write_text("mine", "utf-8")
    dialog.forms.choose("package")
    dialog.path_field.setText(str(tmp_path / "net"))
    monkeypatch.setattr(export_dialog, "ask", lambda *_: "Cancel")
    dialog.export_button.click()
    assert dialog.isVisible() and (tmp_path / "net" / "README.md").read_text("utf-8") == "mine"
    monkeypatch.setattr(export_dialog, "ask", lambda *_: "Replace")
    with qtbot.waitSignal(dialog.accepted, timeout=20_000):
        dialog.export_button.click()
    assert (tmp_path / "net" / "README.md").read_text("utf-8") != "mine"


# -- verify


def test_the_losses_of_both_are_shown_side_by_side(dialog: ExportDialog, qtbot: QtBot) -> None:
    dialog.steps_field.setValue(3)
    dialog.verify_button.click()
    assert dialog.verify_button.text() == "Stop"
    qtbot.waitUntil(lambda: not dialog.trying.busy, timeout=120_000)
    assert dialog.verdict.text() == "3 steps: the losses are equal to the last bit."
    assert dialog.preview.losses.isVisible() and dialog.verify_button.text() == "Verify"
    model = dialog.preview.losses.model()
    cells = [[model.index(row, column).data() for column in range(3)] for row in range(model.rowCount())]
    assert [row[0] for row in cells] == ["Step 1, loss", "Step 2, loss", "Step 3, loss"]
    assert all(ours == other and float(ours) > 0 for _, ours, other in cells)
    dialog.forms.choose("notebook")  # of another export nothing was compared yet
    assert dialog.verdict.text() == "" and not dialog.preview.losses.isVisible()


def test_the_first_difference_is_named(
    dialog: ExportDialog, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def written_wrong(found: Export, weights: Path | None = None) -> list[Path]:
        files = write(found, weights)
        files[0].write_text(files[0].read_text("utf-8").replace("optimiser.step()", "pass"), "utf-8")
        return files

    monkeypatch.setattr(exporting, "write", written_wrong)
    dialog.steps_field.setValue(3)
    dialog.verify_button.click()
    qtbot.waitUntil(lambda: not dialog.trying.busy, timeout=120_000)
    assert dialog.verdict.text().startswith("Step 2, loss: ")
    assert dialog.verdict.property("role") == "error"
    model = dialog.preview.losses.model()
    assert model.index(model.rowCount() - 1, 0).data() == "≠  Step 2, loss"


@pytest.mark.parametrize("begun", [False, True])
def test_a_comparison_can_be_stopped(dialog: ExportDialog, begun: bool, qtbot: QtBot) -> None:
    before = set(psutil.Process().children())
    dialog.steps_field.setValue(100_000)
    dialog.verify_button.click()
    if begun:
        qtbot.waitUntil(lambda: dialog.trying.found is not None, timeout=60_000)
        assert len(set(psutil.Process().children()) - before) == 2
    dialog.verify_button.click()
    assert not dialog.trying.busy and dialog.verify_button.text() == "Verify"
    qtbot.waitUntil(lambda: not dialog.trying._starter.busy, timeout=60_000)
    assert set(psutil.Process().children()) <= before


def test_closing_the_dialog_ends_what_runs(dialog: ExportDialog, qtbot: QtBot) -> None:
    before = set(psutil.Process().children())
    dialog.steps_field.setValue(100_000)
    dialog.verify_button.click()
    dialog.reject()
    assert set(psutil.Process().children()) <= before
