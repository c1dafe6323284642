"""The context menu is about what is under the pointer; the menu key is about what is selected."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu

from app.canvas.view import GraphView
from app.workspace.workspace import Workspace
from engine.document.graph import Link

Ask = Callable[..., list[str]]


@pytest.fixture
def menu_at(view: GraphView, qapp: QApplication) -> Ask:
    """The entries of the menu at a place in the viewport."""

    def ask(place: QPoint, reason: QContextMenuEvent.Reason = QContextMenuEvent.Reason.Mouse) -> list[str]:
        at = view.viewport().mapToGlobal(place)
        QApplication.sendEvent(view.viewport(), QContextMenuEvent(reason, place, at))
        (menu,) = view.findChildren(QMenu, "canvasMenu")
        entries = [action.text().split("\t")[0] for action in menu.actions() if action.text()]
        menu.setObjectName("")
        menu.close()
        return entries

    return ask


def test_over_nothing_it_is_the_canvas_menu_whatever_is_selected(
    view: GraphView, workspace: Workspace, chain: None, menu_at: Ask
) -> None:
    workspace.select(("n2",))
    entries = menu_at(QPoint(20, 560))
    assert "Add a node…" in entries and "Rename" not in entries and workspace.selection == ()


def test_over_a_node_it_is_about_that_node_or_all_that_is_selected_with_it(
    view: GraphView, workspace: Workspace, chain: None, menu_at: Ask
) -> None:
    workspace.select(("n2",))
    assert "Replace…" in menu_at(view.node_point("n3")) and workspace.selection == ("n3",)
    workspace.select(("n2", "n3"))
    assert "Connect" in menu_at(view.node_point("n3")) and workspace.selection == ("n2", "n3")


def test_over_a_wire_it_is_about_that_wire(
    view: GraphView, workspace: Workspace, chain: None, menu_at: Ask
) -> None:
    workspace.select(("n2",))
    link = Link("n2", "output", "n3", "x")
    middle = (view.port_point("n2", "output", "out") + view.port_point("n3", "x", "in")) / 2
    assert menu_at(middle)[:2] == ["Add a bend", "Show where it begins"]
    assert view.graph_scene.selected_links == {link} and workspace.selection == ()


def test_the_menu_key_is_about_what_is_selected(
    view: GraphView, workspace: Workspace, chain: None, menu_at: Ask
) -> None:
    workspace.select(("n2",))
    entries = menu_at(QPoint(20, 560), QContextMenuEvent.Reason.Keyboard)
    assert "Rename" in entries and workspace.selection == ("n2",)
