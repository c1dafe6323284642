"""Every command of the window in one table, from which menus and the shortcut list are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QMenu,
    QMenuBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.widgets.labels import label

MENUS = ("File", "Edit", "View", "Graph", "Train", "Help")


@dataclass(frozen=True)
class Command:
    """One entry of a menu. `name` is the method that runs it and the action's object name.

    With `canvas`, shortcuts work only where the canvas has the focus: fields need these keys too.
    """

    name: str
    menu: str
    text: str
    shortcuts: tuple[str, ...] = ()
    tip: str = ""
    checkable: bool = False
    canvas: bool = False
    before_rule: bool = False
    group: str = ""  # title of the submenu it stands in


COMMANDS = (
    Command("new_project", "File", "&New", ("Ctrl+N", "Ctrl+T"), "An empty canvas, in a tab of its own"),
    Command("open_project", "File", "&Open…", ("Ctrl+O",), "Open project files, each in a tab of its own"),
    Command("show_welcome", "File", "&Welcome page", (), "Recent projects and examples", before_rule=True),
    Command("save_project", "File", "&Save", ("Ctrl+S",)),
    Command("save_project_as", "File", "Save &as…", ("Ctrl+Shift+S",), before_rule=True),
    Command("export_script", "File", "&Export Python…", ("Ctrl+E",), "Save the script"),
    Command("save_picture", "File", "Save p&icture…", tip="The graph as SVG, PDF or PNG", before_rule=True),
    Command("next_document", "File", "Ne&xt document", ("Ctrl+Tab",), "The tab to the right"),
    Command("previous_document", "File", "&Previous document", ("Ctrl+Shift+Tab",)),
    Command("close_document", "File", "&Close", ("Ctrl+W",), "Close this document", before_rule=True),
    Command("quit", "File", "&Quit", ("Ctrl+Q",)),
    Command("undo", "Edit", "&Undo", ("Ctrl+Z",)),
    Command("redo", "Edit", "&Redo", ("Ctrl+Shift+Z", "Ctrl+Y"), before_rule=True),
    Command("cut", "Edit", "Cu&t", ("Ctrl+X",)),
    Command("copy", "Edit", "&Copy", ("Ctrl+C",)),
    Command("paste", "Edit", "&Paste", ("Ctrl+V",)),
    Command("duplicate", "Edit", "Dupl&icate", ("Ctrl+D",)),
    Command("delete", "Edit", "&Delete", ("Del", "Backspace"), canvas=True),
    Command(
        "delete_and_reconnect",
        "Edit",
        "D&elete and reconnect",
        ("Ctrl+Del", "Ctrl+Backspace"),
        "What fed the deleted nodes feeds what they fed",
        canvas=True,
        before_rule=True,
    ),
    Command("select_all", "Edit", "Select &all", ("Ctrl+A",), before_rule=True),
    Command("find", "Edit", "&Find…", ("Ctrl+F",), "Nodes, frames and notes by name, type or parameter"),
    Command("toggle_palette", "View", "&Palette", ("Ctrl+1",), checkable=True),
    Command("toggle_inspector", "View", "&Inspector", ("Ctrl+2",), checkable=True),
    Command("toggle_bottom", "View", "Panels &below", ("Ctrl+3",), checkable=True, before_rule=True),
    Command("zoom_in", "View", "Zoom i&n", ("Ctrl++", "Ctrl+=")),
    Command("zoom_out", "View", "Zoom &out", ("Ctrl+-",)),
    Command("zoom_reset", "View", "&Actual size", ("Ctrl+0",)),
    Command(
        "frame", "View", "&Frame selection", ("F",), "Bring what is selected, or all, into view", canvas=True
    ),
    Command("fit", "View", "Frame a&ll", ("Home",), canvas=True, before_rule=True),
    Command("theme_system", "View", "&As the system", group="&Theme", checkable=True),
    Command("theme_dark", "View", "&Dark", group="&Theme", checkable=True),
    Command("theme_light", "View", "&Light", group="&Theme", checkable=True),
    Command("add_node", "Graph", "&Add node…", ("Tab",), "Search and add on the canvas", canvas=True),
    Command("edit_node", "Graph", "&Edit in the inspector", ("Ctrl+I",), "Esc comes back to the canvas"),
    Command("find_type", "Graph", "&Search the palette", ("Ctrl+Shift+F",)),
    Command("connect_selected", "Graph", "&Connect selected", ("C",), "Wire from left to right", canvas=True),
    Command("rename", "Graph", "&Rename", ("F2",), before_rule=True),
    Command(
        "lay_out",
        "Graph",
        "&Lay out",
        ("Ctrl+Shift+L",),
        "The selection, or all, in columns from left to right",
    ),
    Command("align_left", "Graph", "&Left edges", group="Ali&gn"),
    Command("align_centre", "Graph", "&Centres", group="Ali&gn"),
    Command("align_right", "Graph", "&Right edges", group="Ali&gn"),
    Command("align_top", "Graph", "&Tops", group="Ali&gn"),
    Command("align_middle", "Graph", "&Middles", group="Ali&gn"),
    Command("align_bottom", "Graph", "&Bottoms", group="Ali&gn"),
    Command("distribute_across", "Graph", "&Horizontally", group="&Distribute"),
    Command("distribute_down", "Graph", "&Vertically", group="&Distribute"),
    Command("snap_to_grid", "Graph", "S&nap to the grid"),
    Command(
        "make_room", "Graph", "&Make room", tip="Push others away from the selected node", before_rule=True
    ),
    Command("next_problem", "Graph", "Next &problem", ("F8",)),
    Command("train", "Train", "&Train / Pause", ("F5",)),
    Command("train_step", "Train", "Step one &batch", ("F6",)),
    Command("train_stop", "Train", "&Stop", ("Shift+F5",), before_rule=True),
    Command("train_reset", "Train", "&Reset weights", (), "Back to the weights that the seed gives"),
    Command("show_commands", "Help", "&Commands…", ("Ctrl+Shift+P",), "Find anything that can be done"),
    Command("show_shortcuts", "Help", "&Keyboard shortcuts", ("F1",)),
    Command("show_about", "Help", "&About Neuroloom"),
)

CANVAS_COMMANDS = tuple(command.name for command in COMMANDS if command.canvas)

# Keys the canvas handles itself; listed so that the shortcut page is whole and nothing takes them twice.
GESTURES = (
    ("Drag with the middle button, or Space", "Pan"),
    ("Wheel", "Zoom about the pointer"),
    ("Drag on the canvas", "Select in a box"),
    ("Shift+click", "Add to the selection"),
    ("Double-click", "Add a node there"),
    ("Esc", "Cancel what is being dragged"),
    ("Arrow keys", "Move the selection, Shift by one pixel; with nothing selected, pan"),
    ("Alt+arrow keys", "Select the next node that way"),
    ("Drop a node on a wire", "Put it in between; Alt keeps it out"),
)


def build_menus(
    bar: QMenuBar, window: QWidget, handlers: dict[str, Callable[[], object]]
) -> dict[str, QAction]:
    """Fills the menu bar and returns the actions by command name; KeyError if a command has no handler.

    Those of CANVAS_COMMANDS work where they have been added to the canvas that has the focus.
    """
    menus = {title: QMenu(title, bar) for title in MENUS}
    groups: dict[tuple[str, str], QMenu] = {}
    for title, menu in menus.items():
        menu.setObjectName(f"menu_{title}")
        bar.addMenu(menu)
    actions: dict[str, QAction] = {}
    for command in COMMANDS:
        action = QAction(command.text, window)
        action.setObjectName(command.name)
        action.setShortcuts([QKeySequence(keys) for keys in command.shortcuts])
        action.setToolTip(command.tip or command.text.replace("&", ""))
        action.setStatusTip(command.tip)
        action.setCheckable(command.checkable)
        if command.canvas:
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(_Call(handlers[command.name], action))
        _menu_of(command, menus, groups).addAction(action)
        if command.before_rule:
            menus[command.menu].addSeparator()
        actions[command.name] = action
    return actions


def _menu_of(command: Command, menus: dict[str, QMenu], groups: dict[tuple[str, str], QMenu]) -> QMenu:
    menu = menus[command.menu]
    if not command.group:
        return menu
    key = (command.menu, command.group)
    if key not in groups:
        groups[key] = menu.addMenu(command.group)
    return groups[key]


class _Call:
    """Calls a handler without the `checked` argument that `triggered` carries."""

    def __init__(self, handler: Callable[[], object], action: QAction) -> None:
        self._handler = handler
        self._action = action

    def __call__(self, _checked: bool = False) -> None:
        self._handler()


class ShortcutsDialog(QDialog):
    """All shortcuts by menu, then what the pointer does on the canvas."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shortcutsDialog")
        self.setWindowTitle("Keyboard shortcuts")
        self.resize(600, 640)
        page = QWidget()
        page.setProperty("role", "page")
        grid = QGridLayout(page)
        grid.setContentsMargins(20, 16, 20, 16)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(0, 1)
        row = 0
        for menu in MENUS:
            commands = [command for command in COMMANDS if command.menu == menu and command.shortcuts]
            lines = [(_plain(command.text), _keys(command)) for command in commands]
            row = _section(grid, row, menu, lines)
        _section(grid, row, "On the canvas", [(what, how) for how, what in GESTURES])
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(page)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFrameShape(QFrame.Shape.NoFrame)
        close = QPushButton("Close")
        close.setDefault(True)
        close.clicked.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 12)
        column.addWidget(area, 1)
        foot = QHBoxLayout()
        foot.setContentsMargins(16, 8, 16, 0)
        foot.addStretch(1)
        foot.addWidget(close)
        column.addLayout(foot)


def _section(grid: QGridLayout, row: int, title: str, lines: list[tuple[str, str]]) -> int:
    if not lines:
        return row
    heading = label(title, "heading")
    heading.setContentsMargins(0, 8 if row else 0, 0, 0)
    grid.addWidget(heading, row, 0, 1, 2)
    for offset, (what, keys) in enumerate(lines, 1):
        grid.addWidget(label(what, "dim", wrap=True), row + offset, 0)
        grid.addWidget(label(keys), row + offset, 1, Qt.AlignmentFlag.AlignRight)
    return row + len(lines) + 1


def _plain(text: str) -> str:
    return text.replace("&", "").rstrip("…")


def _keys(command: Command) -> str:
    return " or ".join(
        QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText) for keys in command.shortcuts
    )
