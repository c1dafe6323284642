"""Every command of the window in one table, from which menus and the shortcut list are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QMenu,
    QMenuBar,
    QWidget,
)

MENUS = ("File", "Edit", "View", "Graph", "Train", "Help")
SCALES = (80, 90, 100, 110, 125, 150, 175, 200)  # per cent of the size that the system gives the interface


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
    own_key: str = ""  # a key that the canvas handles itself, because it means something else elsewhere there

    @property
    def keys(self) -> str:
        """Its shortcuts as people read them; empty without one."""
        native = QKeySequence.SequenceFormat.NativeText
        shown = self.shortcuts or ((self.own_key,) if self.own_key else ())
        return " or ".join(QKeySequence(keys).toString(native) for keys in shown)

    @property
    def plain_text(self) -> str:
        """Its text without mnemonic and dots."""
        return self.text.replace("&", "").rstrip("…")


COMMANDS = (
    Command("new_project", "File", "&New", ("Ctrl+N", "Ctrl+T"), "An empty canvas, in a tab of its own"),
    Command(
        "open_project",
        "File",
        "&Open…",
        ("Ctrl+O",),
        "Open projects or exported Python, each in a tab",
    ),
    Command(
        "open_data", "File", "Open &data…", ("Ctrl+Shift+O",), "A table, images, text, arrays … as a node"
    ),
    Command("open_data_folder", "File", "Open a &folder of data…", (), "Images in folders by class, say"),
    Command("show_welcome", "File", "&Welcome page", (), "Recent projects and examples", before_rule=True),
    Command("save_project", "File", "&Save", ("Ctrl+S",)),
    Command("save_project_as", "File", "Save &as…", ("Ctrl+Shift+S",), before_rule=True),
    Command("export_script", "File", "&Export Python…", ("Ctrl+E",), "Save the script"),
    Command("save_image", "File", "Save &image…", tip="The graph as SVG, PDF or PNG", before_rule=True),
    Command("next_document", "File", "Ne&xt document", ("Ctrl+Tab",), "The tab to the right"),
    Command("previous_document", "File", "&Previous document", ("Ctrl+Shift+Tab",)),
    Command("close_document", "File", "&Close document", ("Ctrl+W",), before_rule=True),
    Command(
        "reopen_files",
        "File",
        "&Reopen files at start",
        (),
        "A start without files shows the tabs that were open at the end",
        checkable=True,
    ),
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
    Command("toggle_bottom", "View", "Panels &below", ("Ctrl+3",), checkable=True),
    Command(
        "enlarge_views", "View", "&Enlarge views", ("Ctrl+4",), "In the place of the canvas", checkable=True
    ),
    Command(
        "views_window",
        "View",
        "Views in a &window",
        tip="Of their own, for a second screen",
        checkable=True,
        before_rule=True,
    ),
    Command("zoom_in", "View", "Zoom i&n", ("Ctrl++", "Ctrl+=")),
    Command("zoom_out", "View", "Zoom &out", ("Ctrl+-",)),
    Command("zoom_reset", "View", "&Actual size", ("Ctrl+0",)),
    Command(
        "frame", "View", "&Frame selection", ("F",), "Bring what is selected, or all, into view", canvas=True
    ),
    Command("fit", "View", "Frame a&ll", ("Home",), canvas=True, before_rule=True),
    Command(
        "toggle_thumbnails", "View", "Li&ve views", tip="On nodes, while there are weights", checkable=True
    ),
    Command("labels_always", "View", "&Always", group="&Shapes on wires", checkable=True),
    Command("labels_on_hover", "View", "On &hover or selection", group="&Shapes on wires", checkable=True),
    Command("theme_system", "View", "&As the system", group="&Theme", checkable=True),
    Command("theme_dark", "View", "&Dark", group="&Theme", checkable=True),
    Command("theme_light", "View", "&Light", group="&Theme", checkable=True),
    *(
        Command(f"scale_{percent}", "View", f"{percent} %", group="Interface si&ze", checkable=True)
        for percent in SCALES
    ),
    Command("add_node", "Graph", "&Add node…", tip="Search and add on the canvas", own_key="Tab"),
    Command("edit_node", "Graph", "&Edit in the inspector", ("Ctrl+I",), "Esc comes back to the canvas"),
    Command("find_type", "Graph", "&Search the palette", ("Ctrl+Shift+A",)),
    Command("connect_selected", "Graph", "&Connect selected", ("C",), "Wire from left to right", canvas=True),
    Command("rename", "Graph", "&Rename", ("F2",)),
    Command("mute", "Graph", "M&ute", ("M",), "Let data pass through unchanged", canvas=True),
    Command("replace_node", "Graph", "Replace b&y…", tip="Another type; what fits is kept", before_rule=True),
    Command("group_nodes", "Graph", "&Group into a block", ("Ctrl+G",), group="&Block"),
    Command("ungroup_nodes", "Graph", "&Ungroup", ("Ctrl+Shift+G",), group="&Block", before_rule=True),
    Command("enter_block", "Graph", "&Open", own_key="Tab", group="&Block"),
    Command("leave_block", "Graph", "&Leave", own_key="Esc", group="&Block", before_rule=True),
    Command("separate_block", "Graph", "Make &independent copy", group="&Block"),
    Command(
        "swap_drawn",
        "Graph",
        "&Swap a layer and its drawing",
        tip="A node for the block that draws it from its parts, or back; the weights stay",
        group="&Block",
    ),
    Command("keep_block", "Graph", "Add to my bloc&ks", group="&Block"),
    Command("frame_nodes", "Graph", "Put into a &frame", ("Ctrl+Shift+F",), group="&Frames and notes"),
    Command("unframe_nodes", "Graph", "Take &out of the frame", group="&Frames and notes"),
    Command("add_note", "Graph", "Add a &note", group="&Frames and notes"),
    Command("share_weights", "Graph", "&Share", tip="One layer used several times", group="&Weights"),
    Command("own_weights", "Graph", "Give weights of its &own", group="&Weights", before_rule=True),
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
    Command("node_problems", "Graph", "W&hat is wrong…", tip="With their fixes", own_key="."),
    Command("next_problem", "Graph", "Next &problem", ("F8",)),
    Command("train", "Train", "&Train / Pause", ("F5",), "Goes on with a run that has ended"),
    Command("train_over", "Train", "Start &over", ("Ctrl+F5",), "A new run from the first weights"),
    Command("train_step", "Train", "Step one &batch", ("F6",)),
    Command(
        "train_layer",
        "Train",
        "Step by &layer",
        ("F7",),
        "One batch node by node: forward, backward, then the update",
    ),
    Command("train_back", "Train", "Step bac&k", ("Shift+F6",), "To before the last step, batch or node"),
    Command("train_stop", "Train", "&Stop", ("Shift+F5",), before_rule=True),
    Command(
        "edit_plan", "Train", "Edit the &plan", ("Ctrl+Shift+I",), "Phases, objectives and what they train"
    ),
    Command("train_sweep", "Train", "Sw&eep…", (), "Several learning rates, batch sizes, seeds … compared"),
    Command("train_reset", "Train", "&Reset weights", (), "Back to the weights that the seed gives"),
    Command("train_new_weights", "Train", "&New weights", (), "Other first weights, from the next seed"),
    Command(
        "start_from_weights", "Train", "Start from &weights…", (), "Of a run, a .safetensors or .pt file"
    ),
    Command("show_tour", "Help", "&First-steps tour", (), "The parts of the window, one after the other"),
    Command("show_documentation", "Help", "&Documentation…", (), "Views, runs, data and project files"),
    Command("show_news", "Help", "&What's new…", (), "What each version brought", before_rule=True),
    Command("show_commands", "Help", "&Commands…", ("Ctrl+Shift+P",), "Find anything that can be done"),
    Command("show_shortcuts", "Help", "&Keyboard shortcuts…", ("F1",), before_rule=True),
    Command("report_problem", "Help", "&Report a problem…", (), "Versions and log to copy, without names"),
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
    ("Shift+D", "Duplicate"),
    ("Drop a node on a wire", "Put it in between; Alt keeps it out"),
)


def build_menus(
    bar: QMenuBar, window: QWidget, handlers: dict[str, Callable[[], object]]
) -> dict[str, QAction]:
    """Fills the menu bar and returns the actions by command name; KeyError if a command has no handler.

    Those of CANVAS_COMMANDS work where they have been added to the canvas that has the focus.
    """
    menus = {title: QMenu(f"&{title}", bar) for title in MENUS}  # Alt and a letter opens one
    groups: dict[tuple[str, str], QMenu] = {}
    for title, menu in menus.items():
        menu.setObjectName(f"menu_{title}")
        bar.addMenu(menu)
    actions: dict[str, QAction] = {}
    for command in COMMANDS:
        action = QAction(f"{command.text}\t{command.own_key}" if command.own_key else command.text, window)
        action.setObjectName(command.name)
        action.setShortcuts([QKeySequence(keys) for keys in command.shortcuts])
        action.setToolTip(command.tip or command.plain_text)
        action.setStatusTip(command.tip)
        action.setAutoRepeat(command.name != "train")  # a key held down must not begin and pause in turns
        action.setCheckable(command.checkable)
        if command.canvas:
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(_Call(handlers[command.name], action))
        menu = _menu_of(command, menus, groups)
        menu.addAction(action)
        if command.before_rule:
            menu.addSeparator()
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
