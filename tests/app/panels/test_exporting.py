"""Export from the window: whole or not at all."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from app.panels.export_dialog import ExportDialog
from app.panels.exporting import data_size, export, own_folder, trained_weights
from app.workspace.workspace import Workspace
from engine.catalogue import load_catalogue
from engine.document.edits import AddNodes, SetParam
from engine.document.files import save_project
from engine.document.graph import Graph, Link, Node, Project
from engine.emit.script import export_script
from engine.errors import NeuroloomError
from tests.app.conftest import add_iris


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


def test_the_dialog_writes_in_a_thread_and_closes(shaped: Workspace, tmp_path: Path, qtbot) -> None:  # type: ignore[no-untyped-def]
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
    shaped: Workspace, tmp_path: Path, qtbot, place: str
) -> None:  # type: ignore[no-untyped-def]
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
