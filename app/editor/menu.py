"""The canvas's own context menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

if TYPE_CHECKING:
    from app.editor.view import GraphView


def canvas_menu(view: GraphView) -> QMenu:
    """What can be done with the selection, or with the canvas when nothing is selected."""
    menu = QMenu(view)
    menu.setObjectName("canvasMenu")
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    if view.workspace.selection or view.graph_scene.selected_links:
        entries = [
            ("Rename\tF2", view.rename_selected),
            ("Duplicate\tCtrl+D", view.duplicate),
            ("Copy\tCtrl+C", view.copy),
            ("Cut\tCtrl+X", view.cut),
            ("Frame\tF", view.frame_selection),
            ("Delete and reconnect\tCtrl+Del", view.delete_and_reconnect),
            ("Delete\tDel", view.delete_selection),
        ]
        if len(view.workspace.selection) > 1:
            entries.insert(1, ("Connect\tC", view.connect_selected))
        if not view.workspace.selection:
            entries = entries[-1:]
    else:
        entries = [
            ("Add a node…\tTab", view.open_search),
            ("Paste\tCtrl+V", view.paste),
            ("Select all\tCtrl+A", view.select_all),
            ("Show everything\tHome", view.fit),
        ]
    for text, command in entries:
        menu.addAction(text).triggered.connect(command)
    menu.addSeparator()
    for text, shown, switch in (
        ("Snap to grid", view.snapping, view.set_snapping),
        ("Map", view.shows_minimap, view.set_minimap),
        ("Status line", not view.status.isHidden(), view.set_status),
    ):
        action = menu.addAction(text)
        action.setCheckable(True)
        action.setChecked(shown)
        action.toggled.connect(switch)
    return menu
