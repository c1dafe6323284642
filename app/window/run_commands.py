"""What the window does with stored runs: opens their projects, goes on with them, uses their weights."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QDialog, QFileDialog

from app.documents.document_page import DocumentPage
from app.runs.dialogs import WeightsDialog
from app.widgets.banner import Notice
from app.window.file_commands import FileCommands
from app.window.in_front import Window
from engine.document.files import load_project
from engine.errors import NeuroloomError
from engine.runs.branch import branch, run_of
from engine.runs.compare import graph_hash, plan_hash
from engine.runs.records import PROJECT, new_folder

WEIGHT_FILES = "Weights (*.safetensors *.pt *.pth *.bin *.ckpt);;All files (*)"


class RunCommands:
    """Connects the runs panel of each document with the window it is in."""

    def __init__(self, window: Window, files: FileCommands) -> None:
        self._window = window
        self._files = files

    def follow(self, page: DocumentPage) -> None:
        """Does what the runs panel of a page asks for."""
        page.workspace.replaced.connect(partial(self._offer_back, page))
        runs = page.bottom.runs
        runs.project_wanted.connect(self.open_project_of)
        runs.continue_wanted.connect(self.go_on)
        runs.branch_wanted.connect(self.branch_from)
        runs.weights_wanted.connect(self.begin_with)

    def open_project_of(self, folder: Path) -> DocumentPage | None:
        """Opens the project of a run as it was trained, without a file of its own; None if it can't be read.

        Saving it asks for a name, so that the run keeps what it was trained with.
        """
        project = self._window.document_page.file.read(folder / PROJECT)
        if project is None:
            return None
        page = self._window.documents.spare()
        page.notice = None
        page.file.show(project, None)
        self._window.show_workbench()
        page.bottom.runs.show_run(folder.name)
        page.bottom.show_panel("Runs")
        return page

    def go_on(self, folder: Path, *, at_rest: bool = False) -> None:
        """Goes on with a run: here if the document in front is what was trained, else in a tab of its own.

        Where a tab trains it already, that comes to the front. `at_rest` a run is taken up and no more.
        """
        for page in self._window.documents.pages:
            if page.workspace.training and page.workspace.takes_up == folder:
                self._window.documents.show(page)
                return
        found = self._page_for(folder)
        if found is None:
            return
        found.bottom.show_panel("Training")
        if found.workspace.trainer is None:
            found.workspace.engine_ready.connect(
                partial(found.workspace.continue_run, folder, at_rest=at_rest)
            )
        else:
            found.workspace.continue_run(folder, at_rest=at_rest)

    def _offer_back(self, page: DocumentPage, folder: Path) -> None:
        """Says that a new run has taken the place of another, which can be taken up again."""
        back = partial(self._back_to, page, folder)
        words = "A new run has begun. The one before is kept among the runs, with its weights."
        page.file.noticed.emit(Notice(words, "info", answers=(("Go back to it", back),), brief=True))

    def _back_to(self, page: DocumentPage, folder: Path) -> None:
        if self._is_of(page, folder):
            page.workspace.continue_run(folder, at_rest=True)
        else:
            self.go_on(folder, at_rest=True)

    def branch_from(self, checkpoint: Path) -> None:
        """Begins a new run that goes on from a checkpoint of another."""
        run = run_of(checkpoint)
        target = new_folder(run.parent, run.name.rpartition("-")[0].rpartition("-")[0] or run.name)
        try:
            branch(checkpoint, target)
        except NeuroloomError as error:
            self._window.tell(str(error), "error")
            return
        self.go_on(target)

    def begin_with(self, place: Path) -> None:
        """Shows which layers of the document in front take these weights, then trains if that is wanted."""
        workspace = self._window.workspace
        if workspace.engine is None:
            self._window.tell("The engine is still starting; this is ready in a moment.", "info")
            return
        errors = workspace.errors()
        if errors:
            self._window.tell(f"Before training: {errors[0].message}", "error")
            return
        dialog = WeightsDialog(workspace, place, self._window.central)
        wanted = dialog.exec() == QDialog.DialogCode.Accepted
        dialog.deleteLater()
        page = self._window.document_page
        if wanted and self._window.may_stop_training(page, "begin a new run"):
            page.bottom.show_panel("Training")
            workspace.train(weights=place, again=True)

    def start_from_weights(self) -> None:
        """Asks for a file of weights to begin a run with."""
        runs = self._window.workspace.places.runs
        begin = runs if runs.is_dir() else self._files.folder()
        name, _ = QFileDialog.getOpenFileName(
            self._window.central, "Start from weights", str(begin), WEIGHT_FILES
        )
        if name:
            self.begin_with(Path(name))

    def _page_for(self, folder: Path) -> DocumentPage | None:
        page = self._window.document_page
        if not page.workspace.training and self._is_of(page, folder):
            return page
        return self.open_project_of(folder)

    @staticmethod
    def _is_of(page: DocumentPage, folder: Path) -> bool:
        """Whether the document of a page is what a run was trained with."""
        project = page.workspace.document.project
        try:
            trained = load_project(folder / PROJECT)
        except NeuroloomError:
            return False
        return graph_hash(project) == graph_hash(trained) and plan_hash(project) == plan_hash(trained)
