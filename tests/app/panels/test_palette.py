"""The palette: families, search, drag data and adding."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt

from app.canvas.editing import editing
from app.panels.palette import PalettePanel
from app.panels.palette_rows import NODE_MIME, TYPE_ROLE
from app.workspace.block_library import drawn, shelf
from app.workspace.workspace import Workspace
from engine.document.graph import Block, Graph, Node, Project


def rows(panel: PalettePanel) -> list[str]:
    model = panel.list.model()
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def test_every_type_stands_under_its_family(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    panel = PalettePanel(workspace)
    qtbot.addWidget(panel)
    shown = rows(panel)
    drawings = drawn(workspace.catalogue)
    for family, types in workspace.catalogue.families():
        at = shown.index(family) + 1
        titles: list[str] = []
        for found in types:
            titles += [found.title, *(one.name for one in drawings if one.fast == found.type_id)]
        assert shown[at : at + len(titles)] == titles


def test_what_is_common_comes_first(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    panel = PalettePanel(workspace)
    qtbot.addWidget(panel)
    shown = rows(panel)
    assert shown[0] == "common"
    assert {"Conv 2-D", "Linear", "ReLU", "Dropout", "Cross-entropy"} <= set(shown[1 : shown.index("files")])


def test_groups_fold_by_pointer_and_keys_and_stay_so(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    panel = PalettePanel(workspace)
    qtbot.addWidget(panel)
    panel.resize(216, 700)
    panel.show()
    before = rows(panel)
    heading = panel.list.visualRect(panel.model.index(0)).center()
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=heading)
    assert rows(panel)[:2] == ["common", "files"]
    panel.list.setCurrentIndex(panel.model.index(2))
    qtbot.keyClick(panel.list, Qt.Key.Key_Left)
    assert rows(panel)[:3] == ["common", "files", "data sets"]
    again = PalettePanel(workspace)
    qtbot.addWidget(again)
    assert rows(again) == rows(panel)
    qtbot.keyClicks(panel.search_field, "linear")
    assert rows(panel)[0] == "Linear"
    panel.search_field.clear()
    qtbot.keyClick(panel.list, Qt.Key.Key_Right)
    panel.list.setCurrentIndex(panel.model.index(0))
    qtbot.keyClick(panel.list, Qt.Key.Key_Return)
    panel.list.setCurrentIndex(panel.model.index(rows(panel).index("files")))
    qtbot.keyClick(panel.list, Qt.Key.Key_Space)
    assert rows(panel) == before


def test_a_block_without_instances_can_be_placed_renamed_and_deleted(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    block = Block("b1", "Encoder", Graph([Node("n9", "BlockInput"), Node("n10", "BlockOutput")]))
    workspace.document.replace(Project(blocks={"b1": block}))
    panel = PalettePanel(workspace)
    qtbot.addWidget(panel)
    assert rows(panel)[-2:] == ["blocks of this project", "Encoder"]
    index = panel.model.index(panel.model.rowCount() - 1)
    assert "used nowhere" in index.data(Qt.ItemDataRole.ToolTipRole)
    assert panel.model.setData(index, "Stem") and rows(panel)[-1] == "Stem"
    index = panel.model.index(panel.model.rowCount() - 1)
    added = editing.add(workspace, index.data(TYPE_ROLE), (0.0, 0.0))
    node = workspace.node(added)
    assert (node.type, node.block, node.name) == ("Block", "b1", "Stem")
    panel._delete(panel.model.block_at(index.row()))
    assert workspace.document.project.blocks  # it is in use
    workspace.undo()
    panel._delete(panel.model.block_at(index.row()))
    assert not workspace.document.project.blocks and "blocks of this project" not in rows(panel)
    workspace.enter("b1")


def test_inside_a_block_it_is_not_offered(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    workspace.document.replace(Project(blocks={"b1": Block("b1", "Encoder"), "b2": Block("b2", "Head")}))
    panel = PalettePanel(workspace)
    qtbot.addWidget(panel)
    workspace.enter("b1")
    assert "Head" in rows(panel) and "Encoder" not in rows(panel)


def test_headings_are_neither_added_nor_dragged(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    panel = PalettePanel(workspace)
    qtbot.addWidget(panel)
    assert not panel.model.flags(panel.model.index(0)) & Qt.ItemFlag.ItemIsDragEnabled
    with qtbot.assertNotEmitted(panel.add_requested):
        panel.list.doubleClicked.emit(panel.model.index(0))


def test_search_is_fuzzy_and_enter_adds_the_best(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    panel = PalettePanel(workspace)
    qtbot.addWidget(panel)
    qtbot.keyClicks(panel.search_field, "cnv2")
    assert rows(panel)[0] == "Conv 2-D"
    with qtbot.waitSignal(panel.add_requested) as asked:
        qtbot.keyClick(panel.search_field, Qt.Key.Key_Return)
    assert asked.args == ["Conv2d"]
    qtbot.keyClick(panel.search_field, Qt.Key.Key_Escape)
    assert panel.search_field.text() == ""
    assert rows(panel)[0] == "common"


def test_enter_in_an_empty_search_adds_nothing(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    panel = PalettePanel(workspace)
    qtbot.addWidget(panel)
    with qtbot.assertNotEmitted(panel.add_requested):
        qtbot.keyClick(panel.search_field, Qt.Key.Key_Return)


def test_a_search_without_matches_says_so(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    panel = PalettePanel(workspace)
    qtbot.addWidget(panel)
    panel.show()
    qtbot.keyClicks(panel.search_field, "zzqq")
    assert rows(panel) == []
    assert panel._nothing.isVisible() and "zzqq" in panel._nothing.text()


def test_double_click_and_keys_add(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    panel = PalettePanel(workspace)
    qtbot.addWidget(panel)
    panel.resize(216, 700)
    panel.show()
    index = panel.model.index(panel.model.first_type_row())
    middle = panel.list.visualRect(index).center()
    with qtbot.waitSignal(panel.add_requested) as asked:
        qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(middle))
        qtbot.mouseDClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(middle))
    assert asked.args == [index.data(TYPE_ROLE)]
    qtbot.keyClick(panel.search_field, Qt.Key.Key_Down)
    with qtbot.waitSignal(panel.add_requested) as asked:
        qtbot.keyClick(panel.list, Qt.Key.Key_Return)
    assert asked.args == [index.data(TYPE_ROLE)]


def test_a_drag_carries_the_type(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    panel = PalettePanel(workspace)
    qtbot.addWidget(panel)
    index = panel.model.index(panel.model.first_type_row())
    mime = panel.model.mimeData([index])
    assert bytes(mime.data(NODE_MIME).data()).decode() == index.data(TYPE_ROLE)


def test_rows_explain_themselves(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    panel = PalettePanel(workspace)
    qtbot.addWidget(panel)
    types = [
        index for row in range(panel.model.rowCount()) if (index := panel.model.index(row)).data(TYPE_ROLE)
    ]
    assert types
    for index in types:
        assert index.data(Qt.ItemDataRole.ToolTipRole), index.data()


def test_the_users_own_blocks_come_last_and_appear_at_once(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    panel = PalettePanel(workspace)
    qtbot.addWidget(panel)
    before = panel.model.rowCount()
    workspace.places.blocks.mkdir(parents=True)
    (workspace.places.blocks / "encoder.nloom-block").write_text("{}", encoding="utf-8")
    shelf.changed.emit()
    assert panel.model.rowCount() == before + 2
    last = panel.model.index(before + 1)
    assert last.data() == "encoder" and last.data(TYPE_ROLE) == "kept:encoder"
    assert panel.model.index(before).data() == "my blocks"
    panel.search_field.setText("encod")
    assert "encoder" in [panel.model.index(row).data() for row in range(panel.model.rowCount())]
