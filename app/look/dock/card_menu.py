"""What can be done with one card: size, files, its node, another run beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu

from app.look.dock.card import SIZES, ViewCard
from app.look.dock.export import file_stem, save_image, save_table, view_image
from engine.errors import NeuroloomError

if TYPE_CHECKING:
    from app.look.dock.dock import ViewsDock

_SIZE_NAMES = {"S": "Small", "M": "Middle", "L": "Large"}
_FOLDER = "views/folder"


def entry(menu: QMenu, text: str, run: Callable[[], object], key: str = "", *, on: bool = True) -> QAction:
    """Adds an entry that calls `run`, which must not be a closure over a widget that may be gone."""
    action = menu.addAction(f"{text}\t{key}" if key else text)
    action.setEnabled(on)
    action.triggered.connect(_Call(run))
    return action


class CardMenu(QObject):
    """The menu of a card; made again each time, for runs come and go."""

    def __init__(self, dock: ViewsDock) -> None:
        super().__init__(dock)
        self._dock = dock

    def menu(self, card: ViewCard) -> QMenu:
        """All that can be done with it."""
        menu = QMenu(self._dock)
        menu.setObjectName("cardMenu")
        entry(menu, "Unpin" if card.pinned else "Pin", card.ask_pin, "P")
        entry(menu, "Unfreeze" if card.frozen else "Freeze", card.toggle_freeze, "Space")
        entry(menu, "Back to its place" if card.enlarged else "Enlarge", card.ask_enlarge, "Enter")
        sizes = menu.addMenu("Size")
        for size in SIZES:
            action = entry(sizes, _SIZE_NAMES[size], partial(card.set_size, size))
            action.setCheckable(True)
            action.setChecked(card.size_name == size)
        menu.addSeparator()
        drawn = card.state.kind == "drawn"
        entry(menu, "Save as PNG…", partial(self.save, card, ".png"), on=drawn)
        entry(menu, "Save as SVG…", partial(self.save, card, ".svg"), on=drawn)
        has_table = drawn and card.pane.view.table() is not None
        entry(menu, "Save the numbers as CSV…", partial(self.save, card, ".csv"), on=has_table)
        entry(menu, "Copy image", partial(self.copy, card), on=drawn)
        menu.addSeparator()
        if card.subject.node_id and not card.gone:
            on_node = entry(menu, "Show on its node", partial(self._dock.toggle_on_node, card))
            on_node.setCheckable(True)
            on_node.setChecked(self._dock.on_node(card))
            entry(menu, "Go to the node", partial(card.subject.workspace.reveal, card.subject.node_id))
        self._compare(menu, card)
        menu.addSeparator()
        entry(menu, "Close", partial(card.close_wanted.emit, card), "Del")
        return menu

    def _compare(self, menu: QMenu, card: ViewCard) -> None:
        if card.compared is not None:
            entry(menu, f"Without {card.compared[0]}", partial(card.compare, None))
        part = menu.addMenu("Compare with another run")
        runs = self._dock.stored_runs.list()
        for run in runs:
            words = f"{run.name} · {run.steps:,} steps" if run.steps else run.name
            entry(part, words, partial(self._dock.compare, card, run.name))
        if not runs:
            part.addAction("No other run has recorded views").setEnabled(False)

    # -- files

    def save(self, card: ViewCard, suffix: str) -> None:
        """Asks for a file and writes it; says in a message what came of it."""
        workspace = card.subject.workspace
        folder = Path(workspace.settings.text(_FOLDER, str(Path.home())))
        names = {".png": "Image (*.png)", ".svg": "Vector graphics (*.svg)", ".csv": "Numbers (*.csv)"}
        wanted = str(folder / f"{file_stem(card)}{suffix}")
        name, _ = QFileDialog.getSaveFileName(self._dock, "Save image", wanted, names[suffix])
        if not name:
            return
        path = Path(name)
        path = path if path.suffix else path.with_suffix(suffix)
        workspace.settings.keep(_FOLDER, str(path.parent))
        try:
            if suffix == ".csv":
                save_table(card, path)
            else:
                save_image(card, path)
        except NeuroloomError as error:
            workspace.message.emit(str(error), "error")
        else:
            workspace.message.emit(f"Saved {path}.", "info")

    def copy(self, card: ViewCard) -> None:
        """Puts the view on the clipboard."""
        QGuiApplication.clipboard().setImage(view_image(card))
        card.subject.workspace.message.emit("Copied the image.", "info")


class _Call:
    """Calls without the `checked` that an action carries."""

    def __init__(self, run: Callable[[], object]) -> None:
        self._run = run

    def __call__(self, _checked: bool = False) -> None:
        self._run()
