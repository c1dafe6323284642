"""Blocks on show: going in and out, and what stays right when they come and go."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from app.workspace.document_file import DocumentFile
from app.workspace.scopes import only_drawn, trail_to, upstream
from app.workspace.workspace import Workspace
from engine.document.blocks import group
from engine.document.edits import Move, Rename, SetTitle
from tests.app.conftest import add_iris


@pytest.fixture
def nested(workspace: Workspace) -> tuple[str, str]:
    """Iris with its layer in a block "inner" inside a block "outer"; the ids of both blocks."""
    add_iris(workspace)
    workspace.apply("Title", SetTitle("Flowers"))
    project = workspace.document.project
    assert workspace.apply("Group", *group(project, ["n2"], "inner"))
    inner = next(iter(project.blocks))
    assert workspace.apply("Group", *group(project, project.instances(inner), "outer"))
    outer = next(block for block in project.blocks if block != inner)
    return outer, inner


def test_it_begins_at_the_root(workspace: Workspace) -> None:
    assert workspace.scope == "" and workspace.graph is workspace.document.project.graph
    assert workspace.way == (("", "Untitled"),)


def test_entering_shows_another_graph(workspace: Workspace, nested: tuple[str, str], qtbot) -> None:  # type: ignore[no-untyped-def]
    outer, inner = nested
    workspace.select(("n1",))
    with qtbot.waitSignal(workspace.scope_changed) as told:
        workspace.enter(outer)
    assert told.args == [outer] and workspace.selection == ()
    assert workspace.graph is workspace.document.project.block(outer).graph
    workspace.enter(inner)
    assert [name for _, name in workspace.way] == ["Flowers", "outer", "inner"]
    workspace.select(("n1", "n2"))
    assert workspace.selection == ("n2",)
    workspace.enter("b999")
    assert workspace.scope == inner
    workspace.leave()
    assert workspace.scope == outer
    assert workspace.selection == tuple(workspace.document.project.instances(inner))
    workspace.enter("")
    assert workspace.trail == ("",)


def test_revealing_goes_where_the_node_is(workspace: Workspace, nested: tuple[str, str]) -> None:
    workspace.reveal("n2")
    assert workspace.trail == ("", *nested) and workspace.selection == ("n2",)
    assert workspace.node("n1") is not None
    workspace.reveal("n1")
    assert workspace.scope == "" and workspace.selection == ("n1",)


def test_a_block_that_undo_takes_away_is_left(workspace: Workspace, nested: tuple[str, str]) -> None:
    outer, inner = nested
    seen: list[str] = []
    workspace.scope_changed.connect(seen.append)
    workspace.enter(inner)
    workspace.undo()
    assert workspace.scope in ("", inner) and workspace.graph is not None
    workspace.undo()
    assert workspace.scope == "" and not workspace.document.project.blocks
    assert seen[-1] == ""
    workspace.redo()
    workspace.redo()
    workspace.enter(inner)
    assert workspace.trail == ("", outer, inner)


def test_a_block_is_found_without_a_way_to_it(workspace: Workspace, nested: tuple[str, str]) -> None:
    outer, inner = nested
    project = workspace.document.project
    assert trail_to(project, inner, ("",)) == ("", outer, inner)
    assert trail_to(project, outer, ("", outer, inner)) == ("", outer)
    assert upstream(project, "n2") >= {"n1"}


def test_where_one_was_is_remembered(
    workspace: Workspace, nested: tuple[str, str], tmp_path: Path, qtbot
) -> None:  # type: ignore[no-untyped-def]
    """E-12: a file opens in the block where it was left; another file at its root."""
    file = DocumentFile(workspace)
    path = tmp_path / "nested.nloom"
    assert file.save(path)
    workspace.enter(nested[0])
    file.new()
    assert workspace.scope == "" and workspace.way == (("", "Untitled"),)
    assert file.open(path)
    assert workspace.scope == nested[0]
    workspace.enter("")
    file.new()
    assert file.open(path) and workspace.scope == ""
    file.close()


def test_what_is_only_drawn_changes_no_shapes(workspace: Workspace) -> None:
    assert only_drawn([Move({"n1": (3.0, 4.0)})])
    assert not only_drawn([Move({"n1": (3.0, 4.0)}), Rename("n1", "x")])


def test_the_breadcrumb_leads_back(shaped: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    from PySide6.QtWidgets import QPushButton

    from app.window.main_window import MainWindow
    from tests.app.window.test_main_window import settle

    window = MainWindow(shaped)
    qtbot.addWidget(window, before_close_func=settle)
    add_iris(shaped)
    window.show()
    window.show_workbench()
    crumb = window.document_page.breadcrumb
    assert not crumb.isVisible()
    project = shaped.document.project
    assert shaped.apply("Group", *group(project, ["n2"], "features"))
    shaped.enter(next(iter(project.blocks)))
    assert crumb.isVisible() and crumb.names() == ["Untitled", "features"]
    qtbot.mouseClick(crumb.findChildren(QPushButton)[0], Qt.MouseButton.LeftButton)
    assert shaped.scope == "" and not crumb.isVisible()
