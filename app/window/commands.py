"""What the menus do: each command of `app.window.actions.COMMANDS` is a method here or on the canvas."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Protocol

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QMessageBox, QStackedWidget

from app.canvas.scene.shown import choose_labels, choose_thumbnails, labels_always, shows_thumbnails
from app.canvas.view import GraphView
from app.documents.document_page import DocumentPage
from app.theme import CHOICES, choose_theme, themes
from app.window.actions import CANVAS_COMMANDS, COMMANDS, SCALES
from app.window.command_entries import EntriesWindow, command_entries
from app.window.command_palette import CommandPalette
from app.window.gallery import example_path
from app.window.graph_commands import GraphCommands
from app.window.help_dialogs import DocumentationDialog, ReportDialog
from app.window.open_files import OpenFiles
from app.window.run_commands import RunCommands
from app.window.scale import keep_scale, scale_of
from app.window.shortcut_sheet import ShortcutsDialog
from app.window.top_bar import TopBar
from app.window.tour import FIRST_EXAMPLE, Tour

# Commands that have another name on the canvas.
_ON_CANVAS = {
    "delete": "delete_selection",
    "rename": "rename_selected",
    "add_node": "open_search",
    "add_note": "compose.add_note",
    "enter_block": "compose.enter",
    "frame_nodes": "compose.frame_selection",
    "group_nodes": "compose.group",
    "keep_block": "compose.keep",
    "leave_block": "compose.leave",
    "mute": "compose.mute",
    "node_problems": "problems.open_selected",
    "own_weights": "compose.unlink_weights",
    "replace_node": "compose.offer_replacement",
    "separate_block": "compose.make_independent",
    "swap_drawn": "compose.swap",
    "share_weights": "compose.link_weights",
    "unframe_nodes": "compose.unframe",
    "ungroup_nodes": "compose.ungroup",
    "frame": "frame_selection",
}
# Those that need so many nodes selected.
_FOR_SEVERAL = {
    "cut": 1,
    "copy": 1,
    "duplicate": 1,
    "rename": 1,
    "mute": 1,
    "node_problems": 1,
    "replace_node": 1,
    "group_nodes": 1,
    "swap_drawn": 1,
    "frame_nodes": 1,
    "unframe_nodes": 1,
    "make_room": 1,
    "connect_selected": 2,
    "align_left": 2,
    "align_centre": 2,
    "align_right": 2,
    "align_top": 2,
    "align_middle": 2,
    "align_bottom": 2,
    "distribute_across": 3,
    "distribute_down": 3,
}
# Those for what is on the canvas, whatever has the focus.
_AT_WORK = ("find", "lay_out", "snap_to_grid", "save_image", "add_node", "add_note", "edit_plan")
# Those that need a block selected.
_FOR_BLOCKS = ("ungroup_nodes", "enter_block", "separate_block", "keep_block")
# Those of the canvas that a text field uses too when it has the focus.
_FOR_CANVAS = ("paste", "select_all", "zoom_in", "zoom_out", "zoom_reset", *CANVAS_COMMANDS)


class CommandedWindow(EntriesWindow, Protocol):
    """The window with everything that a menu reaches."""

    pages: QStackedWidget
    runs: RunCommands
    top_bar: TopBar
    open_files: OpenFiles

    def show_welcome(self) -> None: ...
    def close(self) -> bool: ...


class Commands:
    """Runs the commands of one window on the document in front, and keeps their menu entries up to date.

    A command is the method of that name here, of the file or graph commands, or of the canvas.
    """

    def __init__(self, window: CommandedWindow) -> None:
        self._window = window
        self._graph = GraphCommands(window, window.files)
        self._palette: CommandPalette | None = None
        window.pages.currentChanged.connect(self._changed)

    def follow(self, page: DocumentPage) -> None:
        """Keeps the entries up to date with another document."""
        workspace = page.workspace
        page.canvas.shown.followed.connect(self.refresh)
        page.bottom.views.window_changed.connect(self.refresh)
        workspace.changed.connect(self._changed)
        workspace.selected.connect(self._changed)
        workspace.scope_changed.connect(self._changed)
        workspace.state_changed.connect(self._changed)
        workspace.inferred.connect(self.refresh)
        page.training.back_changed.connect(self.refresh)

    def handlers(self) -> dict[str, Callable[[], object]]:
        """The function of every command by name. AttributeError for a command that nobody runs."""
        window = self._window
        found: dict[str, Callable[[], object]] = {"show_welcome": window.show_welcome, "quit": window.close}
        found |= {f"scale_{percent}": partial(self._scale, percent) for percent in SCALES}
        for command in COMMANDS:
            if command.name in found:
                continue
            for owner in (self, window.files, window.runs, self._graph):
                if hasattr(owner, command.name):
                    found[command.name] = getattr(owner, command.name)
                    break
            else:
                path = attrgetter(_ON_CANVAS.get(command.name, command.name))
                assert callable(path(window.canvas)), command.name
                found[command.name] = partial(self._on_canvas, path)
        return found

    def _on_canvas(self, path: Callable[[GraphView], Callable[[], object]]) -> None:
        path(self._window.canvas)()

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

    def enlarge_views(self) -> None:
        """Gives the views the place of the canvas, or gives it back."""
        page = self._window.document_page
        page.enlarge_views(not page.views_enlarged)
        self.refresh()

    def views_window(self) -> None:
        """Shows the views in a window of their own, or back where they were."""
        views = self._window.document_page.bottom.views
        if views.own_window is None:
            views.move_out()
        else:
            views.bring_back()
        self.refresh()

    def theme_system(self) -> None:
        """Dresses as the system does, now and whenever it changes."""
        self._choose_theme("system")

    def theme_dark(self) -> None:
        """Stays dark."""
        self._choose_theme("dark")

    def theme_light(self) -> None:
        """Stays light."""
        self._choose_theme("light")

    def toggle_thumbnails(self) -> None:
        """Shows or hides the live views on nodes."""
        choose_thumbnails(self._window.settings, not shows_thumbnails(self._window.settings))

    def labels_always(self) -> None:
        """Shows the shape of every wire."""
        choose_labels(self._window.settings, True)

    def labels_on_hover(self) -> None:
        """Shows the shape of a wire only under the pointer or when it is selected."""
        choose_labels(self._window.settings, False)

    def _choose_theme(self, choice: str) -> None:
        self._window.settings.keep("window/theme", choice)
        choose_theme(choice)
        self.refresh()

    def _scale(self, percent: int) -> None:
        """Sizes of the next start: Qt reads them before the first window."""
        keep_scale(self._window.settings, percent)
        self.refresh()
        self._window.tell(f"The interface has {percent} % of its usual size from the next start on.", "info")

    def _toggle(self, name: str) -> None:
        panel = self._window.document_page.side_panels()[name]
        panel.setVisible(panel.isHidden())
        self.refresh()

    # -- graph ------------------------------------------------------------------------------------

    def find_type(self) -> None:
        """Puts the caret into the palette's search field."""
        if self._window.document_page.palette_panel.isHidden():
            self._toggle("toggle_palette")
        self._window.document_page.palette_panel.focus_search()

    def edit_node(self) -> None:
        """Puts the caret into the inspector's first field."""
        if self._window.document_page.inspector.isHidden():
            self._toggle("toggle_inspector")
        self._window.document_page.inspector.focus_first_field()

    def next_problem(self) -> None:
        """Shows the problem after the selected node's, in the order of the list."""
        shapes = self._window.workspace.shapes
        places = [one.node_id for one in shapes.problems if one.node_id] if shapes is not None else []
        places = list(dict.fromkeys(places))
        if not places:
            self._window.workspace.message.emit("There are no problems.", "info")
            return
        current = self._window.workspace.selection[0] if self._window.workspace.selection else None
        index = places.index(current) + 1 if current in places else 0
        self._window.document_page.bottom.show_panel("Problems")
        self._window.workspace.reveal(places[index % len(places)])

    # -- documents --------------------------------------------------------------------------------

    def next_document(self) -> None:
        """Shows the document in the tab to the right."""
        self._window.documents.step(1)

    def previous_document(self) -> None:
        """Shows the document in the tab to the left."""
        self._window.documents.step(-1)

    def reopen_files(self) -> None:
        """Whether the next start shows the files that are open at the end of this one."""
        self._window.open_files.want(not self._window.open_files.wanted)
        self.refresh()

    # -- train and help ---------------------------------------------------------------------------

    def train(self) -> None:
        """Trains, pauses or goes on: whatever the main button offers."""
        self._window.top_bar.training.toggle()

    def train_over(self) -> None:
        """Trains from the first weights, in place of a run that has ended or may be stopped."""
        page = self._window.document_page
        if self._window.may_stop_training(page, "begin a new run"):
            page.workspace.train(again=True)
            page.training.refresh()

    def train_step(self) -> None:
        """Trains on one batch."""
        self._window.top_bar.training.step()

    def train_layer(self) -> None:
        """Shows the next node of a batch, forward, then backward, then the update."""
        self._window.top_bar.training.step_layer()

    def train_back(self) -> None:
        """Goes back to before the last single step."""
        self._window.top_bar.training.back()

    def train_stop(self) -> None:
        """Ends the run."""
        self._window.top_bar.training.stop()

    def edit_plan(self) -> None:
        """Opens the whole plan in the inspector."""
        if self._window.document_page.inspector.isHidden():
            self._toggle("toggle_inspector")
        self._window.workspace.select(())
        self._window.document_page.inspector.edit_plan()

    def train_sweep(self) -> None:
        """Opens the dialog that trains with several values."""
        self._window.document_page.bottom.show_panel("Runs")
        self._window.document_page.bottom.runs.sweep()

    def train_reset(self) -> None:
        """Goes back to the weights that the seed gives."""
        self._reset()

    def train_new_weights(self) -> None:
        """Draws other first weights, from the next seed."""
        if self._reset(new_weights=True):
            self._window.workspace.message.emit("New weights: the next run uses another seed.", "info")

    def _reset(self, new_weights: bool = False) -> bool:
        page = self._window.document_page
        trainer = page.workspace.trainer
        if trainer is None or not self._window.may_stop_training(page, "reset the weights"):
            return False
        trainer.reset(new_weights)
        return True

    def show_commands(self) -> None:
        """Opens the list of everything that can be done."""
        window = self._window
        if self._palette is None:
            self._palette = CommandPalette(window, partial(command_entries, window))
        self._palette.open()

    def show_shortcuts(self) -> None:
        """Lists all shortcuts."""
        self._run(ShortcutsDialog(self._window.central))

    def show_tour(self) -> None:
        """Shows the parts of the window one after the other, with something in them."""
        window = self._window
        if not window.at_work or window.document_page.untouched:
            window.files.open_example(example_path(FIRST_EXAMPLE))
        Tour(window.central, window.document_page)

    def show_documentation(self) -> None:
        """Opens the documentation at its first page."""
        self._run(DocumentationDialog("First steps", self._window.central))

    def show_news(self) -> None:
        """Says what the versions brought."""
        self._run(DocumentationDialog("What's new", self._window.central))

    def report_problem(self) -> None:
        """Offers versions and log for a report."""
        self._run(ReportDialog(self._window.workspace.places.log_file, self._window.central))

    def _run(self, dialog: QDialog) -> None:
        dialog.exec()
        dialog.deleteLater()

    def show_about(self) -> None:
        """Says what this is and where it keeps things."""
        from importlib.metadata import version

        QMessageBox.about(
            self._window.central,
            "About Neuroloom",
            f"<b>Neuroloom {version('neuroloom')}</b><p>Draw a neural network, watch it learn, "
            f"take the Python with you.</p><p>Runs are kept in {self._window.workspace.places.runs}.</p>",
        )

    # -- menu entries -----------------------------------------------------------------------------

    def refresh(self) -> None:
        """Enables what can be done now, and names what undo and redo would do."""
        actions = self._window.actions_by_name
        window = self._window
        workspace, at_work = window.workspace, window.at_work
        document = workspace.document
        ready = workspace.trainer is not None
        _name(actions["undo"], "&Undo", document.undo_label)
        _name(actions["redo"], "&Redo", document.redo_label)
        for name in (*_FOR_CANVAS, *_AT_WORK):
            actions[name].setEnabled(at_work)
        for name, least in _FOR_SEVERAL.items():
            actions[name].setEnabled(at_work and len(workspace.selection) >= least)
        nodes = [node for node in map(workspace.node, workspace.selection) if node is not None]
        for name in _FOR_BLOCKS:
            actions[name].setEnabled(at_work and any(node.block for node in nodes))
        actions["leave_block"].setEnabled(at_work and bool(workspace.scope))
        alike = len(nodes) > 1 and len({node.type for node in nodes}) == 1
        actions["share_weights"].setEnabled(at_work and alike and not nodes[0].block)
        actions["own_weights"].setEnabled(at_work and any(node.shares for node in nodes))
        actions["train"].setEnabled(at_work and (ready or workspace.engine_error is None))
        for name in (
            "train_step",
            "train_layer",
            "train_over",
            "train_reset",
            "train_sweep",
            "train_new_weights",
            "start_from_weights",
            "export_script",
        ):
            actions[name].setEnabled(ready and at_work)
        actions["train_stop"].setEnabled(workspace.training)
        trainer = workspace.trainer
        back = trainer is not None and trainer.can_go_back
        actions["train_back"].setEnabled(at_work and back)
        for name, panel in window.document_page.side_panels().items():
            actions[name].setChecked(not panel.isHidden())
        for name in ("enlarge_views", "views_window"):
            actions[name].setEnabled(at_work)
        actions["enlarge_views"].setChecked(window.document_page.views_enlarged)
        actions["views_window"].setChecked(window.document_page.bottom.views.own_window is not None)
        for choice in CHOICES:
            actions[f"theme_{choice}"].setChecked(themes.choice == choice)
        for percent in SCALES:
            actions[f"scale_{percent}"].setChecked(scale_of(window.settings) == percent)
        actions["reopen_files"].setChecked(window.open_files.wanted)
        actions["toggle_thumbnails"].setChecked(shows_thumbnails(window.settings))
        always = labels_always(window.settings)
        actions["labels_always"].setChecked(always)
        actions["labels_on_hover"].setChecked(not always)
        for name in ("next_document", "previous_document"):
            actions[name].setEnabled(len(window.documents.pages) > 1)

    def _changed(self, _what: object) -> None:
        self.refresh()


def _name(action: QAction, text: str, label: str | None) -> None:
    action.setText(f"{text} {label[:1].lower() + label[1:]}" if label else text)
    action.setEnabled(label is not None)
