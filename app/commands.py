"""What the menus do: each command of `app.actions.COMMANDS` is a method here or on the canvas."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox

from app.actions import COMMANDS, ShortcutsDialog
from app.document_file import SUFFIX
from app.export_dialog import ExportDialog
from app.theme import current_theme, set_theme
from app.widgets.questions import ask
from engine import autosave

if TYPE_CHECKING:
    from app.main_window import MainWindow

log = logging.getLogger(__name__)

_FILTER = f"Neuroloom projects (*{SUFFIX});;All files (*)"


class Commands:
    """Runs the commands of one window and keeps their menu entries up to date."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._workspace = window.workspace
        self._file = window.file
        self._workspace.changed.connect(self._changed)
        self._workspace.selected.connect(self._changed)
        self._workspace.state_changed.connect(self._changed)
        self._workspace.inferred.connect(self.refresh)
        window.pages.currentChanged.connect(self._changed)

    def handlers(self) -> dict[str, Callable[[], object]]:
        """The function of every command by name."""
        canvas, window, bar = self._window.canvas, self._window, self._window.top_bar.training
        found: dict[str, Callable[[], object]] = {
            "undo": canvas.undo,
            "redo": canvas.redo,
            "cut": canvas.cut,
            "copy": canvas.copy,
            "paste": canvas.paste,
            "duplicate": canvas.duplicate,
            "delete": canvas.delete_selection,
            "delete_and_reconnect": canvas.delete_and_reconnect,
            "select_all": canvas.select_all,
            "connect_selected": canvas.connect_selected,
            "zoom_in": canvas.zoom_in,
            "zoom_out": canvas.zoom_out,
            "zoom_reset": canvas.zoom_reset,
            "frame": canvas.frame_selection,
            "fit": canvas.fit,
            "add_node": canvas.open_search,
            "train": bar.toggle,
            "train_step": bar.step,
            "train_stop": bar.stop,
            "show_welcome": window.show_welcome,
            "quit": window.close,
        }
        for command in COMMANDS:
            if command.name not in found:
                found[command.name] = getattr(self, command.name)
        return found

    # -- file -------------------------------------------------------------------------------------

    def new_project(self) -> None:
        """Starts an empty project in place of the open one."""
        if self._may_leave("start a new project"):
            self._file.new()
            self._window.show_workbench()

    def open_project(self) -> None:
        """Asks for a project file and opens it."""
        name, _ = QFileDialog.getOpenFileName(self._window, "Open project", str(self._folder()), _FILTER)
        if name:
            self.open_path(Path(name))

    def open_path(self, path: Path) -> None:
        """Opens a project file."""
        if self._may_leave("open another project") and self._file.open(path):
            self._show_opened()

    def open_example(self, path: Path) -> None:
        """Opens a copy of an example."""
        if self._may_leave("open an example") and self._file.open_example(path):
            self._show_opened()

    def save_project(self) -> bool:
        """Saves to the document's file, asking for one if it has none; False if it was not saved."""
        if self._workspace.document.path is None:
            return self.save_project_as()
        return self._file.save()

    def save_project_as(self) -> bool:
        """Asks for a file and saves to it."""
        title = self._workspace.document.project.title or "untitled"
        path = self._workspace.document.path or self._folder() / f"{_file_name(title)}{SUFFIX}"
        name, _ = QFileDialog.getSaveFileName(self._window, "Save project", str(path), _FILTER)
        return bool(name) and self._file.save(Path(name))

    def export_script(self) -> None:
        """Offers to save the network as Python."""
        if self._workspace.engine is None:
            self._workspace.message.emit("The engine is still starting; export is ready in a moment.", "info")
            return
        dialog = ExportDialog(self._workspace, self._folder(), self._window)
        dialog.exec()
        dialog.deleteLater()

    def offer_file_menu(self) -> None:
        """Shows the file commands and the recent files under the file's name."""
        chip = self._window.top_bar.chip
        menu = QMenu(chip)
        actions = self._window.actions_by_name
        menu.addActions(
            [actions[name] for name in ("save_project", "save_project_as", "open_project", "new_project")]
        )
        recent = [path for path in self._file.recent() if path != self._workspace.document.path]
        if recent:
            menu.addSeparator()
        chosen: dict[QAction, Path] = {}
        for path in recent:
            entry = menu.addAction(path.name)
            entry.setToolTip(str(path))
            chosen[entry] = path
        picked = menu.exec(chip.mapToGlobal(QPoint(0, chip.height() + 4)))
        menu.deleteLater()
        if picked in chosen:
            self.open_path(chosen[picked])

    def offer_recovery(self) -> bool:
        """Offers work that a crash left behind; True if it was opened."""
        found = self._file.left_behind()
        readable = [one for one in found if one.project is not None]
        for one in found:
            if one.project is None:
                log.error("A recovery copy cannot be read: %s", one.error)
                autosave.release(one)
        if not readable:
            return False
        newest = readable[0]
        assert newest.project is not None
        name = newest.path.name if newest.path else newest.project.title
        nodes = len(newest.project.graph.nodes)
        restore, drop, later = "Restore", "Discard", "Ask later"
        answer = ask(
            self._window,
            "Restore unsaved work?",
            f"Neuroloom ended unexpectedly while “{name}” ({nodes} nodes) held unsaved changes.",
            (restore, drop, later),
        )
        for one in readable[1:]:
            autosave.release(one)
        if answer == restore:
            self._file.restore(newest)
            self._show_opened()
            return True
        if answer == drop:
            autosave.discard(newest)
        else:
            autosave.release(newest)
        return False

    def _may_leave(self, purpose: str) -> bool:
        window = self._window
        return window.may_stop_training(purpose) and window.may_lose_changes()

    def _show_opened(self) -> None:
        self._window.show_workbench()

    def _folder(self) -> Path:
        path = self._workspace.document.path
        recent = self._file.recent()
        return path.parent if path else recent[0].parent if recent else Path.home()

    # -- view -------------------------------------------------------------------------------------

    def toggle_palette(self) -> None:
        """Shows or hides the palette."""
        self._toggle("toggle_palette")

    def toggle_inspector(self) -> None:
        """Shows or hides the inspector."""
        self._toggle("toggle_inspector")

    def toggle_bottom(self) -> None:
        """Shows or hides the panels below."""
        self._toggle("toggle_bottom")

    def toggle_theme(self) -> None:
        """Changes between dark and light."""
        set_theme("light" if current_theme().dark else "dark")

    def _toggle(self, name: str) -> None:
        panel = self._window.side_panels()[name]
        panel.setVisible(panel.isHidden())
        self.refresh()

    # -- graph ------------------------------------------------------------------------------------

    def find_type(self) -> None:
        """Puts the caret into the palette's search field."""
        if self._window.palette_panel.isHidden():
            self._toggle("toggle_palette")
        self._window.palette_panel.focus_search()

    def edit_node(self) -> None:
        """Puts the caret into the inspector's first field."""
        if self._window.inspector.isHidden():
            self._toggle("toggle_inspector")
        self._window.inspector.focus_first_field()

    def rename(self) -> None:
        """Lets the name of the selected node be typed."""
        self._window.canvas.rename_selected()

    def next_problem(self) -> None:
        """Shows the problem after the selected node's, in the order of the list."""
        shapes = self._workspace.shapes
        places = [one.node_id for one in shapes.problems if one.node_id] if shapes is not None else []
        places = list(dict.fromkeys(places))
        if not places:
            self._workspace.message.emit("There are no problems.", "info")
            return
        current = self._workspace.selection[0] if self._workspace.selection else None
        index = places.index(current) + 1 if current in places else 0
        self._window.bottom.show_panel("Problems")
        self._workspace.reveal(places[index % len(places)])

    # -- train and help ---------------------------------------------------------------------------

    def train_reset(self) -> None:
        """Goes back to the weights that the seed gives."""
        trainer = self._workspace.trainer
        if trainer is not None and self._window.may_stop_training("reset the weights"):
            trainer.reset()

    def show_shortcuts(self) -> None:
        """Lists all shortcuts."""
        dialog = ShortcutsDialog(self._window)
        dialog.exec()
        dialog.deleteLater()

    def show_about(self) -> None:
        """Says what this is and where it keeps things."""
        from importlib.metadata import version

        QMessageBox.about(
            self._window,
            "About Neuroloom",
            f"<b>Neuroloom {version('neuroloom')}</b><p>Draw a neural network, watch it learn, "
            f"take the Python with you.</p><p>Runs are kept in {self._workspace.places.runs}.</p>",
        )

    # -- menu entries -----------------------------------------------------------------------------

    def refresh(self) -> None:
        """Enables what can be done now, and names what undo and redo would do."""
        actions = self._window.actions_by_name
        document, window = self._workspace.document, self._window
        at_work = window.at_work
        chosen = bool(self._workspace.selection)
        ready = self._workspace.trainer is not None
        _name(actions["undo"], "&Undo", document.undo_label)
        _name(actions["redo"], "&Redo", document.redo_label)
        for name in ("cut", "copy", "duplicate", "rename", "connect_selected"):
            actions[name].setEnabled(at_work and chosen)
        for name in (
            "paste",
            "select_all",
            "delete",
            "delete_and_reconnect",
            "zoom_in",
            "zoom_out",
            "zoom_reset",
            "frame",
            "fit",
            "add_node",
        ):
            actions[name].setEnabled(at_work)
        for name in ("train", "train_step", "train_reset", "export_script"):
            actions[name].setEnabled(ready and at_work)
        actions["train_stop"].setEnabled(self._workspace.training)
        for name, panel in window.side_panels().items():
            actions[name].setChecked(not panel.isHidden())
        actions["toggle_theme"].setChecked(current_theme().dark)

    def retint(self) -> None:
        """Follows the theme."""
        self.refresh()

    def _changed(self, _what: object) -> None:
        self.refresh()


def _name(action: QAction, text: str, label: str | None) -> None:
    action.setText(f"{text} {label[:1].lower() + label[1:]}" if label else text)
    action.setEnabled(label is not None)


def _file_name(title: str) -> str:
    kept = "".join(letter if letter.isalnum() or letter in " -_." else "-" for letter in title).strip(" .")
    return kept[:80] or "untitled"
