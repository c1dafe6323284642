"""What can be done with the selected runs: buttons beside the filter, and the same on a menu."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, QPoint, QUrl, SignalInstance
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QFileDialog, QMenu, QPushButton, QWidget

from app.runs.dialogs import CheckpointsDialog, CompareDialog, differences
from app.runs.model import RunsModel
from app.runs.table import RunsTable
from app.widgets.background import Background
from app.widgets.questions import ask
from app.workspace.open_document import TrainableDocument
from engine.document.files import write_atomically
from engine.errors import NeuroloomError
from engine.runs.as_csv import runs_csv
from engine.runs.compare import Difference
from engine.runs.deleted import delete, restore
from engine.runs.index import RunRecord
from engine.runs.records import (
    CHECKPOINT,
    CHECKPOINTS,
    INTERRUPTED,
    PROJECT,
    RUNNING,
    UNREADABLE,
    never_saved,
)

_CAN_GO_ON = ("stopped", INTERRUPTED, "failed", "finished")
DELETE = "Delete"
CANCEL = "Cancel"


class ListedRuns(Protocol):
    """The runs in a table, and what their panel does with them."""

    table: RunsTable
    model: RunsModel
    project_wanted: SignalInstance
    continue_wanted: SignalInstance
    branch_wanted: SignalInstance
    weights_wanted: SignalInstance

    @property
    def workspace(self) -> TrainableDocument: ...
    def sweep(self) -> None: ...
    def refresh(self) -> None: ...
    def say(self, text: str, answer: str = "", action: object = None) -> None: ...


class RunsMenu(QObject):
    """The commands of the panel; each says in its tool tip why it cannot be used now."""

    def __init__(self, panel: ListedRuns, parent: QWidget) -> None:
        super().__init__(parent)
        self._panel, self._parent = panel, parent
        self._writer = Background("runs-events", self)
        self._writer.finished.connect(self._written)
        panel.workspace.closing.connect(self._writer.close)
        self.continue_button = self._button("Continue", "continueRun", self.go_on)
        self.compare_button = self._button("Compare", "compareRuns", self.compare)
        self.reopen_button = self._button("Open project", "reopenProject", self.reopen)
        self.sweep_button = self._button("Sweep…", "sweepButton", panel.sweep)
        self.sweep_button.setToolTip("Train with several learning rates, batch sizes, seeds … and compare")
        self.more_button = self._button("More", "moreRuns", self._offer_more)
        own = (self.continue_button, self.compare_button, self.reopen_button)
        self.buttons = (*own, self.sweep_button, self.more_button)

    def _button(self, text: str, name: str, run: object) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setProperty("kind", "small")
        button.clicked.connect(run)
        return button

    # -- what can be done now ---------------------------------------------------------------------

    @property
    def chosen(self) -> list[RunRecord]:
        return self._panel.table.chosen()

    @property
    def compared(self) -> list[RunRecord]:
        """What Compare takes: the ticked runs where there are several, else the selected ones."""
        model = self._panel.model
        ticked = [record for name in model.ticked if (record := model.record(name)) is not None]
        return ticked if len(ticked) > 1 else self.chosen

    def update(self) -> None:
        """Enable what can be done with what is selected."""
        for button, why in (
            (self.continue_button, self.why_not_continue()),
            (self.compare_button, self.why_not_compare()),
            (self.reopen_button, self.why_not_open()),
        ):
            button.setEnabled(not why)
            button.setToolTip(why or _TIPS[button.objectName()])

    def why_not_continue(self) -> str:
        """Why the selected run cannot go on; empty when it can."""
        chosen = self.chosen
        if len(chosen) != 1:
            return "Select one run to go on with it"
        state = chosen[0].state
        if state == RUNNING:
            return "It is being trained already"
        if state not in _CAN_GO_ON:
            return "Its folder cannot be read"
        if not (chosen[0].folder / CHECKPOINT).is_file() and not never_saved(chosen[0].folder):
            return "There is no checkpoint in its folder"
        return ""

    def why_not_compare(self) -> str:
        """Why nothing can be compared; empty when something can."""
        chosen = self.compared
        if not chosen:
            return "Tick runs to compare them, or select one to compare it with the open project"
        return "Its folder cannot be read" if any(one.state == UNREADABLE for one in chosen) else ""

    def why_not_open(self) -> str:
        """Why no project can be opened; empty when one can."""
        chosen = self.chosen
        if len(chosen) != 1:
            return "Select one run to open its project"
        return "" if (chosen[0].folder / PROJECT).is_file() else "There is no project in its folder"

    # -- the menu ---------------------------------------------------------------------------------

    def _offer_more(self) -> None:
        self.offer(self.more_button.mapToGlobal(QPoint(0, self.more_button.height() + 2)))

    def offer(self, at: QPoint) -> None:
        """Show everything that can be done with the selected runs."""
        menu = self.menu()
        menu.exec(at)
        menu.deleteLater()

    def menu(self) -> QMenu:
        """What can be done with the selected runs, as a menu; whoever asks shows and deletes it."""
        menu = QMenu(self._parent)
        menu.setToolTipsVisible(True)
        chosen = self.chosen
        one = chosen[0] if len(chosen) == 1 else None
        self._entry(menu, "Open its project in a new tab", self.reopen, self.why_not_open())
        self._entry(menu, "Continue the run", self.go_on, self.why_not_continue())
        count = len(self.compared)
        other = f"Compare the {count} runs…" if count > 1 else "Compare with the open project…"
        self._entry(menu, other, self.compare, self.why_not_compare())
        menu.addSeparator()
        weights = menu.addMenu("Start a new run from these weights")
        branches = menu.addMenu("Branch from a checkpoint")
        for submenu, places in (
            (weights, _weights(one)),
            (branches, _checkpoints(one)),
        ):
            submenu.setEnabled(bool(places))
            wanted = self._panel.weights_wanted if submenu is weights else self._panel.branch_wanted
            for title, place in places:
                self._entry(submenu, title, partial(wanted.emit, place))
        menu.addSeparator()
        some = "" if chosen else "Select a run first"
        self._entry(menu, "Export CSV…", self._ask_csv, some)
        self._entry(menu, "Write TensorBoard events", self.write_events, "" if one else "Select one run")
        self._entry(menu, "Show folder", self.show_folder, "" if one else "Select one run")
        self._entry(menu, "Delete", self.delete, some)
        menu.addSeparator()
        self._entry(menu, "Checkpoints to keep…", self._ask_checkpoints)
        return menu

    def _entry(self, menu: QMenu, title: str, run: object, why_not: str = "") -> QAction:
        entry = menu.addAction(title)
        entry.setEnabled(not why_not)
        entry.setToolTip(why_not)
        entry.triggered.connect(_Call(run))
        return entry

    # -- doing it ---------------------------------------------------------------------------------

    def reopen(self) -> None:
        """Open the exact project of the selected run in a tab of its own."""
        if not self.why_not_open():
            self._panel.project_wanted.emit(self.chosen[0].folder)

    def go_on(self) -> None:
        """Go on with the selected run."""
        if not self.why_not_continue():
            self._panel.continue_wanted.emit(self.chosen[0].folder)

    def compare(self) -> None:
        """Say what runs differ in from the oldest of them, or the selected one from the open project."""
        if self.why_not_compare():
            return
        workspace, names = self._panel.workspace, self._panel.model.names
        old, *others = sorted(self.compared, key=lambda record: record.started)
        try:
            found: list[tuple[RunRecord | None, list[Difference]]] = [
                (one, differences(old, one, workspace.catalogue)) for one in others
            ]
            if not others:
                found = [(None, differences(old, workspace.document.project, workspace.catalogue))]
            dialog = CompareDialog(old, found, names, self._parent)
        except NeuroloomError as error:
            workspace.message.emit(str(error), "error")
            return
        dialog.exec()
        dialog.deleteLater()

    def _ask_csv(self) -> None:
        chosen = self.chosen
        name = f"{chosen[0].name}.csv" if len(chosen) == 1 else "runs.csv"
        place, _ = QFileDialog.getSaveFileName(self._parent, "Export CSV", name, "CSV files (*.csv)")
        if place:
            self.export_csv(Path(place))

    def export_csv(self, path: Path) -> None:
        """Write a row an epoch of the selected runs."""
        try:
            write_atomically(path, runs_csv(record.folder for record in self.chosen).encode("utf-8"))
        except NeuroloomError as error:
            self._panel.say(str(error))
        else:
            self._panel.say(f"Saved to {path}.")

    def write_events(self) -> None:
        """Write the selected run's curves for TensorBoard, into its folder."""
        if self._panel.workspace.engine is None:
            self._panel.say("The engine is still starting; this is ready in a moment.")
            return
        self._panel.say("Writing the event files …")
        self._writer.ask(partial(_write_events, self.chosen[0].folder))

    def _written(self, target: Path | None, error: NeuroloomError | None) -> None:
        if error is not None:
            self._panel.say(str(error))
        else:
            self._panel.say(f"Event files are in {target}.", "Show folder", partial(_show, target))

    def show_folder(self) -> None:
        """Show the selected run's folder in the file manager."""
        _show(self.chosen[0].folder)

    def delete(self) -> None:
        """Move the selected runs among the deleted ones; a button brings them back."""
        chosen = self.chosen
        if len(chosen) > 1:
            words = f"Delete {len(chosen)} runs?"
            hint = "They are moved aside and can be brought back."
            if ask(self._parent, words, hint, (DELETE, CANCEL)) != DELETE:
                return
        moved = []
        try:
            for record in chosen:
                if (place := delete(record.folder)) is not None:
                    moved.append(place)
        except NeuroloomError as error:
            self._panel.workspace.message.emit(str(error), "error")
        if moved:
            what = f"“{chosen[0].title}” is" if len(moved) == 1 else f"{len(moved)} runs are"
            self._panel.say(
                f"{what} deleted; the files wait in {moved[0].parent}.", "Undo", partial(self._restore, moved)
            )
        self._panel.refresh()

    def _restore(self, places: list[Path]) -> None:
        try:
            for place in places:
                restore(place)
        except NeuroloomError as error:
            self._panel.workspace.message.emit(str(error), "error")
        self._panel.refresh()

    def _ask_checkpoints(self) -> None:
        dialog = CheckpointsDialog(self._panel.workspace.settings, self._parent)
        dialog.exec()
        dialog.deleteLater()


_TIPS = {
    "continueRun": "Go on from the last checkpoint; a run that has finished trains more",
    "compareRuns": "List the differences: settings, nodes, wires",
    "reopenProject": "Open the exact project of this run in a new tab",
}


class _Call:
    """Calls a handler without the `checked` argument that `triggered` carries."""

    def __init__(self, run: object) -> None:
        self._run = run

    def __call__(self, _checked: bool = False) -> None:
        assert callable(self._run)
        self._run()


def _weights(record: RunRecord | None) -> list[tuple[str, Path]]:
    """The weights that a run has to offer: of the best epoch, of the last, of its checkpoints."""
    if record is None:
        return []
    files = (("The best epoch", "weights-best.safetensors"), ("The end", "weights-last.safetensors"))
    found = [(title, record.folder / name) for title, name in files if (record.folder / name).is_file()]
    epochs = [name for name in record.checkpoints if name != "best"]
    return found + [(_epoch(name), record.folder / CHECKPOINTS / name) for name in epochs]


def _checkpoints(record: RunRecord | None) -> list[tuple[str, Path]]:
    if record is None:
        return []
    last = [("The last one", record.folder)] if (record.folder / CHECKPOINT).is_file() else []
    return last + [(_epoch(name), record.folder / CHECKPOINTS / name) for name in record.checkpoints]


def _epoch(name: str) -> str:
    return "The best epoch" if name == "best" else name.replace("-", " ").capitalize()


def _write_events(folder: Path) -> Path:
    from engine.runs.tensorboard import write_events

    return write_events(folder)


def _show(folder: Path | None) -> None:
    if folder is not None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
